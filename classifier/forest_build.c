/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Building trees: cut until a leaf is cheaper. Children that get the same list of rules share one
 * subtree, equal leaves share one piece of memory. Rules that lie across a cut are copied into
 * several children; a budget bounds that, and who overspends starts again with dearer memory and
 * fewer rules in the trees that separate well.
 */
#include "classifier/forest_build.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* rules that no cut can do better than */
#define LEAF_RULES 4
#define DEPTH_MAX 24
#define SEEN_MAX (1U << 20)

struct forest_seen {
	uint64_t elem; /* 0: free */
	uint64_t hash;
};

struct forest_builder *forest_builder_create(struct forest *f, uint32_t n, bool share)
{
	struct forest_builder *b = calloc(1, sizeof(*b));

	if (b == NULL)
		return NULL;
	b->f = f;
	b->lambda = 0.5F;
	b->progress = 0.85F;
	b->budget = UINT64_MAX;
	b->cost_n = n;
	b->cost = malloc((n + 1) * sizeof(*b->cost));
	if (b->cost == NULL)
		goto err;
	if (share) {
		b->seen_mask = RTE_MIN(RTE_MAX(rte_align32pow2(n * 4), 1024U), SEEN_MAX) - 1;
		b->seen = calloc(b->seen_mask + 1, sizeof(*b->seen));
		if (b->seen == NULL)
			goto err;
	}
	for (uint32_t i = 0; i <= n; i++)
		b->cost[i] = i == 0      ? 0
				: i <= 4 ? 24 - (float)(4 - i) * 1.5F
					 : 24 + 5 * log2f((float)i / 4);
	for (unsigned int i = 0; i < RTE_DIM(b->recip); i++)
		b->recip[i] = 1 / ((float)i + 1);
	return b;

err:
	forest_builder_free(b);
	return NULL;
}

void forest_builder_free(struct forest_builder *b)
{
	if (b == NULL)
		return;
	free(b->seen);
	free(b->cost);
	free(b);
}

static uint64_t hash_piece(const uint64_t *piece, size_t bytes)
{
	uint64_t h = bytes;

	for (size_t i = 0; i < bytes / sizeof(*piece); i++) {
		h = (h ^ piece[i]) * 0x9e3779b97f4a7c15;
		h ^= h >> 29;
	}
	return h;
}

/* Return: a leaf made earlier with the content of @e, or @e, which is then remembered. */
static uint64_t share_leaf(struct forest_builder *b, uint64_t e, size_t bytes)
{
	const void *leaf = forest_leaf_at(b->f, e);
	uint64_t h = hash_piece(leaf, bytes);
	uint32_t s = (uint32_t)(h >> 32) & b->seen_mask;

	for (; b->seen[s].elem != 0; s = (s + 1) & b->seen_mask) {
		uint64_t other = b->seen[s].elem;

		if (b->seen[s].hash == h && FOREST_BLOCKS(other) == FOREST_BLOCKS(e)
				&& memcmp(forest_leaf_at(b->f, other), leaf, bytes) == 0)
			return other;
	}
	if (b->seen_n < b->seen_mask / 2) {
		b->seen[s] = (struct forest_seen){ e, h };
		b->seen_n++;
	}
	return e;
}

static uint64_t make_leaf(struct forest_builder *b, const uint32_t *ids, uint32_t n)
{
	struct forest *f = b->f;
	size_t used = f->pool.arena.used, bytes;
	uint32_t blocks = forest_leaf_blocks(n), unit;
	uint64_t e, shared;
	void *leaf;

	if (n == 0)
		return forest_leaf_elem(f, 0, 0, 0);
	b->entries += n;
	if (b->entries > b->budget)
		b->over = true;
	bytes = blocks * forest_block_size(f);
	unit = forest_pool_take(&f->pool, (uint32_t)(bytes / 64));
	if (unit == 0) {
		b->err = -ENOSPC;
		return forest_leaf_elem(f, 0, 0, 0);
	}
	e = forest_leaf_elem(f, unit, n, f->rules[ids[0]].label);
	leaf = forest_leaf_at(f, e);
	if (b->seen == NULL) /* a piece used before */
		memset(leaf, 0, bytes);
	for (uint32_t i = 0; i < n; i++)
		forest_leaf_set(f, leaf, i, ids[i]);
	for (uint32_t i = n; i < blocks * 4; i++)
		forest_leaf_pad(f, leaf, i);
	if (b->seen == NULL)
		return e;
	shared = share_leaf(b, e, bytes);
	if (shared != e)
		cls_arena_rewind(&f->pool.arena, used);
	return shared;
}

