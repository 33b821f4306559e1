/* SPDX-License-Identifier: BSD-3-Clause */
/* TOS and DSCP; the latter leaves the two ECN bits alone */
#include "classifier/ip_field.h"
#include "classifier/match_ext.h"

static int tos_run(struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	const struct ipt_t_tos *t = target->data;

	ipt_set_tos(c->m, (uint8_t)((ipt_tos(c->m) & ~t->mask) ^ t->value));
	return IPT_CONTINUE;
}

static int dscp_run(struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	const struct ipt_t_dscp *t = target->data;

	ipt_set_tos(c->m, (uint8_t)(t->dscp << 2 | (ipt_tos(c->m) & 3)));
	return IPT_CONTINUE;
}

const struct ipt_target_ops ipt_target_tos_ops = { .kind = IPT_T_TOS, .run = tos_run };
const struct ipt_target_ops ipt_target_dscp_ops = { .kind = IPT_T_DSCP, .run = dscp_run };
