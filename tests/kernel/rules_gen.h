/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rules_gen: rulesets and packets for them, a function of a seed alone. Rules are drawn from tables
 * of matches and targets (rules_gen_match.c); an extension adds itself by adding a row. What a rule
 * asks for (ports, addresses, lengths, marks) is noted, and packets are made of what was noted and
 * of its neighbours, so that they come to lie on the edges of rules.
 */
#pragma once

#include "frames_priv.h"

#include <stdio.h>

#define RULES_LINES_MAX 160
#define RULES_LINE_LEN 1000
#define RULES_NOTES_MAX 64

/* kinds of numbers that packets are aimed by */
enum rules_note {
	NOTE_PORT,
	NOTE_LENGTH,
	NOTE_ICMP, /* type << 8 | code */
	NOTE_FLAGS, /* of TCP */
	NOTE_OPTION, /* of TCP */
	NOTE_ADDR4,
	NOTE_SPI, /* of ESP and AH */
	NOTE_NB,
};

struct rules_set {
	bool v6;
	uint64_t seed;
	/*
	 * Packets may be copied. The kernel sends a copy while its original stands at the rule, sluice
	 * behind the burst; so nothing that counts packets stands in the same set.
	 */
	bool tee;
	bool tracked; /* some rule looks at connections */
	unsigned int n; /* lines, with the frame of tables and chains around them */
	struct {
		bool rule; /* may be left out */
		bool off; /* is left out */
		char text[RULES_LINE_LEN];
	} line[RULES_LINES_MAX];
	unsigned int n_notes[NOTE_NB];
	uint32_t notes[NOTE_NB][RULES_NOTES_MAX];
};

/* what a rule is for, while its options are drawn */
struct rules_ctx {
	struct gen *g;
	struct rules_set *s;
	FILE *f; /* the line */
	const char *table;
	const char *chain;
	bool user; /* a user chain: any hook may lead to it */
	unsigned int proto; /* behind -p without `!`, else 0 */
};

void rules_note(struct rules_set *s, enum rules_note kind, uint32_t value);

struct rules_match {
	const char *name;
	unsigned int weight;
	/* writes " -m ..." or nothing, if it does not go with what is there */
	void (*put)(struct rules_ctx *c);
};
/* both end at a NULL name */
extern const struct rules_match rules_matches[];

struct rules_target {
	const char *name;
	unsigned int weight;
	/* writes " -j ..." Return: false if it may not stand here */
	bool (*put)(struct rules_ctx *c);
};
extern const struct rules_target rules_targets[];

void rules_make(struct rules_set *s, uint64_t seed, bool v6);
void rules_print(const struct rules_set *s, FILE *f);
/* packet @index for the set */
void rules_packet(const struct rules_set *s, uint64_t seed, unsigned int index,
		struct frames_case *c);
