/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours: the states, the timers and the packets that wait. RFC 4861 section 7.3 as the kernel
 * has it in net/core/neighbour.c, for ARP and ND alike:
 *
 *   NONE, FAILED --packet--> INCOMPLETE, asks all; packets wait
 *   INCOMPLETE --answer--> REACHABLE, waiting packets leave; --mcast_solicit unanswered--> FAILED,
 *                each waiting packet is answered by host unreachable
 *   REACHABLE --reachable time over--> DELAY if packets went out as DELAY lately, else STALE
 *   STALE --packet--> DELAY --delay_first_probe_time--> PROBE, asks the known link address
 *   PROBE --answer--> REACHABLE; --ucast_solicit unanswered--> FAILED
 *
 * In all but NONE, INCOMPLETE and FAILED workers send without asking. Only the first packet to a
 * STALE neighbour concerns the host worker: whoever finds `used` at 0 sets it and pushes the entry
 * to the woken list, which sl_neigh_tick() empties.
 */
#include "lib/ip.h"
#include "lib/neigh_frame.h"
#include "lib/neigh_table.h"
#include "lib/router.h"

#define TICK_NS (10 * NEIGH_NS_PER_MS) /* the kernel's shortest timer here */
#define REDRAW_NS (300 * NEIGH_NS_PER_S)

static void send(struct sl_worker *w, struct neigh_entry *e, struct rte_mbuf *m)
{
	uint64_t link = atomic_load_explicit(&e->n.link, memory_order_relaxed);

	if (neigh_frame_write(w->r, m, link))
		sl_worker_send(w, m);
	else
		sl_drop(w, m, SL_DROP_NO_BUFFER);
}

/* ---- states --------------------------------------------------------------------------------- */

static void probe(struct sl_worker *w, struct neigh_entry *e, const struct neigh_parms *parms)
{
	/* the newest packet tells which source address the question should have */
	const struct sl_pkt *trigger = e->queue_tail != NULL ? sl_pkt(e->queue_tail) : NULL;
	bool unicast = e->probes < parms->ucast_solicit;

	if (e->n.family == SL_AF_INET6) {
		nd_solicit(w, e, trigger, unicast);
	} else {
		struct rte_ether_addr mac;

		neigh_mac_of(atomic_load_explicit(&e->n.link, memory_order_relaxed), &mac);
		arp_solicit(w, e, trigger, unicast ? &mac : NULL);
	}
	e->probes++;
}

static uint64_t retrans_ns(const struct neigh_parms *parms)
{
	return RTE_MAX(parms->retrans_ns, TICK_NS);
}

/* for how long an answer is believed: one draw for all neighbours of a family, as the kernel's */
static uint64_t reachable_ns(struct sl_worker *w, uint8_t family, const struct neigh_parms *parms)
{
	struct neigh_family *f = neigh_family(w->r->neigh, family);
	uint64_t base = parms->base_reachable_ns;

	if (f->reachable_base_ns != base || w->now_ns > f->drawn_ns + REDRAW_NS) {
		f->reachable_base_ns = base;
		f->drawn_ns = w->now_ns;
		f->reachable_ns = base / 2 + (base * (sl_worker_random(w) >> 8) >> 24);
	}
	return f->reachable_ns;
}

static void start_delay(struct sl_worker *w, struct neigh_entry *e, const struct neigh_parms *parms)
{
	neigh_set_state(w, e, SL_NEIGH_DELAY);
	neigh_timer_arm(w->r->neigh, e, w->now_ns + parms->delay_ns);
}

/* the kernel's neigh_event_send() and what follows it; takes @m */
static void output(struct sl_worker *w, struct neigh_entry *e, struct rte_mbuf *m)
{
	struct neigh_parms parms;
	bool start;

	if (neigh_is(e, NEIGH_CONNECTED)) {
		send(w, e, m);
		return;
	}
	neigh_parms_get(w, e->n.family, &parms);
	e->used_ns = w->now_ns;
	if (e->state == SL_NEIGH_STALE)
		start_delay(w, e, &parms);
	if (neigh_is(e, NEIGH_VALID)) {
		send(w, e, m);
		return;
	}
	start = e->state != SL_NEIGH_INCOMPLETE;
	if (start) {
		/* counts on from ucast_solicit, so that everybody is asked */
		e->probes = parms.ucast_solicit;
		neigh_set_state(w, e, SL_NEIGH_INCOMPLETE);
		neigh_timer_arm(w->r->neigh, e, w->now_ns + retrans_ns(&parms));
	}
	/* the oldest makes room */
	while (e->n_queued >= parms.queue)
		sl_drop(w, neigh_queue_pop(w, e), SL_DROP_NEIGH_QUEUE);
	neigh_queue_push(w, e, m);
	if (start)
		probe(w, e, &parms);
}

