/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/recent.h"

#include "classifier/jiffies.h"
#include "lib/router.h"

#include <rte_jhash.h>
#include <rte_spinlock.h>

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 128
#define NONE UINT8_MAX

static_assert(RECENT_ENTRIES < NONE, "entries are numbered by a byte");

struct entry {
	struct sl_addr addr;
	uint8_t family;
	uint8_t ttl;
	uint8_t next; /* in its bucket, or free */
	uint8_t older, newer;
	uint32_t index; /* of the stamp that is next */
	uint32_t n_stamps;
};

struct recent_list {
	struct named n; /* [control] */
	struct sl_addr mask; /* [const] */
	uint32_t secret; /* [const] */
	bool shared; /* [const] by several workers */
	rte_spinlock_t lock;
	/* under the lock, all of it */
	uint32_t stamp_mask; /* the ring has one more */
	uint32_t capacity; /* stamps for which each entry has room */
	uint64_t *stamps; /* @capacity of each entry */
	uint64_t *spare; /* a larger one, to be taken when rules need it */
	uint32_t spare_capacity;
	uint8_t oldest, newest, free;
	uint8_t bucket[BUCKETS];
	struct entry v[RECENT_ENTRIES];
};

/* ---- what stands in the list; under the lock ---- */

static void lock(struct recent_list *l)
{
	if (l->shared)
		rte_spinlock_lock(&l->lock);
}

static void unlock(struct recent_list *l)
{
	if (l->shared)
		rte_spinlock_unlock(&l->lock);
}

static void clear(struct recent_list *l)
{
	memset(l->bucket, NONE, sizeof(l->bucket));
	l->oldest = NONE;
	l->newest = NONE;
	for (unsigned int i = 0; i < RECENT_ENTRIES; i++)
		l->v[i].next = i + 1 < RECENT_ENTRIES ? (uint8_t)(i + 1) : NONE;
	l->free = 0;
}

static uint64_t *stamps_of(const struct recent_list *l, uint8_t i)
{
	return l->stamps + (size_t)i * l->capacity;
}

static uint8_t *bucket_of(struct recent_list *l, const struct sl_addr *addr)
{
	return &l->bucket[rte_jhash_32b(addr->w, 4, l->secret) & (BUCKETS - 1)];
}

static void unlink_age(struct recent_list *l, const struct entry *e)
{
	if (e->older == NONE)
		l->oldest = e->newer;
	else
		l->v[e->older].newer = e->newer;
	if (e->newer == NONE)
		l->newest = e->older;
	else
		l->v[e->newer].older = e->older;
}

static void link_newest(struct recent_list *l, uint8_t i)
{
	l->v[i].older = l->newest;
	l->v[i].newer = NONE;
	if (l->newest == NONE)
		l->oldest = i;
	else
		l->v[l->newest].newer = i;
	l->newest = i;
}

/* an address is there once, whatever TTL it came with */
static uint8_t find(struct recent_list *l, const struct recent_ask *ask, const struct sl_addr *addr,
		uint8_t ttl)
{
	uint8_t i = *bucket_of(l, addr);

	for (; i != NONE; i = l->v[i].next) {
		const struct entry *e = &l->v[i];

		if (e->family == ask->family && memcmp(&e->addr, addr, sizeof(*addr)) == 0
				&& (ttl == e->ttl || ttl == 0 || e->ttl == 0))
			return i;
	}
	return NONE;
}

static void forget(struct recent_list *l, uint8_t i)
{
	uint8_t *at = bucket_of(l, &l->v[i].addr);

	while (*at != i)
		at = &l->v[*at].next;
	*at = l->v[i].next;
	unlink_age(l, &l->v[i]);
	l->v[i].next = l->free;
	l->free = i;
}

/* behind all others of its bucket, as in the kernel */
static void add(struct recent_list *l, const struct recent_ask *ask, const struct sl_addr *addr)
{
	struct entry *e;
	uint8_t i, *at;

	if (l->free == NONE)
		forget(l, l->oldest);
	i = l->free;
	e = &l->v[i];
	l->free = e->next;
	e->addr = *addr;
	e->family = ask->family;
	e->ttl = ask->ttl;
	e->next = NONE;
	e->index = 1;
	e->n_stamps = 1;
	stamps_of(l, i)[0] = ask->now;
	for (at = bucket_of(l, addr); *at != NONE; at = &l->v[*at].next)
		;
	*at = i;
	link_newest(l, i);
}

