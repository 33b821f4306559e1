/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/expect.h"

#include "conntrack/helper.h"

#include <rte_spinlock.h>

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>

#define NONE UINT32_MAX
#define TICK_MAX 64

struct slot {
	struct ct_expect e;
	uint32_t next; /* in its bucket, or in the free list */
	uint32_t next_of_master;
	bool used;
};

struct ct_expects {
	rte_spinlock_t lock;
	_Atomic uint32_t count;
	uint32_t max, free, swept;
	uint32_t mask; /* buckets less one */
	_Atomic uint32_t *bucket; /* by destination */
	uint32_t *by_master;
	struct slot slot[];
};

struct ct_expects *ct_expects_create(uint32_t max)
{
	struct ct_expects *x = calloc(1, sizeof(*x) + (size_t)max * sizeof(x->slot[0]));
	uint32_t n = rte_align32pow2(max);

	if (x == NULL)
		return NULL;
	x->bucket = calloc(n, sizeof(x->bucket[0]));
	x->by_master = calloc(n, sizeof(x->by_master[0]));
	if (x->bucket == NULL || x->by_master == NULL) {
		ct_expects_free(x);
		return NULL;
	}
	rte_spinlock_init(&x->lock);
	x->max = max;
	x->mask = n - 1;
	for (uint32_t i = 0; i < n; i++) {
		atomic_init(&x->bucket[i], NONE);
		x->by_master[i] = NONE;
	}
	for (uint32_t i = 0; i < max; i++)
		x->slot[i].next = i + 1 < max ? i + 1 : NONE;
	return x;
}

void ct_expects_free(struct ct_expects *x)
{
	if (x == NULL)
		return;
	free(x->bucket);
	free(x->by_master);
	free(x);
}

uint32_t ct_expects_count(const struct ct_expects *x)
{
	return atomic_load_explicit(&x->count, memory_order_relaxed);
}

/* what never is masked: destination and its port */
static uint32_t bucket_of(
		const struct ct_expects *x, const struct ct_table *t, const struct ct_tuple *tuple)
{
	uint64_t h = t->secret[0] | (uint64_t)t->secret[1] << 32;

	h = (h ^ tuple->dst.q[0]) * 0x9e3779b97f4a7c15ULL;
	h = (h ^ h >> 29 ^ tuple->dst.q[1]) * 0xbf58476d1ce4e5b9ULL;
	h = (h ^ h >> 32 ^ (uint64_t)tuple->dport_be << 8 ^ tuple->proto) * 0x94d049bb133111ebULL;
	return (uint32_t)(h >> 32) & x->mask;
}

static uint32_t master_bucket(const struct ct_expects *x, const struct ct_ref *master)
{
	return (master->at * 0x9e3779b9U ^ master->worker) & x->mask;
}

static bool same_master(const struct ct_ref *a, const struct ct_ref *b)
{
	return a->id == b->id && a->at == b->at && a->worker == b->worker;
}

/* do @a and @b agree in the bits of @m and @n */
static bool agree(const struct ct_tuple *a, const struct ct_tuple *b, const struct ct_tuple *m,
		const struct ct_tuple *n)
{
	for (unsigned int i = 0; i < 2; i++)
		if (((a->src.q[i] ^ b->src.q[i]) & m->src.q[i] & n->src.q[i])
				|| ((a->dst.q[i] ^ b->dst.q[i]) & m->dst.q[i] & n->dst.q[i]))
			return false;
	return ((a->sport_be ^ b->sport_be) & m->sport_be & n->sport_be) == 0
			&& ((a->dport_be ^ b->dport_be) & m->dport_be & n->dport_be) == 0
			&& a->family == b->family && a->proto == b->proto && a->zone == b->zone;
}

