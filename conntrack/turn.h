/* SPDX-License-Identifier: BSD-3-Clause */
/* Tuples turned round without making the answer: what look-ups compare. */
#pragma once

#include "conntrack/hash.h"

#include <rte_branch_prediction.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* ports, family, protocol and zone as one word */
static inline uint64_t ct_tail(const struct ct_tuple *t)
{
	uint64_t w;

	memcpy(&w, (const uint8_t *)t + offsetof(struct ct_tuple, sport_be), sizeof(w));
	return w;
}
static_assert(offsetof(struct ct_tuple, sport_be) == sizeof(struct ct_tuple) - sizeof(uint64_t),
		"one word behind the addresses");

/* the tail of the answer; an ICMP message that has none gets what no tuple has */
static inline uint64_t ct_turned_tail(const struct ct_tuple *t)
{
	uint64_t w = ct_tail(t);
	struct ct_tuple answer;

	if (unlikely(ct_has_icmp_id(t->proto)))
		return ct_tuple_invert(t, &answer) ? ct_tail(&answer) : UINT64_MAX;
	return (w >> 32 << 32) | (uint32_t)((uint32_t)w << 16 | (uint32_t)w >> 16);
}

static inline bool ct_addr_same(const struct sl_addr *a, const struct sl_addr *b)
{
#ifdef __SSE2__
	__m128i x = _mm_loadu_si128((const __m128i *)(const void *)a);
	__m128i y = _mm_loadu_si128((const __m128i *)(const void *)b);

	return _mm_movemask_epi8(_mm_cmpeq_epi8(x, y)) == 0xffff;
#else
	return memcmp(a, b, sizeof(*a)) == 0;
#endif
}

/* @turn: ct_turned_tail() of one of them; without branches, as directions come mixed */
static inline bool ct_is_turned(const struct ct_tuple *a, uint64_t turn, const struct ct_tuple *b)
{
	return ct_addr_same(&a->src, &b->dst) & ct_addr_same(&a->dst, &b->src)
			& (turn == ct_tail(b));
}

static inline bool ct_is_same(const struct ct_tuple *a, const struct ct_tuple *b)
{
	return ct_addr_same(&a->src, &b->src) & ct_addr_same(&a->dst, &b->dst)
			& (ct_tail(a) == ct_tail(b));
}
