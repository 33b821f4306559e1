/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which table a packet is routed by, as `ip rule`: local at priority 0, the configured rules, main
 * at 32766, default at 32767. A table that has no answer, or says throw, leaves it to the next rule.
 */
#include "lib/net_priv.h"
#include "lib/router.h"

#include <errno.h>
#include <stdlib.h>

#define PRIORITY_MAIN 32766U
#define PRIORITY_DEFAULT 32767U

static void bind_tables(const struct net_priv *priv, struct net_rule *rule)
{
	rule->table4 = net_find_table(priv, SL_AF_INET, rule->table_id);
	rule->table6 = net_find_table(priv, SL_AF_INET6, rule->table_id);
	/* a rule with a prefix is of one family */
	if (rule->from.family == SL_AF_INET || rule->to.family == SL_AF_INET)
		rule->table6 = NULL;
	if (rule->from.family == SL_AF_INET6 || rule->to.family == SL_AF_INET6)
		rule->table4 = NULL;
}

/* behind those of the same priority */
static void insert(struct net_priv *priv, const struct net_rule *rule)
{
	unsigned int i = priv->n_rules++;

	for (; i > 0 && priv->rules[i - 1].priority > rule->priority; i--)
		priv->rules[i] = priv->rules[i - 1];
	priv->rules[i] = *rule;
	bind_tables(priv, &priv->rules[i]);
}

static int add_rule(struct net_build *b, const struct sl_policy_conf *c)
{
	struct net_rule rule = {
		.priority = c->priority,
		.mark = c->fwmark,
		.mask = c->fwmask,
		.from = c->from,
		.to = c->to,
		.iif = SL_PORT_NONE,
		.table_id = c->table,
	};

	if (c->from.family != SL_AF_NONE && c->to.family != SL_AF_NONE
			&& c->from.family != c->to.family)
		return net_error(b, c->at, "`from` and `to` are of two families, expected one");
	if (c->iif != NULL && strcmp(c->iif, "lo") == 0) {
		rule.iif = SL_PORT_HOST;
	} else if (c->iif != NULL) {
		rule.iif = sl_router_port(b->r, c->iif);
		if (rule.iif == 0)
			return net_error(b, c->at,
					"policy for packets from port %s, expected one of "
					"`ports:`",
					c->iif);
	}
	if (c->from.family != SL_AF_INET6 && c->to.family != SL_AF_INET6)
		b->priv->custom_rules4 = true;
	insert(b->priv, &rule);
	return 0;
}

int net_build_rules(struct net_build *b)
{
	static const struct net_rule fixed[] = {
		{ .priority = PRIORITY_MAIN, .iif = SL_PORT_NONE, .table_id = SL_TABLE_MAIN },
		{ .priority = PRIORITY_DEFAULT,
				.iif = SL_PORT_NONE,
				.table_id = NET_TABLE_DEFAULT },
	};
	struct net_priv *priv = b->priv;
	int ret = 0;

	priv->rules = calloc(b->conf->n_policy + RTE_DIM(fixed), sizeof(*priv->rules));
	if (priv->rules == NULL)
		return net_no_memory(b);
	for (unsigned int i = 0; i < RTE_DIM(fixed); i++)
		insert(priv, &fixed[i]);
	for (unsigned int i = 0; i < b->conf->n_policy && ret == 0; i++)
		ret = add_rule(b, &b->conf->policy[i]);
	for (unsigned int i = 0; i < priv->n_rules; i++) {
		const struct net_rule *r = &priv->rules[i];
		bool fixed_one = r->table_id == SL_TABLE_MAIN && r->priority == PRIORITY_MAIN;

		priv->policy4 |= !fixed_one && r->table4 != NULL;
		priv->policy6 |= !fixed_one && r->table6 != NULL;
	}
	b->net->has_policy = priv->policy4 || priv->policy6;
	return ret;
}

bool net_rule_matches(const struct net_rule *rule, const struct sl_route_key *key)
{
	if (((key->mark ^ rule->mark) & rule->mask) != 0)
		return false;
	if (rule->iif != SL_PORT_NONE && rule->iif != key->in_port)
		return false;
	if (rule->from.family != SL_AF_NONE
			&& (rule->from.family != key->family
					|| !sl_prefix_contains(&rule->from, &key->src)))
		return false;
	return rule->to.family == SL_AF_NONE
			|| (rule->to.family == key->family
					&& sl_prefix_contains(&rule->to, &key->dst));
}

static const struct sl_nexthop *lookup_by_rules(
		const struct sl_net *net, const struct sl_route_key *key)
{
	const struct net_priv *priv = net->priv;

	for (unsigned int i = 0; i < priv->n_rules; i++) {
		const struct net_rule *rule = &priv->rules[i];
		const struct net_table *t = key->family == SL_AF_INET ? rule->table4 : rule->table6;
		uint32_t value;

		if (t == NULL || !net_rule_matches(rule, key))
			continue;
		value = sl_fib_lookup(t->fib, &key->dst);
		if (value != SL_FIB_MISS && net->nexthops[value].type != SL_ROUTE_THROW)
			return &net->nexthops[value];
	}
	return NULL;
}

