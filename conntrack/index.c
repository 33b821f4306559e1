/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/index.h"

#include <rte_branch_prediction.h>

#include <errno.h>
#include <stdlib.h>

#define BUCKETS_MIN 64
#define MORE_BITS 16
/* keys a bucket, of the 8 that it holds, beyond which the table grows */
#define LOAD 4
#define HUGE_MIN ((size_t)2 << 20)

int ct_index_create(uint32_t max, const struct ct_hash_key *key, bool huge, struct ct_index **out)
{
	struct ct_index *x = calloc(1, sizeof(*x));
	size_t size;

	if (x == NULL)
		return -ENOMEM;
	x->max = RTE_MAX(max / LOAD + 1, (uint32_t)BUCKETS_MIN);
	x->n = BUCKETS_MIN;
	/* the bits that are kept have to reach from the smallest table to the largest */
	while ((uint64_t)x->n << MORE_BITS < x->max)
		x->n *= 2;
	x->mask = x->n - 1;
	x->base_bits = (uint32_t)__builtin_ctz(x->n);
	x->key = *key;
	size = (size_t)x->max * sizeof(*x->buckets);
	if (cls_arena_create(&x->mem, size, huge && size >= HUGE_MIN) < 0) {
		free(x);
		return -ENOMEM;
	}
	x->buckets = cls_arena_take(&x->mem, size);
	*out = x;
	return 0;
}

void ct_index_free(struct ct_index *x)
{
	if (x == NULL)
		return;
	cls_arena_destroy(&x->mem);
	free(x);
}

void ct_index_populate(struct ct_index *x, uint32_t keys)
{
	cls_arena_populate(
			&x->mem, 0, (size_t)RTE_MIN(keys / LOAD + 1, x->max) * sizeof(*x->buckets));
}

/* what is known of the hash that led a key to slot @i of bucket @at: all bits that matter */
static uint32_t hash_of(
		const struct ct_index *x, const struct ct_bucket *b, uint32_t at, unsigned int i)
{
	return (uint32_t)b->more[i] << x->base_bits | (at & ((1U << x->base_bits) - 1));
}

static void fill(const struct ct_index *x, struct ct_bucket *b, unsigned int i, uint32_t v,
		uint16_t tag, uint32_t ref)
{
	b->tag[i] = tag;
	b->more[i] = (uint16_t)(v >> x->base_bits);
	b->ref[i] = ref;
}

/* an empty slot, CT_WAYS: there is none */
static unsigned int empty(const struct ct_bucket *b)
{
	unsigned int slots = ct_slots_of(b, 0);

	return slots == 0 ? CT_WAYS : (unsigned int)__builtin_ctz(slots) / 2;
}

static bool put(struct ct_index *x, uint32_t v, uint16_t tag, uint32_t ref)
{
	struct ct_bucket *b = &x->buckets[ct_where(x, v)];
	unsigned int i = empty(b);

	if (unlikely(i == CT_WAYS))
		return false;
	fill(x, b, i, v, tag, ref);
	return true;
}

/* one bucket more: some keys of the next one in turn move there */
static void split(struct ct_index *x)
{
	uint32_t bit = x->mask + 1, from = x->n - bit;
	struct ct_bucket *b = &x->buckets[from], *new = &x->buckets[x->n];
	unsigned int n = 0;

	for (unsigned int i = 0; i < CT_WAYS; i++) {
		uint32_t v = hash_of(x, b, from, i);

		if (b->tag[i] == 0 || (v & bit) == 0)
			continue;
		fill(x, new, n++, v, b->tag[i], b->ref[i]);
		b->tag[i] = 0;
	}
	x->n++;
	if (x->n == 2 * bit)
		x->mask = 2 * bit - 1;
	/* those of the next ones: by then they are here */
	rte_prefetch0(b + 2);
	rte_prefetch0(new + 2);
}

/**
 * make_room() - move a key of a full bucket to its other bucket
 * @deep: the other bucket may be full as well, if one of its keys can move
 *
 * Return: the slot that is free now, CT_WAYS: none.
 */
static unsigned int make_room(struct ct_index *x, uint32_t at, bool deep)
{
	struct ct_bucket *b = &x->buckets[at];

	for (unsigned int i = 0; i < CT_WAYS; i++) {
		uint32_t v = ct_other(hash_of(x, b, at, i), b->tag[i]);
		uint32_t to = ct_where(x, v);
		unsigned int slot = empty(&x->buckets[to]);

		if (slot == CT_WAYS && deep)
			slot = make_room(x, to, false);
		if (slot == CT_WAYS)
			continue;
		fill(x, &x->buckets[to], slot, v, b->tag[i], b->ref[i]);
		b->tag[i] = 0;
		return i;
	}
	return CT_WAYS;
}

static bool put_moving(struct ct_index *x, uint32_t v, uint16_t tag, uint32_t ref)
{
	uint32_t first = ct_where(x, v), second = ct_where(x, ct_other(v, tag));

	for (unsigned int deep = 0; deep < 2; deep++) {
		if (make_room(x, first, deep) != CT_WAYS)
			return put(x, v, tag, ref);
		if (make_room(x, second, deep) != CT_WAYS)
			return put(x, ct_other(v, tag), tag, ref);
	}
	return false;
}

bool ct_index_insert(struct ct_index *x, uint64_t h, uint32_t at, enum ct_stands stands)
{
	uint32_t v = (uint32_t)h, ref = at << 2 | stands;
	uint16_t tag = ct_tag(h);

	if (unlikely(x->keys >= x->n * LOAD) && x->n < x->max)
		split(x);
	if (unlikely(!put(x, v, tag, ref)) && !put(x, ct_other(v, tag), tag, ref)
			&& !put_moving(x, v, tag, ref))
		return false;
	x->keys++;
	return true;
}

static uint32_t *slot_in(struct ct_bucket *b, uint16_t tag, uint32_t ref)
{
	for (unsigned int slots = ct_slots_of(b, tag); slots != 0; slots &= slots - 1) {
		uint32_t *slot = &b->ref[__builtin_ctz(slots) / 2];

		slots &= slots - 1; /* the second bit of the pair */
		if (likely(*slot == ref))
			return slot;
	}
	return NULL;
}

uint32_t *ct_index_slot(struct ct_index *x, uint64_t h, uint32_t at, enum ct_stands stands)
{
	uint32_t v = (uint32_t)h, ref = at << 2 | stands;
	uint16_t tag = ct_tag(h);
	uint32_t *slot = slot_in(&x->buckets[ct_where(x, v)], tag, ref);

	return likely(slot != NULL) ? slot
				    : slot_in(&x->buckets[ct_where(x, ct_other(v, tag))], tag, ref);
}

bool ct_index_remove(struct ct_index *x, uint64_t h, uint32_t at, enum ct_stands stands)
{
	uint32_t *slot = ct_index_slot(x, h, at, stands);
	struct ct_bucket *b;

	if (unlikely(slot == NULL))
		return false;
	b = (struct ct_bucket *)(void *)((uintptr_t)slot & ~(uintptr_t)63);
	b->tag[slot - b->ref] = 0;
	x->keys--;
	return true;
}
