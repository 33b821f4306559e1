/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many ICMP errors may go out: the kernel's limits, shared by all workers.
 *
 * Three limits stand behind each other. One bucket is global: icmp_msgs_per_sec, at most
 * icmp_msgs_burst at once, refilled no more often than each 20 ms; a message takes 0, 1 or 2 credits
 * at random, so that nobody can count other people's errors. One bucket belongs to each peer and
 * holds time: it fills with the clock up to six intervals, a message costs one. Errors for packets
 * without a route pay one second, of at most five, from that same bucket before. Redirects use the
 * peer's counter: intervals double from 20 ms, nine are sent, 20.48 s of silence start over.
 *
 * Peers lie in a table of fixed size, 8 slots to a set, found by a keyed 64-bit hash of the address:
 * whoever fills it costs an idle peer its place, whose bucket was full and whose silence was over
 * anyway. A slot is two words: the hash, and the state, which one compare-and-swap changes. Two
 * workers that take a new slot at once may grant one error too many; nothing else can go wrong.
 *
 * Example: 12 packets with TTL 1 at once. The bucket holds 6 x 1000 ms; 6 errors go out, then one a
 * second.
 */
#include "lib/ip.h"
#include "lib/router.h"
#include "lib/worker.h"

#include <rte_jhash.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>

#define SETS 8192U /* 8 slots of 16 bytes each: 1 MB */
#define WAYS 8U

#define PEER_BURST 6 /* intervals that a bucket holds */
#define UNROUTABLE_COST_MS 1000U
#define UNROUTABLE_BURST_MS 5000U
#define GLOBAL_STEP_MS 20U
#define REDIRECT_LOAD_MS 20U
#define REDIRECT_NUMBER 9U
#define REDIRECT_SILENCE_MS (REDIRECT_LOAD_MS << (REDIRECT_NUMBER + 1))
/* a peer that was silent for so long is as good as new, with every limit at its default */
#define FRESH_MS 60000U

/* state word: clock in ms, tokens in ms, redirects sent */
#define LAST_BITS 35
#define TOKEN_BITS 25
#define LAST_MASK ((1ULL << LAST_BITS) - 1)
#define TOKEN_MASK ((1ULL << TOKEN_BITS) - 1)

struct slot {
	_Atomic uint64_t tag; /* 0: free */
	_Atomic uint64_t state;
};

struct sl_icmp_limits {
	_Atomic int32_t credit;
	_Atomic uint64_t stamp_ms;
	_Atomic uint32_t draws; /* of the global bucket; whose turn it is does not matter */
	uint32_t seed[2]; /* [const] */
	struct slot slots[SETS][WAYS] __rte_cache_aligned;
};

struct peer {
	uint64_t last_ms;
	uint32_t tokens_ms;
	uint8_t redirects;
};

int sl_icmp_limits_create(struct sl_icmp_limits **out)
{
	struct sl_icmp_limits *l = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*l));

	if (l == NULL)
		return -ENOMEM;
	memset(l, 0, sizeof(*l));
	if (getrandom(l->seed, sizeof(l->seed), 0) != sizeof(l->seed)) {
		free(l);
		return -EIO;
	}
	*out = l;
	return 0;
}

void sl_icmp_limits_fix(struct sl_icmp_limits *l)
{
	l->seed[0] = l->seed[1] = 0;
}

void sl_icmp_limits_free(struct sl_icmp_limits *l)
{
	free(l);
}

static uint64_t clock_ms(const struct sl_worker *w)
{
	/* a clock that starts at 0 must not look as if peers had just been seen */
	return w->now_ns / 1000000 + 2 * FRESH_MS;
}

static struct peer unpack(uint64_t state, uint64_t now_ms)
{
	uint64_t since = (now_ms - state) & LAST_MASK;

	/* two workers' clocks may differ by a burst: that is no time, not a year */
	if (since > LAST_MASK / 2)
		since = 0;
	return (struct peer){
		.last_ms = now_ms - since,
		.tokens_ms = (uint32_t)(state >> LAST_BITS & TOKEN_MASK),
		.redirects = (uint8_t)(state >> (LAST_BITS + TOKEN_BITS)),
	};
}

