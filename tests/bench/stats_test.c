/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void near(double found, double expected)
{
	if (fabs(found - expected) > 1e-9)
		fail_msg("found %.12f, expected %.12f", found, expected);
}

static void test_quantile_when_odd_is_the_middle(void **state)
{
	const double values[] = { 9, 1, 5 };

	(void)state;
	near(stats_quantile(values, 3, 0.5), 5);
	near(stats_quantile(values, 3, 0), 1);
	near(stats_quantile(values, 3, 1), 9);
	near(stats_quantile(values, 3, 0.75), 7);
}

static void test_quantile_when_even_is_between(void **state)
{
	const double values[] = { 4, 1, 3, 2 };

	(void)state;
	near(stats_quantile(values, 4, 0.5), 2.5);
}

static void test_quantile_when_none_or_too_many_is_nan(void **state)
{
	const double values[STATS_ROUNDS_MAX + 1] = { 0 };

	(void)state;
	assert_true(isnan(stats_quantile(values, 0, 0.5)));
	assert_true(isnan(stats_quantile(values, STATS_ROUNDS_MAX + 1, 0.5)));
}

static void test_spread_leaves_out_the_ends(void **state)
{
	/* ten equal ones and one that was disturbed: the middle 80 % are the same */
	const double one_off[] = { 10, 10, 10, 10, 10, 99, 10, 10, 10, 10, 10 };
	const double wide[] = { 100, 100, 100, 120, 120, 120, 110 };

	(void)state;
	near(stats_spread(one_off, 11), 0);
	near(stats_spread(wide, 7), 20.0 / 110);
}

static void test_median_when_all_equal_has_no_width(void **state)
{
	const double values[] = { 7, 7, 7, 7, 7, 7, 7 };
	struct stats_interval i = stats_median(values, 7, 1);

	(void)state;
	near(i.median, 7);
	near(i.lo, 7);
	near(i.hi, 7);
}

static void test_median_with_the_same_seed_is_the_same(void **state)
{
	const double values[] = { 3, 9, 4, 8, 5, 7, 6 };
	struct stats_interval a = stats_median(values, 7, 42), b = stats_median(values, 7, 42);

	(void)state;
	near(a.median, 6);
	near(a.lo, b.lo);
	near(a.hi, b.hi);
	assert_true(a.lo >= 3 && a.lo < 6 && a.hi > 6 && a.hi <= 9);
}

/* the exact 2.5 % quantile of the median of 7 draws of 7: see the binomial distribution */
static void test_median_interval_is_the_bootstrap_s(void **state)
{
	const double values[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct stats_interval i = stats_median(values, 7, 1);

	(void)state;
	/* P(median <= 1) = P(Bin(7, 1/7) >= 4) = 1.0 %, P(median <= 2) = P(Bin(7, 2/7) >= 4) = 10 % */
	near(i.lo, 2);
	near(i.hi, 6);
}

static void test_ratio_of_rounds_disturbed_together_is_narrow(void **state)
{
	/* the machine slowed down at some rounds, both sides alike */
	const double above[] = { 100, 200, 100, 300, 100, 200, 400 };
	double below[7];
	struct stats_interval i;

	(void)state;
	for (unsigned int k = 0; k < 7; k++)
		below[k] = above[k] / 4;
	i = stats_ratio(above, below, 7, 1);
	near(i.median, 4);
	near(i.lo, 4);
	near(i.hi, 4);
}

static void test_ratio_when_none_is_nan(void **state)
{
	const double values[] = { 1 };

	(void)state;
	assert_true(isnan(stats_ratio(values, values, 0, 1).median));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantile_when_odd_is_the_middle),
		cmocka_unit_test(test_quantile_when_even_is_between),
		cmocka_unit_test(test_quantile_when_none_or_too_many_is_nan),
		cmocka_unit_test(test_spread_leaves_out_the_ends),
		cmocka_unit_test(test_median_when_all_equal_has_no_width),
		cmocka_unit_test(test_median_with_the_same_seed_is_the_same),
		cmocka_unit_test(test_median_interval_is_the_bootstrap_s),
		cmocka_unit_test(test_ratio_of_rounds_disturbed_together_is_narrow),
		cmocka_unit_test(test_ratio_when_none_is_nan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
