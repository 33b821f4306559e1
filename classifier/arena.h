/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One contiguous piece of address space that fills from the front. Large ones start on a 2 MB border
 * and ask for transparent huge pages: beyond the caches that halves the cost of a miss. Pages are
 * taken when first written, so a generous size costs address space only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cls_arena {
	uint8_t *base;
	size_t used;
	size_t size;
	void *map; /* as mmap gave it */
	size_t map_size;
};

/* Return: 0, -ENOMEM. */
int cls_arena_create(struct cls_arena *a, size_t size, bool huge);
void cls_arena_destroy(struct cls_arena *a);

/* gives address space behind @size back; @size >= used */
void cls_arena_trim(struct cls_arena *a, size_t size);

/* takes pages for [from, to) now, for writers that cannot wait for them; as far as there are any */
void cls_arena_populate(struct cls_arena *a, size_t from, size_t to);

/* Return: @size zeroed bytes, aligned to 64; NULL when full. */
void *cls_arena_take(struct cls_arena *a, size_t size);

/* takes back all that was taken since used was @used; its bytes are zeroed anew */
void cls_arena_rewind(struct cls_arena *a, size_t used);
