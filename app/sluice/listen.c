/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/listen.h"

#include "app/sluice/app.h"
#include "app/sluice/entry_json.h"
#include "conntrack/events.h"
#include "conntrack/filter.h"

#include <rte_cycles.h>

#include <stdlib.h>

/* events of a worker that wait to be asked for */
#define RING 8192
/* events of one answer, of each worker */
#define PAGE 1000
/* a client that asks no more is gone */
#define PATIENCE_S 5

struct listener {
	json_int_t session;
	uint64_t asked_tsc;
	struct ct_event *page;
	struct ct_events *events[SL_WORKERS_MAX];
};

struct change {
	struct ct_shard *shard;
	struct ct_events *events;
};

/* [worker] */
static void set_events(__rte_unused struct sl_worker *w, void *arg)
{
	const struct change *c = arg;

	c->shard->events = c->events;
}

static void tell_worker(struct app *app, unsigned int i, struct ct_events *events)
{
	struct change c = { ct_table_of(app->r)->shard[i], events };

	sl_worker_call(app->r->workers[i], set_events, &c);
}

void listen_stop(struct app *app)
{
	struct listener *l = app->listener;

	if (l == NULL)
		return;
	for (unsigned int i = 0; i < app->r->n_workers && l->events[i] != NULL; i++) {
		tell_worker(app, i, NULL);
		ct_events_free(l->events[i]);
	}
	free(l->page);
	free(l);
	app->listener = NULL;
}

static bool start(struct app *app, json_int_t session)
{
	struct listener *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return false;
	app->listener = l;
	l->session = session;
	l->page = malloc(PAGE * sizeof(*l->page));
	for (unsigned int i = 0; l->page != NULL && i < app->r->n_workers; i++) {
		l->events[i] = ct_events_create(RING);
		if (l->events[i] == NULL)
			break;
		tell_worker(app, i, l->events[i]);
	}
	if (l->page != NULL && l->events[app->r->n_workers - 1] != NULL)
		return true;
	listen_stop(app);
	return false;
}

void listen_tick(struct app *app)
{
	const struct listener *l = app->listener;

	if (l != NULL && rte_rdtsc() - l->asked_tsc > PATIENCE_S * app->r->tsc_hz)
		listen_stop(app);
}

static const char *name_of(uint32_t what)
{
	if (what & CT_EVENT_DESTROY)
		return "DESTROY";
	return what & (CT_EVENT_NEW | CT_EVENT_RELATED) ? "NEW" : "UPDATE";
}

static json_t *event_json(const struct ct_event *ev, bool json)
{
	json_t *o = json ? json_object() : entry_line(&ev->view), *line;

	if (!json) {
		line = json_sprintf("[%s] %s", name_of(ev->what), json_string_value(o));
		json_decref(o);
		return line;
	}
	json_object_set_new(o, "event", json_string(name_of(ev->what)));
	json_object_set_new(o, "connection", entry_json(&ev->view));
	return o;
}

static void take_worker(struct listener *l, unsigned int i, const struct ct_filter *filter,
		bool json, json_t *list)
{
	uint64_t lost;
	unsigned int n = ct_events_take(l->events[i], l->page, PAGE, &lost);

	for (unsigned int k = 0; k < n; k++)
		if (ct_filter_holds(filter, &l->page[k].view.e))
			json_array_append_new(list, event_json(&l->page[k], json));
	if (lost == 0)
		return;
	json_array_append_new(list,
			json ? json_pack("{s:s, s:I}", "event", "LOST", "events", (json_int_t)lost)
			     : json_sprintf("[LOST] %llu events of worker %u",
					     (unsigned long long)lost, i));
}

json_t *listen_take(struct app *app, json_int_t session, const struct ct_filter *filter, bool json,
		char *err, size_t err_size)
{
	json_t *list;

	listen_tick(app);
	if (ct_table_of(app->r) == NULL) {
		snprintf(err, err_size, "conntrack: events: nothing is tracked: no rule needs it");
		return NULL;
	}
	if (app->listener != NULL && app->listener->session != session) {
		snprintf(err, err_size, "conntrack: events: somebody else listens");
		return NULL;
	}
	if (app->listener == NULL && !start(app, session)) {
		snprintf(err, err_size, "conntrack: events: out of memory");
		return NULL;
	}
	list = json_array();
	app->listener->asked_tsc = rte_rdtsc();
	for (unsigned int i = 0; i < app->r->n_workers; i++)
		take_worker(app->listener, i, filter, json, list);
	return list;
}
