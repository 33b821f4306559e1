/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `sluice check` on input that is no configuration: exit status 2, nothing on its output, and one
 * line of error that names file, line and column. Usage: check_test SLUICE GOOD.yaml...
 */
#include "bad_conf.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define CASES_MAX 256

static const char *sluice;
static char dir[] = "/tmp/sluice-check.XXXXXX";
static char conf[64], rules[64], out[64], err[64];

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void read_file(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, size - 1, f);
	text[n] = '\0';
	fclose(f);
}

/* Return: the exit status of `sluice check -c @path`; its output is in the files @out and @err */
static int check(const char *path)
{
	char *argv[] = { strdup(sluice), strdup("check"), strdup("-c"), strdup(path), NULL };
	posix_spawn_file_actions_t files;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_addopen(&files, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(posix_spawn(&pid, sluice, &files, NULL, argv, environ), 0);
	posix_spawn_file_actions_destroy(&files);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	for (unsigned int i = 0; argv[i] != NULL; i++)
		free(argv[i]);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void assert_refused(const char *path, const char *error)
{
	char expected[1024], text[2048];
	int status = check(path);

	snprintf(expected, sizeof(expected), "%s%s\n", path, error);
	read_file(err, text, sizeof(text));
	assert_string_equal(text, expected);
	read_file(out, text, sizeof(text));
	assert_string_equal(text, "");
	assert_int_equal(status, 2);
}

static void test_bad_conf(void **state)
{
	const struct bad_conf *bad = *state;

	write_file(conf, bad->text);
	assert_refused(conf, bad->error);
}

static void test_file_is_missing(void **state)
{
	(void)state;
	unlink(conf);
	assert_refused(conf, ": No such file or directory");
}

static void test_file_is_a_directory(void **state)
{
	(void)state;
	assert_refused(dir, ": Is a directory");
}

static void test_good_conf(void **state)
{
	char text[2048];
	int status = check(*state);

	read_file(err, text, sizeof(text));
	assert_string_equal(text, "");
	read_file(out, text, sizeof(text));
	assert_non_null(strstr(text, ": ok: "));
	assert_int_equal(status, 0);
}

/* what is worth to be known of a rule that is taken stands behind its line */
static void test_rules_when_patterns_are_searched_for_says_how(void **state)
{
	char text[16384], *at = text;

	(void)state;
	at += sprintf(at, "*filter\n-A FORWARD -m string --string a --algo bm\n");
	for (int i = 0; i < 33; i++)
		at += sprintf(at, "-A FORWARD -m regex --regex b --from %d\n", i);
	sprintf(at, "COMMIT\n");
	write_file(rules, text);
	snprintf(text, sizeof(text),
			"ports: [{name: a, device: net_null0}]\nfirewall: {iptables: %s}\n", rules);
	write_file(conf, text);
	assert_int_equal(check(conf), 0);
	read_file(out, text, sizeof(text));
	assert_non_null(strstr(
			text, "/rules:2: exact: -A FORWARD -m string --string a --algo bm\n"));
	assert_non_null(strstr(text, "/rules:3: exact: -A FORWARD -m regex --regex b --from 0\n"));
	assert_non_null(strstr(text,
			"/rules:3: note: regex is sluice's own: the kernel has no such match\n"));
	assert_non_null(strstr(text,
			"/rules:35: note: regex: searched by itself, not together with others: more "
			"than 32 stretches of a packet are named; regex is sluice's own"));
	assert_non_null(strstr(text,
			"/rules: note: table filter: 33 of 34 patterns are searched for together, by "
			"32 Hyperscan databases\n"));
	read_file(err, text, sizeof(text));
	assert_non_null(strstr(text, "/rules:35: regex: searched by itself"));
}

static int make_dir(void **state)
{
	(void)state;
	if (mkdtemp(dir) == NULL)
		return -1;
	snprintf(conf, sizeof(conf), "%s/sluice.yaml", dir);
	snprintf(rules, sizeof(rules), "%s/rules", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
	snprintf(err, sizeof(err), "%s/err", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	unlink(conf);
	unlink(rules);
	unlink(out);
	unlink(err);
	return rmdir(dir);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[CASES_MAX] = {
		cmocka_unit_test(test_file_is_missing),
		cmocka_unit_test(test_file_is_a_directory),
		cmocka_unit_test(test_rules_when_patterns_are_searched_for_says_how),
	};
	size_t n = 3;

	if (argc < 3) {
		fprintf(stderr, "usage: check_test SLUICE GOOD.yaml...\n");
		return 2;
	}
	sluice = argv[1];
	for (int i = 2; i < argc && n < CASES_MAX; i++)
		tests[n++] = (struct CMUnitTest){ argv[i], test_good_conf, NULL, NULL, argv[i] };
	for (const struct bad_conf *b = bad_confs; b->name != NULL && n < CASES_MAX; b++)
		tests[n++] = (struct CMUnitTest){ b->name, test_bad_conf, NULL, NULL,
			(void *)(uintptr_t)b };
	return _cmocka_run_group_tests("check", tests, n, make_dir, remove_dir);
}
