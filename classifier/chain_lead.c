/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a rule may be asked at any time, for any packet, in any order: its matches up to the
 * first one that has a state or that may drop a packet on the spot. What stands behind that one is
 * asked in the order of the rules, so that it takes its token only if all before it held, and a
 * packet that is to be dropped is not let past.
 */
#include "classifier/chain.h"

/* never drop a packet whose transport header is whole, and hold for it what they held before */
static const bool harmless[IPT_M_NB] = {
	[IPT_M_ADDRTYPE] = true,
	[IPT_M_BPF] = true,
	[IPT_M_CLUSTER] = true,
	[IPT_M_COMMENT] = true,
	[IPT_M_CONNBYTES] = true,
	[IPT_M_CONNMARK] = true,
	[IPT_M_CONNTRACK] = true,
	[IPT_M_CPU] = true,
	[IPT_M_DEVGROUP] = true,
	[IPT_M_DSCP] = true,
	[IPT_M_ECN] = true,
	[IPT_M_ESP] = true,
	[IPT_M_EUI64] = true,
	[IPT_M_HELPER] = true,
	[IPT_M_HL] = true,
	[IPT_M_ICMP] = true,
	[IPT_M_ICMP6] = true,
	[IPT_M_IPRANGE] = true,
	[IPT_M_IPV6HEADER] = true,
	[IPT_M_LENGTH] = true,
	[IPT_M_MAC] = true,
	[IPT_M_MARK] = true,
	[IPT_M_MULTIPORT] = true,
	[IPT_M_PHYSDEV] = true,
	[IPT_M_PKTTYPE] = true,
	[IPT_M_REALM] = true,
	[IPT_M_REGEX] = true,
	[IPT_M_RPFILTER] = true,
	[IPT_M_SET] = true,
	[IPT_M_STATE] = true,
	[IPT_M_STRING] = true,
	[IPT_M_TCP] = true,
	[IPT_M_TIME] = true,
	[IPT_M_TOS] = true,
	[IPT_M_TTL] = true,
	[IPT_M_U32] = true,
	[IPT_M_UDP] = true,
	[IPT_M_UDPLITE] = true,
};

/* change nothing but their packet */
static const bool private_target[IPT_T_NB] = {
	[IPT_T_CLASSIFY] = true,
	[IPT_T_CT] = true,
	[IPT_T_DSCP] = true,
	[IPT_T_ECN] = true,
	[IPT_T_HL] = true,
	[IPT_T_HMARK] = true,
	[IPT_T_MARK] = true,
	[IPT_T_NOTRACK] = true,
	[IPT_T_TCPMSS] = true,
	[IPT_T_TCPOPTSTRIP] = true,
	[IPT_T_TOS] = true,
	[IPT_T_TTL] = true,
};

/* leave the bytes of the packet as they are */
static const bool only_reads[IPT_T_NB] = {
	[IPT_T_AUDIT] = true,
	[IPT_T_CLASSIFY] = true,
	[IPT_T_CONNMARK] = true,
	[IPT_T_CT] = true,
	[IPT_T_HMARK] = true,
	[IPT_T_LOG] = true,
	[IPT_T_MARK] = true,
	[IPT_T_NFLOG] = true,
	[IPT_T_NOTRACK] = true,
	[IPT_T_SET] = true,
	[IPT_T_TRACE] = true,
};

/* CONNMARK as well, where it only reads: whoever writes makes its table serial */
static bool is_private(const struct ipt_target *target)
{
	if (target->kind == IPT_T_CONNMARK)
		return (target->set & IPT_CONNMARK_RESTORE) != 0;
	return private_target[target->kind];
}

static bool is_stateful(const struct chain_match *m)
{
	return m->ops->is_stateful != NULL ? m->ops->is_stateful(m->state) : m->ops->stateful;
}

static bool may_be_asked(const struct chain_match *m)
{
	/* an option list that is cut drops the packet */
	if (m->match->kind == IPT_M_TCP && m->match->set & IPT_TCP_OPTION)
		return false;
	return harmless[m->match->kind] && !is_stateful(m);
}

void chain_lead(struct chain_rule *rule)
{
	uint16_t n = 0;

	while (n < rule->n_matches && may_be_asked(&rule->matches[n]))
		n++;
	rule->n_lead = n;
	for (; n < rule->n_matches; n++)
		if (is_stateful(&rule->matches[n]))
			rule->flags |= CHAIN_ORDERED;
	if (rule->verdict == IPT_TARGET && !only_reads[rule->rule->target.kind])
		rule->flags |= CHAIN_REWRITES;
	if (rule->verdict == IPT_TARGET && !is_private(&rule->rule->target))
		rule->flags |= CHAIN_ORDERED;
}
