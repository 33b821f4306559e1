/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many connections a network has, as one rule of connlimit has seen them: all workers count into
 * the same structure.
 */
#pragma once

#include "conntrack/table.h"

struct connlimit;

/* one packet that is counted */
struct connlimit_pkt {
	const struct ct_table *table;
	struct sl_addr net; /* address of the packet, masked */
	uint16_t zone;
	uint32_t now_ms; /* of entries */
	uint32_t jiffies;
	struct ct_ref ref; /* its connection; id 0: it has none */
	uint32_t status; /* of its connection */
};

/**
 * connlimit_create() - [control]
 * @max: connections that may be tracked
 *
 * Return: with one reference, NULL without memory.
 */
struct connlimit *connlimit_create(uint32_t max, uint32_t secret);
struct connlimit *connlimit_hold(struct connlimit *cl);
/* after a grace period */
void connlimit_put(struct connlimit *cl);

/**
 * connlimit_count() - [worker] the connections of the packet's network, its own included
 *
 * Takes a lock that only packets of networks with a similar hash share.
 * Return: false if there is no room for one more.
 */
bool connlimit_count(struct connlimit *cl, const struct connlimit_pkt *p, uint32_t *n);
