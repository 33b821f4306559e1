/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/worker.h"

#include "lib/ip.h"
#include "lib/neigh.h"
#include "lib/net.h"
#include "lib/router.h"
#include "lib/watch.h"

#include <rte_cycles.h>

#include <unistd.h>

/* a device that takes nothing twice in a row will not take it a third time within a burst */
#define TX_TRIES 2

void sl_worker_deliver(struct sl_worker *w, struct rte_mbuf *m)
{
	if (unlikely(w->watch != NULL))
		sl_watch_delivered(w, m);
	w->delivered[sl_pkt(m)->in_port]++;
	rte_pktmbuf_free(m);
}

void sl_worker_to_host(struct sl_worker *w, struct rte_mbuf *m)
{
	if (unlikely(w->n_input == SL_INPUT_MAX)) {
		sl_drop(w, m, SL_DROP_INPUT_FULL);
		return;
	}
	w->input[w->n_input++] = m;
}

void sl_worker_originate(struct sl_worker *w, struct rte_mbuf *m)
{
	struct sl_pkt *p = sl_pkt(m);

	p->in_port = SL_PORT_HOST;
	p->owner = w->id;
	p->flags |= SL_PKT_ORIGIN;
	p->rx_ns = w->now_ns;
	if (unlikely(w->watch != NULL))
		sl_watch_own(w, m);
	w->rx[SL_PORT_HOST]++;
	w->rx_bytes[SL_PORT_HOST] += m->pkt_len;
	if (unlikely(w->n_output == SL_OUTPUT_MAX)) {
		sl_drop(w, m, SL_DROP_OUTPUT_FULL);
		return;
	}
	w->output[w->n_output++] = m;
}

static void tx_port(struct sl_worker *w, uint16_t port)
{
	struct sl_txq *q = &w->txq[port];
	struct sl_link *link = w->r->ports[port].link;
	uint16_t run_port = SL_PORT_HOST;
	unsigned int run = 0, sent = 0;
	uint64_t bytes = 0;

	if (unlikely(w->watch != NULL))
		sl_watch_tx(w, q->pkts, q->n);
	/* the device owns what it took, so counting comes first and what it left is taken back */
	for (unsigned int i = 0; i < q->n; i++) {
		uint16_t in_port = sl_pkt(q->pkts[i])->in_port;

		bytes += q->pkts[i]->pkt_len;
		if (in_port != run_port) {
			w->forwarded[run_port] += run;
			run_port = in_port;
			run = 0;
		}
		run++;
	}
	w->forwarded[run_port] += run;
	for (unsigned int try = 0; try < TX_TRIES && sent < q->n; try++)
		sent += link->ops->tx(
				link, w->id % link->n_txq, q->pkts + sent, (uint16_t)(q->n - sent));
	w->tx[port] += sent;
	for (unsigned int i = sent; i < q->n; i++) {
		bytes -= q->pkts[i]->pkt_len;
		w->forwarded[sl_pkt(q->pkts[i])->in_port]--;
		sl_drop(w, q->pkts[i], SL_DROP_TX_FULL);
	}
	w->tx_bytes[port] += bytes;
	q->n = 0;
}

void sl_worker_tx_flush(struct sl_worker *w)
{
	for (unsigned int i = 1; i <= w->r->n_ports; i++)
		if (w->txq[i].n > 0)
			tx_port(w, (uint16_t)i);
}

/* Return: false if there was no room for the tag; @m is as it was */
static bool add_vlan(struct rte_mbuf *m, uint16_t vlan)
{
	uint8_t *frame = (uint8_t *)(void *)rte_pktmbuf_prepend(m, sizeof(struct rte_vlan_hdr));

	if (frame == NULL)
		return false;
	memmove(frame, frame + sizeof(struct rte_vlan_hdr), 2 * RTE_ETHER_ADDR_LEN);
	frame[12] = RTE_ETHER_TYPE_VLAN >> 8;
	frame[13] = RTE_ETHER_TYPE_VLAN & 0xff;
	frame[14] = (uint8_t)(vlan >> 8);
	frame[15] = (uint8_t)vlan;
	return true;
}

