/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles a ruleset: masks for the core options, state for the matches, engines for the chains. */
#include "classifier/chain.h"
#include "lib/log.h"
#include "lib/router.h"

#include <rte_malloc.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct build {
	const struct ipt_prog_spec *spec;
	struct ipt_prog *prog;
	struct ipt_prog_error *err;
};

static struct sl_addr wire_addr(const struct ipt_addr *a)
{
	struct sl_addr out;

	for (unsigned int i = 0; i < RTE_DIM(out.w); i++)
		out.w[i] = rte_cpu_to_be_32(a->w[i]);
	return out;
}

static void fill_core(const struct sl_router *r, const struct ipt_rule *rule, struct chain_rule *c)
{
	c->rule = rule;
	c->src = wire_addr(&rule->src.addr);
	c->src_mask = wire_addr(&rule->src.mask);
	c->src_inv = rule->src.inv;
	c->dst = wire_addr(&rule->dst.addr);
	c->dst_mask = wire_addr(&rule->dst.mask);
	c->dst_inv = rule->dst.inv;
	c->in = chain_iface_mask(r, &rule->in);
	c->out = chain_iface_mask(r, &rule->out);
	c->proto = (uint8_t)rule->proto;
	c->proto_inv = rule->proto_inv;
	c->walk = rule->proto_walk;
	c->frag = rule->frag;
	c->verdict = (uint8_t)rule->target.verdict;
	c->chain = rule->target.chain;
	c->index = rule->index;
}

static struct ipt_env make_env(
		const struct build *b, const struct ipt_table *table, const struct ipt_rule *rule)
{
	b->err->line = rule->line;
	return (struct ipt_env){
		.r = b->spec->r,
		.sets = b->spec->sets,
		.rs = b->spec->rs,
		.table = table,
		.rule = rule,
		.ct_max = b->spec->ct_max,
		.err = b->err->text,
		.err_size = sizeof(b->err->text),
	};
}

/* the rule of the program in force that is equal to this one; NULL: none */
static const struct chain_rule *equal_rule(const struct build *b, const struct ipt_rule *rule)
{
	uint32_t index;

	if (b->spec->prev == NULL || b->spec->same == NULL)
		return NULL;
	index = b->spec->same[rule->index];
	return index == IPT_NO_RULE ? NULL : &b->spec->prev->rules[index];
}

static int make_matches(struct build *b, struct ipt_env *env, struct chain_rule *c)
{
	const struct chain_rule *was = equal_rule(b, c->rule);
	uint32_t n = c->rule->n_matches;

	if (n == 0)
		return 0;
	c->matches = calloc(n, sizeof(*c->matches));
	if (c->matches == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		struct chain_match *m = &c->matches[i];
		int ret;

		m->match = &c->rule->matches[i];
		m->ops = b->spec->exts->match[m->match->kind];
		if (m->ops == NULL) {
			snprintf(env->err, env->err_size, "a match that is not there");
			return -EOPNOTSUPP;
		}
		env->prev = was == NULL || i >= was->n_matches ? NULL : was->matches[i].state;
		if (m->ops->create != NULL) {
			ret = m->ops->create(env, m->match, &m->state);
			if (ret < 0)
				return ret;
		}
		c->n_matches++;
	}
	return 0;
}

static int make_target(struct build *b, struct ipt_env *env, struct chain_rule *c)
{
	const struct chain_rule *was = equal_rule(b, c->rule);
	const struct ipt_target *target = &c->rule->target;
	int ret = 0;

	if (c->verdict != IPT_TARGET)
		return 0;
	c->target = b->spec->exts->target[target->kind];
	if (c->target == NULL) {
		snprintf(env->err, env->err_size, "a target that is not there");
		return -EOPNOTSUPP;
	}
	env->prev = was == NULL ? NULL : was->target_state;
	if (c->target->create != NULL)
		ret = c->target->create(env, target, &c->target_state);
	if (ret < 0)
		c->target = NULL;
	return ret;
}

static int make_rule(struct build *b, const struct ipt_table *table, const struct ipt_rule *rule,
		struct chain_rule *c)
{
	struct ipt_env env = make_env(b, table, rule);
	int ret;

	fill_core(b->spec->r, rule, c);
	ret = make_matches(b, &env, c);
	if (ret == 0)
		ret = make_target(b, &env, c);
	if (ret == 0)
		chain_lead(c);
	return ret;
}

/* rules that read or write the marks of connections */
struct connmarks {
	unsigned int read, written;
};

static void note_connmarks(const struct chain_rule *c, struct connmarks *n)
{
	for (uint16_t i = 0; i < c->n_matches; i++)
		n->read += c->matches[i].match->kind == IPT_M_CONNMARK;
	if (c->verdict != IPT_TARGET || c->rule->target.kind != IPT_T_CONNMARK)
		return;
	n->read++;
	n->written += (c->rule->target.set & IPT_CONNMARK_RESTORE) == 0;
}

