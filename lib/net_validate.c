/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Source validation of received IPv4 packets: what ip_route_input_slow() says of the source alone,
 * then __fib_validate_source() with the short cut that the kernel takes when rp_filter is off.
 */
#include "lib/net_priv.h"
#include "lib/router.h"

#include <rte_ip.h>

/* inet_lookup_ifaddr_rcu(): of 127.0.0.0/8 only the address itself */
static bool is_own(const struct sl_net *net, rte_be32_t addr_be)
{
	struct sl_addr addr = sl_addr_v4(addr_be);

	if (addr.b[0] == 127)
		return addr_be == RTE_BE32(RTE_IPV4_LOOPBACK);
	return net_maybe_own4(net->priv, addr_be)
			&& sl_net_is_local(net, SL_AF_INET, &addr, SL_PORT_NONE);
}

/* whether one of the paths leads out of @port */
static bool uses_port(const struct sl_nexthop *nh, uint16_t port)
{
	for (unsigned int i = 0; i < nh->n_paths; i++) {
		if (nh[i].port == port)
			return true;
	}
	return false;
}

/* fib_lookup() reports these as errors, not as results */
static bool is_answer(const struct sl_nexthop *nh)
{
	return nh != NULL
			&& (nh->type == SL_ROUTE_UNICAST || nh->type == SL_ROUTE_LOCAL
					|| nh->type == SL_ROUTE_BROADCAST);
}

static enum sl_source_verdict reverse_lookup(const struct sl_net *net, const struct sl_pkt *p,
		const struct sl_addr *dst, uint16_t out_port, bool *onlink)
{
	const struct sl_net_port *np = &net->ports[p->in_port];
	struct sl_route_key key = {
		.family = SL_AF_INET,
		.in_port = out_port,
		.mark = np->sysctl.src_valid_mark != 0 ? p->mark : 0,
		.dst = p->src,
		.src = *dst,
		.out_port = SL_PORT_NONE,
	};
	const struct sl_nexthop *nh;
	int rp_filter = np->sysctl.rp_filter;

	net_fill_key(net->priv, p, &key);
	RTE_SWAP(key.sport_be, key.dport_be);
	nh = net_lookup(net, &key);
	if (!is_answer(nh))
		return rp_filter != 0 ? SL_SOURCE_RP_FILTER : SL_SOURCE_OK;
	if (nh->type != SL_ROUTE_UNICAST
			&& (nh->type != SL_ROUTE_LOCAL || np->sysctl.accept_local == 0))
		return SL_SOURCE_MARTIAN;
	if (uses_port(nh, p->in_port)) {
		*onlink = nh->family == SL_AF_NONE;
		return SL_SOURCE_OK;
	}
	if (np->n_addr4 == 0)
		return rp_filter != 0 ? SL_SOURCE_RP_FILTER : SL_SOURCE_OK;
	if (rp_filter == 1)
		return SL_SOURCE_RP_FILTER;
	/* loose: what matters is only whether a redirect may be sent */
	if (out_port == p->in_port) {
		nh = net_search(net, &key, p->in_port);
		*onlink = nh != NULL && nh->type == SL_ROUTE_UNICAST && nh->family == SL_AF_NONE;
	}
	return SL_SOURCE_OK;
}

enum sl_source_verdict sl_net_validate_source4(const struct sl_net *net, const struct sl_pkt *p,
		const struct sl_nexthop *dst_nh, bool *onlink)
{
	const struct sl_sysctl_port *s = &net->ports[p->in_port].sysctl;
	static const struct sl_addr nobody;
	const struct sl_addr *dst = &p->dst;
	uint16_t out_port = SL_PORT_HOST;
	uint8_t top = p->src.b[0];

	*onlink = false;
	if (p->src.v4 == 0)
		/* a host that has no address yet may say so to everybody */
		return p->dst.v4 == UINT32_MAX || p->dst.v4 == 0 ? SL_SOURCE_OK : SL_SOURCE_MARTIAN;
	if ((top & 0xf0) == 224 || p->src.v4 == UINT32_MAX)
		return SL_SOURCE_MARTIAN;
	if (top == 127 && s->route_localnet == 0 && p->dst.v4 != UINT32_MAX)
		return SL_SOURCE_MARTIAN;
	if (p->dst.v4 == UINT32_MAX
			|| (dst_nh != NULL && dst_nh->type == SL_ROUTE_BROADCAST
					&& s->bc_forwarding == 0))
		dst = &nobody; /* the way back cannot be from a broadcast address */
	else if (dst_nh != NULL && dst_nh->type != SL_ROUTE_LOCAL)
		out_port = dst_nh->port;
	if (s->rp_filter == 0 && (p->in_port != out_port || s->send_redirects4 == 0)) {
		if (s->accept_local != 0)
			return SL_SOURCE_OK;
		if (!net->priv->custom_rules4 && !net->priv->custom_local)
			return is_own(net, p->src.v4) ? SL_SOURCE_MARTIAN : SL_SOURCE_OK;
	}
	return reverse_lookup(net, p, dst, out_port, onlink);
}
