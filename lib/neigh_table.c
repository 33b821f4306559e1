/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbour table: entries, and the hash that workers walk without a lock. Strangers fill it (a
 * scan of a subnet makes an entry per address), so the hash is keyed with a random seed. Who has to
 * leave a table that is full is in lib/neigh_gc.c.
 */
#include "lib/neigh_table.h"

#include "lib/router.h"

#include <rte_jhash.h>
#include <rte_random.h>

#include <errno.h>
#include <stdlib.h>

#define SLAB_ENTRIES 64
#define BUCKETS_MIN 256U

struct neigh_slab {
	struct neigh_entry entries[SLAB_ENTRIES];
	struct neigh_slab *next;
};

/* ---- the hash ------------------------------------------------------------------------------- */

static uint32_t hash_key(uint32_t seed, uint16_t port, uint8_t family, const struct sl_addr *addr)
{
	uint32_t where = (uint32_t)family << 16 | port;

	if (family == SL_AF_INET)
		return rte_jhash_2words(addr->w[0], where, seed);
	return rte_jhash_32b(addr->w, 4, seed ^ where);
}

static struct neigh_buckets *buckets_new(uint32_t n)
{
	struct neigh_buckets *b = calloc(1, sizeof(*b) + n * sizeof(b->head[0]));

	if (b != NULL)
		b->mask = n - 1;
	return b;
}

struct neigh_entry *neigh_lookup(const struct sl_neigh_table *t, uint16_t port, uint8_t family,
		const struct sl_addr *addr)
{
	const struct neigh_buckets *b = atomic_load_explicit(&t->buckets, memory_order_acquire);
	uint32_t hash = hash_key(t->seed, port, family, addr);
	struct neigh_entry *e =
			atomic_load_explicit(&b->head[hash & b->mask], memory_order_acquire);

	while (e != NULL) {
		if (e->hash == hash && e->n.port == port && e->n.family == family
				&& sl_addr_eq(&e->n.addr, addr))
			break;
		e = atomic_load_explicit(&e->next, memory_order_acquire);
	}
	return e;
}

struct neigh_entry *neigh_lookup_live(const struct sl_neigh_table *t, uint16_t port, uint8_t family,
		const struct sl_addr *addr)
{
	struct neigh_entry *e = neigh_lookup(t, port, family, addr);

	return e != NULL && e->live ? e : NULL;
}

struct sl_neigh *sl_neigh_find(const struct sl_neigh_table *t, uint16_t port, enum sl_family family,
		const struct sl_addr *addr)
{
	struct neigh_entry *e = neigh_lookup(t, port, family, addr);

	return e != NULL ? &e->n : NULL;
}

static void chain_add(struct neigh_buckets *b, struct neigh_entry *e)
{
	_Atomic(struct neigh_entry *) *head = &b->head[e->hash & b->mask];

	atomic_store_explicit(&e->next, atomic_load_explicit(head, memory_order_relaxed),
			memory_order_relaxed);
	atomic_store_explicit(head, e, memory_order_release);
}

/* e->next stays, for a reader that stands on e */
static void chain_remove(struct neigh_buckets *b, struct neigh_entry *e)
{
	_Atomic(struct neigh_entry *) *link = &b->head[e->hash & b->mask];
	struct neigh_entry *at;

	while ((at = atomic_load_explicit(link, memory_order_relaxed)) != e)
		link = &at->next;
	atomic_store_explicit(link, atomic_load_explicit(&e->next, memory_order_relaxed),
			memory_order_release);
}

/*
 * Twice the buckets. A reader that walks while entries move may miss one; its packet then goes to
 * the host worker, which looks again.
 */
static void buckets_grow(struct sl_neigh_table *t)
{
	struct neigh_buckets *old = atomic_load_explicit(&t->buckets, memory_order_relaxed);
	struct neigh_buckets *b;
	struct neigh_entry *e;

	if (t->old_buckets != NULL)
		return;
	b = buckets_new(2 * (old->mask + 1));
	if (b == NULL)
		return;
	TAILQ_FOREACH (e, &t->all, all)
		chain_add(b, e);
	atomic_store_explicit(&t->buckets, b, memory_order_release);
	old->rcu_token = rte_rcu_qsbr_start(t->r->rcu);
	t->old_buckets = old;
}

/* ---- memory --------------------------------------------------------------------------------- */

