/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/life.h"

#include "conntrack/early_drop.h"
#include "conntrack/events.h"
#include "conntrack/index.h"
#include "conntrack/nat.h"
#include "conntrack/turn.h"
#include "conntrack/wheel.h"

#include <rte_branch_prediction.h>

#include <errno.h>

#define FETCH_AHEAD 4 /* entries that will be made next */

bool ct_place_take(struct ct_shard *s)
{
	struct ct_table *t = s->table;
	uint32_t taken, more;

	if (unlikely(s->count == s->quota)) {
		taken = atomic_load_explicit(&t->taken, memory_order_relaxed);
		do {
			more = RTE_MIN(t->batch, s->max - taken);
			if (more == 0)
				return false;
		} while (!atomic_compare_exchange_weak_explicit(&t->taken, &taken, taken + more,
				memory_order_relaxed, memory_order_relaxed));
		s->quota += more;
	}
	s->count++;
	return true;
}

void ct_place_give(struct ct_shard *s)
{
	struct ct_table *t = s->table;

	s->count--;
	if (unlikely(s->quota - s->count >= 2 * t->batch - 1)) {
		s->quota -= t->batch;
		atomic_fetch_sub_explicit(&t->taken, t->batch, memory_order_relaxed);
	}
}

static inline void fetch(const struct ct_shard *s, uint32_t at)
{
	const struct ct_entry *e = &s->entries[at];

	rte_prefetch0_write(e);
	rte_prefetch0_write(&e->tcp);
	rte_prefetch0_write(&e->reply);
}

/* memory for one; CT_NONE: none is left until the turn ends */
static uint32_t memory_take(struct ct_shard *s)
{
	if (s->n_free > 0) {
		if (s->n_free > FETCH_AHEAD)
			fetch(s, s->free[s->n_free - 1 - FETCH_AHEAD]);
		return s->free[--s->n_free];
	}
	if (unlikely(s->high == s->room))
		return CT_NONE;
	if (s->high + FETCH_AHEAD < s->room)
		fetch(s, s->high + FETCH_AHEAD);
	return s->high++;
}

static void memory_give(struct ct_shard *s, struct ct_entry *e)
{
	e->status &= CT_COLD;
	s->free[s->n_free++] = ct_index_of(s, e);
}

static uint32_t next_id(struct ct_shard *s)
{
	if (unlikely(++s->last_id == 0))
		s->last_id = 1;
	return s->last_id;
}

static void entry_init(struct ct_shard *s, struct ct_entry *e, const struct ct_tuple *orig,
		const struct ct_tuple *reply)
{
	uint16_t slot = e->slot;

	if (unlikely(e->status & CT_COLD))
		memset(&s->cold[ct_index_of(s, e)], 0, sizeof(*s->cold));
	memset(e, 0, sizeof(*e));
	e->orig = *orig;
	e->reply = *reply;
	e->status = CT_FRESH;
	e->id = next_id(s);
	e->slot = slot;
	e->created_ms = s->now_ms;
	e->next = s->fresh;
	s->fresh = ct_index_of(s, e);
	s->n_fresh++;
}

struct ct_entry *ct_create(
		struct ct_shard *s, const struct ct_tuple *orig, const struct ct_tuple *reply)
{
	uint64_t hash = ct_hash(&s->index->key, orig);
	bool two = !ct_is_turned(orig, ct_turned_tail(orig), reply);
	struct ct_entry *e;
	uint32_t at;

	if (unlikely(!ct_place_take(s)) && !(ct_early_drop(s, hash) && ct_place_take(s)))
		goto full;
	at = memory_take(s);
	if (unlikely(at == CT_NONE))
		goto give_place;
	e = &s->entries[at];
	if (unlikely(!ct_index_insert(
			    s->index, hash, at, two ? CT_STANDS_ORIGINAL : CT_STANDS_BOTH)))
		goto give_memory;
	if (unlikely(two)
			&& !ct_index_insert(s->index, ct_hash(&s->index->key, reply), at,
					CT_STANDS_REPLY)) {
		ct_index_remove(s->index, hash, at, CT_STANDS_ORIGINAL);
		goto give_memory;
	}
	entry_init(s, e, orig, reply);
	if (unlikely(two)) {
		e->status |= CT_TWO_TUPLES;
		s->split_zones |= orig->zone != reply->zone;
	}
	return e;

give_memory:
	s->stats.chaintoolong++;
	s->free[s->n_free++] = at;
give_place:
	ct_place_give(s);
full:
	s->full++;
	s->stats.drop++;
	return NULL;
}

/* the entry stands by its original tuple alone, or by both that are one turned round */
static void stand(struct ct_shard *s, const struct ct_entry *e, uint32_t was, uint32_t now)
{
	uint32_t at = ct_index_of(s, e);

	if (was != now)
		*ct_index_slot(s->index, ct_hash(&s->index->key, &e->orig), at, was) =
				at << 2 | now;
}

