/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rule sets and keys for the classifier's tests, fuzz target and benchmark: ClassBench files, sets of
 * the same shapes made here, sets made to be horrible, and keys in the corners of rules.
 */
#pragma once

#include "classifier/classifier.h"

struct gen_rng {
	uint64_t state;
};

uint32_t gen_u32(struct gen_rng *rng);
uint64_t gen_u64(struct gen_rng *rng);
/* 0..n-1, n > 0 */
uint32_t gen_below(struct gen_rng *rng, uint32_t n);
static inline bool gen_one_in(struct gen_rng *rng, uint32_t n)
{
	return gen_below(rng, n) == 0;
}

struct gen_set {
	enum sl_family family;
	struct sl_cls_rule *rules;
	uint32_t n;
	char name[48];
};

/* n boxes that hold every key, labels 0 to n - 1 */
void gen_start(struct gen_set *set, enum sl_family family, uint32_t n, const char *name);
void gen_free(struct gen_set *set);
struct sl_cls_spec gen_spec(const struct gen_set *set);

/* Reads NAME.rules; Return: false (and a loud line) where the folder or the file is missing. */
bool gen_classbench(struct gen_set *set, const char *name);

/* shape: "acl", "fw" or "ipc"; about the distributions of lengths and ports of ClassBench's seeds */
void gen_shaped(struct gen_set *set, const char *shape, uint32_t n, struct gen_rng *rng);

/* The same boxes in IPv6: prefixes below 2001:db8::/32; with @hosts in the low half of one /64. */
void gen_to_ipv6(struct gen_set *set, bool hosts);

/* 10,000 addresses and the like: n rules of one source address each */
void gen_addresses(struct gen_set *set, uint32_t n, struct gen_rng *rng);

/* sets that hurt: in cls_horror.c */
enum gen_horror {
	GEN_RANDOM, /* any field, any length, few distinct bits, so that boxes overlap */
	GEN_NESTED, /* prefixes of all lengths around one point */
	GEN_RANGES, /* any-any rules with random port ranges */
	GEN_SAME_PAIR, /* one address pair, overlapping port ranges */
	GEN_IDENTICAL, /* equal boxes */
	GEN_CROSSED, /* source-only and destination-only rules */
	GEN_ODD, /* masks with holes, also in the protocol */
	GEN_SHARED_LABELS, /* several boxes a label, gaps between labels */
	GEN_EDGES, /* addresses and ports 0 and all ones, lengths 0, 1, 31, 32, 33, 63, 64, 65 */
	GEN_HORROR_NB
};
const char *gen_horror_name(enum gen_horror horror);
void gen_horrible(struct gen_set *set, enum sl_family family, enum gen_horror horror, uint32_t n,
		struct gen_rng *rng);

/* one rule in @percent becomes a verify rule */
void gen_mark_verify(struct gen_set *set, unsigned int percent, struct gen_rng *rng);

enum gen_key {
	GEN_CORNER, /* a corner of a random rule */
	GEN_INSIDE, /* a point inside one */
	GEN_BEYOND, /* a corner, one field moved out by one */
	GEN_HEADER, /* a random header */
	GEN_KEY_NB
};
union gen_any_key {
	struct sl_cls_key4 v4;
	struct sl_cls_key6 v6;
};
void gen_key(const struct gen_set *set, enum gen_key kind, struct gen_rng *rng, void *keys,
		unsigned int i);
