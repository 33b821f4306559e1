/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nat table as stages: dnat before the route is chosen, snat after it. In the pipeline while a
 * nat table is loaded and tracking is on for its family.
 */
#pragma once

#include "classifier/eval.h"
#include "conntrack/stage.h"

/* behind struct sl_stage_spec.conf */
struct ct_nat_conf {
	struct ct_stage_conf ct;
	const struct ipt_prog *prog[IPT_FAMILY_NB]; /* NULL: no nat table of that family */
};

/* PREROUTING and OUTPUT -100 */
extern const struct sl_stage_ops sl_stage_dnat;
/* INPUT and POSTROUTING 100 */
extern const struct sl_stage_ops sl_stage_snat;
