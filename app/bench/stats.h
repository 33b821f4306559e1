/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of rounds. Small samples from a machine that does other things too: so medians, and
 * intervals by bootstrap (Efron 1979: draw as many rounds as there were, with replacement, many
 * times over; the middle 95 % of the medians is the interval).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATS_ROUNDS_MAX 101
#define STATS_SPREAD_MAX 0.10 /* above it a figure is flagged */

struct stats_interval {
	double median;
	double lo; /* 95 % */
	double hi;
};

/* quantile @q (0..1) of @n values, straight between neighbours; NAN of none */
double stats_quantile(const double *values, size_t n, double q);

/* the middle 80 % of the values, as a part of their median */
double stats_spread(const double *values, size_t n);

/* median of @n (1..STATS_ROUNDS_MAX) values; the same seed gives the same interval */
struct stats_interval stats_median(const double *values, size_t n, uint64_t seed);

/**
 * stats_ratio() - median(@above) / median(@below), rounds drawn in pairs
 *
 * Round i of both was measured one right after the other: what disturbed one has often disturbed
 * the other.
 */
struct stats_interval stats_ratio(
		const double *above, const double *below, size_t n, uint64_t seed);

/* the next of a series of numbers without visible order */
uint64_t stats_draw(uint64_t *seed);
