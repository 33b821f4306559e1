/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/scenario.h"
#include "app/bench/suite.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/sluice-scenario.XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) == NULL ? -1 : 0;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

static const char *write_file(const char *name, const char *text)
{
	static char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	fputs(text, out);
	fclose(out);
	return path;
}

static void read_text(const char *text, struct scenario *s)
{
	const char *path = write_file("s.yaml", text);

	assert_int_equal(scenario_read(path, s, stderr), 0);
	unlink(path);
}

/* @expected: the error line without the directory */
static void refused(const char *text, const char *expected)
{
	const char *path = write_file("s.yaml", text);
	char *line = NULL;
	size_t size;
	FILE *err = open_memstream(&line, &size);
	struct scenario s;

	assert_int_equal(scenario_read(path, &s, err), -EINVAL);
	fclose(err);
	unlink(path);
	line[strcspn(line, "\n")] = '\0';
	if (strstr(line, expected) == NULL)
		fail_msg("found '%s', expected '%s'", line, expected);
	free(line);
}

static void test_read_when_short_takes_defaults(void **state)
{
	struct scenario s;

	(void)state;
	read_text("name: plain-one\n", &s);
	assert_string_equal(s.name, "plain-one");
	assert_string_equal(s.title, "");
	assert_null(s.baseline);
	assert_int_equal(s.traffic.flows, 1);
	assert_int_equal(s.traffic.size, 64);
	assert_int_equal(s.traffic.ttl, 64);
	assert_false(s.traffic.v6);
	assert_int_equal(s.n_kernel, 1);
	assert_int_equal(s.kernel[0], BACKEND_PLAIN);
	assert_int_equal(s.n_engines, 1);
	assert_string_equal(s.engines[0], "plain");
	scenario_free(&s);
}

static void test_read_when_whole_takes_everything(void **state)
{
	struct scenario s;

	(void)state;
	read_text("name: a\ntitle: b c\ntraffic: {family: 6, flows: 5, size: 1514, ttl: 1}\n"
		  "rules: {generate: chains, count: 3}\nkernel: [nft]\nsluice: [trie, auto]\n"
		  "baseline: d\n",
			&s);
	assert_string_equal(s.title, "b c");
	assert_string_equal(s.baseline, "d");
	assert_true(s.traffic.v6);
	assert_int_equal(s.traffic.flows, 5);
	assert_int_equal(s.traffic.size, 1514);
	assert_int_equal(s.traffic.ttl, 1);
	assert_int_equal(s.rules.kind, RULES_CHAINS);
	assert_int_equal(s.rules.count, 3);
	assert_int_equal(s.n_kernel, 1);
	assert_int_equal(s.kernel[0], BACKEND_NFT);
	assert_int_equal(s.n_engines, 2);
	assert_string_equal(s.engines[1], "auto");
	scenario_free(&s);
}

static void test_read_takes_rules_from_a_file_beside_it(void **state)
{
	const char *rules = "*filter\n-A FORWARD -j ACCEPT\nCOMMIT\n";
	struct scenario s;
	char *path = strdup(write_file("r.v4", rules));

	(void)state;
	read_text("name: a\nrules: {file: r.v4}\n", &s);
	assert_int_equal(s.rules.kind, RULES_TEXT);
	assert_string_equal(s.rules.text, rules);
	scenario_free(&s);
	unlink(path);
	free(path);
}

static void test_read_when_wrong_names_line_and_column(void **state)
{
	(void)state;
	refused("", "s.yaml:1:1: found nothing, expected a scenario");
	refused("title: x\n", "s.yaml:1:1: the scenario without 'name'");
	refused("name: a/b\n", "s.yaml:1:7: found 'a/b', expected a name of");
	refused("name: a\ncolour: red\n", "s.yaml:2:1: unknown key 'colour' in the scenario");
	refused("name: a\ntraffic: {flows: 0}\n",
			"s.yaml:2:18: found '0', expected a number from 1 to 1048576");
	refused("name: a\ntraffic: {size: 63}\n",
			"s.yaml:2:17: found '63', expected a number from 64 to 1514");
	refused("name: a\ntraffic: {family: 5}\n", "s.yaml:2:19: found '5', expected one of 4, 6");
	refused("name: a\nrules: {}\n", "s.yaml:2:8: rules without any");
	refused("name: a\nrules: {generate: linear}\n", "s.yaml:2:8: 'count' goes with");
	refused("name: a\nrules: {generate: x, count: 1}\n",
			"s.yaml:2:19: found 'x', expected one of linear, set, netset, portset, chains");
	refused("name: a\nrules: {text: x, generate: set, count: 1}\n",
			"s.yaml:2:28: rules are given twice");
	refused("name: a\nrules: {file: not-there}\n",
			"No such file or directory, expected rules in the format of");
	refused("name: a\nkernel: [bsd]\n", "s.yaml:2:10: found 'bsd', expected one of plain, ");
	refused("name: a\nrules: {text: x}\nkernel: [nft, nft]\n",
			"s.yaml:3:15: back end 'nft' is here twice");
	refused("name: a\nkernel: [nft]\n", "a back end for rules but no rules");
	refused("name: a\nrules: {text: x}\nkernel: [plain]\n", "expected another back end");
	refused("name: a\nrules: {text: x}\nkernel: [ipset]\n", "expected legacy or nft");
	refused("name: a\nrules: {text: x}\nkernel: [native]\n", "expected 'nft' under rules");
	refused("name: a\nrules: {generate: set, count: 9}\nkernel: [nft]\n",
			"expected ipset or native");
	refused("name: a\nrules: {generate: set, count: 9, nft: x}\n",
			"s.yaml:2:8: 'ipset' and 'nft' go with 'text'");
	refused("name: a\nrules: {classbench: /dev/null}\n",
			"s.yaml:2:21: /dev/null:1: no such rule, expected rules in ClassBench");
	refused("name: a\ntraffic: {size: imix, state: new}\n",
			"s.yaml:2:17: imix with TCP or a state, expected one size");
	refused("name: a\ntraffic: {family: 6, protocol: tcp, size: 70}\n",
			"s.yaml:2:43: found 70 bytes, expected at least 74");
	refused("name: a\ntraffic: {family: 6, addresses: any}\n",
			"s.yaml:2:33: any addresses with family 6, expected near ones");
	refused("name: a\ntraffic: {addresses: rules}\n", "addresses of rules that tell none");
	refused("name: a\ntraffic: {pcap: /dev/null}\n", "expected a capture of Ethernet");
	refused("name: a\ntraffic: {pcap: x, size: 64}\n", "'pcap' beside size");
	refused("name: a\ndefault: maybe\n", "s.yaml:2:10: found 'maybe', expected one of quick");
	refused("name: a\nsluice: [magic]\n", "s.yaml:2:10: found 'magic', expected one of plain,");
	refused("name: [a\n", "not YAML");
}

