/* SPDX-License-Identifier: BSD-3-Clause */
/* What was measured: every round of every side, and what follows from the rounds. */
#pragma once

#include "app/bench/scenario.h"
#include "app/bench/side.h"
#include "app/bench/stats.h"

#include <jansson.h>

#define RESULT_SIDES_MAX ((unsigned int)BACKEND_NB + SCENARIO_ENGINES_MAX + 2) /* a plug-in's too */
#define RESULT_NOTES_MAX 24
#define RESULT_VERSION 1

/* above this part of the whole, source and sink are what is measured */
#define RESULT_GENERATOR_MAX 0.5
/* below this part of the time that passed, somebody else had the core */
#define RESULT_CPU_SHARE_MIN 0.9

struct result_side {
	char name[16];
	bool ours;
	char skipped[SIDE_TEXT_MAX]; /* why it was not measured; "" if it was */
	char fault[SIDE_TEXT_MAX]; /* why its rounds count for nothing; "" if they count */
	uint64_t packets; /* of all rounds */
	unsigned int n_rounds;
	double rounds[STATS_ROUNDS_MAX]; /* ns/packet */
	double alone_ns; /* source and sink alone, ns/packet */
	double cpu_share; /* of the time that passed */
	/* from the rounds */
	struct stats_interval ns;
	double spread;
};

struct result_scenario {
	char name[SCENARIO_NAME_MAX];
	char title[128];
	char baseline[SCENARIO_NAME_MAX]; /* "": none */
	char skipped[SIDE_TEXT_MAX]; /* "": measured */
	struct traffic traffic;
	uint32_t rules; /* number, or members of a set; 0: not told */
	unsigned int n_sides;
	struct result_side sides[RESULT_SIDES_MAX]; /* the kernel's first */
	unsigned int n_notes;
	char notes[RESULT_NOTES_MAX][SIDE_TEXT_MAX + 64];
};

struct result {
	json_t *machine; /* object, see machine.h; NULL: none */
	double tsc_ghz; /* 0: unknown */
	bool refused; /* an engine that answered wrongly was not measured */
	unsigned int n;
	struct result_scenario *scenarios;
};

/* a further scenario; NULL without memory */
struct result_scenario *result_add(struct result *r);
void result_free(struct result *r);

/* figures from the rounds */
void result_figures(struct result_scenario *s);
/* the same, flags and notes too, after measuring */
void result_finish(struct result_scenario *s);

/* whether a side has a figure */
bool result_measured(const struct result_side *side);
/* whether source and sink are most of what was measured */
bool result_generator_bound(const struct result_side *side);

/**
 * result_ratio() - how many times as many packets in the same time @ours moves
 *
 * Return: false: no ratio (one has no figure, or is bound by its generator).
 */
bool result_ratio(const struct result_side *kernel, const struct result_side *ours,
		struct stats_interval *out);

/* ns/packet of @side above plain forwarding on the same side; false if that was not measured */
bool result_added(const struct result *r, const struct result_scenario *s,
		const struct result_side *side, double *ns);

void result_note(struct result_scenario *s, const char *fmt, ...)
		__attribute__((format(printf, 2, 3)));
