/* SPDX-License-Identifier: BSD-3-Clause */
/* One result, three forms. */
#pragma once

#include "app/bench/result.h"

#include <stdio.h>

/* a table for a terminal, notes below */
void report_text(const struct result *r, FILE *out);

/* the result as JSON (docs/method.md has the format); to be freed with json_decref() */
json_t *report_to_json(const struct result *r);

/**
 * report_from_json() - read what report_to_json() made
 *
 * Figures are computed again from the rounds.
 * Return: 0 (free with result_free()), or -EINVAL and in @why what was expected.
 */
int report_from_json(const json_t *root, struct result *out, char *why, size_t size);

enum report_form {
	REPORT_JSON,
	REPORT_HTML,
};

/* a whole file; false after a line on stderr */
bool report_write(const char *path, const struct result *r, enum report_form form);

/* one page that needs nothing else */
void report_html(const struct result *r, FILE *out);
