/* SPDX-License-Identifier: BSD-3-Clause */
/* Members in and out, under the set's lock: by control, and by packets (SET --add-set). */
#include "classifier/set_priv.h"
#include "lib/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* entries that one add by a packet looks at for some that have expired */
#define SWEEP_STEP 1024

/* ---- what readers look for first ---- */

static void count_len(struct sl_set *s, unsigned int dim, unsigned int len, int step)
{
	_Atomic uint64_t *word = &s->lens[dim][len / 64];
	uint64_t bit = UINT64_C(1) << len % 64, was = atomic_load(word);

	s->n_len[dim][len] += (uint32_t)step;
	atomic_store_explicit(word, s->n_len[dim][len] > 0 ? was | bit : was & ~bit,
			memory_order_release);
}

static void count_key(struct sl_set *s, const union set_key *key, int step)
{
	uint32_t wild = atomic_load(&s->wild), len;

	for (unsigned int dim = 0; dim < 2; dim++)
		if (s->type->nets >> dim & 1)
			count_len(s, dim, key->len[dim], step);
	if (!(key->flags & SET_KEY_WILD))
		return;
	len = (uint32_t)strnlen(key->iface, sizeof(key->iface));
	s->n_wild[len] += (uint32_t)step;
	atomic_store_explicit(&s->wild, s->n_wild[len] > 0 ? wild | 1U << len : wild & ~(1U << len),
			memory_order_release);
}

/* hash:net,iface: one more member, or one less, in its net */
static int count_net(struct sl_set *s, const union set_key *key, int step)
{
	union set_key net = { .a = key->a };
	struct set_entry *e;

	if (s->def.type != IPSET_HASH_NET_IFACE)
		return 0;
	net.len[0] = key->len[0];
	e = set_table_find(&s->nets, &net);
	if (e != NULL) {
		e->members += (uint32_t)step;
		if (e->members == 0)
			set_table_remove(&s->nets, e);
		return 0;
	}
	e = set_table_take(&s->nets);
	if (e == NULL)
		return -EAGAIN;
	e->key = net;
	e->members = 1;
	return set_table_insert(&s->nets, e) < 0 ? -EOVERFLOW : 0;
}

static void drop(struct sl_set *s, struct set_entry *e)
{
	union set_key key = e->key;

	set_table_remove(&s->t, e);
	count_key(s, &key, -1);
	count_net(s, &key, -1);
}

/* ---- finding ---- */

struct set_entry *set_find_same(const struct sl_set *s, const union set_key *key)
{
	union set_key k = *key;
	struct set_entry *e;
	uint32_t lens, len;

	k.flags &= (uint8_t)~SET_KEY_WILD;
	e = set_table_find(&s->t, &k);
	if (e != NULL || s->def.type != IPSET_HASH_NET_IFACE)
		return e;
	len = (uint32_t)strnlen(key->iface, sizeof(key->iface));
	lens = atomic_load(&s->wild) & ((2U << len) - 1);
	k.flags |= SET_KEY_WILD;
	for (; e == NULL && lens != 0; lens &= ~(1U << len)) {
		len = 31 - (uint32_t)__builtin_clz(lens);
		memset(k.iface + len, 0, sizeof(k.iface) - len);
		e = set_table_find(&s->t, &k);
	}
	return e;
}

/* ---- room ---- */

/* removes what has expired among the next @max entries */
static void sweep(struct sl_set *s, uint64_t now_ns, uint32_t max)
{
	if (!s->def.timeout || now_ns <= s->soonest_ns)
		return;
	if (max >= s->t.high)
		s->soonest_ns = UINT64_MAX;
	for (uint32_t i = 0; i < RTE_MIN(max, s->t.high); i++) {
		struct set_entry *e = &s->t.entries[s->cursor++ % s->t.high];
		uint64_t expires_ns = atomic_load(&e->expires_ns);

		if (!e->used || expires_ns == 0)
			continue;
		if (set_expired(expires_ns, now_ns))
			drop(s, e);
		else
			s->soonest_ns = RTE_MIN(s->soonest_ns, expires_ns);
	}
}

/* forceadd: any other member goes */
static void evict(struct sl_set *s)
{
	for (uint32_t i = 0; i < s->t.high; i++) {
		struct set_entry *e = &s->t.entries[s->cursor++ % s->t.high];

		if (!e->used)
			continue;
		drop(s, e);
		return;
	}
}

static bool is_full(const struct sl_set *s)
{
	return s->t.n >= s->def.maxelem || s->t.n + 1 > s->t.room;
}

static int make_room(struct sl_set *s, uint64_t now_ns, bool packet)
{
	bool bounded = packet && atomic_load(&s->r->threaded);

	if (!is_full(s))
		return 0;
	sweep(s, now_ns, bounded ? SWEEP_STEP : UINT32_MAX);
	if (is_full(s) && s->def.forceadd && s->t.n > 0)
		evict(s);
	return is_full(s) ? -ENOSPC : 0;
}

int set_reserve(struct sl_set *s, uint32_t n)
{
	struct set_index *old = NULL, *old_nets = NULL;
	int ret = 0;

	rte_spinlock_lock(&s->lock);
	if (n / 3 >= atomic_load(&s->t.index)->mask) {
		ret = set_table_grow(&s->t, n, &old);
		if (ret == 0 && s->def.type == IPSET_HASH_NET_IFACE)
			ret = set_table_grow(&s->nets, n, &old_nets);
	}
	rte_spinlock_unlock(&s->lock);
	if (old != NULL) {
		sl_router_synchronize(s->r);
		set_index_free(old);
		set_index_free(old_nets);
	}
	return ret;
}

