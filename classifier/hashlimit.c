/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/hashlimit.h"

#include "classifier/hashlimit_rate.h"
#include "classifier/jiffies.h"
#include "lib/router.h"

#include <rte_jhash.h>
#include <rte_malloc.h>
#include <rte_spinlock.h>

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STRIPES 64U
#define NONE UINT32_MAX
/* expired entries that a new key clears away beside it */
#define CLEAR_MAX 2

struct entry {
	struct hashlimit_key key;
	uint32_t next; /* in its bucket, or free */
	uint64_t expires; /* jiffies */
	struct hashlimit_rate rate;
	uint32_t older, newer; /* in its stripe */
} __rte_cache_aligned;
static_assert(sizeof(struct entry) == 128, "two cache lines");

/* the buckets whose number ends in the stripe's; entries in the order of their last packet */
struct stripe {
	rte_spinlock_t lock;
	uint32_t oldest, newest;
} __rte_cache_aligned;

struct hashlimit_table {
	struct named n; /* [control] */
	struct hashlimit_conf conf; /* [const] */
	uint32_t secret; /* [const] */
	bool shared; /* [const] by several workers */
	uint32_t stripe_mask; /* [const] */
	uint32_t bucket_mask; /* [const] */
	size_t bytes; /* [const] mapped at @v */
	struct entry *v;
	uint32_t *bucket;
	_Atomic uint64_t born; /* jiffy of the first packet, 0: none yet */
	rte_spinlock_t free_lock; /* of the next two */
	uint32_t free, used; /* entries given back; entries that were ever given out */
	struct stripe stripe[STRIPES];
};

const struct hashlimit_conf *hashlimit_conf(const struct hashlimit_table *t)
{
	return &t->conf;
}

static void lock(const struct hashlimit_table *t, rte_spinlock_t *l)
{
	if (t->shared)
		rte_spinlock_lock(l);
}

static void unlock(const struct hashlimit_table *t, rte_spinlock_t *l)
{
	if (t->shared)
		rte_spinlock_unlock(l);
}

static uint32_t hash_of(const struct hashlimit_table *t, const struct hashlimit_key *key)
{
	return rte_jhash_32b((const void *)key, sizeof(*key) / sizeof(uint32_t), t->secret);
}

/* ---- entries of a stripe, under its lock ---- */

/* whether the garbage collector has come since the entry's time was over */
static bool is_dead(const struct hashlimit_table *t, const struct entry *e, uint64_t now)
{
	uint64_t born, runs;

	if ((int64_t)(now - e->expires) < 0)
		return false;
	born = atomic_load_explicit(&t->born, memory_order_relaxed);
	runs = (now - born) / t->conf.gc_jiffies;
	return (int64_t)(born + runs * t->conf.gc_jiffies - e->expires) >= 0;
}

static uint32_t find(
		const struct hashlimit_table *t, uint32_t bucket, const struct hashlimit_key *key)
{
	uint32_t i = t->bucket[bucket];

	while (i != NONE && memcmp(&t->v[i].key, key, sizeof(*key)) != 0)
		i = t->v[i].next;
	return i;
}

static void unlink_age(struct hashlimit_table *t, struct stripe *s, const struct entry *e)
{
	if (e->older == NONE)
		s->oldest = e->newer;
	else
		t->v[e->older].newer = e->newer;
	if (e->newer == NONE)
		s->newest = e->older;
	else
		t->v[e->newer].older = e->older;
}

static void link_newest(struct hashlimit_table *t, struct stripe *s, uint32_t i)
{
	t->v[i].older = s->newest;
	t->v[i].newer = NONE;
	if (s->newest == NONE)
		s->oldest = i;
	else
		t->v[s->newest].newer = i;
	s->newest = i;
}

static void give_back(struct hashlimit_table *t, uint32_t i)
{
	lock(t, &t->free_lock);
	t->v[i].next = t->free;
	t->free = i;
	unlock(t, &t->free_lock);
}

static uint32_t take_free(struct hashlimit_table *t)
{
	uint32_t i;

	lock(t, &t->free_lock);
	i = t->free;
	if (i != NONE)
		t->free = t->v[i].next;
	else if (t->used < t->conf.max)
		i = t->used++;
	unlock(t, &t->free_lock);
	return i;
}

