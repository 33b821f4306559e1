/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluicectl/conntrack.h"

#include "app/sluicectl/client.h"
#include "app/sluicectl/table.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* how often events are asked for */
#define FOLLOW_NS 100000000

json_t *conntrack_request(int argc, char **argv, int family, bool json)
{
	json_t *request = json_object(), *filter = json_array();
	int i = 0;

	json_object_set_new(request, "command", json_string("conntrack"));
	/* sluice knows what may stand here, and says so */
	if (argc > 0 && strchr(argv[0], '=') == NULL)
		json_object_set_new(request, "do", json_string(argv[i++]));
	for (; i < argc; i++)
		json_array_append_new(filter, json_string(argv[i]));
	if (family != 0)
		json_array_append_new(filter, json_sprintf("family=%d", family));
	json_object_set_new(request, "filter", filter);
	json_object_set_new(request, "json", json_boolean(json));
	return request;
}

bool conntrack_follows(const json_t *request)
{
	const char *what = json_string_value(json_object_get(request, "do"));

	return what != NULL && strcmp(what, "events") == 0;
}

static void print_events(const json_t *events)
{
	const json_t *event;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)events, i, event)
	{
		if (json_is_string(event))
			puts(json_string_value(event));
		else
			json_dumpf(event, stdout, JSON_COMPACT);
		if (!json_is_string(event))
			putchar('\n');
	}
}

int conntrack_follow(int fd, json_t *request, json_t **result)
{
	const struct timespec pause = { .tv_nsec = FOLLOW_NS };
	int ret;

	json_object_set_new(request, "session", json_integer(getpid()));
	do {
		ret = client_ask(fd, json_deep_copy(request), result);
		if (ret < 0)
			break;
		print_events(*result);
		json_decref(*result);
		*result = NULL;
		nanosleep(&pause, NULL);
	} while (fflush(stdout) == 0);
	json_decref(request);
	return ret;
}

/* a reason of INVALID that no worker has had: there are many */
static bool is_idle_reason(const json_t *workers, const char *key)
{
	const json_t *worker;
	size_t i;

	if (strncmp(key, "invalid_", strlen("invalid_")) != 0)
		return false;
	json_array_foreach(workers, i, worker)
	{
		if (json_integer_value(json_object_get(worker, key)) != 0)
			return false;
	}
	return true;
}

/* a row for each counter, a column for each worker */
static void show_stats(const json_t *workers)
{
	const char *columns[16] = { "counter" };
	char titles[14][32];
	size_t n = json_array_size(workers);
	const char *key;
	struct table *t;
	json_t *value;
	char buf[32];

	if (n > 14)
		n = 14;
	for (size_t i = 0; i < n; i++) {
		snprintf(titles[i], sizeof(titles[i]), ">worker %zu", i);
		columns[i + 1] = titles[i];
	}
	t = table_new(columns);
	json_object_foreach(json_array_get(workers, 0), key, value)
	{
		if (strcmp(key, "worker") == 0 || is_idle_reason(workers, key))
			continue;
		table_cell(t, "%s", key);
		for (size_t i = 0; i < n; i++)
			table_cell(t, "%s",
					group_digits(json_integer_value(json_object_get(
								     json_array_get(workers, i),
								     key)),
							buf));
	}
	table_print(t, stdout, "nothing is tracked");
}

static void show_count(const json_t *o)
{
	const json_t *max = json_object_get(o, "max");

	if (max != NULL)
		printf("%lld of %lld\n", json_integer_value(json_object_get(o, "count")),
				json_integer_value(max));
	else
		printf("%lld deleted\n", json_integer_value(json_object_get(o, "deleted")));
}

void conntrack_show(const json_t *result)
{
	const json_t *line;
	size_t i;

	if (json_is_object(result)) {
		show_count(result);
		return;
	}
	if (json_is_object(json_array_get(result, 0))) {
		show_stats(result);
		return;
	}
	for (i = 0; i < json_array_size(result); i++) {
		line = json_array_get(result, i);
		puts(json_string_value(line));
	}
}
