/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buckets of one line: 48 bits of a hash and the worker. Two tuples with one hash are taken for the
 * same: the second one finds its port in use, or, if it is no NAT's, comes to a worker that does not
 * know it. Among a million claims that happens to one new connection in 10^8.
 */
#include "conntrack/claims.h"

#include "classifier/arena.h"
#include "conntrack/related.h"
#include "lib/ip.h"
#include "lib/owner.h"
#include "lib/router.h"

#include <rte_jhash.h>

#include <errno.h>
#include <stdlib.h>

#define SLOTS 8U
#define WORKER_BITS 16
#define HUGE_MIN (2U << 20)

struct bucket {
	_Atomic uint64_t slot[SLOTS]; /* hash << 16 | worker + 1; 0: free */
} __rte_aligned(64);

struct ct_claims {
	struct cls_arena arena;
	struct bucket *b;
	uint32_t mask;
	uint32_t seed[2];
	bool spreads; /* some port's device chooses the worker */
};

struct key {
	uint64_t hash;
	struct bucket *b[2];
};

static struct key key_of(const struct ct_claims *x, const struct ct_tuple *tuple)
{
	struct ct_tuple t = *tuple;
	uint32_t words[sizeof(t) / sizeof(uint32_t)];
	uint32_t a, b;
	struct key k;

	/* zones are a matter of rules, which come later; ICMP's type says no more than its id */
	t.zone = 0;
	if (t.proto == IPPROTO_ICMP || t.proto == IPPROTO_ICMPV6)
		t.dport_be = 0;
	a = x->seed[0];
	b = x->seed[1];
	memcpy(words, &t, sizeof(words));
	rte_jhash_32b_2hashes(words, RTE_DIM(words), &a, &b);
	k.hash = (uint64_t)a << 32 | (b & ~UINT32_C(0xffff));
	k.b[0] = &x->b[b & x->mask];
	k.b[1] = &x->b[(b ^ (a | 1)) & x->mask];
	return k;
}

int ct_claims_create(struct ct_table *t)
{
	struct ct_claims *x = calloc(1, sizeof(*x));
	uint32_t n = rte_align32pow2(RTE_MAX(2 * t->conf.max / SLOTS, 64U));
	size_t size = n * sizeof(*x->b);

	if (x == NULL)
		return -ENOMEM;
	if (cls_arena_create(&x->arena, size, size >= HUGE_MIN) < 0) {
		free(x);
		return -ENOMEM;
	}
	x->b = cls_arena_take(&x->arena, size);
	cls_arena_populate(&x->arena, 0, size); /* not when the first packet comes */
	x->mask = n - 1;
	memcpy(x->seed, t->secret, sizeof(x->seed));
	t->claims = x;
	return 0;
}

void ct_claims_free(struct ct_table *t)
{
	if (t->claims == NULL)
		return;
	cls_arena_destroy(&t->claims->arena);
	free(t->claims);
	t->claims = NULL;
}

static bool is_hash(uint64_t slot, uint64_t hash)
{
	return slot != 0 && (slot & ~UINT64_C(0xffff)) == hash;
}

/* slots of a hash in both buckets; @except is not looked at */
static uint64_t find(const struct key *k, const _Atomic uint64_t *except)
{
	for (unsigned int side = 0; side < 2; side++) {
		for (unsigned int i = 0; i < SLOTS; i++) {
			const _Atomic uint64_t *slot = &k->b[side]->slot[i];
			uint64_t v = atomic_load_explicit(slot, memory_order_acquire);

			if (is_hash(v, k->hash) && slot != except)
				return v;
		}
	}
	return 0;
}

int ct_claim(struct ct_table *t, const struct ct_tuple *reply, uint16_t worker)
{
	struct key k = key_of(t->claims, reply);
	uint64_t mine = k.hash | (worker + 1U);

	if (find(&k, NULL) != 0)
		return -EEXIST;
	for (unsigned int n = 0; n < 2 * SLOTS; n++) {
		_Atomic uint64_t *slot = &k.b[n / SLOTS]->slot[n % SLOTS];
		uint64_t empty = 0;

		if (!atomic_compare_exchange_strong(slot, &empty, mine))
			continue;
		/* two at the same moment: both look again, and both may go */
		if (find(&k, slot) == 0)
			return 0;
		atomic_store_explicit(slot, 0, memory_order_release);
		return -EEXIST;
	}
	return -ENOSPC;
}

void ct_unclaim(struct ct_table *t, const struct ct_tuple *reply, uint16_t worker)
{
	struct key k = key_of(t->claims, reply);
	uint64_t mine = k.hash | (worker + 1U);

	for (unsigned int n = 0; n < 2 * SLOTS; n++) {
		_Atomic uint64_t *slot = &k.b[n / SLOTS]->slot[n % SLOTS];

		if (atomic_load_explicit(slot, memory_order_relaxed) != mine)
			continue;
		atomic_store_explicit(slot, 0, memory_order_release);
		return;
	}
}

int ct_claimed(const struct ct_table *t, const struct ct_tuple *tuple)
{
	struct key k = key_of(t->claims, tuple);

	return (int)(find(&k, NULL) & 0xffff) - 1;
}

uint16_t ct_owner(const struct ct_table *t, const struct ct_tuple *tuple)
{
	bool icmp = tuple->proto == IPPROTO_ICMP || tuple->proto == IPPROTO_ICMPV6;
	uint32_t hash = sl_owner_hash_of((enum sl_family)tuple->family, &tuple->src, &tuple->dst,
			icmp ? 0 : tuple->sport_be, icmp ? 0 : tuple->dport_be);

	return (uint16_t)((uint64_t)hash * t->n_shards >> 32);
}

/* sl_steer_fn: a packet that came in, or that was joined, and who its addresses say owns it */
static uint16_t steer(struct sl_router *r, struct rte_mbuf *m, uint16_t owner)
{
	const struct ct_table *t = ct_table_of(r);
	const struct sl_pkt *p = sl_pkt(m);
	struct ct_tuple tuple, quoted;
	uint32_t quote = p->l4_off + 8U;
	int worker;

	/* all fragments to where they are joined, also the one that has the ports */
	if (p->flags & SL_PKT_FRAG || !ct_tuple_get(m, 0, &tuple))
		return owner;
	/* what an error quotes went the other way */
	if (ct_is_icmp(p) && ct_is_error(p->family, tuple.type)
			&& (!ct_tuple_quoted(m, quote, 0, &quoted)
					|| !ct_tuple_invert(&quoted, &tuple)))
		return owner;
	worker = ct_claimed(t, &tuple);
	return worker < 0 ? owner : (uint16_t)worker;
}

bool ct_claim_is_due(const struct ct_table *t, const struct ct_tuple *reply, uint16_t worker)
{
	return t->claims != NULL && (t->claims->spreads || ct_owner(t, reply) != worker);
}

void ct_claims_steer(struct ct_table *t)
{
	for (unsigned int i = 1; t->claims != NULL && i <= t->r->n_ports; i++)
		t->claims->spreads |= t->r->ports[i].link->spreads;
	if (t->n_shards > 1)
		atomic_store_explicit(&t->r->steer, steer, memory_order_release);
}
