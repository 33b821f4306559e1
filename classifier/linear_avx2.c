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
#include "classifier/linear.h"
#include "classifier/rule.h"

#include <rte_common.h>

#include <errno.h>
#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 512U /* rules that all open keys pass over in turn */
#define STEP 32U /* rules whose lead is looked at in one go */
#define GROUP 16U /* rules that are tested in full in one go */
#define WORDS_MAX 8U
#define LANES 4U
#define LEAD_NONE UINT8_MAX

/* lanes, and bits of struct group behind the words */
enum { LANE_SPORT, LANE_DPORT, LANE_PROTO, LANE_AUX };

/* what a group of rules asks for */
struct group {
	uint16_t fields; /* bit w: word w has a mask; bit 8 + l: lane l is no full range */
	uint16_t flagged; /* bit i: rule i is not decided by its box */
};

struct chunk {
	uint8_t lead; /* word 0..7, 8 + lane, or LEAD_NONE */
	bool exact; /* a word whose masks are all ones */
};

struct vector {
	struct sl_cls cls;
	uint32_t padded; /* rules with the padding, whole steps */
	unsigned int words;
	bool dense; /* label i is i */
	uint32_t *value[WORDS_MAX], *mask[WORDS_MAX];
	uint16_t *lo[LANES], *span[LANES];
	uint32_t *label;
	struct group *group;
	struct chunk *chunk;
	struct sl_cls_rule *rules;
	size_t bytes;
};

/* a key as the arrays want it */
struct probe {
	uint32_t word[WORDS_MAX];
	uint16_t lane[LANES];
};

static void addr_words(const struct sl_cls_addr *a, uint32_t *w)
{
	w[0] = (uint32_t)(a->hi >> 32);
	w[1] = (uint32_t)a->hi;
	w[2] = (uint32_t)(a->lo >> 32);
	w[3] = (uint32_t)a->lo;
}

static void rule_words(const struct vector *v, const struct sl_cls_addr *src,
		const struct sl_cls_addr *dst, uint32_t *w)
{
	if (v->cls.family == SL_AF_INET) {
		w[0] = (uint32_t)src->lo;
		w[1] = (uint32_t)dst->lo;
		return;
	}
	addr_words(src, w);
	addr_words(dst, w + 4);
}

static void set_lane(struct vector *v, uint32_t i, unsigned int lane, uint16_t lo, uint16_t hi)
{
	v->lo[lane][i] = lo;
	v->span[lane][i] = (uint16_t)(hi - lo);
	if (lo != 0 || hi != UINT16_MAX)
		v->group[i / GROUP].fields |= (uint16_t)(1U << (WORDS_MAX + lane));
}

static void place(struct vector *v, uint32_t i, const struct sl_cls_rule *r)
{
	uint32_t value[WORDS_MAX], mask[WORDS_MAX];
	uint8_t wild = (uint8_t)(0xffU >> cls_proto_len(r));
	struct group *g = &v->group[i / GROUP];

	rule_words(v, &r->src, &r->dst, value);
	rule_words(v, &r->src_mask, &r->dst_mask, mask);
	for (unsigned int w = 0; w < v->words; w++) {
		v->value[w][i] = value[w] & mask[w];
		v->mask[w][i] = mask[w];
		if (mask[w] != 0)
			g->fields |= (uint16_t)(1U << w);
	}
	set_lane(v, i, LANE_SPORT, r->sport_lo, r->sport_hi);
	set_lane(v, i, LANE_DPORT, r->dport_lo, r->dport_hi);
	set_lane(v, i, LANE_AUX, r->aux_lo, r->aux_hi);
	if (r->proto_mask == 0)
		set_lane(v, i, LANE_PROTO, 0, UINT16_MAX);
	else
		set_lane(v, i, LANE_PROTO, r->proto & (uint8_t)~wild, r->proto | wild);
	/* holes in an address mask are no matter here, holes in the protocol's are */
	if (r->verify || (uint8_t)~wild != r->proto_mask)
		g->flagged |= (uint16_t)(1U << (i % GROUP));
	v->label[i] = r->label;
	v->dense &= r->label == i;
}

