/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LOG and NFLOG: a record for control, which writes the text or hands the packet to the readers of
 * the group. The packet goes on in any case.
 */
#include "classifier/log_record.h"
#include "classifier/match_ext.h"

#include <errno.h>
#include <stdio.h>

static int log_create(struct ipt_env *env, __rte_unused const struct ipt_target *target,
		__rte_unused void **state)
{
	int ret = sl_pktlog_enable(env->r);

	if (ret < 0)
		snprintf(env->err, env->err_size, "out of memory");
	return ret;
}

static int log_run(struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	const struct ipt_t_log *t = target->data;
	struct sl_pktlog_rec rec = {
		.kind = SL_PKTLOG_LINE,
		.level = t->level,
		.options = (uint8_t)target->set,
		.in = c->in,
		.out = c->out,
	};

	if (t->prefix != NULL)
		snprintf(rec.prefix, sizeof(rec.prefix), "%s", t->prefix);
	sl_pktlog_write(c->w, c->m, &rec, log_record_wants(c->p));
	return IPT_CONTINUE;
}

static int nflog_run(struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	const struct ipt_t_nflog *t = target->data;
	struct sl_pktlog_rec rec = {
		.kind = SL_PKTLOG_GROUP,
		.level = LOG_RECORD_LEVEL,
		.group = t->group,
		.in = c->in,
		.out = c->out,
	};

	if (t->prefix != NULL)
		snprintf(rec.prefix, sizeof(rec.prefix), "%s", t->prefix);
	sl_pktlog_write(c->w, c->m, &rec,
			target->set & IPT_NFLOG_SIZE ? t->size_bytes : UINT32_MAX);
	return IPT_CONTINUE;
}

const struct ipt_target_ops ipt_target_log_ops = {
	.kind = IPT_T_LOG,
	.create = log_create,
	.run = log_run,
};
const struct ipt_target_ops ipt_target_nflog_ops = {
	.kind = IPT_T_NFLOG,
	.create = log_create,
	.run = nflog_run,
};
