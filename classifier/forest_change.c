/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change goes down all windows that the rule's box is in, with the region narrowed as in building.
 * A leaf is never written: a new one is made (by the builder, when it grows) and one store of 8 bytes
 * a slot puts it in place. An array that other slots point to as well is copied first. The lowest
 * label of an element only ever falls, which keeps it a bound. What nothing points to any more waits
 * for a grace period.
 */
#include "classifier/forest_change.h"

#include "classifier/forest_build.h"

#include <errno.h>
#include <string.h>

/* slots and lines that one change may visit */
#define WORK_MAX 128U
/* rules of a leaf from where on the builder may split it */
#define SPLIT_RULES 12U
/* entries that it may make of one rule */
#define SPLIT_COPIES 8ULL

/* slots and lines that a change would visit; stops above @limit */
static uint32_t work(
		const struct forest *f, uint64_t e, const struct sl_cls_rule *r, uint32_t limit)
{
	const uint64_t *slot = f->elem + FOREST_BASE(e);
	uint32_t first = 0, many, mask, n = 1;
	uint64_t last = 0, before = 0; /* the subtree that several slots share is visited once */
	struct forest_cut cut;

	if (e & FOREST_LEAF)
		return FOREST_BLOCKS(e) >= FOREST_LONG - 1 ? limit + 1 : 1 + FOREST_BLOCKS(e) / 4;
	cut = forest_cut_of(f, e);
	many = 1U << cut.width;
	mask = many - 1;
	(void)forest_cut_slots(&cut, forest_span(f, r, cut.field), &first, &many);
	for (uint32_t i = 0; i < many && n <= limit; i++) {
		uint64_t below = slot[(first + i) & mask];

		if (below == last || below == before)
			continue;
		before = last;
		last = below;
		n += work(f, below, r, limit - n);
	}
	return n;
}

/* entries of @from with the change made, into @to; Return: their number */
static uint32_t edit_entries(const struct forest_change *c, const void *from, uint32_t n, void *to)
{
	uint32_t label = c->rule->label, m = 0;
	bool placed = !c->add;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t l = forest_leaf_label(c->f, from, i);

		if (!c->add && l == label)
			continue;
		if (!placed && l > label) {
			forest_leaf_set(c->f, to, m++, c->slot);
			placed = true;
		}
		forest_leaf_copy(c->f, to, m++, from, i);
	}
	if (!placed)
		forest_leaf_set(c->f, to, m++, c->slot);
	return m;
}

static bool meets(const struct forest *f, const struct sl_cls_rule *r,
		const struct forest_region *region)
{
	for (unsigned int k = 0; k < f->fields; k++) {
		struct forest_span s = forest_clip(forest_span(f, r, k), region, k);

		if (s.lo > s.hi)
			return false;
	}
	return true;
}

/* Adds the slots of a label's boxes that are in the same tree and in @region. Return: their number. */
static uint32_t collect_label(const struct forest_change *c, uint32_t label,
		const struct forest_region *region, uint32_t *ids, uint32_t n)
{
	const struct forest *f = c->f;
	unsigned int group = forest_group(f, c->rule);

	for (uint32_t s = f->slot_of[label]; s != 0; s = f->next[s - 1]) {
		const struct sl_cls_rule *r = &f->rules[s - 1];
		bool here = (f->slot_where[s - 1] & FOREST_IN_TREE) != 0 || s - 1 == c->slot;

		if (here && n < FOREST_LEAF_MAX && forest_group(f, r) == group
				&& meets(f, r, region))
			ids[n++] = s - 1;
	}
	return n;
}

/* slots of the entries of a leaf and of the new box, labels ascending */
static uint32_t collect(const struct forest_change *c, uint64_t e,
		const struct forest_region *region, uint32_t *ids)
{
	const struct forest *f = c->f;
	uint32_t count = forest_leaf_count(f, e), label = c->rule->label, n = 0, last = SL_CLS_MISS;
	const void *leaf = forest_leaf_at(f, e);
	bool placed = false;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t l = forest_leaf_label(f, leaf, i);

		if (!placed && l >= label) {
			n = collect_label(c, label, region, ids, n);
			placed = true;
		}
		if (l != last && l != label)
			n = collect_label(c, l, region, ids, n);
		last = l;
	}
	return placed ? n : collect_label(c, label, region, ids, n);
}

