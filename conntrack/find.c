/* SPDX-License-Identifier: BSD-3-Clause */
/* Look-ups: by bulk, in three passes so that 64 misses of memory are waited for together, and by one. */
#include "conntrack/index.h"
#include "conntrack/table.h"
#include "conntrack/turn.h"

#include <rte_branch_prediction.h>

/**
 * matches() - has an entry the tuple by which it stands in a slot
 * @ref:  of the slot
 * @turn: ct_turned_tail(@t)
 */
static inline bool matches(const struct ct_shard *s, uint32_t ref, const struct ct_tuple *t,
		uint64_t turn, enum ct_dir *dir)
{
	const struct ct_entry *e = &s->entries[ref >> 2];
	bool same, turned;

	if (unlikely((ref & 3) == CT_STANDS_REPLY)) {
		*dir = CT_REPLY;
		return ct_is_same(t, &e->reply);
	}
	same = ct_is_same(t, &e->orig);
	turned = ct_is_turned(t, turn, &e->orig) & ((ref & 3) == CT_STANDS_BOTH);
	*dir = same ? CT_ORIGINAL : CT_REPLY;
	return same | turned;
}

static inline bool is_over(const struct ct_shard *s, const struct ct_entry *e)
{
	return unlikely(ct_is_expired(e, s->now_ms)) && e->status & CT_CONFIRMED;
}

/* what is over goes when it is met, so that a new one of the same tuple does not stand behind it */
static void meet_over(struct ct_shard *s, struct ct_entry *e)
{
	s->stats.expired++;
	ct_kill(s, e);
}

#define ANY_DIR CT_DIR_NB

/* by one bucket; not @except, and what it has in direction @dir or ANY_DIR */
static struct ct_found find_in(struct ct_shard *s, const struct ct_bucket *b, uint16_t tag,
		const struct ct_tuple *t, uint64_t turn, const struct ct_entry *except,
		enum ct_dir dir)
{
	for (unsigned int slots = ct_slots_of(b, tag); slots != 0;) {
		unsigned int i = (unsigned int)__builtin_ctz(slots) / 2;
		struct ct_entry *e = &s->entries[b->ref[i] >> 2];
		struct ct_found found = { e, CT_ORIGINAL };

		slots &= ~(3U << (2 * i));
		if (!matches(s, b->ref[i], t, turn, &found.dir) || e == except
				|| (dir != ANY_DIR && found.dir != dir))
			continue;
		if (!is_over(s, e))
			return found;
		meet_over(s, e);
	}
	return (struct ct_found){ NULL, CT_ORIGINAL };
}

static struct ct_found find(struct ct_shard *s, uint64_t h, const struct ct_tuple *t,
		const struct ct_entry *except, enum ct_dir dir)
{
	const struct ct_index *x = s->index;
	uint32_t v = (uint32_t)h;
	uint16_t tag = ct_tag(h);
	uint64_t turn = ct_turned_tail(t);
	struct ct_found found = find_in(s, &x->buckets[ct_where(x, v)], tag, t, turn, except, dir);

	if (found.e == NULL)
		found = find_in(s, &x->buckets[ct_where(x, ct_other(v, tag))], tag, t, turn, except,
				dir);
	return found;
}

struct ct_found ct_find(struct ct_shard *s, const struct ct_tuple *t)
{
	return find(s, ct_hash(&s->index->key, t), t, NULL, ANY_DIR);
}

struct ct_found ct_find_dir(struct ct_shard *s, const struct ct_tuple *t, enum ct_dir dir)
{
	return find(s, ct_hash(&s->index->key, t), t, NULL, dir);
}

bool ct_reply_clashes(struct ct_shard *s, const struct ct_entry *e)
{
	uint64_t h = ct_hash(&s->index->key, &e->reply);

	return find(s, h, &e->reply, e, CT_REPLY).e != NULL
			|| (e->orig.zone == e->reply.zone
					&& find(s, h, &e->reply, e, CT_ORIGINAL).e != NULL);
}

bool ct_is_used(struct ct_shard *s, const struct ct_tuple *t, const struct ct_entry *e)
{
	bool used = find(s, ct_hash(&s->index->key, t), t, e, ANY_DIR).e != NULL;

	s->stats.found += used;
	return used;
}

/*
 * Into the second cache: of 64 packets more lines are under way than the first has places to wait
 * for, and what is asked of it beyond those is forgotten (measured on Zen 4: from 22 on). UDP has
 * nothing on the second line.
 */
static inline void fetch(const struct ct_shard *s, uint32_t ref, uint8_t proto)
{
	const struct ct_entry *e = &s->entries[ref >> 2];

	rte_prefetch1(e);
	if (proto != IPPROTO_UDP)
		rte_prefetch1(&e->tcp);
	/* found by either of two tuples: NAT writes from the reply's */
	if ((ref & 3) != CT_STANDS_BOTH)
		rte_prefetch1(&e->reply);
}

void ct_find_bulk(struct ct_shard *s, const struct ct_tuple *t, unsigned int n,
		struct ct_found *found)
{
	const struct ct_index *x = s->index;
	const struct ct_bucket *b[SL_BURST];
	uint64_t hash[SL_BURST];
	uint32_t ref[SL_BURST];
	uint8_t second[SL_BURST] = { 0 };
	unsigned int n_second = 0;

	for (unsigned int i = 0; i < n; i++) {
		hash[i] = ct_hash(&x->key, &t[i]);
		b[i] = &x->buckets[ct_where(x, (uint32_t)hash[i])];
		rte_prefetch1(b[i]);
	}
	/*
	 * Without a branch on what a bucket holds: one that is guessed wrong is found out when the
	 * bucket has come, and until then nothing behind it is fetched. Where no tag is the right one
	 * some entry is fetched for nothing.
	 */
	for (unsigned int i = 0; i < n; i++) {
		unsigned int slots = ct_slots_of(b[i], ct_tag(hash[i]));

		ref[i] = b[i]->ref[__builtin_ctz(slots | 1U << 14) / 2];
		fetch(s, ref[i], t[i].proto);
		second[n_second] = (uint8_t)i;
		n_second += slots == 0;
	}
	for (unsigned int k = 0; k < n_second; k++) {
		unsigned int i = second[k];

		b[i] = &x->buckets[ct_where(x, ct_other((uint32_t)hash[i], ct_tag(hash[i])))];
		rte_prefetch1(b[i]);
	}
	for (unsigned int k = 0; k < n_second; k++) {
		unsigned int i = second[k];
		unsigned int slots = ct_slots_of(b[i], ct_tag(hash[i]));

		ref[i] = UINT32_MAX;
		if (slots == 0)
			continue;
		ref[i] = b[i]->ref[__builtin_ctz(slots) / 2];
		fetch(s, ref[i], t[i].proto);
	}
	for (unsigned int i = 0; i < n; i++) {
		found[i] = (struct ct_found){ NULL, CT_ORIGINAL };
		if (ref[i] == UINT32_MAX)
			continue;
		found[i].e = &s->entries[ref[i] >> 2];
		if (likely(matches(s, ref[i], &t[i], ct_turned_tail(&t[i]), &found[i].dir)
				    && !is_over(s, found[i].e)))
			continue;
		found[i] = find(s, hash[i], &t[i], NULL, ANY_DIR);
	}
}
