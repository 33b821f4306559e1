/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/commands.h"
#include "app/bench/options.h"
#include "app/bench/report.h"
#include "app/bench/suite_run.h"
#include "app/sluice/exit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* before minutes are spent: can the file be written later? nothing is created */
static bool writable(const char *path)
{
	const char *slash;
	char dir[4096];

	if (path == NULL || access(path, W_OK) == 0)
		return true;
	slash = strrchr(path, '/');
	snprintf(dir, sizeof(dir), "%.*s", slash == NULL ? 1 : (int)(slash + 1 - path),
			slash == NULL ? "." : path);
	if (errno == ENOENT && access(dir, W_OK | X_OK) == 0)
		return true;
	fprintf(stderr, "sluice-bench: %s: %s\n", path, strerror(errno));
	return false;
}

static bool has_fault(const struct result *r)
{
	for (unsigned int i = 0; i < r->n; i++)
		for (unsigned int k = 0; k < r->scenarios[i].n_sides; k++)
			if (r->scenarios[i].sides[k].fault[0] != '\0')
				return true;
	return false;
}

int run_main(int argc, char **argv)
{
	struct result r = { 0 };
	struct options o;
	struct suite suite;
	int status = options_read(argc, argv, &o);

	if (status >= 0)
		return status;
	if (!writable(o.json) || !writable(o.html)
			|| suite_load(o.names, o.choice, &suite, stderr) < 0)
		return EXIT_INPUT;
	status = suite_run(&suite, &o, &r) ? EXIT_DONE : EXIT_FAILED;
	report_text(&r, stdout);
	if ((o.json != NULL && !report_write(o.json, &r, REPORT_JSON))
			|| (o.html != NULL && !report_write(o.html, &r, REPORT_HTML))
			|| has_fault(&r) || r.refused)
		status = EXIT_FAILED;
	suite_free(&suite);
	result_free(&r);
	return status;
}
