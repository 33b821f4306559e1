/* SPDX-License-Identifier: BSD-3-Clause */
/* The control side of watch.h: who looks on, and what he has not read yet. */
#include "lib/router.h"
#include "lib/watch.h"

#include <errno.h>
#include <stdlib.h>

static int make_rings(const struct sl_router *r, struct sl_watch *watch)
{
	for (unsigned int i = 0; i < r->n_workers; i++) {
		watch->rings[i] = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*watch->rings[i]));
		if (watch->rings[i] == NULL) {
			sl_watch_free_rings(watch);
			return -ENOMEM;
		}
		/* all pages are touched here: a worker shall not wait for one */
		memset(watch->rings[i], 0, sizeof(*watch->rings[i]));
	}
	return 0;
}

void sl_watch_free_rings(struct sl_watch *watch)
{
	for (unsigned int i = 0; i < SL_WORKERS_MAX; i++) {
		free(watch->rings[i]);
		watch->rings[i] = NULL;
	}
}

static void add_to(struct sl_watchers *all, const struct sl_watch *watch)
{
	all->v[all->n++] = watch;
	all->rx |= watch->rx;
	all->tx |= watch->tx;
	all->hooks |= watch->hooks;
	if (watch->trace)
		all->trace = watch;
}

/* puts @all in force; NULL: nobody looks */
static void publish(struct sl_router *r, struct sl_watchers *all)
{
	struct sl_watchers *old = atomic_exchange_explicit(&r->watchers, all, memory_order_acq_rel);

	if (!atomic_load(&r->threaded))
		for (unsigned int i = 0; i < r->n_workers; i++)
			r->workers[i]->watch = all;
	sl_router_synchronize(r);
	free(old);
}

int sl_watch_add(struct sl_router *r, struct sl_watch *watch)
{
	const struct sl_watchers *old = atomic_load(&r->watchers);
	struct sl_watchers *all;
	int ret;

	if (old != NULL && old->n == SL_WATCH_MAX)
		return -ENOSPC;
	if (old != NULL && old->trace != NULL && watch->trace)
		return -EBUSY;
	all = calloc(1, sizeof(*all));
	if (all == NULL)
		return -ENOMEM;
	ret = make_rings(r, watch);
	if (ret < 0) {
		free(all);
		return ret;
	}
	if (old != NULL)
		*all = *old;
	add_to(all, watch);
	publish(r, all);
	return 0;
}

void sl_watch_remove(struct sl_router *r, const struct sl_watch *watch)
{
	const struct sl_watchers *old = atomic_load(&r->watchers);
	struct sl_watchers *all = NULL;

	if (old->n > 1) {
		all = calloc(1, sizeof(*all));
		/* a few bytes: without them all readers end, rather than that one stays */
		for (unsigned int i = 0; all != NULL && i < old->n; i++)
			if (old->v[i] != watch)
				add_to(all, old->v[i]);
	}
	publish(r, all);
}

const struct sl_watch_rec *sl_watch_peek(struct sl_watch_ring *ring)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	const struct sl_watch_rec *rec;

	if (tail == atomic_load_explicit(&ring->head, memory_order_acquire))
		return NULL;
	rec = (const void *)&ring->data[tail % SL_WATCH_RING];
	/* a pad is published with the record behind it */
	return rec->at == SL_WATCH_PAD ? (const void *)ring->data : rec;
}

void sl_watch_pop(struct sl_watch_ring *ring, const struct sl_watch_rec *rec)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
	uint32_t at = (uint32_t)(tail % SL_WATCH_RING);

	if ((const uint8_t *)rec != &ring->data[at])
		tail += SL_WATCH_RING - at;
	atomic_store_explicit(&ring->tail, tail + rec->size, memory_order_release);
}

uint64_t sl_watch_missed(const struct sl_watch *watch, uint16_t port)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < SL_WORKERS_MAX; i++)
		if (watch->rings[i] != NULL)
			sum += atomic_load_explicit(
					&watch->rings[i]->missed[port], memory_order_relaxed);
	return sum;
}
