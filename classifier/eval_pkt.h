/* SPDX-License-Identifier: BSD-3-Clause */
/* What an evaluation knows of a packet before the first rule: both forms of it start here. */
#pragma once

#include "classifier/chain_test.h"

/* what all packets of a batch have in common */
struct ipt_ctx eval_ctx(const struct ipt_prog *prog, enum ipt_table_id table, enum ipt_hook hook,
		struct sl_worker *w);

/* bytes without which a match on a protocol drops the packet */
extern const uint8_t eval_header_bytes[256];

/* eval_pkt_start() for a packet without a whole transport header */
void eval_pkt_headless(struct eval_pkt *e, enum ipt_family family);

/* devices and transport header of a packet at a hook, as netfilter hands them to a table */
static inline void eval_pkt_start(struct eval_pkt *e, const struct ipt_prog *prog,
		enum ipt_hook hook, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	/* the router's own packets came in by no device */
	bool has_in = hook != IPT_OUTPUT && !(p->flags & SL_PKT_ORIGIN);
	bool has_out = hook != IPT_PREROUTING && hook != IPT_INPUT && p->out_port != SL_PORT_NONE;

	e->m = m;
	e->pos = 0;
	e->depth = 0;
	e->in = has_in ? p->in_port : 0;
	e->out = has_out ? p->out_port : 0;
	/* the kernel gives a copy its output device early, and so it seems to come in by it */
	if (unlikely(p->flags & SL_PKT_COPY) && hook == IPT_POSTROUTING)
		e->in = e->out;
	e->thoff = p->l4_off;
	e->fragoff = 0;
	e->odd = (p->flags & (SL_PKT_FRAG_LATER | SL_PKT_L4)) != SL_PKT_L4
			|| m->pkt_len < p->l4_off + (uint32_t)eval_header_bytes[p->proto];
	if (unlikely(e->odd))
		eval_pkt_headless(e, (enum ipt_family)prog->family);
}

/* the packet that @c is about */
static inline void eval_point(struct ipt_ctx *c, const struct eval_pkt *e, uint32_t chain)
{
	c->m = e->m;
	c->p = sl_pkt(e->m);
	c->in = e->in == 0 ? SL_PORT_NONE : e->in;
	c->out = e->out == 0 ? SL_PORT_NONE : e->out;
	c->chain = chain;
	c->thoff = e->thoff;
	c->fragoff = e->fragoff;
	c->hotdrop = false;
}

/* bytes that count: of the IP packet, as skb->len */
static inline uint32_t eval_bytes(struct rte_mbuf *m)
{
	return m->pkt_len - sl_pkt(m)->l3_off;
}
