/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/table.h"

#include "conntrack/claims.h"
#include "conntrack/early_drop.h"
#include "conntrack/expect.h"
#include "conntrack/index.h"
#include "conntrack/life.h"
#include "conntrack/nat.h"
#include "conntrack/proto.h"
#include "conntrack/wheel.h"
#include "lib/log.h"
#include "lib/router.h"
#include "lib/worker.h"

#include <rte_malloc.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

SL_LOG_TYPE("conntrack");

/* entries that one turn may make while those that it kills still have their memory */
#define TURN_ROOM 8192
#define MAX_OF_SHARD (1U << 29) /* the index keeps 30 bits of a number */

static const char table_key; /* its address names the attachment */

static uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* six words out of the table's 256 bits */
static struct ct_hash_key hash_key(const struct ct_table *t)
{
	struct ct_hash_key key;
	uint64_t w[4];

	memcpy(w, t->secret, sizeof(w));
	for (unsigned int i = 0; i < RTE_DIM(key.word); i++)
		key.word[i] = mix(w[i % RTE_DIM(w)] + i * 0x9e3779b97f4a7c15ULL) | 1;
	return key;
}

static void shard_free(struct ct_shard *s)
{
	if (s == NULL)
		return;
	ct_sources_free(s);
	ct_wheel_free(s->wheel);
	ct_index_free(s->index);
	cls_arena_destroy(&s->cold_mem);
	cls_arena_destroy(&s->mem);
	rte_free(s);
}

/* pages for what this worker's part of the connections comes to, taken before the first packet */
static void shard_populate(struct ct_shard *s, uint32_t n)
{
	cls_arena_populate(&s->mem, 0, (size_t)n * sizeof(*s->entries));
	ct_index_populate(s->index, n);
}

static struct ct_shard *shard_create(struct ct_table *t, uint16_t worker)
{
	struct ct_shard *s = rte_zmalloc("ct_shard", sizeof(*s), RTE_CACHE_LINE_SIZE);
	struct ct_hash_key key = hash_key(t);
	size_t entries, stack, cold;

	if (s == NULL)
		return NULL;
	s->table = t;
	s->conf = &t->conf;
	s->worker = worker;
	s->max = t->conf.max;
	s->room = s->max + TURN_ROOM;
	s->fresh = s->dying = s->sweep_at = CT_NONE;
	entries = s->room * sizeof(*s->entries);
	stack = s->room * sizeof(*s->free);
	cold = s->room * sizeof(*s->cold);
	/* without accounting few connections have cold data: small pages for them */
	if (cls_arena_create(&s->mem, entries + stack, true) < 0
			|| cls_arena_create(&s->cold_mem, cold, t->conf.acct != 0) < 0)
		goto err_free;
	s->entries = cls_arena_take(&s->mem, entries);
	s->free = cls_arena_take(&s->mem, stack);
	s->cold = cls_arena_take(&s->cold_mem, cold);
	/* with NAT an entry has two keys */
	if (ct_index_create(2 * s->room, &key, true, &s->index) < 0
			|| ct_wheel_create(s->room, true, &s->wheel) < 0)
		goto err_free;
	return s;

err_free:
	shard_free(s);
	return NULL;
}

static void table_free(void *ptr)
{
	struct ct_table *t = ptr;

	for (unsigned int i = 0; i < t->n_shards; i++)
		shard_free(t->shard[i]);
	ct_expects_free(t->expects);
	ct_claims_free(t);
	rte_free(t);
}

static void draw_secret(struct ct_table *t)
{
	/* a replay has to be the same each time, and has no strangers */
	if (t->r->manual_clock)
		for (unsigned int i = 0; i < RTE_DIM(t->secret); i++)
			t->secret[i] = i + 1;
	else if (getrandom(t->secret, sizeof(t->secret), 0) != (ssize_t)sizeof(t->secret))
		SL_LOG(WARNING, "no random numbers: %s", strerror(errno));
}

/*
 * Places are taken in batches, so that the word that counts them is seldom written, and that what
 * workers hold unused comes to a thirty-second of the table at most.
 */
static uint32_t batch_of(const struct ct_table *t)
{
	uint32_t batch = t->conf.max / (64 * t->n_shards);

	if (t->n_shards == 1)
		return t->conf.max;
	/* how many workers there are must not show in a replay */
	return t->r->manual_clock || batch == 0 ? 1 : RTE_MIN(batch, 64U);
}

struct ct_table *ct_table_of(const struct sl_router *r)
{
	return sl_router_attached(r, &table_key);
}

/* sl_closed_fn */
static void closed(struct sl_worker *w, struct ct_entry *e)
{
	ct_tcp_set_closing(ct_table_of(w->r)->shard[w->id], e);
}

struct ct_table *ct_table_get(struct sl_router *r, const struct ct_conf *conf)
{
	struct ct_table *t = ct_table_of(r);

	if (t != NULL)
		return t;
	t = rte_zmalloc("ct_table", sizeof(*t), RTE_CACHE_LINE_SIZE);
	if (t == NULL)
		return NULL;
	t->r = r;
	t->conf = *conf;
	t->conf.max = RTE_MIN(conf->max, MAX_OF_SHARD);
	t->n_shards = r->n_workers;
	t->batch = batch_of(t);
	draw_secret(t);
	t->expects = ct_expects_create(t->conf.expect_max);
	if (t->expects == NULL)
		goto err_free;
	for (unsigned int i = 0; i < t->n_shards; i++) {
		t->shard[i] = shard_create(t, (uint16_t)i);
		if (t->shard[i] == NULL)
			goto err_free;
		if (!r->manual_clock)
			shard_populate(t->shard[i], t->conf.max / t->n_shards);
	}
	if (sl_router_attach(r, &table_key, t, table_free) < 0)
		goto err_free;
	atomic_store_explicit(&r->closed, closed, memory_order_release);
	return t;

err_free:
	table_free(t);
	return NULL;
}

uint32_t ct_table_count(const struct ct_table *t)
{
	uint32_t count = 0;

	for (unsigned int i = 0; i < t->n_shards; i++)
		count += __atomic_load_n(&t->shard[i]->count, __ATOMIC_RELAXED);
	return count;
}

void ct_table_stats(const struct ct_table *t, struct ct_stats *sum)
{
	*sum = (struct ct_stats){ 0 };
	for (unsigned int i = 0; i < t->n_shards; i++) {
		const struct ct_stats *s = &t->shard[i]->stats;

#define X(name) sum->name += __atomic_load_n(&s->name, __ATOMIC_RELAXED);
		CT_STATS(X)
#undef X
	}
}

void ct_tick(struct ct_shard *s, uint32_t now_ms)
{
	uint32_t made;

	s->now_ms = now_ms;
	ct_early_sweep(s);
	made = ct_bury(s);
	ct_wheel_tick(s, 2 * made);
}

uint32_t ct_walk(struct ct_shard *s, uint32_t from, uint32_t n,
		void (*fn)(struct ct_shard *s, struct ct_entry *e, void *arg), void *arg)
{
	uint32_t end = from >= s->high || n >= s->high - from ? s->high : from + n;

	for (uint32_t i = from; i < end; i++) {
		struct ct_entry *e = &s->entries[i];

		if ((e->status & (CT_CONFIRMED | CT_DYING)) == CT_CONFIRMED
				&& !ct_is_expired(e, s->now_ms))
			fn(s, e, arg);
	}
	return end == s->high ? CT_NONE : end;
}