static uint64_t pack(struct peer p)
{
	return (p.last_ms & LAST_MASK) | (uint64_t)p.tokens_ms << LAST_BITS
			| (uint64_t)p.redirects << (LAST_BITS + TOKEN_BITS);
}

/* the slot of a peer, taken from the longest silent one of its set if it is new */
static struct slot *find(struct sl_icmp_limits *l, enum sl_family family,
		const struct sl_addr *addr, uint64_t now_ms)
{
	uint32_t lo = l->seed[0] + family, hi = l->seed[1];
	struct slot *set, *oldest;
	uint64_t tag, oldest_tag = 0, oldest_since = 0;

	rte_jhash_32b_2hashes(addr->w, RTE_DIM(addr->w), &lo, &hi);
	tag = ((uint64_t)hi << 32 | lo) | 1;
	set = l->slots[(tag >> 32) % SETS];
	oldest = &set[0];
	for (unsigned int i = 0; i < WAYS; i++) {
		uint64_t have = atomic_load_explicit(&set[i].tag, memory_order_relaxed);
		uint64_t since;

		if (have == tag)
			return &set[i];
		since = have == 0 ? UINT64_MAX
				  : (now_ms
						    - atomic_load_explicit(&set[i].state,
								    memory_order_relaxed))
						& LAST_MASK;
		if (i == 0 || since > oldest_since) {
			oldest = &set[i];
			oldest_tag = have;
			oldest_since = since;
		}
	}
	if (atomic_compare_exchange_strong(&oldest->tag, &oldest_tag, tag))
		atomic_store(&oldest->state, pack((struct peer){ .last_ms = now_ms - FRESH_MS }));
	return oldest;
}

/* tokens by the clock, at most @burst_ms; one @cost_ms of them is taken if they suffice */
static bool take(struct slot *s, uint64_t now_ms, uint64_t cost_ms, uint64_t burst_ms)
{
	uint64_t old = atomic_load_explicit(&s->state, memory_order_relaxed);
	struct peer p;
	bool granted;

	do {
		uint64_t tokens;

		p = unpack(old, now_ms);
		tokens = RTE_MIN(p.tokens_ms + (now_ms - p.last_ms), burst_ms);
		granted = tokens >= cost_ms;
		p.tokens_ms = (uint32_t)(granted ? tokens - cost_ms : tokens);
		p.last_ms = now_ms;
	} while (!atomic_compare_exchange_weak(&s->state, &old, pack(p)));
	return granted;
}

bool sl_icmp_limit_peer(struct sl_worker *w, enum sl_family family, const struct sl_addr *addr,
		uint32_t interval_ms)
{
	uint64_t now_ms = clock_ms(w);

	return take(find(w->r->icmp_limits, family, addr, now_ms), now_ms, interval_ms,
			(uint64_t)interval_ms * PEER_BURST);
}

/* is there credit, after a refill that is due? */
static bool global_has(struct sl_worker *w)
{
	const struct sl_sysctl *s = &w->net->sysctl;
	struct sl_icmp_limits *l = w->r->icmp_limits;
	uint64_t now_ms = clock_ms(w), stamp_ms, since_ms;
	int64_t more, sum;
	int32_t old;

	if (atomic_load_explicit(&l->credit, memory_order_relaxed) > 0)
		return true;
	stamp_ms = atomic_load_explicit(&l->stamp_ms, memory_order_relaxed);
	since_ms = now_ms > stamp_ms ? RTE_MIN(now_ms - stamp_ms, UINT64_C(1000)) : 0;
	if (since_ms < GLOBAL_STEP_MS)
		return false;
	more = (int64_t)s->icmp_msgs_per_sec * (int64_t)since_ms / 1000;
	if (more == 0)
		return false;
	if (!atomic_compare_exchange_strong(&l->stamp_ms, &stamp_ms, now_ms))
		return true;
	old = atomic_load_explicit(&l->credit, memory_order_relaxed);
	do {
		sum = RTE_MIN(old + more, (int64_t)s->icmp_msgs_burst);
	} while (!atomic_compare_exchange_weak(&l->credit, &old, (int32_t)sum));
	return true;
}