void sl_neigh_resolve(struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	struct neigh_entry *e = neigh_lookup_make(w, p->out_port, p->family, &p->via);

	if (e == NULL)
		sl_drop(w, m, SL_DROP_NEIGH_TABLE);
	else
		output(w, e, m);
}

static void queue_send(struct sl_worker *w, struct neigh_entry *e)
{
	struct rte_mbuf *m;

	while (neigh_is(e, NEIGH_VALID) && (m = neigh_queue_pop(w, e)) != NULL)
		output(w, e, m);
}

static void set_link(struct neigh_entry *e, uint64_t link)
{
	atomic_store_explicit(&e->n.link, link, memory_order_relaxed);
}

void neigh_update(struct sl_worker *w, struct neigh_entry *e, const struct rte_ether_addr *mac,
		enum sl_neigh_state state, uint32_t flags)
{
	bool was_valid = neigh_is(e, NEIGH_VALID);
	uint64_t old_link = atomic_load_explicit(&e->n.link, memory_order_relaxed);
	uint64_t known = old_link & ~SL_NEIGH_USABLE;
	uint64_t told = mac != NULL ? neigh_link_of(mac) : known;
	bool other = !was_valid || told != known;
	bool set_router = (flags & NEIGH_SET_ROUTER) != 0;
	struct neigh_parms parms;

	if (e->state == SL_NEIGH_PERMANENT || (mac == NULL && !was_valid))
		return;
	neigh_parms_get(w, e->n.family, &parms);
	if (state == SL_NEIGH_REACHABLE)
		e->confirmed_ns = w->now_ns;
	if (was_valid) {
		if (other && !(flags & NEIGH_OVERRIDE)) {
			if (!(flags & NEIGH_WEAK_OVERRIDE) || !neigh_is(e, NEIGH_CONNECTED))
				return;
			set_router = false;
			other = false;
			state = SL_NEIGH_STALE;
		} else if (!other && state == SL_NEIGH_STALE) {
			state = (enum sl_neigh_state)e->state;
		}
	}
	if (set_router)
		e->router = (flags & NEIGH_ROUTER) != 0;
	if (other) {
		/* workers see old or new, whole; usable only if it was before */
		set_link(e, told | (old_link & SL_NEIGH_USABLE));
		e->updated_ns = w->now_ns;
		if (state != SL_NEIGH_REACHABLE)
			e->confirmed_ns = 0;
	}
	if (state != (enum sl_neigh_state)e->state || (other && state == SL_NEIGH_STALE)) {
		/* a stale entry with a new link address moves to the end of the idle list */
		neigh_set_state(w, e, state);
		if (state == SL_NEIGH_REACHABLE)
			neigh_timer_arm(w->r->neigh, e,
					w->now_ns + reachable_ns(w, e->n.family, &parms));
	}
	if (!was_valid)
		queue_send(w, e);
}

void neigh_set_permanent(
		struct sl_worker *w, struct neigh_entry *e, const struct rte_ether_addr *mac)
{
	uint64_t usable = atomic_load_explicit(&e->n.link, memory_order_relaxed) & SL_NEIGH_USABLE;

	/* on reload workers go on without a gap */
	set_link(e, neigh_link_of(mac) | usable);
	neigh_set_state(w, e, SL_NEIGH_PERMANENT);
	queue_send(w, e);
}

/* ---- timers --------------------------------------------------------------------------------- */

static void fail(struct sl_worker *w, struct neigh_entry *e)
{
	neigh_set_state(w, e, SL_NEIGH_FAILED);
	neigh_queue_fail(w, e);
}

static void reachable_expired(
		struct sl_worker *w, struct neigh_entry *e, const struct neigh_parms *parms)
{
	uint64_t until = e->confirmed_ns + reachable_ns(w, e->n.family, parms);

	if (w->now_ns <= until)
		neigh_timer_arm(w->r->neigh, e, RTE_MAX(until, w->now_ns + TICK_NS));
	else if (w->now_ns <= e->used_ns + parms->delay_ns)
		start_delay(w, e, parms);
	else
		neigh_set_state(w, e, SL_NEIGH_STALE);
}

