/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which window of bits a node should cut, if any.
 *
 * A window of width w at bit s of a field sends the packet to one of 2^w children. A rule is a range in
 * every field, so it is in the children (lo >> s) to (hi >> s), modulo 2^w, or in all of them. With two
 * arrays of differences, one pass over a sample of the rules and one over the children give the
 * number of rules in every child, and what share of the packets that rules ask for comes there (each
 * rule weighs 1, spread over its children). The score is in cycles: a level, plus what a subtree of
 * that many rules costs on average, plus a charge for memory.
 */
#include "classifier/forest_build.h"

#include <math.h>
#include <string.h>

/* cycles, measured; within +-30 % they change little */
#define LEVEL_CYCLES 18.0F
#define LEAF_CYCLES 10.0F
#define BLOCK_CYCLES 14.0F

#define HOPELESS 1e9F
#define BEST 4 /* positions that are tried at every width */

/* a leaf with more rules than this gets guards */
#define GUARD_RULES 24
#define GUARD_WIDTH 6

struct choice {
	struct forest_cut cut;
	float score;
};

struct sample {
	uint32_t n;
	float scale; /* rules that one of the sample stands for */
	unsigned int top[FOREST_FIELDS_MAX]; /* bits from low to top - 1 tell rules apart */
	unsigned int low[FOREST_FIELDS_MAX];
};

static uint64_t ones(unsigned int n)
{
	return n >= 64 ? UINT64_MAX : (1ULL << n) - 1;
}

static void take_sample(struct forest_builder *b, const uint32_t *ids, uint32_t n,
		const struct forest_region *region, struct sample *s)
{
	s->n = RTE_MIN(n, (uint32_t)FOREST_SAMPLE);
	s->scale = (float)n / (float)s->n;
	for (unsigned int field = 0; field < b->f->fields; field++) {
		struct forest_span *span = b->sample[field];
		uint64_t differ = 0, reach = 0;

		for (uint32_t i = 0; i < s->n; i++) {
			const struct sl_cls_rule *r = &b->f->rules[ids[(uint64_t)i * n / s->n]];

			span[i] = forest_clip(forest_span(b->f, r, field), region, field);
			differ |= (span[i].lo ^ span[0].lo) | (span[i].hi ^ span[0].hi);
			reach |= (span[i].lo ^ span[0].lo) | (span[i].hi ^ span[0].lo);
		}
		s->low[field] = differ == 0 ? 0 : (unsigned int)__builtin_ctzll(differ);
		s->top[field] = differ == 0 ? 0 : 64 - (unsigned int)__builtin_clzll(reach);
	}
}

/* Counts the sample into the children's difference arrays. Return: rules in all children. */
static uint32_t spread(
		struct forest_builder *b, const struct sample *s, const struct forest_cut *cut)
{
	uint32_t mask = (1U << cut->width) - 1, full = 0;
	const struct forest_span *span = b->sample[cut->field];

	memset(b->count, 0, (mask + 2) * sizeof(*b->count));
	memset(b->share, 0, (mask + 2) * sizeof(*b->share));
	for (uint32_t i = 0; i < s->n; i++) {
		uint64_t lo = span[i].lo >> cut->start, n = (span[i].hi >> cut->start) - lo;
		uint32_t first = (uint32_t)lo & mask, last = (uint32_t)(lo + n) & mask;
		float share;

		if (n >= mask) {
			full++;
			continue;
		}
		share = b->recip[n];
		b->count[first]++;
		b->count[last + 1]--;
		b->share[first] += share;
		b->share[last + 1] -= share;
		if (first > last) {
			b->count[0]++;
			b->share[0] += share;
		}
	}
	return full;
}

static float score(struct forest_builder *b, const struct sample *s, const struct forest_cut *cut)
{
	uint32_t children = 1U << cut->width, full = spread(b, s, cut);
	float everywhere = (float)full / (float)children, weight = 0;
	float cycles = 0, rules = 0, lists = 0, growth, result;
	int32_t count = (int32_t)full;
	bool has_plain = false; /* a child with only the rules that are in all */

	if (full == s->n)
		return HOPELESS;
	for (uint32_t j = 0; j < children; j++) {
		uint32_t n;

		count += b->count[j];
		weight += b->share[j];
		if ((uint32_t)count == full)
			has_plain = true;
		else if (b->count[j] != 0 || j == 0)
			lists += (float)count;
		n = (uint32_t)((float)count * s->scale + 0.5F);
		cycles += (weight + everywhere) * b->cost[RTE_MIN(n, b->cost_n)];
		rules += (weight + everywhere) * (float)count;
	}
	/* a packet must get rid of a part of the rules */
	if (rules > (s->n > 32 ? b->progress : 0.65F) * (float)s->n * (float)s->n)
		return HOPELESS;
	if (has_plain)
		lists += (float)full;
	growth = (lists + 0.5F * (float)children / s->scale) / (float)s->n;
	result = LEVEL_CYCLES + cycles / (float)s->n;
	return growth > 1 ? result + b->lambda * log2f(growth) : result;
}

