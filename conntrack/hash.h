/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hash of tuples: equal for a tuple and its answer, and not to be foreseen without the key.
 *
 * Folded products of 64 x 64 bits, both factors masked by secret words. Each end of a connection is
 * hashed with its port by itself, and the two are added, so that it does not matter which is which; a
 * last product mixes in family, protocol and zone, so that sums in a row do not show in a row of
 * buckets. ICMP has its id at both ends, and its type, which the answer changes, is left out.
 */
#pragma once

#include "conntrack/tuple.h"

#include <netinet/in.h>
#include <string.h>

struct ct_hash_key {
	uint64_t word[6]; /* odd */
};

static inline uint64_t ct_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 p = (unsigned __int128)a * b;

	return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static inline bool ct_has_icmp_id(uint8_t proto)
{
	return proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6;
}

static inline uint64_t ct_hash(const struct ct_hash_key *key, const struct ct_tuple *t)
{
	const uint64_t *k = key->word;
	uint64_t w[5], a, b;
	uint16_t dport;

	memcpy(w, t, sizeof(w));
	dport = ct_has_icmp_id(t->proto) ? t->id_be : t->dport_be;
	a = ct_fold(w[0] ^ k[0], w[1] ^ k[1]);
	b = ct_fold(w[2] ^ k[0], w[3] ^ k[1]);
	a = ct_fold(a ^ k[2], t->sport_be ^ k[3]);
	b = ct_fold(b ^ k[2], dport ^ k[3]);
	return ct_fold((a + b) ^ k[4], (w[4] >> 32 << 32) ^ k[5]);
}
