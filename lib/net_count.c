/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many packets each rule and each of several equal-cost paths has decided on. Counted only where
 * there are such: a router without policy and groups has no counters and does not look for them.
 */
#include "lib/net_priv.h"
#include "lib/router.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int net_build_counts(struct net_build *b)
{
	struct net_priv *priv = b->priv;
	bool wanted = priv->rules[0].decide || priv->rules[1].decide;
	size_t size;

	priv->rules[1].first_count = priv->rules[0].n;
	priv->first_path = priv->rules[0].n + priv->rules[1].n;
	priv->n_counts = priv->first_path + b->net->n_nexthops;
	for (unsigned int i = 0; i < priv->n_routes && !wanted; i++)
		wanted = priv->routes[i].n_paths > 1;
	if (!wanted)
		return 0;
	size = RTE_ALIGN_CEIL(priv->n_counts * sizeof(uint64_t), (size_t)RTE_CACHE_LINE_SIZE);
	for (unsigned int i = 0; i <= b->r->n_workers; i++) {
		/* one more: what was counted before this configuration */
		uint64_t **to = i < b->r->n_workers ? &priv->count[i] : &priv->count_before;

		*to = aligned_alloc(RTE_CACHE_LINE_SIZE, size);
		if (*to == NULL)
			return net_no_memory(b);
		memset(*to, 0, size);
	}
	return 0;
}

void net_free_counts(struct net_priv *priv)
{
	for (unsigned int i = 0; i < SL_WORKERS_MAX; i++)
		free(priv->count[i]);
	free(priv->count_before);
}

static uint64_t sum(const struct net_priv *priv, unsigned int i)
{
	uint64_t n = priv->count_before == NULL ? 0 : priv->count_before[i];

	for (unsigned int w = 0; w < SL_WORKERS_MAX && priv->count[w] != NULL; w++)
		n += __atomic_load_n(&priv->count[w][i], __ATOMIC_RELAXED);
	return n;
}

static bool same_prefix(const struct sl_prefix *a, const struct sl_prefix *b)
{
	return a->family == b->family && a->len == b->len && sl_addr_eq(&a->addr, &b->addr);
}

static bool same_rule(const struct net_rule *a, const struct net_rule *b)
{
	return a->priority == b->priority && a->mark == b->mark && a->mask == b->mask
			&& same_prefix(&a->from, &b->from) && same_prefix(&a->to, &b->to)
			&& a->iif == b->iif && a->oif == b->oif && a->type == b->type
			&& a->proto == b->proto && a->tos == b->tos && a->invert == b->invert
			&& a->sport.min == b->sport.min && a->sport.max == b->sport.max
			&& a->dport.min == b->dport.min && a->dport.max == b->dport.max
			&& a->table_id == b->table_id && a->min_len == b->min_len
			&& a->goto_priority == b->goto_priority;
}

static void carry_rules(const struct net_priv *priv, const struct net_priv *prev, unsigned int v6)
{
	const struct net_rules *rules = &priv->rules[v6], *old = &prev->rules[v6];

	for (unsigned int i = 0, k = 0; i < rules->n; i++) {
		unsigned int at = k;

		while (at < old->n && !same_rule(&rules->v[i], &old->v[at]))
			at++;
		if (at == old->n)
			continue;
		priv->count_before[rules->first_count + i] = sum(prev, old->first_count + at);
		k = at + 1;
	}
}

static void carry_paths(const struct sl_net *net, const struct net_route *r,
		const struct sl_net *prev, const struct net_route *old)
{
	for (unsigned int i = 0; i < r->n_paths; i++) {
		const struct sl_nexthop *nh = &net->nexthops[r->nh + i];

		for (unsigned int k = 0; k < old->n_paths; k++) {
			const struct sl_nexthop *o = &prev->nexthops[old->nh + k];

			if (nh->port == o->port && nh->family == o->family
					&& sl_addr_eq(&nh->gateway, &o->gateway))
				net->priv->count_before[net->priv->first_path + nh->id] =
						sum(prev->priv, prev->priv->first_path + o->id);
		}
	}
}

