/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same evaluation as it is told in a textbook: one packet, one rule after the other, straight
 * from the rule's text. Nothing is compiled but the state of matches and targets. It is what the
 * tests hold eval.c against, and what to read first.
 */
#include "classifier/eval_pkt.h"
#include "lib/drop.h"
#include "lib/router.h"

#include <stdlib.h>

struct place {
	uint32_t chain, rule;
};

/* one packet in one table */
struct walk {
	const struct ipt_prog *prog;
	const struct chain_table *t;
	struct ipt_ctx c;
	struct eval_pkt e;
	struct place at;
	struct place stack[1024];
	unsigned int depth;
};

static bool address_holds(const struct sl_addr *addr, const struct ipt_net *net)
{
	bool inside = true;

	for (unsigned int i = 0; i < 4; i++)
		if ((rte_be_to_cpu_32(addr->w[i]) & net->mask.w[i])
				!= (net->addr.w[i] & net->mask.w[i]))
			inside = false;
	return inside != net->inv;
}

static bool device_holds(const struct sl_router *r, uint16_t port, const struct ipt_iface *iface)
{
	const char *name = port == SL_PORT_NONE ? "" : r->ports[port].name;
	bool same = strncmp(name, iface->name, iface->len) == 0;

	if (iface->len > 0 && !iface->wild)
		same = strcmp(name, iface->name) == 0;
	return same != (iface->given && iface->inv);
}

static bool protocol_holds(struct walk *k, const struct ipt_rule *rule)
{
	const struct sl_pkt *p = k->c.p;

	if (k->c.family == IPT_V6) {
		k->c.thoff = p->l3_off;
		k->c.fragoff = 0;
		if (!rule->proto_walk)
			return true;
		if (!(p->flags & SL_PKT_L4)) {
			k->c.hotdrop = true;
			return false;
		}
		k->c.thoff = k->e.thoff;
		k->c.fragoff = k->e.fragoff;
	}
	return rule->proto == 0 || (p->proto == rule->proto) != rule->proto_inv;
}

static bool fragment_holds(const struct walk *k, const struct ipt_rule *rule)
{
	bool later = (k->c.p->flags & SL_PKT_FRAG_LATER) != 0;

	switch ((enum ipt_frag)rule->frag) {
	case IPT_FRAG_ANY:
		return true;
	case IPT_FRAG_LATER:
		return later;
	case IPT_FRAG_NOT_LATER:
		return !later;
	}
	return true;
}

static bool rule_holds(struct walk *k, const struct chain_rule *r)
{
	const struct ipt_rule *rule = r->rule;

	k->c.rule = rule;
	if (!address_holds(&k->c.p->src, &rule->src) || !address_holds(&k->c.p->dst, &rule->dst)
			|| !device_holds(k->prog->r, k->c.in, &rule->in)
			|| !device_holds(k->prog->r, k->c.out, &rule->out)
			|| !protocol_holds(k, rule) || !fragment_holds(k, rule))
		return false;
	for (unsigned int i = 0; i < r->n_matches; i++) {
		bool holds = r->matches[i].ops->match(
				&k->c, r->matches[i].match, r->matches[i].state);

		if (!holds)
			return false;
	}
	return true;
}

/* Return: false if there is nowhere to return to: the policy decides */
static bool go_back(struct walk *k)
{
	if (k->depth == 0)
		return false;
	k->at = k->stack[--k->depth];
	return true;
}

static int policy(struct walk *k, const struct chain *base)
{
	chain_trace(k->t, &k->c, (uint32_t)(base - k->t->chains), base->n);
	chain_count(k->prog->counters[k->c.w->id], base->policy_index, eval_bytes(k->c.m));
	return base->text->policy;
}

/* Return: a verdict, or IPT_STOLEN */
static int traverse(struct walk *k, uint32_t base)
{
	struct ipt_counters *counters = k->prog->counters[k->c.w->id];

	k->at = (struct place){ base, 0 };
	for (;;) {
		const struct chain *chain = &k->t->chains[k->at.chain];
		const struct chain_rule *r = &chain->rules[k->at.rule];
		int verdict = IPT_RETURN;

		if (k->at.rule < chain->n) {
			k->at.rule++;
			k->c.chain = k->at.chain;
			if (!rule_holds(k, r)) {
				if (!k->c.hotdrop)
					continue;
				sl_drop(k->c.w, k->c.m, SL_DROP_HOTDROP);
				return IPT_STOLEN;
			}
			chain_count(counters, r->index, eval_bytes(k->c.m));
			chain_trace(k->t, &k->c, k->at.chain, k->at.rule - 1);
			verdict = r->verdict;
		} else if (!chain->text->builtin) {
			chain_trace(k->t, &k->c, k->at.chain, chain->n);
		}
		if (verdict == IPT_TARGET) {
			verdict = r->target->run(&k->c, &r->rule->target, r->target_state);
			k->c.p = sl_pkt(k->c.m);
		}
		if (k->c.hotdrop) {
			/* a match that held behind `!` has set it: the rule was the last one */
			if (verdict != IPT_STOLEN)
				sl_drop(k->c.w, k->c.m, SL_DROP_HOTDROP);
			return IPT_STOLEN;
		}
		if (verdict == IPT_RETURN) {
			if (!go_back(k))
				return policy(k, &k->t->chains[base]);
		} else if (verdict == IPT_JUMP || verdict == IPT_GOTO) {
			if (verdict == IPT_JUMP)
				k->stack[k->depth++] = k->at;
			k->at = (struct place){ r->chain, 0 };
		} else if (verdict != IPT_CONTINUE) {
			return verdict;
		}
	}
}

static uint32_t find_base(const struct chain_table *t, enum ipt_hook hook)
{
	uint32_t i = 0;

	while (!t->text->chains[i].builtin || t->text->chains[i].hook != hook)
		i++;
	return i;
}

uint64_t ipt_prog_run_plain(const struct ipt_prog *prog, enum ipt_table_id table,
		enum ipt_hook hook, struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n)
{
	const struct chain_table *t = &prog->tables[table];
	uint64_t accepted = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct walk k = { .prog = prog, .t = t, .c = eval_ctx(prog, table, hook, w) };
		int verdict;

		RTE_VERIFY(t->depth < RTE_DIM(k.stack));
		eval_pkt_start(&k.e, prog, hook, pkts[i]);
		eval_point(&k.c, &k.e, 0);
		verdict = traverse(&k, find_base(t, hook));
		pkts[i] = k.c.m;
		if (verdict == IPT_ACCEPT)
			accepted |= UINT64_C(1) << i;
		else if (verdict != IPT_STOLEN)
			sl_drop(w, k.c.m, SL_DROP_RULE);
	}
	return accepted;
}
