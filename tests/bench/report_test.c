/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* seven rounds around @ns; @step: how far apart */
static struct result_side *add_side(
		struct result_scenario *s, const char *name, bool ours, double ns, double step)
{
	struct result_side *side = &s->sides[s->n_sides++];

	snprintf(side->name, sizeof(side->name), "%s", name);
	side->ours = ours;
	side->packets = 7000;
	side->cpu_share = 1;
	side->alone_ns = 5;
	side->n_rounds = 7;
	for (int i = 0; i < 7; i++)
		side->rounds[i] = ns + step * (i - 3);
	return side;
}

static struct result_scenario *add(struct result *r, const char *name, const char *baseline)
{
	struct result_scenario *s = result_add(r);

	assert_non_null(s);
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(s->baseline, sizeof(s->baseline), "%s", baseline);
	s->traffic = (struct traffic){ .flows = 1, .size = 64, .ttl = 64 };
	return s;
}

/* forward, idle-hooks and a scenario that was skipped */
static void make(struct result *r)
{
	struct result_scenario *s;

	memset(r, 0, sizeof(*r));
	r->machine = json_pack("{s:s}", "kernel", "6.1");
	r->tsc_ghz = 2;
	s = add(r, "forward", "");
	add_side(s, "plain", false, 500, 1);
	add_side(s, "plain", true, 50, 0.1);
	result_finish(s);
	s = add(r, "idle-hooks", "forward");
	add_side(s, "legacy", false, 800, 1);
	snprintf(add_side(s, "nft", false, 0, 0)->skipped, SIDE_TEXT_MAX, "no program 'x'");
	add_side(s, "plain", true, 51, 0.1);
	s->sides[1].n_rounds = 0;
	s->sides[1].packets = 0;
	result_finish(s);
	s = add(r, "later", "");
	snprintf(s->skipped, sizeof(s->skipped), "not yet");
}

static bool has_note(const struct result_scenario *s, const char *text)
{
	for (unsigned int i = 0; i < s->n_notes; i++)
		if (strstr(s->notes[i], text) != NULL)
			return true;
	return false;
}

static void test_json_has_the_format_of_the_design(void **state)
{
	struct result r;
	json_t *root, *scenario, *ratio;

	(void)state;
	make(&r);
	root = report_to_json(&r);
	assert_int_equal(json_integer_value(json_object_get(root, "version")), 1);
	scenario = json_array_get(json_object_get(root, "scenarios"), 1);
	assert_string_equal(json_string_value(json_object_get(scenario, "name")), "idle-hooks");
	ratio = json_object_get(json_object_get(scenario, "ratio"), "plain/legacy");
	assert_true(json_number_value(json_object_get(ratio, "median")) > 15.6);
	assert_true(json_number_value(json_object_get(ratio, "median")) < 15.7);
	assert_null(json_object_get(json_object_get(scenario, "ratio"), "plain/nft"));
	scenario = json_array_get(json_object_get(root, "scenarios"), 2);
	assert_string_equal(json_string_value(json_object_get(scenario, "skipped")), "not yet");
	json_decref(root);
	result_free(&r);
}

static void test_json_when_read_back_is_the_same(void **state)
{
	struct result r, again;
	char why[128];
	json_t *first, *second;

	(void)state;
	make(&r);
	first = report_to_json(&r);
	assert_int_equal(report_from_json(first, &again, why, sizeof(why)), 0);
	second = report_to_json(&again);
	assert_true(json_equal(first, second));
	json_decref(first);
	json_decref(second);
	result_free(&r);
	result_free(&again);
}

static void refused(const char *text, const char *expected)
{
	json_t *root = json_loads(text, 0, NULL);
	struct result r;
	char why[128] = "";

	assert_non_null(root);
	assert_true(report_from_json(root, &r, why, sizeof(why)) < 0);
	assert_string_equal(why, expected);
	json_decref(root);
}

static void test_json_when_wrong_says_what_was_expected(void **state)
{
	(void)state;
	refused("{}", "version: expected 1");
	refused("{\"version\": 2, \"scenarios\": []}", "version: expected 1");
	refused("{\"version\": 1}", "scenarios: expected a list");
	refused("{\"version\": 1, \"scenarios\": [{}]}", "scenarios: expected a 'name' in each");
	refused("{\"version\": 1, \"scenarios\": [{\"name\": \"a\", \"kernel\": {\"x\": {}}}]}",
			"x: expected 'rounds' with 1 to 101 numbers above 0");
	refused("{\"version\": 1, \"scenarios\": [{\"name\": \"a\", \"sluice\": "
		"{\"x\": {\"rounds\": [1, -1]}}}]}",
			"x: expected 'rounds' with 1 to 101 numbers above 0");
}

