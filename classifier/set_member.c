/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets with members of their own: every type but list:set. What a look-up finds is the kernel's:
 *
 * Nets are tried by the prefix lengths that members have, longest first; for two nets, all lengths
 * of the second for each length of the first. The first member found that has not expired, and whose
 * counters compare, decides: it matches, or as an exception (nomatch) ends the search without.
 */
#include "classifier/set_priv.h"
#include "lib/router.h"
#include "lib/worker.h"

#include <rte_cycles.h>

#include <stdlib.h>
#include <string.h>

#define ROOM_MAX (1U << 26) /* members of one set, whatever its maxelem */
#define ROOM_SPARE 4096 /* entries that wait for readers to forget them */

uint64_t set_now(const struct sl_router *r)
{
	uint64_t ticks;

	if (r->manual_clock || !atomic_load(&r->threaded))
		return r->workers[0]->now_ns;
	ticks = rte_rdtsc() - r->start_tsc;
	return (uint64_t)(((unsigned __int128)ticks * r->tsc_to_ns) >> 32);
}

/* ---- life ---- */

static bool is_wide(const struct ipset *def, const struct set_type *type)
{
	if (type->bitmap)
		return false;
	if (def->family == IPT_V6)
		return true;
	for (unsigned int i = 0; i < type->dim; i++)
		if (type->parts[i] != SET_IP && type->parts[i] != SET_NET
				&& type->parts[i] != SET_PORT)
			return true;
	return false;
}

static uint32_t room_of(const struct ipset *def)
{
	uint64_t n = def->maxelem;

	if (def->type == IPSET_BITMAP_PORT)
		n = def->ports.hi - def->ports.lo + 1U;
	else if (def->type == IPSET_BITMAP_IP || def->type == IPSET_BITMAP_IP_MAC)
		n = ((def->hi.w[0] - def->lo.w[0]) >> (32 - def->netmask)) + UINT64_C(1);
	return (uint32_t)RTE_MIN(n, (uint64_t)ROOM_MAX) + ROOM_SPARE;
}

struct sl_set *set_new(struct sl_router *r, const struct ipset *def)
{
	struct sl_set *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->def = *def;
	s->def.name = NULL;
	s->def.members = NULL;
	s->def.n_members = 0;
	s->type = set_type((enum ipset_type)def->type);
	s->r = r;
	s->soonest_ns = UINT64_MAX;
	rte_spinlock_init(&s->lock);
	if (def->type == IPSET_LIST_SET)
		return s;
	if (set_table_create(&s->t, r, room_of(def), is_wide(def, s->type),
			    def->counters || def->comment || def->skbinfo)
			< 0) {
		free(s);
		return NULL;
	}
	if (def->type == IPSET_HASH_NET_IFACE
			&& set_table_create(&s->nets, r, room_of(def), true, false) < 0) {
		set_table_destroy(&s->t);
		free(s);
		return NULL;
	}
	return s;
}

void set_free(struct sl_set *s)
{
	if (s == NULL)
		return;
	if (s->def.type == IPSET_LIST_SET)
		set_list_clear(s);
	else
		set_table_destroy(&s->t);
	if (s->def.type == IPSET_HASH_NET_IFACE)
		set_table_destroy(&s->nets);
	free(s);
}

/* ---- keys ---- */

struct sl_addr set_mask_addr(const struct sl_set *s, const struct sl_addr *a, unsigned int len)
{
	if (likely(s->def.family == IPT_V4))
		return sl_addr_v4(a->v4
				& rte_cpu_to_be_32((uint32_t)(UINT64_C(0xffffffff) << (32 - len))));
	return sl_addr_mask(a, SL_AF_INET6, len);
}

int set_len_below(const struct sl_set *s, unsigned int dim, int below)
{
	for (int w = (below - 1) >> 6; below > 0 && w >= 0; w--) {
		uint64_t bits = atomic_load_explicit(&s->lens[dim][w], memory_order_acquire);

		if (below < (w + 1) * 64)
			bits &= (UINT64_C(1) << (below & 63)) - 1;
		if (bits != 0)
			return w * 64 + 63 - __builtin_clzll(bits);
	}
	return -1;
}

static struct sl_addr wire_addr(const struct ipt_addr *a)
{
	struct sl_addr out;

	for (unsigned int i = 0; i < RTE_DIM(out.w); i++)
		out.w[i] = rte_cpu_to_be_32(a->w[i]);
	return out;
}

void set_key_of_member(const struct sl_set *s, const struct ipset_member *m, union set_key *key)
{
	*key = (union set_key){ .q = { 0 } };
	for (unsigned int i = 0; i < s->type->dim; i++) {
		switch ((enum set_part)s->type->parts[i]) {
		case SET_NET:
			key->len[0] = m->key.len;
			/* fall through */
		case SET_IP:
			key->a = wire_addr(&m->key.addr);
			break;
		case SET_NET2:
			key->len[1] = m->key.len2;
			/* fall through */
		case SET_IP2:
			key->b = wire_addr(&m->key.addr2);
			break;
		case SET_PORT:
			key->port = m->key.port;
			key->proto = m->key.proto;
			break;
		case SET_MAC:
			if (!s->type->bitmap)
				memcpy(key->mac, m->key.mac, sizeof(key->mac));
			break;
		case SET_IFACE:
			/* the text's end is zeros: names are compared whole */
			strncpy(key->iface, m->key.iface, sizeof(key->iface));
			key->flags = m->key.physdev ? SET_KEY_PHYSDEV : 0;
			break;
		case SET_MARK:
			key->mark = m->key.mark;
			break;
		case SET_SET:
		case SET_END:
			break;
		}
	}
}