static void keep_best(struct choice *best, unsigned int *n, const struct choice *c)
{
	unsigned int j = *n;

	if (c->score >= HOPELESS)
		return;
	for (; j > 0 && best[j - 1].score > c->score; j--)
		if (j < BEST)
			best[j] = best[j - 1];
	if (j < BEST)
		best[j] = *c;
	*n = RTE_MIN(*n + 1, (unsigned int)BEST);
}

static bool is_cut(const struct forest_region *region, unsigned int field, unsigned int start,
		unsigned int width)
{
	return (region->used[field] >> start & ones(width)) != 0;
}

/* every position at one middle width; the best few */
static unsigned int try_positions(struct forest_builder *b, const struct sample *s,
		const struct forest_region *region, unsigned int width_max, struct choice *best)
{
	unsigned int middle = width_max > 8 ? 6 : (width_max + 1) / 2, n = 0;

	for (unsigned int field = 0; field < b->f->fields; field++) {
		unsigned int width, start, last, step;

		if (s->top[field] == 0)
			continue;
		width = RTE_MIN(middle, s->top[field]);
		start = s->top[field] - width;
		last = s->low[field] < start ? s->low[field] : start;
		/* halves of IPv6 addresses have many positions, prefixes mostly end on multiples of 4 */
		step = start - last > 32 ? 4 : 1;
		for (;; start -= step) {
			struct choice c = { { field, start, width }, 0 };

			if (!is_cut(region, field, start, width)) {
				c.score = score(b, s, &c.cut);
				keep_best(best, &n, &c);
			}
			if (start < last + step)
				break;
		}
	}
	return n;
}

/* other widths there, with the same upper or the same lower end */
static void try_widths(struct forest_builder *b, const struct sample *s,
		const struct forest_region *region, unsigned int width_max,
		const struct choice *position, struct choice *best)
{
	unsigned int field = position->cut.field;
	unsigned int end = position->cut.start + position->cut.width;

	for (unsigned int width = 1; width <= width_max; width++) {
		unsigned int starts[2] = { end - RTE_MIN(width, end), position->cut.start };

		if (width_max > 8 && width % 2 != 0)
			continue;
		for (unsigned int k = 0; k < 2; k++) {
			struct choice c = { { field, starts[k], width }, 0 };

			if (starts[k] + width > s->top[field]
					|| (k == 1 && width == position->cut.width)
					|| is_cut(region, field, starts[k], width))
				continue;
			c.score = score(b, s, &c.cut);
			if (c.score < best->score)
				*best = c;
		}
	}
}

/* A long leaf whose rules agree in bits that nobody has tested yet: test them, so that misses fall
 * out before the leaf. */
static bool guard(const struct forest *f, const uint32_t *ids, uint32_t n,
		const struct forest_region *region, struct forest_cut *cut)
{
	for (unsigned int field = 0; field < f->fields; field++) {
		struct forest_span a = forest_span(f, &f->rules[ids[0]], field);
		unsigned int low, bits = forest_fields(f)[field].bits;
		uint64_t differ = 0;

		for (uint32_t i = 0; i < n; i++) {
			struct forest_span s = forest_span(f, &f->rules[ids[i]], field);

			differ |= (s.lo ^ a.lo) | (s.lo ^ s.hi);
		}
		/* bits low and up are exact and the same in all rules */
		low = differ == 0 ? 0 : 64 - (unsigned int)__builtin_clzll(differ);
		for (unsigned int width = GUARD_WIDTH; width >= 3; width -= 3) {
			for (unsigned int start = low; start + width <= bits; start++) {
				if (is_cut(region, field, start, width))
					continue;
				*cut = (struct forest_cut){ field, start, width };
				return true;
			}
		}
	}
	return false;
}

bool forest_cut_choose(struct forest_builder *b, const uint32_t *ids, uint32_t n,
		const struct forest_region *region, struct forest_cut *cut)
{
	unsigned int width_max = 33 - (unsigned int)__builtin_clz(n), positions;
	struct choice position[BEST], best = { { 0, 0, 0 }, HOPELESS };
	struct sample s;

	width_max = RTE_MIN(width_max, (unsigned int)FOREST_WIDTH_MAX);
	take_sample(b, ids, n, region, &s);
	positions = try_positions(b, &s, region, width_max, position);
	for (unsigned int i = 0; i < positions; i++)
		try_widths(b, &s, region, width_max, &position[i], &best);
	if (best.score <= LEAF_CYCLES + BLOCK_CYCLES * (float)((n + 3) / 4)) {
		*cut = best.cut;
		return true;
	}
	return n > GUARD_RULES && guard(b->f, ids, n, region, cut);
}

void forest_region_narrow(struct forest_region *region, const struct forest_cut *cut,
		uint32_t first, uint32_t last)
{
	unsigned int end = cut->start + cut->width;
	uint64_t *lo = &region->lo[cut->field], *hi = &region->hi[cut->field];
	uint64_t above = ~ones(end), from, to;

	/* with several values above the window, its slots are no range */
	if ((*lo & above) != (*hi & above))
		return;
	from = (*lo & above) | (uint64_t)first << cut->start;
	to = (*lo & above) | (uint64_t)last << cut->start | ones(cut->start);
	from = RTE_MAX(from, *lo);
	to = RTE_MIN(to, *hi);
	if (from > to)
		return;
	*lo = from;
	*hi = to;
}
