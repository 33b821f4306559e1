/* SPDX-License-Identifier: BSD-3-Clause */
/* TTL and HL; a TTL that became 0 goes out as it is */
#include "classifier/ip_field.h"
#include "classifier/match_ext.h"

static int ttl_run(struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	const struct ipt_t_ttl *t = target->data;
	int ttl = ipt_ttl(c->m);

	if (target->set & IPT_TTLT_SET)
		ttl = t->value;
	else if (target->set & IPT_TTLT_INC)
		ttl = RTE_MIN(ttl + t->value, UINT8_MAX);
	else
		ttl = RTE_MAX(ttl - t->value, 0);
	ipt_set_ttl(c->m, (uint8_t)ttl);
	return IPT_CONTINUE;
}

const struct ipt_target_ops ipt_target_ttl_ops = { .kind = IPT_T_TTL, .run = ttl_run };
const struct ipt_target_ops ipt_target_hl_ops = { .kind = IPT_T_HL, .run = ttl_run };