static void unchain(struct ct_expects *x, const struct ct_table *t, uint32_t i)
{
	struct slot *s = &x->slot[i];
	uint32_t b = bucket_of(x, t, &s->e.tuple), at = atomic_load(&x->bucket[b]);
	uint32_t *link = &x->by_master[master_bucket(x, &s->e.master)];

	if (at == i)
		atomic_store(&x->bucket[b], s->next);
	else {
		while (x->slot[at].next != i)
			at = x->slot[at].next;
		x->slot[at].next = s->next;
	}
	while (*link != i)
		link = &x->slot[*link].next_of_master;
	*link = s->next_of_master;
	s->used = false;
	s->next = x->free;
	x->free = i;
	atomic_fetch_sub(&x->count, 1);
}

/* the one that has announced it, if it still is there and confirmed */
static const struct ct_entry *master_of(const struct ct_table *t, const struct ct_ref *ref)
{
	const struct ct_entry *e = &t->shard[ref->worker]->entries[ref->at];
	uint32_t status = __atomic_load_n(&e->status, __ATOMIC_RELAXED);

	if (__atomic_load_n(&e->id, __ATOMIC_RELAXED) != ref->id
			|| (status & (CT_CONFIRMED | CT_DYING)) != CT_CONFIRMED)
		return NULL;
	return e;
}

static bool is_over(const struct ct_expect *e, uint32_t now_ms)
{
	return (int32_t)(e->expires_ms - now_ms) <= 0;
}

/* Return: 0, or -EBUSY. The same one of the same master goes. */
static int make_way(struct ct_shard *s, struct ct_expects *x, const struct ct_expect *e)
{
	uint32_t next;

	for (uint32_t i = atomic_load(&x->bucket[bucket_of(x, s->table, &e->tuple)]); i != NONE;
			i = next) {
		const struct ct_expect *o = &x->slot[i].e;

		next = x->slot[i].next;
		if (!agree(&o->tuple, &e->tuple, &o->mask, &e->mask))
			continue;
		if (!is_over(o, s->now_ms) && !same_master(&o->master, &e->master))
			return -EBUSY;
		unchain(x, s->table, i);
		s->stats.expect_delete++;
	}
	return 0;
}

/* over what the helper allows: the oldest of the master goes */
static void evict(struct ct_shard *s, struct ct_expects *x, const struct ct_expect *e)
{
	uint32_t oldest = NONE, n = 0;

	for (uint32_t i = x->by_master[master_bucket(x, &e->master)]; i != NONE;
			i = x->slot[i].next_of_master)
		if (same_master(&x->slot[i].e.master, &e->master)) {
			n++;
			oldest = i; /* the newest stands first */
		}
	if (n < e->max)
		return;
	unchain(x, s->table, oldest);
	s->stats.expect_delete++;
}

int ct_expect_add(struct ct_shard *s, const struct ct_expect *e, uint32_t max)
{
	struct ct_expects *x = s->table->expects;
	uint32_t i, b;
	int ret;

	rte_spinlock_lock(&x->lock);
	ret = make_way(s, x, e);
	if (ret == 0) {
		evict(s, x, e);
		i = x->free;
		if (i == NONE || ct_expects_count(x) >= max)
			ret = -ENOSPC;
	}
	if (ret == 0) {
		struct slot *slot = &x->slot[i];

		x->free = slot->next;
		slot->e = *e;
		slot->used = true;
		b = master_bucket(x, &e->master);
		slot->next_of_master = x->by_master[b];
		x->by_master[b] = i;
		b = bucket_of(x, s->table, &e->tuple);
		slot->next = atomic_load(&x->bucket[b]);
		atomic_store(&x->bucket[b], i);
		atomic_fetch_add(&x->count, 1);
		s->stats.expect_create++;
	}
	rte_spinlock_unlock(&x->lock);
	return ret;
}

