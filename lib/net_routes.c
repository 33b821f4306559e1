/* SPDX-License-Identifier: BSD-3-Clause */
/* The routes of a configuration: their gateways, ports and weights, checked and made next hops. */
#include "lib/net_priv.h"
#include "lib/router.h"

#include <rte_jhash.h>

#include <errno.h>
#include <stdlib.h>

#define MEMO_SIZE 256

/* a prefix whose hosts are on the link of a port: an address's, or a route's without gateway */
struct on_link {
	struct sl_prefix prefix;
	uint16_t port;
};

struct resolver {
	struct net_build *b;
	struct on_link *links;
	unsigned int n_links;
	/* ports of gateways that were asked for before; routes repeat few gateways */
	struct {
		struct sl_addr gateway;
		uint8_t family;
		uint16_t port;
	} memo[MEMO_SIZE];
};

static int collect_links(struct resolver *v)
{
	const struct sl_conf *conf = v->b->conf;
	const struct net_priv *priv = v->b->priv;
	unsigned int max = priv->n_routes;

	for (unsigned int i = 0; i < conf->n_routes; i++)
		max += conf->routes[i].n_via;
	v->links = malloc((max + 1) * sizeof(*v->links));
	if (v->links == NULL)
		return net_no_memory(v->b);
	for (unsigned int i = 0; i < priv->n_routes; i++) {
		const struct net_route *r = &priv->routes[i];

		if (r->type == SL_ROUTE_UNICAST)
			v->links[v->n_links++] = (struct on_link){ .prefix = r->to,
				.port = v->b->net->nexthops[r->nh].port };
	}
	for (unsigned int i = 0; i < conf->n_routes; i++) {
		const struct sl_route_conf *r = &conf->routes[i];

		for (unsigned int k = 0; k < r->n_via && r->type == SL_ROUTE_UNICAST; k++) {
			if (!r->via[k].has_gateway && r->via[k].port != NULL)
				v->links[v->n_links++] = (struct on_link){ .prefix = r->to,
					.port = sl_router_port(v->b->r, r->via[k].port) };
		}
	}
	return 0;
}

/* port of the longest prefix that holds the gateway; 0: none */
static uint16_t gateway_port(struct resolver *v, uint8_t family, const struct sl_addr *gateway)
{
	unsigned int slot = rte_jhash(gateway, sizeof(*gateway), family) % MEMO_SIZE;
	int best = -1;
	uint16_t port = 0;

	if (v->memo[slot].family == family && sl_addr_eq(&v->memo[slot].gateway, gateway))
		return v->memo[slot].port;
	for (unsigned int i = 0; i < v->n_links; i++) {
		const struct on_link *l = &v->links[i];

		if (l->prefix.family != family || l->prefix.len <= best
				|| !sl_prefix_contains(&l->prefix, gateway))
			continue;
		best = l->prefix.len;
		port = l->port;
	}
	v->memo[slot].gateway = *gateway;
	v->memo[slot].family = family;
	v->memo[slot].port = port;
	return port;
}

/* what the gateway's own route in the local table says, if there is one */
static bool is_own_or_broadcast(
		const struct net_priv *priv, uint8_t family, const struct sl_addr *gateway)
{
	for (unsigned int i = 0; i < priv->n_routes; i++) {
		const struct net_route *r = &priv->routes[i];

		if (r->of_address && r->type != SL_ROUTE_UNICAST && r->to.family == family
				&& sl_prefix_contains(&r->to, gateway))
			return true;
		if (!r->of_address)
			break; /* those of addresses come first */
	}
	return false;
}