/* a target whose effect a match may see on the next packet, although the match has no state */
static bool writes_sets(const struct chain_rule *c)
{
	return c->verdict == IPT_TARGET && c->rule->target.kind == IPT_T_SET;
}

/* most calls within calls that can start at a chain; loops have been refused by the reader */
static uint32_t depth_of(const struct chain_table *t, uint32_t chain, uint32_t *known)
{
	uint32_t max = 0;

	if (known[chain] != 0)
		return known[chain] - 1;
	for (uint32_t i = 0; i < t->chains[chain].n; i++) {
		const struct chain_rule *r = &t->chains[chain].rules[i];

		if (r->verdict == IPT_JUMP)
			max = RTE_MAX(max, depth_of(t, r->chain, known) + 1);
		else if (r->verdict == IPT_GOTO)
			max = RTE_MAX(max, depth_of(t, r->chain, known));
	}
	known[chain] = max + 1;
	return max;
}

static int measure_depth(struct chain_table *t)
{
	uint32_t *known = calloc(t->text->n_chains, sizeof(*known));

	if (known == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->text->n_chains; i++)
		if (t->text->chains[i].builtin)
			t->depth = RTE_MAX(t->depth, depth_of(t, i, known));
	free(known);
	return 0;
}

static int make_chains(struct build *b, struct chain_table *t)
{
	struct connmarks marks = { 0 };

	for (uint32_t i = 0; i < t->text->n_chains; i++) {
		const struct ipt_chain *text = &t->text->chains[i];
		struct chain *c = &t->chains[i];

		c->text = text;
		c->n = text->n_rules;
		c->policy_index = chain_policy_counter(b->prog, text);
		if (c->n > 0)
			c->rules = &b->prog->rules[text->rules[0].index];
		for (uint32_t k = 0; k < c->n; k++) {
			int ret = make_rule(b, t->text, &text->rules[k], &c->rules[k]);

			if (ret < 0)
				return ret;
			t->serial |= writes_sets(&c->rules[k]);
			note_connmarks(&c->rules[k], &marks);
			t->traces |= c->rules[k].verdict == IPT_TARGET
					&& c->rules[k].rule->target.kind == IPT_T_TRACE;
		}
	}
	/* a single rule that writes marks is in order by itself */
	t->serial |= marks.written > 0 && marks.read > 1;
	return 0;
}

/* rules of a table lie in one piece, since the reader numbers them chain by chain */
static struct chain_rule *first_rule(const struct chain_table *t)
{
	for (uint32_t i = 0; i < t->text->n_chains; i++)
		if (t->chains[i].n > 0)
			return t->chains[i].rules;
	return NULL;
}

static int index_chains(struct build *b, struct chain_table *t)
{
	int ret = chain_ifaces_build(b->spec->r, first_rule(t), t->text->n_rules, &t->ifaces);

	b->err->line = 0;
	for (uint32_t i = 0; ret == 0 && i < t->text->n_chains; i++)
		if (t->text->chains[i].builtin)
			ret = chain_front(&t->chains[i]);
	for (uint32_t i = 0; ret == 0 && i < t->text->n_chains; i++)
		ret = chain_index(b->prog, t, &t->chains[i], b->spec->engine);
	return ret;
}

static int make_patterns(struct build *b, struct chain_table *t)
{
	const struct ipt_prog_spec *spec = b->spec;

	return ipt_patterns_build(
			t, spec->rs, spec->r->n_workers, spec->note, spec->note_arg, &t->patterns);
}

static int make_table(struct build *b, const struct ipt_table *text)
{
	struct chain_table *t = &b->prog->tables[text->id];
	int ret;

	t->text = text;
	t->path = b->prog->rs->path;
	t->chains = calloc(text->n_chains, sizeof(*t->chains));
	if (t->chains == NULL)
		return -ENOMEM;
	ret = make_chains(b, t);
	b->prog->traces |= t->traces;
	if (ret == 0)
		ret = measure_depth(t);
	if (ret == 0)
		ret = index_chains(b, t);
	if (ret == 0)
		ret = make_patterns(b, t);
	for (unsigned int i = 0; ret == 0 && i < b->spec->r->n_workers; i++) {
		t->scratch[i] = eval_scratch_create(t->depth);
		if (t->scratch[i] == NULL)
			ret = -ENOMEM;
	}
	return ret;
}

