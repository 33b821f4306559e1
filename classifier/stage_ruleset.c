/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/stage_ruleset.h"

#include "lib/ip.h"
#include "lib/pkt.h"
#include "lib/worker.h"

#include <errno.h>
#include <stdlib.h>

static const enum sl_hook hooks[IPT_HOOK_NB] = {
	[IPT_PREROUTING] = SL_HOOK_PREROUTING,
	[IPT_INPUT] = SL_HOOK_INPUT,
	[IPT_FORWARD] = SL_HOOK_FORWARD,
	[IPT_OUTPUT] = SL_HOOK_OUTPUT,
	[IPT_POSTROUTING] = SL_HOOK_POSTROUTING,
};

struct ruleset {
	const struct ipt_prog *prog[IPT_FAMILY_NB]; /* NULL: packets of that family pass */
	uint8_t tables[IPT_FAMILY_NB];
	enum ipt_hook hook;
};

enum sl_hook ipt_stage_hook(enum ipt_hook hook)
{
	return hooks[hook];
}

static int ruleset_create(
		__rte_unused struct sl_router *r, const struct sl_stage_conf *conf, void **priv)
{
	const struct ipt_stage_conf *c = (const void *)conf;
	struct ruleset *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	memcpy(s->prog, c->prog, sizeof(s->prog));
	memcpy(s->tables, c->tables, sizeof(s->tables));
	while (hooks[s->hook] != conf->hook)
		s->hook++;
	*priv = s;
	return 0;
}

static void ruleset_destroy(void *priv)
{
	free(priv);
}

static unsigned int keep(struct rte_mbuf **pkts, unsigned int n, uint64_t which)
{
	unsigned int kept = 0;

	if (likely(which == UINT64_MAX >> (64 - n)))
		return n;
	for (; which != 0; which &= which - 1)
		pkts[kept++] = pkts[__builtin_ctzll(which)];
	return kept;
}

/* the packets of one family in a batch of both. Return: those of them that go on */
static uint64_t run_part(struct sl_worker *w, const struct ruleset *s, enum ipt_table_id table,
		enum ipt_family family, struct rte_mbuf **pkts, uint64_t which)
{
	struct rte_mbuf *part[SL_BURST];
	uint64_t accepted, go_on = 0;
	unsigned int n = 0;

	if (which == 0 || s->prog[family] == NULL)
		return which;
	for (uint64_t rest = which; rest != 0; rest &= rest - 1)
		part[n++] = pkts[__builtin_ctzll(rest)];
	accepted = ipt_prog_run(s->prog[family], table, s->hook, w, part, n);
	n = 0;
	for (uint64_t rest = which; rest != 0; rest &= rest - 1, n++) {
		pkts[__builtin_ctzll(rest)] = part[n];
		if (accepted >> n & 1)
			go_on |= rest & -rest;
	}
	return go_on;
}

static inline unsigned int ruleset_process(struct sl_worker *w, const struct ruleset *s,
		enum ipt_table_id table, struct rte_mbuf **pkts, unsigned int n)
{
	uint64_t all = UINT64_MAX >> (64 - n), v6 = 0, go_on;

	for (unsigned int i = 0; i < n; i++)
		v6 |= (uint64_t)(sl_pkt(pkts[i])->family == SL_AF_INET6) << i;
	if (likely(v6 == 0 || v6 == all)) {
		const struct ipt_prog *prog = s->prog[v6 == 0 ? IPT_V4 : IPT_V6];

		if (prog == NULL)
			return n;
		return keep(pkts, n, ipt_prog_run(prog, table, s->hook, w, pkts, n));
	}
	go_on = run_part(w, s, table, IPT_V4, pkts, all & ~v6);
	go_on |= run_part(w, s, table, IPT_V6, pkts, v6);
	return keep(pkts, n, go_on);
}

static unsigned int raw_process(
		struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n)
{
	return ruleset_process(w, priv, IPT_RAW, pkts, n);
}

/* what the route of a packet depends on and a rule may change; in IPv6 the hop limit, too */
struct route_facts {
	uint32_t mark;
	uint8_t header[8];
};

static struct route_facts route_facts(struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	struct route_facts f = { .mark = p->mark };
	const uint8_t *ip = sl_pkt_at(m, p->l3_off, sizeof(f.header));

	if (ip != NULL && p->family == SL_AF_INET) {
		f.header[1] = ip[1];
	} else if (ip != NULL) {
		memcpy(f.header, ip, 4);
		f.header[7] = ip[7];
	}
	return f;
}

