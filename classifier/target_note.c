/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Targets that only leave a note on the packet, or nothing: CLASSIFY, TRACE, CHECKSUM, AUDIT. There
 * is nothing to fill for CHECKSUM, since checksums that a peer left to its device were completed when
 * the packet came in, and no audit system that AUDIT could tell.
 */
#include "classifier/match_ext.h"
#include "lib/pktlog.h"
#include "lib/watch.h"
#include "lib/worker.h"

#include <stdio.h>

static int classify_run(
		struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	const struct ipt_t_classify *t = target->data;

	c->p->priority = t->priority;
	return IPT_CONTINUE;
}

static int trace_create(struct ipt_env *env, __rte_unused const struct ipt_target *target,
		__rte_unused void **state)
{
	int ret = sl_pktlog_enable(env->r);

	if (ret < 0)
		snprintf(env->err, env->err_size, "out of memory");
	return ret;
}

static int trace_run(struct ipt_ctx *c, __rte_unused const struct ipt_target *target,
		__rte_unused void *state)
{
	c->p->flags |= SL_PKT_TRACE;
	if (c->w->watch != NULL)
		sl_watch_choose(c->w, c->m);
	return IPT_CONTINUE;
}

static int nothing_run(__rte_unused struct ipt_ctx *c, __rte_unused const struct ipt_target *target,
		__rte_unused void *state)
{
	return IPT_CONTINUE;
}

const struct ipt_target_ops ipt_target_audit_ops = { .kind = IPT_T_AUDIT, .run = nothing_run };
const struct ipt_target_ops ipt_target_checksum_ops = { .kind = IPT_T_CHECKSUM,
	.run = nothing_run };
const struct ipt_target_ops ipt_target_classify_ops = { .kind = IPT_T_CLASSIFY,
	.run = classify_run };
const struct ipt_target_ops ipt_target_trace_ops = {
	.kind = IPT_T_TRACE, .create = trace_create, .run = trace_run
};