static bool is_link_local(uint8_t family, const struct sl_addr *a)
{
	return family == SL_AF_INET6 && a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

static bool is_unicast(uint8_t family, const struct sl_addr *a)
{
	if (family == SL_AF_INET)
		return a->b[0] != 0 && a->b[0] < 224;
	return a->b[0] != 0xff && (a->q[0] | a->q[1]) != 0;
}

static uint8_t family_of(const struct sl_route_conf *c, const struct sl_via_conf *via)
{
	/* IPv4 addresses have twelve zero bytes behind them; no IPv6 gateway has */
	if (c->to.family == SL_AF_INET6
			|| (via->gateway.w[1] | via->gateway.w[2] | via->gateway.w[3]) != 0)
		return SL_AF_INET6;
	return SL_AF_INET;
}

/* @kind: stands in front of the gateway; texts are made here alone, as most routes need none */
static int gateway_error(const struct resolver *v, const struct sl_route_conf *c,
		const struct sl_nexthop *nh, const char *kind, const char *expected)
{
	char text[SL_ADDR_STRLEN], to[SL_ADDR_STRLEN];

	return net_error(v->b, c->at, "route to %s via %s%s, %s", sl_prefix_str(&c->to, to), kind,
			sl_addr_str((enum sl_family)nh->family, &nh->gateway, text), expected);
}

static int resolve_gateway(struct resolver *v, const struct sl_route_conf *c,
		const struct sl_via_conf *via, struct sl_nexthop *nh)
{
	uint16_t port;

	nh->family = family_of(c, via);
	nh->gateway = via->gateway;
	if (!is_unicast(nh->family, &via->gateway))
		return gateway_error(v, c, nh, "", "expected the address of one host");
	if (nh->port != 0)
		return 0;
	if (is_link_local(nh->family, &via->gateway))
		return gateway_error(
				v, c, nh, "the link-local address ", "expected a `port` with it");
	port = gateway_port(v, nh->family, &via->gateway);
	if (port == 0)
		return gateway_error(v, c, nh, "",
				"which is on no connected network, expected a gateway on the "
				"network of a port, or a `port` with it");
	nh->port = port;
	return 0;
}

static int resolve_path(struct resolver *v, const struct sl_route_conf *c,
		const struct sl_via_conf *via, struct sl_nexthop *nh)
{
	struct net_build *b = v->b;
	char to[SL_ADDR_STRLEN];
	uint16_t mtu;
	int ret;

	if (via->port != NULL) {
		nh->port = sl_router_port(b->r, via->port);
		if (nh->port == 0)
			return net_error(b, c->at,
					"route to %s by port %s, expected one of `ports:`",
					sl_prefix_str(&c->to, to), via->port);
	}
	if (via->has_gateway) {
		ret = resolve_gateway(v, c, via, nh);
		if (ret < 0)
			return ret;
	} else if (nh->port == 0) {
		return net_error(b, c->at, "route to %s without gateway or port, expected `via`",
				sl_prefix_str(&c->to, to));
	}
	mtu = b->r->ports[nh->port].mtu;
	nh->mtu = c->mtu != 0 && c->mtu < mtu ? c->mtu : mtu;
	return 0;
}

static int resolve_paths(struct resolver *v, const struct sl_route_conf *c, struct net_route *route)
{
	struct sl_nexthop paths[NET_PATHS_MAX];
	uint64_t total = 0, sum = 0;
	char to[SL_ADDR_STRLEN];
	int ret;

	if (c->n_via == 0 || c->n_via > NET_PATHS_MAX)
		return net_error(v->b, c->at, "route to %s has %u paths, expected 1 to %u",
				sl_prefix_str(&c->to, to), c->n_via, NET_PATHS_MAX);
	for (unsigned int i = 0; i < c->n_via; i++)
		total += c->via[i].weight;
	for (unsigned int i = 0; i < c->n_via; i++) {
		struct sl_nexthop *nh = &paths[i];

		memset(nh, 0, sizeof(*nh));
		nh->type = SL_ROUTE_UNICAST;
		if (c->to.family == SL_AF_INET6)
			nh->flags = SL_NEXTHOP_WIDTH(c->to.len);
		nh->n_paths = (uint16_t)(i == 0 ? c->n_via : 1);
		sum += c->via[i].weight;
		nh->weight = total == 0 ? UINT32_MAX : (uint32_t)((sum << 32) / total - 1);
		ret = resolve_path(v, c, &c->via[i], nh);
		if (ret < 0)
			return ret;
	}
	if (c->buckets > 0) {
		ret = net_group_create(v->b, c, &paths[0].group);
		if (ret < 0)
			return ret;
	}
	route->n_paths = (uint16_t)c->n_via;
	return net_add_nexthops(v->b, paths, c->n_via, &route->nh);
}

/* own addresses are compared once per gateway, not per route: next hops are few */
static int check_gateways(struct net_build *b)
{
	for (unsigned int i = 0; i < b->priv->n_routes; i++) {
		const struct net_route *r = &b->priv->routes[i];
		char to[SL_ADDR_STRLEN], text[SL_ADDR_STRLEN];

		for (unsigned int k = 0; k < r->n_paths; k++) {
			struct sl_nexthop *nh = &b->net->nexthops[r->nh + k];

			if (nh->family == SL_AF_NONE || nh->id == 0)
				continue;
			if (is_own_or_broadcast(b->priv, nh->family, &nh->gateway))
				return net_error(b, r->at,
						"route to %s via %s, which is the router's own or a "
						"broadcast address, expected another host's",
						sl_prefix_str(&r->to, to),
						sl_addr_str(nh->family, &nh->gateway, text));
			nh->id = 0; /* seen */
		}
	}
	for (unsigned int i = 0; i < b->net->n_nexthops; i++)
		b->net->nexthops[i].id = i;
	return 0;
}

static int add_route(struct resolver *v, const struct sl_route_conf *c)
{
	struct net_build *b = v->b;
	struct net_route route = {
		.to = c->to,
		.type = (uint8_t)c->type,
		.mtu = c->mtu,
		.n_paths = 1,
		.table = c->table,
		.metric = c->metric,
		.at = c->at,
	};
	struct sl_addr net = sl_addr_mask(&c->to.addr, c->to.family, c->to.len);
	char text[SL_ADDR_STRLEN];
	int ret;

	if (!sl_addr_eq(&net, &c->to.addr)) {
		sl_prefix_str(&c->to, text);
		route.to.addr = net;
		return net_error(b, c->at, "route to %s has host bits set, expected %s", text,
				sl_prefix_str(&route.to, (char[SL_ADDR_STRLEN]){ 0 }));
	}
	if (c->to.family == SL_AF_INET6 && c->metric == 0)
		route.metric = NET_METRIC6_USER;
	if (c->table == NET_TABLE_LOCAL)
		b->priv->custom_local = true;
	if (c->type == SL_ROUTE_UNICAST) {
		ret = resolve_paths(v, c, &route);
	} else {
		struct sl_nexthop nh = {
			.type = (uint8_t)c->type,
			.mtu = UINT16_MAX,
			.n_paths = 1,
			.weight = UINT32_MAX,
		};

		ret = net_add_nexthops(b, &nh, 1, &route.nh);
	}
	return ret < 0 ? ret : net_add_route(b, &route);
}

int net_build_routes(struct net_build *b)
{
	struct resolver *v = calloc(1, sizeof(*v));
	int ret;

	if (v == NULL)
		return net_no_memory(b);
	v->b = b;
	ret = collect_links(v);
	for (unsigned int i = 0; i < b->conf->n_routes && ret == 0; i++)
		ret = add_route(v, &b->conf->routes[i]);
	if (ret == 0)
		ret = check_gateways(b);
	free(v->links);
	free(v);
	return ret;
}
