/* SPDX-License-Identifier: BSD-3-Clause */
/* The hashed engine's data: what hashed_build.c lays out and hashed.c reads. */
#pragma once

#include "classifier/arena.h"
#include "classifier/classifier.h"

/* tables of a set: a bit each in the filter's words */
#define HASHED_TABLES 64U
/* buckets of a chain; a rule that finds it full goes to the list */
#define HASHED_CHAIN 16U
/* halves of the longest key that is hashed: four of addresses, one of lanes */
#define HASHED_HALVES 5U

/* one cache line: eight signatures are compared at once */
struct hashed_bucket {
	uint16_t tag[8]; /* 0: free; in the order of labels */
	uint32_t rule[8];
	uint32_t next; /* in overflow; 0: none */
	uint32_t unused[3];
};
static_assert(sizeof(struct hashed_bucket) == 64, "one line");

/* rules of one relaxed tuple */
struct hashed_table {
	uint64_t mask[HASHED_HALVES]; /* of the key's halves */
	uint32_t min_label; /* nothing to find for who has a better one */
	uint32_t bucket_mask;
	struct hashed_bucket *bucket;
};

struct hashed {
	struct sl_cls cls;
	unsigned int tables; /* in the order of min_label */
	struct hashed_table table[HASHED_TABLES];
	struct hashed_bucket *overflow;
	struct sl_cls_rule *rules;
	/* by the first bits of source and destination: tables that can match at all */
	uint64_t *filter[2];
	unsigned int filter_bits;
	uint64_t seed[HASHED_HALVES + 1];
	struct sl_cls *list; /* rules that fit no table; NULL: none */
	uint32_t list_min; /* their lowest label */
	struct cls_arena arena;
};

/* 64 x 64 bits multiplied, both ends mixed */
static inline uint64_t hashed_mix(uint64_t a, uint64_t b)
{
	__extension__ unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

/* of the halves of a key under a table's mask */
static inline uint64_t hashed_hash(
		const uint64_t *half, const uint64_t *mask, const uint64_t *seed, bool v6)
{
	uint64_t h;

	if (!v6)
		return hashed_mix((half[0] & mask[0]) ^ seed[0], (half[1] & mask[1]) ^ seed[1]);
	h = hashed_mix((half[0] & mask[0]) ^ seed[0], (half[1] & mask[1]) ^ seed[1]);
	h ^= hashed_mix((half[2] & mask[2]) ^ seed[2], (half[3] & mask[3]) ^ seed[3]);
	return hashed_mix(h ^ seed[5], (half[4] & mask[4]) ^ seed[4]);
}

static inline uint16_t hashed_tag(uint64_t hash)
{
	return (uint16_t)(hash >> 48 | 1);
}

/* where an address is in the filter */
static inline uint32_t hashed_filter_at(
		const struct hashed *h, const uint64_t *half, bool dst, bool v6)
{
	uint64_t x;

	if (!v6)
		return (uint32_t)(half[0] >> (dst ? 32 : 0)) >> (32 - h->filter_bits);
	/* addresses of one site begin alike: all of the first 48 bits count */
	x = half[dst ? 2 : 0] >> 16;
	return (uint32_t)(x * 0x9e3779b97f4a7c15 >> (64 - h->filter_bits));
}

int hashed_build(const struct sl_cls_spec *spec, struct sl_cls **cls);
void hashed_free(struct sl_cls *cls);