int set_prepare(struct sl_set *s)
{
	return set_table_is_dense(&s->t) ? set_reserve(s, 2 * s->t.n) : 0;
}

/* ---- extensions ---- */

void set_extra_store(struct set_extra *extra, const struct sl_set *s, const struct set_value *v)
{
	if (s->def.counters && v->count) {
		atomic_store(&extra->packets, v->packets);
		atomic_store(&extra->bytes, v->bytes);
	}
	if (s->def.skbinfo) {
		extra->skb = v->skb;
		extra->skb_mark = v->skb_mark;
		extra->skb_mask = v->skb_mask;
		extra->skb_prio = v->skb_prio;
		extra->skb_queue = v->skb_queue;
	}
}

static void store_comment(struct sl_set *s, struct set_entry *e, struct set_value *v)
{
	struct set_extra *extra = set_extra(&s->t, e);

	atomic_fetch_or(&e->flags, SET_UNCOMMENTED);
	if (extra == NULL || !s->def.comment || v->comment == NULL)
		return;
	free(extra->comment);
	extra->comment = v->comment;
	v->comment = NULL;
	atomic_fetch_and(&e->flags, (uint8_t)~SET_UNCOMMENTED);
}

static void store(struct sl_set *s, struct set_entry *e, struct set_value *v, uint64_t now_ns)
{
	uint64_t expires_ns = s->def.timeout ? set_expiry(v->timeout_s, now_ns) : 0;
	struct set_extra *extra = set_extra(&s->t, e);

	/* the time of a member without MAC does not run yet */
	if (s->def.type == IPSET_BITMAP_IP_MAC && !(atomic_load(&e->flags) & SET_HAS_MAC)) {
		e->timeout_s = v->timeout_s;
		expires_ns = 0;
	}
	if (v->nomatch)
		atomic_fetch_or(&e->flags, SET_NOMATCH);
	else
		atomic_fetch_and(&e->flags, (uint8_t)~SET_NOMATCH);
	if (extra != NULL)
		set_extra_store(extra, s, v);
	store_comment(s, e, v);
	if (expires_ns != 0)
		s->soonest_ns = RTE_MIN(s->soonest_ns, expires_ns);
	atomic_store_explicit(&e->expires_ns, expires_ns, memory_order_release);
}

static void learn_mac(struct set_entry *e, const struct set_value *v)
{
	/* out of the way of readers, as the kernel takes the member out meanwhile */
	atomic_fetch_and(&e->flags, (uint8_t)~SET_HAS_MAC);
	memcpy(e->mac, v->mac, sizeof(e->mac));
	atomic_fetch_or(&e->flags, SET_HAS_MAC);
}

/* ---- in and out ---- */

static int add_again(struct sl_set *s, struct set_entry *e, struct set_value *v, bool exist,
		uint64_t now_ns)
{
	bool wants_mac = s->def.type == IPSET_BITMAP_IP_MAC
			&& !(atomic_load(&e->flags) & SET_HAS_MAC) && v->has_mac;
	uint64_t expires_ns = atomic_load(&e->expires_ns);

	if (!wants_mac && !exist && !set_expired(expires_ns, now_ns))
		return -EEXIST;
	if (wants_mac && v->timeout_s == s->def.timeout_s)
		v->timeout_s = e->timeout_s;
	if (wants_mac || (v->has_mac && exist))
		learn_mac(e, v);
	store(s, e, v, now_ns);
	return 0;
}

static int add_new(struct sl_set *s, const union set_key *key, struct set_value *v, uint64_t now_ns)
{
	struct set_entry *e;
	int ret = make_room(s, now_ns, v->by_packet);

	if (ret < 0)
		return ret;
	e = set_table_take(&s->t);
	if (e == NULL)
		return -EAGAIN;
	e->key = *key;
	if (v->has_mac) {
		memcpy(e->mac, v->mac, sizeof(e->mac));
		atomic_fetch_or(&e->flags, SET_HAS_MAC);
	}
	store(s, e, v, now_ns);
	count_key(s, key, 1);
	if (set_table_insert(&s->t, e) < 0) {
		count_key(s, key, -1);
		return -EOVERFLOW;
	}
	ret = count_net(s, key, 1);
	if (ret < 0) {
		set_table_remove(&s->t, e);
		count_key(s, key, -1);
	}
	return ret;
}

int set_add(struct sl_set *s, const union set_key *key, struct set_value *v, bool exist,
		uint64_t now_ns)
{
	struct set_entry *e;
	int ret;

	rte_spinlock_lock(&s->lock);
	e = set_find_same(s, key);
	ret = e != NULL ? add_again(s, e, v, exist, now_ns) : add_new(s, key, v, now_ns);
	rte_spinlock_unlock(&s->lock);
	return ret;
}

int set_del(struct sl_set *s, const union set_key *key, uint64_t now_ns)
{
	struct set_entry *e;
	int ret = -ENOMSG;

	rte_spinlock_lock(&s->lock);
	e = set_find_same(s, key);
	if (e != NULL && !set_expired(atomic_load(&e->expires_ns), now_ns)) {
		drop(s, e);
		ret = 0;
	}
	rte_spinlock_unlock(&s->lock);
	return ret;
}
