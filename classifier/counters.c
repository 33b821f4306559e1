/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of rules and policies. Each worker adds to an array of its own; what is read is the sum
 * over workers and a base that only control writes. Zeroing sets the base to minus the sum, so that
 * no worker is disturbed and no packet lost.
 */
#include "classifier/chain.h"
#include "lib/router.h"

static struct ipt_counters sum(const struct ipt_prog *prog, uint32_t index)
{
	struct ipt_counters s = prog->base[index];

	for (unsigned int i = 0; i < prog->r->n_workers; i++) {
		const struct ipt_counters *c = &prog->counters[i][index];

		s.packets += __atomic_load_n(&c->packets, __ATOMIC_RELAXED);
		s.bytes += __atomic_load_n(&c->bytes, __ATOMIC_RELAXED);
	}
	return s;
}

struct ipt_counters ipt_prog_rule_counters(const struct ipt_prog *prog, uint32_t index)
{
	return sum(prog, index);
}

struct ipt_counters ipt_prog_policy_counters(const struct ipt_prog *prog, uint32_t policy_index)
{
	return sum(prog, prog->rs->n_rules + policy_index);
}

void ipt_prog_read_counters(const struct ipt_prog *prog, struct ipt_ruleset *rs)
{
	for (uint32_t i = 0; i < rs->n_tables; i++)
		for (uint32_t k = 0; k < rs->tables[i].n_chains; k++) {
			struct ipt_chain *c = &rs->tables[i].chains[k];

			if (c->builtin)
				c->counters = sum(prog, chain_policy_counter(prog, c));
			for (uint32_t n = 0; n < c->n_rules; n++)
				c->rules[n].counters = sum(prog, c->rules[n].index);
		}
}

static void zero(struct ipt_prog *prog, uint32_t index)
{
	struct ipt_counters s = sum(prog, index);

	prog->base[index].packets -= s.packets;
	prog->base[index].bytes -= s.bytes;
}

void ipt_prog_zero_counters(struct ipt_prog *prog, const struct ipt_table *table)
{
	for (uint32_t i = 0; i < prog->rs->n_tables; i++) {
		const struct ipt_table *t = &prog->rs->tables[i];

		if (table != NULL && table != t)
			continue;
		for (uint32_t k = 0; k < t->n_chains; k++) {
			const struct ipt_chain *c = &t->chains[k];

			if (c->builtin)
				zero(prog, chain_policy_counter(prog, c));
			for (uint32_t n = 0; n < c->n_rules; n++)
				zero(prog, c->rules[n].index);
		}
	}
}

static void add(struct ipt_prog *prog, uint32_t index, struct ipt_counters c)
{
	prog->base[index].packets += c.packets;
	prog->base[index].bytes += c.bytes;
}

static const struct ipt_chain *find_base(const struct ipt_table *t, uint8_t hook)
{
	for (uint32_t i = 0; t != NULL && i < t->n_chains; i++)
		if (t->chains[i].builtin && t->chains[i].hook == hook)
			return &t->chains[i];
	return NULL;
}

static void carry_policies(struct ipt_prog *prog, const struct ipt_prog *prev)
{
	for (uint32_t i = 0; i < prog->rs->n_tables; i++) {
		const struct ipt_table *t = &prog->rs->tables[i];
		const struct ipt_table *old = ipt_ruleset_table(prev->rs, (enum ipt_table_id)t->id);

		for (uint32_t k = 0; k < t->n_chains; k++) {
			const struct ipt_chain *c = &t->chains[k];
			const struct ipt_chain *was = c->builtin ? find_base(old, c->hook) : NULL;

			if (was != NULL && was->policy == c->policy)
				add(prog, chain_policy_counter(prog, c),
						sum(prev, chain_policy_counter(prev, was)));
		}
	}
}

void ipt_prog_carry_counters(
		struct ipt_prog *prog, const struct ipt_prog *prev, const uint32_t *same)
{
	for (uint32_t i = 0; i < prog->rs->n_rules; i++)
		if (same[i] != IPT_NO_RULE)
			add(prog, i, sum(prev, same[i]));
	carry_policies(prog, prev);
}
