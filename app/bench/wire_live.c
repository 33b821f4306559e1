/* SPDX-License-Identifier: BSD-3-Clause */
/* Real traffic between hosts of its own, through the kernel and through sluice. */
#include "app/bench/commands.h"
#include "app/bench/machine.h"
#include "app/bench/options.h"
#include "app/bench/wire_report.h"
#include "app/sluice/exit.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS 2.0

static const char usage[] =
		"usage: sluice-bench live [OPTION...]\n"
		"\n"
		"A client, a router and a server in namespaces of their own: ping, TCP, UDP and messages\n"
		"of many sizes, once through the kernel and once through sluice on AF_XDP and AF_PACKET.\n"
		"\n"
		"  --time S          seconds of each test (1 to 60; 2)\n"
		"  --rules SCENARIO  with this scenario's rules in the router\n"
		"  --json FILE       the figures\n";

static const struct option long_options[] = {
	{ "time", required_argument, NULL, 't' },
	{ "rules", required_argument, NULL, 'r' },
	{ "json", required_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct live_options {
	double seconds;
	const char *rules, *json;
};

static void progress(const char *router, const char *test)
{
	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s%s%s", router, test[0] == '\0' ? "" : ": ", test);
	fflush(stderr);
}

/* a test that fails says so, and the others go on */
static void note(struct wire_result *r, const char *why)
{
	if (r->fault[0] == '\0')
		snprintf(r->fault, sizeof(r->fault), "%s", why);
}

void wire_measure(enum wire_router router, const struct ruleset *rules, double seconds,
		struct wire_result *r)
{
	const char *name = wire_router_names[router];
	char why[SIDE_TEXT_MAX];
	struct wire_net n;

	progress(name, "hosts");
	if (wire_create(&n, router, rules, r->skipped) < 0)
		return;
	progress(name, "ping");
	if (!wire_measure_ping(&n, seconds, &r->ping, why))
		note(r, why);
	progress(name, "TCP");
	if (!wire_measure_stream(&n, false, seconds, &r->tcp, why))
		note(r, why);
	progress(name, "UDP");
	if (!wire_measure_stream(&n, true, seconds, &r->udp, why))
		note(r, why);
	progress(name, "messages");
	if (!wire_measure_messages(&n, 2 * seconds, r->message_us, why))
		note(r, why);
	wire_destroy(&n);
	progress("", "");
}

/* -1: go on, or the status to exit with */
static int read_options(int argc, char **argv, struct live_options *o)
{
	int option;
	char *end;

	*o = (struct live_options){ .seconds = SECONDS };
	while ((option = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (option) {
		case 't':
			o->seconds = strtod(optarg, &end);
			if (end == optarg || *end != '\0'
					|| !(o->seconds >= 1 && o->seconds <= 60)) {
				fprintf(stderr,
						"sluice-bench: --time: found '%s', expected a "
						"number from 1 to 60\n",
						optarg);
				return EXIT_INPUT;
			}
			break;
		case 'r':
			o->rules = optarg;
			break;
		case 'j':
			o->json = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_DONE;
		default:
			fputs("`sluice-bench live --help` shows the options\n", stderr);
			return EXIT_INPUT;
		}
	}
	if (optind == argc)
		return -1;
	fprintf(stderr, "sluice-bench: found '%s', expected options only\n", argv[optind]);
	return EXIT_INPUT;
}

static bool write_json(FILE *f, const struct wire_result *results)
{
	json_t *root = json_pack("{s:i, s:o, s:o}", "version", 1, "machine",
			machine_describe(options_default_core()), "live",
			wire_report_json(results));
	bool ok = root != NULL && json_dumpf(root, f, JSON_INDENT(1) | JSON_REAL_PRECISION(6)) == 0
			&& fputc('\n', f) != EOF;

	json_decref(root);
	return fclose(f) == 0 && ok;
}

static int measure_all(const struct ruleset *rules, const struct live_options *o, FILE *json)
{
	struct wire_result results[WIRE_ROUTER_NB];
	char why[SIDE_TEXT_MAX];
	int status = EXIT_DONE;

	memset(results, 0, sizeof(results));
	if (wire_prepare(why) < 0) {
		fprintf(stderr, "sluice-bench: %s\n", why);
		return EXIT_FAILED;
	}
	for (unsigned int i = 0; i < WIRE_ROUTER_NB; i++) {
		wire_measure((enum wire_router)i, rules, o->seconds, &results[i]);
		if (results[i].fault[0] != '\0')
			status = EXIT_FAILED;
	}
	wire_report_text(results, stdout);
	if (json != NULL && !write_json(json, results)) {
		fprintf(stderr, "sluice-bench: %s: %s\n", o->json, strerror(errno));
		status = EXIT_FAILED;
	}
	return status;
}

int live_main(int argc, char **argv)
{
	struct scenario s = { 0 };
	struct live_options o;
	char path[PATH_MAX];
	FILE *json = NULL;
	int status = read_options(argc, argv, &o);

	if (status >= 0)
		return status;
	if (o.rules != NULL) {
		scenario_path(o.rules, path, sizeof(path));
		if (scenario_read(path, &s, stderr) < 0)
			return EXIT_INPUT;
	}
	/* while the path still means what it means to the user */
	if (o.json != NULL && (json = fopen(o.json, "we")) == NULL) {
		fprintf(stderr, "sluice-bench: %s: %s\n", o.json, strerror(errno));
		scenario_free(&s);
		return EXIT_INPUT;
	}
	status = measure_all(&s.rules, &o, json);
	scenario_free(&s);
	return status;
}
