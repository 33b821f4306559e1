/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/ipt_build.h"

#include "config/ipt.h"
#include "config/ipt_arena.h"

#include <stdlib.h>
#include <string.h>

#define HOOK(h) (1 << IPT_##h)
static const uint8_t table_hooks[IPT_TABLE_NB] = {
	[IPT_RAW] = HOOK(PREROUTING) | HOOK(OUTPUT),
	[IPT_MANGLE] = HOOK(PREROUTING) | HOOK(INPUT) | HOOK(FORWARD) | HOOK(OUTPUT)
			| HOOK(POSTROUTING),
	[IPT_NAT] = HOOK(PREROUTING) | HOOK(INPUT) | HOOK(OUTPUT) | HOOK(POSTROUTING),
	[IPT_FILTER] = HOOK(INPUT) | HOOK(FORWARD) | HOOK(OUTPUT),
	[IPT_SECURITY] = HOOK(INPUT) | HOOK(FORWARD) | HOOK(OUTPUT),
};

/* ---- chains ---- */

static uint32_t bucket_of(const struct ipt_build *b, const char *name)
{
	uint32_t h = 2166136261u; /* FNV-1a */

	for (; *name != '\0'; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return h & (b->n_buckets - 1);
}

static void link_chain(struct ipt_build *b, uint32_t i)
{
	int32_t *head = &b->buckets[bucket_of(b, b->chains[i].name)];

	b->chains[i].next = *head;
	*head = i;
}

static void unlink_chain(struct ipt_build *b, uint32_t i)
{
	int32_t *at = &b->buckets[bucket_of(b, b->chains[i].name)];

	while (*at != (int32_t)i)
		at = &b->chains[*at].next;
	*at = b->chains[i].next;
}

static int grow_chains(struct ipt_build *b)
{
	uint32_t cap = b->cap_chains > 0 ? 2 * b->cap_chains : 16;
	struct ipt_bchain *chains = realloc(b->chains, cap * sizeof(*chains));
	int32_t *buckets;

	if (chains == NULL)
		return -ENOMEM;
	b->chains = chains;
	buckets = realloc(b->buckets, cap * sizeof(*buckets));
	if (buckets == NULL)
		return -ENOMEM;
	b->buckets = buckets;
	b->cap_chains = b->n_buckets = cap;
	memset(buckets, 0xff, cap * sizeof(*buckets)); /* -1 */
	for (uint32_t i = 0; i < b->n_chains; i++)
		if (!chains[i].gone)
			link_chain(b, i);
	return 0;
}

int ipt_build_find(const struct ipt_build *b, const char *name)
{
	for (int32_t i = b->buckets[bucket_of(b, name)]; i >= 0; i = b->chains[i].next)
		if (strcmp(b->chains[i].name, name) == 0)
			return i;
	return -ENOENT;
}

int ipt_build_chain(struct ipt_build *b, const char *name, uint32_t line)
{
	if (b->n_chains == b->cap_chains && grow_chains(b) < 0)
		return -ENOMEM;
	b->chains[b->n_chains] = (struct ipt_bchain){ .name = name, .line = line };
	link_chain(b, b->n_chains);
	return b->n_chains++;
}

int ipt_build_init(struct ipt_build *b, enum ipt_table_id id)
{
	int c;

	*b = (struct ipt_build){ .id = id };
	for (int hook = 0; hook < IPT_HOOK_NB; hook++) {
		if (!(table_hooks[id] & (1 << hook)))
			continue;
		c = ipt_build_chain(b, ipt_hook_name(hook), 0);
		if (c < 0) {
			ipt_build_free(b);
			return c;
		}
		b->chains[c].builtin = true;
		b->chains[c].hook = hook;
		b->chains[c].policy = IPT_ACCEPT;
	}
	return 0;
}

void ipt_build_free(struct ipt_build *b)
{
	for (uint32_t i = 0; i < b->n_chains; i++)
		free(b->chains[i].rules);
	free(b->chains);
	free(b->buckets);
	*b = (struct ipt_build){ 0 };
}

/* ---- rules ---- */

static int insert_rule(struct ipt_bchain *c, uint32_t at, const struct ipt_rule *r)
{
	if (c->n_rules == c->cap_rules) {
		uint32_t cap = c->cap_rules > 0 ? 2 * c->cap_rules : 8;
		struct ipt_rule *rules = realloc(c->rules, cap * sizeof(*rules));

		if (rules == NULL)
			return -ENOMEM;
		c->rules = rules;
		c->cap_rules = cap;
	}
	memmove(&c->rules[at + 1], &c->rules[at], (c->n_rules - at) * sizeof(*r));
	c->rules[at] = *r;
	c->n_rules++;
	return 0;
}

static void remove_rule(struct ipt_bchain *c, uint32_t at)
{
	c->n_rules--;
	memmove(&c->rules[at], &c->rules[at + 1], (c->n_rules - at) * sizeof(*c->rules));
}

/* A rule as text, to compare it: two rules are the same if they print alike. */
static char *rule_text(
		const struct ipt_ctx *cx, const struct ipt_build *b, const struct ipt_rule *r)
{
	struct ipt_ruleset rs = { .family = cx->family };
	struct ipt_table t = { .id = b->id, .n_chains = b->n_chains };
	struct ipt_chain *chains = calloc(b->n_chains, sizeof(*chains));
	char *text = NULL;
	size_t size;
	FILE *f;

	if (chains == NULL)
		return NULL;
	for (uint32_t i = 0; i < b->n_chains; i++)
		chains[i].name = b->chains[i].name;
	t.chains = chains;
	f = open_memstream(&text, &size);
	if (f != NULL) {
		ipt_print_rule(f, &rs, &t, &chains[0], r);
		fclose(f);
	}
	free(chains);
	return text;
}

/* Position of the first rule like this one, -ENOENT, -ENOMEM. */
static int find_rule(const struct ipt_ctx *cx, const struct ipt_build *b,
		const struct ipt_bchain *c, const struct ipt_rule *r)
{
	char *want = rule_text(cx, b, r), *have;
	int at = want != NULL ? -ENOENT : -ENOMEM;

	for (uint32_t i = 0; want != NULL && i < c->n_rules; i++) {
		have = rule_text(cx, b, &c->rules[i]);
		if (have != NULL && strcmp(have, want) == 0)
			at = i;
		free(have);
		if (at >= 0)
			break;
	}
	free(want);
	return at;
}

/* What to do with each rule that a line stands for: one for each pair of addresses. */
static int apply_rule(
		struct ipt_ctx *cx, struct ipt_build *b, const struct ipt_parsed *p, uint32_t nth)
{
	struct ipt_bchain *c = &b->chains[ipt_build_find(b, p->chain)];
	const struct ipt_rule *r = &p->rule;
	int at;

	switch (p->command) {
	case IPT_C_APPEND:
		return insert_rule(c, c->n_rules, r);
	case IPT_C_INSERT:
		at = (p->number > 0 ? p->number - 1 : 0) + nth;
		if ((uint32_t)at > c->n_rules)
			return ipt_fail(cx, "-I %s %u: the chain has %u rules", p->chain, p->number,
					c->n_rules);
		return insert_rule(c, at, r);
	case IPT_C_REPLACE:
		if (nth > 0)
			return ipt_fail(cx, "-R %s: only one address can be given", p->chain);
		if (p->number > c->n_rules)
			return ipt_fail(cx, "-R %s %u: the chain has %u rules", p->chain, p->number,
					c->n_rules);
		c->rules[p->number - 1] = *r;
		return 0;
	default: /* -D, -C */
		at = find_rule(cx, b, c, r);
		if (at < 0)
			return at == -ENOMEM ? at
					     : ipt_fail(cx, "chain %s has no such rule", p->chain);
		if (p->command == IPT_C_DELETE)
			remove_rule(c, at);
		return 0;
	}
}

static int each_address(struct ipt_ctx *cx, struct ipt_build *b, struct ipt_parsed *p)
{
	struct ipt_rule *r = &p->rule;
	const char *src = p->src, *dst;
	bool src_inv = r->src.inv, dst_inv = r->dst.inv;
	uint32_t nth = 0;
	int ret;

	if ((src_inv && strchr(p->src, ',') != NULL) || (dst_inv && strchr(p->dst, ',') != NULL))
		return ipt_fail(cx, "! with more than one address");
	do {
		ret = ipt_rule_addr(cx, &src, &r->src);
		if (ret < 0)
			return ret;
		dst = p->dst;
		do {
			ret = ipt_rule_addr(cx, &dst, &r->dst);
			if (ret < 0)
				return ret;
			ret = apply_rule(cx, b, p, nth++);
			if (ret < 0)
				return ret;
		} while (dst != NULL);
	} while (src != NULL);
	return 0;
}

/* ---- commands on chains ---- */

static bool referenced(const struct ipt_build *b, uint32_t chain)
{
	for (uint32_t i = 0; i < b->n_chains; i++)
		for (uint32_t k = 0; k < b->chains[i].n_rules; k++) {
			const struct ipt_target *t = &b->chains[i].rules[k].target;

			if ((t->verdict == IPT_JUMP || t->verdict == IPT_GOTO) && t->chain == chain)
				return true;
		}
	return false;
}

static int remove_chain(struct ipt_ctx *cx, struct ipt_build *b, uint32_t i)
{
	struct ipt_bchain *c = &b->chains[i];

	if (c->n_rules > 0 || referenced(b, i))
		return ipt_fail(cx, "-X %s: the chain is not empty or a rule jumps to it", c->name);
	unlink_chain(b, i);
	c->gone = true;
	return 0;
}

static int new_name(struct ipt_ctx *cx, struct ipt_build *b, const char *name, const char **kept)
{
	static const char *const verdicts[] = { "ACCEPT", "DROP", "QUEUE", "RETURN" };

	for (int i = 0; i < 4; i++)
		if (strcmp(name, verdicts[i]) == 0)
			return ipt_fail(cx, "a chain cannot be named %s", name);
	if (name[0] == '\0' || name[0] == '-' || strlen(name) >= IPT_CHAIN_LEN)
		return ipt_fail(cx,
				"chain name \"%s\": 1-%d bytes, not beginning with -, were expected",
				name, IPT_CHAIN_LEN - 1);
	if (ipt_build_find(b, name) >= 0)
		return ipt_fail(cx, "chain %s exists", name);
	*kept = ipt_arena_strndup(cx->arena, name, strlen(name));
	return *kept != NULL ? 0 : -ENOMEM;
}

static void flush(struct ipt_bchain *c)
{
	c->n_rules = 0;
}

static void zero(struct ipt_bchain *c)
{
	c->counters = (struct ipt_counters){ 0 };
	for (uint32_t i = 0; i < c->n_rules; i++)
		c->rules[i].counters = (struct ipt_counters){ 0 };
}

/* -F, -Z, -X without a name: every chain; -X those that are not in use */
static int all_chains(struct ipt_ctx *cx, struct ipt_build *b, enum ipt_command command)
{
	int ret;

	for (uint32_t i = 0; i < b->n_chains; i++) {
		struct ipt_bchain *c = &b->chains[i];

		if (c->gone)
			continue;
		if (command == IPT_C_FLUSH) {
			flush(c);
		} else if (command == IPT_C_ZERO) {
			zero(c);
		} else if (!c->builtin) {
			ret = remove_chain(cx, b, i);
			if (ret < 0)
				return ret;
		}
	}
	return 0;
}

static int set_policy(struct ipt_ctx *cx, struct ipt_bchain *c, const char *policy)
{
	if (!c->builtin || (strcmp(policy, "ACCEPT") != 0 && strcmp(policy, "DROP") != 0))
		return ipt_fail(cx, "-P %s %s: a built-in chain and ACCEPT or DROP were expected",
				c->name, policy);
	c->policy = strcmp(policy, "DROP") == 0 ? IPT_DROP : IPT_ACCEPT;
	if (c->policy == IPT_DROP && cx->table == IPT_NAT)
		return ipt_fail(cx, "-P %s DROP in table nat, which is not for filtering", c->name);
	return 0;
}

static int chain_command(
		struct ipt_ctx *cx, struct ipt_build *b, const struct ipt_parsed *p, uint32_t i)
{
	struct ipt_bchain *c = &b->chains[i];
	const char *name;
	int ret;

	switch (p->command) {
	case IPT_C_FLUSH:
		flush(c);
		return 0;
	case IPT_C_ZERO:
		zero(c);
		return 0;
	case IPT_C_POLICY:
		return set_policy(cx, c, p->arg);
	case IPT_C_REMOVE:
		if (c->builtin)
			return ipt_fail(cx, "-X %s: the chain is built-in", c->name);
		return remove_chain(cx, b, i);
	default: /* -E */
		if (c->builtin)
			return ipt_fail(cx, "-E %s: the chain is built-in", c->name);
		ret = new_name(cx, b, p->arg, &name);
		if (ret < 0)
			return ret;
		unlink_chain(b, i);
		c->name = name;
		link_chain(b, i);
		return 0;
	}
}

int ipt_build_line(struct ipt_ctx *cx, struct ipt_build *b, struct ipt_parsed *p, const char *text)
{
	const char *name;
	int i, ret;

	if (p->command == IPT_C_NEW) {
		ret = new_name(cx, b, p->chain, &name);
		if (ret < 0)
			return ret;
		ret = ipt_build_chain(b, name, cx->line);
		return ret < 0 ? ret : 0;
	}
	if (p->chain == NULL)
		return all_chains(cx, b, p->command);
	i = ipt_build_find(b, p->chain);
	if (i < 0)
		return ipt_fail(cx, "there is no chain %s", p->chain);
	p->rule.line = cx->line;
	p->rule.text = text;
	switch (p->command) {
	case IPT_C_DELETE:
		if (p->number > 0) {
			if (p->number > b->chains[i].n_rules)
				return ipt_fail(cx, "-D %s %u: the chain has %u rules", p->chain,
						p->number, b->chains[i].n_rules);
			remove_rule(&b->chains[i], p->number - 1);
			return 0;
		}
		return each_address(cx, b, p);
	case IPT_C_APPEND:
	case IPT_C_INSERT:
	case IPT_C_REPLACE:
	case IPT_C_CHECK:
		return each_address(cx, b, p);
	default:
		return chain_command(cx, b, p, i);
	}
}

/* ---- into the final form ---- */

static const struct ipt_bchain *sort_chains; /* what the numbers mean during qsort() */

/* built-in chains by hook, then user chains by name, as libiptc keeps them */
static int by_place(const void *a, const void *b)
{
	const struct ipt_bchain *x = &sort_chains[*(const uint32_t *)a];
	const struct ipt_bchain *y = &sort_chains[*(const uint32_t *)b];

	if (x->builtin != y->builtin)
		return x->builtin ? -1 : 1;
	return x->builtin ? x->hook - y->hook : strcmp(x->name, y->name);
}

static int finish_chain(struct ipt_arena *arena, const struct ipt_bchain *from,
		const uint32_t *place, struct ipt_chain *c)
{
	*c = (struct ipt_chain){
		.name = from->name,
		.builtin = from->builtin,
		.hook = from->hook,
		.policy = from->policy,
		.line = from->line,
		.counters = from->counters,
		.n_rules = from->n_rules,
		.rules = ipt_arena_dup(arena, from->rules, from->n_rules * sizeof(*from->rules)),
	};
	if (c->rules == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n_rules; i++) {
		struct ipt_target *t = &c->rules[i].target;

		if (t->verdict == IPT_JUMP || t->verdict == IPT_GOTO)
			t->chain = place[t->chain];
	}
	return 0;
}

int ipt_build_finish(struct ipt_arena *arena, const struct ipt_build *b, struct ipt_table *t)
{
	uint32_t *order = malloc(2 * b->n_chains * sizeof(*order)), *place = order + b->n_chains,
		 n = 0;
	int ret = -ENOMEM;

	if (order == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n_chains; i++)
		if (!b->chains[i].gone)
			order[n++] = i;
	sort_chains = b->chains;
	qsort(order, n, sizeof(*order), by_place);
	for (uint32_t i = 0; i < n; i++)
		place[order[i]] = i;

	*t = (struct ipt_table){ .id = b->id, .n_chains = n };
	t->chains = ipt_arena_alloc(arena, n * sizeof(*t->chains));
	if (t->chains == NULL)
		goto out;
	for (uint32_t i = 0; i < n; i++) {
		ret = finish_chain(arena, &b->chains[order[i]], place, &t->chains[i]);
		if (ret < 0)
			goto out;
		t->chains[i].index = i;
		t->n_rules += t->chains[i].n_rules;
	}
	ret = 0;
out:
	free(order);
	return ret;
}
