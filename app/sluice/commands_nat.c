/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that NAT has given to connections, by address, protocol and worker. */
#include "app/sluice/app.h"
#include "app/sluice/commands.h"
#include "conntrack/text.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

/* entries of memory that a worker looks at in one go: some microseconds */
#define STEP 256

struct use {
	struct sl_addr addr;
	uint8_t family, proto;
	uint16_t worker;
	rte_be16_t port_be; /* or ICMP id; 0 where the protocol has none */
};

struct uses {
	struct use *use;
	size_t n, room;
	struct ct_shard *shard;
	uint32_t from; /* CT_NONE behind the last */
};

/* [worker] */
static void visit(struct ct_shard *s, struct ct_entry *e, void *arg)
{
	bool icmp = e->reply.proto == IPPROTO_ICMP || e->reply.proto == IPPROTO_ICMPV6;
	struct uses *u = arg;

	if ((e->status & CT_SRC_NAT) == 0)
		return;
	u->use[u->n++] = (struct use){
		.addr = e->reply.dst,
		.family = e->reply.family,
		.proto = e->reply.proto,
		.worker = s->worker,
		.port_be = icmp ? e->reply.id_be : e->reply.dport_be,
	};
}

/* [worker] */
static void take_step(struct sl_worker *w, void *arg)
{
	struct uses *u = arg;

	u->shard->now_ms = ct_now(w->now_ns);
	u->from = ct_walk(u->shard, u->from, STEP, visit, u);
}

static int make_room(struct uses *u)
{
	struct use *more;

	if (u->room - u->n >= STEP)
		return 0;
	more = realloc(u->use, (2 * u->room + STEP) * sizeof(*more));
	if (more == NULL)
		return -ENOMEM;
	u->use = more;
	u->room = 2 * u->room + STEP;
	return 0;
}

static int gather(struct app *app, const struct ct_table *t, struct uses *u)
{
	for (unsigned int i = 0; i < t->n_shards; i++) {
		u->shard = t->shard[i];
		for (u->from = 0; u->from != CT_NONE;) {
			if (make_room(u) < 0)
				return -ENOMEM;
			sl_worker_call(app->r->workers[i], take_step, u);
		}
	}
	return 0;
}

/* by what makes a row of the answer; then by port */
static int compare_rows(const struct use *a, const struct use *b)
{
	int d = a->family - b->family;

	if (d == 0)
		d = memcmp(&a->addr, &b->addr, sizeof(a->addr));
	if (d == 0)
		d = a->proto - b->proto;
	return d != 0 ? d : a->worker - b->worker;
}

static int compare(const void *x, const void *y)
{
	const struct use *a = x, *b = y;
	int d = compare_rows(a, b);

	return d != 0 ? d : rte_be_to_cpu_16(a->port_be) - rte_be_to_cpu_16(b->port_be);
}

/* the row that begins at @u, of @n uses at most. Return: how many are of it */
static size_t add_row(json_t *rows, const struct use *u, size_t n)
{
	char text[SL_ADDR_STRLEN];
	json_t *o = json_object();
	size_t i = 1, n_ports = 1;

	for (; i < n && compare_rows(u, &u[i]) == 0; i++)
		n_ports += u[i].port_be != u[i - 1].port_be;
	json_object_set_new(o, "address",
			json_string(sl_addr_str((enum sl_family)u->family, &u->addr, text)));
	json_object_set_new(o, "protocol", json_string(ct_text_proto(u->proto)));
	json_object_set_new(o, "worker", json_integer(u->worker));
	json_object_set_new(o, "connections", json_integer((json_int_t)i));
	json_object_set_new(o, "ports", json_integer((json_int_t)n_ports));
	json_array_append_new(rows, o);
	return i;
}

static json_t *exhausted(const struct ct_table *t)
{
	json_t *list = json_array();

	for (unsigned int i = 0; t != NULL && i < t->n_shards; i++)
		json_array_append_new(list,
				json_integer((json_int_t)__atomic_load_n(
						&t->shard[i]->nat_exhausted, __ATOMIC_RELAXED)));
	return list;
}

/* "addresses": rows; "exhausted": by worker, packets that found no free port */
json_t *command_nat(struct app *app, const json_t *args __rte_unused, json_int_t *next __rte_unused,
		char *err, size_t err_size)
{
	const struct ct_table *t = ct_table_of(app->r);
	json_t *result, *rows;
	struct uses u = { 0 };

	if (t != NULL && gather(app, t, &u) < 0) {
		free(u.use);
		snprintf(err, err_size, "nat: out of memory");
		return NULL;
	}
	rows = json_array();
	if (u.n > 0)
		qsort(u.use, u.n, sizeof(*u.use), compare);
	for (size_t i = 0; i < u.n;)
		i += add_row(rows, &u.use[i], u.n - i);
	free(u.use);
	result = json_object();
	json_object_set_new(result, "addresses", rows);
	json_object_set_new(result, "exhausted", exhausted(t));
	return result;
}
