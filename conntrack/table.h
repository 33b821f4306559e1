/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The connections of one worker: a shard, and all shards of a router. Nobody but its worker touches a
 * shard; control sends messages (sl_worker_call).
 *
 * Index (index.h): buckets of one cache line with tags and entry numbers, two choices, a keyed hash
 * that is the same for both directions of a tuple. An entry without NAT stands in it once; the
 * direction of a packet comes out of the comparison. Times (wheel.h): a wheel that is re-armed when
 * it fires, never by packets.
 *
 * Memory is address space for `max` entries in every shard, whose pages are taken as they are
 * needed: flows that all come to one worker find as much room as flows that spread.
 *
 * An entry is in the index from the moment it is made, so that packets of the same burst meet it.
 * Until it is confirmed it dies at the next tick, when no packet is under way any more.
 */
#pragma once

#include "classifier/arena.h"
#include "conntrack/conf.h"
#include "conntrack/entry.h"
#include "conntrack/invalid.h"
#include "lib/port.h"

#include <stdio.h>

struct ct_events;
struct ct_claims;
struct ct_expects;
struct ct_index;
struct ct_sources;
struct ct_wheel;
struct sl_router;
struct sl_worker;

/*
 * By worker; the kernel's names where it has one. The table counts found (by ct_is_used, as the
 * kernel does), insert, drop, early_drop, chaintoolong, expired and delete (confirmed entries that
 * are gone); the rest is for who knows.
 */
#define CT_STATS(X)      \
	X(found)         \
	X(new)           \
	X(invalid)       \
	X(insert)        \
	X(insert_failed) \
	X(drop)          \
	X(early_drop)    \
	X(error)         \
	X(clash_resolve) \
	X(chaintoolong)  \
	X(icmp_error)    \
	X(expect_new)    \
	X(expect_create) \
	X(expect_delete) \
	X(expired)       \
	X(delete)

struct ct_stats {
#define X(name) uint64_t name;
	CT_STATS(X)
#undef X
};

struct ct_shard {
	struct ct_entry *entries; /* [const] the place */
	struct ct_cold *cold; /* [const] by number of the entry */
	struct ct_index *index;
	struct ct_wheel *wheel;
	struct ct_sources *sources; /* NULL until there is NAT; conntrack/nat.h */
	const struct ct_conf *conf; /* set by the stage at the start of a burst */
	uint32_t max; /* [const] of the whole table: one shard may come to hold them all */
	uint32_t room; /* [const] entries of memory: max and what one turn may need on top */
	uint32_t count; /* entries, confirmed or not, as nf_conntrack_count */
	uint32_t quota; /* what count may come to before more is taken from the table's */
	uint32_t high; /* entries ever used */
	uint32_t *free; /* stack of those that are so no more */
	uint32_t n_free;
	uint32_t fresh; /* list: made since the last tick */
	uint32_t n_fresh;
	uint32_t dying; /* list: out of the index since the last tick */
	uint32_t last_id;
	uint32_t now_ms; /* of the burst */
	uint32_t sweep_at; /* of early drop: next entry to look at; CT_NONE: none is under way */
	uint32_t sweep_ms; /* before then no other begins here */
	uint32_t sweep_seen; /* struct ct_table's sweeps that it has taken part in */
	uint16_t worker;
	struct ct_table *table; /* [const] */
	struct ct_events *events; /* NULL: nobody listens; conntrack/events.h */
	struct ct_stats stats;
	uint64_t nat_exhausted; /* packets whose connection found no free port */
	uint64_t invalid[CT_INVALID_NB]; /* packets that a protocol found INVALID, by reason */
	enum ct_invalid why; /* the last one of them */
	uint64_t full; /* packets of stats.drop whose connection found no place */
	bool split_zones; /* a zone has counted in one direction only: replies may clash */
	struct cls_arena mem, cold_mem;
} __rte_cache_aligned;

struct ct_table {
	struct sl_router *r;
	unsigned int n_shards;
	struct ct_shard *shard[SL_WORKERS_MAX];
	struct ct_claims *claims; /* NULL until there is NAT; conntrack/claims.h */
	struct ct_expects *expects; /* shared by the workers; conntrack/expect.h */
	struct ct_conf conf; /* as the table was made */
	uint32_t secret[8]; /* [const] key of the hash, of ids */
	uint32_t batch; /* [const] places that a shard takes or gives back at once */

	/* the only words that workers share: one changes once in @batch entries, one almost never */
	_Atomic uint32_t taken __rte_cache_aligned; /* sum of the shards' quotas */
	_Atomic uint32_t sweeps __rte_cache_aligned; /* times that nothing could be dropped early */
};

/**
 * ct_table_get() - [control] the connections of a router, made at the first call
 *
 * Attached to the router, lives as long. Return: NULL without memory.
 */
struct ct_table *ct_table_get(struct sl_router *r, const struct ct_conf *conf);
/* the same if it is there already, else NULL */
struct ct_table *ct_table_of(const struct sl_router *r);

/* entries of all shards; from any thread, while they work a moment old */
uint32_t ct_table_count(const struct ct_table *t);
/* the sum of a counter over the shards, likewise */
void ct_table_stats(const struct ct_table *t, struct ct_stats *sum);

