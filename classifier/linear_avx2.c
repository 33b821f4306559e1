/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linear search, 32 rules a step. Compiled for AVX2; see linear.c for the same in plain C.
 *
 * Problem: a rule that fails at once should cost a fraction of a cycle, whatever its fields.
 *
 * Idea: rules lie as a structure of arrays, 32-bit words of the addresses (IPv4 two, IPv6 eight) and
 * 16-bit lanes of ports, protocol and aux. A chunk of 512 rules stays in the first-level cache while
 * all keys of the batch that are still open pass over it. Each chunk has a *lead*: the one field
 * that, measured on the chunk's own rules, leaves the fewest candidates. Only the lead is looked at,
 * 32 rules a step; where a step has a candidate, the fields that say anything in its two groups of
 * 16 rules are tested in full. Where no field is selective, the groups are tested in full at once.
 *
 * Example: 10,000 rules "-s ADDRESS -j DROP" and a key with another source. The lead is the source
 * word, without masks; a step is four compares with memory, three ors, one branch: 313 steps of some
 * 2 cycles. A key that equals the source of rule 777 stops at step 24, tests the groups of rules 768
 * to 799, finds bit 9 and takes the label of rule 777.
 *
 * Cost: 0.1 to 0.2 cycles a rule by the lead, 0.6 in full.
 */
#include "classifier/linear_pack.h"
#include "classifier/rule.h"

#include <rte_branch_prediction.h>
#include <rte_common.h>

#include <immintrin.h>
#include <string.h>

/* a key as the arrays want it */
struct probe {
	uint32_t word[LINEAR_WORDS];
	uint16_t lane[LINEAR_LANES];
};

static inline __m256i load(const void *p)
{
	return _mm256_load_si256(p);
}

/* ors into @diff, for two times eight rules, the bits of word @w that are not as the rules want them */
static inline void test_word(const struct linear_arrays *v, unsigned int w, uint32_t i,
		uint32_t key, __m256i *diff)
{
	const uint32_t *value = v->value[w] + i, *mask = v->mask[w] + i;
	__m256i k = _mm256_set1_epi32((int)key);

	for (unsigned int j = 0; j < 2; j++)
		diff[j] = _mm256_or_si256(diff[j],
				_mm256_xor_si256(_mm256_and_si256(k, load(mask + 8 * j)),
						load(value + 8 * j)));
}

/* Bits 2i of the rules of the group at @i that match, all fields but what is flagged. Words and lanes
 * are tested whether or not they say anything where skipping them costs more: a branch to guess. */
static inline uint32_t match_group(const struct linear_arrays *v, uint32_t i, const struct probe *p)
{
	const __m256i zero = _mm256_setzero_si256();
	uint32_t fields = v->group[i / LINEAR_GROUP].fields;
	__m256i diff[2] = { zero, zero }, outside = zero;

	if (v->words == 2) {
		test_word(v, 0, i, p->word[0], diff);
		test_word(v, 1, i, p->word[1], diff);
	} else {
		for (uint32_t f = fields & 0xff; f != 0; f &= f - 1) {
			unsigned int w = (unsigned int)__builtin_ctz(f);

			test_word(v, w, i, p->word[w], diff);
		}
	}
	for (unsigned int l = 0; fields >> LINEAR_WORDS != 0 && l < LINEAR_LANES; l++) {
		__m256i k = _mm256_set1_epi16((short)p->lane[l]);

		k = _mm256_sub_epi16(k, load(v->lo[l] + i));
		outside = _mm256_or_si256(outside, _mm256_subs_epu16(k, load(v->span[l] + i)));
	}
	diff[0] = _mm256_packs_epi32(
			_mm256_cmpeq_epi32(diff[0], zero), _mm256_cmpeq_epi32(diff[1], zero));
	diff[0] = _mm256_permute4x64_epi64(diff[0], 0xd8);
	diff[0] = _mm256_and_si256(diff[0], _mm256_cmpeq_epi16(outside, zero));
	return (uint32_t)_mm256_movemask_epi8(diff[0]) & 0x55555555;
}

/* what a look-up hands down */
struct search {
	const struct linear_arrays *v;
	const void *keys;
	const struct sl_cls_verify *verify;
};

static bool confirmed(const struct search *s, uint32_t rule, unsigned int key)
{
	const struct sl_cls_rule *r = &s->v->rules[rule];

	return cls_rule_match(s->v->cls.family, r, s->keys, key) && cls_verified(r, s->verify, key);
}

/* first rule at or behind @start in the step at @i, UINT32_MAX: none */
static uint32_t match_step(const struct search *s, uint32_t i, uint32_t start,
		const struct probe *p, unsigned int key)
{
	for (uint32_t g = i; g < i + LINEAR_STEP; g += LINEAR_GROUP) {
		uint32_t m = match_group(s->v, g, p);

		for (; m != 0; m &= m - 1) {
			uint32_t bit = (uint32_t)__builtin_ctz(m) / 2, rule = g + bit;

			if (rule < start)
				continue;
			if ((s->v->group[g / LINEAR_GROUP].flagged >> bit & 1) == 0
					|| confirmed(s, rule, key))
				return rule;
		}
	}
	return UINT32_MAX;
}

