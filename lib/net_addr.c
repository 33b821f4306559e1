/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Addresses of the ports and the routes that follow from them, as the kernel's fib_add_ifaddr() and
 * addrconf make them. Of two that say the same prefix, the first one counts.
 */
#include "lib/net_priv.h"
#include "lib/router.h"

#include <errno.h>
#include <stdlib.h>

static const struct sl_prefix loopback4 = {
	.family = SL_AF_INET, .len = 8, .addr = { .b = { 127, 0, 0, 1 } }
};
static const struct sl_prefix loopback6 = {
	.family = SL_AF_INET6, .len = 128, .addr = { .b = { [15] = 1 } }
};

static struct sl_addr broadcast_of(const struct sl_prefix *p)
{
	uint32_t host = p->len == 32 ? 0 : UINT32_MAX >> p->len;

	return sl_addr_v4(p->addr.v4 | rte_cpu_to_be_32(host));
}

static struct sl_prefix subnet_of(const struct sl_prefix *p)
{
	struct sl_prefix net = *p;

	net.addr = sl_addr_mask(&p->addr, p->family, p->len);
	return net;
}

static bool is_zero(const struct sl_addr *a)
{
	return (a->q[0] | a->q[1]) == 0;
}

/* one route of an address: in the local table, or (UNICAST) the connected one in main */
static int add(struct net_build *b, uint16_t port, struct sl_mark at, enum sl_route_type type,
		uint32_t flags, struct sl_addr addr, const struct sl_prefix *of, unsigned int len)
{
	bool connected = type == SL_ROUTE_UNICAST;
	struct net_route route = {
		.to = { .addr = addr, .family = of->family, .len = (uint8_t)len },
		.type = (uint8_t)type,
		.of_address = true,
		.n_paths = 1,
		.table = connected ? SL_TABLE_MAIN : NET_TABLE_LOCAL,
		.metric = connected && of->family == SL_AF_INET6 ? NET_METRIC6_KERNEL : 0,
		.at = at,
	};
	struct sl_nexthop nh = {
		.type = (uint8_t)type,
		.port = port,
		.mtu = connected ? b->r->ports[port].mtu : UINT16_MAX,
		.n_paths = 1,
		.weight = UINT32_MAX,
		.flags = flags,
		.source4_be = of->family == SL_AF_INET ? of->addr.v4 : 0,
	};
	int ret;

	if (connected && of->family == SL_AF_INET6)
		nh.flags |= SL_NEXTHOP_WIDTH(len);
	ret = net_add_nexthops(b, &nh, 1, &route.nh);
	return ret < 0 ? ret : net_add_route(b, &route);
}

/* fib_add_ifaddr(); secondary: an earlier address of the port is in the same subnet */
static int add_routes4(struct net_build *b, uint16_t port, struct sl_mark at,
		const struct sl_prefix *p, bool secondary)
{
	struct sl_prefix net = subnet_of(p);
	enum sl_route_type type = port == SL_PORT_HOST ? SL_ROUTE_LOCAL : SL_ROUTE_UNICAST;
	int ret;

	ret = add(b, port, at, SL_ROUTE_LOCAL, 0, p->addr, p, 32);
	if (ret < 0 || secondary || is_zero(&net.addr) || p->len == 32)
		return ret;
	ret = add(b, port, at, type, 0, net.addr, p, p->len);
	if (ret == 0 && p->len < 31)
		ret = add(b, port, at, SL_ROUTE_BROADCAST, 0, broadcast_of(p), p, 32);
	return ret;
}

static bool forwards6(const struct net_build *b, uint16_t port)
{
	return b->net->sysctl.ip6_forward != 0 && b->net->ports[port].sysctl.forwarding6 != 0;
}

/* addrconf: the address, the subnet-router anycast address (RFC 6164: none above /126), the prefix */
static int add_routes6(
		struct net_build *b, uint16_t port, struct sl_mark at, const struct sl_prefix *p)
{
	struct sl_prefix net = subnet_of(p);
	int ret;

	ret = add(b, port, at, SL_ROUTE_LOCAL, 0, p->addr, p, 128);
	if (ret == 0 && p->len < 127 && !is_zero(&net.addr) && forwards6(b, port))
		ret = add(b, port, at, SL_ROUTE_LOCAL, SL_NEXTHOP_ANYCAST, net.addr, p, 128);
	if (ret == 0)
		ret = add(b, port, at, SL_ROUTE_UNICAST, 0, net.addr, p, p->len);
	return ret;
}

