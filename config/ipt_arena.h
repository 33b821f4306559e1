/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_arena.h - memory that is taken in small pieces and given back all at once */
#pragma once

#include <stddef.h>

struct ipt_arena;

struct ipt_arena *ipt_arena_new(void);
void ipt_arena_free(struct ipt_arena *a);

/* Zeroed, aligned for every type; NULL without memory. */
void *ipt_arena_alloc(struct ipt_arena *a, size_t bytes);
void *ipt_arena_dup(struct ipt_arena *a, const void *from, size_t bytes);
char *ipt_arena_strndup(struct ipt_arena *a, const char *s, size_t len);
