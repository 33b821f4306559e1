/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules share by name: lists of recent addresses, tables of hashlimit; as /proc/net shows them. */
#include "app/sluice/app.h"
#include "app/sluice/commands.h"
#include "classifier/hashlimit.h"
#include "classifier/named.h"
#include "classifier/recent.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* lines of one answer */
#define PAGE 20000

static json_t *page_of(char *text, json_int_t from, json_int_t *next)
{
	json_t *list = json_array();
	json_int_t n = 0;
	char *rest = NULL;

	for (char *line = strtok_r(text, "\n", &rest); line != NULL;
			line = strtok_r(NULL, "\n", &rest), n++) {
		if (n < from)
			continue;
		if (n == from + PAGE) {
			*next = n;
			break;
		}
		json_array_append_new(list, json_string(line));
	}
	return list;
}

static bool is_asked(const struct named *n, const char *name, uint8_t family)
{
	return n->family == family && (name == NULL || strcmp(n->name, name) == 0);
}

static int print_one(struct app *app, const struct named *n, FILE *f)
{
	if (n->kind == NAMED_RECENT)
		return recent_print(app->r, n->name, f);
	return hashlimit_print(app->r, n->name, (enum ipt_family)n->family, f);
}

/* a line with the name of each, and what is in it */
static json_t *list(struct app *app, enum named_kind kind, uint8_t family, const json_t *args,
		json_int_t *next, char *err, size_t err_size)
{
	const char *name = json_string_value(json_object_get(args, "name"));
	const char *what = kind == NAMED_RECENT ? "recent" : "hashlimit";
	int ret = name == NULL ? 0 : -ENOENT;
	json_t *lines = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL) {
		snprintf(err, err_size, "%s: out of memory", what);
		return NULL;
	}
	for (const struct named *n = named_next(app->r, kind, NULL); n != NULL;
			n = named_next(app->r, kind, n)) {
		if (!is_asked(n, name, family))
			continue;
		fprintf(f, "%s %s\n", what, n->name);
		ret = print_one(app, n, f);
		if (ret < 0)
			break;
	}
	fclose(f);
	if (ret == 0)
		lines = page_of(text, json_integer_value(json_object_get(args, "from")), next);
	else if (ret == -ENOENT)
		snprintf(err, err_size, "%s: no rule names %s", what, name);
	else
		snprintf(err, err_size, "%s: %s", what, strerror(-ret));
	free(text);
	return lines;
}

json_t *command_recent(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size)
{
	return list(app, NAMED_RECENT, 0, args, next, err, err_size);
}

json_t *command_hashlimit(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size)
{
	bool six = json_integer_value(json_object_get(args, "family")) == 6;

	return list(app, NAMED_HASHLIMIT, six ? IPT_V6 : IPT_V4, args, next, err, err_size);
}
