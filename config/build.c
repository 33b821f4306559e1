/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/build.h"

#include "classifier/classifier.h"
#include "classifier/set.h"
#include "config/build_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *path_of(const struct sl_conf *conf, enum ipt_family family)
{
	return family == IPT_V4 ? conf->firewall.iptables : conf->firewall.ip6tables;
}

static const struct sl_cls_ops *engine_of(const struct sl_conf *conf)
{
	/* "auto" is no engine */
	return conf->firewall.engine == NULL ? NULL : sl_cls_find(conf->firewall.engine);
}

static int compile(const struct sl_firewall_args *args, struct sl_firewall *fw,
		enum ipt_family family, struct build_report *report, char *err, size_t err_size)
{
	const struct sl_firewall *prev = args->prev;
	struct ipt_prog_spec spec = {
		.r = args->r,
		.rs = fw->rs[family],
		.exts = args->exts,
		.sets = fw->sets,
		.ct_max = args->conf->conntrack_max,
		.engine = engine_of(args->conf),
	};
	struct ipt_prog_error why;
	int ret = 0;

	if (report != NULL) {
		spec.note = build_report_note;
		spec.note_arg = report;
	}
	if (prev != NULL && prev->rs[family] != NULL) {
		ret = build_same(fw->rs[family], prev->rs[family], &fw->same[family]);
		spec.prev = prev->prog[family];
		spec.same = fw->same[family];
	}
	if (ret < 0) {
		snprintf(err, err_size, "%s: %s", spec.rs->path, strerror(-ret));
		return ret;
	}
	ret = ipt_prog_create(&spec, &fw->prog[family], &why);
	if (ret == 0)
		return 0;
	if (why.line != 0) {
		snprintf(err, err_size, "%s:%u: %s", spec.rs->path, why.line, why.text);
		if (report != NULL)
			build_report_refuse(report, why.line, why.text);
	} else {
		snprintf(err, err_size, "%s: %s", spec.rs->path, why.text);
	}
	return ret;
}

static int read_family(const struct sl_firewall_args *args, struct sl_firewall *fw,
		enum ipt_family family, char *err, size_t err_size)
{
	const char *path = path_of(args->conf, family);
	struct build_report *report = NULL;
	int ret;

	if (path == NULL)
		return 0;
	if (args->report != NULL) {
		report = build_report_new(path);
		if (report == NULL)
			return -ENOMEM;
	}
	ret = build_load(args, path, family, fw->sets, report, &fw->rs[family], err, err_size);
	if (ret == 0)
		ret = compile(args, fw, family, report, err, err_size);
	if (report != NULL)
		build_report_print(report, args->report);
	build_report_free(report);
	return ret;
}

int sl_firewall_create(const struct sl_firewall_args *args, struct sl_firewall **out, char *err,
		size_t err_size)
{
	struct sl_firewall *fw = calloc(1, sizeof(*fw));
	char other[512];
	int ret, ret6;

	if (fw == NULL) {
		snprintf(err, err_size, "%s: out of memory", args->conf->path);
		return -ENOMEM;
	}
	ret = build_sets(args, &fw->sets, err, err_size);
	if (ret < 0) {
		sl_firewall_free(fw);
		return ret;
	}
	ret = read_family(args, fw, IPT_V4, err, err_size);
	/* a report is of both files, whatever is in the first */
	ret6 = ret == 0 || args->report != NULL ? read_family(args, fw, IPT_V6,
			       ret == 0 ? err : other, ret == 0 ? err_size : sizeof(other))
						: 0;
	ret = ret == 0 ? ret6 : ret;
	if (ret < 0) {
		sl_firewall_free(fw);
		return ret;
	}
	build_track(fw, args->conf);
	*out = fw;
	return 0;
}

void sl_firewall_free(struct sl_firewall *fw)
{
	if (fw == NULL)
		return;
	for (unsigned int f = 0; f < IPT_FAMILY_NB; f++) {
		ipt_prog_free(fw->prog[f]);
		ipt_ruleset_free(fw->rs[f]);
		free(fw->same[f]);
	}
	sl_sets_free(fw->sets); /* after the rules that refer to them */
	free(fw->stages);
	free(fw);
}

