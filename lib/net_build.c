/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network from a configuration, in steps: switches, addresses and what follows from them,
 * configured routes, tables, policy, neighbours of the gateways.
 */
#include "lib/net.h"
#include "lib/net_priv.h"
#include "lib/router.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int net_error(struct net_build *b, struct sl_mark at, const char *fmt, ...)
{
	va_list ap;
	int n;

	n = snprintf(b->err, b->err_size, "%s:%u:%u: ", b->conf->path, at.line, at.column);
	if (n < 0 || (size_t)n >= b->err_size)
		return -EINVAL;
	va_start(ap, fmt);
	vsnprintf(b->err + n, b->err_size - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int net_no_memory(struct net_build *b)
{
	snprintf(b->err, b->err_size, "%s: no memory for %u routes", b->conf->path,
			b->conf->n_routes);
	return -ENOMEM;
}

int net_add_route(struct net_build *b, const struct net_route *route)
{
	struct net_priv *priv = b->priv;

	if (priv->n_routes == b->cap_routes) {
		unsigned int cap = 2 * b->cap_routes + b->conf->n_routes + 64;
		struct net_route *routes = realloc(priv->routes, cap * sizeof(*routes));

		if (routes == NULL)
			return net_no_memory(b);
		priv->routes = routes;
		b->cap_routes = cap;
	}
	priv->routes[priv->n_routes++] = *route;
	return 0;
}

static int store_sysctl(
		struct net_build *b, const struct sl_sysctl_conf *c, struct sl_sysctl_set *set)
{
	char port[SL_PORT_NAME_MAX];
	uint16_t port_id = 0;
	long min, max;
	int ret;

	ret = sl_sysctl_check(c->name, c->value, port, &min, &max);
	if (ret == -ENOENT && strncmp(c->name, "net.netfilter.", 14) == 0)
		return 0; /* connection tracking's */
	if (ret == -ENOENT)
		return net_error(b, c->at,
				"unknown switch %s, expected a name that the kernel has "
				"and sluice honours",
				c->name);
	if (ret == -ERANGE)
		return net_error(b, c->at, "%s is %ld, expected %ld to %ld", c->name, c->value, min,
				max);
	if (port[0] != '\0') {
		port_id = sl_router_port(b->r, port);
		if (port_id == 0)
			return net_error(b, c->at, "%s names port %s, expected one of `ports:`",
					c->name, port);
	}
	return sl_sysctl_store(set, c->name, c->value, port_id);
}

static int build_sysctls(struct net_build *b)
{
	struct sl_sysctl_set *set = malloc(sizeof(*set));
	int ret = 0;

	if (set == NULL)
		return net_no_memory(b);
	sl_sysctl_init(set);
	for (unsigned int i = 0; i < b->conf->n_sysctls && ret == 0; i++)
		ret = store_sysctl(b, &b->conf->sysctls[i], set);
	b->net->sysctl = set->global;
	for (unsigned int i = 1; i <= b->r->n_ports; i++)
		sl_sysctl_combine(set, (uint16_t)i, &b->net->ports[i].sysctl);
	free(set);
	return ret;
}

/*
 * What the route stage may decide by itself. With rules the reverse route depends on more than the
 * source; with routes of the configuration in the local table the filter of own addresses is blind.
 */
static void build_straight(struct net_build *b)
{
	struct net_priv *priv = b->priv;
	bool rules4 = priv->rules[0].decide;

	for (unsigned int i = 1; i <= b->r->n_ports; i++) {
		const struct sl_net_port *np = &b->net->ports[i];
		int rp_filter = np->sysctl.rp_filter;

		priv->straight4[i] = np->sysctl.forwarding4 != 0 && !priv->custom_local
				&& (rp_filter == 0 || !rules4);
		priv->straight6[i] = b->net->sysctl.ip6_forward != 0;
		/* loose is strict where the port has no address */
		if (rp_filter != 0)
			priv->reverse4[i] = rp_filter == 2 && np->n_addr4 > 0 ? NET_REVERSE_ANY
									      : NET_REVERSE_PORT;
		priv->any_reverse4 |= rp_filter != 0;
	}
	for (unsigned int i = 0; i < priv->local4->n_routes; i++) {
		const struct net_route *r = &priv->local4->routes[i];
		unsigned int bit = net_own_bit(r->to.addr.v4);

		/* shorter ones are 127.0.0.0/8, which the stage knows, and custom_local */
		if (r->to.len == 32)
			priv->own4[bit / 64] |= 1ULL << (bit % 64);
	}
}

int sl_net_build(struct sl_router *r, const struct sl_conf *conf, struct sl_net **out, char *err,
		size_t err_size)
{
	static int (*const steps[])(struct net_build * b) = {
		build_sysctls,
		net_build_addresses,
		net_build_routes,
		net_build_tables,
		net_build_rules,
		net_build_groups,
		net_build_counts,
		net_pin_gateways,
	};
	struct net_build b = { .r = r, .conf = conf, .err = err, .err_size = err_size };
	const struct sl_snapshot *snap = atomic_load(&r->snap);
	int ret = 0;

	b.prev = snap == NULL ? NULL : snap->net;
	b.net = calloc(1, sizeof(*b.net));
	b.priv = aligned_alloc(64, sizeof(*b.priv));
	if (b.net == NULL || b.priv == NULL) {
		free(b.net);
		free(b.priv);
		return net_no_memory(&b);
	}
	memset(b.priv, 0, sizeof(*b.priv));
	b.net->priv = b.priv;
	for (unsigned int i = 0; i < RTE_DIM(steps) && ret == 0; i++)
		ret = steps[i](&b);
	free(b.nh_hash);
	if (ret < 0) {
		sl_net_free(r, b.net);
		return ret;
	}
	build_straight(&b);
	*out = b.net;
	return 0;
}

void sl_net_free(struct sl_router *r, struct sl_net *net)
{
	struct net_priv *priv;

	if (net == NULL)
		return;
	priv = net->priv;
	net_unpin_gateways(r, net);
	for (unsigned int i = 0; i < priv->n_tables; i++)
		sl_fib_free(priv->tables[i].fib);
	free(priv->tables);
	net_free_rules(priv);
	net_free_groups(priv);
	net_free_counts(priv);
	free(priv->routes);
	free(priv);
	free(net->nexthops);
	for (unsigned int i = 0; i < SL_PORTS_MAX; i++) {
		free(net->ports[i].addr4);
		free(net->ports[i].addr6);
	}
	free(net);
}

unsigned int sl_net_walk(const struct sl_net *net,
		void (*fn)(const struct sl_route_conf *route, const struct sl_nexthop *paths,
				unsigned int n_paths, void *arg),
		void *arg)
{
	const struct net_priv *priv = net->priv;

	for (unsigned int i = 0; i < priv->n_routes; i++) {
		const struct net_route *r = &priv->routes[i];
		const struct sl_route_conf route = {
			.at = r->at,
			.to = r->to,
			.type = (enum sl_route_type)r->type,
			.table = r->table,
			.metric = r->metric,
			.mtu = r->mtu,
		};

		fn(&route, &net->nexthops[r->nh], r->n_paths, arg);
	}
	return priv->n_routes;
}
