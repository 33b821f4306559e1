/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/early_drop.h"
#include "tests/conntrack/table_fixture.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint32_t fill(struct ct_shard *s, uint32_t from, uint32_t n, uint32_t status)
{
	uint32_t made = 0;

	for (uint32_t i = from; i < from + n; i++) {
		struct ct_tuple t = tf_many(i);
		struct ct_entry *e = tf_add(s, &t, 300);

		if (e != NULL) {
			e->status |= status;
			made++;
		}
		if (i % 64 == 0)
			ct_tick(s, s->now_ms);
	}
	ct_tick(s, s->now_ms);
	return made;
}

static void test_full_of_assured_drops_the_new(void **state)
{
	struct ct_shard *s = tf_table(1000, 1, 0)->shard[0];

	(void)state;
	assert_int_equal(fill(s, 0, 1000, CT_ASSURED), 1000);
	assert_int_equal(fill(s, 1000, 500, 0), 0);
	assert_int_equal(s->count, 1000);
	assert_int_equal(s->stats.drop, 500);
	assert_int_equal(s->stats.early_drop, 0);
}

static void test_full_of_unreplied_makes_room(void **state)
{
	struct ct_shard *s = tf_table(1000, 1, 0)->shard[0];

	(void)state;
	fill(s, 0, 1000, 0);
	assert_int_equal(fill(s, 1000, 5000, 0), 5000);
	assert_true(s->count <= 1000);
	assert_true(s->stats.early_drop >= 5000);
	assert_int_equal(s->stats.drop, 0);
	assert_int_equal(s->stats.delete, s->stats.early_drop);
}

/* nine in ten are established: a flood takes the rest, over and over, and none of those */
static void test_flood_leaves_the_assured(void **state)
{
	struct ct_shard *s = tf_table(1000, 1, 0)->shard[0];

	(void)state;
	fill(s, 0, 900, CT_ASSURED);
	fill(s, 900, 50000, 0);
	for (uint32_t i = 0; i < 900; i++) {
		struct ct_tuple t = tf_many(i);

		assert_non_null(ct_find(s, &t).e);
	}
	assert_true(s->count <= 1000);
	assert_true(s->high <= 1000 + 128);
}

/* entries that packets of this turn have made and that are not confirmed are not touched */
static void test_full_of_unconfirmed_drops_the_new(void **state)
{
	struct ct_shard *s = tf_table(10, 1, 0)->shard[0];
	struct ct_tuple t, answer;

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		t = tf_many(i);
		ct_tuple_invert(&t, &answer);
		assert_non_null(ct_create(s, &t, &answer));
	}
	t = tf_many(10);
	ct_tuple_invert(&t, &answer);
	assert_null(ct_create(s, &t, &answer));
	assert_int_equal(s->stats.drop, 1);
}

/* full of assured ones, half of them ending: a sweep takes those until 95 % are left */
static void test_sweep_stops_at_95_percent(void **state)
{
	struct ct_table *table = tf_table(10000, 1, 0);
	struct ct_shard *s = table->shard[0];

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		struct ct_tuple t = tf_many(i);
		struct ct_entry *e;

		t.proto = IPPROTO_TCP;
		e = tf_add(s, &t, 300);
		e->status |= CT_ASSURED;
		e->tcp.state = i % 2 == 0 ? CT_TCP_ESTABLISHED : CT_TCP_TIME_WAIT;
	}
	ct_tick(s, 0);
	assert_int_equal(fill(s, 20000, 1, 0), 0);
	tf_pass(table, 100 * 100);
	assert_int_equal(s->count, 9499);
	assert_int_equal(s->stats.early_drop, 501);
	for (uint32_t i = 0; i < 10000; i += 2) {
		struct ct_tuple t = tf_many(i);

		t.proto = IPPROTO_TCP;
		assert_non_null(ct_find(s, &t).e);
	}
	assert_int_equal(fill(s, 20000, 500, 0), 500);
	assert_int_equal(s->stats.drop, 1);
}

/* all flows come to one of four workers: it gets every place there is, and the others none */
static void test_shards_share_one_maximum(void **state)
{
	struct ct_table *table = tf_table(1000, 4, 0);

	(void)state;
	assert_int_equal(fill(table->shard[2], 0, 1500, CT_ASSURED), 1000);
	assert_int_equal(fill(table->shard[0], 5000, 10, 0), 0);
	assert_int_equal(ct_table_count(table), 1000);
	for (uint32_t i = 0; i < 300; i++) {
		struct ct_tuple t = tf_many(i);

		ct_kill(table->shard[2], ct_find(table->shard[2], &t).e);
	}
	assert_int_equal(fill(table->shard[0], 5000, 1000, CT_ASSURED), 300);
	assert_int_equal(ct_table_count(table), 1000);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, tf_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_full_of_assured_drops_the_new),
		TEST(test_full_of_unreplied_makes_room),
		TEST(test_flood_leaves_the_assured),
		TEST(test_full_of_unconfirmed_drops_the_new),
		TEST(test_sweep_stops_at_95_percent),
		TEST(test_shards_share_one_maximum),
	};

	return cmocka_run_group_tests(tests, tf_eal, NULL);
}
