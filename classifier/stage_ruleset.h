/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables as stages. config/ decides which of them stand in the pipeline and hands each its programs
 * through the stage's configuration.
 */
#pragma once

#include "classifier/eval.h"
#include "lib/conf.h"
#include "lib/stage.h"

/* behind struct sl_stage_spec.conf */
struct ipt_stage_conf {
	struct sl_stage_conf conf;
	/* by enum ipt_family; NULL: packets of that family pass */
	const struct ipt_prog *prog[IPT_FAMILY_NB];
	/* sl_stage_policy: the tables whose policies it counts for, a bit each, by family */
	uint8_t tables[IPT_FAMILY_NB];
};

extern const struct sl_stage_ops sl_stage_raw;
extern const struct sl_stage_ops sl_stage_mangle;
extern const struct sl_stage_ops sl_stage_filter;
extern const struct sl_stage_ops sl_stage_security;
/* counts for base chains without rules and with policy ACCEPT */
extern const struct sl_stage_ops sl_stage_policy;

/* the stage of a table; NULL for nat */
const struct sl_stage_ops *ipt_stage_ops(enum ipt_table_id table);
enum sl_hook ipt_stage_hook(enum ipt_hook hook);
