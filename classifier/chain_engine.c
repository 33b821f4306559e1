/* SPDX-License-Identifier: BSD-3-Clause */
/* The sets of boxes of a chain, and which engine holds them. */
#include "classifier/chain.h"
#include "lib/log.h"

#include <errno.h>
#include <stdlib.h>

SL_LOG_TYPE("rules");

struct boxes {
	struct sl_cls_rule *v;
	uint32_t n, room;
	bool l4; /* some box looks at the transport header */
};

static int append(struct boxes *b, const struct chain_boxes *of, uint32_t label)
{
	if (b->n + of->n > b->room) {
		uint32_t room = 2 * b->room + CHAIN_BOXES_MAX;
		struct sl_cls_rule *v = realloc(b->v, room * sizeof(*v));

		if (v == NULL)
			return -ENOMEM;
		b->v = v;
		b->room = room;
	}
	for (unsigned int i = 0; i < of->n; i++) {
		b->v[b->n] = of->v[i];
		b->v[b->n].verify = of->verify;
		b->v[b->n++].label = label;
	}
	b->l4 |= of->l4;
	return 0;
}

/* the engine that was asked for, or what auto says, or what holds everything */
static int build(const struct sl_cls_spec *spec, const struct sl_cls_ops *engine, const char *chain,
		struct sl_cls **out)
{
	int ret = -E2BIG;

	if (engine != NULL) {
		ret = engine->build(spec, out);
		if (ret < 0)
			SL_LOG(WARNING, "chain %s: engine %s cannot hold %u boxes: auto instead",
					chain, engine->name, spec->n);
	}
	if (ret < 0)
		ret = sl_cls_auto(spec, NULL)->build(spec, out);
	if (ret < 0)
		ret = sl_cls_linear.build(spec, out);
	return ret;
}

static bool is_open(const struct chain_boxes *b)
{
	static const struct sl_cls_rule any = { SL_CLS_RULE_ANY };

	return b->n == 1 && memcmp(&b->v[0], &any, sizeof(any)) == 0;
}

/* Return: the number of rules that a look-up could pass over, or -ENOMEM */
static int collect(const struct ipt_prog *prog, const struct chain_table *t, struct chain *c,
		struct boxes *whole, struct boxes *odd)
{
	struct chain_boxes b;
	int narrow = 0;

	for (uint32_t i = c->n_front; i < c->n; i++) {
		struct chain_rule *r = &c->rules[i];

		chain_boxes(t->ifaces, (enum ipt_family)prog->family, r, false, &b);
		if (!b.verify && r->n_lead == r->n_matches)
			r->flags |= CHAIN_EXACT;
		if (is_open(&b))
			r->flags |= CHAIN_OPEN;
		else
			narrow++;
		if (append(whole, &b, i) < 0)
			return -ENOMEM;
		chain_boxes(t->ifaces, (enum ipt_family)prog->family, r, true, &b);
		if (!b.verify)
			r->flags |= CHAIN_EXACT_ODD;
		if (append(odd, &b, i) < 0)
			return -ENOMEM;
	}
	return narrow;
}

int chain_index(const struct ipt_prog *prog, const struct chain_table *t, struct chain *c,
		const struct sl_cls_ops *engine)
{
	struct boxes whole = { 0 }, odd = { 0 };
	struct sl_cls_spec spec = {
		.family = prog->family == IPT_V4 ? SL_AF_INET : SL_AF_INET6,
	};
	int narrow = collect(prog, t, c, &whole, &odd);
	int ret = narrow < 0 ? narrow : 0;

	if (narrow <= (engine == NULL ? CHAIN_WALK_MAX : 0))
		goto out;
	spec.rules = whole.v;
	spec.n = whole.n;
	ret = build(&spec, engine, c->text->name, &c->cls);
	if (ret < 0)
		goto out;
	if (!whole.l4 && !odd.l4) {
		c->cls_odd = c->cls;
		goto out;
	}
	spec.rules = odd.v;
	spec.n = odd.n;
	ret = build(&spec, engine, c->text->name, &c->cls_odd);
out:
	free(whole.v);
	free(odd.v);
	return ret;
}
