/* SPDX-License-Identifier: BSD-3-Clause */
/* rpfilter: would an answer leave by the port that the packet came in by? */
#include "classifier/match_ext.h"
#include "lib/net.h"
#include "lib/worker.h"

static bool is_link_local6(const struct sl_addr *a)
{
	return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

/* a source that may ask before it has an address: to everybody, or to a group on the link */
static bool may_be_nobody(const struct sl_pkt *p)
{
	return p->src.v4 == 0
			&& (p->dst.v4 == UINT32_MAX
					|| (p->dst.b[0] == 224 && p->dst.b[1] == 0
							&& p->dst.b[2] == 0));
}

static bool is_unicast(const struct sl_pkt *p)
{
	if (p->family == SL_AF_INET6)
		return p->dst.b[0] != 0xff && (p->dst.q[0] | p->dst.q[1]) != 0;
	return (p->dst.b[0] & 0xf0) != 224 && p->dst.v4 != UINT32_MAX && p->dst.v4 != 0;
}

static bool passes(const struct ipt_ctx *c, uint32_t opts)
{
	const struct sl_pkt *p = c->p;
	struct sl_route_key key = {
		.family = p->family,
		.in_port = SL_PORT_HOST,
		.out_port = SL_PORT_NONE,
		.mark = opts & IPT_RPFILTER_VALIDMARK ? p->mark : 0,
		.dst = p->src,
	};
	const struct sl_nexthop *nh;

	if (is_unicast(p))
		key.src = p->dst;
	if (p->family == SL_AF_INET6) {
		key.proto = p->proto;
		if (is_link_local6(&p->src))
			key.out_port = c->in;
	}
	nh = sl_net_group(c->w->net, &key);
	if (nh == NULL)
		return false;
	if (nh->type == SL_ROUTE_LOCAL) {
		if (!(opts & IPT_RPFILTER_ACCEPT_LOCAL) || nh->flags & SL_NEXTHOP_ANYCAST)
			return false;
		if (p->family == SL_AF_INET6)
			return true;
	} else if (nh->type != SL_ROUTE_UNICAST) {
		return false;
	}
	for (unsigned int i = 0; i < nh->n_paths; i++) {
		if (nh[i].port == c->in)
			return true;
	}
	return opts & IPT_RPFILTER_LOOSE;
}

static bool rpfilter_match(
		struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct sl_pkt *p = c->p;
	bool nobody = p->family == SL_AF_INET ? may_be_nobody(p) : (p->src.q[0] | p->src.q[1]) == 0;

	return (nobody || passes(c, match->set)) != !!(match->set & IPT_RPFILTER_INVERT);
}

const struct ipt_match_ops ipt_match_rpfilter_ops = { .kind = IPT_M_RPFILTER,
	.match = rpfilter_match };
