/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The neighbour table: entries, the hash that workers walk, and who has to leave when it is full.
 *
 * Strangers fill this table (a scan of a subnet makes an entry per address), so the hash is keyed
 * with a random seed and the number of live entries is bounded by gc_thresh3. The kernel's other
 * two thresholds stand at their default ratio: below max / 8 (gc_thresh1) nothing is collected by
 * age, above max / 2 (gc_thresh2) a new entry forces a collection, at most once in 5 s while there
 * is still room. A forced collection takes failed entries first, then idle ones whose state is
 * older than 5 s. Both stand in lists by age, so it looks only at entries that it removes; the
 * kernel walks all entries in the order in which they were made.
 */
#include "lib/neigh_table.h"

#include "lib/router.h"

#include <rte_jhash.h>
#include <rte_random.h>

#include <errno.h>
#include <stdlib.h>

#define SLAB_ENTRIES 64
#define BUCKETS_MIN 256U
#define FORCED_GC_AGE_NS (5 * NEIGH_NS_PER_S)

struct neigh_slab {
	struct neigh_entry entries[SLAB_ENTRIES];
	struct neigh_slab *next;
};

void neigh_parms_get(const struct sl_worker *w, uint8_t family, struct neigh_parms *out)
{
	const struct sl_sysctl *s = &w->net->sysctl;

	*out = family == SL_AF_INET6 ? (struct neigh_parms){
		.base_reachable_ns = (uint64_t)s->neigh6_reachable_ms * NEIGH_NS_PER_MS,
		.retrans_ns = (uint64_t)s->neigh6_retrans_ms * NEIGH_NS_PER_MS,
		.delay_ns = (uint64_t)s->neigh6_delay_s * NEIGH_NS_PER_S,
		.stale_ns = (uint64_t)s->neigh6_stale_s * NEIGH_NS_PER_S,
		.mcast_solicit = (uint32_t)s->neigh6_mcast_solicit,
		.ucast_solicit = (uint32_t)s->neigh6_ucast_solicit,
		.max = (uint32_t)s->neigh6_max,
		.queue = (uint32_t)s->neigh6_queue,
	} : (struct neigh_parms){
		.base_reachable_ns = (uint64_t)s->neigh4_reachable_ms * NEIGH_NS_PER_MS,
		.retrans_ns = (uint64_t)s->neigh4_retrans_ms * NEIGH_NS_PER_MS,
		.delay_ns = (uint64_t)s->neigh4_delay_s * NEIGH_NS_PER_S,
		.stale_ns = (uint64_t)s->neigh4_stale_s * NEIGH_NS_PER_S,
		.mcast_solicit = (uint32_t)s->neigh4_mcast_solicit,
		.ucast_solicit = (uint32_t)s->neigh4_ucast_solicit,
		.max = (uint32_t)s->neigh4_max,
		.queue = (uint32_t)s->neigh4_queue,
	};
}

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

static void unlink_entry(struct sl_neigh_table *t, struct neigh_entry *e)
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

/* ---- states, lists and counts --------------------------------------------------------------- */

static void list_remove(struct sl_neigh_table *t, struct neigh_entry *e)
{
	struct neigh_family *f = neigh_family(t, e->n.family);

	if (e->list == NEIGH_LIST_IDLE)
		TAILQ_REMOVE(&f->idle, e, idle);
	else if (e->list == NEIGH_LIST_FAILED)
		TAILQ_REMOVE(&f->failed, e, idle);
	e->list = NEIGH_LIST_NONE;
}

/* a permanent entry does not count against the bound */
static void count(struct sl_neigh_table *t, struct neigh_entry *e, bool live, bool permanent)
{
	struct neigh_family *f = neigh_family(t, e->n.family);

	f->count -= e->live && e->state != SL_NEIGH_PERMANENT;
	f->count += live && !permanent;
	e->live = live;
}

/* when the kernel's periodic collection would take it */
static uint64_t collect_ns(const struct sl_worker *w, const struct neigh_entry *e,
		const struct neigh_parms *parms)
{
	uint64_t soon = w->now_ns + parms->base_reachable_ns / 2;
	uint64_t aged = RTE_MAX(e->used_ns, e->confirmed_ns) + parms->stale_ns;

	return e->state == SL_NEIGH_FAILED ? soon : RTE_MAX(soon, aged);
}

/* arm the collection of an idle entry, if the table is large enough for one */
static void arm_collection(struct sl_worker *w, struct neigh_entry *e)
{
	struct sl_neigh_table *t = w->r->neigh;
	struct neigh_family *f = neigh_family(t, e->n.family);
	struct neigh_parms parms;

	neigh_parms_get(w, e->n.family, &parms);
	if (f->count < parms.max / 8)
		f->parked = true;
	else
		neigh_timer_arm(t, e, collect_ns(w, e, &parms));
}

