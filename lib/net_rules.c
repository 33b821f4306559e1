/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of a configuration, made ready for look-ups: a list for each family, tables and targets
 * found, and what can be told from marks alone set apart.
 */
#include "lib/net_priv.h"
#include "lib/router.h"

#include <errno.h>
#include <stdlib.h>

#define PRIORITY_MAIN 32766U
#define PRIORITY_DEFAULT 32767U

static const struct sl_policy_conf fixed[] = {
	{ .priority = PRIORITY_MAIN, .table = SL_TABLE_MAIN },
	{ .priority = PRIORITY_DEFAULT, .table = NET_TABLE_DEFAULT },
};

static bool is_of(const struct sl_policy_conf *c, enum sl_family family)
{
	return (c->family == SL_AF_NONE || c->family == family)
			&& (c->from.family == SL_AF_NONE || c->from.family == family)
			&& (c->to.family == SL_AF_NONE || c->to.family == family);
}

/* `lo` is where the router's own packets come from */
static int find_port(struct net_build *b, const struct sl_policy_conf *c, const char *name,
		const char *what, uint16_t *port)
{
	*port = SL_PORT_NONE;
	if (name == NULL)
		return 0;
	*port = strcmp(name, "lo") == 0 ? SL_PORT_HOST : sl_router_port(b->r, name);
	if (*port == 0 && strcmp(name, "lo") != 0)
		return net_error(b, c->at,
				"policy for packets %s port %s, expected one of `ports:`", what,
				name);
	return 0;
}

/* the next hop that stands for a rule that leads nowhere */
static int add_end(struct net_build *b, uint8_t type, uint32_t *value)
{
	const struct sl_nexthop end = {
		.type = type == SL_POLICY_PROHIBIT ? SL_ROUTE_PROHIBIT : SL_ROUTE_BLACKHOLE,
		.mtu = UINT16_MAX,
		.n_paths = 1,
		.weight = UINT32_MAX,
	};

	/* what a rule calls unreachable, senders are told as "no route" */
	*value = SL_FIB_MISS;
	if (type != SL_POLICY_PROHIBIT && type != SL_POLICY_BLACKHOLE)
		return 0;
	return net_add_nexthops(b, &end, 1, value);
}

static int make_rule(struct net_build *b, const struct sl_policy_conf *c, enum sl_family family,
		struct net_rule *rule)
{
	const struct net_table *t = net_find_table(b->priv, family, c->table);
	int ret;

	*rule = (struct net_rule){
		.mark = c->fwmark,
		.mask = c->fwmask,
		.from = c->from,
		.to = c->to,
		.type = c->type,
		.proto = c->ipproto,
		.tos = c->tos,
		.invert = c->invert,
		.sport = c->sport,
		.dport = c->dport,
		.priority = c->priority,
		.table_id = c->table,
		.goto_priority = c->target,
		.min_len = c->min_len,
		.conf = c,
	};
	ret = find_port(b, c, c->iif, "from", &rule->iif);
	if (ret == 0)
		ret = find_port(b, c, c->oif, "to", &rule->oif);
	if (ret == 0)
		ret = add_end(b, c->type, &rule->value);
	if (ret == 0 && c->type == SL_POLICY_TABLE)
		ret = net_suppress_table(b, t, c->min_len, &rule->table);
	return ret;
}

/* behind those of the same priority */
static void insert(struct net_rules *rules, const struct net_rule *rule)
{
	unsigned int i = rules->n++;

	for (; i > 0 && rules->v[i - 1].priority > rule->priority; i--)
		rules->v[i] = rules->v[i - 1];
	rules->v[i] = *rule;
}

static int find_targets(struct net_build *b, struct net_rules *rules)
{
	for (unsigned int i = 0; i < rules->n; i++) {
		struct net_rule *r = &rules->v[i];
		unsigned int k = i + 1;

		if (r->type != SL_POLICY_GOTO)
			continue;
		while (k < rules->n && rules->v[k].priority != r->conf->target)
			k++;
		if (r->conf->target <= r->priority || k == rules->n)
			return net_error(b, r->conf->at,
					"policy goes to priority %u, expected that of a rule behind "
					"its own, %u",
					r->conf->target, r->priority);
		r->target = k;
	}
	return 0;
}

