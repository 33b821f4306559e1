/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Problem: find an address among a million while somebody else adds and removes others.
 *
 * Idea: members lie in an array that never moves; buckets of one cache line hold, for each of eight
 * members, 16 bits of its hash and its number. A member has two buckets. It goes into the first one
 * while that holds fewer than five, else into the emptier of the two, and a first bucket counts what
 * it has in seconds. So a miss reads one line, seldom two, and a hit one more for the member.
 *
 * Example: 10,000 members, 4,096 buckets, 2.4 in each. 3.6 % of the buckets reach five, and about
 * one member in a hundred is looked for in its second bucket. Both buckets of a member are full once
 * in about 10^12 members; then, and when three a bucket are exceeded, the buckets are doubled aside
 * and swapped by pointer.
 *
 * Strangers fill sets (SET --add-set), so the hash is keyed by random words: folded 64 x 64 bit
 * multiplications, whose products depend on the keys, not a linear code.
 *
 * Writers hold the set's lock. Readers are lock-free: an entry is filled in before its signature is
 * stored, and used again only after every worker has passed a quiescent state.
 */
#include "classifier/set_table.h"

#include "lib/router.h"

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>
#include <rte_random.h>

#include <errno.h>
#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define BUCKETS_MIN 16
#define DENSE 3 /* members a bucket */
#define FIRST_CHOICE 5 /* of a first bucket, before the second is thought of */
#define HUGE_MIN ((size_t)8 << 20) /* bytes from which huge pages are asked for */

