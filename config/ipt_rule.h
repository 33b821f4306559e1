/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_rule.h - the words of a rule line into a command and a rule */
#pragma once

#include "config/ipt_ext.h"

enum ipt_command {
	IPT_C_NONE,
	IPT_C_APPEND,
	IPT_C_INSERT,
	IPT_C_DELETE,
	IPT_C_REPLACE,
	IPT_C_CHECK,
	IPT_C_NEW,
	IPT_C_REMOVE,
	IPT_C_FLUSH,
	IPT_C_ZERO,
	IPT_C_RENAME,
	IPT_C_POLICY,
};

/* What a jump may go to, asked of the table under construction. */
struct ipt_chains {
	/* the number of a chain, -ENOENT; `builtin` says whether it is one of the table's own */
	int (*find)(void *arg, const char *name, bool *builtin);
	void *arg;
};

struct ipt_parsed {
	enum ipt_command command;
	const char *chain;
	const char *arg; /* of -P and -E */
	uint32_t number; /* of -I, -D, -R; 0: none */
	bool skip; /* a rule for the other family: -4 or -6 */
	bool has_counters; /* by -c */
	struct ipt_rule rule; /* without addresses */
	const char *src, *dst; /* lists of addresses as written, or NULL */
};

/* cx->words holds the line. Return: 0, -EINVAL (reported), -ENOMEM. */
int ipt_rule_parse(struct ipt_ctx *cx, const struct ipt_chains *chains, struct ipt_parsed *p);

/* The n-th of a list "a,b/len,c/mask". Return: 1, 0 at the end of the list, -EINVAL. */
int ipt_rule_addr(struct ipt_ctx *cx, const char **list, struct ipt_net *net);
