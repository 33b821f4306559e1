/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that wait for a neighbour, and what becomes of them when it stays silent; buffers for
 * those that ask for it.
 */
#include "lib/ip.h"
#include "lib/neigh_table.h"
#include "lib/router.h"

void neigh_queue_push(struct sl_worker *w, struct neigh_entry *e, struct rte_mbuf *m)
{
	struct sl_pkt *p = sl_pkt(m);

	p->held_next = NULL;
	if (e->queue_tail == NULL)
		e->queue_head = m;
	else
		sl_pkt(e->queue_tail)->held_next = m;
	e->queue_tail = m;
	e->n_queued++;
	w->held[p->in_port]++;
}

struct rte_mbuf *neigh_queue_pop(struct sl_worker *w, struct neigh_entry *e)
{
	struct rte_mbuf *m = e->queue_head;
	struct sl_pkt *p;

	if (m == NULL)
		return NULL;
	p = sl_pkt(m);
	e->queue_head = p->held_next;
	if (e->queue_head == NULL)
		e->queue_tail = NULL;
	e->n_queued--;
	w->held[p->in_port]--;
	p->nh = NULL;
	return m;
}

void neigh_purge(struct sl_worker *w, struct neigh_entry *e, enum sl_drop_reason reason)
{
	struct rte_mbuf *m;

	while ((m = neigh_queue_pop(w, e)) != NULL)
		sl_drop(w, m, reason);
}

void sl_neigh_unreach(struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);

	if (!(p->flags & SL_PKT_ORIGIN)) {
		if (p->family == SL_AF_INET)
			sl_icmp4_error(w, m, 3, 1, 0);
		else
			sl_icmp6_error(w, m, 1, 3, 0);
	}
	sl_drop(w, m, SL_DROP_NEIGH_FAILED);
}

/* the kernel's neigh_invalidate() */
void neigh_queue_fail(struct sl_worker *w, struct neigh_entry *e)
{
	struct rte_mbuf *m;

	while ((m = neigh_queue_pop(w, e)) != NULL) {
		if (sl_pkt(m)->owner == w->id)
			sl_neigh_unreach(w, m);
		else
			sl_handoff(w, m, sl_pkt(m)->owner, SL_HANDOFF_UNREACH);
	}
}

struct rte_mbuf *neigh_own_frame(struct sl_worker *w, uint16_t port, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w->r->pool);
	char *frame = m != NULL ? rte_pktmbuf_append(m, len) : NULL;
	struct sl_pkt *p;

	if (frame == NULL) {
		/* it never came to be: received and dropped by the router itself */
		rte_pktmbuf_free(m);
		w->rx[SL_PORT_HOST]++;
		w->drops[SL_PORT_HOST][SL_DROP_NO_BUFFER]++;
		return NULL;
	}
	memset(frame, 0, len);
	p = sl_pkt(m);
	memset(p, 0, sizeof(*p));
	p->in_port = SL_PORT_HOST;
	p->out_port = port;
	p->flags = SL_PKT_ORIGIN;
	p->owner = w->id;
	p->rx_ns = w->now_ns;
	return m;
}
