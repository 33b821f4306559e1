/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A classifier engine from outside: rules sorted into rows by destination port. A row has those that
 * take a single port, in their order; one more has the rest. A look-up goes through the two that its
 * key can match. Written down step by step in docs/write-an-engine.md.
 */
#include <classifier/plugin.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 1024U
#define REST ROWS /* number of the row of what takes many ports */

struct sorted {
	struct sl_cls cls; /* first: sluice sees no more of it */
	uint32_t start[ROWS + 2]; /* where each row begins in rules */
	struct sl_cls_rule rules[];
};

static uint32_t row_of(const struct sl_cls_rule *r)
{
	return r->dport_lo == r->dport_hi ? r->dport_lo % ROWS : REST;
}

static size_t sorted_estimate(const struct sl_cls_spec *spec)
{
	return sizeof(struct sorted) + spec->n * sizeof(struct sl_cls_rule);
}

static int check(const struct sl_cls_spec *spec)
{
	if (spec->family != SL_AF_INET && spec->family != SL_AF_INET6)
		return -EINVAL;
	for (uint32_t i = 0; i < spec->n; i++) {
		const struct sl_cls_rule *r = &spec->rules[i];

		if (r->label > SL_CLS_LABEL_MAX || (i > 0 && r->label < r[-1].label)
				|| r->sport_lo > r->sport_hi || r->dport_lo > r->dport_hi
				|| r->aux_lo > r->aux_hi)
			return -EINVAL;
	}
	return 0;
}

static int sorted_build(const struct sl_cls_spec *spec, struct sl_cls **cls)
{
	struct sorted *s;
	uint32_t fill[ROWS + 2];
	int ret = check(spec);

	if (ret < 0)
		return ret;
	s = calloc(1, sorted_estimate(spec));
	if (s == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < spec->n; i++)
		s->start[row_of(&spec->rules[i]) + 1]++;
	for (unsigned int row = 0; row <= ROWS; row++)
		s->start[row + 1] += s->start[row];
	memcpy(fill, s->start, sizeof(fill));
	/* in their order, so each row has its labels sorted */
	for (uint32_t i = 0; i < spec->n; i++)
		s->rules[fill[row_of(&spec->rules[i])]++] = spec->rules[i];
	s->cls.family = spec->family;
	s->cls.n = spec->n;
	*cls = &s->cls;
	return 0;
}

static bool same(struct sl_cls_addr a, struct sl_cls_addr b, struct sl_cls_addr mask)
{
	return (((a.lo ^ b.lo) & mask.lo) | ((a.hi ^ b.hi) & mask.hi)) == 0;
}

static bool matches(const struct sl_cls_rule *r, const struct sl_cls_key6 *k)
{
	return same(r->src, k->src, r->src_mask) && same(r->dst, k->dst, r->dst_mask)
			&& k->sport >= r->sport_lo && k->sport <= r->sport_hi
			&& k->dport >= r->dport_lo && k->dport <= r->dport_hi && k->aux >= r->aux_lo
			&& k->aux <= r->aux_hi && ((k->proto ^ r->proto) & r->proto_mask) == 0;
}

/* the first rule of a row that counts for the key, or @best if that is in front of it */
static uint32_t search(const struct sorted *s, uint32_t row, const struct sl_cls_key6 *k,
		unsigned int i, uint32_t from, const struct sl_cls_verify *verify, uint32_t best)
{
	const struct sl_cls_rule *r = &s->rules[s->start[row]], *end = &s->rules[s->start[row + 1]];

	for (; r < end && r->label < best; r++)
		if (r->label >= from && matches(r, k)
				&& (!r->verify || verify == NULL
						|| verify->match(verify->arg, r->label, i)))
			return r->label;
	return best;
}

static void sorted_lookup(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out)
{
	const struct sorted *s = (const struct sorted *)(const void *)cls;

	for (unsigned int i = 0; i < n; i++) {
		uint32_t first = from == NULL ? 0 : from[i];
		struct sl_cls_key6 k;

		if (cls->family == SL_AF_INET6) {
			k = ((const struct sl_cls_key6 *)keys)[i];
		} else {
			const struct sl_cls_key4 *k4 = &((const struct sl_cls_key4 *)keys)[i];

			k = (struct sl_cls_key6){ .src = sl_cls_addr4(k4->src),
				.dst = sl_cls_addr4(k4->dst),
				.sport = k4->sport,
				.dport = k4->dport,
				.proto = k4->proto,
				.aux = k4->aux };
		}
		out[i] = search(s, k.dport % ROWS, &k, i, first, verify, SL_CLS_MISS);
		out[i] = search(s, REST, &k, i, first, verify, out[i]);
	}
}

static void sorted_free(struct sl_cls *cls)
{
	free(cls);
}

static size_t sorted_memory(const struct sl_cls *cls)
{
	return sizeof(struct sorted) + cls->n * sizeof(struct sl_cls_rule);
}

static const struct sl_cls_ops ops;

static int build(const struct sl_cls_spec *spec, struct sl_cls **cls)
{
	int ret = sorted_build(spec, cls);

	if (ret == 0)
		(*cls)->ops = &ops;
	return ret;
}

static const struct sl_cls_ops ops = {
	.name = "sorted",
	.estimate = sorted_estimate,
	.build = build,
	.lookup = sorted_lookup,
	.free = sorted_free,
	.memory = sorted_memory,
};

static const struct sl_cls_ops *const engines[] = { &ops, NULL };

const struct sl_plugin sl_plugin = { SL_PLUGIN_HEADER, .name = "sorted", .engines = engines };
