/* SPDX-License-Identifier: BSD-3-Clause */
/* tos and dscp */
#include "classifier/ip_field.h"
#include "classifier/match_ext.h"

static bool tos_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_tos *t = match->data;

	return ((ipt_tos(c->m) & t->mask) == t->value) != !!(match->inv & IPT_TOS_TOS);
}

static bool dscp_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_dscp *d = match->data;

	return (ipt_tos(c->m) >> 2 == d->dscp) != !!(match->inv & IPT_DSCP_DSCP);
}

const struct ipt_match_ops ipt_match_tos_ops = { .kind = IPT_M_TOS, .match = tos_match };
const struct ipt_match_ops ipt_match_dscp_ops = { .kind = IPT_M_DSCP, .match = dscp_match };
