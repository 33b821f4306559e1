/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_build.h - a table under construction: chains by name, rules that may still be moved */
#pragma once

#include "config/ipt_rule.h"

struct ipt_bchain {
	const char *name;
	bool builtin;
	bool gone; /* deleted by -X */
	uint8_t hook;
	uint8_t policy;
	struct ipt_counters counters;
	uint32_t line;
	uint32_t n_rules;
	uint32_t cap_rules;
	struct ipt_rule *rules; /* jumps hold numbers of bchains */
	int32_t next; /* in the bucket, -1 at the end */
};

struct ipt_build {
	enum ipt_table_id id;
	uint32_t n_chains;
	uint32_t cap_chains;
	struct ipt_bchain *chains;
	uint32_t n_buckets; /* a power of two */
	int32_t *buckets;
};

/* A table with its built-in chains only. Return: 0, -ENOMEM. */
int ipt_build_init(struct ipt_build *b, enum ipt_table_id id);
void ipt_build_free(struct ipt_build *b);

/* Number of the chain, -ENOENT. */
int ipt_build_find(const struct ipt_build *b, const char *name);

/* A new user chain; the name is kept. Return: its number, -ENOMEM. */
int ipt_build_chain(struct ipt_build *b, const char *name, uint32_t line);

/* Carry out one line. Return: 0, -EINVAL (reported), -ENOMEM. */
int ipt_build_line(struct ipt_ctx *cx, struct ipt_build *b, struct ipt_parsed *p, const char *text);

/* Into the final form, chains in the order in which they are printed. Return: 0, -ENOMEM. */
int ipt_build_finish(struct ipt_arena *arena, const struct ipt_build *b, struct ipt_table *t);