/* ---- look-up ---- */

static bool compare(uint64_t value, uint64_t with, enum sl_set_op op)
{
	switch (op) {
	case SL_SET_OP_NONE:
		return true;
	case SL_SET_OP_EQ:
		return value == with;
	case SL_SET_OP_NE:
		return value != with;
	case SL_SET_OP_LT:
		return value < with;
	case SL_SET_OP_GT:
		return value > with;
	}
	return true;
}

static bool counters_hold(struct set_extra *extra, const struct set_query *q)
{
	if (q->bytes != 0 && !(q->flags & SL_SET_NO_COUNTERS)) {
		atomic_fetch_add_explicit(&extra->bytes, q->bytes, memory_order_relaxed);
		atomic_fetch_add_explicit(&extra->packets, 1, memory_order_relaxed);
	}
	if (q->ask == NULL || q->flags & SL_SET_SUB)
		return true;
	return compare(atomic_load(&extra->packets), q->ask->packets,
			       (enum sl_set_op)q->ask->packets_op)
			&& compare(atomic_load(&extra->bytes), q->ask->bytes,
					(enum sl_set_op)q->ask->bytes_op);
}

bool set_extra_holds(const struct sl_set *s, struct set_extra *extra, uint64_t expires_ns,
		const struct set_query *q)
{
	if (set_expired(expires_ns, q->now_ns))
		return false;
	if (s->def.counters && !counters_hold(extra, q))
		return false;
	if (s->def.skbinfo && q->skb != NULL)
		*q->skb = (struct sl_set_skb){ .mark = extra->skb_mark,
			.mask = extra->skb_mask,
			.prio = extra->skb_prio,
			.queue = extra->skb_queue };
	return true;
}

static int probe(const struct sl_set *s, const union set_key *key, const struct set_query *q)
{
	struct set_entry *e = set_table_find(&s->t, key);
	uint64_t expires_ns;

	if (e == NULL)
		return 0;
	expires_ns = atomic_load_explicit(&e->expires_ns, memory_order_relaxed);
	if (!set_extra_holds(s, set_extra(&s->t, e), expires_ns, q))
		return 0;
	return atomic_load_explicit(&e->flags, memory_order_relaxed) & SET_NOMATCH ? SET_IS_NOMATCH
										   : 1;
}

/* the name itself, then names that are prefixes of it */
static int probe_iface(const struct sl_set *s, const union set_key *key, const struct set_query *q)
{
	uint32_t lens = atomic_load_explicit(&s->wild, memory_order_acquire);
	uint32_t len = (uint32_t)strnlen(key->iface, sizeof(key->iface));
	union set_key k = *key;
	int ret = probe(s, key, q);

	lens &= (2U << len) - 1;
	k.flags |= SET_KEY_WILD;
	for (; ret == 0 && lens != 0; lens &= ~(1U << len)) {
		len = 31 - (uint32_t)__builtin_clz(lens);
		memset(k.iface + len, 0, sizeof(k.iface) - len);
		ret = probe(s, &k, q);
	}
	return ret;
}

static int probe_any(const struct sl_set *s, const union set_key *key, const struct set_query *q)
{
	return s->def.type == IPSET_HASH_NET_IFACE ? probe_iface(s, key, q) : probe(s, key, q);
}

static int test_second(const struct sl_set *s, union set_key *key, const struct sl_addr *b,
		const struct set_query *q)
{
	int ret = 0;

	for (int len = set_len_below(s, 1, 129); ret == 0 && len >= 0;
			len = set_len_below(s, 1, len)) {
		key->b = set_mask_addr(s, b, (unsigned int)len);
		key->len[1] = (uint8_t)len;
		ret = probe(s, key, q);
	}
	return ret;
}

/* the longest net with members on any interface ends the search, whatever the interface */
static bool ends_search(const struct sl_set *s, const union set_key *key)
{
	union set_key net = { .a = key->a };

	net.len[0] = key->len[0];
	return s->def.type == IPSET_HASH_NET_IFACE && set_table_find(&s->nets, &net) != NULL;
}

static int test_nets(const struct sl_set *s, const union set_key *key, const struct set_query *q)
{
	union set_key k = *key;
	int ret = 0;

	if (!(s->type->nets & 1))
		return test_second(s, &k, &key->b, q);
	for (int len = set_len_below(s, 0, 129); ret == 0 && len >= 0;
			len = set_len_below(s, 0, len)) {
		k.a = set_mask_addr(s, &key->a, (unsigned int)len);
		k.len[0] = (uint8_t)len;
		ret = s->type->nets & 2 ? test_second(s, &k, &key->b, q) : probe_any(s, &k, q);
		if (ret == 0 && ends_search(s, &k))
			break;
	}
	return ret;
}

/* a member without MAC fits every MAC, and wants to learn it */
static int test_ip_mac(const struct sl_set *s, const union set_key *key, const uint8_t *mac,
		const struct set_query *q)
{
	struct set_entry *e = set_table_find(&s->t, key);

	if (e == NULL)
		return 0;
	if (mac == NULL || !(atomic_load(&e->flags) & SET_HAS_MAC))
		return SET_WANTS_MAC;
	return memcmp(e->mac, mac, sizeof(e->mac)) == 0 ? probe(s, key, q) : 0;
}

int set_test(struct sl_set *s, const union set_key *key, const uint8_t *mac, bool any_len,
		const struct set_query *q)
{
	if (s->def.type == IPSET_BITMAP_IP_MAC)
		return test_ip_mac(s, key, mac, q);
	if (s->type->nets != 0 && any_len)
		return test_nets(s, key, q);
	return probe_any(s, key, q);
}
