/* SPDX-License-Identifier: BSD-3-Clause */
/* CT and NOTRACK: what is asked of tracking before it happens. The first to ask is heard. */
#include "conntrack/ext.h"
#include "conntrack/helper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int notrack_run(struct ipt_ctx *c, __rte_unused const struct ipt_target *target,
		__rte_unused void *state)
{
	if (c->p->ct == NULL)
		c->p->flags |= SL_PKT_UNTRACKED;
	return IPT_CONTINUE;
}

/* Return: 0, or -EINVAL with the reason */
static int find_helper(struct ipt_env *env, const struct ipt_t_ct *t, uint16_t *helper)
{
	const struct ipt_rule *rule = env->rule;

	*helper = ct_helper_find(t->helper, env->rs->family == IPT_V4 ? SL_AF_INET : SL_AF_INET6,
			(uint8_t)rule->proto);
	if (*helper != 0)
		return 0;
	snprintf(env->err, env->err_size,
			"target \"CT\": --helper %s: no such helper of protocol %u; " CT_HELPER_WORDS
			" were expected",
			t->helper, rule->proto);
	return -EINVAL;
}

static int ct_target_create(struct ipt_env *env, const struct ipt_target *target, void **state)
{
	const struct ipt_t_ct *t = target->data;
	struct ct_template *tmpl;
	int ret;

	if (target->set & IPT_CTT_NOTRACK)
		return 0;
	tmpl = calloc(1, sizeof(*tmpl));
	if (tmpl == NULL)
		return -ENOMEM;
	tmpl->zone = t->zone;
	tmpl->zone_mark = t->zone_mark;
	if (target->set & (IPT_CTT_ZONE | IPT_CTT_ZONE_ORIG))
		tmpl->zone_dirs |= 1U << CT_ORIGINAL;
	if (target->set & (IPT_CTT_ZONE | IPT_CTT_ZONE_REPLY))
		tmpl->zone_dirs |= 1U << CT_REPLY;
	tmpl->has_events = (target->set & (IPT_CTT_CTEVENTS | IPT_CTT_EXPEVENTS)) != 0;
	tmpl->events = t->ctevents;
	tmpl->exp_events = t->expevents;
	if (target->set & IPT_CTT_HELPER) {
		ret = find_helper(env, t, &tmpl->helper);
		if (ret < 0) {
			free(tmpl);
			return ret;
		}
	}
	*state = tmpl;
	return 0;
}

static int ct_target_run(
		struct ipt_ctx *c, __rte_unused const struct ipt_target *target, void *state)
{
	if (c->p->ct != NULL || c->p->flags & SL_PKT_UNTRACKED)
		return IPT_CONTINUE;
	if (state == NULL) {
		c->p->flags |= SL_PKT_UNTRACKED;
		return IPT_CONTINUE;
	}
	c->p->ct = state;
	c->p->flags |= SL_PKT_CT_TEMPLATE;
	return IPT_CONTINUE;
}

static uint8_t ct_target_needs(const struct ipt_target *target)
{
	return target->set & IPT_CTT_NOTRACK ? 0 : IPT_NEEDS_CT;
}

const struct ipt_target_ops ipt_target_ct_ops = {
	.kind = IPT_T_CT,
	.needs_of = ct_target_needs,
	.create = ct_target_create,
	.destroy = free,
	.run = ct_target_run,
};
const struct ipt_target_ops ipt_target_notrack_ops = {
	.kind = IPT_T_NOTRACK,
	.run = notrack_run,
};
