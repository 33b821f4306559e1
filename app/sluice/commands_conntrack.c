/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections: listed, counted, deleted. Workers are asked for a few entries at a time, so that none
 * of them is kept from its packets, however many there are; what they answer is told of here.
 */
#include "app/sluice/app.h"
#include "app/sluice/commands.h"
#include "config/build.h"
#include "conntrack/filter.h"
#include "conntrack/proto.h"
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

static const char *addr_text(const struct ct_tuple *t, const struct sl_addr *a, char *buf)
{
	return sl_addr_str((enum sl_family)t->family, a, buf);
}

static json_t *tuple_json(const struct ct_view *v, enum ct_dir dir)
{
	const struct ct_tuple *t = ct_tuple_of(&v->e, dir);
	json_t *o = json_object();
	char buf[SL_ADDR_STRLEN];

	json_object_set_new(o, "src", json_string(addr_text(t, &t->src, buf)));
	json_object_set_new(o, "dst", json_string(addr_text(t, &t->dst, buf)));
	switch (ct_text_kind(t->proto)) {
	case CT_TEXT_NOTHING:
		break;
	case CT_TEXT_PORTS:
		json_object_set_new(o, "sport", json_integer(rte_be_to_cpu_16(t->sport_be)));
		json_object_set_new(o, "dport", json_integer(rte_be_to_cpu_16(t->dport_be)));
		break;
	case CT_TEXT_ICMP:
		json_object_set_new(o, "type", json_integer(t->type));
		json_object_set_new(o, "code", json_integer(t->code));
		json_object_set_new(o, "id", json_integer(rte_be_to_cpu_16(t->id_be)));
		break;
	case CT_TEXT_KEYS:
		json_object_set_new(o, "srckey", json_integer(rte_be_to_cpu_16(t->sport_be)));
		json_object_set_new(o, "dstkey", json_integer(rte_be_to_cpu_16(t->dport_be)));
		break;
	}
	if (t->zone != 0)
		json_object_set_new(o, "zone", json_integer(t->zone));
	if (v->acct) {
		json_object_set_new(o, "packets", json_integer((json_int_t)v->cold.packets[dir]));
		json_object_set_new(o, "bytes", json_integer((json_int_t)v->cold.bytes[dir]));
	}
	return o;
}

static json_t *status_json(uint32_t status)
{
	static const struct {
		uint32_t bit;
		const char *name;
	} names[] = {
		{ CT_EXPECTED, "EXPECTED" },
		{ CT_SEEN_REPLY, "SEEN_REPLY" },
		{ CT_ASSURED, "ASSURED" },
		{ CT_CONFIRMED, "CONFIRMED" },
		{ CT_SRC_NAT, "SRC_NAT" },
		{ CT_DST_NAT, "DST_NAT" },
	};
	json_t *list = json_array();

	for (unsigned int i = 0; i < RTE_DIM(names); i++)
		if (status & names[i].bit)
			json_array_append_new(list, json_string(names[i].name));
	return list;
}

static json_t *entry_json(const struct ct_view *v)
{
	const char *state = ct_proto_state(&v->e);
	json_t *o = json_object();

	json_object_set_new(o, "family", json_string(ct_text_family(v->e.orig.family)));
	json_object_set_new(o, "proto", json_string(ct_text_proto(v->e.orig.proto)));
	json_object_set_new(o, "protonum", json_integer(v->e.orig.proto));
	json_object_set_new(o, "timeout", json_integer(ct_seconds_left(&v->e, v->now_ms)));
	if (state != NULL)
		json_object_set_new(o, "state", json_string(state));
	json_object_set_new(o, "original", tuple_json(v, CT_ORIGINAL));
	json_object_set_new(o, "reply", tuple_json(v, CT_REPLY));
	json_object_set_new(o, "status", status_json(v->e.status));
	json_object_set_new(o, "mark", json_integer(v->e.mark));
	if (v->timestamp)
		json_object_set_new(o, "age", json_integer((json_int_t)ct_text_age(v)));
	json_object_set_new(o, "worker", json_integer(v->worker));
	json_object_set_new(o, "id", json_integer(v->e.id));
	return o;
}

static json_t *entry_line(const struct ct_view *v)
{
	char text[1024] = "";
	FILE *f = fmemopen(text, sizeof(text), "w");

	if (f == NULL)
		return json_null();
	ct_text_line(f, v);
	fclose(f);
	text[strcspn(text, "\n")] = '\0';
	return json_string(text);
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

/* @args: "do": list, count, stats, delete or flush; "filter": words; "json": entries as objects */
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
				"conntrack: %s: list, count, stats, delete or flush was expected",
				what);
	return result;
}
