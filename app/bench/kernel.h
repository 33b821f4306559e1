/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's side: packets through a namespace that routes, in one of two ways. */
#pragma once

#include "app/bench/side.h"

/* live frames */
extern const struct side_ops kernel_side;

/*
 * For the self-test: an AF_PACKET ring into the first veth's peer. The time is that of the thread
 * which receives there.
 */
extern const struct side_ops packet_side;

/*
 * Both once more with the way of a packet cut short: it ends where the first veth has received it,
 * before anything of IP. What is left of a figure without this is the same work in both ways.
 */
extern const struct side_ops kernel_cut_side;
extern const struct side_ops packet_cut_side;

/* NULL, or why this build has no kernel's side */
const char *kernel_missing(void);
