/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/masquerade.h"

#include "app/sluice/app.h"
#include "conntrack/table.h"
#include "lib/conf.h"
#include "lib/log.h"

#include <inttypes.h>
#include <string.h>

SL_LOG_TYPE("nat");

/* entries of memory that a worker looks at in one go: some microseconds */
#define STEP 256

struct walk {
	struct ct_shard *shard;
	uint32_t from; /* CT_NONE behind the last */
	uint16_t port;
	const struct sl_prefix *addr; /* NULL: any */
	uint64_t n_ended;
};

/* [worker] */
static void visit(struct ct_shard *s, struct ct_entry *e, void *arg)
{
	struct walk *w = arg;

	if (e->nat_port != w->port
			|| (w->addr != NULL
					&& (e->reply.family != w->addr->family
							|| !sl_addr_eq(&e->reply.dst,
									&w->addr->addr))))
		return;
	ct_kill(s, e);
	w->n_ended++;
}

/* [worker] */
static void take_step(struct sl_worker *w, void *arg)
{
	struct walk *walk = arg;

	walk->shard->now_ms = ct_now(w->now_ns);
	walk->from = ct_walk(walk->shard, walk->from, STEP, visit, walk);
}

static void end(struct app *app, uint16_t port, const struct sl_prefix *addr)
{
	const struct ct_table *t = ct_table_of(app->r);
	struct walk w = { .port = port, .addr = addr };

	for (unsigned int i = 0; t != NULL && i < t->n_shards; i++) {
		w.shard = t->shard[i];
		for (w.from = 0; w.from != CT_NONE;)
			sl_worker_call(app->r->workers[i], take_step, &w);
	}
	if (w.n_ended > 0)
		SL_LOG(NOTICE, "%s: %s is gone, and %" PRIu64 " masqueraded connections with it",
				app->r->ports[port].name, addr == NULL ? "the link" : "an address",
				w.n_ended);
}

void masquerade_port_down(struct app *app, uint16_t port)
{
	end(app, port, NULL);
}

static bool has_address(const struct sl_port_conf *p, const struct sl_prefix *addr)
{
	for (unsigned int i = 0; i < p->n_addresses; i++)
		if (p->addresses[i].family == addr->family
				&& sl_addr_eq(&p->addresses[i].addr, &addr->addr))
			return true;
	return false;
}

static const struct sl_port_conf *port_of(const struct sl_conf *conf, const char *name)
{
	for (unsigned int i = 0; i < conf->n_ports; i++)
		if (strcmp(conf->ports[i].name, name) == 0)
			return &conf->ports[i];
	return NULL;
}

void masquerade_addresses(struct app *app, const struct sl_conf *new)
{
	for (uint16_t id = 1; id <= app->r->n_ports; id++) {
		const struct sl_port_conf *was = port_of(app->conf, app->r->ports[id].name);
		const struct sl_port_conf *now = port_of(new, app->r->ports[id].name);

		for (unsigned int i = 0; was != NULL && now != NULL && i < was->n_addresses; i++)
			if (!has_address(now, &was->addresses[i]))
				end(app, id, &was->addresses[i]);
	}
}