void sl_worker_send(struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_port *port = &w->r->ports[sl_pkt(m)->out_port];
	struct sl_txq *q = &w->txq[port->id];

	if (unlikely(!atomic_load_explicit(&port->link->up, memory_order_relaxed))) {
		sl_drop(w, m, SL_DROP_TX_DOWN);
		return;
	}
	if (unlikely(port->vlan != 0) && !add_vlan(m, port->vlan)) {
		sl_drop(w, m, SL_DROP_NO_BUFFER);
		return;
	}
	if (unlikely(w->id >= port->link->n_txq)) {
		sl_handoff(w, m, w->id % port->link->n_txq, SL_HANDOFF_TX);
		return;
	}
	q->pkts[q->n++] = m;
	if (unlikely(q->n == RTE_DIM(q->pkts)))
		tx_port(w, port->id);
}

void sl_worker_send_bulk(
		struct sl_worker *w, uint16_t port_id, struct rte_mbuf **pkts, unsigned int n)
{
	const struct sl_port *port = &w->r->ports[port_id];
	struct sl_txq *q = &w->txq[port_id];

	if (unlikely(port->vlan != 0 || w->id >= port->link->n_txq || q->n + n >= RTE_DIM(q->pkts)
			    || !atomic_load_explicit(&port->link->up, memory_order_relaxed))) {
		for (unsigned int i = 0; i < n; i++)
			sl_worker_send(w, pkts[i]);
		return;
	}
	memcpy(&q->pkts[q->n], pkts, n * sizeof(pkts[0]));
	q->n += n;
}

void sl_handoff(struct sl_worker *w, struct rte_mbuf *m, uint16_t to, enum sl_handoff kind)
{
	struct sl_pkt *p = sl_pkt(m);

	p->handoff = kind;
	p->nh = NULL; /* may be gone before the other side looks */
	if (unlikely(rte_ring_sp_enqueue(w->r->workers[to]->inbox[w->id], m) != 0)) {
		sl_drop(w, m, SL_DROP_HANDOFF_FULL);
		return;
	}
	/* only the sum over workers counts, so each side writes its own half */
	w->held[p->in_port]++;
	w->handed[kind]++;
}

static void send_handed(struct sl_worker *w, struct rte_mbuf *m)
{
	struct sl_txq *q = &w->txq[sl_pkt(m)->out_port];

	q->pkts[q->n++] = m;
	if (q->n == RTE_DIM(q->pkts))
		tx_port(w, sl_pkt(m)->out_port);
}

/* one packet that is not on its way through the hooks */
static void take_one(struct sl_worker *w, struct rte_mbuf *m)
{
	switch ((enum sl_handoff)sl_pkt(m)->handoff) {
	case SL_HANDOFF_ARP:
		sl_neigh_rx_arp(w, m);
		break;
	case SL_HANDOFF_ND:
		sl_neigh_rx_nd(w, m);
		break;
	case SL_HANDOFF_RESOLVE:
		sl_neigh_resolve(w, m);
		break;
	case SL_HANDOFF_UNREACH:
		sl_neigh_unreach(w, m);
		break;
	case SL_HANDOFF_TX:
		send_handed(w, m);
		break;
	case SL_HANDOFF_FLOW:
	case SL_HANDOFF_NB:
		break;
	}
}

static unsigned int poll_inbox(struct sl_worker *w, struct rte_ring *inbox)
{
	struct rte_mbuf *pkts[SL_BURST];
	void *entries[SL_BURST];
	unsigned int n = rte_ring_sc_dequeue_burst(inbox, entries, SL_BURST, NULL);
	unsigned int flows = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = entries[i];
		struct sl_pkt *p = sl_pkt(m);

		w->held[p->in_port]--;
		if (likely(p->handoff == SL_HANDOFF_FLOW)) {
			p->flags |= SL_PKT_HANDED;
			p->owner = w->id;
			pkts[flows++] = m;
		} else {
			take_one(w, m);
		}
	}
	if (flows > 0)
		sl_pipeline_resume(w, pkts, flows);
	return n;
}

