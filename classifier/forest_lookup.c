/* SPDX-License-Identifier: BSD-3-Clause */
/* The forest's look-up in plain C, and the parts of it that no instruction set makes faster. */
#include "classifier/forest.h"
#include "classifier/rule.h"

#include <rte_branch_prediction.h>

struct forest_query;

static __rte_always_inline uint64_t cut_window(uint64_t half, uint64_t e)
{
	/* in a leaf the start is a number of blocks and the width 0 */
	return half >> (FOREST_START(e) & 63) & ((1ULL << FOREST_WIDTH(e)) - 1);
}

static inline uint32_t scan_line(
		const struct forest_query *q, uint64_t e, uint32_t i, bool general);
static inline uint32_t scan_block(
		const struct forest_query *q, uint64_t e, uint32_t i, bool general);

#include "classifier/forest_walk.h"

static bool in_service(const struct forest *f, uint32_t service, const uint16_t *lanes)
{
	const struct forest_service *s = &f->service[service & ~FOREST_VERIFY];

	for (unsigned int l = 0; l < FOREST_LANES; l++)
		if ((uint16_t)(lanes[l] - s->lo[l]) > s->span[l])
			return false;
	return true;
}

/* whether two values agree but for their lowest @wild bits, 0..64 */
static bool agree(uint64_t a, uint64_t b, unsigned int wild)
{
	return wild >= 64 || (a ^ b) >> wild == 0;
}

/* Return: whether the entry is the answer; its box matched. */
static bool settled(const struct forest_query *q, uint32_t service, uint32_t label, uint32_t i)
{
	if (label < q->from[i])
		return false;
	return (service & FOREST_VERIFY) == 0 || forest_confirm(q->f, label, q->keys, i, q->verify);
}

static inline uint32_t scan_line(const struct forest_query *q, uint64_t e, uint32_t i, bool general)
{
	const struct sl_cls_key4 *k = (const struct sl_cls_key4 *)q->keys + i;
	const struct forest_line *l = (const void *)(q->f->elem + FOREST_BASE(e));

	for (uint32_t j = 0; FOREST_BLOCKS(e) == FOREST_LONG || j < FOREST_BLOCKS(e) * 4; j++) {
		uint32_t label = l[j / 4].label[j % 4], meta = l[j / 4].meta[j % 4];

		if (label >= q->best[i])
			break;
		if (!agree(k->src, l[j / 4].src[j % 4], meta & 0xff)
				|| !agree(k->dst, l[j / 4].dst[j % 4], meta >> 8 & 0xff)
				|| !in_service(q->f, meta >> 16, &k->sport))
			continue;
		if (!general || settled(q, meta >> 16, label, i))
			return label;
	}
	return q->best[i];
}

static inline uint32_t scan_block(
		const struct forest_query *q, uint64_t e, uint32_t i, bool general)
{
	const struct sl_cls_key6 *k = (const struct sl_cls_key6 *)q->keys + i;
	const struct forest_block *block = (const void *)(q->f->elem + FOREST_BASE(e));

	for (uint32_t j = 0; FOREST_BLOCKS(e) == FOREST_LONG || j < FOREST_BLOCKS(e) * 4; j++) {
		const struct forest_block *b = &block[j / 4];
		uint32_t label = b->label[j % 4];

		if (label >= q->best[i])
			break;
		if (!agree(k->src.hi, b->src_hi[j % 4], b->src_hi_wild[j % 4])
				|| !agree(k->dst.hi, b->dst_hi[j % 4], b->dst_hi_wild[j % 4])
				|| !agree(k->src.lo, b->src_lo[j % 4], b->src_lo_wild[j % 4])
				|| !agree(k->dst.lo, b->dst_lo[j % 4], b->dst_lo_wild[j % 4])
				|| !in_service(q->f, b->service[j % 4], &k->sport))
			continue;
		if (!general || settled(q, b->service[j % 4], label, i))
			return label;
	}
	return q->best[i];
}

void forest_lookup_plain(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out)
{
	lookup_forest(cls, keys, n, from, verify, out);
}

bool forest_confirm(const struct forest *f, uint32_t label, const void *keys, unsigned int i,
		const struct sl_cls_verify *verify)
{
	uint32_t slot = __atomic_load_n(&f->slot_of[label], __ATOMIC_ACQUIRE);

	for (; slot != 0; slot = __atomic_load_n(&f->next[slot - 1], __ATOMIC_ACQUIRE)) {
		const struct sl_cls_rule *r = &f->rules[slot - 1];

		if (cls_rule_match(f->cls.family, r, keys, i) && cls_verified(r, verify, i))
			return true;
	}
	return false;
}

static bool is_dead(const struct forest_overlay *o, uint32_t label)
{
	for (uint32_t i = 0; i < o->n_dead; i++)
		if (o->dead[i] == label)
			return true;
	return false;
}

void forest_overlay_lookup(const struct forest *f, const struct forest_overlay *o,
		forest_lookup_fn *walk, const void *keys, unsigned int n, const uint32_t *from,
		const struct sl_cls_verify *verify, uint32_t *out)
{
	uint32_t added[SL_CLS_BURST];

	for (unsigned int i = 0; o->n_dead > 0 && i < n; i++) {
		/* behind a label that is not there any more the search goes on */
		while (out[i] != SL_CLS_MISS && is_dead(o, out[i])) {
			uint32_t behind[SL_CLS_BURST], again[SL_CLS_BURST];

			for (unsigned int j = 0; j < n; j++)
				behind[j] = j == i ? out[i] + 1 : SL_CLS_MISS;
			walk(&f->cls, keys, n, behind, verify, again);
			out[i] = again[i];
		}
	}
	if (o->linear == NULL)
		return;
	sl_cls_linear.lookup(o->linear, keys, n, from, verify, added);
	for (unsigned int i = 0; i < n; i++)
		out[i] = RTE_MIN(out[i], added[i]);
}
