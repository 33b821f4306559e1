/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/router_conntrack.h"

#include "conntrack/table.h"
#include "lib/router.h"

int64_t router_conntrack_count(const struct sl_router *r)
{
	const struct ct_table *t = ct_table_of(r);

	return t == NULL ? -1 : (int64_t)ct_table_count(t);
}

static void kill_one(struct ct_shard *s, struct ct_entry *e, void *arg)
{
	(void)arg;
	ct_kill(s, e);
}

/* what died is buried here: it is no work of the packets that come next */
static void forget(struct sl_worker *w, void *arg)
{
	struct ct_table *t = arg;
	struct ct_shard *s = t->shard[w->id];

	ct_walk(s, 0, s->room, kill_one, NULL);
	ct_tick(s, s->now_ms);
}

void router_conntrack_flush(struct sl_router *r)
{
	struct ct_table *t = ct_table_of(r);

	for (unsigned int i = 0; t != NULL && i < t->n_shards; i++)
		sl_worker_call(r->workers[i], forget, t);
}
