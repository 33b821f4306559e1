/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/commands.h"
#include "app/bench/suite.h"
#include "app/sluice/exit.h"

#include <stdio.h>
#include <string.h>

static void print_scenario(const struct scenario *s)
{
	const char *between = "";
	char kernel[64] = "";
	size_t n = 0;

	for (unsigned int i = 0; i < s->n_kernel && n < sizeof(kernel); i++) {
		n += (size_t)snprintf(kernel + n, sizeof(kernel) - n, "%s%s", between,
				backend_names[s->kernel[i]]);
		between = ", ";
	}
	printf("%c %-22s %-20s %s\n", "+* "[s->choice], s -> name, kernel, s -> title);
}

static const char usage[] = "usage: sluice-bench list\n";

int list_main(int argc, char **argv)
{
	struct suite suite;

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return EXIT_DONE;
	}
	if (argc > 1) {
		fputs(usage, stderr);
		return EXIT_INPUT;
	}
	if (suite_load(NULL, SCENARIO_NAMED, &suite, stderr) < 0)
		return EXIT_FAILED;
	for (unsigned int i = 0; i < suite.n; i++)
		print_scenario(&suite.scenarios[i]);
	printf("\n*: measured by `sluice-bench run` without names, +: by `run --quick` too\nfiles: %s\n",
			scenario_dir());
	suite_free(&suite);
	return EXIT_DONE;
}
