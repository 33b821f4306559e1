/* SPDX-License-Identifier: BSD-3-Clause */
/* Building the hashed engine: rules to tuples, tuples to tables, rules into buckets. */
#include "classifier/hashed.h"
#include "classifier/rule.h"

#include <rte_common.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* steps of the grid of lengths: 0, 4, ... 32 and 0, 16, ... 128 */
#define GRID 9U
/* steps that a tuple takes in */
#define REACH 2U
/* rules of one masked address pair from where on ports are hashed too */
#define CROWD 8U
#define PORTS 3U /* no port, destination port, source port */
#define TUPLES (GRID * GRID * PORTS)
#define LIST UINT8_MAX

struct tuple {
	uint32_t n;
	uint32_t min_label;
	uint8_t table; /* or LIST */
};

struct crowd {
	uint64_t hash;
	uint32_t n;
};

struct builder {
	struct hashed *h;
	const struct sl_cls_spec *spec;
	uint8_t relaxed[GRID][GRID]; /* pair of steps to that of its table, s * GRID + d */
	uint16_t *tuple_of; /* by rule */
	struct tuple tuple[TUPLES];
	struct crowd *crowd;
	uint32_t crowd_mask;
	uint8_t *on_list; /* by rule */
	uint32_t n_list;
	uint32_t overflow_used;
};

static unsigned int step_of(const struct builder *b, const struct sl_cls_addr *mask)
{
	return cls_prefix_len(b->spec->family, mask) / (b->spec->family == SL_AF_INET ? 4 : 16);
}

static void merge(struct builder *b)
{
	uint32_t n[GRID][GRID] = { { 0 } };

	for (uint32_t i = 0; i < b->spec->n; i++)
		n[step_of(b, &b->spec->rules[i].src_mask)]
		 [step_of(b, &b->spec->rules[i].dst_mask)]++;
	memset(b->relaxed, UINT8_MAX, sizeof(b->relaxed));
	for (unsigned int s = 0; s < GRID; s++) {
		for (unsigned int d = 0; d < GRID; d++) {
			if (n[s][d] == 0 || b->relaxed[s][d] != UINT8_MAX)
				continue;
			/* a side that says nothing takes in no one, it would hash all alike */
			for (unsigned int x = s; x < GRID && x <= s + (s > 0 ? REACH : 0); x++)
				for (unsigned int y = d; y < GRID && y <= d + (d > 0 ? REACH : 0);
						y++)
					if (b->relaxed[x][y] == UINT8_MAX)
						b->relaxed[x][y] = (uint8_t)(s * GRID + d);
		}
	}
}

/* halves of a rule as those of a key */
static void rule_halves(enum sl_family family, const struct sl_cls_rule *r, uint64_t *half)
{
	uint64_t lanes = r->sport_lo | (uint64_t)r->dport_lo << 16;

	memset(half, 0, HASHED_HALVES * sizeof(*half));
	if (family == SL_AF_INET) {
		half[0] = (uint32_t)r->src.lo | r->dst.lo << 32;
		half[1] = lanes;
		return;
	}
	half[0] = r->src.hi;
	half[1] = r->src.lo;
	half[2] = r->dst.hi;
	half[3] = r->dst.lo;
	half[4] = lanes;
}

static void tuple_mask(const struct builder *b, unsigned int tuple, uint64_t *mask)
{
	static const uint64_t ports[PORTS] = { 0, 0xffff0000, 0xffff };
	enum sl_family family = b->spec->family;
	unsigned int bits = family == SL_AF_INET ? 4 : 16, pair = tuple / PORTS;
	struct sl_cls_addr src = sl_cls_mask(family, pair / GRID * bits);
	struct sl_cls_addr dst = sl_cls_mask(family, pair % GRID * bits);

	memset(mask, 0, HASHED_HALVES * sizeof(*mask));
	if (family == SL_AF_INET) {
		mask[0] = src.lo | dst.lo << 32;
		mask[1] = ports[tuple % PORTS];
		return;
	}
	mask[0] = src.hi;
	mask[1] = src.lo;
	mask[2] = dst.hi;
	mask[3] = dst.lo;
	mask[4] = ports[tuple % PORTS];
}

static uint64_t rule_hash(const struct builder *b, uint32_t i, const uint64_t *mask)
{
	uint64_t half[HASHED_HALVES];

	rule_halves(b->spec->family, &b->spec->rules[i], half);
	return hashed_hash(half, mask, b->h->seed, b->spec->family == SL_AF_INET6);
}

/* the counter of rule @i's masked address pair */
static struct crowd *crowd_of(struct builder *b, uint32_t i)
{
	uint64_t mask[HASHED_HALVES], hash;
	uint32_t at;

