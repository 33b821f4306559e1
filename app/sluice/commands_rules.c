/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules as iptables-save prints them, line by line, and their counters. */
#include "app/sluice/app.h"
#include "app/sluice/commands.h"
#include "config/build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* lines of one answer */
#define PAGE 20000

/* the lines of @text from @from on; it is cut in place */
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
		/* comments and prefixes may hold any bytes, JSON holds UTF-8 */
		if (json_array_append_new(list, json_string(line)) < 0)
			json_array_append_new(list, json_null());
	}
	return list;
}

static json_t *print(struct app *app, enum ipt_family family, const json_t *args, json_int_t *next,
		char *err, size_t err_size)
{
	const char *table = json_string_value(json_object_get(args, "table"));
	char *text = NULL;
	json_t *list = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int ret = -ENOMEM;

	if (f != NULL) {
		ret = sl_firewall_print(app->fw, f, family, table,
				json_is_true(json_object_get(args, "counters")));
		fclose(f);
	}
	if (ret == 0)
		list = page_of(text, json_integer_value(json_object_get(args, "from")), next);
	else if (ret == -ENOENT)
		snprintf(err, err_size, "rules: table %s is not loaded", table);
	else
		snprintf(err, err_size, "rules: %s", strerror(-ret));
	free(text);
	return list;
}

json_t *command_rules(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size)
{
	enum ipt_family family =
			json_integer_value(json_object_get(args, "family")) == 6 ? IPT_V6 : IPT_V4;
	const char *table = json_string_value(json_object_get(args, "table"));

	if (!json_is_true(json_object_get(args, "zero")))
		return print(app, family, args, next, err, err_size);
	if (sl_firewall_zero(app->fw, family, table) == 0)
		return json_array();
	snprintf(err, err_size, "rules: table %s is not loaded", table);
	return NULL;
}
