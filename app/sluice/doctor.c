/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/doctor.h"

#include "app/sluice/doctor_report.h"
#include "app/sluice/exit.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char usage[] =
		"usage: sluice doctor [-c FILE] [-j]\n"
		"\n"
		"Looks at what this machine has for sluice and says what it lacks and what mends it.\n"
		"Changes nothing. Ends with 1 if something without which sluice cannot run is missing.\n"
		"\n"
		"  -c, --config FILE   also what this configuration asks for\n"
		"  -j, --json          the findings as JSON\n"
		"  -h, --help          this text\n";

static const char *const words[] = {
	[FINDING_OK] = "ok",
	[FINDING_WARN] = "warn",
	[FINDING_FAIL] = "fail",
};

void doctor_found(json_t *report, enum finding status, const char *check, const char *mend,
		const char *format, ...)
{
	json_t *o = json_object();
	char found[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(found, sizeof(found), format, args);
	va_end(args);
	json_object_set_new(o, "check", json_string(check));
	json_object_set_new(o, "status", json_string(words[status]));
	json_object_set_new(o, "found", json_string(found));
	if (mend != NULL)
		json_object_set_new(o, "do", json_string(mend));
	json_array_append_new(report, o);
}

static const char *text(const json_t *o, const char *key)
{
	return json_string_value(json_object_get(o, key));
}

static unsigned int count(const json_t *report, enum finding status)
{
	unsigned int n = 0;

	for (size_t i = 0; i < json_array_size(report); i++)
		n += strcmp(text(json_array_get(report, i), "status"), words[status]) == 0;
	return n;
}

static void print(const json_t *report)
{
	for (size_t i = 0; i < json_array_size(report); i++) {
		const json_t *o = json_array_get(report, i);

		printf("%-4s  %-12s  %s\n", text(o, "status"), text(o, "check"), text(o, "found"));
		if (text(o, "do") != NULL)
			printf("%20s-> %s\n", "", text(o, "do"));
	}
	printf("%u ok, %u warnings, %u failures\n", count(report, FINDING_OK),
			count(report, FINDING_WARN), count(report, FINDING_FAIL));
}

int doctor_main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	const char *conf = NULL;
	json_t *report;
	bool json = false;
	int opt, status;

	while ((opt = getopt_long(argc, argv, "c:jh", options, NULL)) != -1) {
		switch (opt) {
		case 'c':
			conf = optarg;
			break;
		case 'j':
			json = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_DONE;
		default:
			fputs(usage, stderr);
			return EXIT_INPUT;
		}
	}
	if (optind != argc) {
		fputs(usage, stderr);
		return EXIT_INPUT;
	}
	report = json_array();
	doctor_machine(report);
	doctor_devices(report);
	if (conf != NULL)
		doctor_conf(report, conf);
	if (json) {
		json_dumpf(report, stdout, JSON_INDENT(2));
		putchar('\n');
	} else {
		print(report);
	}
	status = count(report, FINDING_FAIL) > 0 ? EXIT_FAILED : EXIT_DONE;
	json_decref(report);
	return fflush(stdout) == 0 ? status : EXIT_FAILED;
}
