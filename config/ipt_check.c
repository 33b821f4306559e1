/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipt_check.c - loops, and matches and targets that may not stand where they can be reached
 *
 * As the kernel does it: from each built-in chain all jumps are followed. A rule without any test and
 * with a verdict ends its chain, what stands behind it is not reached; a jump is followed whatever
 * stands in front of it. A jump into a chain that is being walked is a loop. A chain that nothing reaches
 * is not asked for its hooks, so that dead rules may hold what they like, and dead loops are none.
 */
#include "config/ipt_check.h"

#include "config/ipt.h"

#include <stdlib.h>
#include <string.h>

/* Where the walk stands in one chain. */
struct frame {
	uint32_t chain;
	uint32_t rule;
};

static bool unconditional(const struct ipt_rule *r)
{
	return r->n_matches == 0 && ipt_addr_zero(&r->src.mask) && !r->src.inv
			&& ipt_addr_zero(&r->dst.mask) && !r->dst.inv && !r->in.given
			&& !r->out.given && r->proto == 0 && r->frag == IPT_FRAG_ANY;
}

static bool ends_chain(const struct ipt_rule *r)
{
	switch (r->target.verdict) {
	case IPT_ACCEPT:
	case IPT_DROP:
	case IPT_QUEUE:
	case IPT_RETURN:
		return unconditional(r);
	}
	return false;
}

/* The next chain that this one jumps to from `at` on. Return: true and the position behind it. */
static bool next_jump(const struct ipt_chain *c, uint32_t *at, uint32_t *to)
{
	while (*at < c->n_rules) {
		const struct ipt_rule *r = &c->rules[(*at)++];

		if (r->target.verdict == IPT_JUMP || r->target.verdict == IPT_GOTO) {
			*to = r->target.chain;
			return true;
		}
		if (ends_chain(r))
			break;
	}
	*at = c->n_rules;
	return false;
}

static int loop_error(struct ipt_ctx *cx, const struct ipt_table *t, const struct frame *top)
{
	const struct ipt_chain *c = &t->chains[top->chain];
	const struct ipt_rule *r = &c->rules[top->rule - 1];

	cx->line = r->line;
	return ipt_fail(cx, "loop: chain %s jumps back to %s", c->name,
			t->chains[r->target.chain].name);
}

/* Walk everything below one built-in chain, deep first. `on_path`: chains being walked. */
static int walk(struct ipt_ctx *cx, struct ipt_table *t, uint32_t start, struct frame *stack,
		bool *on_path)
{
	uint8_t hook = 1 << t->chains[start].hook;
	uint32_t depth = 1, to;

	stack[0] = (struct frame){ start, 0 };
	t->chains[start].hooks |= hook;
	on_path[start] = true;
	while (depth > 0) {
		struct frame *top = &stack[depth - 1];

		if (!next_jump(&t->chains[top->chain], &top->rule, &to)) {
			on_path[top->chain] = false;
			depth--;
			continue;
		}
		if (on_path[to])
			return loop_error(cx, t, top);
		if (t->chains[to].hooks & hook)
			continue;
		t->chains[to].hooks |= hook;
		on_path[to] = true;
		stack[depth++] = (struct frame){ to, 0 };
	}
	return 0;
}

static int walk_all(struct ipt_ctx *cx, struct ipt_table *t)
{
	struct frame *stack = malloc(t->n_chains * sizeof(*stack));
	bool *on_path = calloc(t->n_chains, sizeof(*on_path));
	int ret = stack != NULL && on_path != NULL ? 0 : -ENOMEM;

	for (uint32_t i = 0; ret == 0 && i < t->n_chains && t->chains[i].builtin; i++)
		ret = walk(cx, t, i, stack, on_path);
	free(stack);
	free(on_path);
	return ret;
}

static int bad_place(struct ipt_ctx *cx, const char *what, const struct ipt_ext *ext,
		uint8_t wrong_hooks)
{
	for (int h = 0; h < IPT_HOOK_NB; h++)
		if (wrong_hooks & (1 << h))
			return ipt_fail(cx,
					"%s \"%s\" in a chain reached from %s, where it may not be",
					what, ext->name, ipt_hook_name(h));
	return ipt_fail(cx, "%s \"%s\" may not be in table %s", what, ext->name,
			ipt_table_name(cx->table));
}

static int check_ext(struct ipt_ctx *cx, const struct ipt_rule *r, const struct ipt_ext *ext,
		const char *what, uint32_t set, const void *data, uint8_t hooks)
{
	const char *why;

	if (ext->tables != 0 && !(ext->tables & (1 << cx->table)))
		return bad_place(cx, what, ext, 0);
	if (ext->hooks != 0 && (hooks & ~ext->hooks))
		return bad_place(cx, what, ext, hooks & ~ext->hooks);
	if (ext->proto != 0 && (r->proto != ext->proto || r->proto_inv))
		return ipt_fail(cx, "%s \"%s\" needs -p %s", what, ext->name,
				ipt_proto_name(ext->proto));
	why = ext->check != NULL ? ext->check(cx->family, r, set, data, hooks) : NULL;
	return why != NULL ? ipt_fail(cx, "%s \"%s\": %s", what, ext->name, why) : 0;
}

static int check_rule(struct ipt_ctx *cx, const struct ipt_rule *r, uint8_t hooks)
{
	const struct ipt_target *t = &r->target;
	int ret;

	cx->line = r->line;
	for (uint32_t i = 0; i < r->n_matches; i++) {
		const struct ipt_match *m = &r->matches[i];

		ret = check_ext(cx, r, ipt_match_by_kind(m->kind, cx->family), "match", m->set,
				m->data, hooks);
		if (ret < 0)
			return ret;
	}
	if (t->verdict != IPT_TARGET)
		return 0;
	return check_ext(cx, r, ipt_target_by_kind(t->kind, cx->family), "target", t->set, t->data,
			hooks);
}

int ipt_check_table(struct ipt_ctx *cx, struct ipt_table *t)
{
	uint32_t line = cx->line; /* of COMMIT */
	int ret = walk_all(cx, t);

	if (ret == -ENOMEM)
		return ret;
	for (uint32_t i = 0; i < t->n_chains; i++) {
		const struct ipt_chain *c = &t->chains[i];
		uint8_t hooks = c->hooks;

		for (uint32_t k = 0; k < c->n_rules; k++) {
			if (check_rule(cx, &c->rules[k], hooks) < 0)
				ret = -EINVAL;
			if (ends_chain(&c->rules[k]))
				hooks = 0; /* what follows is not reached */
		}
	}
	cx->line = line;
	return ret;
}
