/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/ruleset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t hash(const char *text)
{
	uint32_t n;

	return ruleset_hash(text, &n);
}

static uint32_t count(const char *text)
{
	uint32_t n;

	ruleset_hash(text, &n);
	return n;
}

#define ONE "-A FORWARD -s 10.0.0.1/32 -j DROP\n"
#define TWO "-A FORWARD -s 10.0.0.2/32 -j DROP\n"

static void test_hash_leaves_out_counters_comments_and_empty_tables(void **state)
{
	(void)state;
	assert_int_equal(hash("*filter\n:FORWARD ACCEPT [0:0]\n" ONE "COMMIT\n"),
			hash("# x\n*nat\n:OUTPUT ACCEPT [1:2]\nCOMMIT\n*filter\n"
			     ":FORWARD ACCEPT [5:6]\n:INPUT ACCEPT [0:0]\n[7:8] " ONE
			     "COMMIT\n# y\n"));
	assert_int_equal(hash(""), hash("*filter\n:FORWARD ACCEPT [9:9]\nCOMMIT\n"));
}

static void test_hash_knows_order_table_text_and_policy(void **state)
{
	uint64_t found = hash("*filter\n" ONE TWO "COMMIT\n");

	(void)state;
	assert_int_not_equal(found, hash("*filter\n" TWO ONE "COMMIT\n"));
	assert_int_not_equal(found, hash("*mangle\n" ONE TWO "COMMIT\n"));
	assert_int_not_equal(found, hash("*filter\n" ONE "COMMIT\n"));
	assert_int_not_equal(found, hash("*filter\n:INPUT DROP [0:0]\n" ONE TWO "COMMIT\n"));
	assert_int_not_equal(hash("*filter\n" ONE "COMMIT\n*mangle\n" TWO "COMMIT\n"),
			hash("*filter\n" TWO "COMMIT\n*mangle\n" ONE "COMMIT\n"));
}

static void test_hash_when_tables_change_places_is_the_same(void **state)
{
	(void)state;
	assert_int_equal(hash("*filter\n" ONE "COMMIT\n*mangle\n" TWO "COMMIT\n"),
			hash("*mangle\n" TWO "COMMIT\n*filter\n" ONE "COMMIT\n"));
}

static void test_hash_counts_rules_and_policies(void **state)
{
	(void)state;
	assert_int_equal(count(""), 0);
	assert_int_equal(count("*filter\n:FORWARD ACCEPT [0:0]\n:own - [0:0]\nCOMMIT\n"), 0);
	assert_int_equal(count("*filter\n:FORWARD DROP [0:0]\n" ONE "[1:2] " TWO "COMMIT"), 3);
}

static void test_generators_make_as_many_as_were_asked_for(void **state)
{
	struct ruleset linear = { .kind = RULES_LINEAR, .count = 1000 };
	struct ruleset chains = { .kind = RULES_CHAINS, .count = 16 };
	struct ruleset set = { .kind = RULES_SET, .count = 300 };
	char *text = ruleset_iptables(&linear);
	unsigned int n = 0;

	(void)state;
	assert_int_equal(count(text), 1000);
	free(text);
	text = ruleset_iptables(&chains);
	assert_int_equal(count(text), 16);
	free(text);
	text = ruleset_ipset(&set);
	for (const char *p = text; (p = strstr(p, "add bench ")) != NULL; p++)
		n++;
	assert_int_equal(n, 300);
	assert_non_null(strstr(text, "add bench 20.1.43.1\n")); /* the last, 299 = 256 + 43 */
	free(text);
	text = ruleset_nft(&set);
	assert_non_null(strstr(text, "20.0.255.1, 20.1.0.1"));
	free(text);
}

static void test_sets_of_each_kind_have_both_forms(void **state)
{
	static const struct {
		struct ruleset r;
		const char *ipset, *nft;
	} cases[] = {
		{ { .kind = RULES_NETSET, .count = 2 }, "add bench 20.0.2.0/24\n",
				"20.0.2.0/24 }" },
		{ { .kind = RULES_NETSET, .count = 2, .v6 = true }, "add bench fd20:0:2::/64\n",
				"type ipv6_addr\n\t\tflags interval" },
		{ { .kind = RULES_PORTSET, .count = 2 }, "add bench 20.0.1.1,udp:1025\n",
				"20.0.1.1 . 1025 }" },
		{ { .kind = RULES_SET, .count = 2, .v6 = true }, "add bench fd20::0:1\n",
				"ip6 saddr @strangers drop" },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *ipset = ruleset_ipset(&cases[i].r), *nft = ruleset_nft(&cases[i].r);

		assert_non_null(strstr(ipset, cases[i].ipset));
		assert_non_null(strstr(nft, cases[i].nft));
		free(ipset);
		free(nft);
	}
}

static void test_hash_counters_tells_which_rule_matched(void **state)
{
	const char *a = "*filter\n:FORWARD ACCEPT [9:9]\n[1:64] -A FORWARD -j A\n[0:0] -A FORWARD -j "
			"B\nCOMMIT\n";
	const char *b = "*filter\n:FORWARD ACCEPT [9:9]\n[0:0] -A FORWARD -j A\n[1:64] -A FORWARD -j "
			"B\nCOMMIT\n";
	const char *c = "# text\n*filter\n:FORWARD ACCEPT [8:8]\n[1:64] -A FORWARD -j A\n[0:0] -A "
			"FORWARD -j B\nCOMMIT\n";

	(void)state;
	assert_int_not_equal(ruleset_hash_counters(a), ruleset_hash_counters(b));
	assert_int_equal(ruleset_hash_counters(a), ruleset_hash_counters(c));
	assert_int_equal(ruleset_hash_counters("*nat\nCOMMIT\n"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hash_leaves_out_counters_comments_and_empty_tables),
		cmocka_unit_test(test_hash_knows_order_table_text_and_policy),
		cmocka_unit_test(test_hash_when_tables_change_places_is_the_same),
		cmocka_unit_test(test_hash_counts_rules_and_policies),
		cmocka_unit_test(test_generators_make_as_many_as_were_asked_for),
		cmocka_unit_test(test_sets_of_each_kind_have_both_forms),
		cmocka_unit_test(test_hash_counters_tells_which_rule_matched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
