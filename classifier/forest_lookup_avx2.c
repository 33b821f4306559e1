/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The forest's look-up for AVX2 and BMI: BEXTR cuts the window, the four rules of a block are tested
 * at once and there is no branch but "hit" and "another block".
 */
#include "classifier/forest.h"

#include <rte_branch_prediction.h>

#include <immintrin.h>

struct forest_query;

static __rte_always_inline uint64_t cut_window(uint64_t half, uint64_t e)
{
	return __builtin_ia32_bextr_u64(half, e >> 32);
}

static __rte_always_inline uint32_t scan_line(
		const struct forest_query *q, uint64_t e, uint32_t i, bool general);
static __rte_always_inline uint32_t scan_block(
		const struct forest_query *q, uint64_t e, uint32_t i, bool general);

#include "classifier/forest_walk.h"

static inline __m128i load(const void *p)
{
	return _mm_load_si128(p);
}

/* Four lanes of 32 bits, 0 where the key is in all ranges of the service. @key: the lanes, twice. */
static __rte_always_inline __m128i outside(const struct forest_service *service, __m128i key,
		uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	__m128i va = load(&service[a]), vb = load(&service[b]);
	__m128i vc = load(&service[c]), vd = load(&service[d]);
	__m128i x = _mm_subs_epu16(
			_mm_sub_epi16(key, _mm_unpacklo_epi64(va, vb)), _mm_unpackhi_epi64(va, vb));
	__m128i y = _mm_subs_epu16(
			_mm_sub_epi16(key, _mm_unpacklo_epi64(vc, vd)), _mm_unpackhi_epi64(vc, vd));

	return _mm_packs_epi16(x, y);
}

static __rte_always_inline __m128i at_least(__m128i label, uint32_t from)
{
	__m128i max = _mm_max_epu32(label, _mm_set1_epi32((int)from));

	return _mm_cmpeq_epi32(max, label);
}

/* The first entry of the block's @mask that is better than @best and confirmed; @best if none is. */
static uint32_t settle(const struct forest_query *q, uint32_t mask, const uint32_t *label,
		uint32_t verify, uint32_t i, uint32_t best)
{
	for (; mask != 0; mask &= mask - 1) {
		uint32_t j = (uint32_t)__builtin_ctz(mask);

		if (label[j] >= best)
			return best;
		if ((verify >> j & 1) == 0 || forest_confirm(q->f, label[j], q->keys, i, q->verify))
			return label[j];
	}
	return best;
}

static uint32_t count_lines(const struct forest_line *l)
{
	uint32_t n = 1;

	while (l[n - 1].label[3] != SL_CLS_MISS)
		n++;
	return n;
}

static uint32_t count_blocks(const struct forest_block *b)
{
	uint32_t n = 1;

	while (b[n - 1].label[3] != SL_CLS_MISS)
		n++;
	return n;
}

static __rte_always_inline uint32_t scan_line(
		const struct forest_query *q, uint64_t e, uint32_t i, bool general)
{
	const struct sl_cls_key4 *k = (const struct sl_cls_key4 *)q->keys + i;
	const struct forest_line *l = (const void *)(q->f->elem + FOREST_BASE(e));
	const uint32_t service_mask = general ? ~FOREST_VERIFY : UINT32_MAX;
	const __m128i src = _mm_set1_epi32((int)k->src), dst = _mm_set1_epi32((int)k->dst);
	const __m128i lanes = _mm_set1_epi64x((long long)k->half[1]);
	const __m128i byte = _mm_set1_epi32(0xff), zero = _mm_setzero_si128();
	uint32_t n = FOREST_BLOCKS(e), best = q->best[i];

	if (unlikely(n == FOREST_LONG))
		n = count_lines(l);
	for (; n > 0; n--, l++) {
		__m128i meta = load(l->meta), a, b;
		uint32_t mask;

		a = _mm_srlv_epi32(_mm_xor_si128(src, load(l->src)), _mm_and_si128(meta, byte));
		b = _mm_srlv_epi32(_mm_xor_si128(dst, load(l->dst)),
				_mm_and_si128(_mm_srli_epi32(meta, 8), byte));
		a = _mm_or_si128(a, b);
		a = _mm_or_si128(a,
				outside(q->f->service, lanes, l->meta[0] >> 16 & service_mask,
						l->meta[1] >> 16 & service_mask,
						l->meta[2] >> 16 & service_mask,
						l->meta[3] >> 16 & service_mask));
		a = _mm_cmpeq_epi32(a, zero);
		if (general)
			a = _mm_and_si128(a, at_least(load(l->label), q->from[i]));
		mask = (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(a));
		if (mask == 0)
			continue;
		if (!general)
			return RTE_MIN(l->label[__builtin_ctz(mask)], best);
		/* with none of them confirmed the next line may have better ones */
		best = settle(q, mask, l->label, (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(meta)),
				i, best);
		if (best != q->best[i])
			return best;
	}
	return best;
}