static void test_read_when_there_is_no_file_says_so(void **state)
{
	struct scenario s;
	char *line = NULL;
	size_t size;
	FILE *err = open_memstream(&line, &size);

	(void)state;
	assert_int_equal(scenario_read("/nowhere/x.yaml", &s, err), -ENOENT);
	fclose(err);
	assert_string_equal(line, "/nowhere/x.yaml: No such file or directory\n");
	free(line);
}

static void test_suite_when_all_holds_each_baseline_before_its_user(void **state)
{
	struct suite suite;

	(void)state;
	assert_int_equal(suite_load(NULL, SCENARIO_NAMED, &suite, stderr), 0);
	assert_true(suite.n >= 10);
	for (unsigned int i = 0; i < suite.n; i++) {
		bool found = suite.scenarios[i].baseline == NULL;

		for (unsigned int k = 0; k < i; k++)
			found = found
					|| strcmp(suite.scenarios[k].name,
							   suite.scenarios[i].baseline)
							== 0;
		if (!found)
			fail_msg("%s comes before its baseline", suite.scenarios[i].name);
	}
	suite_free(&suite);
}

static void test_suite_by_default_is_a_part_of_all(void **state)
{
	struct suite some, all;

	(void)state;
	assert_int_equal(suite_load(NULL, SCENARIO_DEFAULT, &some, stderr), 0);
	assert_int_equal(suite_load(NULL, SCENARIO_NAMED, &all, stderr), 0);
	assert_true(some.n >= 10 && some.n < all.n);
	suite_free(&some);
	suite_free(&all);
}

static void test_suite_when_named_adds_the_baseline_once(void **state)
{
	const char *const names[] = { "linear-1k", "idle-hooks", "linear-1k", NULL };
	struct suite suite;

	(void)state;
	assert_int_equal(suite_load(names, SCENARIO_DEFAULT, &suite, stderr), 0);
	assert_int_equal(suite.n, 4);
	assert_string_equal(suite.scenarios[0].name, "forward");
	assert_string_equal(suite.scenarios[1].name, "forward-64k");
	assert_string_equal(suite.scenarios[2].name, "idle-hooks");
	assert_string_equal(suite.scenarios[3].name, "linear-1k");
	suite_free(&suite);
}

static void test_suite_when_the_baseline_is_unknown_says_so(void **state)
{
	const char *path = write_file("s.yaml", "name: a\nbaseline: nobody\n");
	const char *const names[] = { path, NULL };
	struct suite suite;
	char *text = NULL;
	size_t size;
	FILE *err = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(suite_load(names, SCENARIO_DEFAULT, &suite, err), -ENOENT);
	fclose(err);
	assert_non_null(strstr(text, "s.yaml: baseline 'nobody' cannot be read\n"));
	free(text);
	unlink(path);
}

static void test_compare_counts_with_k_and_M(void **state)
{
	static const char *const names[] = { "a-10", "a-100", "a-1k", "a-10k", "a-1M", "b" };

	(void)state;
	for (unsigned int i = 0; i < 6; i++)
		for (unsigned int k = 0; k < 6; k++) {
			struct scenario a = { .name = names[i] }, b = { .name = names[k] };
			int found = scenario_compare(&a, &b);

			assert_int_equal((found > 0) - (found < 0), (i > k) - (i < k));
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_when_short_takes_defaults),
		cmocka_unit_test(test_read_when_whole_takes_everything),
		cmocka_unit_test(test_read_takes_rules_from_a_file_beside_it),
		cmocka_unit_test(test_read_when_wrong_names_line_and_column),
		cmocka_unit_test(test_read_when_there_is_no_file_says_so),
		cmocka_unit_test(test_suite_when_all_holds_each_baseline_before_its_user),
		cmocka_unit_test(test_suite_by_default_is_a_part_of_all),
		cmocka_unit_test(test_suite_when_named_adds_the_baseline_once),
		cmocka_unit_test(test_suite_when_the_baseline_is_unknown_says_so),
		cmocka_unit_test(test_compare_counts_with_k_and_M),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