/* a node while its rules are dealt out to the children */
struct deal {
	struct forest_cut cut;
	uint32_t slots;
	uint32_t plain; /* rules that are in all children */
	uint32_t *count; /* by slot: rules */
	uint32_t *first; /* by slot: where its list is in lists, or PLAIN */
	uint32_t *fill; /* by slot: next free place in its list */
	uint32_t *lists;
	uint8_t *change; /* by slot: not the list of the slot before */
};
#define PLAIN UINT32_MAX

static void count_rules(const struct forest_builder *b, const uint32_t *ids, uint32_t n,
		const struct forest_region *region, struct deal *d, int32_t *differ)
{
	for (uint32_t i = 0; i < n; i++) {
		struct forest_span s = forest_span(b->f, &b->f->rules[ids[i]], d->cut.field);
		uint32_t first, many, last;

		if (!forest_cut_slots(
				    &d->cut, forest_clip(s, region, d->cut.field), &first, &many)) {
			d->plain++;
			continue;
		}
		last = (first + many - 1) & (d->slots - 1);
		differ[first]++;
		differ[last + 1]--;
		d->change[first] = d->change[last + 1] = 1;
		if (first > last)
			differ[0]++;
	}
}

/* Lists are laid out for the first slot of every run of equal ones. Return: their length. */
static size_t place_lists(struct deal *d, const int32_t *differ)
{
	int32_t count = (int32_t)d->plain;
	size_t used = 0;

	for (uint32_t j = 0; j < d->slots; j++) {
		count += differ[j];
		d->count[j] = (uint32_t)count;
		if (d->count[j] == d->plain) {
			d->first[j] = PLAIN;
		} else if (j > 0 && !d->change[j]) {
			d->first[j] = d->first[j - 1];
		} else {
			d->first[j] = d->fill[j] = (uint32_t)used;
			used += d->count[j];
		}
	}
	return used;
}

static bool leads_list(const struct deal *d, uint32_t slot)
{
	return d->first[slot] != PLAIN && (slot == 0 || d->change[slot]);
}

/* Deals in the order of ids, so that every list ascends; the plain rules go behind the lists. */
static void fill_lists(const struct forest_builder *b, const uint32_t *ids, uint32_t n,
		const struct forest_region *region, const struct deal *d, uint32_t *plain)
{
	for (uint32_t i = 0; i < n; i++) {
		struct forest_span s = forest_span(b->f, &b->f->rules[ids[i]], d->cut.field);
		uint32_t first = 0, many = d->slots;

		if (!forest_cut_slots(&d->cut, forest_clip(s, region, d->cut.field), &first, &many))
			*plain++ = ids[i];
		for (uint32_t j = 0; j < many; j++) {
			uint32_t slot = (first + j) & (d->slots - 1);

			if (leads_list(d, slot))
				d->lists[d->fill[slot]++] = ids[i];
		}
	}
}

/* Return: the memory of all arrays of @d, to be freed; NULL without memory. */
static void *deal_rules(const struct forest_builder *b, const uint32_t *ids, uint32_t n,
		const struct forest_region *region, struct deal *d, uint32_t **plain)
{
	uint32_t slots = 1U << d->cut.width;
	size_t used;
	uint32_t *mem;
	int32_t *differ;

	d->slots = slots;
	mem = calloc((size_t)slots * 4 + 1 + (slots + 1 + 3) / 4, sizeof(*mem));
	if (mem == NULL)
		return NULL;
	d->count = mem;
	d->first = mem + slots;
	d->fill = mem + 2 * (size_t)slots;
	differ = (int32_t *)(mem + 3 * (size_t)slots);
	d->change = (uint8_t *)(mem + 4 * (size_t)slots + 1);
	count_rules(b, ids, n, region, d, differ);
	used = place_lists(d, differ);
	d->lists = malloc((used + d->plain + 1) * sizeof(*d->lists));
	if (d->lists == NULL) {
		free(mem);
		return NULL;
	}
	*plain = d->lists + used;
	fill_lists(b, ids, n, region, d, *plain);
	return mem;
}

static void build_children(struct forest_builder *b, const struct forest_region *region,
		unsigned int depth, const struct deal *d, const uint32_t *plain, uint64_t *slot)
{
	uint64_t shared = 0;
	bool have_shared = false;

	for (uint32_t j = 0; j < d->slots;) {
		struct forest_region below = *region;
		uint32_t end = j + 1;
		uint64_t e;

		while (end < d->slots && !d->change[end])
			end++;
		if (d->first[j] != PLAIN) {
			forest_region_narrow(&below, &d->cut, j, end - 1);
			e = forest_build_tree(
					b, d->lists + d->first[j], d->count[j], &below, depth + 1);
		} else {
			/* slots with only the plain rules share a subtree, so its region stays whole */
			if (!have_shared)
				shared = forest_build_tree(b, plain, d->plain, &below, depth + 1);
			have_shared = true;
			e = shared;
		}
		forest_ref(b->f, e, end - j);
		for (; j < end; j++)
			slot[j] = e;
	}
}