	tuple_mask(b, b->tuple_of[i], mask);
	hash = rule_hash(b, i, mask) + b->tuple_of[i];
	for (at = (uint32_t)(hash >> 32) & b->crowd_mask; b->crowd[at].n > 0;
			at = (at + 1) & b->crowd_mask)
		if (b->crowd[at].hash == hash)
			break;
	b->crowd[at].hash = hash;
	return &b->crowd[at];
}

static void assign_tuples(struct builder *b)
{
	const struct sl_cls_rule *rules = b->spec->rules;

	for (uint32_t i = 0; i < b->spec->n; i++) {
		unsigned int s = step_of(b, &rules[i].src_mask), d = step_of(b, &rules[i].dst_mask);

		b->tuple_of[i] = (uint16_t)(b->relaxed[s][d] * PORTS);
		crowd_of(b, i)->n++;
	}
	for (uint32_t i = 0; i < b->spec->n; i++) {
		struct tuple *t;

		if (crowd_of(b, i)->n > CROWD) {
			if (rules[i].dport_lo == rules[i].dport_hi)
				b->tuple_of[i] += 1;
			else if (rules[i].sport_lo == rules[i].sport_hi)
				b->tuple_of[i] += 2;
		}
		t = &b->tuple[b->tuple_of[i]];
		if (t->n++ == 0)
			t->min_label = rules[i].label;
	}
}

static int by_size(const void *a, const void *b)
{
	const struct tuple *x = *(const struct tuple *const *)a,
			   *y = *(const struct tuple *const *)b;

	return x->n > y->n ? -1 : x->n < y->n;
}

static int by_label(const void *a, const void *b)
{
	const struct tuple *x = *(const struct tuple *const *)a,
			   *y = *(const struct tuple *const *)b;

	return x->min_label < y->min_label ? -1 : x->min_label > y->min_label;
}

/* the largest tuples become tables, in the order of their best rules */
static int make_tables(struct builder *b)
{
	struct tuple *order[TUPLES];
	struct hashed *h = b->h;
	unsigned int n = 0;

	for (unsigned int i = 0; i < TUPLES; i++) {
		b->tuple[i].table = LIST;
		if (b->tuple[i].n > 0)
			order[n++] = &b->tuple[i];
	}
	qsort(order, n, sizeof(*order), by_size);
	h->tables = RTE_MIN(n, HASHED_TABLES);
	qsort(order, h->tables, sizeof(*order), by_label);
	for (unsigned int t = 0; t < h->tables; t++) {
		struct hashed_table *table = &h->table[t];
		/* four of the eight places taken */
		uint32_t buckets = rte_align32pow2(RTE_MAX(order[t]->n / 4, 1U));

		order[t]->table = (uint8_t)t;
		tuple_mask(b, (unsigned int)(order[t] - b->tuple), table->mask);
		table->min_label = order[t]->min_label;
		table->bucket_mask = buckets - 1;
		table->bucket = cls_arena_take(&h->arena, buckets * sizeof(*table->bucket));
		if (table->bucket == NULL)
			return -ENOMEM;
	}
	return 0;
}

/* Return: whether the chain had room. */
static bool place(struct builder *b, uint32_t i, const struct hashed_table *table)
{
	uint64_t hash = rule_hash(b, i, table->mask);
	struct hashed_bucket *at = &table->bucket[hash & table->bucket_mask];

	for (unsigned int chain = 1; at->tag[7] != 0; chain++) {
		if (at->next == 0) {
			if (chain == HASHED_CHAIN)
				return false;
			at->next = ++b->overflow_used;
		}
		at = &b->h->overflow[at->next];
	}
	for (unsigned int j = 0; j < 8; j++) {
		if (at->tag[j] == 0) {
			at->tag[j] = hashed_tag(hash);
			at->rule[j] = i;
			break;
		}
	}
	return true;
}

/* all values of the filter that an address of the rule can have */
static void open_filter(struct hashed *h, const struct sl_cls_rule *r, bool dst, unsigned int table)
{
	const struct sl_cls_addr *value = dst ? &r->dst : &r->src;
	const struct sl_cls_addr *mask = dst ? &r->dst_mask : &r->src_mask;
	unsigned int len = cls_prefix_len(h->cls.family, mask);
	bool v6 = h->cls.family == SL_AF_INET6;
	uint32_t first = 0, n = 1U << h->filter_bits;
	uint64_t half[HASHED_HALVES];

	rule_halves(h->cls.family, r, half);
	if (!v6) {
		n = len >= h->filter_bits ? 1 : 1U << (h->filter_bits - len);
		first = ((uint32_t)value->lo >> (32 - h->filter_bits)) & ~(n - 1);
	} else if (len >= 48) {
		n = 1;
		first = hashed_filter_at(h, half, dst, true);
	}
	for (uint32_t j = first; j < first + n; j++)
		h->filter[dst][j] |= 1ULL << table;
}