static void refresh(struct recent_list *l, uint8_t i, const struct recent_ask *ask)
{
	struct entry *e = &l->v[i];

	e->index &= l->stamp_mask;
	stamps_of(l, i)[e->index++] = ask->now;
	if (e->index > e->n_stamps)
		e->n_stamps = e->index;
	e->ttl = ask->ttl;
	unlink_age(l, e);
	link_newest(l, i);
}

static bool is_before(uint64_t stamp, uint64_t time)
{
	return (int64_t)(stamp - time) < 0;
}

/* the jiffy before which a stamp does not count; in 32 bits, as the kernel multiplies */
static uint64_t window_start(const struct recent_ask *ask)
{
	return ask->now - (uint32_t)(ask->opts->seconds * IPT_HZ);
}

static bool seen_enough(const struct recent_list *l, uint8_t i, const struct recent_ask *ask)
{
	const struct ipt_m_recent *o = ask->opts;
	bool timed = ask->set & IPT_RECENT_SECONDS && o->seconds > 0;
	uint32_t need = ask->set & IPT_RECENT_HITCOUNT ? o->hitcount : 0, hits = 0;
	const uint64_t *stamps = stamps_of(l, i);
	uint64_t start = window_start(ask);

	for (uint32_t k = 0; k < l->v[i].n_stamps; k++)
		if ((!timed || !is_before(stamps[k], start)) && ++hits >= need)
			return true;
	return false;
}

/* the oldest address goes if the time is over for it; not the one that is being refreshed */
static void reap(struct recent_list *l, uint8_t keep, uint64_t start)
{
	uint8_t i = l->oldest;

	if (i != keep && is_before(stamps_of(l, i)[l->v[i].index - 1], start))
		forget(l, i);
}

/* rules with a larger hit count have come: what was noted is lost, as in the kernel */
static void grow(struct recent_list *l, uint32_t n_stamps)
{
	if (n_stamps > l->capacity) {
		uint64_t *small = l->stamps;
		uint32_t small_capacity = l->capacity;

		l->stamps = l->spare;
		l->capacity = l->spare_capacity;
		l->spare = small;
		l->spare_capacity = small_capacity;
	}
	l->stamp_mask = n_stamps - 1;
	clear(l);
}

static bool ask_locked(struct recent_list *l, const struct recent_ask *ask)
{
	bool with_ttl = ask->set & IPT_RECENT_RTTL, holds = true;
	struct sl_addr addr;
	uint8_t i;

	if (unlikely(ask->stamps > l->stamp_mask + 1))
		grow(l, ask->stamps);
	addr.q[0] = ask->addr.q[0] & l->mask.q[0];
	addr.q[1] = ask->addr.q[1] & l->mask.q[1];
	i = find(l, ask, &addr, with_ttl ? ask->ttl : 0);
	if (i == NONE) {
		if (!(ask->set & IPT_RECENT_SET))
			return ask->inv;
		add(l, ask, &addr);
		return !ask->inv;
	}
	if (ask->set & IPT_RECENT_REMOVE) {
		forget(l, i);
		return !ask->inv;
	}
	if (!(ask->set & IPT_RECENT_SET))
		holds = seen_enough(l, i, ask);
	holds = holds != ask->inv;
	if (ask->set & IPT_RECENT_REAP)
		reap(l, ask->set & IPT_RECENT_UPDATE && holds ? i : NONE, window_start(ask));
	if (ask->set & IPT_RECENT_SET || (ask->set & IPT_RECENT_UPDATE && holds))
		refresh(l, i, ask);
	return holds;
}

bool recent_ask(struct recent_list *l, const struct recent_ask *ask)
{
	bool holds;

	lock(l);
	holds = ask_locked(l, ask);
	unlock(l);
	return holds;
}

/* ---- the list itself; control ---- */

static uint64_t *new_stamps(uint32_t capacity)
{
	return calloc((size_t)RECENT_ENTRIES * capacity, sizeof(uint64_t));
}

static void free_list(struct recent_list *l)
{
	if (l == NULL)
		return;
	free(l->stamps);
	free(l->spare);
	free(l);
}

static int make(struct sl_router *r, const char *name, const struct sl_addr *mask, uint32_t stamps,
		struct recent_list **out)
{
	struct recent_list *l = calloc(1, sizeof(*l));
	int ret = -ENOMEM;

