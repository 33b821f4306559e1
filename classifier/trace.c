/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way of a traced packet through the rules, as iptables-legacy tells it: a line for each rule
 * that holds, for the end of a user chain, and for a policy.
 *
 *   TRACE: filter:FORWARD:rule:3 IN=...
 *   TRACE: filter:FORWARD:policy:4 IN=...
 *
 * An end counts as the rule behind the last one. The kernel takes a rule without any test for such
 * an end if what it says is ACCEPT, DROP, QUEUE or RETURN.
 */
#include "classifier/chain.h"
#include "classifier/log_record.h"
#include "classifier/stage_ruleset.h"
#include "lib/watch.h"
#include "lib/worker.h"

#include <stdio.h>

const char *const chain_table_names[IPT_TABLE_NB] = {
	[IPT_FILTER] = "filter",
	[IPT_MANGLE] = "mangle",
	[IPT_NAT] = "nat",
	[IPT_RAW] = "raw",
	[IPT_SECURITY] = "security",
};

static bool is_any(const struct ipt_net *net)
{
	return (net->addr.w[0] | net->addr.w[1] | net->addr.w[2] | net->addr.w[3] | net->mask.w[0]
			       | net->mask.w[1] | net->mask.w[2] | net->mask.w[3])
			== 0
			&& !net->inv;
}

static bool tests_nothing(const struct ipt_rule *r)
{
	return r->n_matches == 0 && is_any(&r->src) && is_any(&r->dst) && !r->in.given
			&& !r->out.given && r->proto == 0 && !r->proto_inv && !r->proto_walk
			&& r->frag == IPT_FRAG_ANY;
}

static bool ends_chain(const struct chain_rule *r)
{
	switch ((enum ipt_verdict)r->verdict) {
	case IPT_ACCEPT:
	case IPT_DROP:
	case IPT_QUEUE:
	case IPT_RETURN:
		return tests_nothing(r->rule);
	case IPT_CONTINUE:
	case IPT_JUMP:
	case IPT_GOTO:
	case IPT_TARGET:
		break;
	}
	return false;
}

/* for who follows the packet: the place, and the line of the file */
static void watch_rule(const struct chain_table *t, const struct ipt_ctx *c, const struct chain *in,
		uint32_t pos)
{
	static const char *const policies[] = { [IPT_ACCEPT] = "ACCEPT", [IPT_DROP] = "DROP" };
	const char *table = chain_table_names[c->table], *chain = in->text->name;
	char text[SL_WATCH_TEXT_MAX];

	if (pos < in->n)
		snprintf(text, sizeof(text), "%s %s rule %u, %s:%u: %s", table, chain, pos + 1,
				t->path, in->rules[pos].rule->line, in->rules[pos].rule->text);
	else if (in->text->builtin)
		snprintf(text, sizeof(text), "%s %s policy %s", table, chain,
				policies[in->text->policy]);
	else
		snprintf(text, sizeof(text), "%s %s end", table, chain);
	sl_watch_rule(c->w, c->m, ipt_stage_hook((enum ipt_hook)c->hook), text);
}

void chain_trace(const struct chain_table *t, const struct ipt_ctx *c, uint32_t chain, uint32_t pos)
{
	const struct chain *in = &t->chains[chain];
	const struct sl_pkt *p = c->p;
	struct sl_pktlog_rec rec = {
		.kind = SL_PKTLOG_TRACE,
		.level = LOG_RECORD_LEVEL,
		.options = IPT_LOG_TCP_SEQUENCE | IPT_LOG_TCP_OPTIONS | IPT_LOG_IP_OPTIONS
				| IPT_LOG_UID,
		.in = c->in,
		.out = c->out,
	};
	const char *what = "rule";

	if (!(p->flags & (SL_PKT_TRACE | SL_PKT_WATCHED)))
		return;
	if (p->flags & SL_PKT_WATCHED && c->w->watch != NULL)
		watch_rule(t, c, in, pos);
	if (!(p->flags & SL_PKT_TRACE) || c->w->pktlog == NULL)
		return;
	if (pos == in->n || ends_chain(&in->rules[pos]))
		what = in->text->builtin ? "policy" : "return";
	snprintf(rec.prefix, sizeof(rec.prefix), "TRACE: %s:%s:%s:%u ", chain_table_names[c->table],
			in->text->name, what, pos + 1);
	sl_pktlog_write(c->w, c->m, &rec, log_record_wants(c->p));
}
