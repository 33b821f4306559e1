/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/report.h"

#include <errno.h>
#include <string.h>

bool report_write(const char *path, const struct result *r, enum report_form form)
{
	FILE *out = fopen(path, "we");
	bool ok = out != NULL;

	if (ok && form == REPORT_JSON) {
		json_t *root = report_to_json(r);

		ok = root != NULL
				&& json_dumpf(root, out, JSON_INDENT(1) | JSON_REAL_PRECISION(9))
						== 0
				&& fputc('\n', out) != EOF;
		json_decref(root);
	} else if (ok) {
		report_html(r, out);
	}
	if (out != NULL && (ferror(out) != 0 || fclose(out) != 0))
		ok = false;
	if (!ok)
		fprintf(stderr, "sluice-bench: %s: %s\n", path, strerror(errno));
	return ok;
}