/*
 * The rules of a leaf as a tree. Return: false if the builder ran out of memory or copied too much;
 * what it has made by then is given back, nothing points at it yet.
 */
static bool split_leaf(struct forest_change *c, const uint32_t *ids, uint32_t n,
		const struct forest_region *region, unsigned int depth, uint64_t *tree)
{
	struct forest_builder *b = c->f->scratch;

	b->err = 0;
	b->over = false;
	b->entries = 0;
	b->budget = SPLIT_COPIES * n;
	*tree = forest_build_tree(b, ids, n, region, depth);
	if (b->err == 0 && !b->over)
		return true;
	forest_ref(c->f, *tree, 1);
	forest_unref(c->f, *tree, 1);
	return false;
}

static uint64_t change_leaf(struct forest_change *c, uint64_t e, const struct forest_region *region,
		unsigned int depth)
{
	struct forest *f = c->f;
	uint32_t n = forest_leaf_count(f, e), blocks, unit;
	const void *from = forest_leaf_at(f, e);
	void *to;

	if (c->add && n + 1 > SPLIT_RULES) {
		uint32_t ids[FOREST_LEAF_MAX], m = collect(c, e, region, ids);
		uint64_t tree;

		if (m < FOREST_LEAF_MAX && split_leaf(c, ids, m, region, depth, &tree))
			return tree;
	}
	blocks = forest_leaf_blocks(n + c->add);
	unit = forest_pool_take(&f->pool, blocks * (uint32_t)(forest_block_size(f) / 64));
	if (unit == 0) {
		c->err = -ENOSPC;
		return e;
	}
	to = f->elem + unit * 8;
	memset(to, 0, blocks * forest_block_size(f));
	n = edit_entries(c, from, n, to);
	if (n == 0) {
		forest_pool_give(&f->pool, unit, blocks * (uint32_t)(forest_block_size(f) / 64));
		return forest_leaf_elem(f, 0, 0, 0);
	}
	for (uint32_t i = n; i < blocks * 4; i++)
		forest_leaf_pad(f, to, i);
	/* a removal may leave a block more than the entries need; that many were taken */
	return (forest_leaf_elem(f, unit, n, forest_leaf_label(f, to, 0)) & ~(0xffULL << 32))
			| (uint64_t)blocks << 32;
}

static uint64_t copy_array(struct forest_change *c, uint64_t e)
{
	struct forest *f = c->f;
	uint32_t unit = forest_pool_take(&f->pool, forest_piece_units(f, e));
	const uint64_t *from = f->elem + FOREST_BASE(e);
	uint64_t *to = f->elem + unit * 8;

	if (unit == 0) {
		c->err = -ENOSPC;
		return e;
	}
	for (uint32_t i = 0; i < 1U << FOREST_WIDTH(e); i++) {
		to[i] = from[i];
		forest_ref(f, to[i], 1);
	}
	return (e & ~0xfffffffULL) | (uint64_t)unit * 8;
}

/* slots of one array that hold the same element and are changed as one */
struct run {
	uint64_t *slot;
	uint32_t first, n; /* neighbours */
	/* with apart > 0 also the equal ones among the @apart slots from @apart_first on, round the end */
	uint32_t apart_first, apart, mask;
};

static uint64_t change_node(struct forest_change *c, uint64_t e, struct forest_region *region,
		bool copy, unsigned int depth);

static void store_run(const struct run *r, uint64_t old, uint64_t new)
{
	for (uint32_t i = 0; i < r->n; i++)
		__atomic_store_n(&r->slot[r->first + i], new, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < r->apart; i++) {
		uint64_t *slot = &r->slot[(r->apart_first + i) & r->mask];

		if (*slot == old)
			__atomic_store_n(slot, new, __ATOMIC_RELEASE);
	}
}

