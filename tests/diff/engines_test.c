/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every engine gives linear's answer: on sets made to be horrible, on sets of ClassBench's shapes and
 * on ClassBench's own. SLUICE_TEST_LONG=1 adds the sets of 100,000 rules.
 */
#include "classifier/linear.h"
#include "tests/diff/cls_compare.h"

#include <rte_eal.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEED 20261201

static void compare_horrors(enum sl_family family, unsigned int verify_percent)
{
	static const uint32_t sizes[] = { 1, 2, 5, 16, 17, 64, 65, 300 };
	unsigned int bad = 0;

	for (int h = 0; h < GEN_HORROR_NB; h++) {
		for (unsigned int s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
			uint64_t seed = SEED + (uint64_t)h * 1000 + sizes[s];
			struct gen_rng rng = { seed };
			struct gen_set set;

			gen_horrible(&set, family, (enum gen_horror)h, sizes[s], &rng);
			gen_mark_verify(&set, verify_percent, &rng);
			bad += cmp_all(&set, 16, seed);
			gen_free(&set);
		}
	}
	assert_int_equal(bad, 0);
}

static void test_engines_when_ipv4_sets_are_horrible_agree(void **state)
{
	(void)state;
	compare_horrors(SL_AF_INET, 0);
}

static void test_engines_when_ipv4_rules_need_verifying_agree(void **state)
{
	(void)state;
	compare_horrors(SL_AF_INET, 30);
}

static void test_engines_when_ipv6_sets_are_horrible_agree(void **state)
{
	(void)state;
	compare_horrors(SL_AF_INET6, 0);
}

static void test_engines_when_ipv6_rules_need_verifying_agree(void **state)
{
	(void)state;
	compare_horrors(SL_AF_INET6, 30);
}

static void compare_shapes(uint32_t n, unsigned int batches, int as_ipv6, unsigned int verify)
{
	static const char *const shapes[] = { "acl", "fw", "ipc" };
	unsigned int bad = 0;

	for (unsigned int s = 0; s < 3; s++) {
		struct gen_rng rng = { SEED + n + s };
		struct gen_set set;

		gen_shaped(&set, shapes[s], n, &rng);
		if (as_ipv6 > 0)
			gen_to_ipv6(&set, as_ipv6 > 1);
		gen_mark_verify(&set, verify, &rng);
		bad += cmp_all(&set, batches, SEED + n + s);
		gen_free(&set);
	}
	assert_int_equal(bad, 0);
}

static void test_engines_when_shaped_1k_agree(void **state)
{
	(void)state;
	compare_shapes(1000, 60, 0, 0);
	compare_shapes(1000, 30, 0, 5);
}

static void test_engines_when_shaped_1k_in_ipv6_agree(void **state)
{
	(void)state;
	compare_shapes(1000, 30, 1, 0);
	compare_shapes(1000, 30, 2, 5);
}

static void test_engines_when_shaped_10k_agree(void **state)
{
	(void)state;
	compare_shapes(10000, 16, 0, 0);
}

static void test_engines_when_shaped_10k_in_ipv6_agree(void **state)
{
	(void)state;
	compare_shapes(8000, 8, 1, 5);
	compare_shapes(8000, 8, 2, 0);
}

/* the trie's own, since larger sets are not built in cmp_all() unless there is time */
static void compare_trie(uint32_t n, bool fallback)
{
	struct gen_rng rng = { SEED };
	struct gen_set set;
	struct sl_cls_spec spec;
	struct sl_cls *trie, *oracle;

	gen_shaped(&set, "acl", n, &rng);
	spec = gen_spec(&set);
	assert_int_equal(sl_cls_trie.build(&spec, &trie), 0);
	assert_int_equal(cls_linear_plain.build(&spec, &oracle), 0);
	assert_int_equal(trie->note[0] != '\0', fallback);
	assert_int_equal(cmp_lookups(&set, oracle, trie, trie->ops, "trie", 12, SEED), 0);
	trie->ops->free(trie);
	oracle->ops->free(oracle);
	gen_free(&set);
}

static void test_trie_when_10k_agrees(void **state)
{
	(void)state;
	compare_trie(10000, false);
}

static void test_trie_when_set_is_too_large_says_so_and_agrees(void **state)
{
	(void)state;
	compare_trie(13000, true);
}

static void test_auto_when_set_grows_goes_from_linear_to_forest(void **state)
{
	struct gen_rng rng = { SEED };
	struct gen_set set;
	struct sl_cls_spec spec;
	const char *why = NULL;

	(void)state;
	gen_shaped(&set, "acl", 33, &rng);
	spec = gen_spec(&set);
	assert_ptr_equal(sl_cls_auto(&spec, &why), &sl_cls_forest);
	assert_non_null(why);
	spec.n = 32;
	assert_ptr_equal(sl_cls_auto(&spec, NULL), &sl_cls_linear);
	gen_free(&set);
}

static void test_engines_when_10k_addresses_agree(void **state)
{
	struct gen_rng rng = { SEED };
	struct gen_set set;

	(void)state;
	gen_addresses(&set, 10000, &rng);
	assert_int_equal(cmp_all(&set, 16, SEED), 0);
	gen_free(&set);
}

