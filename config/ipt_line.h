/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_line.h - one rule line while it is read: what the files that read it share */
#pragma once

#include "config/ipt_rule.h"

#define IPT_MATCHES_MAX 128 /* a line has 255 words */

/* An option of iptables itself. */
struct ipt_core_opt {
	const char *name;
	char letter;
	bool has_arg;
};

/* The state of one line. */
struct ipt_line {
	struct ipt_ctx *cx;
	const struct ipt_chains *chains;
	struct ipt_parsed *p;
	struct ipt_inst matches[IPT_MATCHES_MAX];
	unsigned int n_matches;
	struct ipt_inst target;
	uint32_t seen; /* bit n: letter once[n] */
	bool proto_loaded;
	bool jumped;
};

/* What a word turned out to be. */
struct ipt_found {
	const struct ipt_core_opt *core;
	struct ipt_inst *in;
	const struct ipt_opt *opt;
};

/* The option that a word without its dashes means; all NULL if there is none. */
struct ipt_found ipt_option_find(struct ipt_line *l, const char *word, size_t len, bool *ambiguous);

/* The option of iptables with that letter, NULL. */
const struct ipt_core_opt *ipt_option_letter(char letter);

/* -m, and -j or -g. Return: 0, -EINVAL (reported), -ENOMEM. */
int ipt_line_match(struct ipt_line *l, const char *name);
int ipt_line_jump(struct ipt_line *l, const char *name, bool is_goto);
