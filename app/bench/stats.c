/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESAMPLES 2000

/* splitmix64 by Vigna */
uint64_t stats_draw(uint64_t *seed)
{
	uint64_t z = *seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double sorted_quantile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

double stats_quantile(const double *values, size_t n, double q)
{
	double sorted[STATS_ROUNDS_MAX];

	if (n == 0 || n > STATS_ROUNDS_MAX)
		return NAN;
	memcpy(sorted, values, n * sizeof(*values));
	qsort(sorted, n, sizeof(*sorted), by_value);
	return sorted_quantile(sorted, n, q);
}

double stats_spread(const double *values, size_t n)
{
	return (stats_quantile(values, n, 0.9) - stats_quantile(values, n, 0.1))
			/ stats_quantile(values, n, 0.5);
}

struct stats_interval stats_ratio(const double *above, const double *below, size_t n, uint64_t seed)
{
	double a[STATS_ROUNDS_MAX], b[STATS_ROUNDS_MAX], medians[RESAMPLES];

	if (n == 0 || n > STATS_ROUNDS_MAX)
		return (struct stats_interval){ NAN, NAN, NAN };
	for (size_t k = 0; k < RESAMPLES; k++) {
		for (size_t i = 0; i < n; i++) {
			size_t from = stats_draw(&seed) % n;

			a[i] = above[from];
			b[i] = below[from];
		}
		medians[k] = stats_quantile(a, n, 0.5) / stats_quantile(b, n, 0.5);
	}
	qsort(medians, RESAMPLES, sizeof(medians[0]), by_value);
	return (struct stats_interval){
		.median = stats_quantile(above, n, 0.5) / stats_quantile(below, n, 0.5),
		.lo = sorted_quantile(medians, RESAMPLES, 0.025),
		.hi = sorted_quantile(medians, RESAMPLES, 0.975),
	};
}

struct stats_interval stats_median(const double *values, size_t n, uint64_t seed)
{
	double ones[STATS_ROUNDS_MAX];

	for (size_t i = 0; i < STATS_ROUNDS_MAX; i++)
		ones[i] = 1;
	return stats_ratio(values, ones, n, seed);
}
