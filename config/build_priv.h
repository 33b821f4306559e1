/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "classifier/eval.h"
#include "classifier/ext.h"
#include "classifier/stage_ruleset.h"
#include "config/build.h"
#include "config/ipt.h"
#include "conntrack/stage_nat.h"
#include "lib/pipeline.h"

/* one stage of the pipeline that a table, or the policies of some tables, needs */
struct build_stage {
	struct ipt_stage_conf conf; /* what its create() gets */
	const struct sl_stage_ops *ops;
	int order;
};

/* stages of connection tracking: three of them, each in one or two hooks; of NAT: two in two hooks */
#define BUILD_TRACK_MAX 10

struct build_track {
	struct ct_conf ct; /* where some family is tracked */
	bool family[IPT_FAMILY_NB];
	unsigned int n;
	struct ct_nat_conf confs[BUILD_TRACK_MAX];
	struct sl_stage_spec specs[BUILD_TRACK_MAX];
};

struct sl_firewall {
	struct ipt_ruleset *rs[IPT_FAMILY_NB]; /* NULL: no file */
	struct ipt_prog *prog[IPT_FAMILY_NB];
	uint32_t *same[IPT_FAMILY_NB]; /* for each rule its equal in the one before, or IPT_NO_RULE */
	struct ipt_sets *sets;
	struct build_track track;
	struct build_stage *stages;
	unsigned int n_stages;
};

/* build_load.c */
/* the lines of a file, as far as they are reported */
struct build_report;
struct build_report *build_report_new(const char *path);
void build_report_free(struct build_report *r);
/* a line that was read, but cannot be honoured */
void build_report_refuse(struct build_report *r, uint32_t line, const char *why);
/* ipt_prog_spec.note: a sentence about a rule that is taken, @arg: the report */
void build_report_note(void *arg, uint32_t line, const char *text);
void build_report_print(const struct build_report *r, FILE *f);

/* @sets: that rules may name. Return: 0, or -errno with @err. */
int build_load(const struct sl_firewall_args *args, const char *path, enum ipt_family family,
		struct ipt_sets *sets, struct build_report *report, struct ipt_ruleset **rs,
		char *err, size_t err_size);

/* the first reason of those that a reader found */
void build_first_error(const struct ipt_errors *errors, char *err, size_t err_size);

/* build_sets.c */
/* the sets of the configuration; without a file those that control made. Return: as above */
int build_sets(const struct sl_firewall_args *args, struct ipt_sets **sets, char *err,
		size_t err_size);

/* build_same.c */
/**
 * build_same() - which rules were there before
 * @same: out[new->n_rules], for free()
 *
 * Rules are equal if they are printed alike; of several that are alike the nth is equal to the nth.
 * Return: 0, -ENOMEM.
 */
int build_same(const struct ipt_ruleset *new, const struct ipt_ruleset *old, uint32_t **same);

/* build_track.c */
/* whether connections are tracked, of what family, and the stages that do it */
void build_track(struct sl_firewall *fw, const struct sl_conf *conf);

/* build_stages.c */
/* decides which stages stand where. Return: 0, -ENOMEM */
int build_stages(struct sl_firewall *fw, const struct sl_stage_spec *user, unsigned int n_user);
