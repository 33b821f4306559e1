/* SPDX-License-Identifier: BSD-3-Clause */
/* What `sluice-bench run` was asked for. */
#pragma once

#include "app/bench/scenario.h"

#include <stdbool.h>
#include <stdint.h>

struct options {
	const char *const *names; /* of scenarios, NULL at the end */
	enum scenario_choice choice; /* where none is named */
	unsigned int rounds;
	double seconds; /* of one side of one scenario; 0: a part of budget_s */
	double budget_s; /* of all sides of all scenarios, where none is named */
	const char *json, *html; /* files; NULL: not wanted */
	unsigned int core;
	uint32_t flows; /* 0: the scenario's */
	uint16_t size; /* 0: the scenario's */
	bool kernel_only;
	const char *engine; /* a plug-in; NULL: none */
	bool kernel_anyway; /* measured even where sluice cannot */
};

/* -1: go on, or the status to exit with */
int options_read(int argc, char **argv, struct options *o);

/* seconds of a side where @sides are measured */
double options_seconds(const struct options *o, unsigned int sides);

/* the last CPU that this process may use: the first ones have most of the interrupts */
unsigned int options_default_core(void);
