/* SPDX-License-Identifier: BSD-3-Clause */
/* The sets: as `ipset save` prints them, and lines of ipset(8) that change them. */
#include "app/sluice/app.h"
#include "app/sluice/commands.h"
#include "config/build.h"
#include "config/ipset_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* lines of one answer */
#define PAGE 20000

/* [from, from + PAGE) of the lines of @text, which is cut in place */
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
		/* comments may hold any bytes, JSON holds UTF-8 */
		if (json_array_append_new(list, json_string(line)) < 0)
			json_array_append_new(
					list, json_pack("{s:s%}", "bytes", line, strlen(line)));
	}
	return list;
}

static json_t *print(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size)
{
	const char *name = json_string_value(json_object_get(args, "name"));
	json_t *list = NULL;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int ret = -ENOMEM;

	if (f != NULL) {
		ret = ipset_live_print(f, sl_firewall_sets(app->fw), name);
		fclose(f);
	}
	if (ret == 0)
		list = page_of(text, json_integer_value(json_object_get(args, "from")), next);
	else if (ret == -ENOENT)
		snprintf(err, err_size, "set: there is no set %s", name);
	else
		snprintf(err, err_size, "set: %s", strerror(-ret));
	free(text);
	return list;
}

/* @args: "lines": an array, of which those behind the first that fails are not done */
json_t *command_set(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size)
{
	const json_t *lines = json_object_get(args, "lines");
	bool exist = json_is_true(json_object_get(args, "exist"));
	json_t *results;

	if (!json_is_array(lines))
		return print(app, args, next, err, err_size);
	results = json_array();
	for (size_t i = 0; i < json_array_size(lines); i++) {
		const char *line = json_string_value(json_array_get(lines, i));
		int ret = -EINVAL;

		if (line != NULL)
			ret = ipset_live_run(sl_firewall_sets(app->fw), line, exist, err, err_size);
		else
			snprintf(err, err_size, "set: \"lines\" is an array of strings");
		if (ret < 0) {
			json_decref(results);
			return NULL;
		}
		/* of test: whether it is in the set */
		json_array_append_new(results, json_boolean(ret == 0));
	}
	return results;
}