/* @count: slots of the run. Return: what they hold now. */
static uint64_t change_run(struct forest_change *c, const struct run *r, uint32_t count,
		const struct forest_region *region, unsigned int depth)
{
	struct forest_region below = *region;
	uint64_t old = r->slot[r->first], new;
	struct forest *f = c->f;

	if (old & FOREST_LEAF)
		new = change_leaf(c, old, &below, depth);
	else
		new = change_node(
				c, old, &below, f->pool.refs[FOREST_BASE(old) / 8] != count, depth);
	if (new == old)
		return old;
	if (FOREST_BASE(new) != FOREST_BASE(old))
		forest_ref(f, new, count);
	store_run(r, old, new);
	if (FOREST_BASE(new) != FOREST_BASE(old))
		forest_unref(f, old, count);
	return new;
}

/* slots from @from on, of @many round the end, that hold @e */
static uint32_t count_equal(
		const uint64_t *slot, uint64_t e, uint32_t from, uint32_t many, uint32_t mask)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < many; i++)
		n += slot[(from + i) & mask] == e;
	return n;
}

/* The @many slots from @first on, round the end. Slots with the same element are changed as one where
 * nothing else points at it, so that what building shared stays shared. */
static void change_slots(struct forest_change *c, uint64_t *slot, uint32_t first, uint32_t many,
		const struct forest_cut *cut, const struct forest_region *region,
		unsigned int depth)
{
	uint32_t mask = (1U << cut->width) - 1;
	uint64_t done = 0; /* put into slots further on already */

	for (uint32_t i = 0; i < many && c->err == 0;) {
		struct run r = { .slot = slot, .first = (first + i) & mask, .n = 1, .mask = mask };
		struct forest_region below = *region;
		uint64_t e = slot[r.first];
		uint32_t refs = c->f->pool.refs[FOREST_BASE(e) / 8];

		while (i + r.n < many && r.first + r.n <= mask && slot[r.first + r.n] == e)
			r.n++;
		i += r.n;
		if (e == done && done != 0)
			continue;
		if (refs > r.n && done == 0 && refs <= many
				&& count_equal(slot, e, first + i, many - i, mask) + r.n == refs) {
			r.apart_first = first + i;
			r.apart = many - i;
			done = change_run(c, &r, refs, &below, depth);
			continue;
		}
		forest_region_narrow(&below, cut, r.first, r.first + r.n - 1);
		change_run(c, &r, r.n, &below, depth);
	}
}

/*
 * Return: the element to put in place of @e, not counted as a reference where its base is new.
 * @copy: other elements point at the array too.
 */
static uint64_t change_node(struct forest_change *c, uint64_t e, struct forest_region *region,
		bool copy, unsigned int depth)
{
	struct forest *f = c->f;
	struct forest_cut cut = forest_cut_of(f, e);
	struct forest_span s = forest_clip(forest_span(f, c->rule, cut.field), region, cut.field);
	uint32_t first = 0, many = 1U << cut.width;

	if (s.lo > s.hi)
		return e;
	if (copy)
		e = copy_array(c, e);
	if (c->err != 0)
		return e;
	(void)forest_cut_slots(&cut, s, &first, &many);
	region->used[cut.field] |= ((1ULL << cut.width) - 1) << cut.start;
	change_slots(c, f->elem + FOREST_BASE(e), first, many, &cut, region, depth + 1);
	if (c->add && c->rule->label >> f->label_shift < FOREST_MIN(e))
		e = forest_with_min(e, c->rule->label >> f->label_shift);
	return e;
}

int forest_change_tree(struct forest_change *c)
{
	struct forest *f = c->f;
	/* the root is an array of one slot */
	const struct run root = { .slot = &f->root[forest_group(f, c->rule)], .n = 1 };
	struct forest_region all;

	forest_region_all(f, &all);
	change_run(c, &root, 1, &all, 1);
	return c->err;
}

bool forest_change_fits(const struct forest *f, const struct sl_cls_rule *r)
{
	return forest_pool_room(&f->pool) >= FOREST_RESERVE
			&& work(f, f->root[forest_group(f, r)], r, WORK_MAX) <= WORK_MAX;
}