/* a rule that no key matches: protocols end at 255 */
static void place_padding(struct vector *v, uint32_t i)
{
	for (unsigned int l = 0; l < LANES; l++)
		set_lane(v, i, l, l == LANE_PROTO ? UINT16_MAX : 0, UINT16_MAX);
	v->label[i] = SL_CLS_MISS;
}

static bool field_matches(const struct vector *v, unsigned int field, uint32_t i, uint32_t key)
{
	if (field < WORDS_MAX)
		return (key & v->mask[field][i]) == v->value[field][i];
	field -= WORDS_MAX;
	return (uint16_t)(key - v->lo[field][i]) <= v->span[field][i];
}

static uint32_t field_corner(const struct vector *v, unsigned int field, uint32_t i)
{
	return field < WORDS_MAX ? v->value[field][i] : v->lo[field - WORDS_MAX][i];
}

/* steps of [first, end) that a key in a corner of a sampled rule would have to test in full */
static unsigned int candidates(const struct vector *v, unsigned int field, uint32_t first,
		uint32_t end, uint32_t sample)
{
	uint32_t key = field_corner(v, field, sample);
	unsigned int steps = 0;

	for (uint32_t i = first; i < end; i += STEP) {
		for (uint32_t j = i; j < i + STEP; j++) {
			if (field_matches(v, field, j, key)) {
				steps++;
				break;
			}
		}
	}
	return steps;
}

/* The field whose first look is cheapest over all, in half cycles; measured on the rules themselves,
 * since neither prefixes nor ports are spread evenly. */
static struct chunk choose_lead(const struct vector *v, uint32_t first, uint32_t end, uint32_t n)
{
	enum { SAMPLES = 8, LOOK = 4, MASKED = 2, FULL = 40 };
	struct chunk best = { LEAD_NONE, false };
	unsigned int steps = (end - first) / STEP, cost = SAMPLES * steps * FULL;

	for (unsigned int field = 0; field < WORDS_MAX + LANES; field++) {
		unsigned int c = SAMPLES * steps * LOOK;
		bool exact = field < WORDS_MAX;

		if (field < WORDS_MAX && field >= v->words)
			continue;
		for (uint32_t i = first; exact && i < n; i++)
			exact = v->mask[field][i] == UINT32_MAX;
		if (!exact)
			c += SAMPLES * steps * MASKED;
		for (uint32_t s = 0; s < SAMPLES; s++)
			c += FULL * candidates(v, field, first, end, first + s * (n - first) / SAMPLES);
		if (c < cost) {
			cost = c;
			best = (struct chunk){ (uint8_t)field, exact };
		}
	}
	return best;
}

/* the padding of an exact chunk may be a candidate, the full test refuses it by its protocol */
static void choose_leads(struct vector *v)
{
	for (uint32_t i = 0; i < v->padded; i += CHUNK)
		v->chunk[i / CHUNK] = choose_lead(v, i, RTE_MIN(i + CHUNK, v->padded),
				RTE_MIN(i + CHUNK, v->cls.n));
}

/* Lays out the arrays behind the struct, or only adds up their sizes where @base is NULL. */
static size_t lay_out(struct vector *v, uint8_t *base, uint32_t n)
{
	size_t off = RTE_ALIGN_CEIL(sizeof(*v), 64);

#define TAKE(field, count)                                                                         \
	do {                                                                                       \
		if (base != NULL)                                                                  \
			(field) = (void *)(base + off);                                            \
		off += RTE_ALIGN_CEIL((size_t)(count) * sizeof(*(field)), 64);                     \
	} while (0)
	for (unsigned int w = 0; w < v->words; w++) {
		TAKE(v->value[w], v->padded);
		TAKE(v->mask[w], v->padded);
	}
	for (unsigned int l = 0; l < LANES; l++) {
		TAKE(v->lo[l], v->padded);
		TAKE(v->span[l], v->padded);
	}
	TAKE(v->label, v->padded);
	TAKE(v->group, v->padded / GROUP);
	TAKE(v->chunk, v->padded / CHUNK + 1);
	TAKE(v->rules, n);
#undef TAKE
	return off;
}