const struct sl_nexthop *net_lookup(const struct sl_net *net, const struct sl_route_key *key)
{
	const struct net_priv *priv = net->priv;
	bool v4 = key->family == SL_AF_INET;
	const struct net_table *t = v4 ? priv->main4 : priv->main6;
	uint32_t value;

	if (v4 ? priv->policy4 : priv->policy6)
		return lookup_by_rules(net, key);
	value = sl_fib_lookup(t->fib, &key->dst);
	if (value == SL_FIB_MISS || net->nexthops[value].type == SL_ROUTE_THROW)
		return NULL;
	return &net->nexthops[value];
}

const struct sl_nexthop *net_search(
		const struct sl_net *net, const struct sl_route_key *key, uint16_t port)
{
	const struct net_priv *priv = net->priv;
	bool v4 = key->family == SL_AF_INET;
	const struct sl_nexthop *nh;

	nh = net_table_search(net, v4 ? priv->local4 : priv->local6, &key->dst, port, key->hash);
	if (nh != NULL)
		return nh;
	for (unsigned int i = 0; i < priv->n_rules; i++) {
		const struct net_rule *rule = &priv->rules[i];
		const struct net_table *t = v4 ? rule->table4 : rule->table6;

		if (t == NULL || !net_rule_matches(rule, key))
			continue;
		nh = net_table_search(net, t, &key->dst, port, key->hash);
		if (nh != NULL && nh->type != SL_ROUTE_THROW)
			return nh;
	}
	return NULL;
}

/* a destination that means something only together with a link */
static bool is_scoped6(const struct sl_addr *a)
{
	return a->b[0] == 0xff || (a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80);
}

static const struct sl_nexthop *scoped6(
		const struct sl_net *net, const struct sl_route_key *key, uint16_t port)
{
	const struct net_priv *priv = net->priv;
	const struct sl_net_port *np = &net->ports[port];
	bool on_link = key->dst.b[0] == 0xff;

	for (unsigned int i = 0; i < np->n_addr6; i++) {
		const struct sl_prefix *p = &np->addr6[i];
		struct sl_addr anycast = sl_addr_mask(&p->addr, SL_AF_INET6, p->len);

		if (sl_addr_eq(&p->addr, &key->dst))
			return &net->nexthops[priv->own[port]];
		if (priv->anycast[port] != 0 && p->len < 127 && sl_addr_eq(&anycast, &key->dst))
			return &net->nexthops[priv->anycast[port]];
		if (sl_prefix_contains(p, &key->dst))
			on_link = true;
	}
	return on_link ? &net->nexthops[priv->link[port]] : net_search(net, key, port);
}

const struct sl_nexthop *sl_net_route(const struct sl_net *net, const struct sl_route_key *key)
{
	const struct net_priv *priv = net->priv;
	uint16_t port = key->out_port == SL_PORT_NONE ? SL_PORT_HOST : key->out_port;
	const struct sl_nexthop *nh;

	if (key->family == SL_AF_INET6 && is_scoped6(&key->dst)) {
		if (port == SL_PORT_HOST)
			port = key->in_port;
		return port == SL_PORT_HOST ? NULL : scoped6(net, key, port);
	}
	if (key->family == SL_AF_INET && key->dst.v4 == UINT32_MAX)
		return &net->nexthops[priv->broadcast];
	if (key->family == SL_AF_INET && (key->dst.b[0] & 0xf0) == 224) {
		if (port != SL_PORT_HOST)
			return &net->nexthops[priv->link[port]];
		return net_search(net, key, SL_PORT_HOST);
	}
	if (port != SL_PORT_HOST) {
		nh = net_search(net, key, port);
		return nh != NULL ? nh : &net->nexthops[priv->link[port]];
	}
	nh = net_lookup(net, key);
	return nh == NULL ? NULL : sl_net_path(nh, key->hash);
}

const struct sl_nexthop *sl_net_group(const struct sl_net *net, const struct sl_route_key *key)
{
	if (key->family == SL_AF_INET6 && is_scoped6(&key->dst))
		return sl_net_route(net, key);
	if (key->out_port != SL_PORT_NONE && key->out_port != SL_PORT_HOST)
		return net_search(net, key, key->out_port);
	if (key->family == SL_AF_INET6)
		return net_lookup(net, key);
	if (key->dst.v4 == 0 || key->dst.v4 == UINT32_MAX || (key->dst.b[0] & 0xf0) == 224)
		return net_search(net, key, SL_PORT_HOST);
	return net_lookup(net, key);
}

const struct sl_nexthop *sl_net_local_route(
		const struct sl_net *net, enum sl_family family, const struct sl_addr *addr)
{
	const struct net_priv *priv = net->priv;
	const struct net_table *t = family == SL_AF_INET ? priv->local4 : priv->local6;
	uint32_t value = sl_fib_lookup(t->fib, addr);

	return value == SL_FIB_MISS ? NULL : &net->nexthops[value];
}
