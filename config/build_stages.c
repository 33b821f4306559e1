/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which tables stand in the pipeline. A base chain with a rule, or with another policy than ACCEPT,
 * is a stage of its own. All others only count: what passes them is the same for as many of them
 * as follow each other with nothing in between, so one stage counts for all of those.
 */
#include "config/build_priv.h"
#include "lib/pipeline.h"

#include <errno.h>
#include <stdlib.h>

/* nat is asked by the stages of NAT (build_track.c), and where nothing is tracked by nobody */
static const enum ipt_table_id tables[] = { IPT_RAW, IPT_MANGLE, IPT_FILTER, IPT_SECURITY };

#define STAGES_MAX ((unsigned int)(IPT_HOOK_NB * RTE_DIM(tables)))

static struct build_stage *add(struct sl_firewall *fw, const struct sl_stage_ops *ops,
		enum ipt_hook hook, int order)
{
	struct build_stage *s = &fw->stages[fw->n_stages++];

	*s = (struct build_stage){
		.ops = ops,
		.order = order,
		.conf.conf = { .hook = ipt_stage_hook(hook), .stage = ops->name },
	};
	return s;
}

static bool acts(const struct sl_firewall *fw, enum ipt_table_id table, enum ipt_hook hook)
{
	for (unsigned int f = 0; f < IPT_FAMILY_NB; f++)
		if (fw->prog[f] != NULL && ipt_prog_acts(fw->prog[f], table, hook))
			return true;
	return false;
}

static bool is_loaded(const struct sl_firewall *fw, enum ipt_table_id table, enum ipt_hook hook)
{
	for (unsigned int f = 0; f < IPT_FAMILY_NB; f++)
		if (fw->prog[f] != NULL && ipt_prog_has(fw->prog[f], table, hook))
			return true;
	return false;
}

/* whether one of @specs stands behind @after and not behind @before */
static bool comes_between(const struct sl_stage_spec *specs, unsigned int n, enum ipt_hook hook,
		int after, int before)
{
	for (unsigned int i = 0; i < n; i++)
		if (specs[i].hook == ipt_stage_hook(hook) && specs[i].order >= after
				&& specs[i].order < before)
			return true;
	return false;
}

static void add_table(struct sl_firewall *fw, enum ipt_table_id table, enum ipt_hook hook)
{
	const struct sl_stage_ops *ops = ipt_stage_ops(table);
	struct build_stage *s = add(fw, ops, hook, ops->order);

	for (unsigned int f = 0; f < IPT_FAMILY_NB; f++)
		if (fw->prog[f] != NULL && ipt_prog_has(fw->prog[f], table, hook))
			s->conf.prog[f] = fw->prog[f];
}

static void add_policy(struct sl_firewall *fw, struct build_stage *counter, enum ipt_table_id table,
		enum ipt_hook hook)
{
	for (unsigned int f = 0; f < IPT_FAMILY_NB; f++) {
		if (fw->prog[f] == NULL || !ipt_prog_has(fw->prog[f], table, hook))
			continue;
		counter->conf.prog[f] = fw->prog[f];
		counter->conf.tables[f] |= (uint8_t)(1U << table);
	}
}

static void add_hook(struct sl_firewall *fw, enum ipt_hook hook, const struct sl_stage_spec *user,
		unsigned int n_user)
{
	struct build_stage *counter = NULL;

	for (unsigned int i = 0; i < RTE_DIM(tables); i++) {
		int order = ipt_stage_ops(tables[i])->order;

		if (!is_loaded(fw, tables[i], hook))
			continue;
		if (acts(fw, tables[i], hook)) {
			add_table(fw, tables[i], hook);
			counter = NULL;
			continue;
		}
		if (counter == NULL || comes_between(user, n_user, hook, counter->order, order)
				|| comes_between(fw->track.specs, fw->track.n, hook, counter->order,
						order))
			counter = add(fw, &sl_stage_policy, hook, order);
		add_policy(fw, counter, tables[i], hook);
	}
}

int build_stages(struct sl_firewall *fw, const struct sl_stage_spec *user, unsigned int n_user)
{
	free(fw->stages);
	fw->n_stages = 0;
	fw->stages = calloc(STAGES_MAX, sizeof(*fw->stages));
	if (fw->stages == NULL)
		return -ENOMEM;
	for (unsigned int hook = 0; hook < IPT_HOOK_NB; hook++)
		add_hook(fw, (enum ipt_hook)hook, user, n_user);
	return 0;
}