int sl_firewall_specs(struct sl_firewall *fw, const struct sl_stage_spec *user, unsigned int n_user,
		struct sl_stage_spec **out, unsigned int *n_out)
{
	struct sl_stage_spec *all;
	unsigned int n;
	int ret = build_stages(fw, user, n_user);

	if (ret < 0)
		return ret;
	all = calloc(n_user + fw->track.n + fw->n_stages + 1, sizeof(*all));
	if (all == NULL)
		return -ENOMEM;
	/* tables come first: a user's stage of the same order stands behind them */
	for (unsigned int i = 0; i < fw->n_stages; i++)
		all[i] = (struct sl_stage_spec){ .ops = fw->stages[i].ops,
			.conf = &fw->stages[i].conf.conf,
			.hook = fw->stages[i].conf.conf.hook,
			.order = fw->stages[i].order };
	n = fw->n_stages;
	memcpy(all + n, fw->track.specs, fw->track.n * sizeof(*all));
	n += fw->track.n;
	if (n_user > 0)
		memcpy(all + n, user, n_user * sizeof(*all));
	*out = all;
	*n_out = n + n_user;
	return 0;
}

void sl_firewall_carry(struct sl_firewall *fw, const struct sl_firewall *prev)
{
	for (unsigned int f = 0; prev != NULL && f < IPT_FAMILY_NB; f++)
		if (fw->same[f] != NULL)
			ipt_prog_carry_counters(fw->prog[f], prev->prog[f], fw->same[f]);
}

int sl_firewall_print(struct sl_firewall *fw, FILE *f, enum ipt_family family, const char *table,
		bool counters)
{
	if (fw->rs[family] == NULL)
		return table == NULL ? 0 : -ENOENT;
	ipt_prog_read_counters(fw->prog[family], fw->rs[family]);
	return ipt_print(f, fw->rs[family], table, counters);
}

void sl_firewall_policies(const struct sl_firewall *fw,
		void (*visit)(const struct sl_firewall_policy *p, void *arg), void *arg)
{
	static const enum ipt_family families[] = { IPT_V4, IPT_V6 };

	for (unsigned int i = 0; i < RTE_DIM(families); i++) {
		const struct ipt_ruleset *rs = fw->rs[families[i]];

		for (uint32_t t = 0; rs != NULL && t < rs->n_tables; t++)
			for (uint32_t k = 0; k < rs->tables[t].n_chains; k++) {
				const struct ipt_chain *c = &rs->tables[t].chains[k];
				struct ipt_counters n;

				if (!c->builtin)
					continue;
				n = ipt_prog_policy_counters(
						fw->prog[families[i]], c->policy_index);
				visit(&(struct sl_firewall_policy){ families[i],
						      ipt_table_name((enum ipt_table_id)rs
										      ->tables[t]
										      .id),
						      c->name, c->policy == IPT_DROP, n.packets,
						      n.bytes },
						arg);
			}
	}
}

int sl_firewall_zero(struct sl_firewall *fw, enum ipt_family family, const char *table)
{
	const struct ipt_ruleset *rs = fw->rs[family];

	if (rs == NULL)
		return table == NULL ? 0 : -ENOENT;
	if (table == NULL) {
		ipt_prog_zero_counters(fw->prog[family], NULL);
		return 0;
	}
	for (uint32_t i = 0; i < rs->n_tables; i++) {
		if (strcmp(ipt_table_name((enum ipt_table_id)rs->tables[i].id), table) != 0)
			continue;
		ipt_prog_zero_counters(fw->prog[family], &rs->tables[i]);
		return 0;
	}
	return -ENOENT;
}

unsigned int sl_firewall_rules(const struct sl_firewall *fw, enum ipt_family family)
{
	return fw->rs[family] == NULL ? 0 : fw->rs[family]->n_rules;
}

struct ipt_sets *sl_firewall_sets(const struct sl_firewall *fw)
{
	return fw->sets;
}
