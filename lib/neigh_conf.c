/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours, control's side: pins of routes, static entries, the list for people. Control never
 * touches an entry; each of these runs in the host worker between two bursts.
 */
#include "lib/conf.h"
#include "lib/neigh_table.h"
#include "lib/router.h"

#include <errno.h>
#include <stdlib.h>

static const char *const state_names[SL_NEIGH_STATE_NB] = {
	[SL_NEIGH_NONE] = "none",
	[SL_NEIGH_INCOMPLETE] = "incomplete",
	[SL_NEIGH_REACHABLE] = "reachable",
	[SL_NEIGH_STALE] = "stale",
	[SL_NEIGH_DELAY] = "delay",
	[SL_NEIGH_PROBE] = "probe",
	[SL_NEIGH_FAILED] = "failed",
	[SL_NEIGH_PERMANENT] = "permanent",
};

const char *sl_neigh_state_name(enum sl_neigh_state state)
{
	return state_names[state];
}

/* ---- pins ----------------------------------------------------------------------------------- */

struct pin_call {
	uint16_t port;
	uint8_t family;
	const struct sl_addr *addr;
	struct neigh_entry *entry;
};

static void pin(struct sl_worker *w, void *arg)
{
	struct pin_call *c = arg;
	struct sl_neigh_table *t = w->r->neigh;

	c->entry = neigh_lookup(t, c->port, c->family, c->addr);
	if (c->entry == NULL)
		c->entry = neigh_insert(t, c->port, c->family, c->addr);
	if (c->entry != NULL)
		c->entry->pins++;
}

struct sl_neigh *sl_neigh_pin(struct sl_router *r, uint16_t port, enum sl_family family,
		const struct sl_addr *addr)
{
	struct pin_call c = { .port = port, .family = (uint8_t)family, .addr = addr };

	sl_worker_call(r->workers[0], pin, &c);
	return c.entry != NULL ? &c.entry->n : NULL;
}

static void unpin(struct sl_worker *w, void *arg)
{
	struct neigh_entry *e = arg;

	if (--e->pins == 0 && !e->live)
		neigh_forget(w->r->neigh, e);
}

void sl_neigh_unpin(struct sl_router *r, struct sl_neigh *n)
{
	sl_worker_call(r->workers[0], unpin, n);
}

/* ---- static entries ------------------------------------------------------------------------- */

struct apply_call {
	const struct sl_conf *conf;
	const uint16_t *ports; /* of each entry */
	int ret;
};

static void apply(struct sl_worker *w, void *arg)
{
	struct apply_call *c = arg;
	struct sl_neigh_table *t = w->r->neigh;
	struct neigh_entry *e, *next;

	c->ret = neigh_reserve(t, c->conf->n_neighbours);
	if (c->ret < 0)
		return;
	TAILQ_FOREACH (e, &t->all, all)
		e->wanted = false;
	for (unsigned int i = 0; i < c->conf->n_neighbours; i++) {
		const struct sl_neigh_conf *nc = &c->conf->neighbours[i];

		e = neigh_lookup(t, c->ports[i], nc->family, &nc->ip);
		if (e == NULL)
			e = neigh_insert(t, c->ports[i], nc->family, &nc->ip);
		e->wanted = true;
		neigh_set_permanent(w, e, &nc->mac);
	}
	for (e = TAILQ_FIRST(&t->all); e != NULL; e = next) {
		next = TAILQ_NEXT(e, all);
		if (e->state == SL_NEIGH_PERMANENT && !e->wanted)
			neigh_forget(t, e);
	}
}

int sl_neigh_apply(struct sl_router *r, const struct sl_conf *conf, char *err, size_t err_size)
{
	uint16_t *ports = calloc(conf->n_neighbours + 1, sizeof(*ports));
	struct apply_call c = { .conf = conf, .ports = ports };

	if (ports == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < conf->n_neighbours; i++) {
		const struct sl_neigh_conf *nc = &conf->neighbours[i];

		ports[i] = sl_router_port(r, nc->port);
		if (ports[i] == 0) {
			snprintf(err, err_size,
					"%s:%u:%u: neighbour on port '%s', which does not exist",
					conf->path, nc->at.line, nc->at.column, nc->port);
			free(ports);
			return -EINVAL;
		}
	}
	sl_worker_call(r->workers[0], apply, &c);
	if (c.ret < 0)
		snprintf(err, err_size, "%s: no memory for %u neighbours", conf->path,
				conf->n_neighbours);
	free(ports);
	return c.ret;
}

/* ---- the list ------------------------------------------------------------------------------- */

struct list_call {
	struct sl_neigh_info *out;
	unsigned int max, n;
};

static void list(struct sl_worker *w, void *arg)
{
	struct list_call *c = arg;
	const struct neigh_entry *e;

	TAILQ_FOREACH (e, &w->r->neigh->all, all) {
		uint64_t link = atomic_load_explicit(&e->n.link, memory_order_relaxed);
		struct sl_neigh_info *info;

		if (!e->live || c->n++ >= c->max)
			continue;
		info = &c->out[c->n - 1];
		*info = (struct sl_neigh_info){
			.port = e->n.port,
			.family = e->n.family,
			.addr = e->n.addr,
			.state = (enum sl_neigh_state)e->state,
			.has_mac = (link & SL_NEIGH_USABLE) != 0,
			.router = e->router,
			.pinned = e->pins > 0,
			.queued = e->n_queued,
			.age_ns = e->confirmed_ns != 0 ? w->now_ns - e->confirmed_ns : 0,
		};
		neigh_mac_of(link, &info->mac);
	}
}

static int compare(const void *pa, const void *pb)
{
	const struct sl_neigh_info *a = pa, *b = pb;

	if (a->port != b->port)
		return a->port < b->port ? -1 : 1;
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	return memcmp(a->addr.b, b->addr.b, sizeof(a->addr.b));
}

unsigned int sl_neigh_list(struct sl_router *r, struct sl_neigh_info *out, unsigned int max)
{
	struct list_call c = { .out = out, .max = max };

	sl_worker_call(r->workers[0], list, &c);
	if (max > 0)
		qsort(out, RTE_MIN(c.n, max), sizeof(*out), compare);
	return c.n;
}
