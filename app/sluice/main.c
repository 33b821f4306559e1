/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/check.h"
#include "app/sluice/doctor.h"
#include "app/sluice/exit.h"
#include "app/sluice/replay.h"
#include "app/sluice/run.h"

#include <rte_common.h>

#include <stdio.h>
#include <string.h>

static const char usage[] =
		"usage: sluice COMMAND [OPTION...]\n"
		"\n"
		"  run     route packets between DPDK ports\n"
		"  check   read a configuration and everything it names, touch nothing\n"
		"  replay  route packets from capture files to capture files\n"
		"  doctor  what this machine lacks, and what mends it\n"
		"\n"
		"`sluice COMMAND --help` says more; `sluice --version` prints the version.\n";

/* each takes its own name as argv[0] and returns the exit status */
static const struct {
	const char *name;
	int (*main)(int argc, char **argv);
} programs[] = {
	{ "run", run_main },
	{ "check", check_main },
	{ "replay", replay_main },
	{ "doctor", doctor_main },
};

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs(usage, stderr);
		return EXIT_INPUT;
	}
	for (unsigned int i = 0; i < RTE_DIM(programs); i++) {
		if (strcmp(argv[1], programs[i].name) == 0)
			return programs[i].main(argc - 1, argv + 1);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		fputs(usage, stdout);
		return EXIT_DONE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		puts("sluice " SLUICE_VERSION);
		return EXIT_DONE;
	}
	fprintf(stderr, "sluice: no command '%s'\n%s", argv[1], usage);
	return EXIT_INPUT;
}
