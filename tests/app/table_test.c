/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluicectl/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_group_digits_in_threes(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(group_digits(0, buf), "0");
	assert_string_equal(group_digits(999, buf), "999");
	assert_string_equal(group_digits(1000, buf), "1,000");
	assert_string_equal(group_digits(-1000, buf), "-1,000");
	assert_string_equal(group_digits(-100, buf), "-100");
	assert_string_equal(group_digits(INT64_MAX, buf), "9,223,372,036,854,775,807");
}

static void test_human_units(void **state)
{
	char buf[32];

	(void)state;
	assert_string_equal(human_bytes(999, buf), "999 B");
	assert_string_equal(human_bytes(1500, buf), "1.5 kB");
	assert_string_equal(human_bytes(UINT64_MAX, buf), "18446.7 PB");
	assert_string_equal(human_seconds(93784, buf), "1d 02:03:04");
}

static void test_table_aligns_columns(void **state)
{
	static const char *const columns[] = { "name", ">n", "rest", NULL };
	struct table *t = table_new(columns);
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_non_null(f);
	for (unsigned int i = 0; i < 2; i++) {
		table_cell(t, "%s", i == 0 ? "a" : "longer");
		table_cell(t, "%u", i == 0 ? 5 : 12345);
		table_cell(t, "%s", "x");
	}
	table_print(t, f, "empty");
	fclose(f);
	assert_string_equal(text,
			"name        n  rest\n"
			"a           5  x\n"
			"longer  12345  x\n");
	free(text);
}

static void test_table_without_rows_says_so(void **state)
{
	static const char *const columns[] = { "name", NULL };
	struct table *t = table_new(columns);
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_non_null(f);
	table_print(t, f, "nothing");
	fclose(f);
	assert_string_equal(text, "nothing\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group_digits_in_threes),
		cmocka_unit_test(test_human_units),
		cmocka_unit_test(test_table_aligns_columns),
		cmocka_unit_test(test_table_without_rows_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
