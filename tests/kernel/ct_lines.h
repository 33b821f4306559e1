/* SPDX-License-Identifier: BSD-3-Clause */
/* ct_lines: what /proc/net/nf_conntrack says, in a form that can be compared */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CT_LINE_MAX 420

struct seq_pairs;

struct ct_line {
	uint32_t number; /* of the addresses, see seq.h */
	uint32_t seconds; /* left */
	char text[CT_LINE_MAX]; /* without the seconds and the count of users */
};

struct ct_lines {
	struct ct_line *v;
	size_t n, room;
};

/* lines whose original addresses are no sequence's are left out; sorted. Return: 0 or -ENOMEM */
int ct_lines_read(struct ct_lines *l, const char *text);
void ct_lines_free(struct ct_lines *l);

/* the lines of a number: the first, and how many */
size_t ct_lines_of(const struct ct_lines *l, uint32_t number, const struct ct_line **first);

/* seconds may differ by one. @pairs: what stands for what (seq.h), NULL: everything
 * for itself */
bool ct_lines_equal(const struct ct_line *a, size_t n_a, const struct ct_line *b, size_t n_b,
		struct seq_pairs *pairs);

void ct_lines_print(FILE *f, const char *who, const struct ct_line *v, size_t n);
