/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's own iptables as oracle for the reader and printer:
 *  1. what we print of a text is what iptables-legacy-save prints once iptables-legacy-restore took it;
 *  2. what we print is taken by iptables-legacy-restore, and saved as the same text.
 * For random rules with every option of every match and target, and for every dump in --dumps DIR.
 *
 *   ipt_roundtrip [--seed N] [--rules PER_TEMPLATE] [--dumps DIR]
 *
 * Runs in a network namespace of its own. Without root or iptables-legacy: says so, exit 77.
 */
#include "ipt_gen.h"

#include <dirent.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKIP 77

static char dir[] = "/tmp/ipt_roundtrip.XXXXXX";
static unsigned int failures;

static const char *program(enum ipt_family family)
{
	return family == IPT_V4 ? "iptables-legacy" : "ip6tables-legacy";
}

static int __attribute__((format(printf, 1, 2))) run(const char *fmt, ...)
{
	char command[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(command, sizeof(command), fmt, ap);
	va_end(ap);
	return system(command);
}

/* The lines of a file below dir that are no remarks; free() it. */
static char *read_file(const char *name)
{
	char path[256], *text = NULL, *line = NULL;
	size_t size = 0, cap = 0;
	FILE *f, *out;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	out = open_memstream(&text, &size);
	while (f != NULL && getline(&line, &cap, f) >= 0)
		if (line[0] != '#')
			fputs(line, out);
	free(line);
	if (f != NULL)
		fclose(f);
	fclose(out);
	return text;
}

static void first_difference(const char *what, const char *a, const char *b)
{
	int line = 1;

	while (*a != '\0' && *b != '\0') {
		size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");

		if (la != lb || memcmp(a, b, la) != 0)
			break;
		a += la + 1;
		b += lb + 1;
		line++;
	}
	printf("%s, line %d of the saved text:\n  iptables: %.*s\n  sluice:   %.*s\n", what, line,
			(int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
	failures++;
}

/* Restore the file "name" with the kernel, save one table into "saved". */
static bool kernel_takes(
		enum ipt_family family, const char *table, const char *name, const char *saved)
{
	if (run("%s-restore -w -c < %s/%s 2> %s/errors", program(family), dir, name, dir) != 0
			&& run("%s-restore -w < %s/%s 2> %s/errors", program(family), dir, name,
					   dir)
					!= 0) {
		printf("%s-restore refuses %s:\n", program(family), name);
		fflush(stdout);
		run("grep -vE 'WARNING|^Try|^$' %s/errors; sed -n \"$(grep -oE 'line:? [0-9]+' %s/errors | tail -1 | "
		    "grep -oE '[0-9]+')p\" %s/%s",
				dir, dir, dir, name);
		failures++;
		return false;
	}
	return run("%s-save -c -t %s > %s/%s", program(family), table, dir, saved) == 0;
}

static void compare(enum ipt_family family, const struct ipt_ruleset *rs, const char *table,
		const char *what)
{
	char path[256], *ours, *theirs, *again;
	FILE *f;

	snprintf(path, sizeof(path), "%s/ours", dir);
	f = fopen(path, "w");
	ipt_print(f, rs, table, true);
	fclose(f);
	if (!kernel_takes(family, table, "in", "theirs"))
		return;
	ours = read_file("ours");
	theirs = read_file("theirs");
	if (strcmp(ours, theirs) != 0)
		first_difference(what, theirs, ours);
	if (kernel_takes(family, table, "ours", "again")) {
		again = read_file("again");
		if (strcmp(theirs, again) != 0)
			first_difference("our text, restored and saved", again, theirs);
		free(again);
	}
	free(ours);
	free(theirs);
}

static struct ipt_ruleset *load(enum ipt_family family, const char *what)
{
	char path[256];
	struct ipt_load args = { .path = path, .family = family, .counters = true };
	struct ipt_ruleset *rs = NULL;
	struct ipt_errors errors;

	snprintf(path, sizeof(path), "%s/in", dir);
	if (ipt_load(&args, &rs, &errors) < 0) {
		printf("%s: sluice refuses %zu lines, first %s\n", what, errors.total,
				errors.n > 0 ? errors.v[0].text : "?");
		failures++;
	}
	ipt_errors_free(&errors);
	return rs;
}

static void random_rules(
		enum ipt_family family, enum ipt_table_id table, uint32_t seed, unsigned int per)
{
	const char *name = ipt_table_name(table);
	struct ipt_ruleset *rs;
	char path[256], what[64];
	unsigned int n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/in", dir);
	f = fopen(path, "w");
	fprintf(f, "*%s\n:OUTPUT DROP [7:18446744073709551615]\n:user - [0:0]\n:gen - [0:0]\n:LOG2 - [0:0]\n",
			name);
	n = ipt_gen(f, family, table, seed, per);
	fputs("-A user -j LOG2\nCOMMIT\n", f);
	fclose(f);
	snprintf(what, sizeof(what), "IPv%d %s seed %u", family == IPT_V4 ? 4 : 6, name, seed);
	rs = load(family, what);
	if (rs != NULL) {
		compare(family, rs, name, what);
		printf("%s: %u rules\n", what, n);
	}
	ipt_ruleset_free(rs);
}

/* Sets that a dump needs, of the commonest kind. */
static void make_sets(void)
{
	run("grep -oE -- '--match-set [^ ]+' %s/in | awk '{print $2}' | sort -u | while read s; do "
	    "ipset -exist create $s hash:ip; done",
			dir);
}

static void one_dump(const char *folder, const char *name)
{
	enum ipt_family family = strstr(name, ".v6") != NULL ? IPT_V6 : IPT_V4;
	struct ipt_ruleset *rs;

	if (run("cp %s/%s %s/in", folder, name, dir) != 0)
		return;
	make_sets();
	rs = load(family, name);
	for (uint32_t i = 0; rs != NULL && i < rs->n_tables; i++)
		compare(family, rs, ipt_table_name(rs->tables[i].id), name);
	ipt_ruleset_free(rs);
}

static void dumps(const char *folder)
{
	struct dirent *e;
	DIR *d = opendir(folder);
	unsigned int n = 0;

	if (d == NULL) {
		printf("SKIPPED the dumps: no folder %s\n", folder);
		return;
	}
	while ((e = readdir(d)) != NULL) {
		const char *dot = strrchr(e->d_name, '.');

		if (dot == NULL || (strcmp(dot, ".v4") != 0 && strcmp(dot, ".v6") != 0))
			continue;
		one_dump(folder, e->d_name);
		n++;
	}
	closedir(d);
	printf("%u dumps\n", n);
}

int main(int argc, char **argv)
{
	unsigned int per = 20;
	uint32_t seed = 1;
	const char *folder = NULL;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--seed") == 0)
			seed = strtoul(argv[i + 1], NULL, 0);
		else if (strcmp(argv[i], "--rules") == 0)
			per = strtoul(argv[i + 1], NULL, 0);
		else if (strcmp(argv[i], "--dumps") == 0)
			folder = argv[i + 1];
	}
	if (geteuid() != 0 || unshare(CLONE_NEWNET) < 0
			|| run("command -v iptables-legacy-restore >/dev/null") != 0) {
		puts("SKIPPED: needs root and iptables-legacy");
		return SKIP;
	}
	if (mkdtemp(dir) == NULL) {
		perror(dir);
		return 1;
	}
	run("ipset create gen4 hash:ip; ipset create gen6 hash:ip family inet6");
	for (int family = 0; family < IPT_FAMILY_NB; family++)
		for (int table = 0; table < IPT_SECURITY; table++)
			random_rules(family, table, seed, per);
	if (folder != NULL)
		dumps(folder);
	run("rm -r %s", dir);
	printf("%u failures\n", failures);
	return failures > 0;
}