/* the router's own packets have their route already */
static unsigned int mangle_output(struct sl_worker *w, const struct ruleset *s,
		struct rte_mbuf **pkts, unsigned int n)
{
	uint64_t all = UINT64_MAX >> (64 - n), v6 = 0, go_on;
	struct route_facts was[SL_BURST];

	for (unsigned int i = 0; i < n; i++) {
		was[i] = route_facts(pkts[i]);
		v6 |= (uint64_t)(sl_pkt(pkts[i])->family == SL_AF_INET6) << i;
	}
	go_on = run_part(w, s, IPT_MANGLE, IPT_V4, pkts, all & ~v6);
	go_on |= run_part(w, s, IPT_MANGLE, IPT_V6, pkts, v6);
	for (uint64_t rest = go_on; rest != 0; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);
		struct route_facts is = route_facts(pkts[i]);

		if (memcmp(&is, &was[i], sizeof(is)) != 0 && !sl_reroute(w, pkts[i]))
			go_on &= ~(rest & -rest);
	}
	return keep(pkts, n, go_on);
}

static unsigned int mangle_process(
		struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n)
{
	const struct ruleset *s = priv;

	if (s->hook == IPT_OUTPUT)
		return mangle_output(w, s, pkts, n);
	return ruleset_process(w, priv, IPT_MANGLE, pkts, n);
}

static unsigned int filter_process(
		struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n)
{
	return ruleset_process(w, priv, IPT_FILTER, pkts, n);
}

static unsigned int security_process(
		struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n)
{
	return ruleset_process(w, priv, IPT_SECURITY, pkts, n);
}

static unsigned int policy_process(
		struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n)
{
	const struct ruleset *s = priv;
	uint64_t bytes[IPT_FAMILY_NB] = { 0 };
	uint64_t packets[IPT_FAMILY_NB] = { 0 };

	for (unsigned int i = 0; i < n; i++) {
		const struct sl_pkt *p = sl_pkt(pkts[i]);
		unsigned int v6 = p->family == SL_AF_INET6;

		packets[IPT_V6] += v6;
		bytes[v6] += p->l3_len;
	}
	packets[IPT_V4] = n - packets[IPT_V6];
	for (unsigned int f = 0; f < IPT_FAMILY_NB; f++)
		for (unsigned int t = 0; t < IPT_TABLE_NB && packets[f] > 0; t++)
			if (s->tables[f] >> t & 1)
				ipt_prog_count_policy(s->prog[f], (enum ipt_table_id)t, s->hook, w,
						packets[f], bytes[f]);
	return n;
}

#define BIT(hook) SL_HOOK_BIT(SL_HOOK_##hook)
#define TABLE_STAGE(table, text, where, at)            \
	const struct sl_stage_ops sl_stage_##table = { \
		.api_version = SL_STAGE_API_VERSION,   \
		.name = #table,                        \
		.help = text,                          \
		.hooks = where,                        \
		.order = at,                           \
		.create = ruleset_create,              \
		.process = table##_process,            \
		.destroy = ruleset_destroy,            \
	}

TABLE_STAGE(raw, "iptables' raw table", BIT(PREROUTING) | BIT(OUTPUT), SL_ORDER_RAW);
TABLE_STAGE(mangle, "iptables' mangle table",
		BIT(PREROUTING) | BIT(INPUT) | BIT(FORWARD) | BIT(OUTPUT) | BIT(POSTROUTING),
		SL_ORDER_MANGLE);
TABLE_STAGE(filter, "iptables' filter table", BIT(INPUT) | BIT(FORWARD) | BIT(OUTPUT),
		SL_ORDER_FILTER);
TABLE_STAGE(security, "iptables' security table", BIT(INPUT) | BIT(FORWARD) | BIT(OUTPUT),
		SL_ORDER_SECURITY);
TABLE_STAGE(policy, "counts for chains without rules",
		BIT(PREROUTING) | BIT(INPUT) | BIT(FORWARD) | BIT(OUTPUT) | BIT(POSTROUTING),
		SL_ORDER_FILTER);

const struct sl_stage_ops *ipt_stage_ops(enum ipt_table_id table)
{
	switch (table) {
	case IPT_RAW:
		return &sl_stage_raw;
	case IPT_MANGLE:
		return &sl_stage_mangle;
	case IPT_FILTER:
		return &sl_stage_filter;
	case IPT_SECURITY:
		return &sl_stage_security;
	case IPT_NAT:
	case IPT_TABLE_NB:
		break;
	}
	return NULL;
}
