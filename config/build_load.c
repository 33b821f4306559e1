/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads one file of rules, refuses what this program has not got, and says so line by line. */
#include "classifier/set.h"
#include "config/build_priv.h"
#include "lib/conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct report_line {
	uint32_t line;
	char *text;
	char *why; /* NULL: exact */
	char *note; /* or NULL */
};

struct build_report {
	const char *path;
	struct report_line *v;
	size_t n, room;
	char *note; /* about all, a line each; or NULL */
	bool failed; /* out of memory */
};

struct build_report *build_report_new(const char *path)
{
	struct build_report *r = calloc(1, sizeof(*r));

	if (r != NULL)
		r->path = path;
	return r;
}

void build_report_free(struct build_report *r)
{
	if (r == NULL)
		return;
	for (size_t i = 0; i < r->n; i++) {
		free(r->v[i].text);
		free(r->v[i].why);
		free(r->v[i].note);
	}
	free(r->note);
	free(r->v);
	free(r);
}

/* ipt_line_fn */
static void take_line(void *arg, uint32_t line, const char *text, const char *why)
{
	struct build_report *r = arg;

	if (r->n == r->room) {
		size_t room = 2 * r->room + 64;
		struct report_line *v = realloc(r->v, room * sizeof(*v));

		if (v == NULL) {
			r->failed = true;
			return;
		}
		r->v = v;
		r->room = room;
	}
	r->v[r->n++] = (struct report_line){
		.line = line, .text = strdup(text), .why = why == NULL ? NULL : strdup(why)
	};
}

void build_report_refuse(struct build_report *r, uint32_t line, const char *why)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->v[i].line != line || r->v[i].why != NULL)
			continue;
		r->v[i].why = strdup(why);
		return;
	}
}

static void add_note(struct build_report *r, char **note, const char *text)
{
	char *both = NULL;

	if (asprintf(&both, "%s%s%s", *note == NULL ? "" : *note, *note == NULL ? "" : "; ", text)
			< 0) {
		r->failed = true;
		return;
	}
	free(*note);
	*note = both;
}

void build_report_note(void *arg, uint32_t line, const char *text)
{
	struct build_report *r = arg;

	if (line == 0)
		add_note(r, &r->note, text);
	for (size_t i = 0; line != 0 && i < r->n; i++)
		if (r->v[i].line == line) {
			add_note(r, &r->v[i].note, text);
			return;
		}
}

static bool is_rule(const char *text)
{
	return text != NULL && (text[0] == '-' || text[0] == '[');
}

void build_report_print(const struct build_report *r, FILE *f)
{
	size_t n_rules = 0, n_refused = 0;

	for (size_t i = 0; i < r->n; i++) {
		const struct report_line *l = &r->v[i];
		const char *text = l->text == NULL ? "" : l->text;

		n_rules += is_rule(text);
		n_refused += l->why != NULL;
		if (l->why != NULL)
			fprintf(f, "%s:%u: refused: %s: %s\n", r->path, l->line, l->why, text);
		else if (is_rule(text))
			fprintf(f, "%s:%u: exact: %s\n", r->path, l->line, text);
		if (l->note != NULL)
			fprintf(f, "%s:%u: note: %s\n", r->path, l->line, l->note);
	}
	if (r->note != NULL)
		fprintf(f, "%s: note: %s\n", r->path, r->note);
	fprintf(f, "%s: %zu rule lines, %zu lines refused%s\n", r->path, n_rules, n_refused,
			r->failed ? " (out of memory: not all are listed)" : "");
}

static void fill_caps(const struct ipt_exts *exts, struct ipt_caps *caps)
{
	for (unsigned int i = 0; i < IPT_M_NB; i++)
		caps->match[i] = exts->match[i] != NULL;
	for (unsigned int i = 0; i < IPT_T_NB; i++)
		caps->target[i] = exts->target[i] != NULL;
	caps->queue = true;
}

void build_first_error(const struct ipt_errors *errors, char *err, size_t err_size)
{
	if (errors->n == 0)
		snprintf(err, err_size, "out of memory");
	else if (errors->total > 1)
		snprintf(err, err_size, "%s (and %zu more)", errors->v[0].text, errors->total - 1);
	else
		snprintf(err, err_size, "%s", errors->v[0].text);
}

int build_load(const struct sl_firewall_args *args, const char *path, enum ipt_family family,
		struct ipt_sets *sets, struct build_report *report, struct ipt_ruleset **rs,
		char *err, size_t err_size)
{
	struct ipt_caps caps = { 0 };
	struct ipt_load load = {
		.path = path,
		.family = family,
		.caps = &caps,
		.set = sl_sets_has,
		.set_arg = sets,
		.line = report == NULL ? NULL : take_line,
		.line_arg = report,
	};
	struct ipt_errors errors;
	int ret;

	fill_caps(args->exts, &caps);
	ret = ipt_load(&load, rs, &errors);
	if (ret < 0)
		build_first_error(&errors, err, err_size);
	ipt_errors_free(&errors);
	return ret;
}