static uint64_t build_node(struct forest_builder *b, const uint32_t *ids, uint32_t n,
		struct forest_region *region, unsigned int depth, const struct forest_cut *cut)
{
	const struct forest_field *field = &forest_fields(b->f)[cut->field];
	struct deal d = { .cut = *cut };
	uint32_t unit, *plain;
	void *mem;

	unit = forest_pool_take(&b->f->pool, RTE_MAX((8U << cut->width) / 64, 1U));
	mem = deal_rules(b, ids, n, region, &d, &plain);
	if (unit == 0 || mem == NULL) {
		b->err = unit == 0 ? -ENOSPC : -ENOMEM;
		if (mem != NULL)
			free(d.lists);
		free(mem);
		return forest_leaf_elem(b->f, 0, 0, 0);
	}
	region->used[cut->field] |= (uint64_t)(d.slots - 1) << cut->start;
	build_children(b, region, depth, &d, plain, b->f->elem + unit * 8);
	free(d.lists);
	free(mem);
	return (uint64_t)unit * 8 | (uint64_t)field->half << FOREST_HALF_SHIFT
			| (uint64_t)(field->start + cut->start) << 32 | (uint64_t)cut->width << 40
			| (uint64_t)(b->f->rules[ids[0]].label >> b->f->label_shift) << 48;
}

uint64_t forest_build_tree(struct forest_builder *b, const uint32_t *ids, uint32_t n,
		const struct forest_region *region, unsigned int depth)
{
	struct forest_region here = *region;
	struct forest_cut cut;

	if (n <= LEAF_RULES || depth > DEPTH_MAX || b->over || b->err != 0
			|| !forest_cut_choose(b, ids, n, region, &cut))
		return make_leaf(b, ids, n);
	return build_node(b, ids, n, &here, depth, &cut);
}

/* what a try begins with: only the empty leaf in the pool */
static int start_over(struct forest *f)
{
	void *leaf;

	if (f->pool.arena.base != NULL)
		forest_pool_destroy(&f->pool);
	if (forest_pool_create(&f->pool, f->cls.n) < 0)
		return -ENOMEM;
	leaf = cls_arena_take(&f->pool.arena, forest_block_size(f));
	if (leaf == NULL)
		return -ENOMEM;
	f->elem = leaf;
	for (uint32_t i = 0; i < 4; i++)
		forest_leaf_pad(f, leaf, i);
	f->pool.refs[0] = 1; /* for good */
	return 0;
}

static int build_groups(struct forest_builder *b, uint32_t *ids)
{
	struct forest *f = b->f;
	struct forest_region all;

	forest_region_all(f, &all);
	for (unsigned int g = 0; g < FOREST_GROUPS; g++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < f->cls.n; i++)
			if (forest_group(f, &f->rules[i]) == g)
				ids[n++] = i;
		f->root[g] = forest_build_tree(b, ids, n, &all, 1);
		forest_ref(f, f->root[g], 1);
		if (b->err != 0)
			return b->err;
	}
	return 0;
}

int forest_build_all(struct forest *f)
{
	static const struct {
		unsigned int long4, long6; /* prefixes that count as long */
		float lambda, progress;
	} tries[] = { { 12, 32, 0.5F, 0.85F }, { 8, 24, 1, 0.85F }, { 8, 24, 4, 0.65F },
		{ 4, 12, 8, 0.65F } };
	uint64_t last = RTE_MIN(100ULL * f->cls.n + 500000, 4000000ULL);
	/* rules that separate well are copied five times on average: who needs more is to fail soon */
	uint64_t first = RTE_MIN(12ULL * f->cls.n + 50000, last);
	uint32_t *ids = malloc((f->cls.n + 1) * sizeof(*ids));
	int ret = -ENOMEM;

	if (ids == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < RTE_DIM(tries); i++) {
		struct forest_builder *b = forest_builder_create(f, f->cls.n, true);
		bool over;

		ret = b == NULL ? -ENOMEM : start_over(f);
		if (ret < 0) {
			forest_builder_free(b);
			break;
		}
		f->long_prefix = f->cls.family == SL_AF_INET ? tries[i].long4 : tries[i].long6;
		b->lambda = tries[i].lambda;
		b->progress = tries[i].progress;
		b->budget = i < 2 ? first : last;
		ret = build_groups(b, ids);
		over = b->over;
		forest_builder_free(b);
		/* the last one stays as it is, its leaves may be long */
		if (!over && ret != -ENOSPC)
			break;
	}
	free(ids);
	return ret;
}
