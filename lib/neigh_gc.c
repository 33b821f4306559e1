/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * States of neighbours in the table's books: who can be sent to, who is idle, who has to leave.
 *
 * The number of live entries is bounded by gc_thresh3. The kernel's other two thresholds stand at
 * their default ratio: below max / 8 (gc_thresh1) nothing is collected by age, above max / 2
 * (gc_thresh2) a new entry forces a collection, at most once in 5 s while there is still room. A
 * forced collection takes failed entries first, then idle ones whose state is older than 5 s. Both
 * stand in lists by age, so it looks only at entries that it removes; the kernel walks all entries
 * in the order in which they were made.
 */
#include "lib/neigh_table.h"
#include "lib/router.h"

#define FORCED_GC_AGE_NS (5 * NEIGH_NS_PER_S)

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
		neigh_remove(t, e);
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