static void place_all(struct builder *b)
{
	struct hashed *h = b->h;
	uint64_t all[2] = { 0, 0 }; /* tables that are open for every address already */

	for (uint32_t i = 0; i < b->spec->n; i++) {
		const struct sl_cls_rule *r = &b->spec->rules[i];
		uint8_t t = b->tuple[b->tuple_of[i]].table;

		if (t == LIST || !place(b, i, &h->table[t])) {
			b->on_list[i] = 1;
			b->n_list++;
			continue;
		}
		for (unsigned int dst = 0; dst < 2; dst++) {
			const struct sl_cls_addr *mask = dst ? &r->dst_mask : &r->src_mask;
			bool any = cls_prefix_len(h->cls.family, mask) == 0;

			if (all[dst] >> t & 1)
				continue;
			open_filter(h, r, dst, t);
			if (any)
				all[dst] |= 1ULL << t;
		}
	}
}

static int make_list(struct builder *b)
{
	struct sl_cls_rule *rules;
	struct sl_cls_spec spec = { .family = b->spec->family };
	int ret;

	if (b->n_list == 0)
		return 0;
	rules = calloc(b->n_list, sizeof(*rules));
	if (rules == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->spec->n; i++)
		if (b->on_list[i])
			rules[spec.n++] = b->spec->rules[i];
	spec.rules = rules;
	b->h->list_min = rules[0].label;
	ret = sl_cls_linear.build(&spec, &b->h->list);
	free(rules);
	if (ret == 0)
		snprintf(b->h->cls.note, sizeof(b->h->cls.note), "%u rules on the linear list",
				b->n_list);
	return ret;
}

static int lay_out(struct builder *b)
{
	struct hashed *h = b->h;
	uint32_t n = b->spec->n;
	size_t filter;
	int ret;

	h->filter_bits = n > 20000 ? 16 : 12;
	filter = sizeof(**h->filter) << h->filter_bits;
	/* buckets: at most one for two rules and one a table; overflow: not more than one a rule */
	ret = cls_arena_create(&h->arena,
			2 * filter + n * (sizeof(*h->rules) + 2 * sizeof(struct hashed_bucket))
					+ HASHED_TABLES * 128 + 4096,
			n > 2000);
	if (ret < 0)
		return ret;
	h->filter[0] = cls_arena_take(&h->arena, filter);
	h->filter[1] = cls_arena_take(&h->arena, filter);
	h->rules = cls_arena_take(&h->arena, n * sizeof(*h->rules));
	if (n > 0)
		memcpy(h->rules, b->spec->rules, n * sizeof(*h->rules));
	merge(b);
	assign_tuples(b);
	ret = make_tables(b);
	if (ret < 0)
		return ret;
	/* last, so that only what is used counts */
	h->overflow = (struct hashed_bucket *)(void *)(h->arena.base + h->arena.used);
	place_all(b);
	if (cls_arena_take(&h->arena, (b->overflow_used + 1) * sizeof(*h->overflow)) == NULL)
		return -ENOMEM;
	return make_list(b);
}

void hashed_free(struct sl_cls *cls)
{
	struct hashed *h = (struct hashed *)cls;

	if (h->list != NULL)
		h->list->ops->free(h->list);
	cls_arena_destroy(&h->arena);
	free(h);
}

static int create_builder(const struct sl_cls_spec *spec, struct builder *b)
{
	*b = (struct builder){ .spec = spec };
	b->crowd_mask = rte_align32pow2(spec->n * 2 + 2) - 1;
	b->h = calloc(1, sizeof(*b->h));
	b->tuple_of = calloc(spec->n + 1, sizeof(*b->tuple_of));
	b->on_list = calloc(spec->n + 1, sizeof(*b->on_list));
	b->crowd = calloc(b->crowd_mask + 1, sizeof(*b->crowd));
	return b->h && b->tuple_of && b->on_list && b->crowd ? 0 : -ENOMEM;
}

int hashed_build(const struct sl_cls_spec *spec, struct sl_cls **cls)
{
	struct builder b;
	int ret;

	ret = cls_spec_check(spec);
	if (ret < 0)
		return ret;
	ret = create_builder(spec, &b);
	if (ret < 0)
		goto out;
	b.h->cls = (struct sl_cls){ .ops = &sl_cls_hashed, .family = spec->family, .n = spec->n };
	if (getrandom(b.h->seed, sizeof(b.h->seed), 0) != (ssize_t)sizeof(b.h->seed)) {
		ret = -EIO;
		goto out;
	}
	ret = lay_out(&b);
	if (ret < 0)
		goto out;
	*cls = &b.h->cls;
	b.h = NULL;
out:
	if (b.h != NULL)
		hashed_free(&b.h->cls);
	free(b.tuple_of);
	free(b.on_list);
	free(b.crowd);
	return ret;
}
