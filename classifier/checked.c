/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/checked.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RULES_MAX 1000

struct checked {
	struct sl_cls cls; /* first */
	struct sl_cls *subject, *linear;
};

static const struct sl_cls_ops *subject;
static uint64_t answers;
static char fault[512];

static size_t estimate(const struct sl_cls_spec *spec)
{
	size_t mine = subject->estimate(spec);

	return mine == 0 ? 0 : mine + sl_cls_linear.estimate(spec);
}

static void release(struct sl_cls *cls)
{
	struct checked *c = (struct checked *)(void *)cls;

	if (c->subject != NULL)
		c->subject->ops->free(c->subject);
	if (c->linear != NULL)
		sl_cls_linear.free(c->linear);
	free(c);
}

static const struct sl_cls_ops checked_ops;

static int build(const struct sl_cls_spec *spec, struct sl_cls **cls)
{
	struct checked *c = calloc(1, sizeof(*c));
	int ret = c == NULL ? -ENOMEM : sl_cls_linear.build(spec, &c->linear);

	if (ret == 0)
		ret = subject->build(spec, &c->subject);
	if (ret < 0) {
		if (c != NULL)
			release(&c->cls);
		return ret;
	}
	c->cls.ops = &checked_ops;
	c->cls.family = spec->family;
	c->cls.n = spec->n;
	*cls = &c->cls;
	return 0;
}

static void put_key(FILE *f, enum sl_family family, const void *keys, unsigned int i)
{
	if (family == SL_AF_INET) {
		const struct sl_cls_key4 *k = &((const struct sl_cls_key4 *)keys)[i];

		fprintf(f, "src %u.%u.%u.%u dst %u.%u.%u.%u sport %u dport %u proto %u aux %u",
				k->src >> 24, k->src >> 16 & 255, k->src >> 8 & 255, k->src & 255,
				k->dst >> 24, k->dst >> 16 & 255, k->dst >> 8 & 255, k->dst & 255,
				k->sport, k->dport, k->proto, k->aux);
	} else {
		const struct sl_cls_key6 *k = &((const struct sl_cls_key6 *)keys)[i];

		fprintf(f,
				"src %016" PRIx64 "%016" PRIx64 " dst %016" PRIx64 "%016" PRIx64
				" sport %u dport %u proto %u aux %u",
				k->src.hi, k->src.lo, k->dst.hi, k->dst.lo, k->sport, k->dport,
				k->proto, k->aux);
	}
}

static void put_label(FILE *f, uint32_t label)
{
	if (label == SL_CLS_MISS)
		fprintf(f, "no rule");
	else
		fprintf(f, "label %u", label);
}

static void note_fault(const struct checked *c, const void *keys, unsigned int i,
		const uint32_t *from, uint32_t found, uint32_t right)
{
	FILE *f;

	if (fault[0] != '\0')
		return;
	f = fmemopen(fault, sizeof(fault), "w");
	if (f == NULL)
		return;
	fprintf(f, "engine %s, %u rules of IPv%c, key ", c->subject->ops->name, c->cls.n,
			c->cls.family == SL_AF_INET ? '4' : '6');
	put_key(f, c->cls.family, keys, i);
	if (from != NULL)
		fprintf(f, " from label %u on", from[i]);
	fprintf(f, ": found ");
	put_label(f, found);
	fprintf(f, ", expected ");
	put_label(f, right);
	fclose(f);
}

static void lookup(const struct sl_cls *cls, const void *keys, unsigned int n, const uint32_t *from,
		const struct sl_cls_verify *verify, uint32_t *out)
{
	const struct checked *c = (const struct checked *)(const void *)cls;
	uint32_t found[SL_CLS_BURST];

	c->subject->ops->lookup(c->subject, keys, n, from, verify, found);
	sl_cls_linear.lookup(c->linear, keys, n, from, verify, out);
	for (unsigned int i = 0; i < n; i++)
		if (found[i] != out[i])
			note_fault(c, keys, i, from, found[i], out[i]);
	answers += n;
}