void ct_hold_reply(struct ct_shard *s, struct ct_entry *e, const struct ct_tuple *reply)
{
	if (e->status & CT_TWO_TUPLES)
		ct_index_remove(s->index, ct_hash(&s->index->key, &e->reply), ct_index_of(s, e),
				CT_STANDS_REPLY);
	else if ((e->status & CT_REPLY_HELD) == 0)
		stand(s, e, CT_STANDS_BOTH, CT_STANDS_ORIGINAL);
	e->status &= ~CT_TWO_TUPLES;
	e->status |= CT_REPLY_HELD;
	e->reply = *reply;
}

int ct_set_reply(struct ct_shard *s, struct ct_entry *e, const struct ct_tuple *reply)
{
	if ((e->status & CT_REPLY_HELD) == 0 && ct_tuple_eq(&e->reply, reply))
		return 0;
	return ct_is_used(s, reply, e) ? -EEXIST : ct_set_unused_reply(s, e, reply);
}

int ct_set_unused_reply(struct ct_shard *s, struct ct_entry *e, const struct ct_tuple *reply)
{
	struct ct_index *x = s->index;
	uint32_t at = ct_index_of(s, e);
	bool held = e->status & CT_REPLY_HELD;
	bool had_two = e->status & CT_TWO_TUPLES;
	bool two = !ct_is_turned(&e->orig, ct_turned_tail(&e->orig), reply);

	if (!held && ct_tuple_eq(&e->reply, reply))
		return 0;
	if (two && !ct_index_insert(x, ct_hash(&x->key, reply), at, CT_STANDS_REPLY)) {
		s->stats.chaintoolong++;
		return -ENOSPC;
	}
	if (had_two)
		ct_index_remove(x, ct_hash(&x->key, &e->reply), at, CT_STANDS_REPLY);
	stand(s, e, had_two || held ? CT_STANDS_ORIGINAL : CT_STANDS_BOTH,
			two ? CT_STANDS_ORIGINAL : CT_STANDS_BOTH);
	e->status &= ~(CT_TWO_TUPLES | CT_REPLY_HELD);
	if (two)
		e->status |= CT_TWO_TUPLES;
	e->reply = *reply;
	return 0;
}

void ct_confirm(struct ct_shard *s, struct ct_entry *e)
{
	if (e->status & (CT_CONFIRMED | CT_DYING))
		return;
	e->status |= CT_CONFIRMED;
	s->stats.insert++;
	ct_wheel_arm(s, e);
	ct_event(s, e, e->status & CT_EXPECTED ? CT_EVENT_RELATED : CT_EVENT_NEW);
}

/* out of the index, and no longer counted */
static void unlink_entry(struct ct_shard *s, struct ct_entry *e, uint64_t hash)
{
	struct ct_index *x = s->index;
	uint32_t at = ct_index_of(s, e);

	if (unlikely(e->status & CT_TWO_TUPLES)) {
		ct_index_remove(x, hash, at, CT_STANDS_ORIGINAL);
		ct_index_remove(x, ct_hash(&x->key, &e->reply), at, CT_STANDS_REPLY);
	} else {
		ct_index_remove(x, hash, at,
				e->status & CT_REPLY_HELD ? CT_STANDS_ORIGINAL : CT_STANDS_BOTH);
	}
	if (e->status & (CT_IN_SOURCES | CT_CLAIMED))
		ct_nat_forget(s, e);
	s->stats.delete += (e->status & CT_CONFIRMED) != 0;
	if (e->status & CT_CONFIRMED)
		ct_event(s, e, CT_EVENT_DESTROY);
	e->status |= CT_DYING | CT_UNFOUND;
	ct_place_give(s);
}

void ct_kill(struct ct_shard *s, struct ct_entry *e)
{
	if (e->status & CT_DYING)
		return;
	unlink_entry(s, e, ct_hash(&s->index->key, &e->orig));
	if (e->status & CT_FRESH) /* on a list already */
		return;
	e->next = s->dying;
	s->dying = ct_index_of(s, e);
}

void ct_expire(struct ct_shard *s, struct ct_entry *e, uint64_t hash)
{
	s->stats.expired++;
	unlink_entry(s, e, hash);
	memory_give(s, e);
}

uint32_t ct_bury(struct ct_shard *s)
{
	uint32_t made = s->n_fresh;

	while (s->fresh != CT_NONE) {
		struct ct_entry *e = &s->entries[s->fresh];

		s->fresh = e->next;
		e->status &= ~CT_FRESH;
		if (likely(e->status & CT_CONFIRMED) && likely((e->status & CT_DYING) == 0))
			continue;
		if ((e->status & CT_DYING) == 0)
			unlink_entry(s, e, ct_hash(&s->index->key, &e->orig));
		memory_give(s, e);
	}
	while (s->dying != CT_NONE) {
		struct ct_entry *e = &s->entries[s->dying];

		s->dying = e->next;
		memory_give(s, e);
	}
	s->n_fresh = 0;
	return made;
}
