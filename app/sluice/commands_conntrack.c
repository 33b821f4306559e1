/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: listed, counted, deleted. Workers are asked for a few entries at a time, so that none
 * of them is kept from its packets, however many there are; what they answer is told of here.
 */
#include "app/sluice/app.h"
#include "app/sluice/commands.h"
#include "app/sluice/entry_json.h"
#include "app/sluice/listen.h"
#include "config/build.h"
#include "conntrack/expect.h"
#include "conntrack/filter.h"
#include "conntrack/invalid.h"
#include "conntrack/text.h"
#include "lib/conf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* entries of memory that a worker looks at in one go: some microseconds */
#define STEP 256
/* entries of one answer */
#define PAGE 2000

enum doing {
	LIST,
	COUNT,
	DELETE,
};

/* one step of a walk through a worker's entries */
struct step {
	const struct ct_filter *filter;
	const struct ct_conf *conf;
	enum doing doing;
	struct ct_shard *shard;
	uint32_t from; /* CT_NONE behind the last */
	uint32_t n_found;
	struct ct_view *views; /* of LIST; room for STEP */
};

/* [worker] */
static void visit(struct ct_shard *s, struct ct_entry *e, void *arg)
{
	struct step *step = arg;

	if (!ct_filter_holds(step->filter, e))
		return;
	if (step->doing == LIST)
		ct_view(&step->views[step->n_found], step->conf, s, e);
	if (step->doing == DELETE)
		ct_kill(s, e);
	step->n_found++;
}

/* [worker] */
static void take_step(struct sl_worker *w, void *arg)
{
	struct step *step = arg;

	step->shard->now_ms = ct_now(w->now_ns);
	step->shard->conf = step->conf;
	step->from = ct_walk(step->shard, step->from, STEP, visit, step);
}

static int read_filter(const json_t *args, struct ct_filter *filter, char *err, size_t err_size)
{
	const json_t *words = json_object_get(args, "filter");

	*filter = (struct ct_filter){ 0 };
	for (size_t i = 0; i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));
		char why[512];

		if (word != NULL && ct_filter_add(filter, word, why, sizeof(why)) == 0)
			continue;
		snprintf(err, err_size, "conntrack: %s",
				word == NULL ? "\"filter\" is an array of strings" : why);
		return -EINVAL;
	}
	return 0;
}

/* where a walk over all workers stands, as the one number of an answer's "next" */
struct place {
	unsigned int worker;
	uint32_t entry;
};

static struct place place_of(json_int_t n)
{
	return (struct place){ (unsigned int)(n >> 32), (uint32_t)n };
}

/*
 * From *p on, until the end or until enough was found.
 * Return: entries found; p->worker is the number of workers at the end.
 */
static uint64_t walk(struct app *app, struct step *step, struct place *p, json_t *list, bool json)
{
	const struct ct_table *table = ct_table_of(app->r);
	uint64_t n = 0;

	step->conf = sl_firewall_tracking(app->fw);
	if (step->conf == NULL)
		step->conf = &table->conf;
	while (p->worker < app->r->n_workers) {
		step->shard = table->shard[p->worker];
		step->from = p->entry;
		step->n_found = 0;
		sl_worker_call(app->r->workers[p->worker], take_step, step);
		for (uint32_t i = 0; step->doing == LIST && i < step->n_found; i++)
			json_array_append_new(list,
					json ? entry_json(&step->views[i])
					     : entry_line(&step->views[i]));
		n += step->n_found;
		*p = step->from == CT_NONE ? (struct place){ p->worker + 1, 0 }
					   : (struct place){ p->worker, step->from };
		if (step->doing == LIST && n >= PAGE)
			break;
	}
	return n;
}

static json_t *list(struct app *app, const json_t *args, json_int_t *next,
		const struct ct_filter *filter)
{
	struct place p = place_of(json_integer_value(json_object_get(args, "from")));
	struct step step = { .filter = filter, .doing = LIST };
	json_t *result = json_array();

	step.views = malloc(STEP * sizeof(*step.views));
	if (step.views == NULL)
		return result;
	walk(app, &step, &p, result, json_is_true(json_object_get(args, "json")));
	free(step.views);
	if (p.worker < app->r->n_workers)
		*next = (json_int_t)((uint64_t)p.worker << 32 | p.entry);
	return result;
}