static int slab_add(struct sl_neigh_table *t)
{
	uint32_t n_slots = t->n_slots + SLAB_ENTRIES;
	struct neigh_entry **heap = realloc(t->heap, n_slots * sizeof(t->heap[0]));
	struct neigh_slab *slab;

	if (heap == NULL)
		return -ENOMEM;
	t->heap = heap;
	slab = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*slab));
	if (slab == NULL)
		return -ENOMEM;
	memset(slab, 0, sizeof(*slab));
	slab->next = t->slabs;
	t->slabs = slab;
	t->n_slots = n_slots;
	for (unsigned int i = 0; i < SLAB_ENTRIES; i++)
		STAILQ_INSERT_TAIL(&t->free, &slab->entries[i], dead);
	t->n_free += SLAB_ENTRIES;
	return 0;
}

int neigh_reserve(struct sl_neigh_table *t, uint32_t n)
{
	while (t->n_free < n) {
		if (slab_add(t) < 0)
			return -ENOMEM;
	}
	return 0;
}

struct neigh_entry *neigh_insert(
		struct sl_neigh_table *t, uint16_t port, uint8_t family, const struct sl_addr *addr)
{
	struct neigh_entry *e;

	if (STAILQ_EMPTY(&t->free) && slab_add(t) < 0)
		return NULL;
	e = STAILQ_FIRST(&t->free);
	STAILQ_REMOVE_HEAD(&t->free, dead);
	t->n_free--;
	memset(e, 0, sizeof(*e));
	e->n.family = family;
	e->n.port = port;
	e->n.addr = *addr;
	e->hash = hash_key(t->seed, port, family, addr);
	e->heap_pos = NEIGH_NO_TIMER;
	TAILQ_INSERT_TAIL(&t->all, e, all);
	chain_add(atomic_load_explicit(&t->buckets, memory_order_relaxed), e);
	if (++t->n_entries > t->buckets->mask)
		buckets_grow(t);
	return e;
}

void neigh_remove(struct sl_neigh_table *t, struct neigh_entry *e)
{
	chain_remove(atomic_load_explicit(&t->buckets, memory_order_relaxed), e);
	TAILQ_REMOVE(&t->all, e, all);
	t->n_entries--;
	e->rcu_token = rte_rcu_qsbr_start(t->r->rcu);
	STAILQ_INSERT_TAIL(&t->dead, e, dead);
}

void neigh_reclaim(struct sl_neigh_table *t)
{
	struct neigh_entry *e;

	if (t->old_buckets != NULL
			&& rte_rcu_qsbr_check(t->r->rcu, t->old_buckets->rcu_token, false) == 1) {
		free(t->old_buckets);
		t->old_buckets = NULL;
	}
	while ((e = STAILQ_FIRST(&t->dead)) != NULL) {
		/* still in the woken list: sl_neigh_tick() takes it out first */
		if (atomic_load_explicit(&e->woken, memory_order_relaxed) != 0
				|| rte_rcu_qsbr_check(t->r->rcu, e->rcu_token, false) != 1)
			break;
		STAILQ_REMOVE_HEAD(&t->dead, dead);
		STAILQ_INSERT_TAIL(&t->free, e, dead);
		t->n_free++;
	}
}

/* ---- the table ------------------------------------------------------------------------------ */

int sl_neigh_table_create(struct sl_router *r, struct sl_neigh_table **out)
{
	struct sl_neigh_table *t = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*t));
	struct neigh_buckets *b;

	if (t == NULL)
		return -ENOMEM;
	memset(t, 0, sizeof(*t));
	b = buckets_new(BUCKETS_MIN);
	if (b == NULL) {
		free(t);
		return -ENOMEM;
	}
	t->r = r;
	t->seed = (uint32_t)rte_rand();
	atomic_init(&t->buckets, b);
	TAILQ_INIT(&t->all);
	STAILQ_INIT(&t->dead);
	STAILQ_INIT(&t->free);
	for (unsigned int i = 0; i < RTE_DIM(t->family); i++) {
		TAILQ_INIT(&t->family[i].idle);
		TAILQ_INIT(&t->family[i].failed);
	}
	*out = t;
	return 0;
}

void sl_neigh_table_free(struct sl_neigh_table *t)
{
	struct neigh_slab *slab, *next;

	if (t == NULL)
		return;
	for (slab = t->slabs; slab != NULL; slab = next) {
		next = slab->next;
		free(slab);
	}
	free(t->old_buckets);
	free(t->buckets);
	free(t->heap);
	free(t);
}