/* the clock of entries: milliseconds of the worker's clock, wraps */
static inline uint32_t ct_now(uint64_t now_ns)
{
	return (uint32_t)(now_ns / 1000000);
}

struct ct_found {
	struct ct_entry *e; /* NULL: no connection has this tuple */
	enum ct_dir dir;
};

/**
 * ct_find_bulk() - the connections of @n (1..SL_BURST) tuples
 *
 * What has expired or is dying is not found. Prefetches what it reads, and line 1 of what it finds.
 */
void ct_find_bulk(struct ct_shard *s, const struct ct_tuple *t, unsigned int n,
		struct ct_found *found);
struct ct_found ct_find(struct ct_shard *s, const struct ct_tuple *t);
/* only one that has the tuple in this direction: in zones of one direction two may have it */
struct ct_found ct_find_dir(struct ct_shard *s, const struct ct_tuple *t, enum ct_dir dir);

/**
 * ct_create() - a new entry for @orig and its answer @reply, in the index by @orig
 *
 * Zeroed but for tuples, id, created_ms and cold data. If all places are taken one that may go is
 * dropped early, as the kernel does. Return: NULL if none may (stats.drop is counted).
 */
struct ct_entry *ct_create(
		struct ct_shard *s, const struct ct_tuple *orig, const struct ct_tuple *reply);

/**
 * ct_set_reply() - NAT: another reply tuple, and in the index by it
 *
 * Return: 0, or -EEXIST if a connection has this tuple, -ENOSPC if the index has no place for it
 * (does not happen in this life); then nothing has changed.
 */
int ct_set_reply(struct ct_shard *s, struct ct_entry *e, const struct ct_tuple *reply);

/* the same where it is known that no connection has this tuple */
int ct_set_unused_reply(struct ct_shard *s, struct ct_entry *e, const struct ct_tuple *reply);

/**
 * ct_hold_reply() - NAT: another reply tuple, which is not yet the last
 *
 * Two connections may have the same one for now: ct_set_reply() has to follow, and tells. Until then
 * nothing is found by replies.
 */
void ct_hold_reply(struct ct_shard *s, struct ct_entry *e, const struct ct_tuple *reply);

/*
 * ct_reply_clashes() - whether another connection has the reply of @e, which is about to stay
 *
 * NAT sees to it that none has; a zone that counts in one direction only does not. As in the kernel
 * the zones of both are compared in the direction in which the other one has the tuple.
 */
bool ct_reply_clashes(struct ct_shard *s, const struct ct_entry *e);

/* whether a connection other than @e (may be NULL) has this tuple in any direction */
bool ct_is_used(struct ct_shard *s, const struct ct_tuple *t, const struct ct_entry *e);

/* the packet that made it has passed the last hook: it stays, its time runs */
void ct_confirm(struct ct_shard *s, struct ct_entry *e);

/* out of the index at once; the memory is free at the next tick. Confirmed or not; twice is once */
void ct_kill(struct ct_shard *s, struct ct_entry *e);

/* lives @timeout_s from now */
static inline void ct_refresh(struct ct_shard *s, struct ct_entry *e, uint32_t timeout_s)
{
	if ((e->status & CT_FIXED_TIMEOUT) == 0)
		e->expires_ms = s->now_ms + timeout_s * 1000;
}

static inline bool ct_is_expired(const struct ct_entry *e, uint32_t now_ms)
{
	return (int32_t)(e->expires_ms - now_ms) <= 0;
}

/* seconds left, as the kernel prints them; 0 if it is over */
static inline uint32_t ct_seconds_left(const struct ct_entry *e, uint32_t now_ms)
{
	int32_t left = (int32_t)(e->expires_ms - now_ms);

	return left <= 0 ? 0 : (uint32_t)left / 1000;
}

static inline uint32_t ct_index_of(const struct ct_shard *s, const struct ct_entry *e)
{
	return (uint32_t)(e - s->entries);
}

/* cold data for reading (may be all zero), and for writing */
static inline const struct ct_cold *ct_cold_peek(const struct ct_shard *s, const struct ct_entry *e)
{
	return &s->cold[ct_index_of(s, e)];
}

static inline struct ct_cold *ct_cold(struct ct_shard *s, struct ct_entry *e)
{
	e->status |= CT_COLD;
	return &s->cold[ct_index_of(s, e)];
}

static inline struct ct_ref ct_ref(const struct ct_shard *s, const struct ct_entry *e)
{
	return (struct ct_ref){ e->id, ct_index_of(s, e), s->worker };
}

/**
 * ct_tick() - once a turn: frees what has died or was never confirmed, fires what is due
 *
 * A bounded number of entries a call.
 */
void ct_tick(struct ct_shard *s, uint32_t now_ms);

/**
 * ct_walk() - [worker] some entries, to go through all of them in pieces
 * @from: index to begin at; 0 at first
 * @n:    entries of memory to look at
 * @fn:   for every confirmed one that has not expired; may kill it
 *
 * Return: where to go on, CT_NONE at the end.
 */
uint32_t ct_walk(struct ct_shard *s, uint32_t from, uint32_t n,
		void (*fn)(struct ct_shard *s, struct ct_entry *e, void *arg), void *arg);
