/* SPDX-License-Identifier: BSD-3-Clause */
/* The scenarios of one run, in the order in which they are measured. */
#pragma once

#include "app/bench/scenario.h"

struct suite {
	unsigned int n;
	struct scenario *scenarios;
};

/**
 * suite_load() - scenarios by name or path, each once, with the baselines that they need
 * @names: NULL or empty: those that are chosen so, or before,
 *         that come with the program
 * @err:   gets a line on failure
 *
 * A baseline comes before what is told against it.
 * Return: 0 (free with suite_free()), or -errno.
 */
int suite_load(const char *const *names, enum scenario_choice choice, struct suite *out, FILE *err);
void suite_free(struct suite *s);