static int make_counters(struct ipt_prog *prog)
{
	prog->n_counters = prog->rs->n_rules + prog->rs->n_policies;
	prog->base = calloc(prog->n_counters + 1, sizeof(*prog->base));
	if (prog->base == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < prog->r->n_workers; i++) {
		prog->counters[i] = rte_zmalloc("rule counters",
				(prog->n_counters + 1) * sizeof(*prog->base), RTE_CACHE_LINE_SIZE);
		if (prog->counters[i] == NULL)
			return -ENOMEM;
	}
	return 0;
}

int ipt_prog_create(
		const struct ipt_prog_spec *spec, struct ipt_prog **out, struct ipt_prog_error *err)
{
	struct ipt_prog *prog = calloc(1, sizeof(*prog));
	struct build b = { .spec = spec, .prog = prog, .err = err };
	int ret = -ENOMEM;

	*err = (struct ipt_prog_error){ 0 };
	if (prog == NULL)
		goto err;
	prog->r = spec->r;
	prog->sets = spec->sets;
	prog->rs = spec->rs;
	prog->family = spec->rs->family;
	prog->rules = calloc(spec->rs->n_rules + 1, sizeof(*prog->rules));
	if (prog->rules == NULL)
		goto err;
	ret = make_counters(prog);
	for (uint32_t i = 0; ret == 0 && i < spec->rs->n_tables; i++)
		ret = make_table(&b, &spec->rs->tables[i]);
	if (ret < 0)
		goto err;
	*out = prog;
	return 0;

err:
	if (err->text[0] == '\0')
		snprintf(err->text, sizeof(err->text), "%s", strerror(-ret));
	ipt_prog_free(prog);
	return ret;
}

static void free_rule(struct chain_rule *c)
{
	for (uint16_t i = 0; i < c->n_matches; i++)
		if (c->matches[i].ops->destroy != NULL)
			c->matches[i].ops->destroy(c->matches[i].state);
	free(c->matches);
	if (c->target != NULL && c->target->destroy != NULL)
		c->target->destroy(c->target_state);
}

static void free_table(struct chain_table *t)
{
	for (uint32_t i = 0; t->chains != NULL && i < t->text->n_chains; i++) {
		struct chain *c = &t->chains[i];

		if (c->cls_odd != NULL && c->cls_odd != c->cls)
			c->cls_odd->ops->free(c->cls_odd);
		if (c->cls != NULL)
			c->cls->ops->free(c->cls);
		free(c->front);
	}
	free(t->chains);
	chain_ifaces_free(t->ifaces);
	ipt_patterns_free(t->patterns);
	for (unsigned int i = 0; i < SL_WORKERS_MAX; i++)
		eval_scratch_free(t->scratch[i]);
}

void ipt_prog_free(struct ipt_prog *prog)
{
	if (prog == NULL)
		return;
	for (unsigned int i = 0; i < IPT_TABLE_NB; i++)
		free_table(&prog->tables[i]);
	for (uint32_t i = 0; prog->rules != NULL && i < prog->rs->n_rules; i++)
		free_rule(&prog->rules[i]);
	free(prog->rules);
	for (unsigned int i = 0; i < SL_WORKERS_MAX; i++)
		rte_free(prog->counters[i]);
	free(prog->base);
	free(prog);
}

static uint8_t rule_needs(const struct chain_rule *c)
{
	uint8_t needs = 0;

	for (uint16_t i = 0; i < c->n_matches; i++)
		needs |= c->matches[i].ops->needs;
	if (c->target != NULL)
		needs |= c->target->needs_of != NULL ? c->target->needs_of(&c->rule->target)
						     : c->target->needs;
	return needs;
}

uint8_t ipt_prog_needs(const struct ipt_prog *prog)
{
	uint8_t needs = 0;

	for (uint32_t i = 0; i < prog->rs->n_rules; i++)
		needs |= rule_needs(&prog->rules[i]);
	return needs;
}

/* by hook; NULL: the table is not loaded, or does not have the hook */
static const struct chain *base_chain(
		const struct ipt_prog *prog, enum ipt_table_id table, enum ipt_hook hook)
{
	const struct chain_table *t = &prog->tables[table];

	for (uint32_t i = 0; t->text != NULL && i < t->text->n_chains; i++)
		if (t->text->chains[i].builtin && t->text->chains[i].hook == hook)
			return &t->chains[i];
	return NULL;
}

bool ipt_prog_has(const struct ipt_prog *prog, enum ipt_table_id table, enum ipt_hook hook)
{
	return base_chain(prog, table, hook) != NULL;
}

bool ipt_prog_acts(const struct ipt_prog *prog, enum ipt_table_id table, enum ipt_hook hook)
{
	const struct chain *c = base_chain(prog, table, hook);

	/* a traced packet tells of empty chains, too, in their place */
	return c != NULL && (c->n > 0 || c->text->policy != IPT_ACCEPT || prog->traces);
}
