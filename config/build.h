/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The firewall of a configuration: the files under `firewall:` read, compiled for a router, and
 * turned into stages of its pipeline. All or nothing: a line that is refused refuses everything.
 *
 * Context: control thread.
 */
#pragma once

#include "classifier/ipt_rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ct_conf;
struct ipt_exts;
struct ipt_sets;
struct sl_conf;
struct sl_firewall;
struct sl_router;
struct sl_stage_spec;

struct sl_firewall_args {
	struct sl_router *r; /* with its ports */
	const struct sl_conf *conf;
	const struct ipt_exts *exts;
	const struct sl_firewall *prev; /* in force, or NULL */
	FILE *report; /* a line for each rule line, and a summary of each file; or NULL */
};

/**
 * sl_firewall_create() - read and compile
 *
 * Return: 0; -EINVAL if a line was refused, -errno, -ENOMEM, with the first reason in @err.
 */
int sl_firewall_create(const struct sl_firewall_args *args, struct sl_firewall **out, char *err,
		size_t err_size);

/* after the pipeline no longer holds its stages; NULL is fine */
void sl_firewall_free(struct sl_firewall *fw);

/**
 * sl_firewall_specs() - the stages of the tables and those of the user
 * @user: of the configuration's `pipeline:`
 * @out:  all of them, for free()
 *
 * Return: 0, -ENOMEM.
 */
int sl_firewall_specs(struct sl_firewall *fw, const struct sl_stage_spec *user, unsigned int n_user,
		struct sl_stage_spec **out, unsigned int *n_out);

/* after the swap and its grace period: counters of what has not changed; @prev may be NULL */
void sl_firewall_carry(struct sl_firewall *fw, const struct sl_firewall *prev);

/**
 * sl_firewall_print() - iptables-save text
 * @table: only this one; NULL: all
 *
 * Return: 0, -ENOENT if it is not loaded, -EIO.
 */
int sl_firewall_print(struct sl_firewall *fw, FILE *f, enum ipt_family family, const char *table,
		bool counters);

/* a built-in chain's policy and what it decided on */
struct sl_firewall_policy {
	enum ipt_family family;
	const char *table, *chain;
	bool drop;
	uint64_t packets, bytes;
};

/* @visit gets each policy of both families. Context: control */
void sl_firewall_policies(const struct sl_firewall *fw,
		void (*visit)(const struct sl_firewall_policy *p, void *arg), void *arg);

/* counters to 0. Return: 0, -ENOENT if the table is not loaded */
int sl_firewall_zero(struct sl_firewall *fw, enum ipt_family family, const char *table);

/* rules of a family; for messages */
unsigned int sl_firewall_rules(const struct sl_firewall *fw, enum ipt_family family);

/* how connections are tracked; NULL: no rule needs it, so nothing is. Lives as long as @fw */
const struct ct_conf *sl_firewall_tracking(const struct sl_firewall *fw);

/* the sets that its rules ask; never NULL */
struct ipt_sets *sl_firewall_sets(const struct sl_firewall *fw);
