/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists of recently seen addresses, as the kernel's xt_recent has them: shared by all rules that name
 * one, of every table and both families. A list holds 100 addresses; a new one takes the place of the
 * one that was not seen for the longest time. Each has a ring of the times at which it was seen.
 *
 * Any number of workers share a list: what they do to it is done under its lock, a few dozen cycles as
 * long as nobody else wants it. One worker alone takes no lock.
 */
#pragma once

#include "classifier/ext.h"
#include "classifier/ipt_match_state.h"
#include "classifier/named.h"

#include <stdio.h>

#define RECENT_ENTRIES 100

struct recent_list;

/* one packet at one rule */
struct recent_ask {
	struct sl_addr addr; /* not yet masked */
	uint8_t family; /* enum ipt_family */
	uint8_t ttl; /* as it was before the router took one */
	uint64_t now; /* jiffies */
	uint32_t stamps; /* that the ring has to hold: more empty the list */
	const struct ipt_m_recent *opts;
	uint32_t set; /* bits: IPT_RECENT_* */
	bool inv;
};

/**
 * recent_hold() - the list of that name, made if there is none
 * @mask:   of a new list; an old one keeps its own
 * @stamps: a power of two
 *
 * Context: control. Return: 0, -ENOMEM.
 */
int recent_hold(struct sl_router *r, const char *name, const struct sl_addr *mask, uint32_t stamps,
		struct recent_list **out);
void recent_release(struct recent_list *l);

/* [worker] Return: whether the match holds */
bool recent_ask(struct recent_list *l, const struct recent_ask *ask);

/**
 * recent_print() - the list as /proc/net/xt_recent/NAME shows it
 *
 * Context: control. Return: 0, -ENOENT, -ENOMEM.
 */
int recent_print(struct sl_router *r, const char *name, FILE *f);
