/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables for people: columns as wide as their longest cell, numbers to the right. */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct table;

/* @columns: titles, NULL at the end; a title with a leading '>' marks a column of numbers */
struct table *table_new(const char *const *columns);

/* the next cell of the current row; a row is full when every column has one */
void table_cell(struct table *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* prints and frees; a table without rows prints @empty instead */
void table_print(struct table *t, FILE *out, const char *empty);

/* 1234567 -> "1,234,567"; @buf has at least 32 bytes */
const char *group_digits(int64_t n, char *buf);

/* bytes with a unit: "1.4 MB" */
const char *human_bytes(uint64_t n, char *buf);

/* "3d 04:05:06" */
const char *human_seconds(uint64_t s, char *buf);
