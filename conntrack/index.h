/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Problem: find one of millions of tuples, in one line of memory, in a table that strangers fill, and
 * that is as small as what is in it.
 *
 * Idea: buckets of one cache line, each with 8 tags of 16 bits, compared by one instruction, and the
 * numbers of their entries. A tuple may stand in two buckets; the second is for what finds the first
 * full, so most look-ups end in the first. If both are full, one of the sixteen there is moved to its
 * own other bucket. The table grows by linear hashing (Litwin, 1980): one bucket at a time is split
 * in two, in turn, so that there is never a pause and never more than 8 * LOAD keys a bucket. 16 more
 * bits of each key's hash are kept, by which a split or a move needs no look at the entries.
 *
 * Example: 100,000 keys. 20,001 buckets have more than 5 keys each, so there are 20,001: 16,384, of
 * which the first 3,617 have been split. Hash v goes to v mod 32,768 if that is below 20,001, else to
 * v mod 16,384. Bucket 3,617 is split next: its keys with bit 14 of v move to bucket 20,001.
 *
 * Cost: a hit in the first bucket reads that line; any miss reads two. 12.8 bytes a key.
 *
 * The hash is keyed, so nobody outside can choose keys of one bucket, and a look-up reads two lines
 * whatever is in the table.
 */
#pragma once

#include "classifier/arena.h"
#include "conntrack/hash.h"

#include <rte_common.h>
#include <rte_prefetch.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CT_WAYS 8

struct ct_bucket {
	uint16_t tag[CT_WAYS]; /* 0: empty */
	uint16_t more[CT_WAYS]; /* bits of the hash behind those that the smallest table uses */
	uint32_t ref[CT_WAYS]; /* number of the entry << 2 | enum ct_stands */
} __rte_aligned(64);
static_assert(sizeof(struct ct_bucket) == 64, "one line");

/* by which tuple an entry stands in a slot */
enum ct_stands {
	CT_STANDS_BOTH, /* the original one, and the reply is that turned round */
	CT_STANDS_ORIGINAL,
	CT_STANDS_REPLY,
};

struct ct_index {
	struct ct_bucket *buckets;
	uint32_t n; /* buckets in use */
	uint32_t mask; /* of the last whole doubling: 2^k - 1 <= n - 1 < 2^(k+1) - 1 */
	uint32_t base_bits; /* log2 of the buckets of the smallest table */
	uint32_t max; /* [const] buckets there is address space for */
	uint32_t keys;
	struct ct_hash_key key; /* [const] */
	struct cls_arena mem;
};

/**
 * ct_index_create() - an index that may come to hold @max keys
 *
 * Return: 0, -ENOMEM.
 */
int ct_index_create(uint32_t max, const struct ct_hash_key *key, bool huge, struct ct_index **out);
void ct_index_free(struct ct_index *x);

/* takes pages for @keys keys now rather than on the packet path */
void ct_index_populate(struct ct_index *x, uint32_t keys);

/* a tuple's hash: bits 0..31 say where (ct_where), bits 48..63 are the tag */
static inline uint16_t ct_tag(uint64_t h)
{
	uint16_t tag = (uint16_t)(h >> 48);

	return tag == 0 ? 1 : tag;
}

/* from one of a key's two places to the other; odd, so the two are never one */
static inline uint32_t ct_other(uint32_t v, uint16_t tag)
{
	return v ^ (tag * 0x9e3779b1U | 1);
}

static inline uint32_t ct_where(const struct ct_index *x, uint32_t v)
{
	uint32_t at = v & (2 * x->mask + 1);

	return at < x->n ? at : at & x->mask;
}

/* bits 2i and 2i + 1: slot i has this tag */
static inline unsigned int ct_slots_of(const struct ct_bucket *b, uint16_t tag)
{
#ifdef __SSE2__
	__m128i tags = _mm_load_si128((const __m128i *)(const void *)b->tag);

	return (unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi16(tags, _mm_set1_epi16((short)tag)));
#else
	unsigned int slots = 0;

	for (unsigned int i = 0; i < CT_WAYS; i++)
		slots |= b->tag[i] == tag ? 3U << (2 * i) : 0;
	return slots;
#endif
}

/* Return: false if there is no place, which with this hash does not happen */
bool ct_index_insert(struct ct_index *x, uint64_t h, uint32_t at, enum ct_stands stands);

/* the slot of an entry, NULL: it does not stand so */
uint32_t *ct_index_slot(struct ct_index *x, uint64_t h, uint32_t at, enum ct_stands stands);

/* Return: whether it was there */
bool ct_index_remove(struct ct_index *x, uint64_t h, uint32_t at, enum ct_stands stands);
