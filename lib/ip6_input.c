/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of an IPv6 packet once its route is known: on, to the router itself, or an answer. */
#include "lib/ip6.h"

static void refuse(
		struct sl_worker *w, struct rte_mbuf *m, uint8_t code, enum sl_drop_reason reason)
{
	sl_icmp6_error(w, m, ICMP6_UNREACH, code, 0);
	sl_drop(w, m, reason);
}

static bool is_solicited_node(const struct sl_addr *group, const struct sl_addr *addr)
{
	struct sl_addr g = { .b = { 0xff, 0x02, [11] = 0x01, [12] = 0xff } };

	memcpy(&g.b[13], &addr->b[13], 3);
	return sl_addr_eq(&g, group);
}

bool ip6_is_own_group(const struct sl_net *net, const struct sl_addr *addr, uint16_t port)
{
	static const struct sl_addr all_nodes = { .b = { 0xff, 0x02, [15] = 1 } };
	static const struct sl_addr all_routers = { .b = { 0xff, 0x02, [15] = 2 } };
	static const struct sl_addr site_routers = { .b = { 0xff, 0x05, [15] = 2 } };
	const struct sl_net_port *np = &net->ports[port];

	if (sl_addr_eq(addr, &all_nodes))
		return true;
	if (sl_addr_eq(addr, &all_routers) || sl_addr_eq(addr, &site_routers))
		return np->sysctl.forwarding6 != 0;
	for (unsigned int i = 0; i < np->n_addr6; i++) {
		struct sl_addr subnet =
				sl_addr_mask(&np->addr6[i].addr, SL_AF_INET6, np->addr6[i].len);

		if (is_solicited_node(addr, &np->addr6[i].addr))
			return true;
		/* a router has the subnet-router anycast address, too */
		if (np->sysctl.forwarding6 != 0 && np->addr6[i].len < 127
				&& is_solicited_node(addr, &subnet))
			return true;
	}
	return false;
}

static __rte_noinline void take(
		struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh)
{
	const struct sl_pkt *p = sl_pkt(m);

	if (ip6_is_multicast(&p->dst)) {
		if (ip6_is_own_group(w->net, &p->dst, p->in_port))
			sl_worker_to_host(w, m);
		else
			sl_drop(w, m, SL_DROP_MULTICAST);
		return;
	}
	if (nh == NULL) {
		refuse(w, m, ICMP6_UNREACH_NO_ROUTE, SL_DROP_NO_ROUTE);
		return;
	}
	switch ((enum sl_route_type)nh->type) {
	case SL_ROUTE_LOCAL:
		sl_worker_to_host(w, m);
		break;
	case SL_ROUTE_UNREACHABLE:
		refuse(w, m, ICMP6_UNREACH_NO_ROUTE, SL_DROP_ROUTE_UNREACHABLE);
		break;
	case SL_ROUTE_PROHIBIT:
		refuse(w, m, ICMP6_UNREACH_PROHIBITED, SL_DROP_ROUTE_PROHIBIT);
		break;
	case SL_ROUTE_BLACKHOLE:
		sl_drop(w, m, SL_DROP_ROUTE_BLACKHOLE);
		break;
	case SL_ROUTE_UNICAST:
	case SL_ROUTE_BROADCAST: /* not in IPv6 */
	case SL_ROUTE_THROW: /* ends as no route */
	case SL_ROUTE_TYPE_NB:
		refuse(w, m, ICMP6_UNREACH_NO_ROUTE, SL_DROP_NO_ROUTE);
		break;
	}
}

bool sl_ip6_input(struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh)
{
	struct sl_pkt *p = sl_pkt(m);

	if (unlikely(nh == NULL || nh->type != SL_ROUTE_UNICAST || ip6_is_multicast(&p->dst))) {
		take(w, m, nh);
		return false;
	}
	p->nh = nh;
	p->out_port = nh->port;
	p->via = nh->family == SL_AF_NONE ? p->dst : nh->gateway;
	return true;
}
