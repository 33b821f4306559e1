/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwarding of IPv6 packets: the kernel's ip6_forward(), checks in its order. One condition passes
 * nearly every packet; what fails it is looked at closely, which is not the same as being dropped.
 */
#include "lib/ip6.h"

static bool take_drop(struct sl_worker *w, struct rte_mbuf *m, enum sl_drop_reason reason)
{
	sl_drop(w, m, reason);
	return false;
}

/* a datagram that was joined here goes on in pieces if its own pieces fit */
static bool is_too_big(const struct sl_pkt *p, uint32_t mtu)
{
	return p->l3_len > mtu && (p->frag_max == 0 || p->frag_max > mtu);
}

static __rte_noinline bool check_closely(
		struct sl_worker *w, struct rte_mbuf *m, struct rte_ipv6_hdr *ip)
{
	struct sl_pkt *p = sl_pkt(m);
	uint32_t mtu = RTE_MAX((uint32_t)p->nh->mtu, IP6_MIN_MTU);

	if (!w->net->sysctl.ip6_forward)
		return take_drop(w, m, SL_DROP_FORWARDING_OFF);
	if (p->flags & (SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST))
		return take_drop(w, m, SL_DROP_LINK_GROUP);
	if (ip->hop_limits <= 1) {
		sl_icmp6_error(w, m, ICMP6_TIME, ICMP6_TIME_HOPS, 0);
		return take_drop(w, m, SL_DROP_TTL);
	}
	if (p->out_port == p->in_port) {
		ip6_redirect(w, m);
	} else if (ip6_is_any(&p->src)) {
		return take_drop(w, m, SL_DROP_MARTIAN_SRC);
	} else if (ip6_is_link_local(&p->src)) {
		sl_icmp6_error(w, m, ICMP6_UNREACH, ICMP6_UNREACH_SCOPE, 0);
		return take_drop(w, m, SL_DROP_SCOPE);
	}
	if (is_too_big(p, mtu)) {
		sl_icmp6_error(w, m, ICMP6_TOO_BIG, 0, mtu);
		return take_drop(w, m, SL_DROP_TOO_BIG);
	}
	ip->hop_limits--;
	return true;
}

bool sl_ip6_forward(struct sl_worker *w, struct rte_mbuf *m)
{
	struct sl_pkt *p = sl_pkt(m);
	struct rte_ipv6_hdr *ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv6_hdr *, p->l3_off);

	/* 0xfe: link-local among others; q[0] of 0: unspecified among others */
	if (unlikely((p->flags & (SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST)) != 0
			    || ip->hop_limits <= 1 || p->out_port == p->in_port
			    || p->src.b[0] == 0xfe || p->src.q[0] == 0 || p->l3_len > p->nh->mtu
			    || !w->net->sysctl.ip6_forward))
		return check_closely(w, m, ip);
	ip->hop_limits--;
	return true;
}