static void global_take(struct sl_worker *w)
{
	struct sl_icmp_limits *l = w->r->icmp_limits;
	/* a sequence of the router, not of the worker: a replay on more workers draws the same */
	uint32_t turn = atomic_fetch_add_explicit(&l->draws, 1, memory_order_relaxed);
	int32_t credits = (int32_t)(rte_jhash_1word(turn, l->seed[0]) % 3);

	if (credits > 0)
		atomic_fetch_sub(&l->credit, credits);
}

/* is this message subject to limits at all? */
static bool limited(const struct sl_sysctl *s, enum sl_family family, uint8_t type, uint8_t code)
{
	if (family == SL_AF_INET) {
		/* types beyond the mask and path MTU discovery are free */
		if (type > 18 || (type == 3 && code == 4))
			return false;
		return (uint32_t)s->icmp4_ratemask >> type & 1;
	}
	/* net.ipv6.icmp.ratemask at its default: all errors but packet too big */
	return type < 128 && type != 2;
}

bool sl_icmp_limit_plen(struct sl_worker *w, enum sl_family family, const struct sl_addr *dst,
		uint8_t type, uint8_t code, unsigned int plen)
{
	const struct sl_sysctl *s = &w->net->sysctl;
	uint32_t interval_ms;

	if (!limited(s, family, type, code))
		return true;
	if (!global_has(w))
		return false;
	interval_ms = (uint32_t)(family == SL_AF_INET ? s->icmp4_ratelimit_ms
						      : s->icmp6_ratelimit_ms);
	/* wide IPv6 prefixes hold more hosts and get more */
	if (family == SL_AF_INET6 && plen < 128)
		interval_ms >>= (128 - plen) >> 5;
	if (!sl_icmp_limit_peer(w, family, dst, interval_ms))
		return false;
	global_take(w);
	return true;
}

bool sl_icmp_limit(struct sl_worker *w, enum sl_family family, const struct sl_addr *dst,
		uint8_t type, uint8_t code)
{
	return sl_icmp_limit_plen(w, family, dst, type, code, 128);
}

bool sl_icmp_limit_unroutable(struct sl_worker *w, const struct sl_addr *src)
{
	uint64_t now_ms = clock_ms(w);

	return take(find(w->r->icmp_limits, SL_AF_INET, src, now_ms), now_ms, UNROUTABLE_COST_MS,
			UNROUTABLE_BURST_MS);
}

static bool redirect4(struct sl_worker *w, const struct sl_addr *src)
{
	uint64_t now_ms = clock_ms(w);
	struct slot *s = find(w->r->icmp_limits, SL_AF_INET, src, now_ms);
	uint64_t old = atomic_load_explicit(&s->state, memory_order_relaxed);
	struct peer p;
	bool granted;

	do {
		uint64_t since_ms;

		p = unpack(old, now_ms);
		since_ms = now_ms - p.last_ms;
		if (since_ms > REDIRECT_SILENCE_MS) {
			p.tokens_ms = 0;
			p.redirects = 0;
		}
		granted = p.redirects == 0
				|| (p.redirects < REDIRECT_NUMBER
						&& since_ms > (uint64_t)REDIRECT_LOAD_MS
										<< p.redirects);
		if (granted)
			p.redirects++;
		/* one too many keeps the silence from running out */
		if (granted || p.redirects >= REDIRECT_NUMBER)
			p.last_ms = now_ms;
	} while (!atomic_compare_exchange_weak(&s->state, &old, pack(p)));
	return granted;
}

bool sl_icmp_limit_redirect(struct sl_worker *w, enum sl_family family, const struct sl_addr *src)
{
	/* neighbour discovery pays a second a piece from the peer's bucket */
	if (family == SL_AF_INET6)
		return sl_icmp_limit_peer(w, family, src, 1000);
	return redirect4(w, src);
}