static inline bool step_has_word(const uint32_t *value, __m256i k)
{
	__m256i a = _mm256_or_si256(
			_mm256_cmpeq_epi32(k, load(value)), _mm256_cmpeq_epi32(k, load(value + 8)));
	__m256i b = _mm256_or_si256(_mm256_cmpeq_epi32(k, load(value + 16)),
			_mm256_cmpeq_epi32(k, load(value + 24)));

	a = _mm256_or_si256(a, b);
	return !_mm256_testz_si256(a, a);
}

static inline bool step_has_masked(const uint32_t *value, const uint32_t *mask, __m256i k)
{
	__m256i a = _mm256_setzero_si256();

	for (unsigned int j = 0; j < LINEAR_STEP; j += 8)
		a = _mm256_or_si256(a,
				_mm256_cmpeq_epi32(_mm256_and_si256(k, load(mask + j)),
						load(value + j)));
	return !_mm256_testz_si256(a, a);
}

static inline bool step_has_lane(const uint16_t *lo, const uint16_t *span, __m256i k)
{
	const __m256i zero = _mm256_setzero_si256();
	__m256i a = _mm256_subs_epu16(_mm256_sub_epi16(k, load(lo)), load(span));
	__m256i b = _mm256_subs_epu16(_mm256_sub_epi16(k, load(lo + 16)), load(span + 16));

	a = _mm256_or_si256(_mm256_cmpeq_epi16(a, zero), _mm256_cmpeq_epi16(b, zero));
	return !_mm256_testz_si256(a, a);
}

/* first match in [i, end), both whole steps; UINT32_MAX: none */
static uint32_t scan(const struct search *s, const struct linear_chunk *c, uint32_t i, uint32_t end,
		uint32_t start, const struct probe *p, unsigned int key)
{
	const struct linear_arrays *v = s->v;
	uint32_t found = UINT32_MAX;

	if (c->lead == LINEAR_LEAD_NONE) {
		for (; i < end && found == UINT32_MAX; i += LINEAR_STEP)
			found = match_step(s, i, start, p, key);
	} else if (c->lead >= LINEAR_WORDS) {
		unsigned int l = c->lead - LINEAR_WORDS;
		__m256i k = _mm256_set1_epi16((short)p->lane[l]);

		for (; i < end && found == UINT32_MAX; i += LINEAR_STEP)
			if (step_has_lane(v->lo[l] + i, v->span[l] + i, k))
				found = match_step(s, i, start, p, key);
	} else if (c->exact) {
		const uint32_t *value = v->value[c->lead];
		__m256i k = _mm256_set1_epi32((int)p->word[c->lead]);

		for (; i < end && found == UINT32_MAX; i += LINEAR_STEP)
			if (unlikely(step_has_word(value + i, k)))
				found = match_step(s, i, start, p, key);
	} else {
		const uint32_t *value = v->value[c->lead], *mask = v->mask[c->lead];
		__m256i k = _mm256_set1_epi32((int)p->word[c->lead]);

		for (; i < end && found == UINT32_MAX; i += LINEAR_STEP)
			if (unlikely(step_has_masked(value + i, mask + i, k)))
				found = match_step(s, i, start, p, key);
	}
	return found;
}

static void fill_probe(
		const struct linear_arrays *v, const void *keys, unsigned int i, struct probe *p)
{
	if (v->cls.family == SL_AF_INET) {
		const struct sl_cls_key4 *k = (const struct sl_cls_key4 *)keys + i;

		p->word[0] = k->src;
		p->word[1] = k->dst;
		memcpy(p->lane, &k->sport, sizeof(p->lane));
	} else {
		const struct sl_cls_key6 *k = (const struct sl_cls_key6 *)keys + i;

		linear_words(SL_AF_INET6, &k->src, &k->dst, p->word);
		memcpy(p->lane, &k->sport, sizeof(p->lane));
	}
}

/* index of the first rule with a label of at least @from */
static uint32_t index_of(const struct linear_arrays *v, uint32_t from)
{
	uint32_t lo = 0, hi = v->cls.n;

	if (v->dense)
		return RTE_MIN(from, v->cls.n);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (v->label[mid] < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void linear_arrays_lookup(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out)
{
	const struct linear_arrays *v = (const struct linear_arrays *)cls;
	const struct search s = { v, keys, verify };
	struct probe probe[SL_CLS_BURST];
	uint32_t start[SL_CLS_BURST];
	uint8_t open[SL_CLS_BURST];
	unsigned int n_open = n;

	for (unsigned int i = 0; i < n; i++) {
		fill_probe(v, keys, i, &probe[i]);
		start[i] = from == NULL ? 0 : index_of(v, from[i]);
		open[i] = (uint8_t)i;
		out[i] = SL_CLS_MISS;
	}
	for (uint32_t first = 0; first < v->padded && n_open > 0; first += LINEAR_CHUNK) {
		const struct linear_chunk *c = &v->chunk[first / LINEAR_CHUNK];
		uint32_t end = RTE_MIN(first + LINEAR_CHUNK, v->padded);
		unsigned int left = 0;

		for (unsigned int j = 0; j < n_open; j++) {
			unsigned int i = open[j];
			uint32_t at = RTE_MAX(first, RTE_ALIGN_FLOOR(start[i], LINEAR_STEP)), rule;

			rule = scan(&s, c, at, end, start[i], &probe[i], i);
			if (rule != UINT32_MAX)
				out[i] = v->label[rule];
			else
				open[left++] = (uint8_t)i;
		}
		n_open = left;
	}
}
