/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions that others have asked of Linux routers, with what they published beside what this machine
 * says. Their machines, kernels and packets were others: compare the shapes, not the figures.
 */
#include "app/bench/commands.h"
#include "app/bench/options.h"
#include "app/bench/report.h"
#include "app/bench/suite_run.h"
#include "app/bench/wire.h"
#include "app/sluice/exit.h"

#include <stdio.h>
#include <string.h>

#define LINES_MAX 4
#define PING_S 2.0

/* in what a rate is told */
enum unit {
	UNIT_MBIT, /* of frames, Mbit/s */
	UNIT_GBIT,
	UNIT_KPPS, /* 1,000 packets/s */
};

struct line {
	const char *what;
	const char *scenario;
	double published; /* 0: none */
};

struct experiment {
	const char *name;
	const char *question;
	const char *published; /* by whom, of what; NULL: by nobody that we know of */
	enum unit unit;
	bool pings; /* forward and the last line's rules, by real traffic */
	double pings_us[2]; /* published, without and with */
	struct line lines[LINES_MAX];
	const char *missing; /* what cannot be run; NULL: all can */
};

static const struct experiment experiments[] = {
	{
			.name = "idle-hooks",
			.question = "What do tables cost in which there is no rule?",
			.published = "2008, a router's throughput, modules of iptables merely loaded",
			.unit = UNIT_MBIT,
			.lines = {
					{ "no table", "forward", 50 },
					{ "empty raw, mangle, nat, filter", "idle-hooks", 20 },
					{ "no table, tcpdump to /dev/null", "forward-tap", 0 },
			},
	},
	{
			.name = "ten-thousand-rules",
			.question = "What do 10,000 rules cost that do not match?",
			.published = "throughput and ping, without rules and with them",
			.unit = UNIT_GBIT,
			.pings = true,
			.pings_us = { 258, 427 },
			.lines = {
					{ "no rule", "forward-1500", 10.6 },
					{ "10,000 rules", "linear-10k-1500", 5.33 },
			},
	},
	{
			.name = "hmark-conntrack",
			.question = "What does connection tracking cost beside HMARK?",
			.published = "throughput without tracking, with it loaded, with rules",
			.unit = UNIT_MBIT,
			.lines = {
					{ "HMARK", "hmark-conntrack-none", 70.0 },
					{ "HMARK, tracking loaded", "hmark-conntrack-loaded", 65.4 },
					{ "HMARK, tracking and rules", "hmark-conntrack-rules", 64.9 },
			},
	},
	{
			.name = "strings",
			.question = "What do more texts cost that packets of 1,400 bytes are searched for?",
			.unit = UNIT_KPPS,
			.lines = {
					{ "1 text", "string-1-1400", 0 },
					{ "10 texts", "string-10-1400", 0 },
					{ "100 texts", "string-100-1400", 0 },
			},
	},
	{
			.name = "nat-or-not",
			.question = "How many new TCP connections a second?",
			.published = "110,000 SYN/s, with and without rules and NAT",
			.unit = UNIT_KPPS,
			.lines = {
					{ "routing alone", "syn", 0 },
					{ "rules with state", "syn-stateful", 0 },
					{ "NAT", "syn-masquerade", 0 },
			},
			.missing = "two cores: a side is measured on one core, so that line cannot be run "
				   "yet",
	},
};

static const struct experiment *find(const char *name)
{
	for (size_t i = 0; i < sizeof(experiments) / sizeof(experiments[0]); i++)
		if (strcmp(experiments[i].name, name) == 0)
			return &experiments[i];
	return NULL;
}

static const struct result_scenario *scenario_of(const struct result *r, const char *name)
{
	for (unsigned int i = 0; i < r->n; i++)
		if (strcmp(r->scenarios[i].name, name) == 0)
			return &r->scenarios[i];
	return NULL;
}

/* the kernel's: the first back end, which is legacy or plain; ours: the fastest engine */
static const struct result_side *side_of(const struct result_scenario *s, bool ours)
{
	const struct result_side *best = NULL;

	for (unsigned int i = 0; s != NULL && i < s->n_sides; i++) {
		const struct result_side *side = &s->sides[i];

		if (side->ours != ours || !result_measured(side))
			continue;
		if (best == NULL || (ours && side->ns.median < best->ns.median))
			best = side;
	}
	return best;
}

static double rate(const struct result_scenario *s, const struct result_side *side, enum unit unit)
{
	double per_s = 1e9 / side->ns.median;

	switch (unit) {
	case UNIT_MBIT:
		return per_s * s->traffic.size * 8 / 1e6;
	case UNIT_GBIT:
		return per_s * s->traffic.size * 8 / 1e9;
	case UNIT_KPPS:
		break;
	}
	return per_s / 1e3;
}

/* a rate, and its part of the first line's */
static void put(double value, double first)
{
	if (value <= 0)
		printf("%12s %7s", "-", "");
	else if (first <= 0)
		printf("%12.4g %7s", value, "");
	else
		printf("%12.4g %5.0f %%", value, 100 * value / first);
}

static void put_noise(const struct result_side *side)
{
	if (side != NULL && side->spread > STATS_SPREAD_MAX)
		printf("~");
	else
		printf(" ");
}