bool ct_expect_take(struct ct_shard *s, const struct ct_tuple *t, struct ct_expect *out)
{
	struct ct_expects *x = s->table->expects;
	bool found = false;
	uint32_t b;

	if (likely(x == NULL || ct_expects_count(x) == 0))
		return false;
	b = bucket_of(x, s->table, t);
	if (likely(atomic_load(&x->bucket[b]) == NONE))
		return false;
	rte_spinlock_lock(&x->lock);
	for (uint32_t i = atomic_load(&x->bucket[b]); i != NONE && !found; i = x->slot[i].next) {
		const struct ct_expect *e = &x->slot[i].e;

		if (!agree(&e->tuple, t, &e->mask, &e->mask) || is_over(e, s->now_ms)
				|| master_of(s->table, &e->master) == NULL)
			continue;
		*out = *e;
		unchain(x, s->table, i);
		s->stats.expect_delete++;
		s->stats.expect_new++;
		found = true;
	}
	rte_spinlock_unlock(&x->lock);
	return found;
}

void ct_expect_bind(struct ct_shard *s, struct ct_entry *e, const struct ct_expect *x)
{
	const struct ct_entry *master = master_of(s->table, &x->master);

	e->status |= CT_EXPECTED;
	e->master_id = x->master.id;
	e->master_at = x->master.at;
	e->master_worker = x->master.worker;
	if (master != NULL)
		e->mark = __atomic_load_n(&master->mark, __ATOMIC_RELAXED);
}

void ct_expects_tick(struct ct_shard *s)
{
	struct ct_expects *x = s->table->expects;

	if (likely(x == NULL || ct_expects_count(x) == 0))
		return;
	rte_spinlock_lock(&x->lock);
	for (unsigned int n = 0; n < TICK_MAX; n++) {
		uint32_t i = x->swept;
		const struct ct_entry *e;

		x->swept = i + 1 < x->max ? i + 1 : 0;
		if (!x->slot[i].used)
			continue;
		e = &s->table->shard[x->slot[i].e.master.worker]->entries[x->slot[i].e.master.at];
		/* a master that waits for its own confirmation is none that is gone */
		if (is_over(&x->slot[i].e, s->now_ms)
				|| __atomic_load_n(&e->id, __ATOMIC_RELAXED)
						!= x->slot[i].e.master.id) {
			unchain(x, s->table, i);
			s->stats.expect_delete++;
		}
	}
	rte_spinlock_unlock(&x->lock);
}

static void print_address(const struct ct_tuple *t, const struct sl_addr *a, FILE *f)
{
	char text[SL_ADDR_STRLEN];

	if (t->family == SL_AF_INET) {
		fputs(sl_addr_str(SL_AF_INET, a, text), f);
		return;
	}
	for (unsigned int i = 0; i < 16; i += 2)
		fprintf(f, "%s%02x%02x", i == 0 ? "" : ":", a->b[i], a->b[i + 1]);
}

static void print_one(const struct ct_expect *e, uint32_t now_ms, FILE *f)
{
	const struct ct_tuple *t = &e->tuple;

	fprintf(f, "%u l3proto = %u proto=%u src=", (e->expires_ms - now_ms) / 1000,
			t->family == SL_AF_INET ? 2U : 10U, t->proto);
	print_address(t, &t->src, f);
	fputs(" dst=", f);
	print_address(t, &t->dst, f);
	fprintf(f, " sport=%u dport=%u %s\n", rte_be_to_cpu_16(t->sport_be),
			rte_be_to_cpu_16(t->dport_be), ct_helper_name(e->helper));
}

void ct_expects_print(const struct ct_table *t, uint32_t now_ms, FILE *f)
{
	struct ct_expects *x = t->expects;

	for (uint32_t i = 0; x != NULL && i < x->max; i++) {
		struct ct_expect e;
		bool used;

		rte_spinlock_lock(&x->lock);
		used = x->slot[i].used;
		e = x->slot[i].e;
		rte_spinlock_unlock(&x->lock);
		if (used && !is_over(&e, now_ms))
			print_one(&e, now_ms, f);
	}
}
