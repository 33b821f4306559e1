/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections that a helper has heard of: the control connection has announced them, and whichever
 * worker meets their first packet takes the expectation, once. The only thing of conntrack that all
 * workers write: seldom, under a lock. Who looks for one takes the lock only if there is something
 * in the very bucket, so that without helpers nobody ever does.
 */
#pragma once

#include "conntrack/table.h"

struct ct_expects;

struct ct_expect {
	struct ct_tuple tuple; /* of the first packet */
	struct ct_tuple mask; /* bits of it that count; zone, family and protocol always do */
	struct ct_ref master;
	uint32_t expires_ms;
	uint32_t max; /* of the master's helper: the oldest goes when there are more */
	uint16_t helper; /* who has announced it */
	uint8_t dir; /* direction of the announcement (enum ct_dir) */
	/* the master is translated, and the new connection has to be so alike: where it comes from and
	 * goes to as the one that announced it sees both */
	bool follows;
	struct sl_addr to_src, to_dst;
	rte_be16_t to_port_be;
};

/* room for @max; nf_conntrack_expect_max may go down later, and not further up. Return: NULL without
 * memory. [control] */
struct ct_expects *ct_expects_create(uint32_t max);
void ct_expects_free(struct ct_expects *x);

/* how many there are, those included whose time is over but that nobody has met yet */
uint32_t ct_expects_count(const struct ct_expects *x);

/**
 * ct_expect_add() - [worker] expect a connection
 * @max: nf_conntrack_expect_max as it is now
 *
 * Replaces the same one of the same master. Return: 0; -EBUSY: another master expects what cannot be
 * told apart from it; -ENOSPC: there are @max.
 */
int ct_expect_add(struct ct_shard *s, const struct ct_expect *e, uint32_t max);

/**
 * ct_expect_take() - [worker] whether somebody expects a connection that begins with @t
 * @out: the expectation; it is no longer there
 *
 * One whose master is not confirmed, or gone, is not found.
 */
bool ct_expect_take(struct ct_shard *s, const struct ct_tuple *t, struct ct_expect *out);

/* the new connection belongs to the one that announced it: state, master, mark */
void ct_expect_bind(struct ct_shard *s, struct ct_entry *e, const struct ct_expect *x);

/* [worker] forget those whose time is over, or whose master; a bounded number a call */
void ct_expects_tick(struct ct_shard *s);

/* lines as in /proc/net/nf_conntrack_expect. Context: any */
void ct_expects_print(const struct ct_table *t, uint32_t now_ms, FILE *f);
