/* SPDX-License-Identifier: BSD-3-Clause */
/* What an evaluation knows of a packet before the first rule: both forms of it start here. */
#pragma once

#include "classifier/chain_test.h"

/* what all packets of a batch have in common */
struct ipt_ctx eval_ctx(const struct ipt_prog *prog, enum ipt_table_id table, enum ipt_hook hook,
		struct sl_worker *w);

/* devices and transport header of a packet at a hook, as netfilter hands them to a table */
void eval_pkt_start(struct eval_pkt *e, const struct ipt_prog *prog, enum ipt_hook hook,
		struct rte_mbuf *m);

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
