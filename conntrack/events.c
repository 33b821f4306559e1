/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/events.h"

#include <stdatomic.h>
#include <stdlib.h>

struct ct_events {
	uint32_t mask;
	_Atomic uint32_t head __rte_cache_aligned; /* [worker] next to write */
	_Atomic uint64_t lost; /* [worker] */
	_Atomic uint32_t tail __rte_cache_aligned; /* [control] next to read */
	uint64_t lost_told; /* [control] */
	struct ct_event ring[];
};

struct ct_events *ct_events_create(uint32_t n)
{
	size_t size = sizeof(struct ct_events) + n * sizeof(struct ct_event);
	struct ct_events *ev = aligned_alloc(
			RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(size, (size_t)RTE_CACHE_LINE_SIZE));

	if (ev != NULL)
		*ev = (struct ct_events){ .mask = n - 1 };
	return ev;
}

void ct_events_free(struct ct_events *ev)
{
	free(ev);
}

void ct_events_put(struct ct_shard *s, const struct ct_entry *e, uint32_t what)
{
	struct ct_events *ev = s->events;
	uint32_t head = atomic_load_explicit(&ev->head, memory_order_relaxed);

	what &= ~(uint32_t)e->events_off;
	if (what == 0 || s->conf->events == 0)
		return;
	if (head - atomic_load_explicit(&ev->tail, memory_order_acquire) > ev->mask) {
		atomic_fetch_add_explicit(&ev->lost, 1, memory_order_relaxed);
		return;
	}
	ev->ring[head & ev->mask].what = what;
	ct_view(&ev->ring[head & ev->mask].view, s->conf, s, e);
	atomic_store_explicit(&ev->head, head + 1, memory_order_release);
}

unsigned int ct_events_take(
		struct ct_events *ev, struct ct_event *out, unsigned int n, uint64_t *lost)
{
	uint32_t tail = atomic_load_explicit(&ev->tail, memory_order_relaxed);
	uint32_t there = atomic_load_explicit(&ev->head, memory_order_acquire) - tail;
	uint64_t sum = atomic_load_explicit(&ev->lost, memory_order_relaxed);

	n = RTE_MIN(n, there);
	for (unsigned int i = 0; i < n; i++)
		out[i] = ev->ring[(tail + i) & ev->mask];
	atomic_store_explicit(&ev->tail, tail + n, memory_order_release);
	*lost = sum - ev->lost_told;
	ev->lost_told = sum;
	return n;
}
