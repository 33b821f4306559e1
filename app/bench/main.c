/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/commands.h"
#include "app/sluice/exit.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
		"usage: sluice-bench COMMAND [OPTION...]\n"
		"\n"
		"  list        the scenarios\n"
		"  run         measure them, the kernel and sluice in turns\n"
		"  experiment  what others have published, here\n"
		"  live        real traffic through the kernel and through sluice\n"
		"  compare     two results of run, A.json and B.json\n"
		"  selftest    is the method right? a second one beside it, and faults on purpose\n"
		"\n"
		"`sluice-bench COMMAND --help` says more; `sluice-bench --version` prints the version.\n";

static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} commands[] = {
	{ "list", list_main },
	{ "run", run_main },
	{ "experiment", experiment_main },
	{ "live", live_main },
	{ "compare", compare_main },
	{ "selftest", selftest_main },
};

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs(usage, stderr);
		return EXIT_INPUT;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].main(argc - 1, argv + 1);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		fputs(usage, stdout);
		return EXIT_DONE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("sluice-bench " SLUICE_VERSION);
		return EXIT_DONE;
	}
	fprintf(stderr, "sluice-bench: no command '%s'\n%s", argv[1], usage);
	return EXIT_INPUT;
}
