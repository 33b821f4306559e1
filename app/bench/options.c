/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/options.h"

#include "app/bench/engine_check.h"
#include "app/bench/measure.h"
#include "app/sluice/exit.h"

#include <getopt.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 1.0
#define SECONDS_MIN 0.03 /* of a side, however many there are */
#define QUICK_SECONDS 0.15
/* what a run without names takes for measuring alone; rules and processes take about as long again */
#define BUDGET_S 35.0
#define QUICK_BUDGET_S 2.0
#define ROUNDS 11

static const char usage[] =
		"usage: sluice-bench run [OPTION...] [SCENARIO...]\n"
		"\n"
		"Measures scenarios: those that are named, or about a minute's. A scenario of one's\n"
		"own is named by the path of its file; `sluice-bench list` shows the others.\n"
		"\n"
		"  --all           all of them, some minutes\n"
		"  --rounds N      rounds, the sides in turns (7 to 101; 11)\n"
		"  --time S        seconds that one side of one scenario is measured (0.01 to 3600; 1,\n"
		"                  without names so that all take about a minute)\n"
		"  --quick         few and short rounds, unless --rounds and --time say more\n"
		"  --flows N       in place of the scenario's\n"
		"  --size N        bytes of a frame, in place of the scenario's (64 to 1514)\n"
		"  --core N        the core under test (the last one)\n"
		"  --kernel-only   leave sluice out\n"
		"  --engine FILE   also the classifier engines of a plug-in, wherever rules are looked up;\n"
		"                  first every answer is compared with linear's\n"
		"  --json FILE     every round, and what follows from them\n"
		"  --html FILE     one page to look at\n";

unsigned int options_default_core(void)
{
	unsigned int last = 0;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		for (unsigned int i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, &set))
				last = i;
	return last;
}

static bool may_use(unsigned int core)
{
	cpu_set_t set;

	return core < CPU_SETSIZE && sched_getaffinity(0, sizeof(set), &set) == 0
			&& CPU_ISSET(core, &set);
}

/* false after a line about what was expected */
static bool number(const char *option, const char *text, double min, double max, bool whole,
		double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (end != text && *end == '\0' && *out >= min && *out <= max
			&& (!whole || *out == (double)(long)*out))
		return true;
	fprintf(stderr, "sluice-bench: --%s: found '%s', expected a %snumber from %g to %.10g\n",
			option, text, whole ? "whole " : "", min, max);
	return false;
}

enum {
	OPTION_ROUNDS = 1,
	OPTION_TIME,
	OPTION_QUICK,
	OPTION_ALL,
	OPTION_FLOWS,
	OPTION_SIZE,
	OPTION_CORE,
	OPTION_KERNEL_ONLY,
	OPTION_ENGINE,
	OPTION_JSON,
	OPTION_HTML,
	OPTION_HELP,
};

static const struct option long_options[] = {
	{ "rounds", required_argument, NULL, OPTION_ROUNDS },
	{ "time", required_argument, NULL, OPTION_TIME },
	{ "quick", no_argument, NULL, OPTION_QUICK },
	{ "all", no_argument, NULL, OPTION_ALL },
	{ "flows", required_argument, NULL, OPTION_FLOWS },
	{ "size", required_argument, NULL, OPTION_SIZE },
	{ "core", required_argument, NULL, OPTION_CORE },
	{ "kernel-only", no_argument, NULL, OPTION_KERNEL_ONLY },
	{ "engine", required_argument, NULL, OPTION_ENGINE },
	{ "json", required_argument, NULL, OPTION_JSON },
	{ "html", required_argument, NULL, OPTION_HTML },
	{ "help", no_argument, NULL, OPTION_HELP },
	{ NULL, 0, NULL, 0 },
};

/* values of options that take a number; 0: not given */
struct numbers {
	double rounds, seconds, flows, size, core;
	bool all, quick, has_core, help;
};

static bool read_option(int option, struct options *o, struct numbers *n)
{
	switch (option) {
	case OPTION_ROUNDS:
		return number("rounds", optarg, MEASURE_ROUNDS_MIN, STATS_ROUNDS_MAX, true,
				&n->rounds);
	case OPTION_TIME:
		return number("time", optarg, 0.01, 3600, false, &n->seconds);
	case OPTION_FLOWS:
		return number("flows", optarg, 1, TRAFFIC_FLOWS_MAX, true, &n->flows);
	case OPTION_SIZE:
		return number("size", optarg, TRAFFIC_SIZE_MIN, TRAFFIC_SIZE_MAX, true, &n->size);
	case OPTION_CORE:
		n->has_core = true;
		return number("core", optarg, 0, CPU_SETSIZE - 1, true, &n->core);
	case OPTION_QUICK:
		n->quick = true;
		return true;
	case OPTION_ALL:
		n->all = true;
		return true;
	case OPTION_KERNEL_ONLY:
		o->kernel_only = true;
		return true;
	case OPTION_ENGINE:
		o->engine = optarg;
		return true;
	case OPTION_JSON:
		o->json = optarg;
		return true;
	case OPTION_HTML:
		o->html = optarg;
		return true;
	case OPTION_HELP:
		n->help = true;
		return true;
	default:
		return false;
	}
}

double options_seconds(const struct options *o, unsigned int sides)
{
	double seconds = sides == 0 ? 0 : o->budget_s / sides;

	if (o->seconds > 0)
		return o->seconds;
	return seconds < SECONDS_MIN ? SECONDS_MIN : seconds > SECONDS ? SECONDS : seconds;
}

int options_read(int argc, char **argv, struct options *o)
{
	struct numbers n = { 0 };
	int option;

	memset(o, 0, sizeof(*o));
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (!read_option(option, o, &n)) {
			fputs("`sluice-bench run --help` shows the options\n", stderr);
			return EXIT_INPUT;
		}
	}
	if (n.help) {
		fputs(usage, stdout);
		return EXIT_DONE;
	}
	o->names = (const char *const *)argv + optind;
	o->rounds = n.rounds > 0 ? (unsigned int)n.rounds : n.quick ? MEASURE_ROUNDS_MIN : ROUNDS;
	if (n.seconds > 0)
		o->seconds = n.seconds;
	else if (n.all || o->names[0] != NULL)
		o->seconds = n.quick ? QUICK_SECONDS : SECONDS;
	o->choice = n.all ? SCENARIO_NAMED : n.quick ? SCENARIO_QUICK : SCENARIO_DEFAULT;
	o->budget_s = n.quick ? QUICK_BUDGET_S : BUDGET_S;
	o->flows = (uint32_t)n.flows;
	o->size = (uint16_t)n.size;
	o->core = n.has_core ? (unsigned int)n.core : options_default_core();
	if (n.all && o->names[0] != NULL) {
		fprintf(stderr, "sluice-bench: --all beside '%s', expected one of them\n",
				o->names[0]);
		return EXIT_INPUT;
	}
	if (o->engine != NULL && !engine_check_load(o->engine))
		return EXIT_INPUT;
	if (may_use(o->core))
		return -1;
	fprintf(stderr, "sluice-bench: --core: found %u, expected a CPU that this process may use\n",
			o->core);
	return EXIT_INPUT;
}
