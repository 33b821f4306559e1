/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/match_ext.h"

/*
 * The kernel's answer for a packet that no bridge has seen, which is every packet of a router: an
 * option is true only behind `!`.
 */
static bool physdev_match(__rte_unused struct ipt_ctx *c, const struct ipt_match *match,
		__rte_unused void *state)
{
	return (match->set & ~match->inv) == 0;
}

const struct ipt_match_ops ipt_match_physdev_ops = { .kind = IPT_M_PHYSDEV,
	.match = physdev_match };
