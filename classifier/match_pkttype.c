/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/match_ext.h"

/* by the destination MAC that the frame came with; the router's own packets are unicast */
static enum ipt_pkttype type_of(const struct sl_pkt *p)
{
	if (p->flags & SL_PKT_LINK_BCAST)
		return IPT_PKT_BROADCAST;
	if (p->flags & SL_PKT_LINK_MCAST)
		return IPT_PKT_MULTICAST;
	return p->flags & SL_PKT_LINK_OTHER ? IPT_PKT_OTHERHOST : IPT_PKT_UNICAST;
}

static bool pkttype_match(
		struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_pkttype *t = match->data;

	return (type_of(c->p) == t->type) != !!(match->inv & IPT_PKTTYPE_TYPE);
}

const struct ipt_match_ops ipt_match_pkttype_ops = { .kind = IPT_M_PKTTYPE,
	.match = pkttype_match };
