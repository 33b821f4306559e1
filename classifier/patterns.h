/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all string and regex matches of a table look for, found together in one pass over a packet.
 *
 * Each pattern has a bit in a set that goes with the packet. Nothing is searched before a rule asks;
 * then the bits of all patterns of the same pass are known. The first word of a set tells which
 * passes have been made, and which of them were given up.
 */
#pragma once

#include "classifier/ext.h"

#include <stdbool.h>
#include <stdint.h>

struct chain_match;
struct chain_rule;
struct chain_table;
struct hs_database;
struct ipt_patterns;

/* most passes of a table; a set tells of each with two bits */
#define IPT_PASSES_MAX 32

/* the state of a match that looks for a pattern begins with this */
struct ipt_pattern {
	uint32_t bit; /* in the set of a packet; 0: it is searched by itself */
	uint32_t pass;
};

/* a sentence about the rule of @line; 0: about all */
typedef void (*ipt_note_fn)(void *arg, uint32_t line, const char *text);

/**
 * ipt_patterns_build() - [control] the databases of a table, whose matches have been created
 * @rs: the ruleset of the table
 * @note: told of each pattern that cannot be held, and why; may be NULL
 * @out: NULL if there is no pattern
 *
 * Return: 0, -ENOMEM.
 */
int ipt_patterns_build(struct chain_table *t, const struct ipt_ruleset *rs, unsigned int n_workers,
		ipt_note_fn note, void *note_arg, struct ipt_patterns **out);
/* [control] after a grace period */
void ipt_patterns_free(struct ipt_patterns *p);

/* [worker] a set for each of @n packets, none of which has been searched; @stride words apart */
uint64_t *ipt_patterns_begin(
		const struct ipt_patterns *p, uint32_t worker, unsigned int n, uint32_t *stride);

/* [worker] make the pass of @pattern over the packet of @c, unless it was given up */
void ipt_patterns_search(const struct ipt_ctx *c, const struct ipt_pattern *pattern);

/**
 * ipt_patterns_scan() - [worker] a pass for one database alone
 * @off: from the start of the frame; the @len bytes there are in it
 *
 * Return: whether anything was found.
 */
bool ipt_patterns_scan(
		const struct ipt_ctx *c, const struct hs_database *db, uint32_t off, uint32_t len);

/* the bytes [from, to) behind the IP header's first, as far as there are. Return: how many */
static inline uint32_t ipt_patterns_window(
		const struct ipt_ctx *c, uint32_t from, uint32_t to, uint32_t *off)
{
	uint32_t len = RTE_MIN(to, c->m->pkt_len - c->p->l3_off);

	*off = c->p->l3_off + from;
	return from < len ? len - from : 0;
}

enum ipt_patterns_answer {
	IPT_PATTERN_ABSENT,
	IPT_PATTERN_FOUND,
	IPT_PATTERN_UNKNOWN, /* search it by itself */
};

static inline enum ipt_patterns_answer ipt_patterns_ask(
		const struct ipt_ctx *c, const struct ipt_pattern *p)
{
	if (p->bit == 0 || c->found == NULL)
		return IPT_PATTERN_UNKNOWN;
	if ((c->found[0] >> p->pass & (1 | UINT64_C(1) << IPT_PASSES_MAX)) == 0)
		ipt_patterns_search(c, p);
	if ((c->found[0] >> p->pass & 1) == 0)
		return IPT_PATTERN_UNKNOWN;
	return c->found[p->bit / 64] >> p->bit % 64 & 1 ? IPT_PATTERN_FOUND : IPT_PATTERN_ABSENT;
}

/* whether it is known already that the packet of a set has not got the pattern */
static inline bool ipt_patterns_lacks(const uint64_t *found, uint32_t bit, uint32_t pass)
{
	return (found[0] >> pass & 1) != 0 && (found[bit / 64] >> bit % 64 & 1) == 0;
}

/**
 * ipt_patterns_next() - [worker] the first rule of a run that may hold
 * @r: a rule without whose pattern the packet is known to be
 *
 * Return: its place in the chain, or that behind the run.
 */
uint32_t ipt_patterns_next(
		const struct ipt_patterns *p, const uint64_t *found, const struct chain_rule *r);

/* [control] NULL: the match looks for none, or holds where it is not found */
const struct ipt_pattern *ipt_pattern_needed(const struct chain_match *m);

/* the kernel's toupper() knows Latin-1; it takes 0xdf, which has no upper case, for a lower one */
static inline uint8_t ipt_string_upper(uint8_t b)
{
	bool lower = (b >= 'a' && b <= 'z') || (b >= 0xdf && b != 0xf7);

	return lower ? (uint8_t)(b - 32) : b;
}