static uint64_t walk_all(struct app *app, enum doing doing, const struct ct_filter *filter)
{
	struct step step = { .filter = filter, .doing = doing };
	struct place p = { 0 };

	return walk(app, &step, &p, NULL, false);
}

static json_t *worker_stats(const struct ct_shard *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "worker", json_integer(s->worker));
	json_object_set_new(o, "entries", json_integer(s->count));
#define X(name) json_object_set_new(o, #name, json_integer((json_int_t)s->stats.name));
	CT_STATS(X)
#undef X
	/* of those counted as invalid, as far as a protocol said so */
	for (unsigned int i = 0; i < CT_INVALID_NB; i++) {
		char name[64];

		snprintf(name, sizeof(name), "invalid_%s", ct_invalid_name((enum ct_invalid)i));
		json_object_set_new(o, name, json_integer((json_int_t)s->invalid[i]));
	}
	return o;
}

static json_t *stats(const struct app *app)
{
	const struct ct_table *table = ct_table_of(app->r);
	json_t *result = json_array();

	for (unsigned int i = 0; table != NULL && i < app->r->n_workers; i++)
		json_array_append_new(result, worker_stats(table->shard[i]));
	return result;
}

/* lines; their times are as of the first worker's clock */
static json_t *expectations(const struct app *app)
{
	json_t *lines = json_array();
	char *text = NULL, *line, *rest;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	if (f == NULL)
		return lines;
	ct_expects_print(ct_table_of(app->r), ct_now(app->r->workers[0]->now_ns), f);
	fclose(f);
	for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest))
		json_array_append_new(lines, json_string(line));
	free(text);
	return lines;
}

static json_t *counted(const char *name, uint64_t n)
{
	json_t *o = json_object();

	json_object_set_new(o, name, json_integer((json_int_t)n));
	return o;
}

static json_t *run(struct app *app, const char *what, const json_t *args, json_int_t *next,
		const struct ct_filter *filter)
{
	bool tracked = ct_table_of(app->r) != NULL;
	json_t *o;

	if (strcmp(what, "stats") == 0)
		return stats(app);
	if (strcmp(what, "expect") == 0)
		return tracked ? expectations(app) : json_array();
	if (strcmp(what, "list") == 0)
		return tracked ? list(app, args, next, filter) : json_array();
	if (strcmp(what, "count") == 0) {
		o = counted("count", tracked ? walk_all(app, COUNT, filter) : 0);
		json_object_set_new(o, "max", json_integer(app->conf->conntrack_max));
		return o;
	}
	if (strcmp(what, "delete") == 0 || strcmp(what, "flush") == 0)
		return counted("deleted", tracked ? walk_all(app, DELETE, filter) : 0);
	return NULL;
}

/* @args: "do": list, count, stats, delete, flush, expect or events; "filter": words; "json": entries as objects */
json_t *command_conntrack(
		struct app *app, const json_t *args, json_int_t *next, char *err, size_t err_size)
{
	const char *what = json_string_value(json_object_get(args, "do"));
	struct ct_filter filter;
	json_t *result;

	if (what == NULL)
		what = "list";
	if (read_filter(args, &filter, err, err_size) < 0)
		return NULL;
	if (strcmp(what, "events") == 0)
		return listen_take(app, json_integer_value(json_object_get(args, "session")),
				&filter, json_is_true(json_object_get(args, "json")), err,
				err_size);
	if ((strcmp(what, "delete") == 0) != (filter.set != 0) && strcmp(what, "list") != 0
			&& strcmp(what, "count") != 0) {
		snprintf(err, err_size, "conntrack: %s: %s", what,
				filter.set != 0 ? "takes no filter"
						: "which ones? flush deletes all");
		return NULL;
	}
	result = run(app, what, args, next, &filter);
	if (result == NULL)
		snprintf(err, err_size,
				"conntrack: %s: list, count, stats, delete, flush, expect or events was "
				"expected",
				what);
	return result;
}
