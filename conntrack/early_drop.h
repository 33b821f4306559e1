/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What goes when the table is full. As in the kernel: a new connection looks at the buckets from its
 * own on, up to eight, and the first that holds any which are not assured loses those. If there are
 * none the packet is dropped, and a sweep begins over everything, which drops, while the table is
 * filled to more than 95 %, what is not assured and what is about to end anyway.
 */
#pragma once

#include "conntrack/table.h"

/* @hash: of the new tuple. Return: whether any went */
bool ct_early_drop(struct ct_shard *s, uint64_t hash);

/* a bounded part of a sweep that is under way, in whichever worker it began */
void ct_early_sweep(struct ct_shard *s);
