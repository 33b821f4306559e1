/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk of a batch through the trees, one body for both instruction sets: who includes this has
 * defined cut_window(), scan_line() and scan_block() before.
 *
 * All keys go down in lock step, so that the load of one level is under way while the others are
 * looked at. A key leaves a tree as soon as the lowest label below cannot better what it has.
 * `general` compiles the variant that knows `from` and verification.
 */
#include "classifier/forest.h"

#include <rte_prefetch.h>

struct forest_query {
	const struct forest *f;
	const void *keys;
	unsigned int n;
	const uint32_t *from; /* general only, never NULL there */
	const struct sl_cls_verify *verify; /* general only */
	uint32_t *best; /* label, or "none": 0xfffe once shifted */
};

static __rte_always_inline const uint64_t *key_at(const struct forest_query *q, uint32_t i, bool v6)
{
	if (v6)
		return ((const struct sl_cls_key6 *)q->keys)[i].half;
	return ((const struct sl_cls_key4 *)q->keys)[i].half;
}

/* index of the element that key @i takes below @e */
static __rte_always_inline uint32_t step(
		const struct forest_query *q, uint64_t e, uint32_t i, bool v6)
{
	uint32_t half = (uint32_t)(e >> FOREST_HALF_SHIFT) & 7;
	uint32_t at = FOREST_BASE(e) + (uint32_t)cut_window(key_at(q, i, v6)[half], e);

	rte_prefetch0(q->f->elem + at);
	if (v6) /* the second line, should it be a leaf */
		rte_prefetch0(q->f->elem + at + 8);
	return at;
}

static __rte_always_inline uint64_t load_elem(const uint64_t *e)
{
	return __atomic_load_n(e, __ATOMIC_RELAXED);
}

/* @first: no key has a label yet */
static __rte_always_inline void walk_tree(
		const struct forest_query *q, uint64_t root, bool first, bool general, bool v6)
{
	const struct forest *f = q->f;
	const uint32_t shift = f->label_shift;
	uint64_t item[SL_CLS_BURST], leaf[SL_CLS_BURST];
	uint8_t who[SL_CLS_BURST];
	uint32_t n = 0, leaves = 0;

	for (uint32_t i = 0; i < q->n; i++) {
		uint32_t go = first || q->best[i] > FOREST_MIN(root) << shift;

		if (root & FOREST_LEAF) {
			leaf[leaves] = root;
			who[leaves] = (uint8_t)i;
			leaves += go;
		} else {
			item[n] = (uint64_t)i << 32 | step(q, root, i, v6);
			n += go;
		}
	}
	while (n > 0) {
		uint32_t left = 0;

		for (uint32_t j = 0; j < n; j++) {
			uint32_t i = (uint32_t)(item[j] >> 32);
			uint64_t e = load_elem(f->elem + (uint32_t)item[j]);
			uint32_t at = step(q, e, i, v6);
			uint32_t is_leaf = (uint32_t)e >> 31;
			uint32_t go = first ? FOREST_MIN(e) != FOREST_EMPTY
					    : q->best[i] > FOREST_MIN(e) << shift;

			/* stored either way, counted where it holds: no branch to guess */
			item[left] = (uint64_t)i << 32 | at;
			left += go & !is_leaf;
			leaf[leaves] = e;
			who[leaves] = (uint8_t)i;
			leaves += go & is_leaf;
		}
		n = left;
	}
	for (uint32_t j = 0; j < leaves; j++) {
		uint32_t i = who[j];

		q->best[i] = v6 ? scan_block(q, leaf[j], i, general)
				: scan_line(q, leaf[j], i, general);
	}
}

static __rte_always_inline void walk_trees(const struct forest_query *q, bool general, bool v6)
{
	bool first = true;

	for (unsigned int g = 0; g < FOREST_GROUPS; g++) {
		uint64_t root = load_elem(&q->f->root[g]);

		if (FOREST_MIN(root) == FOREST_EMPTY)
			continue;
		if (first)
			walk_tree(q, root, true, general, v6);
		else
			walk_tree(q, root, false, general, v6);
		first = false;
	}
}

/* the trees alone, without the overlay */
static void walk_forest(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out)
{
	static const uint32_t start[SL_CLS_BURST];
	const struct forest *f = (const struct forest *)cls;
	const uint32_t none = (0xffffU << f->label_shift) - 1;
	struct forest_query q = { f, keys, n, from == NULL ? start : from, verify, out };
	bool general = from != NULL || __atomic_load_n(&f->verify, __ATOMIC_RELAXED);

	for (unsigned int i = 0; i < n; i++)
		out[i] = none;
	if (cls->family == SL_AF_INET) {
		if (general)
			walk_trees(&q, true, false);
		else
			walk_trees(&q, false, false);
	} else {
		if (general)
			walk_trees(&q, true, true);
		else
			walk_trees(&q, false, true);
	}
	for (unsigned int i = 0; i < n; i++)
		out[i] = out[i] == none ? SL_CLS_MISS : out[i];
}

static __rte_always_inline void lookup_forest(const struct sl_cls *cls, const void *keys,
		unsigned int n, const uint32_t *from, const struct sl_cls_verify *verify,
		uint32_t *out)
{
	const struct forest *f = (const struct forest *)cls;
	const struct forest_overlay *o = __atomic_load_n(&f->overlay, __ATOMIC_ACQUIRE);

	walk_forest(cls, keys, n, from, verify, out);
	if (unlikely(o != NULL))
		forest_overlay_lookup(f, o, walk_forest, keys, n, from, verify, out);
}