static void test_added_is_told_against_the_same_side(void **state)
{
	struct result r;
	double ns;

	(void)state;
	make(&r);
	assert_true(result_added(&r, &r.scenarios[1], &r.scenarios[1].sides[0], &ns));
	assert_true(ns > 299.9 && ns < 300.1);
	assert_true(result_added(&r, &r.scenarios[1], &r.scenarios[1].sides[2], &ns));
	assert_true(ns > 0.9 && ns < 1.1);
	assert_false(result_added(&r, &r.scenarios[0], &r.scenarios[0].sides[0], &ns));
	r.scenarios[1].traffic.flows = 2;
	assert_false(result_added(&r, &r.scenarios[1], &r.scenarios[1].sides[0], &ns));
	result_free(&r);
}

static void test_noise_is_flagged(void **state)
{
	struct result r = { 0 };
	struct result_scenario *s = add(&r, "a", "");

	(void)state;
	add_side(s, "plain", false, 500, 20);
	add_side(s, "plain", true, 50, 0.1);
	result_finish(s);
	assert_true(has_note(s, "kernel plain: noisy"));
	assert_false(has_note(s, "sluice plain: noisy"));
	result_free(&r);
}

static void test_generator_bound_gives_no_ratio(void **state)
{
	struct result r = { 0 };
	struct result_scenario *s = add(&r, "a", "");
	struct stats_interval ratio;

	(void)state;
	add_side(s, "plain", false, 500, 1);
	add_side(s, "plain", true, 50, 0.1)->alone_ns = 25.2;
	result_finish(s);
	assert_true(has_note(s, "sluice plain: bound by its generator"));
	assert_false(result_ratio(&s->sides[0], &s->sides[1], &ratio));
	s->sides[1].alone_ns = 24.8;
	assert_true(result_ratio(&s->sides[0], &s->sides[1], &ratio));
	result_free(&r);
}

static void test_fault_gives_no_figure(void **state)
{
	struct result r = { 0 };
	struct result_scenario *s = add(&r, "a", "");
	struct stats_interval ratio;
	json_t *root, *side;

	(void)state;
	snprintf(add_side(s, "plain", false, 500, 1)->fault, SIDE_TEXT_MAX, "64 entered, 0 left");
	add_side(s, "plain", true, 50, 0.1);
	result_finish(s);
	assert_true(has_note(s, "kernel plain: no figure: 64 entered, 0 left"));
	assert_false(result_ratio(&s->sides[0], &s->sides[1], &ratio));
	root = report_to_json(&r);
	side = json_array_get(json_object_get(root, "scenarios"), 0);
	side = json_object_get(json_object_get(side, "kernel"), "plain");
	assert_null(json_object_get(side, "ns"));
	assert_string_equal(
			json_string_value(json_object_get(side, "fault")), "64 entered, 0 left");
	json_decref(root);
	result_free(&r);
}

static void test_without_any_kernel_the_scenario_is_skipped(void **state)
{
	struct result r = { 0 };
	struct result_scenario *s = add(&r, "a", "");

	(void)state;
	snprintf(add_side(s, "plain", false, 1, 0)->skipped, SIDE_TEXT_MAX, "root is needed");
	s->sides[0].n_rounds = 0;
	add_side(s, "plain", true, 50, 0.1);
	result_finish(s);
	assert_string_equal(s->skipped, "kernel: root is needed");
	result_free(&r);
}

static char *page_of(const struct result *r)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	report_html(r, out);
	fclose(out);
	return text;
}

/* what a scenario of a series costs in proportion to its rules */
static void add_rules(struct result *r, const char *name, uint32_t rules)
{
	struct result_scenario *s = add(r, name, "");

	s->rules = rules;
	add_side(s, "legacy", false, 10.0 * rules, 0);
	add_side(s, "forest", true, 50, 0);
	result_finish(s);
}

static void test_html_draws_series_and_nothing_else(void **state)
{
	struct result r = { 0 };
	char *page;

	(void)state;
	add_rules(&r, "linear-100", 100);
	add_rules(&r, "other-5", 6); /* its number is no number of rules */
	add_rules(&r, "other-7", 8);
	page = page_of(&r);
	assert_null(strstr(page, "Cost against"));
	free(page);
	add_rules(&r, "linear-1k", 1000);
	add_rules(&r, "linear-10k", 10000);
	page = page_of(&r);
	assert_non_null(strstr(page, "Cost against the number of rules"));
	assert_null(strstr(page, "Cost against the number of flows"));
	/* 50 to 100,000 ns: four decades of 46 units between 12 and 196 */
	assert_non_null(strstr(page,
			"<polyline class=\"k\" points=\"46.0,104.0 166.0,58.0 "
			"286.0,12.0 \""));
	assert_non_null(strstr(page, "<polyline class=\"o\""));
	free(page);
	result_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_has_the_format_of_the_design),
		cmocka_unit_test(test_json_when_read_back_is_the_same),
		cmocka_unit_test(test_json_when_wrong_says_what_was_expected),
		cmocka_unit_test(test_added_is_told_against_the_same_side),
		cmocka_unit_test(test_noise_is_flagged),
		cmocka_unit_test(test_generator_bound_gives_no_ratio),
		cmocka_unit_test(test_fault_gives_no_figure),
		cmocka_unit_test(test_without_any_kernel_the_scenario_is_skipped),
		cmocka_unit_test(test_html_draws_series_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