	if (l == NULL)
		return -ENOMEM;
	l->n.kind = NAMED_RECENT;
	snprintf(l->n.name, sizeof(l->n.name), "%s", name);
	l->mask = *mask;
	l->secret = r->secret;
	l->shared = r->n_workers > 1;
	rte_spinlock_init(&l->lock);
	l->capacity = stamps;
	l->stamp_mask = stamps - 1;
	l->stamps = new_stamps(stamps);
	clear(l);
	if (l->stamps != NULL)
		ret = named_add(r, &l->n);
	if (ret < 0) {
		free_list(l);
		return ret;
	}
	*out = l;
	return 0;
}

struct reserve {
	struct recent_list *l;
	uint64_t *stamps;
	uint32_t capacity;
};

/* run by a worker, so that a worker that takes no lock is not disturbed; what is left is for free() */
static void reserve(__rte_unused struct sl_worker *w, void *arg)
{
	struct reserve *res = arg;
	struct recent_list *l = res->l;
	uint64_t *was;

	lock(l);
	was = l->spare;
	if (res->capacity > l->capacity && res->capacity > l->spare_capacity) {
		l->spare = res->stamps;
		l->spare_capacity = res->capacity;
		res->stamps = was;
	}
	unlock(l);
}

/* room that is taken with the first packet of the new rules: if they are refused, nothing has changed */
static int make_room(struct sl_router *r, struct recent_list *l, uint32_t stamps)
{
	struct reserve res = { .l = l, .capacity = stamps };

	if (stamps <= l->capacity)
		return 0;
	res.stamps = new_stamps(stamps);
	if (res.stamps == NULL)
		return -ENOMEM;
	sl_worker_call(r->workers[0], reserve, &res);
	free(res.stamps);
	return 0;
}

int recent_hold(struct sl_router *r, const char *name, const struct sl_addr *mask, uint32_t stamps,
		struct recent_list **out)
{
	/* families share it */
	struct recent_list *l = (void *)named_find(r, NAMED_RECENT, 0, name);
	int ret;

	if (l == NULL)
		return make(r, name, mask, stamps, out);
	ret = make_room(r, l, stamps);
	if (ret < 0)
		return ret;
	l->n.holders++;
	*out = l;
	return 0;
}

void recent_release(struct recent_list *l)
{
	if (named_release(&l->n))
		free_list(l);
}

/* ---- its text ---- */

struct snapshot {
	struct recent_list *l;
	struct recent_list copy;
	uint32_t capacity; /* of copy.stamps */
};

static void take_snapshot(__rte_unused struct sl_worker *w, void *arg)
{
	struct snapshot *s = arg;
	uint64_t *stamps = s->copy.stamps;

	lock(s->l);
	s->copy = *s->l;
	s->copy.stamps = stamps;
	if (s->copy.capacity <= s->capacity)
		memcpy(stamps, s->l->stamps, sizeof(*stamps) * RECENT_ENTRIES * s->copy.capacity);
	unlock(s->l);
}

static void print_entry(FILE *f, const struct recent_list *l, uint8_t i)
{
	const struct entry *e = &l->v[i];
	const uint64_t *stamps = stamps_of(l, i);
	char addr[INET6_ADDRSTRLEN];

	inet_ntop(e->family == IPT_V4 ? AF_INET : AF_INET6, &e->addr, addr, sizeof(addr));
	fprintf(f, "src=%s ttl: %u last_seen: %" PRIu64 " oldest_pkt: %u", addr, e->ttl,
			stamps[(e->index - 1) & l->stamp_mask], e->index);
	for (uint32_t k = 0; k < e->n_stamps; k++)
		fprintf(f, "%s %" PRIu64, k > 0 ? "," : "", stamps[k]);
	fputc('\n', f);
}

int recent_print(struct sl_router *r, const char *name, FILE *f)
{
	struct recent_list *l = (void *)named_find(r, NAMED_RECENT, 0, name);
	struct snapshot *s;

	if (l == NULL)
		return -ENOENT;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	s->l = l;
	do {
		free(s->copy.stamps);
		s->capacity = RTE_MAX(l->capacity, l->spare_capacity);
		s->copy.stamps = new_stamps(s->capacity);
		if (s->copy.stamps == NULL) {
			free(s);
			return -ENOMEM;
		}
		sl_worker_call(r->workers[0], take_snapshot, s);
	} while (s->copy.capacity > s->capacity);
	for (uint8_t i = s->copy.oldest; i != NONE; i = s->copy.v[i].newer)
		print_entry(f, &s->copy, i);
	free(s->copy.stamps);
	free(s);
	return 0;
}