static struct vector shape(const struct sl_cls_spec *spec)
{
	return (struct vector){
		.cls = { .ops = &cls_linear_avx2, .family = spec->family, .n = spec->n },
		.padded = RTE_ALIGN_CEIL(spec->n, STEP),
		.words = spec->family == SL_AF_INET ? 2 : WORDS_MAX,
		.dense = true,
	};
}

static size_t vector_estimate(const struct sl_cls_spec *spec)
{
	struct vector v = shape(spec);

	return lay_out(&v, NULL, spec->n);
}

static int vector_build(const struct sl_cls_spec *spec, struct sl_cls **cls)
{
	struct vector *v;
	size_t bytes;
	int ret;

	ret = cls_spec_check(spec);
	if (ret < 0)
		return ret;
	bytes = vector_estimate(spec);
	v = aligned_alloc(64, bytes);
	if (v == NULL)
		return -ENOMEM;
	memset(v, 0, bytes);
	*v = shape(spec);
	v->bytes = lay_out(v, (uint8_t *)v, spec->n);
	for (uint32_t i = 0; i < spec->n; i++) {
		v->rules[i] = spec->rules[i];
		place(v, i, &spec->rules[i]);
	}
	for (uint32_t i = spec->n; i < v->padded; i++)
		place_padding(v, i);
	choose_leads(v);
	*cls = &v->cls;
	return 0;
}

static inline __m256i load(const void *p)
{
	return _mm256_load_si256(p);
}

/* bits 2i of the rules of the group at @i that match, all fields but what is flagged */
static inline uint32_t match_group(const struct vector *v, uint32_t i, const struct probe *p)
{
	const __m256i zero = _mm256_setzero_si256();
	uint32_t fields = v->group[i / GROUP].fields;
	__m256i a = zero, b = zero, c = zero;

	for (uint32_t f = fields & 0xff; f != 0; f &= f - 1) {
		unsigned int w = (unsigned int)__builtin_ctz(f);
		__m256i k = _mm256_set1_epi32((int)p->word[w]);
		const uint32_t *value = v->value[w] + i, *mask = v->mask[w] + i;

		a = _mm256_or_si256(a, _mm256_xor_si256(_mm256_and_si256(k, load(mask)), load(value)));
		b = _mm256_or_si256(b,
				_mm256_xor_si256(_mm256_and_si256(k, load(mask + 8)), load(value + 8)));
	}
	for (uint32_t f = fields >> WORDS_MAX; f != 0; f &= f - 1) {
		unsigned int l = (unsigned int)__builtin_ctz(f);
		__m256i k = _mm256_set1_epi16((short)p->lane[l]);

		k = _mm256_sub_epi16(k, load(v->lo[l] + i));
		c = _mm256_or_si256(c, _mm256_subs_epu16(k, load(v->span[l] + i)));
	}
	a = _mm256_packs_epi32(_mm256_cmpeq_epi32(a, zero), _mm256_cmpeq_epi32(b, zero));
	a = _mm256_permute4x64_epi64(a, 0xd8);
	c = _mm256_and_si256(a, _mm256_cmpeq_epi16(c, zero));
	return (uint32_t)_mm256_movemask_epi8(c) & 0x55555555;
}

/* what a look-up hands down */
struct search {
	const struct vector *v;
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
	for (uint32_t g = i; g < i + STEP; g += GROUP) {
		uint32_t m = match_group(s->v, g, p);

		for (; m != 0; m &= m - 1) {
			uint32_t bit = (uint32_t)__builtin_ctz(m) / 2, rule = g + bit;

			if (rule < start)
				continue;
			if ((s->v->group[g / GROUP].flagged >> bit & 1) == 0
					|| confirmed(s, rule, key))
				return rule;
		}
	}
	return UINT32_MAX;
}

static inline bool step_has_word(const uint32_t *value, __m256i k)
{
	__m256i a = _mm256_or_si256(_mm256_cmpeq_epi32(k, load(value)),
			_mm256_cmpeq_epi32(k, load(value + 8)));
	__m256i b = _mm256_or_si256(_mm256_cmpeq_epi32(k, load(value + 16)),
			_mm256_cmpeq_epi32(k, load(value + 24)));

	a = _mm256_or_si256(a, b);
	return !_mm256_testz_si256(a, a);
}

