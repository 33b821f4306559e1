/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From a parsed ruleset to verdicts on packets, exactly as iptables-legacy gives them.
 *
 * A program is one ruleset compiled for one router. It is immutable but for its counters and the
 * state of its matches; control builds a new one aside, lets the pipeline be swapped, and carries
 * the counters over.
 */
#pragma once

#include "classifier/ipt_rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ipt_exts;
struct ipt_prog;
struct ipt_sets;
struct rte_mbuf;
struct sl_cls_ops;
struct sl_router;
struct sl_worker;

#define IPT_NO_RULE UINT32_MAX

struct ipt_prog_spec {
	struct sl_router *r; /* its ports are there */
	const struct ipt_ruleset *rs; /* lives as long as the program */
	const struct ipt_exts *exts;
	struct ipt_sets *sets; /* or NULL */
	const struct sl_cls_ops *engine; /* NULL: auto, chain by chain */
	uint32_t ct_max; /* connections that may be tracked */
	/* the program in force, and for each rule of @rs its equal there or IPT_NO_RULE; or NULL */
	const struct ipt_prog *prev;
	const uint32_t *same;
	/* what is worth to be told about a rule that is taken, by line; 0: about all; or NULL */
	void (*note)(void *arg, uint32_t line, const char *text);
	void *note_arg;
};

struct ipt_prog_error {
	uint32_t line; /* 0: no line to blame */
	char text[256];
};

/**
 * ipt_prog_create() - [control] compile a ruleset
 *
 * Return: 0, -ENOMEM, or what an extension's create() said, with *err.
 */
int ipt_prog_create(const struct ipt_prog_spec *spec, struct ipt_prog **out,
		struct ipt_prog_error *err);
/* [control] after a grace period */
void ipt_prog_free(struct ipt_prog *prog);

/* whether a base chain does anything but count on the policy ACCEPT; a trace is something */
bool ipt_prog_acts(const struct ipt_prog *prog, enum ipt_table_id table, enum ipt_hook hook);
/* whether the table is loaded and has that hook */
bool ipt_prog_has(const struct ipt_prog *prog, enum ipt_table_id table, enum ipt_hook hook);

/* what its rules need of the pipeline, those that no packet reaches included: IPT_NEEDS_* */
uint8_t ipt_prog_needs(const struct ipt_prog *prog);

/**
 * ipt_prog_run() - [worker] a table over a batch of packets of the program's family
 * @n: 1..SL_BURST
 *
 * Return: bit i is set if packet i goes on; pkts[i] may be another buffer then. All others have been
 * dropped by name.
 */
uint64_t ipt_prog_run(const struct ipt_prog *prog, enum ipt_table_id table, enum ipt_hook hook,
		struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n);

/* the same, rule by rule and packet by packet: what the tests hold the other against */
uint64_t ipt_prog_run_plain(const struct ipt_prog *prog, enum ipt_table_id table,
		enum ipt_hook hook, struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n);

/* [worker] packets that passed an empty base chain with policy ACCEPT */
void ipt_prog_count_policy(const struct ipt_prog *prog, enum ipt_table_id table, enum ipt_hook hook,
		struct sl_worker *w, uint64_t packets, uint64_t bytes);

/* Counters [control]: sums over workers; policies by policy_index. */
struct ipt_counters ipt_prog_rule_counters(const struct ipt_prog *prog, uint32_t index);
struct ipt_counters ipt_prog_policy_counters(const struct ipt_prog *prog, uint32_t policy_index);
/* into @rs, the ruleset of the program, for the printer */
void ipt_prog_read_counters(const struct ipt_prog *prog, struct ipt_ruleset *rs);
/* those of a table, NULL: of all tables */
void ipt_prog_zero_counters(struct ipt_prog *prog, const struct ipt_table *table);
/* after the grace period that ends @prev: what unchanged rules and policies counted there */
void ipt_prog_carry_counters(
		struct ipt_prog *prog, const struct ipt_prog *prev, const uint32_t *same);