static unsigned int poll_links(struct sl_worker *w)
{
	struct rte_mbuf *pkts[SL_BURST];
	unsigned int total = 0;

	for (unsigned int i = 0; i < w->r->n_links; i++) {
		struct sl_link *link = w->r->links[i];
		unsigned int n;

		if (w->id >= link->n_rxq)
			continue;
		n = link->ops->rx(link, w->id, pkts, SL_BURST);
		if (n == 0)
			continue;
		sl_pipeline_rx(w, link->home, pkts, n);
		sl_pipeline_flush(w);
		total += n;
	}
	return total;
}

static unsigned int poll_messages(struct sl_worker *w)
{
	unsigned int n = 0;
	void *entry;

	while (rte_ring_sc_dequeue(w->messages, &entry) == 0) {
		struct sl_msg *msg = entry;

		msg->run(w, msg->arg);
		atomic_store_explicit(&msg->done, true, memory_order_release);
		n++;
	}
	return n;
}

static void read_clock(struct sl_worker *w)
{
	struct sl_router *r = w->r;
	uint64_t ticks;

	if (r->manual_clock)
		return;
	ticks = rte_rdtsc() - r->start_tsc;
	w->now_ns = (uint64_t)(((unsigned __int128)ticks * r->tsc_to_ns) >> 32);
	w->wall_ns = r->start_wall_ns + w->now_ns;
}

void sl_worker_begin(struct sl_worker *w)
{
	const struct sl_snapshot *s = atomic_load_explicit(&w->r->snap, memory_order_acquire);

	read_clock(w);
	w->net = s->net;
	w->pl = s->pl;
	w->watch = atomic_load_explicit(&w->r->watchers, memory_order_acquire);
	w->watch_stage = NULL;
	w->stage = &w->outside;
}

void sl_worker_tick(struct sl_worker *w)
{
	struct sl_reasm *transit;

	if (w->id == 0) {
		sl_neigh_tick(w);
		sl_net_tick(w);
	}
	sl_reasm_tick(w, w->reasm, true);
	transit = atomic_load_explicit(&w->transit, memory_order_acquire);
	if (transit != NULL)
		sl_reasm_tick(w, transit, true);
	for (unsigned int i = 0; i < w->pl->n_ticks; i++) {
		const struct sl_stage_inst *s = &w->pl->stages[w->pl->ticks[i]];

		s->ops->tick(w, s->priv);
	}
}

unsigned int sl_worker_poll(struct sl_worker *w)
{
	unsigned int n = 0;

	sl_worker_begin(w);
	if (unlikely(!rte_ring_empty(w->messages)))
		n += poll_messages(w);
	for (unsigned int i = 0; i < w->r->n_workers; i++) {
		if (w->inbox[i] != NULL && !rte_ring_empty(w->inbox[i])) {
			n += poll_inbox(w, w->inbox[i]);
			sl_pipeline_flush(w);
		}
	}
	n += poll_links(w);
	sl_worker_tick(w);
	sl_pipeline_flush(w);
	return n;
}

static inline uint32_t rotl(uint32_t x, unsigned int k)
{
	return x << k | x >> (32 - k);
}

/* xoshiro128++ by Blackman and Vigna */
uint32_t sl_worker_random(struct sl_worker *w)
{
	uint32_t *s = w->rand_state;
	uint32_t result = rotl(s[0] + s[3], 7) + s[0];
	uint32_t t = s[1] << 9;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 11);
	return result;
}

void sl_worker_call(struct sl_worker *w, void (*fn)(struct sl_worker *w, void *arg), void *arg)
{
	struct sl_msg msg = { .run = fn, .arg = arg };

	if (!atomic_load_explicit(&w->r->threaded, memory_order_acquire)) {
		fn(w, arg);
		return;
	}
	/* one request at a time, so the ring always has room */
	while (rte_ring_sp_enqueue(w->messages, &msg) != 0)
		usleep(10);
	while (!atomic_load_explicit(&msg.done, memory_order_acquire))
		usleep(10);
}
