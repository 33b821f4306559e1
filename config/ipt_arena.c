/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/ipt_arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES (64 * 1024)

struct chunk {
	struct chunk *next;
	size_t used;
	size_t size;
	alignas(max_align_t) unsigned char mem[];
};

struct ipt_arena {
	struct chunk *first; /* the one that is filled */
};

struct ipt_arena *ipt_arena_new(void)
{
	return calloc(1, sizeof(struct ipt_arena));
}

void ipt_arena_free(struct ipt_arena *a)
{
	struct chunk *c, *next;

	if (a == NULL)
		return;
	for (c = a->first; c != NULL; c = next) {
		next = c->next;
		free(c);
	}
	free(a);
}

static struct chunk *chunk_new(size_t bytes)
{
	struct chunk *c;

	if (bytes > SIZE_MAX - sizeof(*c))
		return NULL;
	c = calloc(1, sizeof(*c) + bytes);
	if (c != NULL)
		c->size = bytes;
	return c;
}

void *ipt_arena_alloc(struct ipt_arena *a, size_t bytes)
{
	const size_t align = alignof(max_align_t);
	struct chunk *c = a->first;
	void *p;

	if (bytes > SIZE_MAX - align)
		return NULL;
	bytes = (bytes + align - 1) / align * align;
	if (c == NULL || c->size - c->used < bytes) {
		/* a large piece gets a chunk of its own, behind the one that still has room */
		bool own = bytes > CHUNK_BYTES / 4;

		c = chunk_new(own ? bytes : CHUNK_BYTES);
		if (c == NULL)
			return NULL;
		if (own && a->first != NULL) {
			c->next = a->first->next;
			a->first->next = c;
		} else {
			c->next = a->first;
			a->first = c;
		}
	}
	p = c->mem + c->used;
	c->used += bytes;
	return p;
}

void *ipt_arena_dup(struct ipt_arena *a, const void *from, size_t bytes)
{
	void *p = ipt_arena_alloc(a, bytes);

	if (p != NULL && bytes > 0)
		memcpy(p, from, bytes);
	return p;
}

char *ipt_arena_strndup(struct ipt_arena *a, const char *s, size_t len)
{
	char *p = ipt_arena_alloc(a, len + 1);

	if (p != NULL)
		memcpy(p, s, len);
	return p;
}
