/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage's entry of a configuration: what it makes of it, and how it refuses what is wrong. */
#include "lib/hmark.h"
#include "lib/router.h"
#include "lib/stage_conf.h"
#include "lib/stage_hmark.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ARGS_MAX 8

static struct sl_router router;
static char err[256];

/* @pairs: key, value, key, value, NULL; arg i stands in column 10 * (i + 1) of line 7 */
static int create(const char *const *pairs, void **priv)
{
	struct sl_stage_conf conf = { .path = "f.yaml", .stage = "hmark", .at = { 7, 5 } };
	int ret;

	conf.args = calloc(ARGS_MAX, sizeof(*conf.args));
	assert_non_null(conf.args);
	for (unsigned int i = 0; pairs[2 * i] != NULL; i++) {
		assert_true(i < ARGS_MAX);
		conf.args[i].key = pairs[2 * i];
		conf.args[i].value = pairs[2 * i + 1];
		conf.args[i].at = (struct sl_mark){ 7, 10 * (i + 1) };
		conf.n_args++;
	}
	router.err = err;
	router.err_size = sizeof(err);
	err[0] = '\0';
	ret = sl_stage_hmark.create(&router, &conf, priv);
	free(conf.args);
	return ret;
}

#define ENTRY(...)                \
	(const char *const[])     \
	{                         \
		__VA_ARGS__, NULL \
	}

static void test_create_when_tuple_then_whole_masks(void **state)
{
	struct sl_hmark want = {
		.port_mask = UINT32_MAX, .proto_mask = UINT16_MAX, .mod = 2, .offset = 100
	};
	void *priv;

	(void)state;
	for (unsigned int v6 = 0; v6 < 2; v6++) {
		want.src_mask[v6] = sl_hmark_prefix(v6 ? SL_AF_INET6 : SL_AF_INET, v6 ? 128 : 32);
		want.dst_mask[v6] = want.src_mask[v6];
	}
	assert_int_equal(create(ENTRY("tuple", "src,dst,sport,dport,proto", "mod", "2", "offset",
						"100"),
					 &priv),
			0);
	assert_memory_equal(priv, &want, sizeof(want));
	sl_stage_hmark.destroy(priv);
}

static void test_create_when_in_parts_then_those(void **state)
{
	struct sl_hmark want = {
		.port_mask = 0xff0000ff, .port_set = 0x8000, .mod = UINT32_MAX, .rnd = 0xfeedcafe
	};
	void *priv;

	(void)state;
	want.src_mask[0] = sl_addr_v4(RTE_BE32(0xffffff00));
	assert_int_equal(create(ENTRY("src-prefix", "24", "sport-mask", "0xff00", "dport-mask",
						"0xff", "dport", "0x8000", "rnd", "0xfeedcafe",
						"mod", "4294967295"),
					 &priv),
			0);
	assert_memory_equal(priv, &want, sizeof(want));
	sl_stage_hmark.destroy(priv);
}

static void test_create_when_wrong_then_names_the_place(void **state)
{
	static const struct {
		const char *pairs[9];
		const char *says;
	} cases[] = {
		{ { "mod", "2", "tuple", "src,port" },
				"f.yaml:7:20: stage hmark: tuple: found 'port', expected src, dst, "
				"sport, dport, proto or spi" },
		{ { "tuple", "src" }, "f.yaml:7:5: stage hmark: 'mod' was expected" },
		{ { "tuple", "src", "mod", "0" },
				"f.yaml:7:20: stage hmark: mod: found '0', expected a number from 1 "
				"to 4294967295" },
		{ { "tuple", "src", "mod", "many" },
				"f.yaml:7:20: stage hmark: mod: found 'many', expected a number from "
				"1 to 4294967295" },
		{ { "src-prefix", "33", "mod", "2" },
				"f.yaml:7:10: stage hmark: src-prefix: found '33', expected a number "
				"from 0 to 32" },
		{ { "mod", "2" },
				"f.yaml:7:5: stage hmark: nothing is hashed, 'tuple' or prefixes "
				"and masks were expected" },
		{ { "tuple", "src,spi,dport", "mod", "2" },
				"f.yaml:7:5: stage hmark: the SPI and ports exclude each other" },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		void *priv;

		assert_int_equal(create(cases[i].pairs, &priv), -EINVAL);
		assert_string_equal(err, cases[i].says);
	}
	assert_int_equal(create(ENTRY("colour", "red"), &(void *){ NULL }), -EINVAL);
	assert_non_null(strstr(err,
			"f.yaml:7:10: stage hmark: unknown key 'colour', expected one "
			"of tuple, src-prefix, "));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_create_when_tuple_then_whole_masks),
		cmocka_unit_test(test_create_when_in_parts_then_those),
		cmocka_unit_test(test_create_when_wrong_then_names_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