static size_t memory(const struct sl_cls *cls)
{
	const struct checked *c = (const struct checked *)(const void *)cls;

	return c->subject->ops->memory(c->subject);
}

static const struct sl_cls_ops checked_ops = {
	.name = CLS_CHECKED_NAME,
	.estimate = estimate,
	.build = build,
	.lookup = lookup,
	.free = release,
	.memory = memory,
};

void cls_checked_begin(const struct sl_cls_ops *ops)
{
	subject = ops;
	answers = 0;
	fault[0] = '\0';
}

const struct sl_cls_ops *cls_checked_engine(void)
{
	return subject == NULL ? NULL : &checked_ops;
}

uint64_t cls_checked_answers(void)
{
	return answers;
}

const char *cls_checked_fault(void)
{
	return fault[0] == '\0' ? NULL : fault;
}

/* ---- random rules ---------------------------------------------------------------------------- */

/* splitmix64 by Vigna */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* near each other, so that rules overlap */
static struct sl_cls_addr draw_addr(uint64_t *g, bool v4)
{
	uint64_t low = 0x0a000000U + (draw(g) & 0xff) + (draw(g) % 4 << 8) + (draw(g) % 3 << 16);

	if (v4)
		return sl_cls_addr4((uint32_t)low);
	return (struct sl_cls_addr){ 0x20010db800000000ULL | draw(g) % 4, low };
}

static void draw_ports(uint64_t *g, uint16_t *lo, uint16_t *hi)
{
	uint16_t a = (uint16_t)(draw(g) % 300), b = (uint16_t)(a + draw(g) % 50);

	*lo = 0;
	*hi = UINT16_MAX;
	if (draw(g) % 3 == 0)
		return;
	*lo = a;
	*hi = draw(g) % 2 == 0 ? a : b;
}

static struct sl_cls_rule draw_rule(uint64_t *g, bool v4, uint32_t label)
{
	enum sl_family family = v4 ? SL_AF_INET : SL_AF_INET6;
	unsigned int bits = v4 ? 32 : 128;
	struct sl_cls_rule r = { SL_CLS_RULE_ANY, .label = label };

	r.src = draw_addr(g, v4);
	r.dst = draw_addr(g, v4);
	r.src_mask = sl_cls_mask(
			family, draw(g) % 3 == 0 ? 0 : bits - (unsigned int)(draw(g) % 20));
	r.dst_mask = sl_cls_mask(
			family, draw(g) % 3 == 0 ? 0 : bits - (unsigned int)(draw(g) % 20));
	if (draw(g) % 8 == 0)
		r.src_mask.lo &= draw(g); /* a mask with holes */
	draw_ports(g, &r.sport_lo, &r.sport_hi);
	draw_ports(g, &r.dport_lo, &r.dport_hi);
	if (draw(g) % 2 == 0) {
		r.proto = draw(g) % 2 == 0 ? 6 : 17;
		r.proto_mask = 255;
	}
	if (draw(g) % 6 == 0)
		r.aux_lo = r.aux_hi = (uint16_t)(draw(g) % 4);
	return r;
}

/* an end of a range, or one beside it */
static uint16_t corner(uint64_t *g, uint16_t lo, uint16_t hi)
{
	uint16_t at = draw(g) % 2 == 0 ? lo : hi;

	return (uint16_t)(at + draw(g) % 3 - 1);
}

static struct sl_cls_key6 draw_key(uint64_t *g, bool v4, const struct sl_cls_rule *r)
{
	struct sl_cls_key6 k = { 0 };

