/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text that Prometheus reads: its form, and that the dashboard asks for nothing that is not in
 * it. Usage: metrics_test DASHBOARD.json
 */
#include "app/sluice/metrics_text.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NAMES_MAX 256

static const char *dashboard;

static char *text_of(const json_t *rows)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	metrics_text(rows, f);
	fclose(f);
	return text;
}

/* a name as Prometheus takes it. Return: its length */
static size_t name_length(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return isdigit((unsigned char)s[0]) ? 0 : n;
}

static bool is_total(const char *name)
{
	size_t len = strlen(name);

	return len > 6 && strcmp(name + len - 6, "_total") == 0;
}

/* the families of @text in @names; each has its HELP, then its TYPE, then its samples, once */
static unsigned int families(char *text, char names[][80])
{
	char *rest = NULL, type[16], name[80];
	unsigned int n = 0;
	bool helped = false;

	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
			line = strtok_r(NULL, "\n", &rest)) {
		if (sscanf(line, "# HELP %79s", name) == 1) {
			for (unsigned int i = 0; i < n; i++)
				assert_string_not_equal(names[i], name);
			assert_int_equal(name_length(name), strlen(name));
			assert_true(strlen(line) > strlen("# HELP  ") + strlen(name));
			assert_true(n < NAMES_MAX);
			strcpy(names[n++], name);
			helped = true;
		} else if (sscanf(line, "# TYPE %79s %15s", name, type) == 2) {
			assert_true(helped);
			assert_string_equal(names[n - 1], name);
			assert_string_equal(type, is_total(name) ? "counter" : "gauge");
			helped = false;
		} else {
			size_t len = name_length(line);

			assert_true(n > 0 && !helped);
			assert_int_equal(len, strlen(names[n - 1]));
			assert_memory_equal(line, names[n - 1], len);
			assert_true(line[len] == ' ' || line[len] == '{');
		}
	}
	return n;
}

static void test_every_family_has_help_and_type_once(void **state)
{
	static char names[NAMES_MAX][80];
	json_t *rows = json_pack("{s:{s:s, s:i}, s:[{s:s, s:i, s:b}, {s:s, s:i, s:b}]}", "status",
			"version", "1", "reloads", 3, "ports", "port", "wan", "rx", 1, "up", 1,
			"port", "lan", "rx", 2, "up", 0);
	char *text = text_of(rows);

	(void)state;
	assert_non_null(strstr(text, "\nsluice_reloads_total 3\n"));
	assert_non_null(strstr(text, "sluice_build_info{version=\"1\"} 1\n"));
	assert_non_null(strstr(text,
			"\nsluice_port_receive_packets_total{port=\"wan\"} 1\n"
			"sluice_port_receive_packets_total{port=\"lan\"} 2\n#"));
	assert_non_null(strstr(text,
			"\nsluice_port_up{port=\"wan\"} 1\nsluice_port_up{port=\"lan\"} 0\n#"));
	assert_true(families(text, names) > 40);
	free(text);
	json_decref(rows);
}

static void test_labels_are_escaped(void **state)
{
	json_t *rows = json_pack("{s:[{s:s, s:s, s:i}]}", "drops", "port", "a\\b\"c\nd", "reason",
			"r", "packets", 7);
	char *text = text_of(rows);

	(void)state;
	assert_non_null(strstr(text,
			"\nsluice_dropped_packets_total{port=\"a\\\\b\\\"c\\nd\",reason=\"r\"} 7\n"));
	free(text);
	json_decref(rows);
}

static void test_large_numbers_stay_whole_and_times_have_fractions(void **state)
{
	json_t *rows = json_pack("{s:[{s:s, s:I}], s:[{s:i, s:i, s:f}]}", "ports", "port", "p",
			"rx", (json_int_t)9007199254740993LL, "workers", "worker", 0, "cpu", 2,
			"busy_s", 1.25);
	char *text = text_of(rows);

	(void)state;
	assert_non_null(strstr(text, "{port=\"p\"} 9007199254740993\n"));
	assert_non_null(strstr(text,
			"\nsluice_worker_busy_seconds_total{worker=\"0\",cpu=\"2\"} 1.250000\n"));
	free(text);
	json_decref(rows);
}

static bool is_known(const char *name, size_t len, char names[][80], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (strlen(names[i]) == len && memcmp(names[i], name, len) == 0)
			return true;
	return false;
}

/* names of metrics in a query, each of which must be known. Return: how many */
static unsigned int check_query(const char *query, char names[][80], unsigned int n)
{
	unsigned int found = 0;

	for (const char *at = query; (at = strstr(at, "sluice_")) != NULL; found++) {
		size_t len = name_length(at);

		if (!is_known(at, len, names, n))
			fail_msg("%.*s of the dashboard is no metric", (int)len, at);
		at += len;
	}
	return found;
}

static void test_dashboard_asks_for_what_there_is(void **state)
{
	static char names[NAMES_MAX][80];
	json_error_t error;
	json_t *d = json_load_file(dashboard, 0, &error), *rows = json_object();
	const json_t *panels = json_object_get(d, "panels");
	char *text = text_of(rows);
	unsigned int n = families(text, names), queries = 0;

	(void)state;
	assert_non_null(d);
	for (size_t i = 0; i < json_array_size(panels); i++) {
		const json_t *targets = json_object_get(json_array_get(panels, i), "targets");

		assert_true(json_array_size(targets) > 0);
		for (size_t k = 0; k < json_array_size(targets); k++, queries++) {
			const char *query = json_string_value(
					json_object_get(json_array_get(targets, k), "expr"));

			assert_non_null(query);
			assert_true(check_query(query, names, n) > 0);
		}
	}
	assert_true(queries > 10);
	free(text);
	json_decref(rows);
	json_decref(d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_family_has_help_and_type_once),
		cmocka_unit_test(test_labels_are_escaped),
		cmocka_unit_test(test_large_numbers_stay_whole_and_times_have_fractions),
		cmocka_unit_test(test_dashboard_asks_for_what_there_is),
	};

	if (argc != 2)
		return 2;
	dashboard = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
