/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/index.h"
#include "conntrack/wheel.h"
#include "tests/conntrack/table_fixture.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_wheel_ends_what_is_over_within_a_slot(void **state)
{
	struct ct_table *table = tf_table(100, 1, 0);
	struct ct_shard *s = table->shard[0];
	struct ct_tuple t = tf_many(1);

	(void)state;
	tf_add(s, &t, 30);
	tf_pass(table, 29900);
	assert_non_null(ct_find(s, &t).e);
	assert_int_equal(s->count, 1);
	tf_pass(table, 600);
	assert_int_equal(s->count, 0);
	assert_int_equal(s->stats.expired, 1);
	assert_int_equal(s->n_free, 1);
	assert_int_equal(s->wheel->refs, 0);
}

static void test_wheel_what_is_over_is_not_found_before_it_fires(void **state)
{
	struct ct_table *table = tf_table(100, 1, 0);
	struct ct_shard *s = table->shard[0];
	struct ct_tuple t = tf_many(1);
	struct ct_entry *e = tf_add(s, &t, 30);

	(void)state;
	ct_tick(s, 0);
	s->now_ms = 29999;
	assert_ptr_equal(ct_find(s, &t).e, e);
	s->now_ms = 30000;
	assert_null(ct_find(s, &t).e);
	/* a new one of the same tuple has other memory, as a packet may still hold the old one */
	assert_ptr_not_equal(tf_add(s, &t, 30), e);
	assert_int_equal(s->count, 1);
}

/* packets write down an end only; the wheel finds out */
static void test_wheel_arms_again_while_packets_come(void **state)
{
	struct ct_table *table = tf_table(100, 1, 0);
	struct ct_shard *s = table->shard[0];
	struct ct_tuple t = tf_many(1);
	struct ct_entry *e = tf_add(s, &t, 30);

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		tf_pass(table, 10000);
		assert_ptr_equal(ct_find(s, &t).e, e);
		ct_refresh(s, e, 30);
	}
	tf_pass(table, 29900);
	assert_int_equal(s->count, 1);
	tf_pass(table, 600);
	assert_int_equal(s->count, 0);
}

static void test_wheel_end_that_comes_nearer(void **state)
{
	struct ct_table *table = tf_table(100, 1, 0);
	struct ct_shard *s = table->shard[0];
	struct ct_tuple t = tf_many(1);
	struct ct_entry *e = tf_add(s, &t, 432000);

	(void)state;
	tf_pass(table, 100000);
	assert_int_equal(s->count, 1);
	ct_refresh(s, e, 10); /* a reset */
	tf_pass(table, 45000);
	assert_int_equal(s->count, 0);
}

/* memory that is still in a late slot serves one that ends soon */
static void test_wheel_second_owner_ends_in_time(void **state)
{
	struct ct_table *table = tf_table(100, 1, 0);
	struct ct_shard *s = table->shard[0];
	struct ct_tuple t = tf_many(1);
	struct ct_entry *e = tf_add(s, &t, 432000), *e2;

	(void)state;
	tf_pass(table, 100);
	ct_kill(s, e);
	tf_pass(table, 100);
	e2 = tf_add(s, &t, 2);
	assert_ptr_equal(e2, e);
	assert_int_equal(s->wheel->twice, 1);
	tf_pass(table, 2600);
	assert_int_equal(s->count, 0);
	/* and the slot that does not count fires for nothing */
	e2 = tf_add(s, &t, 60);
	tf_pass(table, 59000);
	assert_ptr_equal(ct_find(s, &t).e, e2);
	assert_int_equal(s->wheel->twice, 0);
	tf_pass(table, 1700);
	assert_int_equal(s->count, 0);
	assert_int_equal(s->wheel->refs, 0);
}

/* ends and begins at each turn of a second's pace: slots hold no more than memory has entries */
static void test_wheel_is_bounded_under_churn(void **state)
{
	struct ct_table *table = tf_table(1000, 1, 0);
	struct ct_shard *s = table->shard[0];

	(void)state;
	for (uint32_t i = 0; i < 200000; i++) {
		struct ct_tuple t = tf_many(i);
		struct ct_entry *e = tf_add(s, &t, 1 + i % 100);

		assert_non_null(e);
		ct_kill(s, e);
		if (i % 10 == 0)
			ct_tick(s, s->now_ms + 1);
	}
	assert_true(s->wheel->refs <= s->room + s->wheel->twice);
	assert_true(s->wheel->twice <= s->wheel->twice_max);
	tf_pass(table, 40000);
	assert_int_equal(s->wheel->refs, 0);
	assert_int_equal(s->wheel->twice, 0);
}

static void test_wheel_clock_that_wraps(void **state)
{
	struct ct_table *table = tf_table(100, 1, UINT32_MAX - 20000);
	struct ct_shard *s = table->shard[0];
	struct ct_tuple t = tf_many(1), t2 = tf_many(2);

	(void)state;
	tf_add(s, &t, 30);
	tf_add(s, &t2, 432000);
	tf_pass(table, 29900);
	assert_non_null(ct_find(s, &t).e);
	tf_pass(table, 600);
	assert_int_equal(s->count, 1);
	assert_non_null(ct_find(s, &t2).e);
}

/* a capture with a day between two packets */
static void test_wheel_after_a_long_rest(void **state)
{
	struct ct_table *table = tf_table(5000, 1, 0);
	struct ct_shard *s = table->shard[0];

	(void)state;
	for (uint32_t i = 0; i < 4000; i++) {
		struct ct_tuple t = tf_many(i);

		tf_add(s, &t, i < 3000 ? 30 : 432000);
	}
	for (unsigned int i = 0; i < 64; i++)
		ct_tick(s, 86400000 + i);
	assert_int_equal(s->count, 1000);
}

/* a call does a bounded part, and in time all of it is done */
static void test_wheel_ends_many_in_parts(void **state)
{
	struct ct_table *table = tf_table(100000, 1, 0);
	struct ct_shard *s = table->shard[0];
	unsigned int turns = 0;

	(void)state;
	for (uint32_t i = 0; i < 100000; i++) {
		struct ct_tuple t = tf_many(i);

		tf_add(s, &t, 30);
		if (i % 64 == 0)
			ct_tick(s, 0);
	}
	ct_tick(s, 0);
	for (uint32_t us = 31000000; s->count > 0; us += 5, turns++) {
		uint32_t before = s->count;

		ct_tick(s, us / 1000);
		/* after the rest in front of the first one it may be more */
		assert_in_range(before - s->count, 0, turns == 0 ? 256 : 48);
	}
	assert_in_range(turns, 100000 / 48, 10 * 100000);
	assert_int_equal(s->index->keys, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, tf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_wheel_ends_what_is_over_within_a_slot),
		TEST(test_wheel_what_is_over_is_not_found_before_it_fires),
		TEST(test_wheel_arms_again_while_packets_come),
		TEST(test_wheel_end_that_comes_nearer),
		TEST(test_wheel_second_owner_ends_in_time),
		TEST(test_wheel_is_bounded_under_churn),
		TEST(test_wheel_clock_that_wraps),
		TEST(test_wheel_after_a_long_rest),
		TEST(test_wheel_ends_many_in_parts),
	};

	return cmocka_run_group_tests(tests, tf_eal, NULL);
}