static bool is_link_local(const struct sl_addr *a)
{
	return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

static bool is_secondary(const struct sl_net_port *np, const struct sl_prefix *p)
{
	for (unsigned int i = 0; i < np->n_addr4; i++) {
		if (np->addr4[i].len == p->len && sl_prefix_contains(&np->addr4[i], &p->addr))
			return true;
	}
	return false;
}

/* what no port can have */
static const char *what_is_wrong(const struct sl_prefix *p)
{
	const struct sl_addr *a = &p->addr;

	if (is_zero(a))
		return "the unspecified address";
	if (p->family == SL_AF_INET) {
		if (a->b[0] == 127)
			return "a loopback address";
		if (a->b[0] >= 224 && a->b[0] < 240)
			return "a multicast address";
		if (a->v4 == UINT32_MAX)
			return "the broadcast address";
		return NULL;
	}
	if (a->b[0] == 0xff)
		return "a multicast address";
	if (sl_addr_eq(a, &loopback6.addr))
		return "the loopback address";
	return NULL;
}

/* the same address again, or the same subnet on two ports: the kernel would use the first one */
static int check_overlap(
		struct net_build *b, uint16_t port, struct sl_mark at, const struct sl_prefix *p)
{
	char text[SL_ADDR_STRLEN], other[SL_ADDR_STRLEN];

	for (unsigned int i = 1; i <= b->r->n_ports; i++) {
		const struct sl_net_port *np = &b->net->ports[i];
		const struct sl_prefix *q = p->family == SL_AF_INET ? np->addr4 : np->addr6;
		unsigned int n = p->family == SL_AF_INET ? np->n_addr4 : np->n_addr6;

		if (i != port && is_link_local(&p->addr) && p->family == SL_AF_INET6)
			continue;
		for (unsigned int k = 0; k < n; k++) {
			bool same_net = q[k].len == p->len && sl_prefix_contains(&q[k], &p->addr);

			if (!sl_addr_eq(&q[k].addr, &p->addr) && (i == port || !same_net))
				continue;
			return net_error(b, at,
					"address %s overlaps with %s of port %s, expected another "
					"%s",
					sl_prefix_str(p, text), sl_prefix_str(&q[k], other),
					b->r->ports[i].name, i == port ? "address" : "subnet");
		}
	}
	return 0;
}

static int add_address(
		struct net_build *b, uint16_t port, struct sl_mark at, const struct sl_prefix *p)
{
	struct sl_net_port *np = &b->net->ports[port];
	const char *wrong = what_is_wrong(p);
	char text[SL_ADDR_STRLEN];
	int ret;

	if (wrong != NULL)
		return net_error(b, at, "address %s is %s, expected an address for one host",
				sl_prefix_str(p, text), wrong);
	ret = check_overlap(b, port, at, p);
	if (ret < 0)
		return ret;
	if (p->family == SL_AF_INET6) {
		np->addr6[np->n_addr6++] = *p;
		return add_routes6(b, port, at, p);
	}
	ret = add_routes4(b, port, at, p, is_secondary(np, p));
	np->addr4[np->n_addr4++] = *p;
	return ret;
}

static int add_port(struct net_build *b, const struct sl_port_conf *c)
{
	uint16_t port = sl_router_port(b->r, c->name);
	struct sl_prefix link_local = { .family = SL_AF_INET6, .len = 64 };
	struct sl_net_port *np;
	int ret;

	if (port == 0)
		return net_error(b, c->at, "port %s is new, expected one that was there at start",
				c->name);
	np = &b->net->ports[port];
	np->addr4 = calloc(c->n_addresses + 1, sizeof(*np->addr4));
	np->addr6 = calloc(c->n_addresses + 1, sizeof(*np->addr6));
	if (np->addr4 == NULL || np->addr6 == NULL)
		return net_no_memory(b);
	link_local.addr.b[0] = 0xfe;
	link_local.addr.b[1] = 0x80;
	memcpy(link_local.addr.b + 8, b->r->ports[port].v6_token, 8);
	ret = add_address(b, port, c->at, &link_local);
	for (unsigned int i = 0; i < c->n_addresses && ret == 0; i++)
		ret = add_address(b, port, c->addresses_at != NULL ? c->addresses_at[i] : c->at,
				&c->addresses[i]);
	return ret;
}

static int add_link_nexthops(struct net_build *b, uint16_t port)
{
	struct sl_nexthop nh = {
		.type = SL_ROUTE_UNICAST,
		.port = port,
		.mtu = b->r->ports[port].mtu,
		.n_paths = 1,
		.weight = UINT32_MAX,
		.flags = SL_NEXTHOP_WIDTH(64), /* fe80::/64; means nothing in IPv4 */
	};
	int ret;

	ret = net_add_nexthops(b, &nh, 1, &b->priv->link[port]);
	nh.type = SL_ROUTE_LOCAL;
	nh.mtu = UINT16_MAX;
	nh.flags = 0;
	if (ret == 0)
		ret = net_add_nexthops(b, &nh, 1, &b->priv->own[port]);
	nh.flags = SL_NEXTHOP_ANYCAST;
	if (ret == 0 && forwards6(b, port))
		ret = net_add_nexthops(b, &nh, 1, &b->priv->anycast[port]);
	return ret;
}

/* next hops that are there without a route: of every link, and of the limited broadcast */
static int add_links(struct net_build *b)
{
	struct sl_nexthop broadcast = {
		.type = SL_ROUTE_BROADCAST,
		.mtu = UINT16_MAX,
		.n_paths = 1,
		.weight = UINT32_MAX,
	};
	int ret;

	ret = net_add_nexthops(b, &broadcast, 1, &b->priv->broadcast);
	for (unsigned int i = 1; i <= b->r->n_ports && ret == 0; i++)
		ret = add_link_nexthops(b, (uint16_t)i);
	return ret;
}

int net_build_addresses(struct net_build *b)
{
	struct sl_mark nowhere = { .line = 0 };
	int ret;

	ret = add_links(b);
	if (ret == 0)
		ret = add_routes4(b, SL_PORT_HOST, nowhere, &loopback4, false);
	if (ret == 0)
		ret = add(b, SL_PORT_HOST, nowhere, SL_ROUTE_LOCAL, 0, loopback6.addr, &loopback6,
				128);
	for (unsigned int i = 0; i < b->conf->n_ports && ret == 0; i++)
		ret = add_port(b, &b->conf->ports[i]);
	return ret;
}
