/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts the lines of a trace together by packet, and shows each packet when its way has ended, or at
 * the end of all. Of the state after a stage only what has changed is shown.
 */
#include "app/sluicectl/capture.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ways that have not ended yet; the oldest is shown as it is when one more begins */
#define OPEN_MAX 4096

struct way {
	json_int_t id;
	json_t *steps; /* array; NULL: free */
};

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s == NULL ? "" : s;
}

static void print_value(const json_t *v)
{
	if (json_is_string(v))
		printf("%s", json_string_value(v));
	else
		printf("%lld", (long long)json_integer_value(v));
}

/* what of the state is not as in @was */
static void print_changes(const json_t *state, const json_t *was)
{
	static const char *const keys[] = { "proto", "src", "dst", "ttl", "tos", "mark", "priority",
		"zone", "ct", "out" };
	/* nothing that a first look would miss */
	static const char *const plain[] = { "0x0", "0x00", "none" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const json_t *now = json_object_get(state, keys[i]);
		const json_t *before = json_object_get(was, keys[i]);
		bool dull = json_is_integer(now) && json_integer_value(now) == 0;

		for (size_t k = 0; json_is_string(now) && k < 3; k++)
			dull |= strcmp(json_string_value(now), plain[k]) == 0;
		if (now == NULL || json_equal(now, before) || (before == NULL && dull))
			continue;
		printf("  %s ", keys[i]);
		if (before != NULL) {
			print_value(before);
			printf(" -> ");
		}
		print_value(now);
	}
}

static bool is_change(const json_t *state, const json_t *was)
{
	return !json_equal(state, was);
}

static void print_where(const json_t *step)
{
	const char *hook = text_of(step, "hook"), *stage = text_of(step, "stage");

	printf("  %-12s%-14s", hook, stage);
}

static void print_step(const json_t *step, const json_t *was)
{
	const json_t *state = json_object_get(step, "state");
	const char *at = text_of(step, "at");

	if (strcmp(at, "received") == 0)
		return;
	if (strcmp(at, "rule") == 0) {
		printf("  %-12s  %s\n", text_of(step, "hook"), text_of(step, "text"));
		return;
	}
	print_where(step);
	if (strcmp(at, "stage") == 0) {
		if (is_change(state, was))
			print_changes(state, was);
		putchar('\n');
		return;
	}
	if (strcmp(at, "dropped") == 0)
		printf("  DROPPED %s: %s", text_of(step, "reason"), text_of(step, "help"));
	else if (strcmp(at, "sent") == 0)
		printf("  SENT by %s, %lld bytes", text_of(state, "out"),
				(long long)json_integer_value(json_object_get(step, "len")));
	else
		printf("  DELIVERED to the router");
	if (is_change(state, was))
		print_changes(state, was);
	putchar('\n');
}

static void print_way(const struct way *w)
{
	const json_t *first = json_array_get(w->steps, 0), *step;
	json_int_t ns = json_integer_value(json_object_get(first, "time_ns"));
	time_t s = (time_t)(ns / 1000000000);
	const json_t *was = NULL;
	char when[16];
	struct tm tm;
	size_t i;

	localtime_r(&s, &tm);
	strftime(when, sizeof(when), "%H:%M:%S", &tm);
	printf("packet %lld  %s.%06lld  ", (long long)w->id, when,
			(long long)(ns % 1000000000 / 1000));
	if (strcmp(text_of(first, "at"), "received") != 0)
		printf("goes on");
	else if (strcmp(text_of(json_object_get(first, "state"), "in"), "router") == 0)
		printf("made by the router");
	else
		printf("received by %s", text_of(json_object_get(first, "state"), "in"));
	printf(", %lld bytes", (long long)json_integer_value(json_object_get(first, "len")));
	/* of what is known already: the router's own, or chosen by a rule */
	if (json_object_get(json_object_get(first, "state"), "src") != NULL) {
		print_changes(json_object_get(first, "state"), NULL);
		was = json_object_get(first, "state");
	}
	putchar('\n');
	json_array_foreach(w->steps, i, step)
	{
		print_step(step, was);
		/* a rule's target shows with its stage */
		if (strcmp(text_of(step, "at"), "rule") != 0 && (i > 0 || was != NULL))
			was = json_object_get(step, "state");
	}
	putchar('\n');
}

static void show_way(struct way *w, bool json)
{
	if (json) {
		json_t *o = json_pack("{s:I,s:O}", "id", w->id, "steps", w->steps);

		json_dumpf(o, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(o);
	} else {
		print_way(w);
	}
	json_decref(w->steps);
	w->steps = NULL;
}

static bool is_end(const char *at)
{
	return strcmp(at, "sent") == 0 || strcmp(at, "dropped") == 0
			|| strcmp(at, "delivered") == 0;
}

/* Return: whether that was the end of a packet's way */
static bool take(struct way *ways, json_t *step, bool json)
{
	json_int_t id = json_integer_value(json_object_get(step, "id"));
	struct way *w = &ways[(uint64_t)id % OPEN_MAX];

	if (w->steps != NULL && w->id != id)
		show_way(w, json);
	if (w->steps == NULL) {
		w->id = id;
		w->steps = json_array();
	}
	json_array_append(w->steps, step);
	if (!is_end(text_of(step, "at")))
		return false;
	show_way(w, json);
	return true;
}

void trace_show(FILE *in, bool json, unsigned long count)
{
	struct way *ways = calloc(OPEN_MAX, sizeof(*ways));
	unsigned long n = 0;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (ways != NULL && !ferror(stdout) && (len = getline(&line, &size, in)) > 0) {
		json_t *step = json_loadb(line, (size_t)len, 0, NULL);

		if (step != NULL && strcmp(text_of(step, "at"), "end") == 0)
			fprintf(stderr, "%lld packets traced, %lld steps missed\n",
					(long long)json_integer_value(
							json_object_get(step, "packets")),
					(long long)json_integer_value(
							json_object_get(step, "missed")));
		else if (step != NULL && take(ways, step, json) && ++n == count)
			watch_enough();
		json_decref(step);
	}
	for (size_t i = 0; ways != NULL && i < OPEN_MAX; i++)
		if (ways[i].steps != NULL)
			show_way(&ways[i], json);
	free(line);
	free(ways);
}