static void put_lines(const struct experiment *e, const struct result *r)
{
	static const char *const units[] = { "Mbit/s", "Gbit/s", "1,000/s" };
	double first[2] = { 0 };

	printf("%-34s %20s %20s  %20s\n%-34s %12s %7s %12s %7s  %12s\n", "", "published", "kernel",
			"sluice", "", units[e->unit], "", units[e->unit], "", units[e->unit]);
	for (unsigned int i = 0; i < LINES_MAX && e->lines[i].what != NULL; i++) {
		const struct line *l = &e->lines[i];
		const struct result_scenario *s = scenario_of(r, l->scenario);

		printf("%-34s ", l->what);
		put(l->published, e->lines[0].published);
		for (unsigned int ours = 0; ours < 2; ours++) {
			const struct result_side *side = side_of(s, ours == 1);
			double value = side == NULL ? 0 : rate(s, side, e->unit);

			if (i == 0)
				first[ours] = value;
			put(value, first[ours]);
			put_noise(side);
		}
		putchar('\n');
	}
}

static void put_notes(const struct experiment *e, const struct result *r)
{
	for (unsigned int i = 0; i < r->n; i++) {
		const struct result_scenario *s = &r->scenarios[i];

		if (s->skipped[0] != '\0')
			printf("%s: cannot be run: %s\n", s->name, s->skipped);
		for (unsigned int k = 0; s->skipped[0] == '\0' && k < s->n_notes; k++)
			printf("%s: %s\n", s->name, s->notes[k]);
	}
	if (e->missing != NULL)
		printf("%s\n", e->missing);
}

/* there and back between hosts, without rules and with those of the last line */
static void put_pings(const struct experiment *e, const struct suite *suite)
{
	static const enum wire_router routers[] = { WIRE_KERNEL, WIRE_AF_XDP };
	static const struct ruleset none = { .kind = RULES_NONE };
	struct wire_ping pings[2][2];
	char why[2 * SIDE_TEXT_MAX] = "", one[SIDE_TEXT_MAX];
	const struct ruleset *rules[] = { &none, &none };

	for (unsigned int i = 0; i < suite->n; i++)
		if (strcmp(suite->scenarios[i].name, e->lines[1].scenario) == 0)
			rules[1] = &suite->scenarios[i].rules;
	memset(pings, 0, sizeof(pings));
	if (wire_prepare(why) == 0) {
		for (unsigned int i = 0; i < 4; i++) {
			struct wire_net n;

			if (wire_create(&n, routers[i % 2], rules[i / 2], one) < 0) {
				snprintf(why, sizeof(why), "%s: %s",
						wire_router_names[routers[i % 2]], one);
				continue;
			}
			if (!wire_measure_ping(&n, PING_S, &pings[i / 2][i % 2], one))
				snprintf(why, sizeof(why), "%s", one);
			wire_destroy(&n);
		}
	}
	for (unsigned int i = 0; i < 2; i++) {
		printf("ping, us, median: %-16s ", e->lines[i].what);
		put(e->pings_us[i], e->pings_us[0]);
		for (unsigned int k = 0; k < 2; k++) {
			put(pings[i][k].median_us, pings[0][k].median_us);
			putchar(' ');
		}
		putchar('\n');
	}
	printf("  (sluice on AF_XDP between veths, which are the kernel's)\n%s%s", why,
			why[0] == '\0' ? "" : "\n");
}

static int run(const struct experiment *e, const struct options *o)
{
	const char *names[LINES_MAX + 1] = { NULL };
	struct result r = { 0 };
	struct suite suite;
	int status;

	for (unsigned int i = 0; i < LINES_MAX && e->lines[i].what != NULL; i++)
		names[i] = e->lines[i].scenario;
	if (suite_load(names, SCENARIO_NAMED, &suite, stderr) < 0)
		return EXIT_FAILED;
	status = suite_run(&suite, o, &r) ? EXIT_DONE : EXIT_FAILED;
	printf("%s\n", e->question);
	if (e->published != NULL)
		printf("Published: %s.\n", e->published);
	putchar('\n');
	put_lines(e, &r);
	if (e->pings)
		put_pings(e, &suite);
	putchar('\n');
	put_notes(e, &r);
	if (o->json != NULL && !report_write(o->json, &r, REPORT_JSON))
		status = EXIT_FAILED;
	suite_free(&suite);
	result_free(&r);
	return status;
}

static void list(FILE *out)
{
	fputs("usage: sluice-bench experiment NAME [OPTION of run...]\n\n", out);
	for (size_t i = 0; i < sizeof(experiments) / sizeof(experiments[0]); i++)
		fprintf(out, "  %-20s %s\n", experiments[i].name, experiments[i].question);
}

int experiment_main(int argc, char **argv)
{
	const struct experiment *e;
	struct options o;
	int status;

	if (argc < 2 || argv[1][0] == '-') {
		bool help = argc >= 2 && strcmp(argv[1], "--help") == 0;

		list(help ? stdout : stderr);
		return help ? EXIT_DONE : EXIT_INPUT;
	}
	e = find(argv[1]);
	if (e == NULL) {
		fprintf(stderr, "sluice-bench: no experiment '%s'\n", argv[1]);
		list(stderr);
		return EXIT_INPUT;
	}
	status = options_read(argc - 1, argv + 1, &o);
	if (status >= 0)
		return status;
	if (o.names[0] != NULL || o.html != NULL) {
		fprintf(stderr, "sluice-bench: experiment: found %s, expected options but --html\n",
				o.html != NULL ? "--html" : o.names[0]);
		return EXIT_INPUT;
	}
	/* as if the scenarios had been named; the kernel's line says something by itself */
	if (o.seconds <= 0)
		o.seconds = 1;
	o.kernel_anyway = true;
	return run(e, &o);
}
