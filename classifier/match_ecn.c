/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/ip_field.h"
#include "classifier/match_ext.h"

#include <rte_tcp.h>

static bool ecn_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_ecn *e = match->data;
	struct rte_tcp_hdr tcp;

	if (match->set & IPT_ECN_IP_ECT
			&& ((ipt_tos(c->m) & 3) == e->ip_ect) == !!(match->inv & IPT_ECN_IP_ECT))
		return false;
	if (!(match->set & (IPT_ECN_TCP_ECE | IPT_ECN_TCP_CWR)))
		return true;
	/* no test for fragments, and no hotdrop: the kernel leaves both to -p tcp */
	if (!sl_pkt_copy(c->m, c->thoff, sizeof(tcp), &tcp))
		return false;
	if (match->set & IPT_ECN_TCP_ECE
			&& !(tcp.tcp_flags & RTE_TCP_ECE_FLAG) != !!(match->inv & IPT_ECN_TCP_ECE))
		return false;
	return !(match->set & IPT_ECN_TCP_CWR)
			|| !(tcp.tcp_flags & RTE_TCP_CWR_FLAG) == !!(match->inv & IPT_ECN_TCP_CWR);
}

const struct ipt_match_ops ipt_match_ecn_ops = { .kind = IPT_M_ECN, .match = ecn_match };
