/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * addrtype. Of IPv4 only the local table is asked: what it does not know is unicast. Of IPv6 the
 * nature of the address and the route decide together, and several types of one list have all to
 * hold, except local, anycast and unreachable, of which one is enough.
 */
#include "classifier/match_ext.h"
#include "lib/net.h"
#include "lib/worker.h"

#define BIT(type) (1U << IPT_ADDR_##type)

/* the type of an address, seen from @port alone unless that is SL_PORT_NONE */
static enum ipt_addrtype type4(const struct sl_net *net, const struct sl_addr *a, uint16_t port)
{
	const struct sl_nexthop *nh;

	if (a->v4 == 0 || a->v4 == UINT32_MAX)
		return IPT_ADDR_BROADCAST;
	if ((a->b[0] & 0xf0) == 224)
		return IPT_ADDR_MULTICAST;
	nh = sl_net_local_route(net, SL_AF_INET, a);
	if (nh == NULL || (port != SL_PORT_NONE && nh->port != port))
		return IPT_ADDR_UNICAST;
	switch ((enum sl_route_type)nh->type) {
	case SL_ROUTE_LOCAL:
		return IPT_ADDR_LOCAL;
	case SL_ROUTE_BROADCAST:
		return IPT_ADDR_BROADCAST;
	case SL_ROUTE_BLACKHOLE:
		return IPT_ADDR_BLACKHOLE;
	case SL_ROUTE_UNREACHABLE:
		return IPT_ADDR_UNREACHABLE;
	case SL_ROUTE_PROHIBIT:
		return IPT_ADDR_PROHIBIT;
	case SL_ROUTE_THROW:
		return IPT_ADDR_THROW;
	case SL_ROUTE_UNICAST:
	case SL_ROUTE_TYPE_NB:
		break;
	}
	return IPT_ADDR_UNICAST;
}

static bool has_address6(const struct sl_net *net, const struct sl_addr *a, uint16_t port)
{
	const struct sl_net_port *np = &net->ports[port];

	for (unsigned int i = 0; i < np->n_addr6; i++) {
		if (sl_addr_eq(&np->addr6[i].addr, a))
			return true;
	}
	return false;
}

/* those of local, anycast and unreachable that the way to @a shows */
static uint32_t route_types6(const struct sl_net *net, const struct sl_addr *a, uint16_t port)
{
	struct sl_route_key key = {
		.family = SL_AF_INET6, .in_port = SL_PORT_HOST, .out_port = port, .dst = *a
	};
	uint32_t types = port != SL_PORT_NONE && has_address6(net, a, port) ? BIT(LOCAL) : 0;
	const struct sl_nexthop *nh = sl_net_group(net, &key);

	if (nh == NULL)
		return BIT(UNREACHABLE);
	if (nh->type != SL_ROUTE_LOCAL)
		return nh->type == SL_ROUTE_UNICAST ? types : BIT(UNREACHABLE);
	if (nh->flags & SL_NEXTHOP_ANYCAST)
		return types | BIT(ANYCAST);
	return port == SL_PORT_NONE ? types | BIT(LOCAL) : types;
}

static bool is_of6(const struct sl_net *net, const struct sl_addr *a, uint16_t port, uint32_t types)
{
	bool multicast = a->b[0] == 0xff;
	bool any = (a->q[0] | a->q[1]) == 0;

	if ((types & BIT(MULTICAST) && !multicast) || (types & BIT(UNICAST) && (multicast || any))
			|| (types & BIT(UNSPEC) && !any))
		return false;
	types &= BIT(LOCAL) | BIT(ANYCAST) | BIT(UNREACHABLE);
	return types == 0 || types & route_types6(net, a, port);
}

static bool is_of(const struct ipt_ctx *c, const struct sl_addr *a, uint16_t port, uint32_t types)
{
	if (c->family == IPT_V6)
		return is_of6(c->w->net, a, port, types);
	return types >> type4(c->w->net, a, port) & 1;
}

static bool addrtype_match(
		struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_addrtype *t = match->data;
	uint16_t port = SL_PORT_NONE;

	if (match->set & IPT_ADDRTYPE_IFACE_IN)
		port = c->in;
	else if (match->set & IPT_ADDRTYPE_IFACE_OUT)
		port = c->out;
	if (match->set & IPT_ADDRTYPE_SRC
			&& is_of(c, &c->p->src, port, t->src_types)
					== !!(match->inv & IPT_ADDRTYPE_SRC))
		return false;
	return !(match->set & IPT_ADDRTYPE_DST)
			|| is_of(c, &c->p->dst, port, t->dst_types)
			!= !!(match->inv & IPT_ADDRTYPE_DST);
}

const struct ipt_match_ops ipt_match_addrtype_ops = { .kind = IPT_M_ADDRTYPE,
	.match = addrtype_match };
