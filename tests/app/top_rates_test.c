/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluicectl/top_rates.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static json_t *stage(const char *name, int packets, int cycles)
{
	return json_pack("{s:s, s:s, s:i, s:i, s:i, s:i}", "hook", "forward", "stage", name,
			"order", 0, "packets", packets, "cycles", cycles, "drops", 0);
}

static double of(const json_t *rates, const char *list, size_t i, const char *key)
{
	return json_real_value(
			json_object_get(json_array_get(json_object_get(rates, list), i), key));
}

static void test_rates_when_twice_a_second_then_halved(void **state)
{
	json_t *was = json_pack("{s:{s:[{s:i, s:I}]}, s:[{s:i, s:i, s:i}]}", "status", "workers",
			"id", 0, "busy_ns", (json_int_t)0, "ports", "id", 1, "rx", 10, "rx_bytes",
			1000);
	json_t *now = json_pack("{s:{s:[{s:i, s:I}]}, s:[{s:i, s:i, s:i}]}", "status", "workers",
			"id", 0, "busy_ns", (json_int_t)500000000, "ports", "id", 1, "rx", 30,
			"rx_bytes", 2000);
	json_t *r = top_rates(was, now, 2);

	(void)state;
	assert_float_equal(of(r, "workers", 0, "busy"), 0.25, 1e-9);
	assert_float_equal(of(r, "ports", 0, "rx"), 10, 1e-9);
	assert_float_equal(of(r, "ports", 0, "rx_bits"), 4000, 1e-9);
	assert_null(json_object_get(r, "connections"));
	json_decref(r);
	json_decref(was);
	json_decref(now);
}

static void test_stages_when_new_then_from_zero_and_when_back_then_none(void **state)
{
	json_t *was = json_pack(
			"{s:[o, o]}", "stages", stage("a", 100, 1000), stage("back", 100, 9000));
	json_t *now = json_pack("{s:[o, o, o]}", "stages", stage("new", 10, 3000),
			stage("a", 200, 2000), stage("back", 5, 10));
	json_t *r = top_rates(was, now, 1);

	(void)state;
	assert_float_equal(of(r, "stages", 0, "packets"), 10, 1e-9);
	assert_float_equal(of(r, "stages", 0, "cycles_per_packet"), 300, 1e-9);
	assert_float_equal(of(r, "stages", 0, "share"), 0.75, 1e-9);
	assert_float_equal(of(r, "stages", 1, "cycles_per_packet"), 10, 1e-9);
	assert_float_equal(of(r, "stages", 1, "share"), 0.25, 1e-9);
	assert_float_equal(of(r, "stages", 2, "packets"), 0, 1e-9);
	json_decref(r);
	json_decref(was);
	json_decref(now);
}

static void test_drops_the_most_frequent_first(void **state)
{
	json_t *was = json_pack("{s:[{s:s, s:i}]}", "drops", "reason", "old", "packets", 1000);
	json_t *now = json_pack("{s:[{s:s, s:i}, {s:s, s:i}, {s:s, s:i}]}", "drops", "reason",
			"old", "packets", 1001, "reason", "few", "packets", 5, "reason", "many",
			"packets", 50);
	json_t *r = top_rates(was, now, 1), *drops = json_object_get(r, "drops");
	static const char *const order[] = { "many", "few", "old" };

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_string_equal(json_string_value(json_object_get(
						    json_array_get(drops, i), "reason")),
				order[i]);
	json_decref(r);
	json_decref(was);
	json_decref(now);
}

static void test_connections_are_the_sum_of_workers(void **state)
{
	json_t *was = json_pack("{s:[{s:i, s:i, s:i}, {s:i, s:i, s:i}]}", "conntrack", "worker", 0,
			"entries", 1, "insert", 10, "worker", 1, "entries", 2, "insert", 20);
	json_t *now = json_pack("{s:[{s:i, s:i, s:i}, {s:i, s:i, s:i}]}", "conntrack", "worker", 0,
			"entries", 5, "insert", 14, "worker", 1, "entries", 6, "insert", 26);
	json_t *r = top_rates(was, now, 1), *c = json_object_get(r, "connections");

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(c, "entries")), 11);
	assert_float_equal(json_real_value(json_object_get(c, "insert")), 10, 1e-9);
	json_decref(r);
	json_decref(was);
	json_decref(now);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates_when_twice_a_second_then_halved),
		cmocka_unit_test(test_stages_when_new_then_from_zero_and_when_back_then_none),
		cmocka_unit_test(test_drops_the_most_frequent_first),
		cmocka_unit_test(test_connections_are_the_sum_of_workers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