static void compare_classbench(const char *size, unsigned int batches)
{
	static const char *const seeds[] = { "acl1", "fw1", "ipc1" };
	unsigned int bad = 0, sets = 0;

	for (unsigned int s = 0; s < 3; s++) {
		struct gen_set set;
		char name[32];

		snprintf(name, sizeof(name), "%s_%s", seeds[s], size);
		if (!gen_classbench(&set, name))
			continue;
		bad += cmp_all(&set, batches, SEED + s);
		gen_free(&set);
		sets++;
	}
	assert_int_equal(bad, 0);
	if (sets == 0)
		skip();
}

static void test_engines_when_classbench_1k_agree(void **state)
{
	(void)state;
	compare_classbench("1k", 60);
}

static void test_engines_when_classbench_10k_agree(void **state)
{
	(void)state;
	compare_classbench("10k", 16);
}

static void test_engines_when_classbench_100k_agree(void **state)
{
	(void)state;
	if (getenv("SLUICE_TEST_LONG") == NULL) {
		printf("SKIPPED: 100,000 rules only with SLUICE_TEST_LONG=1\n");
		skip();
	}
	compare_classbench("100k", 16);
}

static void test_lookup_when_set_is_empty_misses(void **state)
{
	const struct sl_cls_spec spec = { .family = SL_AF_INET };
	const struct sl_cls_key4 key = { .src = 1 };

	(void)state;
	for (unsigned int i = 0; sl_cls_engines[i] != NULL; i++) {
		struct sl_cls *cls;
		uint32_t out = 0;

		assert_int_equal(sl_cls_engines[i]->build(&spec, &cls), 0);
		sl_cls_lookup4(cls, &key, 1, NULL, NULL, &out);
		assert_int_equal(out, SL_CLS_MISS);
		out = 7;
		sl_cls_lookup4(cls, &key, 0, NULL, NULL, &out);
		assert_int_equal(out, 7);
		cls->ops->free(cls);
	}
}

static void assert_refused(const struct sl_cls_spec *spec)
{
	for (unsigned int i = 0; sl_cls_engines[i] != NULL; i++) {
		struct sl_cls *cls = NULL;

		assert_int_equal(sl_cls_engines[i]->build(spec, &cls), -EINVAL);
		assert_null(cls);
	}
}

static void test_build_when_rules_are_invalid_returns_einval(void **state)
{
	struct sl_cls_rule rules[2] = { { SL_CLS_RULE_ANY, .label = 5 },
		{ SL_CLS_RULE_ANY, .label = 4 } };
	struct sl_cls_spec spec = { .family = SL_AF_INET, .rules = rules, .n = 2 };

	(void)state;
	assert_refused(&spec); /* a label that falls */
	rules[1].label = SL_CLS_LABEL_MAX + 1;
	assert_refused(&spec);
	rules[1].label = 5;
	rules[1].dport_lo = 100;
	rules[1].dport_hi = 99;
	assert_refused(&spec);
	rules[1].dport_hi = 100;
	spec.family = SL_AF_NONE;
	assert_refused(&spec);
}

static void test_find_when_name_is_known_returns_engine(void **state)
{
	(void)state;
	for (unsigned int i = 0; sl_cls_engines[i] != NULL; i++)
		assert_ptr_equal(sl_cls_find(sl_cls_engines[i]->name), sl_cls_engines[i]);
	assert_null(sl_cls_find("auto"));
	assert_null(sl_cls_find(""));
}

int main(int argc __rte_unused, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lookup_when_set_is_empty_misses),
		cmocka_unit_test(test_build_when_rules_are_invalid_returns_einval),
		cmocka_unit_test(test_find_when_name_is_known_returns_engine),
		cmocka_unit_test(test_engines_when_ipv4_sets_are_horrible_agree),
		cmocka_unit_test(test_engines_when_ipv4_rules_need_verifying_agree),
		cmocka_unit_test(test_engines_when_ipv6_sets_are_horrible_agree),
		cmocka_unit_test(test_engines_when_ipv6_rules_need_verifying_agree),
		cmocka_unit_test(test_engines_when_shaped_1k_agree),
		cmocka_unit_test(test_engines_when_shaped_1k_in_ipv6_agree),
		cmocka_unit_test(test_engines_when_shaped_10k_agree),
		cmocka_unit_test(test_engines_when_shaped_10k_in_ipv6_agree),
		cmocka_unit_test(test_engines_when_10k_addresses_agree),
		cmocka_unit_test(test_trie_when_10k_agrees),
		cmocka_unit_test(test_trie_when_set_is_too_large_says_so_and_agrees),
		cmocka_unit_test(test_auto_when_set_grows_goes_from_linear_to_forest),
		cmocka_unit_test(test_engines_when_classbench_1k_agree),
		cmocka_unit_test(test_engines_when_classbench_10k_agree),
		cmocka_unit_test(test_engines_when_classbench_100k_agree),
	};
	/* the trie lives in DPDK's heap */
	char *eal[] = { argv[0], (char[]){ "--no-huge" }, (char[]){ "--no-shconf" },
		(char[]){ "--no-pci" }, (char[]){ "--no-telemetry" }, (char[]){ "-m" },
		(char[]){ "512" }, (char[]){ "--lcores" }, (char[]){ "0@(0-1)" },
		(char[]){ "--log-level" }, (char[]){ "*:error" }, NULL };

	if (rte_eal_init(11, eal) < 0) {
		fprintf(stderr, "EAL does not start\n");
		return 1;
	}
	cmp_have_eal = true;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