static __rte_always_inline __m256i load_wild(const uint8_t *wild)
{
	int packed;

	__builtin_memcpy(&packed, wild, sizeof(packed));
	return _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(packed));
}

/* bits of the four rules whose pair of halves has the key's @src and @dst */
static __rte_always_inline uint32_t match_halves(uint64_t src, uint64_t dst, const uint64_t *srcs,
		const uint64_t *dsts, const uint8_t *src_wild, const uint8_t *dst_wild)
{
	__m256i a = _mm256_xor_si256(
			_mm256_set1_epi64x((long long)src), _mm256_load_si256((const void *)srcs));
	__m256i b = _mm256_xor_si256(
			_mm256_set1_epi64x((long long)dst), _mm256_load_si256((const void *)dsts));

	a = _mm256_or_si256(_mm256_srlv_epi64(a, load_wild(src_wild)),
			_mm256_srlv_epi64(b, load_wild(dst_wild)));
	a = _mm256_cmpeq_epi64(a, _mm256_setzero_si256());
	return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(a));
}

static __rte_always_inline uint32_t scan_block(
		const struct forest_query *q, uint64_t e, uint32_t i, bool general)
{
	const struct sl_cls_key6 *k = (const struct sl_cls_key6 *)q->keys + i;
	const struct forest_block *b = (const void *)(q->f->elem + FOREST_BASE(e));
	const uint32_t service_mask = general ? ~FOREST_VERIFY : UINT32_MAX;
	const __m128i lanes = _mm_set1_epi64x((long long)k->half[4]);
	uint32_t n = FOREST_BLOCKS(e), best = q->best[i];

	if (unlikely(n == FOREST_LONG))
		n = count_blocks(b);
	for (; n > 0; n--, b++) {
		const uint16_t *service = b->service;
		uint32_t mask, low, verify;
		__m128i a;

		a = outside(q->f->service, lanes, service[0] & service_mask,
				service[1] & service_mask, service[2] & service_mask,
				service[3] & service_mask);
		a = _mm_cmpeq_epi32(a, _mm_setzero_si128());
		if (general)
			a = _mm_and_si128(a, at_least(load(b->label), q->from[i]));
		mask = (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(a));
		mask &= match_halves(k->src.hi, k->dst.hi, b->src_hi, b->dst_hi, b->src_hi_wild,
				b->dst_hi_wild);
		low = mask & b->low;
		if (low != 0)
			mask = (mask & ~low)
					| (low
							& match_halves(k->src.lo, k->dst.lo,
									b->src_lo, b->dst_lo,
									b->src_lo_wild,
									b->dst_lo_wild));
		if (mask == 0)
			continue;
		if (!general)
			return RTE_MIN(b->label[__builtin_ctz(mask)], best);
		verify = (uint32_t)(service[0] >> 15 | service[1] >> 15 << 1 | service[2] >> 15 << 2
				| service[3] >> 15 << 3);
		best = settle(q, mask, b->label, verify, i, best);
		if (best != q->best[i])
			return best;
	}
	return best;
}

void forest_lookup_avx2(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out)
{
	lookup_forest(cls, keys, n, from, verify, out);
}
