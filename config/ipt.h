/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipt.h - iptables-save and ip6tables-save text: into a ruleset and back
 *
 * The grammar is the union of what iptables-legacy-restore and iptables-nft-restore 1.8.9 take. A file
 * is taken whole or not at all. What is printed is what iptables-legacy-save prints for the same
 * rules, and reads back to the same ruleset.
 *
 * Context: control thread. Nothing here touches DPDK; the names of protocols, ports, users and groups
 * come from the files of this machine, never from the network.
 */
#pragma once

#include "classifier/ipt_match.h"
#include "classifier/ipt_rule.h"
#include "classifier/ipt_target.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What the running sluice can honour. A rule that needs more is refused by the name of what lacks. */
struct ipt_caps {
	bool match[IPT_M_NB];
	bool target[IPT_T_NB];
	bool queue; /* -j QUEUE */
};

struct ipt_error {
	uint32_t line; /* 0: of the file as a whole */
	char *text; /* "file:line: what, what was expected" */
};

#define IPT_ERRORS_MAX (1U << 20) /* kept; more are only counted */
struct ipt_errors {
	struct ipt_error *v; /* in the order in which they were found */
	size_t n;
	size_t total;
};

/**
 * ipt_set_fn() - does a set of that name exist, and does it fit the family?
 *
 * Return: 0, -ENOENT, -EAFNOSUPPORT for a set of the other family.
 */
typedef int (*ipt_set_fn)(void *arg, const char *name, enum ipt_family family);

/**
 * ipt_line_fn() - called once for each line that is not blank and no comment, in order
 * @text: the line
 * @why: NULL if the line was read exactly, else "what, what was expected"
 */
typedef void (*ipt_line_fn)(void *arg, uint32_t line, const char *text, const char *why);

struct ipt_load {
	const char *path; /* read if text is NULL; named in messages */
	const char *text; /* need not end in a newline or NUL */
	size_t text_len;
	enum ipt_family family;
	bool counters; /* take the counters in the file, as iptables-restore -c */
	const struct ipt_caps *caps; /* NULL: everything that can be read */
	ipt_set_fn set; /* NULL: every set exists */
	void *set_arg;
	ipt_line_fn line; /* or NULL */
	void *line_arg;
};

/**
 * ipt_load() - read a ruleset
 * @errors: filled on -EINVAL, with one entry for each line that was refused
 *
 * Return: 0; -EINVAL if a line was refused; -errno if the file could not be read (also in errors);
 * -ENOMEM. Free *rs by ipt_ruleset_free().
 */
int ipt_load(const struct ipt_load *args, struct ipt_ruleset **rs, struct ipt_errors *errors);

void ipt_ruleset_free(struct ipt_ruleset *rs);
void ipt_errors_free(struct ipt_errors *errors);

/**
 * ipt_print() - write a ruleset as iptables-legacy-save does, without its remarks of the date
 * @table: only this one; NULL: all, in the order of the file
 * @counters: as iptables-save -c, with what stands in the counters of rules and policies
 *
 * Return: 0, -ENOENT if there is no such table, -EIO.
 */
int ipt_print(FILE *f, const struct ipt_ruleset *rs, const char *table, bool counters);

/* One rule as "-A chain ...", without counters and newline. */
void ipt_print_rule(FILE *f, const struct ipt_ruleset *rs, const struct ipt_table *table,
		const struct ipt_chain *chain, const struct ipt_rule *rule);

const char *ipt_table_name(enum ipt_table_id id);
const char *ipt_hook_name(enum ipt_hook hook);
const char *ipt_match_name(enum ipt_match_kind kind);
const char *ipt_target_name(enum ipt_target_kind kind);
