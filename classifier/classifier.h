/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packet classifiers: ordered boxes in, "the first rule at or behind position p that matches" out.
 *
 * A rule is a box over six fields (source, destination, two ports, protocol, and a 16-bit lane for
 * what the caller likes, such as a class of interfaces) and a label, its place in the order. Look-ups
 * speak of labels only, so whoever wants to insert in the middle leaves gaps between them. Several
 * boxes may carry one label: the rule matches where any of them does (lists of ports, negations).
 *
 * What a box cannot say (a string, a limit, a flag) is marked `verify`: the engine finds the box and
 * asks the caller. Masks with holes need no such mark, the engines see to them.
 *
 * All engines give the same label for every key; they differ in what they hold and what they cost.
 * A set is immutable once built and read by any number of threads; only an engine with insert and
 * remove may be edited under its readers.
 */
#pragma once

#include "lib/addr.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* of struct sl_cls_ops and all that its functions take */
#define SL_CLS_API_VERSION 1

struct rte_rcu_qsbr;

/* most keys of one look-up */
#define SL_CLS_BURST 64
/* no rule matched */
#define SL_CLS_MISS UINT32_MAX
/* largest label: a million rules with gaps of 16 */
#define SL_CLS_LABEL_MAX ((1U << 24) - 1)

/* host order; IPv4 in the low 32 bits of lo, the rest zero */
struct sl_cls_addr {
	uint64_t hi, lo;
};

/* Keys: host order. A field that a packet has not got is zero. */
struct sl_cls_key4 {
	union {
		struct {
			uint32_t src, dst;
			uint16_t sport, dport;
			uint16_t proto; /* 0..255 */
			uint16_t aux;
		};
		uint64_t half[2];
	};
};
static_assert(sizeof(struct sl_cls_key4) == 16, "two halves");

struct sl_cls_key6 {
	union {
		struct {
			struct sl_cls_addr src, dst;
			uint16_t sport, dport;
			uint16_t proto; /* 0..255 */
			uint16_t aux;
			uint64_t spare;
		};
		uint64_t half[6];
	};
};
static_assert(sizeof(struct sl_cls_key6) == 48, "six halves");

struct sl_cls_rule {
	/* matches where (key & mask) == (value & mask); any mask */
	struct sl_cls_addr src, src_mask;
	struct sl_cls_addr dst, dst_mask;
	/* matches where lo <= key <= hi */
	uint16_t sport_lo, sport_hi;
	uint16_t dport_lo, dport_hi;
	uint16_t aux_lo, aux_hi;
	uint8_t proto, proto_mask; /* as the addresses */
	bool verify; /* the box is necessary, struct sl_cls_verify decides */
	uint32_t label; /* place in the order, 0..SL_CLS_LABEL_MAX */
};

/* the box that holds every key; designated initialisers behind it narrow it */
#define SL_CLS_RULE_ANY .sport_hi = UINT16_MAX, .dport_hi = UINT16_MAX, .aux_hi = UINT16_MAX

static inline struct sl_cls_addr sl_cls_addr4(uint32_t addr)
{
	return (struct sl_cls_addr){ 0, addr };
}

/* mask of a prefix of @len bits, IPv4: 0..32, IPv6: 0..128 */
struct sl_cls_addr sl_cls_mask(enum sl_family family, unsigned int len);

/* what a set is built from */
struct sl_cls_spec {
	enum sl_family family;
	const struct sl_cls_rule *rules; /* labels never fall; copied, so the caller's to free */
	uint32_t n;
	/* readers of the set; needed only for insert and remove beside them */
	struct rte_rcu_qsbr *qsv;
};

/**
 * struct sl_cls_verify - the caller's part of the match
 * @match: whether rule @label matches key @i of the look-up's keys beyond its box
 * @arg:   handed to @match
 *
 * An engine may ask in any order, also about rules behind the one that it returns in the end, and
 * more than once: @match has no side effects.
 */
struct sl_cls_verify {
	bool (*match)(void *arg, uint32_t label, unsigned int i);
	void *arg;
};