void neigh_set_state(struct sl_worker *w, struct neigh_entry *e, enum sl_neigh_state state)
{
	struct sl_neigh_table *t = w->r->neigh;
	struct neigh_family *f = neigh_family(t, e->n.family);
	uint64_t link = atomic_load_explicit(&e->n.link, memory_order_relaxed);

	neigh_timer_cancel(t, e);
	list_remove(t, e);
	count(t, e, true, state == SL_NEIGH_PERMANENT);
	e->state = (uint8_t)state;
	e->updated_ns = w->now_ns;
	/* a packet to a stale neighbour is told to the host worker, to others not */
	atomic_store_explicit(&e->n.used, state != SL_NEIGH_STALE, memory_order_relaxed);
	link = neigh_is(e, NEIGH_VALID) ? link | SL_NEIGH_USABLE : link & ~SL_NEIGH_USABLE;
	atomic_store_explicit(&e->n.link, link, memory_order_release);

	if (state == SL_NEIGH_STALE || state == SL_NEIGH_NONE) {
		e->list = NEIGH_LIST_IDLE;
		TAILQ_INSERT_TAIL(&f->idle, e, idle);
		arm_collection(w, e);
	} else if (state == SL_NEIGH_FAILED) {
		e->list = NEIGH_LIST_FAILED;
		TAILQ_INSERT_TAIL(&f->failed, e, idle);
		arm_collection(w, e);
	}
}

void neigh_forget(struct sl_neigh_table *t, struct neigh_entry *e)
{
	neigh_timer_cancel(t, e);
	list_remove(t, e);
	count(t, e, false, false);
	e->state = SL_NEIGH_NONE;
	e->router = false;
	atomic_store_explicit(&e->n.link, 0, memory_order_release);
	if (e->pins == 0)
		unlink_entry(t, e);
}

void neigh_collect(struct sl_worker *w, struct neigh_entry *e)
{
	struct sl_neigh_table *t = w->r->neigh;
	struct neigh_family *f = neigh_family(t, e->n.family);
	struct neigh_parms parms;

	neigh_parms_get(w, e->n.family, &parms);
	if (f->count >= parms.max / 8)
		neigh_forget(t, e);
	else
		f->parked = true;
}

/* timers for the idle entries that went without while the table was small */
static void unpark(struct sl_worker *w, struct neigh_family *f, const struct neigh_parms *parms)
{
	struct neigh_entry *e;

	f->parked = false;
	TAILQ_FOREACH (e, &f->failed, idle) {
		if (e->heap_pos == NEIGH_NO_TIMER)
			neigh_timer_arm(w->r->neigh, e, collect_ns(w, e, parms));
	}
	TAILQ_FOREACH (e, &f->idle, idle) {
		if (e->heap_pos == NEIGH_NO_TIMER)
			neigh_timer_arm(w->r->neigh, e, collect_ns(w, e, parms));
	}
}

/* Return: whether something was removed */
static bool forced_gc(struct sl_worker *w, struct neigh_family *f, const struct neigh_parms *parms)
{
	uint32_t target = parms->max / 2, before = f->count;
	struct neigh_entry *e;

	while (f->count > target && (e = TAILQ_FIRST(&f->failed)) != NULL)
		neigh_forget(w->r->neigh, e);
	while (f->count > target && (e = TAILQ_FIRST(&f->idle)) != NULL
			&& w->now_ns > e->updated_ns + FORCED_GC_AGE_NS)
		neigh_forget(w->r->neigh, e);
	f->last_gc_ns = w->now_ns;
	return f->count < before;
}

static bool have_room(struct sl_worker *w, uint8_t family)
{
	struct neigh_family *f = neigh_family(w->r->neigh, family);
	struct neigh_parms parms;

	neigh_parms_get(w, family, &parms);
	if (f->count >= parms.max
			|| (f->count >= parms.max / 2
					&& w->now_ns > f->last_gc_ns + FORCED_GC_AGE_NS)) {
		if (!forced_gc(w, f, &parms) && f->count >= parms.max)
			return false;
	}
	if (f->parked && f->count + 1 >= parms.max / 8)
		unpark(w, f, &parms);
	return true;
}

struct neigh_entry *neigh_lookup_live(const struct sl_neigh_table *t, uint16_t port, uint8_t family,
		const struct sl_addr *addr)
{
	struct neigh_entry *e = neigh_lookup(t, port, family, addr);

	return e != NULL && e->live ? e : NULL;
}

struct neigh_entry *neigh_lookup_make(
		struct sl_worker *w, uint16_t port, uint8_t family, const struct sl_addr *addr)
{
	struct sl_neigh_table *t = w->r->neigh;
	struct neigh_entry *e = neigh_lookup(t, port, family, addr);

	if (e != NULL && e->live)
		return e;
	if (!have_room(w, family))
		return NULL;
	if (e == NULL)
		e = neigh_insert(t, port, family, addr);
	if (e == NULL)
		return NULL;
	e->used_ns = w->now_ns;
	e->confirmed_ns = 0;
	neigh_set_state(w, e, SL_NEIGH_NONE);
	return e;
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
