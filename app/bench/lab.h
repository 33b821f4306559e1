/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's router: a network namespace without a name that belongs to the calling process, two
 * veth pairs (in - in-peer, out - out-peer), addresses, a permanent neighbour, and rules.
 */
#pragma once

#include "app/bench/side.h"

#define LAB_IN "in"
#define LAB_OUT "out"
#define LAB_IN_PEER "in-peer"

/* -ENOTSUP: no root, no tools; the calling process is in the namespace from here on */
int lab_create(const struct side_setup *setup, char *why);

/* the scenario's rules, by the back end's own program; -ENOTSUP if it or the kernel cannot */
int lab_load_rules(const struct side_setup *setup, char *why);

/* the rules, and how often each matched, as the back end's program prints them; 0 if they are not
 * iptables' */
int lab_hash_rules(const struct side_setup *setup, struct side_probe *out, char *why);
