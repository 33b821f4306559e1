/* SPDX-License-Identifier: BSD-3-Clause */
/* Sides in turns, A B A B, and whether they did the same work. */
#pragma once

#include "app/bench/result.h"

#define MEASURE_ROUNDS_MIN 7

struct measure_options {
	unsigned int rounds;
	double seconds; /* of one side, all its rounds together */
	const char *progress; /* in front of what is shown on a terminal; NULL: nothing is shown */
};

/**
 * measure_sides() - measure @n sides into @s->sides
 *
 * A side that cannot run is skipped with its reason; if that leaves only one kind of side of two,
 * nothing is measured. Sides that lose packets, let leave other
 * packets than another, or have other rules than another, have no figure.
 */
void measure_sides(const struct side_setup *setups, unsigned int n,
		const struct measure_options *options, struct result_scenario *s);
