/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Timers of neighbours: a binary heap of entries by due time. Each entry has at most one timer and
 * knows its place in the heap, so arming again and cancelling cost log2(n) moves; asking whether
 * something is due costs one comparison, however far the clock has gone.
 */
#include "lib/neigh_table.h"

static bool before(const struct neigh_entry *a, const struct neigh_entry *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->due_seq < b->due_seq;
}

static void put(struct sl_neigh_table *t, uint32_t pos, struct neigh_entry *e)
{
	t->heap[pos] = e;
	e->heap_pos = pos;
}

static void sift_up(struct sl_neigh_table *t, uint32_t pos, struct neigh_entry *e)
{
	while (pos > 0) {
		uint32_t parent = (pos - 1) / 2;

		if (!before(e, t->heap[parent]))
			break;
		put(t, pos, t->heap[parent]);
		pos = parent;
	}
	put(t, pos, e);
}

static void sift_down(struct sl_neigh_table *t, uint32_t pos, struct neigh_entry *e)
{
	for (;;) {
		uint32_t child = 2 * pos + 1;

		if (child >= t->n_heap)
			break;
		if (child + 1 < t->n_heap && before(t->heap[child + 1], t->heap[child]))
			child++;
		if (!before(t->heap[child], e))
			break;
		put(t, pos, t->heap[child]);
		pos = child;
	}
	put(t, pos, e);
}

void neigh_timer_cancel(struct sl_neigh_table *t, struct neigh_entry *e)
{
	uint32_t pos = e->heap_pos;
	struct neigh_entry *last;

	if (pos == NEIGH_NO_TIMER)
		return;
	e->heap_pos = NEIGH_NO_TIMER;
	last = t->heap[--t->n_heap];
	if (last == e)
		return;
	if (pos > 0 && before(last, t->heap[(pos - 1) / 2]))
		sift_up(t, pos, last);
	else
		sift_down(t, pos, last);
}

/* the heap has a place for every entry that was ever allocated */
void neigh_timer_arm(struct sl_neigh_table *t, struct neigh_entry *e, uint64_t due_ns)
{
	neigh_timer_cancel(t, e);
	e->due_ns = due_ns;
	e->due_seq = t->next_seq++;
	sift_up(t, t->n_heap++, e);
}

struct neigh_entry *neigh_timer_take(struct sl_neigh_table *t, uint64_t now_ns)
{
	struct neigh_entry *e;

	if (t->n_heap == 0 || t->heap[0]->due_ns > now_ns)
		return NULL;
	e = t->heap[0];
	neigh_timer_cancel(t, e);
	return e;
}

uint64_t sl_neigh_next_ns(const struct sl_neigh_table *t)
{
	return t->n_heap == 0 ? UINT64_MAX : t->heap[0]->due_ns;
}
