/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy of a packet to another gateway, as the kernel's TEE makes it. It is a packet of the router's
 * own: it passes output and postrouting, is not tracked, and says don't-fragment.
 */
#include "lib/ip4.h"
#include "lib/router.h"

static const struct sl_nexthop *route_of(
		const struct sl_worker *w, enum sl_family family, const struct sl_copy *c)
{
	const struct sl_nexthop *nh = sl_net_route(w->net,
			&(struct sl_route_key){
					.family = (uint8_t)family,
					.in_port = SL_PORT_HOST,
					.out_port = c->port,
					.dst = c->gateway,
			});

	/* there is no way out of the router by an address of its own */
	return nh == NULL || nh->type != SL_ROUTE_UNICAST || nh->port == SL_PORT_HOST ? NULL : nh;
}

/* Return: false if there is no header in one piece */
static bool mend_header(struct rte_mbuf *m, bool hop)
{
	struct sl_pkt *p = sl_pkt(m);
	uint32_t len = m->pkt_len - p->l3_off;
	struct rte_ipv6_hdr *ip6;
	struct rte_ipv4_hdr *ip;

	if (p->family == SL_AF_INET6) {
		ip6 = sl_pkt_at(m, p->l3_off, sizeof(*ip6));
		if (ip6 == NULL)
			return false;
		ip6->hop_limits = (uint8_t)(ip6->hop_limits - hop);
		return true;
	}
	ip = ip4_hdr(m);
	if (ip == NULL || sl_pkt_at(m, p->l3_off, ip4_hdr_len(ip)) == NULL)
		return false;
	ip->time_to_live = (uint8_t)(ip->time_to_live - hop);
	ip->fragment_offset |= RTE_BE16(RTE_IPV4_HDR_DF_FLAG);
	ip->total_length = rte_cpu_to_be_16((uint16_t)len);
	ip->hdr_checksum = ip4_hdr_csum(ip);
	p->flags |= SL_PKT_DF;
	return true;
}

void sl_copy_send(struct sl_worker *w, const struct rte_mbuf *m, const struct sl_copy *c)
{
	const struct sl_pkt *of = (const void *)(m + 1);
	const struct sl_nexthop *nh;
	struct rte_mbuf *copy;
	struct sl_pkt *p;

	if (of->flags & (SL_PKT_COPY | SL_PKT_ABOUT_COPY))
		return;
	nh = route_of(w, (enum sl_family)of->family, c);
	if (nh == NULL)
		return;
	copy = rte_pktmbuf_copy(m, w->r->pool, 0, UINT32_MAX);
	if (copy == NULL)
		return;
	p = sl_pkt(copy);
	*p = *of;
	if (!mend_header(copy, c->hop)) {
		rte_pktmbuf_free(copy);
		return;
	}
	/* options have been dealt with, or never will be */
	p->flags &= ~(SL_PKT_REDIRECT | SL_PKT_OPT_RR | SL_PKT_OPT_TS | SL_PKT_OPT_SR
			| SL_PKT_OPT_CHANGED);
	p->flags |= SL_PKT_COPY | SL_PKT_UNTRACKED;
	p->ct = NULL;
	p->ct_info = 0;
	p->opt_off = 0;
	p->vlan_tci = 0;
	p->nh = nh;
	p->out_port = nh->port;
	p->via = nh->family == SL_AF_NONE ? c->gateway : nh->gateway;
	sl_worker_originate(w, copy);
}