static inline bool step_has_masked(const uint32_t *value, const uint32_t *mask, __m256i k)
{
	__m256i a = _mm256_setzero_si256();

	for (unsigned int j = 0; j < STEP; j += 8)
		a = _mm256_or_si256(a,
				_mm256_cmpeq_epi32(_mm256_and_si256(k, load(mask + j)), load(value + j)));
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
static uint32_t scan(const struct search *s, const struct chunk *c, uint32_t i, uint32_t end,
		uint32_t start, const struct probe *p, unsigned int key)
{
	const struct vector *v = s->v;
	uint32_t found = UINT32_MAX;

	if (c->lead == LEAD_NONE) {
		for (; i < end && found == UINT32_MAX; i += STEP)
			found = match_step(s, i, start, p, key);
	} else if (c->lead >= WORDS_MAX) {
		unsigned int l = c->lead - WORDS_MAX;
		__m256i k = _mm256_set1_epi16((short)p->lane[l]);

		for (; i < end && found == UINT32_MAX; i += STEP)
			if (step_has_lane(v->lo[l] + i, v->span[l] + i, k))
				found = match_step(s, i, start, p, key);
	} else if (c->exact) {
		const uint32_t *value = v->value[c->lead];
		__m256i k = _mm256_set1_epi32((int)p->word[c->lead]);

		for (; i < end && found == UINT32_MAX; i += STEP)
			if (unlikely(step_has_word(value + i, k)))
				found = match_step(s, i, start, p, key);
	} else {
		const uint32_t *value = v->value[c->lead], *mask = v->mask[c->lead];
		__m256i k = _mm256_set1_epi32((int)p->word[c->lead]);

		for (; i < end && found == UINT32_MAX; i += STEP)
			if (unlikely(step_has_masked(value + i, mask + i, k)))
				found = match_step(s, i, start, p, key);
	}
	return found;
}

static void fill_probe(const struct vector *v, const void *keys, unsigned int i, struct probe *p)
{
	if (v->cls.family == SL_AF_INET) {
		const struct sl_cls_key4 *k = (const struct sl_cls_key4 *)keys + i;

		p->word[0] = k->src;
		p->word[1] = k->dst;
		memcpy(p->lane, &k->sport, sizeof(p->lane));
	} else {
		const struct sl_cls_key6 *k = (const struct sl_cls_key6 *)keys + i;

		addr_words(&k->src, p->word);
		addr_words(&k->dst, p->word + 4);
		memcpy(p->lane, &k->sport, sizeof(p->lane));
	}
}

/* index of the first rule with a label of at least @from */
static uint32_t index_of(const struct vector *v, uint32_t from)
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

static void vector_lookup(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out)
{
	const struct vector *v = (const struct vector *)cls;
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
	for (uint32_t first = 0; first < v->padded && n_open > 0; first += CHUNK) {
		const struct chunk *c = &v->chunk[first / CHUNK];
		uint32_t end = RTE_MIN(first + CHUNK, v->padded);
		unsigned int left = 0;

		for (unsigned int j = 0; j < n_open; j++) {
			unsigned int i = open[j];
			uint32_t at = RTE_MAX(first, RTE_ALIGN_FLOOR(start[i], STEP)), rule;

			rule = scan(&s, c, at, end, start[i], &probe[i], i);
			if (rule != UINT32_MAX)
				out[i] = v->label[rule];
			else
				open[left++] = (uint8_t)i;
		}
		n_open = left;
	}
}

static void vector_free(struct sl_cls *cls)
{
	free(cls);
}

static size_t vector_memory(const struct sl_cls *cls)
{
	return ((const struct vector *)cls)->bytes;
}

const struct sl_cls_ops cls_linear_avx2 = {
	.name = "linear",
	.estimate = vector_estimate,
	.build = vector_build,
	.lookup = vector_lookup,
	.free = vector_free,
	.memory = vector_memory,
};
