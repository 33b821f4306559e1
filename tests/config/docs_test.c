/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * docs/config.md names every key and switch that the program knows, with its default and range, and
 * none that it does not know. Usage: docs_test CONFIG.md SOURCE...
 */
#include "conntrack/conf.h"
#include "lib/sysctl.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *doc;
static char **sources;
static int n_sources;

static char *read_file(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = calloc(1, 1 << 18);

	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 18) - 1, f) < (1 << 18) - 1);
	fclose(f);
	return text;
}

/* does a line of the document begin so */
static bool has_line(const char *text, const char *start)
{
	char with_end[512];

	snprintf(with_end, sizeof(with_end), "\n%s", start);
	return strstr(text, with_end) != NULL;
}

/* a key is a row of a table, or the title of a section */
static bool is_told(const char *key)
{
	char row[128], title[128];

	snprintf(row, sizeof(row), "| `%s` |", key);
	snprintf(title, sizeof(title), "## %s\n", key);
	return has_line(doc, row) || has_line(doc, title);
}

/* keys stand in the sources as rows `{ "name", function, required },` of a table */
static const char *next_key(const char *at, char key[32])
{
	char required[8];

	while ((at = strstr(at, "\n\t")) != NULL) {
		at += 1;
		if (sscanf(at, " { \"%31[a-z0-9_-]\", %*[a-z0-9_], %7[a-z] }", key, required) == 2
				&& (strcmp(required, "true") == 0
						|| strcmp(required, "false") == 0))
			return at;
	}
	return NULL;
}

static void test_docs_tell_every_key(void **state)
{
	unsigned int n = 0;
	char key[32];

	(void)state;
	for (int i = 0; i < n_sources; i++) {
		char *text = read_file(sources[i]);

		for (const char *at = next_key(text, key); at != NULL; at = next_key(at, key)) {
			if (!is_told(key))
				fail_msg("%s: '%s' is not in the document", sources[i], key);
			n++;
		}
		free(text);
	}
	assert_true(n >= 40);
}

static bool is_key(const char *name)
{
	bool found = false;
	char key[32];

	for (int i = 0; i < n_sources && !found; i++) {
		char *text = read_file(sources[i]);

		for (const char *at = next_key(text, key); at != NULL && !found;
				at = next_key(at, key))
			found = strcmp(key, name) == 0;
		free(text);
	}
	return found;
}

static void test_docs_tell_every_switch(void **state)
{
	char row[256];

	(void)state;
#define X(field, name, def, min, max)                                                         \
	snprintf(row, sizeof(row), "| `%s` | %d | %d to %d | ", name, (int)(def), (int)(min), \
			(int)(max));                                                          \
	if (!has_line(doc, row))                                                              \
		fail_msg("no line that begins %s", row);
	SL_SYSCTL_GLOBAL(X)
#undef X
#define SL_COMBINE_OWN "the port's own"
#define SL_COMBINE_AND "both"
#define SL_COMBINE_OR "either"
#define SL_COMBINE_MAX "the larger"
#define SL_COMBINE_MIN "the smaller"
#define X(field, family, name, def, min, max, combine)                                           \
	snprintf(row, sizeof(row), "| `net.ipv%d.conf.PORT.%s` | %d | %d to %d | %s | ", family, \
			name, def, min, max, SL_COMBINE_##combine);                              \
	if (!has_line(doc, row))                                                                 \
		fail_msg("no line that begins %s", row);
	SL_SYSCTL_PORT(X)
#undef X
}

static void test_docs_tell_every_switch_of_tracking(void **state)
{
	const char *name;
	long def, min, max;
	char row[256];

	(void)state;
	for (size_t i = 0; (name = ct_sysctl_name(i, &def)) != NULL; i++) {
		assert_int_equal(ct_sysctl_check(name, def, &min, &max), 0);
		snprintf(row, sizeof(row), "| `%s` | %ld | %ld to %ld | ", name, def, min, max);
		if (!has_line(doc, row))
			fail_msg("no line that begins %s", row);
	}
}

static void test_docs_tell_nothing_else(void **state)
{
	char name[128], port[SL_PORT_NAME_MAX];
	long min, max;

	(void)state;
	for (const char *at = strstr(doc, "\n| `"); at != NULL; at = strstr(at + 1, "\n| `")) {
		assert_int_equal(sscanf(at, "\n| `%127[^`]`", name), 1);
		if (strchr(name, '.') == NULL) {
			if (!is_key(name))
				fail_msg("'%s' is no key", name);
		} else if (sl_sysctl_check(name, 0, port, &min, &max) == -ENOENT
				&& ct_sysctl_check(name, 0, &min, &max) == -ENOENT) {
			fail_msg("'%s' is no switch", name);
		}
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_docs_tell_every_key),
		cmocka_unit_test(test_docs_tell_every_switch),
		cmocka_unit_test(test_docs_tell_every_switch_of_tracking),
		cmocka_unit_test(test_docs_tell_nothing_else),
	};
	int status;

	if (argc < 3) {
		fprintf(stderr, "usage: docs_test CONFIG.md SOURCE...\n");
		return 2;
	}
	doc = read_file(argv[1]);
	sources = argv + 2;
	n_sources = argc - 2;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	free(doc);
	return status;
}
