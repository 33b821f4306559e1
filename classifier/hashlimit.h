/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of rates, as the kernel's xt_hashlimit has them: one bucket for each key (addresses and ports
 * as the mode says), shared by all rules of a family that name the table. The rule that makes a table
 * decides mode, masks, rate, size and times; later ones only say whether they match above or below.
 *
 * Memory is taken when the table is made. Buckets that expired go when room is needed; which ones have
 * is told by the ticks at which the kernel's garbage collector would have run.
 *
 * Workers share a table: the hash picks one of 64 stripes, each with a lock of its own, so two workers
 * wait for each other only at the same stripe. The free entries have a lock too, taken where a key is
 * new. One worker alone has one stripe and takes no lock.
 */
#pragma once

#include "classifier/ext.h"
#include "classifier/ipt_match_state.h"
#include "classifier/named.h"

#include <stdio.h>

struct hashlimit_table;

/* network order, masked; what the mode does not name is zero */
struct hashlimit_key {
	struct sl_addr src, dst;
	rte_be16_t sport_be, dport_be;
	uint32_t zero;
};
static_assert(sizeof(struct hashlimit_key) == 40, "ten words without a gap");

/* parameters of the rule that made the table */
struct hashlimit_conf {
	uint64_t avg, burst;
	uint32_t max; /* entries */
	uint32_t expire_jiffies, gc_jiffies;
	uint32_t interval_s;
	uint8_t mode;
	uint8_t src_len, dst_len;
	bool bytes;
	bool rate_match;
};

/**
 * hashlimit_hold() - the table of that name, made if there is none
 *
 * Context: control. Return: 0, -ENOMEM.
 */
int hashlimit_hold(struct sl_router *r, const char *name, enum ipt_family family,
		const struct hashlimit_conf *conf, struct hashlimit_table **out);
void hashlimit_release(struct hashlimit_table *t);

const struct hashlimit_conf *hashlimit_conf(const struct hashlimit_table *t);

enum hashlimit_answer {
	HASHLIMIT_UNDER,
	HASHLIMIT_OVER,
	HASHLIMIT_FULL, /* the key is new, and there is no room */
};

/**
 * hashlimit_take() - [worker] count a packet for its key
 * @bytes:      of the IP packet
 * @by_bytes:   as the rule that asks says; of one table all say the same, if they are sane
 * @rate_match: likewise
 */
enum hashlimit_answer hashlimit_take(struct hashlimit_table *t, const struct hashlimit_key *key,
		uint64_t now, uint32_t bytes, bool by_bytes, bool rate_match);

/* what one packet costs, and whether the rate can be held at all: see the kernel's user2credits() */
uint64_t hashlimit_credits(uint64_t avg);
uint32_t hashlimit_byte_credits(uint32_t avg);

/**
 * hashlimit_print() - the table as /proc/net/ipt_hashlimit/NAME shows it
 *
 * Context: control. Return: 0, -ENOENT, -ENOMEM.
 */
int hashlimit_print(struct sl_router *r, const char *name, enum ipt_family family, FILE *f);