/* the oldest entry of a stripe goes if it is dead. Return: whether it did */
static bool clear_oldest(struct hashlimit_table *t, struct stripe *s, uint64_t now)
{
	uint32_t i = s->oldest, *at;

	if (i == NONE || !is_dead(t, &t->v[i], now))
		return false;
	at = &t->bucket[hash_of(t, &t->v[i].key) & t->bucket_mask];
	while (*at != i)
		at = &t->v[*at].next;
	*at = t->v[i].next;
	unlink_age(t, s, &t->v[i]);
	give_back(t, i);
	return true;
}

/* the same in any stripe; no lock is held */
static bool clear_any(struct hashlimit_table *t, uint64_t now)
{
	bool done = false;

	for (uint32_t k = 0; k <= t->stripe_mask && !done; k++) {
		lock(t, &t->stripe[k].lock);
		done = clear_oldest(t, &t->stripe[k], now);
		unlock(t, &t->stripe[k].lock);
	}
	return done;
}

static void touch(struct hashlimit_table *t, struct stripe *s, uint32_t i, uint64_t now)
{
	struct entry *e = &t->v[i];
	uint64_t expires = now + t->conf.expire_jiffies;

	/* those of one jiffy are equally old */
	if (e->expires == expires)
		return;
	e->expires = expires;
	if (s->newest == i)
		return;
	unlink_age(t, s, e);
	link_newest(t, s, i);
}

static void start(struct hashlimit_table *t, struct stripe *s, uint32_t bucket, uint32_t i,
		const struct hashlimit_key *key, uint64_t now)
{
	struct entry *e = &t->v[i];

	e->key = *key;
	e->next = t->bucket[bucket];
	t->bucket[bucket] = i;
	e->expires = now + t->conf.expire_jiffies;
	hashlimit_rate_init(&e->rate, &t->conf, now);
	link_newest(t, s, i);
}

/* the entry of a key, brought up to date; NONE: it is new, and there is no room in this stripe */
static uint32_t seek(struct hashlimit_table *t, struct stripe *s, uint32_t bucket,
		const struct hashlimit_key *key, uint64_t now)
{
	uint32_t i = find(t, bucket, key);

	if (i == NONE) {
		for (unsigned int n = 0; n < CLEAR_MAX && clear_oldest(t, s, now); n++)
			;
		i = take_free(t);
		if (i != NONE)
			start(t, s, bucket, i, key, now);
		return i;
	}
	if (is_dead(t, &t->v[i], now))
		hashlimit_rate_init(&t->v[i].rate, &t->conf, now);
	else
		hashlimit_rate_advance(&t->v[i].rate, &t->conf, now);
	touch(t, s, i, now);
	return i;
}

enum hashlimit_answer hashlimit_take(struct hashlimit_table *t, const struct hashlimit_key *key,
		uint64_t now, uint32_t bytes, bool by_bytes, bool rate_match)
{
	uint32_t bucket = hash_of(t, key) & t->bucket_mask, i;
	struct stripe *s = &t->stripe[bucket & t->stripe_mask];
	enum hashlimit_answer answer = HASHLIMIT_FULL;
	uint64_t none = 0;

	if (unlikely(atomic_load_explicit(&t->born, memory_order_relaxed) == 0))
		atomic_compare_exchange_strong(&t->born, &none, now);
	for (;;) {
		lock(t, &s->lock);
		i = seek(t, s, bucket, key, now);
		if (i != NONE)
			answer = hashlimit_rate_take(&t->v[i].rate, bytes, by_bytes, rate_match)
					? HASHLIMIT_UNDER
					: HASHLIMIT_OVER;
		unlock(t, &s->lock);
		/* each turn but the last one has freed an entry, which another worker took */
		if (i != NONE || !clear_any(t, now))
			return answer;
	}
}

/* ---- the table itself; control ---- */

static void free_table(struct hashlimit_table *t)
{
	if (t == NULL)
		return;
	if (t->v != NULL)
		munmap(t->v, t->bytes);
	free(t->bucket);
	rte_free(t);
}

/* memory that is there when the first packet comes */
static int map_entries(struct hashlimit_table *t)
{
	void *v;

	t->bytes = sizeof(struct entry) * (size_t)t->conf.max;
	v = mmap(NULL, t->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
			-1, 0);
	if (v == MAP_FAILED)
		return -ENOMEM;
	t->v = v;
	t->bucket_mask = rte_align32pow2(RTE_MAX(t->conf.max, STRIPES)) - 1;
	t->bucket = malloc(sizeof(*t->bucket) * ((size_t)t->bucket_mask + 1));
	if (t->bucket == NULL)
		return -ENOMEM;
	memset(t->bucket, 0xff, sizeof(*t->bucket) * ((size_t)t->bucket_mask + 1));
	return 0;
}