static uint64_t fold(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t hash(const struct set_index *x, const union set_key *k, bool wide)
{
	uint64_t h = fold(k->q[0] ^ x->seed[0], k->q[1] ^ x->seed[1]);

	if (wide) {
		h = fold(h ^ k->q[2], k->q[3] ^ x->seed[2]);
		h = fold(h ^ k->q[4], x->seed[3]);
	}
	/* the sum of addresses in a row must not show in a row of buckets */
	return fold(h, x->seed[4]);
}

static uint16_t signature(uint64_t h)
{
	uint16_t sig = (uint16_t)(h >> 48);

	return sig == 0 ? 1 : sig;
}

static struct set_bucket *first(const struct set_index *x, uint64_t h)
{
	return &x->b[h & x->mask];
}

static struct set_bucket *second(const struct set_index *x, uint64_t h)
{
	return &x->b[(h & x->mask) ^ ((h >> 24 & x->mask) | 1)];
}

/* bit 2i and 2i + 1: slot i has this signature */
static unsigned int slots_of(const struct set_bucket *b, uint16_t sig)
{
#ifdef __SSE2__
	__m128i v = _mm_load_si128((const __m128i *)(const void *)b->sig);

	return (unsigned int)_mm_movemask_epi8(_mm_cmpeq_epi16(v, _mm_set1_epi16((short)sig)));
#else
	unsigned int mask = 0;

	for (unsigned int i = 0; i < SET_SLOTS; i++)
		mask |= (__atomic_load_n(&b->sig[i], __ATOMIC_RELAXED) == sig ? 3U : 0) << 2 * i;
	return mask;
#endif
}

static bool same_key(const union set_key *a, const union set_key *b, bool wide)
{
	uint64_t differ = (a->q[0] ^ b->q[0]) | (a->q[1] ^ b->q[1]);

	if (wide)
		differ |= (a->q[2] ^ b->q[2]) | (a->q[3] ^ b->q[3]) | (a->q[4] ^ b->q[4]);
	return differ == 0;
}

static struct set_entry *find_in(const struct set_table *t, const struct set_bucket *b,
		uint16_t sig, const union set_key *key)
{
	unsigned int mask = slots_of(b, sig);

	atomic_thread_fence(memory_order_acquire);
	for (; mask != 0; mask &= mask - 1, mask &= mask - 1) {
		uint32_t at = __atomic_load_n(&b->at[__builtin_ctz(mask) / 2], __ATOMIC_RELAXED);
		struct set_entry *e = &t->entries[at];

		if (likely(same_key(&e->key, key, t->wide)))
			return e;
	}
	return NULL;
}

struct set_entry *set_table_find(const struct set_table *t, const union set_key *key)
{
	const struct set_index *x = atomic_load_explicit(&t->index, memory_order_acquire);
	uint64_t h = hash(x, key, t->wide);
	const struct set_bucket *b = first(x, h);
	struct set_entry *e = find_in(t, b, signature(h), key);

	if (likely(e != NULL || __atomic_load_n(&b->spilled, __ATOMIC_RELAXED) == 0))
		return e;
	return find_in(t, second(x, h), signature(h), key);
}

void set_table_prefetch(const struct set_table *t, const union set_key *key)
{
	const struct set_index *x = atomic_load_explicit(&t->index, memory_order_acquire);

	rte_prefetch0(first(x, hash(x, key, t->wide)));
}

/* ---- the index ---- */

static struct set_index *index_create(uint32_t n, const struct set_index *like)
{
	struct set_index *x = calloc(1, sizeof(*x));
	uint32_t buckets = BUCKETS_MIN;
	size_t size;

	if (x == NULL)
		return NULL;
	while (buckets < n / DENSE + 1 && buckets < 1U << 30)
		buckets *= 2;
	size = buckets * sizeof(*x->b);
	if (cls_arena_create(&x->arena, size, size >= HUGE_MIN) < 0) {
		free(x);
		return NULL;
	}
	x->b = cls_arena_take(&x->arena, size);
	x->mask = buckets - 1;
	for (unsigned int i = 0; i < RTE_DIM(x->seed); i++)
		x->seed[i] = like != NULL ? like->seed[i] : rte_rand() | 1;
	return x;
}

void set_index_free(struct set_index *x)
{
	if (x == NULL)
		return;
	cls_arena_destroy(&x->arena);
	free(x);
}

static unsigned int count(const struct set_bucket *b)
{
	return SET_SLOTS - (unsigned int)__builtin_popcount(slots_of(b, 0)) / 2;
}

static void place(struct set_bucket *b, uint16_t sig, uint32_t at)
{
	unsigned int i = (unsigned int)__builtin_ctz(slots_of(b, 0)) / 2;

	__atomic_store_n(&b->at[i], at, __ATOMIC_RELAXED);
	__atomic_store_n(&b->sig[i], sig, __ATOMIC_RELEASE);
}

static int index_insert(struct set_index *x, const struct set_table *t, uint32_t at)
{
	uint64_t h = hash(x, &t->entries[at].key, t->wide);
	struct set_bucket *one = first(x, h), *two = second(x, h);
	unsigned int n_one = count(one);

	if (n_one < FIRST_CHOICE || n_one < count(two)) {
		if (n_one == SET_SLOTS)
			return -EAGAIN;
		place(one, signature(h), at);
		return 0;
	}
	if (count(two) == SET_SLOTS)
		return -EAGAIN;
	/* the count first: who sees the member gone from nowhere looks in both */
	__atomic_store_n(&one->spilled, one->spilled + 1, __ATOMIC_RELEASE);
	place(two, signature(h), at);
	return 0;
}

static bool clear(struct set_bucket *b, uint32_t at)
{
	for (unsigned int i = 0; i < SET_SLOTS; i++) {
		if (b->sig[i] == 0 || b->at[i] != at)
			continue;
		__atomic_store_n(&b->sig[i], 0, __ATOMIC_RELEASE);
		return true;
	}
	return false;
}

bool set_table_is_dense(const struct set_table *t)
{
	const struct set_index *x = atomic_load_explicit(&t->index, memory_order_relaxed);

	return t->n >= DENSE * (x->mask + UINT64_C(1));
}

int set_table_grow(struct set_table *t, uint32_t n, struct set_index **old)
{
	struct set_index *was = atomic_load_explicit(&t->index, memory_order_relaxed);
	struct set_index *x;

	n = RTE_MAX(n, DENSE * (was->mask + 1) + 1);
	x = index_create(n, was);
	for (uint32_t i = 0; x != NULL && i < t->high; i++) {
		if (!t->entries[i].used || index_insert(x, t, i) == 0)
			continue;
		/* a bucket that overflows so early is bad luck: more of them, from the start */
		n = DENSE * (x->mask + 1) + 1;
		set_index_free(x);
		x = index_create(n, was);
		i = UINT32_MAX;
	}
	if (x == NULL)
		return -ENOMEM;
	atomic_store_explicit(&t->index, x, memory_order_release);
	*old = was;
	return 0;
}

/* ---- entries ---- */

int set_table_create(
		struct set_table *t, struct sl_router *r, uint32_t room, bool wide, bool extras)
{
	size_t size = room * sizeof(*t->entries);
	struct set_index *x;

	*t = (struct set_table){
		.wide = wide,
		.room = room,
		.free = SET_NONE,
		.gone_first = SET_NONE,
		.gone_last = SET_NONE,
		.r = r,
	};
	/* address space only: pages are taken when they are first written */
	if (cls_arena_create(&t->entry_arena, size, size >= HUGE_MIN) < 0)
		return -ENOMEM;
	t->entries = cls_arena_take(&t->entry_arena, size);
	size = room * sizeof(*t->extras);
	if (extras) {
		if (cls_arena_create(&t->extra_arena, size, size >= HUGE_MIN) < 0)
			goto err_entries;
		t->extras = cls_arena_take(&t->extra_arena, size);
	}
	x = index_create(0, NULL);
	if (x == NULL)
		goto err_extras;
	atomic_init(&t->index, x);
	return 0;

err_extras:
	cls_arena_destroy(&t->extra_arena);
err_entries:
	cls_arena_destroy(&t->entry_arena);
	return -ENOMEM;
}

void set_table_destroy(struct set_table *t)
{
	for (uint32_t i = 0; t->extras != NULL && i < t->high; i++)
		free(t->extras[i].comment);
	set_index_free(atomic_load(&t->index));
	cls_arena_destroy(&t->extra_arena);
	cls_arena_destroy(&t->entry_arena);
}

static bool is_read(const struct set_table *t)
{
	return t->r != NULL && atomic_load_explicit(&t->r->threaded, memory_order_acquire);
}

/* the entry that is gone for longest, if no reader can hold it; SET_NONE: wait */
static uint32_t take_gone(struct set_table *t)
{
	uint32_t at = t->gone_first;
	struct set_entry *e;

	if (at == SET_NONE)
		return SET_NONE;
	e = &t->entries[at];
	if (is_read(t) && rte_rcu_qsbr_check(t->r->rcu, atomic_load(&e->expires_ns), false) == 0)
		return SET_NONE;
	t->gone_first = e->next;
	if (t->gone_first == SET_NONE)
		t->gone_last = SET_NONE;
	return at;
}

struct set_entry *set_table_take(struct set_table *t)
{
	struct set_extra *extra;
	struct set_entry *e;
	uint32_t at = t->free;

	if (at != SET_NONE)
		t->free = t->entries[at].next;
	else
		at = take_gone(t);
	if (at == SET_NONE && t->high < t->room)
		at = t->high++;
	if (at == SET_NONE)
		return NULL;
	e = &t->entries[at];
	atomic_store_explicit(&e->expires_ns, 0, memory_order_relaxed);
	/* the memory of a comment that was here is control's to free */
	atomic_store_explicit(&e->flags, SET_UNCOMMENTED, memory_order_relaxed);
	extra = set_extra(t, e);
	if (extra != NULL) {
		char *comment = extra->comment;

		*extra = (struct set_extra){ .comment = comment };
	}
	return e;
}

int set_table_insert(struct set_table *t, struct set_entry *e)
{
	uint32_t at = (uint32_t)(e - t->entries);
	int ret = index_insert(atomic_load_explicit(&t->index, memory_order_relaxed), t, at);

	if (ret < 0) {
		e->next = t->free;
		t->free = at;
		return ret;
	}
	e->used = true;
	t->n++;
	return 0;
}

void set_table_remove(struct set_table *t, struct set_entry *e)
{
	struct set_index *x = atomic_load_explicit(&t->index, memory_order_relaxed);
	uint64_t h = hash(x, &e->key, t->wide);
	uint32_t at = (uint32_t)(e - t->entries);
	struct set_bucket *one = first(x, h);

	if (!clear(one, at)) {
		clear(second(x, h), at);
		__atomic_store_n(&one->spilled, one->spilled - 1, __ATOMIC_RELEASE);
	}
	e->used = false;
	t->n--;
	atomic_store_explicit(&e->expires_ns, is_read(t) ? rte_rcu_qsbr_start(t->r->rcu) : 1,
			memory_order_relaxed);
	e->next = SET_NONE;
	if (t->gone_last == SET_NONE)
		t->gone_first = at;
	else
		t->entries[t->gone_last].next = at;
	t->gone_last = at;
}
