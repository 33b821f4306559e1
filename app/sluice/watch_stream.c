/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/watch_stream.h"

#include "app/sluice/app.h"
#include "app/sluice/commands.h"
#include "app/sluice/watch_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* of one chunk */
#define CHUNK_BYTES 262144
/* records of one worker in a row, so that the others' come between */
#define TURN 64

/* Return: whether there was one */
static bool take_one(struct watch_stream *s, struct sl_watch_ring *ring, FILE *f)
{
	const struct sl_watch_rec *rec = sl_watch_peek(ring);

	if (rec == NULL)
		return false;
	if (s->watch.trace)
		watch_trace_write(s, f, rec);
	else if (s->limit == 0 || s->n < s->limit)
		watch_capture_write(s, f, rec);
	sl_watch_pop(ring, rec);
	return true;
}

/* Return: whether the rings are empty */
static bool take_some(struct watch_stream *s, FILE *f)
{
	bool more = true;

	while (more && ftell(f) < CHUNK_BYTES) {
		more = false;
		for (unsigned int i = 0; i < s->r->n_workers; i++)
			for (unsigned int k = 0; k < TURN; k++) {
				if (!take_one(s, s->watch.rings[i], f))
					break;
				more = true;
			}
	}
	return !more;
}

static void start(struct watch_stream *s, FILE *f)
{
	if (!s->watch.trace)
		watch_capture_start(s, f);
	s->started = true;
}

static void finish(struct watch_stream *s, FILE *f)
{
	if (s->watch.trace)
		watch_trace_finish(s, f);
	else
		watch_capture_finish(s, f);
}

bool watch_stream_read(struct watch_stream *s, char **out, size_t *len)
{
	char *text = NULL;
	bool empty;
	FILE *f;

	*out = NULL;
	if (s->r == NULL)
		return false;
	f = open_memstream(&text, len);
	if (f == NULL)
		return false;
	if (!s->started)
		start(s, f);
	if (s->stop && !s->removed) {
		sl_watch_remove(s->r, &s->watch);
		s->removed = true;
	}
	empty = take_some(s, f);
	if (!s->watch.trace && s->limit != 0 && s->n >= s->limit)
		s->stop = true;
	if (s->removed && empty) {
		finish(s, f);
		s->r = NULL; /* that was all */
	}
	fclose(f);
	if (*len == 0) {
		free(text);
		text = NULL;
	}
	*out = text;
	return true;
}

void watch_stream_stop(struct watch_stream *s)
{
	s->stop = true;
}

bool watch_stream_is_stopped(const struct watch_stream *s)
{
	return s->stop;
}

void watch_stream_end(struct watch_stream *s)
{
	if (s == NULL)
		return;
	if (!s->removed)
		sl_watch_remove(s->r, &s->watch);
	sl_watch_free_rings(&s->watch);
	watch_filter_free(s->filter);
	free(s);
}

static bool find_hook(const char *name, uint8_t *hooks)
{
	for (unsigned int h = 0; h < SL_HOOK_NB; h++)
		if (strcmp(name, sl_hook_name((enum sl_hook)h)) == 0) {
			*hooks = SL_HOOK_BIT(h);
			return true;
		}
	return false;
}

static int read_port(const struct sl_router *r, const json_t *args, struct sl_watch *watch,
		const char *command, char *err, size_t err_size)
{
	const char *name = json_string_value(json_object_get(args, "port"));

	watch->port = SL_PORT_NONE;
	if (name == NULL)
		return 0;
	watch->port = strcmp(name, "router") == 0 ? SL_PORT_HOST : sl_router_port(r, name);
	if (watch->port != SL_PORT_HOST || strcmp(name, "router") == 0)
		return 0;
	snprintf(err, err_size, "%s: no port '%s', expected a name of `sluicectl ports`", command,
			name);
	return -EINVAL;
}

/* where a capture takes packets */
static int read_points(const json_t *args, struct sl_watch *watch, char *err, size_t err_size)
{
	const char *hook = json_string_value(json_object_get(args, "hook"));

	if (hook != NULL && !find_hook(hook, &watch->hooks)) {
		snprintf(err, err_size,
				"capture: no hook '%s', expected ingress, prerouting, input, "
				"forward, output or postrouting",
				hook);
		return -EINVAL;
	}
	watch->drop_hooks = hook == NULL ? UINT8_MAX : watch->hooks;
	if (json_is_true(json_object_get(args, "dropped"))) {
		watch->hooks = 0;
		return 0;
	}
	watch->rx = hook == NULL;
	watch->tx = hook == NULL;
	return 0;
}

static int begin(struct app *app, struct watch_stream *s, const json_t *args, const char *command,
		char *err, size_t err_size)
{
	const char *filter = json_string_value(json_object_get(args, "filter"));
	json_int_t count = json_integer_value(json_object_get(args, "count"));
	int ret = read_port(app->r, args, &s->watch, command, err, err_size);

	if (ret == 0 && !s->watch.trace)
		ret = read_points(args, &s->watch, err, err_size);
	if (ret == 0 && count < 0) {
		snprintf(err, err_size, "%s: a count of %lld packets, expected 1 or more", command,
				(long long)count);
		ret = -EINVAL;
	}
	s->limit = (uint64_t)count;
	if (ret == 0 && filter != NULL && filter[0] != '\0')
		ret = watch_filter_compile(filter, &s->filter, err, err_size);
	if (ret < 0)
		return ret;
	if (s->filter != NULL) {
		s->watch.match = watch_filter_match(s->filter);
		s->watch.match_arg = s->filter;
	}
	if (s->watch.trace && count > 0)
		s->watch.last_id = atomic_load(&app->r->trace_id) + (uint32_t)count;
	ret = sl_watch_add(app->r, &s->watch);
	if (ret < 0)
		snprintf(err, err_size, "%s: %s", command,
				ret == -EBUSY                    ? "somebody else traces already"
						: ret == -ENOSPC ? "too many readers already"
								 : strerror(-ret));
	return ret;
}

static json_t *command(struct app *app, const json_t *args, bool trace, char *err, size_t err_size)
{
	struct watch_stream *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		snprintf(err, err_size, "out of memory");
		return NULL;
	}
	s->r = app->r;
	s->watch.trace = trace;
	s->watch.marked = json_is_true(json_object_get(args, "marked"));
	if (begin(app, s, args, trace ? "trace" : "capture", err, err_size) < 0) {
		watch_filter_free(s->filter);
		free(s);
		return NULL;
	}
	app->stream = s;
	return json_string(s->filter == NULL ? "everything" : watch_filter_kind(s->filter));
}

json_t *command_capture(struct app *app, const json_t *args, json_int_t *next __rte_unused,
		char *err, size_t err_size)
{
	return command(app, args, false, err, err_size);
}

json_t *command_trace(struct app *app, const json_t *args, json_int_t *next __rte_unused, char *err,
		size_t err_size)
{
	return command(app, args, true, err, err_size);
}