static int make(struct sl_router *r, const char *name, enum ipt_family family,
		const struct hashlimit_conf *conf, struct hashlimit_table **out)
{
	struct hashlimit_table *t = rte_zmalloc("hashlimit", sizeof(*t), RTE_CACHE_LINE_SIZE);
	int ret;

	if (t == NULL)
		return -ENOMEM;
	t->n.kind = NAMED_HASHLIMIT;
	t->n.family = (uint8_t)family;
	snprintf(t->n.name, sizeof(t->n.name), "%s", name);
	t->conf = *conf;
	t->secret = r->secret;
	t->shared = r->n_workers > 1;
	t->stripe_mask = t->shared ? STRIPES - 1 : 0;
	t->free = NONE;
	rte_spinlock_init(&t->free_lock);
	for (unsigned int i = 0; i < STRIPES; i++) {
		rte_spinlock_init(&t->stripe[i].lock);
		t->stripe[i].oldest = NONE;
		t->stripe[i].newest = NONE;
	}
	ret = map_entries(t);
	if (ret == 0)
		ret = named_add(r, &t->n);
	if (ret < 0) {
		free_table(t);
		return ret;
	}
	*out = t;
	return 0;
}

int hashlimit_hold(struct sl_router *r, const char *name, enum ipt_family family,
		const struct hashlimit_conf *conf, struct hashlimit_table **out)
{
	struct hashlimit_table *t = (void *)named_find(r, NAMED_HASHLIMIT, (uint8_t)family, name);

	if (t == NULL)
		return make(r, name, family, conf, out);
	t->n.holders++;
	*out = t;
	return 0;
}

void hashlimit_release(struct hashlimit_table *t)
{
	if (named_release(&t->n))
		free_table(t);
}

/* ---- its text ---- */

#define CHUNK 1024U

/* some entries as they are, copied by a worker so that none is half written */
struct chunk {
	struct hashlimit_table *t;
	uint32_t bucket; /* the next one */
	uint64_t now;
	unsigned int n;
	struct entry v[CHUNK];
};

static void copy_bucket(struct chunk *c)
{
	struct hashlimit_table *t = c->t;
	struct stripe *s = &t->stripe[c->bucket & t->stripe_mask];

	lock(t, &s->lock);
	for (uint32_t i = t->bucket[c->bucket]; i != NONE && c->n < CHUNK; i = t->v[i].next)
		if (!is_dead(t, &t->v[i], c->now)) {
			c->v[c->n] = t->v[i];
			hashlimit_rate_advance(&c->v[c->n++].rate, &t->conf, c->now);
		}
	unlock(t, &s->lock);
	c->bucket++;
}

static void copy_chunk(struct sl_worker *w, void *arg)
{
	struct chunk *c = arg;

	c->n = 0;
	c->now = ipt_jiffies(w);
	/* a bucket that does not fit is shown as far as it does */
	for (unsigned int k = 0; k < CHUNK && c->n < CHUNK / 2 && c->bucket <= c->t->bucket_mask;
			k++)
		copy_bucket(c);
}

static void print_entry(
		FILE *f, const struct hashlimit_table *t, const struct entry *e, uint64_t now)
{
	int af = t->n.family == IPT_V4 ? AF_INET : AF_INET6;
	char src[INET6_ADDRSTRLEN], dst[INET6_ADDRSTRLEN];
	int64_t left = (int64_t)(e->expires - now);

	inet_ntop(af, &e->key.src, src, sizeof(src));
	inet_ntop(af, &e->key.dst, dst, sizeof(dst));
	fprintf(f, "%" PRId64 " %s:%u->%s:%u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
			left / (int64_t)IPT_HZ, src, rte_be_to_cpu_16(e->key.sport_be), dst,
			rte_be_to_cpu_16(e->key.dport_be), e->rate.credit, e->rate.credit_cap,
			e->rate.cost);
}

int hashlimit_print(struct sl_router *r, const char *name, enum ipt_family family, FILE *f)
{
	struct hashlimit_table *t = (void *)named_find(r, NAMED_HASHLIMIT, (uint8_t)family, name);
	struct chunk *c;

	if (t == NULL)
		return -ENOENT;
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		return -ENOMEM;
	c->t = t;
	while (c->bucket <= t->bucket_mask) {
		sl_worker_call(r->workers[0], copy_chunk, c);
		for (unsigned int i = 0; i < c->n; i++)
			print_entry(f, t, &c->v[i], c->now);
	}
	free(c);
	return 0;
}
