/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connection tracking as stages. config/ puts them into the pipeline while some rule needs them, and
 * hands each a struct ct_stage_conf.
 */
#pragma once

#include "classifier/ipt_rule.h"
#include "conntrack/conf.h"
#include "lib/conf.h"
#include "lib/stage.h"

/* behind struct sl_stage_spec.conf; all of them get the same one */
struct ct_stage_conf {
	struct sl_stage_conf conf;
	struct ct_conf ct;
	bool family[IPT_FAMILY_NB]; /* tracked; packets of the other family pass */
};

/* PREROUTING -400: fragments become datagrams */
extern const struct sl_stage_ops sl_stage_defrag;
/* PREROUTING and OUTPUT -200: packets find or make their connection */
extern const struct sl_stage_ops sl_stage_conntrack;
/* last of INPUT and POSTROUTING: connections that were made are confirmed */
extern const struct sl_stage_ops sl_stage_confirm;