void sl_net_carry_counts(const struct sl_net *net, const struct sl_net *prev)
{
	const struct net_priv *priv = net->priv;

	if (prev == NULL || priv->count_before == NULL || prev->priv->count_before == NULL)
		return;
	for (unsigned int v6 = 0; v6 < 2; v6++)
		carry_rules(priv, prev->priv, v6);
	for (unsigned int i = 0; i < priv->n_routes; i++) {
		const struct net_route *r = &priv->routes[i];
		const struct net_route *old = r->n_paths > 1 ? net_find_route(prev, r) : NULL;

		if (old != NULL && old->n_paths > 1)
			carry_paths(net, r, prev, old);
	}
}

static void put_prefix(FILE *f, const char *word, const struct sl_prefix *p)
{
	char text[SL_ADDR_STRLEN];

	if (p->family != SL_AF_NONE)
		fprintf(f, "%s %s ", word, sl_prefix_str(p, text));
}

static void put_port(FILE *f, const struct sl_router *r, const char *word, uint16_t port)
{
	if (port != SL_PORT_NONE)
		fprintf(f, "%s %s ", word, port == SL_PORT_HOST ? "lo" : r->ports[port].name);
}

static void put_range(FILE *f, const char *word, const struct sl_policy_ports *p)
{
	if (p->max != 0 && p->max == p->min)
		fprintf(f, "%s %u ", word, p->min);
	else if (p->max != 0)
		fprintf(f, "%s %u-%u ", word, p->min, p->max);
}

/* as `ip rule` says it */
static void put_rule(FILE *f, const struct sl_router *r, const struct net_rule *rule)
{
	static const char *const types[] = {
		[SL_POLICY_NOP] = "nop",
		[SL_POLICY_BLACKHOLE] = "blackhole",
		[SL_POLICY_UNREACHABLE] = "unreachable",
		[SL_POLICY_PROHIBIT] = "prohibit",
	};

	if (rule->invert)
		fprintf(f, "not ");
	put_prefix(f, "from", &rule->from);
	put_prefix(f, "to", &rule->to);
	if (rule->tos != 0)
		fprintf(f, "tos 0x%02x ", rule->tos);
	if (rule->mask == UINT32_MAX)
		fprintf(f, "fwmark 0x%x ", rule->mark);
	else if (rule->mask != 0)
		fprintf(f, "fwmark 0x%x/0x%x ", rule->mark, rule->mask);
	put_port(f, r, "iif", rule->iif);
	put_port(f, r, "oif", rule->oif);
	if (rule->proto != 0)
		fprintf(f, "ipproto %u ", rule->proto);
	put_range(f, "sport", &rule->sport);
	put_range(f, "dport", &rule->dport);
	if (rule->type == SL_POLICY_GOTO)
		fprintf(f, "goto %u", rule->goto_priority);
	else if (rule->type == SL_POLICY_TABLE)
		fprintf(f, "lookup %u", rule->table_id);
	else
		fprintf(f, "%s", types[rule->type]);
	if (rule->min_len != 0)
		fprintf(f, " suppress_prefixlength %d", rule->min_len - 1);
}

void sl_net_walk_rules(const struct sl_router *r, const struct sl_net *net,
		void (*fn)(const struct sl_rule_stats *rule, void *arg), void *arg)
{
	for (unsigned int v6 = 0; v6 < 2; v6++) {
		const struct net_rules *rules = &net->priv->rules[v6];

		for (unsigned int i = 0; i < rules->n && net->priv->count_before != NULL; i++) {
			char text[512];
			struct sl_rule_stats s = {
				.family = v6 ? SL_AF_INET6 : SL_AF_INET,
				.priority = rules->v[i].priority,
				.text = text,
				.packets = sum(net->priv, rules->first_count + i),
			};
			FILE *f = fmemopen(text, sizeof(text), "w");

			if (f == NULL)
				return;
			put_rule(f, r, &rules->v[i]);
			fclose(f);
			fn(&s, arg);
		}
	}
}

uint64_t sl_net_path_packets(const struct sl_net *net, const struct sl_nexthop *path)
{
	return net->priv->count_before == NULL ? 0
					       : sum(net->priv, net->priv->first_path + path->id);
}
