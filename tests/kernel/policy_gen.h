/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * policy_gen: rules as `ip rule` takes them, tables for them to choose from, marks that they look at, and
 * packets to be routed; for the kernel and as sections of a sluice config. Drawn by seed.
 */
#pragma once

#include "frames_priv.h"

#include <stdio.h>

#define POLICY_TEXT_MAX 16384

struct policy_set {
	char batch[2][POLICY_TEXT_MAX]; /* for `ip -4 -batch -` and `ip -6 -batch -` */
	char routes[POLICY_TEXT_MAX]; /* more items of `routes:` */
	char policy[POLICY_TEXT_MAX]; /* items of `policy:` */
	char marks[POLICY_TEXT_MAX]; /* for iptables-restore and ip6tables-restore */
	unsigned int rp_filter, src_valid_mark;
};

void policy_make(struct policy_set *set, uint64_t seed);
void policy_frame(uint64_t seed, unsigned int index, struct frames_case *c);

/* what undoes a set in the kernel: input of `ip -batch -` */
extern const char policy_undo[];