static bool looks_at_mark_alone(const struct net_rule *r)
{
	return r->from.family == SL_AF_NONE && r->to.family == SL_AF_NONE && r->iif == SL_PORT_NONE
			&& r->oif == SL_PORT_NONE && r->proto == 0 && r->tos == 0 && !r->invert
			&& r->sport.max == 0 && r->dport.max == 0;
}

/* up to the first rule that matches every packet: nothing behind it can be the first to match */
static void set_marks_apart(struct net_rules *rules)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < rules->n; i++) {
		const struct net_rule *r = &rules->v[i];

		if (!looks_at_mark_alone(r) || n == NET_MARKS_MAX
				|| (r->type != SL_POLICY_TABLE && r->type != SL_POLICY_NOP))
			return;
		if (r->table == NULL)
			continue;
		rules->mark[n] = r->mark;
		rules->mask[n] = r->mask;
		rules->nth[n] = (uint16_t)i;
		rules->fib[n] = r->table->fib;
		n++;
		if (r->mask == 0)
			break;
	}
	rules->n_marks = n;
	/* never reached: the last one matches */
	for (; n < NET_MARKS_MAX; n++) {
		rules->mark[n] = rules->mark[rules->n_marks - 1];
		rules->mask[n] = rules->mask[rules->n_marks - 1];
	}
}

static void sum_up(struct net_rules *rules)
{
	for (unsigned int i = 0; i < rules->n; i++) {
		const struct net_rule *r = &rules->v[i];
		bool main = r->priority == PRIORITY_MAIN && r->table_id == SL_TABLE_MAIN
				&& looks_at_mark_alone(r) && r->mask == 0 && r->min_len == 0;

		if (r->proto != 0 || r->sport.max != 0 || r->dport.max != 0)
			rules->needs |= NET_NEEDS_FLOW;
		if (r->tos != 0)
			rules->needs |= NET_NEEDS_TOS;
		rules->decide |= !main && r->type != SL_POLICY_NOP
				&& (r->type != SL_POLICY_TABLE || r->table != NULL);
	}
	set_marks_apart(rules);
}

static int build_family(struct net_build *b, enum sl_family family)
{
	struct net_rules *rules = &b->priv->rules[family == SL_AF_INET6];
	unsigned int n = b->conf->n_policy;
	int ret;

	rules->v = calloc(n + RTE_DIM(fixed), sizeof(*rules->v));
	if (rules->v == NULL)
		return net_no_memory(b);
	for (unsigned int i = 0; i < RTE_DIM(fixed) + n; i++) {
		const struct sl_policy_conf *c = i < RTE_DIM(fixed)
				? &fixed[i]
				: &b->conf->policy[i - RTE_DIM(fixed)];
		struct net_rule rule;

		if (!is_of(c, family))
			continue;
		ret = make_rule(b, c, family, &rule);
		if (ret < 0)
			return ret;
		insert(rules, &rule);
		if (family == SL_AF_INET)
			b->priv->custom_rules4 |= i >= RTE_DIM(fixed);
	}
	ret = find_targets(b, rules);
	if (ret < 0)
		return ret;
	sum_up(rules);
	return 0;
}

int net_build_rules(struct net_build *b)
{
	int ret;

	for (unsigned int i = 0; i < b->conf->n_policy; i++) {
		const struct sl_policy_conf *c = &b->conf->policy[i];

		if (!is_of(c, SL_AF_INET) && !is_of(c, SL_AF_INET6))
			return net_error(b, c->at,
					"`from`, `to` and `family` are of two families, expected one");
	}
	ret = build_family(b, SL_AF_INET);
	return ret < 0 ? ret : build_family(b, SL_AF_INET6);
}

void net_free_rules(struct net_priv *priv)
{
	for (unsigned int i = 0; i < 2; i++)
		free(priv->rules[i].v);
}
