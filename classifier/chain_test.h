/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether a compiled rule holds for a packet: the tests themselves, one packet at a time. */
#pragma once

#include "classifier/chain.h"

/* a packet on its way through a table */
struct eval_pkt {
	struct rte_mbuf *m;
	uint32_t chain, pos; /* the rule that is next */
	uint32_t depth; /* calls to return from */
	uint16_t in, out; /* as the rules see them; 0: no device */
	uint16_t thoff, fragoff; /* see struct ipt_ctx; IPv6: if a rule says -p */
	bool odd; /* its transport header is not whole */
};

static inline bool chain_addr_holds(const struct sl_addr *a, const struct sl_addr *value,
		const struct sl_addr *mask, bool inv)
{
	bool differs = (((a->q[0] ^ value->q[0]) & mask->q[0])
				       | ((a->q[1] ^ value->q[1]) & mask->q[1]))
			!= 0;

	return differs == inv;
}

/* the protocol, with which IPv6 finds the transport header; false with c->hotdrop: a broken chain */
static inline bool chain_proto_holds(
		const struct chain_rule *r, struct ipt_ctx *c, const struct eval_pkt *e)
{
	const struct sl_pkt *p = c->p;

	if (c->family == IPT_V4) {
		bool later = (p->flags & SL_PKT_FRAG_LATER) != 0;

		if (r->proto != 0 && (p->proto == r->proto) == r->proto_inv)
			return false;
		return r->frag == IPT_FRAG_ANY || later == (r->frag == IPT_FRAG_LATER);
	}
	c->thoff = p->l3_off;
	c->fragoff = 0;
	if (!r->walk)
		return true;
	if (!(p->flags & SL_PKT_L4)) {
		c->hotdrop = true;
		return false;
	}
	c->thoff = e->thoff;
	c->fragoff = e->fragoff;
	return r->proto == 0 || (p->proto == r->proto) != r->proto_inv;
}

static inline bool chain_core_holds(
		const struct chain_rule *r, struct ipt_ctx *c, const struct eval_pkt *e)
{
	return chain_addr_holds(&c->p->src, &r->src, &r->src_mask, r->src_inv)
			&& chain_addr_holds(&c->p->dst, &r->dst, &r->dst_mask, r->dst_inv)
			&& (r->in >> e->in & r->out >> e->out & 1) != 0
			&& chain_proto_holds(r, c, e);
}

/* A match may set c->hotdrop and hold all the same (behind `!`): the others are asked nevertheless. */
static inline bool chain_matches_hold(
		const struct chain_rule *r, struct ipt_ctx *c, unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++) {
		const struct chain_match *m = &r->matches[i];

		if (!m->ops->match(c, m->match, m->state))
			return false;
	}
	return true;
}

/* where a rule's matches and target find the transport header */
static inline void chain_aim(
		const struct chain_rule *r, struct ipt_ctx *c, const struct eval_pkt *e)
{
	bool known = c->family == IPT_V4 || r->walk;

	c->thoff = known ? e->thoff : c->p->l3_off;
	c->fragoff = known ? e->fragoff : 0;
	c->rule = r->rule;
}
