/* SPDX-License-Identifier: BSD-3-Clause */
/* state and conntrack: what is known of the connection, as xt_conntrack tests it. */
#include "classifier/ct_state.h"
#include "conntrack/ext.h"
#include "lib/worker.h"

static bool state_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_state *m = match->data;

	return ((ipt_ct_state(c->p) & m->states) != 0) != (match->inv != 0);
}

/* whether an option that was given fails */
static inline bool fails(const struct ipt_match *match, uint32_t option, bool holds)
{
	return holds == ((match->inv & option) != 0);
}

static bool states_hold(const struct sl_pkt *p, const struct ct_entry *e, uint8_t states)
{
	uint8_t is = ipt_ct_state(p);

	if (e != NULL && e->status & CT_SRC_NAT)
		is |= IPT_CT_SNAT;
	if (e != NULL && e->status & CT_DST_NAT)
		is |= IPT_CT_DNAT;
	return (is & states) != 0;
}

static bool same_addr(enum ipt_family family, const struct sl_addr *a, const struct ipt_hostmask *h)
{
	uint32_t differs = (rte_be_to_cpu_32(a->w[0]) ^ h->addr.w[0]) & h->mask.w[0];

	for (unsigned int i = 1; family == IPT_V6 && i < RTE_DIM(a->w); i++)
		differs |= (rte_be_to_cpu_32(a->w[i]) ^ h->addr.w[i]) & h->mask.w[i];
	return differs == 0;
}

static bool has_port(const struct ipt_range16 *range, rte_be16_t port_be)
{
	uint16_t port = rte_be_to_cpu_16(port_be);

	return port >= range->lo && port <= range->hi;
}

static bool addrs_hold(
		enum ipt_family family, const struct ipt_match *match, const struct ct_entry *e)
{
	const struct ipt_m_conntrack *m = match->data;
	const struct {
		uint32_t option;
		const struct sl_addr *addr;
		const struct ipt_hostmask *host;
	} tests[] = {
		{ IPT_CONNTRACK_ORIGSRC, &e->orig.src, &m->origsrc },
		{ IPT_CONNTRACK_ORIGDST, &e->orig.dst, &m->origdst },
		{ IPT_CONNTRACK_REPLSRC, &e->reply.src, &m->replsrc },
		{ IPT_CONNTRACK_REPLDST, &e->reply.dst, &m->repldst },
	};

	for (unsigned int i = 0; i < RTE_DIM(tests); i++)
		if (match->set & tests[i].option
				&& fails(match, tests[i].option,
						same_addr(family, tests[i].addr, tests[i].host)))
			return false;
	return true;
}

/* of any protocol: what it has in the place of ports, as the kernel reads it */
static bool ports_hold(const struct ipt_match *match, const struct ct_entry *e)
{
	const struct ipt_m_conntrack *m = match->data;
	const struct {
		uint32_t option;
		const struct ipt_range16 *range;
		rte_be16_t port_be;
	} tests[] = {
		{ IPT_CONNTRACK_ORIGSRCPORT, &m->origsrcport, e->orig.sport_be },
		{ IPT_CONNTRACK_ORIGDSTPORT, &m->origdstport, e->orig.dport_be },
		{ IPT_CONNTRACK_REPLSRCPORT, &m->replsrcport, e->reply.sport_be },
		{ IPT_CONNTRACK_REPLDSTPORT, &m->repldstport, e->reply.dport_be },
	};

	for (unsigned int i = 0; i < RTE_DIM(tests); i++)
		if (match->set & tests[i].option
				&& fails(match, tests[i].option,
						has_port(tests[i].range, tests[i].port_be)))
			return false;
	return true;
}

/* the time of a connection that is not confirmed does not run yet: the kernel sees none left */
static bool expire_holds(
		const struct ipt_ctx *c, const struct ct_entry *e, const struct ipt_range32 *range)
{
	uint32_t left = e->status & CT_CONFIRMED ? ct_seconds_left(e, ct_now(c->w->now_ns)) : 0;

	return left >= range->lo && left <= range->hi;
}

static bool entry_holds(
		const struct ipt_ctx *c, const struct ipt_match *match, const struct ct_entry *e)
{
	const uint32_t addrs = IPT_CONNTRACK_ORIGSRC | IPT_CONNTRACK_ORIGDST | IPT_CONNTRACK_REPLSRC
			| IPT_CONNTRACK_REPLDST;
	const uint32_t ports = IPT_CONNTRACK_ORIGSRCPORT | IPT_CONNTRACK_ORIGDSTPORT
			| IPT_CONNTRACK_REPLSRCPORT | IPT_CONNTRACK_REPLDSTPORT;
	const struct ipt_m_conntrack *m = match->data;
	bool reply = (c->p->flags & SL_PKT_CT_TEMPLATE) == 0
			&& ct_info_dir(c->p->ct_info) == CT_REPLY;

	if (match->set & IPT_CONNTRACK_DIR && reply != m->dir_reply)
		return false;
	if (match->set & addrs && !addrs_hold((enum ipt_family)c->family, match, e))
		return false;
	if (match->set & IPT_CONNTRACK_PROTO
			&& fails(match, IPT_CONNTRACK_PROTO, e->orig.proto == m->proto))
		return false;
	if (match->set & ports && !ports_hold(match, e))
		return false;
	if (match->set & IPT_CONNTRACK_STATUS
			&& fails(match, IPT_CONNTRACK_STATUS, (e->status & m->status) != 0))
		return false;
	return !(match->set & IPT_CONNTRACK_EXPIRE)
			|| !fails(match, IPT_CONNTRACK_EXPIRE, expire_holds(c, e, &m->expire_s));
}

static bool conntrack_match(
		struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_conntrack *m = match->data;
	const struct ct_entry *e = ct_ext_entry(c->p);
	bool by_state = (match->set & IPT_CONNTRACK_STATE) != 0;

	if (by_state && fails(match, IPT_CONNTRACK_STATE, states_hold(c->p, e, m->states)))
		return false;
	if (match->set == IPT_CONNTRACK_STATE)
		return true;
	/* without a connection the state decides alone, whatever else the rule asks */
	return e == NULL ? by_state : entry_holds(c, match, e);
}

static_assert(IPT_CTS_EXPECTED == CT_EXPECTED && IPT_CTS_SEEN_REPLY == CT_SEEN_REPLY
				&& IPT_CTS_ASSURED == CT_ASSURED
				&& IPT_CTS_CONFIRMED == CT_CONFIRMED,
		"the kernel's bits");

const struct ipt_match_ops ipt_match_conntrack_ops = {
	.kind = IPT_M_CONNTRACK,
	.needs = IPT_NEEDS_CT,
	.match = conntrack_match,
};
const struct ipt_match_ops ipt_match_state_ops = {
	.kind = IPT_M_STATE,
	.needs = IPT_NEEDS_CT,
	.match = state_match,
};
