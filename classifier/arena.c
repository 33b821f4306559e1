/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/arena.h"

#include <rte_common.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define SMALL_PAGE ((size_t)4096)

int cls_arena_create(struct cls_arena *a, size_t size, bool huge)
{
	size_t page = huge ? HUGE_PAGE : SMALL_PAGE;
	void *map;

	size = RTE_ALIGN_CEIL(size, page);
	/* one page more, to find a border in it */
	map = mmap(NULL, size + page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return -ENOMEM;
	*a = (struct cls_arena){ .base = RTE_PTR_ALIGN_CEIL((uint8_t *)map, page),
		.size = size,
		.map = map,
		.map_size = size + page };
	if (huge) /* a kernel without them refuses, which is no error */
		(void)madvise(a->base, size, MADV_HUGEPAGE);
	return 0;
}

void cls_arena_destroy(struct cls_arena *a)
{
	if (a->map != NULL)
		munmap(a->map, a->map_size);
	*a = (struct cls_arena){ 0 };
}

void cls_arena_trim(struct cls_arena *a, size_t size)
{
	uint8_t *end = (uint8_t *)a->map + a->map_size;
	uint8_t *cut;

	size = RTE_ALIGN_CEIL(size, SMALL_PAGE);
	if (size >= a->size)
		return;
	cut = a->base + size;
	munmap(cut, (size_t)(end - cut));
	a->size = size;
	a->map_size = (size_t)(cut - (uint8_t *)a->map);
}

void cls_arena_populate(struct cls_arena *a, size_t from, size_t to)
{
	from = RTE_ALIGN_FLOOR(from, SMALL_PAGE);
	to = RTE_ALIGN_CEIL(RTE_MIN(to, a->size), SMALL_PAGE);
	if (from >= to)
		return;
#ifdef MADV_POPULATE_WRITE
	if (madvise(a->base + from, to - from, MADV_POPULATE_WRITE) == 0 || errno != EINVAL)
		return;
#endif
	/* a kernel before 5.14 */
	for (; from < to; from += SMALL_PAGE) {
		volatile uint8_t *byte = a->base + from;

		uint8_t value = *byte;

		*byte = value;
	}
}

void *cls_arena_take(struct cls_arena *a, size_t size)
{
	void *p = a->base + a->used;

	size = RTE_ALIGN_CEIL(size, (size_t)64);
	if (a->size - a->used < size)
		return NULL;
	a->used += size;
	return p;
}

void cls_arena_rewind(struct cls_arena *a, size_t used)
{
	memset(a->base + used, 0, a->used - used);
	a->used = used;
}