/* a built set; engines put theirs behind it */
struct sl_cls {
	const struct sl_cls_ops *ops; /* [const] */
	enum sl_family family; /* [const] */
	uint32_t n; /* [control] boxes */
	char note[96]; /* [const] what the builder wants to be known, "" if nothing */
};

struct sl_cls_ops {
	const char *name;

	/**
	 * estimate() - can the engine hold these rules
	 *
	 * Return: about how many bytes the set will take; 0 if it cannot hold them.
	 */
	size_t (*estimate)(const struct sl_cls_spec *spec);

	/**
	 * build() - [control] rules to a set
	 *
	 * Return: 0, -EINVAL (a label that falls or is too large, a range that ends before it
	 * begins, an unknown family), -ENOMEM, -E2BIG (estimate says 0).
	 */
	int (*build)(const struct sl_cls_spec *spec, struct sl_cls **cls);

	/**
	 * lookup() - [worker] first matching rule for each key, see sl_cls_lookup4()
	 */
	void (*lookup)(const struct sl_cls *cls, const void *keys, unsigned int n,
			const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out);

	/* free() - [control] when no reader can hold the set any more */
	void (*free)(struct sl_cls *cls);

	/* memory() - [control] bytes in use, all told */
	size_t (*memory)(const struct sl_cls *cls);

	/**
	 * insert() - [control] one more box, readers go on; NULL: build a new set instead
	 *
	 * A label that is there already gets one box more. The rule is seen by every look-up that
	 * starts after the return.
	 *
	 * Return: 0, -EINVAL as build(), -ENOSPC (build a new set), -ENOMEM.
	 */
	int (*insert)(struct sl_cls *cls, const struct sl_cls_rule *rule);

	/**
	 * remove() - [control] all boxes of a label, readers go on; NULL: build a new set instead
	 *
	 * Return: 0, -ENOENT, -ENOSPC (build a new set), -ENOMEM.
	 */
	int (*remove)(struct sl_cls *cls, uint32_t label);
};

extern const struct sl_cls_ops sl_cls_linear;
extern const struct sl_cls_ops sl_cls_hashed;
extern const struct sl_cls_ops sl_cls_forest;
extern const struct sl_cls_ops sl_cls_trie;

/* all engines of our own, NULL at the end */
extern const struct sl_cls_ops *const sl_cls_engines[];

/* Return: the engine of that name, ours or a plug-in's ("auto" is none), NULL if there is none. */
const struct sl_cls_ops *sl_cls_find(const char *name);

/**
 * sl_cls_auto() - the engine for these rules
 * @spec: the rules
 * @why:  one line that says the reason; may be NULL
 *
 * Return: an engine that can hold them.
 */
const struct sl_cls_ops *sl_cls_auto(const struct sl_cls_spec *spec, const char **why);

/**
 * sl_cls_lookup4() - first matching rule for each key of a batch
 * @cls:    set of family SL_AF_INET
 * @keys:   n keys
 * @n:      0..SL_CLS_BURST
 * @from:   for each key the lowest label that counts; NULL: all count
 * @verify: asked about rules marked so; NULL: their boxes decide
 * @out:    n labels, SL_CLS_MISS where nothing matches
 *
 * Context: worker, QSBR online. No allocation, lock or syscall.
 */
static inline void sl_cls_lookup4(const struct sl_cls *cls, const struct sl_cls_key4 *keys,
		unsigned int n, const uint32_t *from, const struct sl_cls_verify *verify,
		uint32_t *out)
{
	cls->ops->lookup(cls, keys, n, from, verify, out);
}

/* sl_cls_lookup6() - the same for a set of family SL_AF_INET6 */
static inline void sl_cls_lookup6(const struct sl_cls *cls, const struct sl_cls_key6 *keys,
		unsigned int n, const uint32_t *from, const struct sl_cls_verify *verify,
		uint32_t *out)
{
	cls->ops->lookup(cls, keys, n, from, verify, out);
}