	k.src = draw(g) % 3 == 0 ? draw_addr(g, v4) : r->src;
	k.dst = draw(g) % 3 == 0 ? draw_addr(g, v4) : r->dst;
	if (draw(g) % 3 == 0)
		k.src.lo ^= v4 ? 1U << draw(g) % 32 : UINT64_C(1) << draw(g) % 64;
	k.sport = corner(g, r->sport_lo, r->sport_hi);
	k.dport = corner(g, r->dport_lo, r->dport_hi);
	k.proto = draw(g) % 4 == 0 ? (uint16_t)(draw(g) % 256) : r->proto;
	k.aux = corner(g, r->aux_lo, r->aux_hi);
	return k;
}

/* rules whose label is odd hold for every other key */
static bool every_other(void *arg, uint32_t label, unsigned int i)
{
	(void)arg;
	return (label + i) % 2 == 0;
}

static void ask(uint64_t *g, const struct sl_cls *cls, bool v4, const struct sl_cls_rule *rules,
		uint32_t n)
{
	const struct sl_cls_verify verify = { every_other, NULL };
	struct sl_cls_key4 k4[SL_CLS_BURST];
	struct sl_cls_key6 k6[SL_CLS_BURST];
	uint32_t from[SL_CLS_BURST], out[SL_CLS_BURST];
	unsigned int count = 1 + (unsigned int)(draw(g) % SL_CLS_BURST);

	for (unsigned int i = 0; i < count; i++) {
		k6[i] = draw_key(g, v4, &rules[draw(g) % n]);
		k4[i] = (struct sl_cls_key4){ .src = (uint32_t)k6[i].src.lo,
			.dst = (uint32_t)k6[i].dst.lo,
			.sport = k6[i].sport,
			.dport = k6[i].dport,
			.proto = k6[i].proto,
			.aux = k6[i].aux };
		from[i] = (uint32_t)(draw(g) % (rules[n - 1].label + 2));
	}
	cls->ops->lookup(cls, v4 ? (const void *)k4 : (const void *)k6, count,
			draw(g) % 2 == 0 ? NULL : from, &verify, out);
}

static void one_set(uint64_t *g, bool v4, uint32_t n, struct sl_cls_rule *rules)
{
	const struct sl_cls_spec spec = {
		.family = v4 ? SL_AF_INET : SL_AF_INET6, .rules = rules, .n = n
	};
	struct sl_cls *cls;
	uint32_t label = 0;
	int ret;

	for (uint32_t i = 0; i < n; i++) {
		/* several boxes of one rule, and gaps */
		label += draw(g) % 4 == 0 ? 0 : (uint32_t)(draw(g) % 5);
		rules[i] = draw_rule(g, v4, label);
		rules[i].verify = draw(g) % 8 == 0;
	}
	if (subject->estimate(&spec) == 0)
		return;
	ret = checked_ops.build(&spec, &cls);
	if (ret < 0) {
		snprintf(fault, sizeof(fault),
				"engine %s, %u rules of IPv%c: found an estimate, but build says %s",
				subject->name, n, v4 ? '4' : '6', strerror(-ret));
		return;
	}
	for (unsigned int i = 0; i < 200 && fault[0] == '\0'; i++)
		ask(g, cls, v4, rules, n);
	release(cls);
}

const char *cls_check_random(const struct sl_cls_ops *ops, uint64_t seed, uint64_t *n_answers)
{
	static const uint32_t sizes[] = { 1, 2, 7, 33, 100, 333, RULES_MAX };
	struct sl_cls_rule *rules = calloc(RULES_MAX, sizeof(*rules));
	uint64_t g = seed;

	cls_checked_begin(ops);
	if (rules == NULL)
		snprintf(fault, sizeof(fault), "out of memory");
	for (unsigned int round = 0; round < 3; round++)
		for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
			for (unsigned int v4 = 0; v4 < 2 && fault[0] == '\0'; v4++)
				one_set(&g, v4 != 0, sizes[i], rules);
	free(rules);
	*n_answers = answers;
	subject = NULL;
	return cls_checked_fault();
}