static void delay_expired(
		struct sl_worker *w, struct neigh_entry *e, const struct neigh_parms *parms)
{
	/* an answer with another link address, too soon to be taken, confirms all the same */
	if (e->confirmed_ns != 0 && w->now_ns <= e->confirmed_ns + parms->delay_ns) {
		neigh_set_state(w, e, SL_NEIGH_REACHABLE);
		neigh_timer_arm(w->r->neigh, e,
				e->confirmed_ns + reachable_ns(w, e->n.family, parms));
		return;
	}
	e->probes = 0;
	neigh_set_state(w, e, SL_NEIGH_PROBE);
	neigh_timer_arm(w->r->neigh, e, w->now_ns + retrans_ns(parms));
	probe(w, e, parms);
}

static void probe_unanswered(
		struct sl_worker *w, struct neigh_entry *e, const struct neigh_parms *parms)
{
	uint32_t max = parms->ucast_solicit;

	if (e->state == SL_NEIGH_INCOMPLETE)
		max += parms->mcast_solicit;
	if (e->probes >= max) {
		fail(w, e);
		return;
	}
	neigh_timer_arm(w->r->neigh, e, w->now_ns + retrans_ns(parms));
	probe(w, e, parms);
}

static void timer(struct sl_worker *w, struct neigh_entry *e)
{
	struct neigh_parms parms;

	neigh_parms_get(w, e->n.family, &parms);
	switch ((enum sl_neigh_state)e->state) {
	case SL_NEIGH_REACHABLE:
		reachable_expired(w, e, &parms);
		break;
	case SL_NEIGH_DELAY:
		delay_expired(w, e, &parms);
		break;
	case SL_NEIGH_INCOMPLETE:
	case SL_NEIGH_PROBE:
		probe_unanswered(w, e, &parms);
		break;
	case SL_NEIGH_NONE:
	case SL_NEIGH_STALE:
	case SL_NEIGH_FAILED:
		neigh_collect(w, e);
		break;
	case SL_NEIGH_PERMANENT: /* has no timer */
	case SL_NEIGH_STATE_NB:
		break;
	}
}

void sl_neigh_wake(struct sl_neigh_table *t, struct sl_neigh *n)
{
	struct neigh_entry *e = (struct neigh_entry *)(void *)n;
	struct neigh_entry *head;

	atomic_store_explicit(&n->used, 1, memory_order_relaxed);
	if (atomic_exchange_explicit(&e->woken, 1, memory_order_acq_rel) != 0)
		return;
	head = atomic_load_explicit(&t->woken, memory_order_relaxed);
	do {
		atomic_store_explicit(&e->woken_next, head, memory_order_relaxed);
	} while (!atomic_compare_exchange_weak_explicit(
			&t->woken, &head, e, memory_order_release, memory_order_relaxed));
}

static void take_woken(struct sl_worker *w, struct sl_neigh_table *t)
{
	struct neigh_entry *e, *next;

	if (atomic_load_explicit(&t->woken, memory_order_relaxed) == NULL)
		return;
	e = atomic_exchange_explicit(&t->woken, NULL, memory_order_acquire);
	for (; e != NULL; e = next) {
		struct neigh_parms parms;

		next = atomic_load_explicit(&e->woken_next, memory_order_relaxed);
		atomic_store_explicit(&e->woken, 0, memory_order_release);
		if (!e->live || e->state != SL_NEIGH_STALE)
			continue;
		neigh_parms_get(w, e->n.family, &parms);
		e->used_ns = w->now_ns;
		start_delay(w, e, &parms);
	}
}

void sl_neigh_tick(struct sl_worker *w)
{
	struct sl_neigh_table *t = w->r->neigh;
	struct neigh_entry *e;

	take_woken(w, t);
	while ((e = neigh_timer_take(t, w->now_ns)) != NULL)
		timer(w, e);
	if (unlikely(!STAILQ_EMPTY(&t->dead) || t->old_buckets != NULL))
		neigh_reclaim(t);
}

void sl_neigh_flush(struct sl_worker *w)
{
	struct neigh_entry *e;

	TAILQ_FOREACH (e, &w->r->neigh->all, all)
		neigh_purge(w, e, SL_DROP_SHUTDOWN);
}

/*
 * As when the kernel's device loses its carrier: all but permanent entries are forgotten and what
 * waits is dropped without an answer. Nothing is said when it comes back: arp_notify and
 * ndisc_notify are 0.
 */
void sl_neigh_port_changed(struct sl_worker *w, uint16_t port, bool up)
{
	struct sl_neigh_table *t = w->r->neigh;
	struct neigh_entry *e, *next;

	if (up)
		return;
	for (e = TAILQ_FIRST(&t->all); e != NULL; e = next) {
		next = TAILQ_NEXT(e, all);
		if (e->n.port != port || !e->live || e->state == SL_NEIGH_PERMANENT)
			continue;
		neigh_purge(w, e, SL_DROP_TX_DOWN);
		neigh_forget(t, e);
	}
}
