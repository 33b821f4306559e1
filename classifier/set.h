/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sets of `-m set` and `-j SET` at run time, as the kernel's ip_set. Workers look members up
 * without a lock; control adds and removes them, makes, swaps and destroys sets meanwhile. A rule
 * refers to a set by its name: sl_set_swap() changes what the rule sees.
 *
 * Every return of control is 0 or: -ENOENT no such set, -EEXIST it is there already, -ENOMSG the
 * member is not there, -ENOSPC the set is full, -ERANGE outside of a bitmap's range, -EBUSY a rule
 * or a list refers to it, -EPROTOTYPE types do not fit, -ELOOP a list in a list, -ENOMEM.
 */
#pragma once

#include "classifier/ipt_match_state.h"
#include "classifier/ipt_set.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_SET_NAME_MAX 32 /* with the NUL */

struct ipt_ctx;
struct ipt_sets;
struct rte_mbuf;
struct sl_router;
struct set_slot;

/* ---- control ---- */

/**
 * sl_sets_create() - the sets of a file
 * @prev: the sets in force, or NULL. Sets that the file says as it did then stay as they are, with
 *        what was added and removed since; others are made anew. Sets that control created stay.
 *
 * Return: 0, -ENOMEM.
 */
int sl_sets_create(struct sl_router *r, const struct ipset_file *file, const struct ipt_sets *prev,
		struct ipt_sets **out);
/* after a grace period; rules that refer to them are gone */
void sl_sets_free(struct ipt_sets *sets);

/* ipt_set_fn: @arg is a struct ipt_sets, or NULL */
int sl_sets_has(void *arg, const char *name, enum ipt_family family);

unsigned int sl_sets_count(const struct ipt_sets *sets);
/* name of the i-th set: lists come last */
const char *sl_sets_name(const struct ipt_sets *sets, unsigned int i);

/* @def: without members */
int sl_set_create(struct ipt_sets *sets, const struct ipset *def);
/* what a set was created with, its name included; valid until it is destroyed. NULL: no such set */
const struct ipset *sl_set_def(const struct ipt_sets *sets, const char *name);
int sl_set_destroy(struct ipt_sets *sets, const char *name);
int sl_set_flush(struct ipt_sets *sets, const char *name);
int sl_set_swap(struct ipt_sets *sets, const char *a, const char *b);

/*
 * @m:      as the reader gives it
 * @member: of list:set the name of the member set, else NULL
 */
int sl_set_add(struct ipt_sets *sets, const char *name, const struct ipset_member *m,
		const char *member, bool exist);
int sl_set_del(struct ipt_sets *sets, const char *name, const struct ipset_member *m,
		const char *member);
/* Return: 1 a member, 0 none. An address tests all nets that it may lie in. */
int sl_set_test(struct ipt_sets *sets, const char *name, const struct ipset_member *m,
		const char *member);

/**
 * sl_set_list() - the members of a set
 * @from: 0, then what it returned
 * @out:  out[n]; comments are copies for free(); key.set is a number for sl_sets_name()
 * @n:    in: room, out: members written
 *
 * Return: where the next page starts, 0 if this was the last; -ENOENT.
 */
int64_t sl_set_list(struct ipt_sets *sets, const char *name, uint32_t from,
		struct ipset_member *out, uint32_t *n);

/* ---- rules ---- */

enum sl_set_op {
	SL_SET_OP_NONE,
	SL_SET_OP_EQ,
	SL_SET_OP_NE,
	SL_SET_OP_LT,
	SL_SET_OP_GT,
};

/* flags of struct sl_set_ask */
#define SL_SET_RETURN_NOMATCH (1U << 0)
#define SL_SET_NO_COUNTERS (1U << 1)
#define SL_SET_NO_SUBCOUNTERS (1U << 2)
#define SL_SET_EXIST (1U << 3)
#define SL_SET_TIMEOUT (1U << 4)
#define SL_SET_SUB (1U << 5) /* by a list: counters are not compared */

/* what a rule asks of a set */
struct sl_set_ask {
	uint8_t n; /* dimensions */
	uint8_t src; /* bit n: dimension n is the source */
	uint8_t packets_op, bytes_op; /* enum sl_set_op */
	uint32_t flags; /* SL_SET_* */
	uint32_t timeout_s;
	uint64_t packets, bytes;
};

/* what a member says about the packet */
struct sl_set_skb {
	uint32_t mark, mask, prio;
	uint16_t queue;
};

/**
 * sl_set_slot() - [control] the set that a rule names
 * @adds: the rule adds members: memory for all of them is reserved now
 *
 * Return: NULL, if there is no such set. Give it back by sl_set_put().
 */
struct set_slot *sl_set_slot(struct ipt_sets *sets, const char *name, bool adds);
void sl_set_put(struct set_slot *slot, bool adds);

/* whether a test changes something that a later test may see [control] */
bool sl_set_is_stateful(const struct set_slot *slot);

/* [worker] whether the packet is in the set; @skb may be NULL */
bool sl_set_match(struct set_slot *slot, struct ipt_ctx *c, const struct sl_set_ask *ask,
		struct sl_set_skb *skb);

/**
 * sl_set_test_bulk() - [worker] sl_set_match() for @n (1..SL_BURST) packets
 * @c: of the first one; its other fields hold for all
 *
 * Fetches the buckets of all packets before it looks into the first. Return: bit i: a member.
 */
uint64_t sl_set_test_bulk(struct set_slot *slot, struct ipt_ctx *c, struct rte_mbuf **pkts,
		unsigned int n, const struct sl_set_ask *ask);

/* [worker] as the kernel adds and deletes by packets; nothing is told */
void sl_set_add_packet(struct set_slot *slot, struct ipt_ctx *c, const struct sl_set_ask *ask);
void sl_set_del_packet(struct set_slot *slot, struct ipt_ctx *c, const struct sl_set_ask *ask);
