/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/commands.h"

#include "app/sluice/app.h"
#include "app/sluice/packet_log.h"
#include "app/sluice/reload.h"
#include "lib/conf.h"
#include "lib/net.h"
#include "lib/watch.h"

#include <rte_cycles.h>
#include <rte_mempool.h>

#include <string.h>
#include <unistd.h>

static json_t *integer(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *worker_json(const struct app *app, unsigned int i)
{
	const struct worker_thread *t = &app->threads[i];
	json_t *o = json_object();

	json_object_set_new(o, "id", integer(i));
	json_object_set_new(o, "cpu", integer(t->cpu));
	json_object_set_new(o, "shares_cpu", json_boolean(t->shares));
	json_object_set_new(o, "polls", integer(atomic_load(&t->polls)));
	json_object_set_new(o, "idle_polls", integer(atomic_load(&t->idle)));
	json_object_set_new(o, "rests", integer(atomic_load(&t->rests)));
	json_object_set_new(o, "busy_ns", integer(atomic_load(&t->busy_ns)));
	return o;
}

static json_t *packet_log_json(const struct packet_log *l)
{
	struct packet_log_stats s;
	json_t *o = json_object();

	packet_log_stats(l, &s);
	json_object_set_new(o, "lines", integer(s.lines));
	json_object_set_new(o, "suppressed", integer(s.suppressed));
	json_object_set_new(o, "packets", integer(s.packets));
	json_object_set_new(o, "unread", integer(s.unread));
	json_object_set_new(o, "lost", integer(s.lost));
	json_object_set_new(o, "failed", integer(s.failed));
	return o;
}

static json_t *command_status(struct app *app, const json_t *args __rte_unused,
		json_int_t *next __rte_unused, char *err __rte_unused, size_t err_size __rte_unused)
{
	const struct sl_router *r = app->r;
	const struct sl_watchers *watchers = atomic_load(&r->watchers);
	json_t *workers = json_array();
	json_t *o = json_object();

	for (unsigned int i = 0; i < r->n_workers; i++)
		json_array_append_new(workers, worker_json(app, i));
	json_object_set_new(o, "version", json_string(SLUICE_VERSION));
	json_object_set_new(o, "pid", integer((uint64_t)getpid()));
	json_object_set_new(o, "config", json_string(app->conf_path));
	json_object_set_new(o, "uptime_s", integer((rte_rdtsc() - r->start_tsc) / r->tsc_hz));
	json_object_set_new(o, "reloads", integer(app->reloads));
	json_object_set_new(o, "ports", integer(r->n_ports));
	json_object_set_new(o, "hugepages", json_boolean(app->eal.hugepages));
	json_object_set_new(o, "buffers", integer(app->pool->size));
	json_object_set_new(o, "buffers_in_use", integer(rte_mempool_in_use_count(app->pool)));
	json_object_set_new(o, "tsc_hz", integer(r->tsc_hz));
	json_object_set_new(o, "watchers", integer(watchers == NULL ? 0 : watchers->n));
	json_object_set_new(o, "packet_log", packet_log_json(app->packet_log));
	json_object_set_new(o, "workers", workers);
	return o;
}

static json_t *addresses_json(const struct sl_net *net, uint16_t port)
{
	const struct sl_net_port *np = &net->ports[port];
	json_t *list = json_array();
	char text[SL_ADDR_STRLEN];

	for (unsigned int i = 0; i < np->n_addr4; i++)
		json_array_append_new(list, json_string(sl_prefix_str(&np->addr4[i], text)));
	for (unsigned int i = 0; i < np->n_addr6; i++)
		json_array_append_new(list, json_string(sl_prefix_str(&np->addr6[i], text)));
	return list;
}

static void add_device(json_t *o, const struct sl_port *p, struct port_link *l)
{
	struct link_device_stats stats;
	char mac[RTE_ETHER_ADDR_FMT_SIZE];

	rte_ether_format_addr(mac, sizeof(mac), &p->mac);
	for (char *c = mac; *c != '\0'; c++)
		*c |= *c >= 'A' && *c <= 'F' ? 0x20 : 0;
	json_object_set_new(o, "up", json_boolean(atomic_load(&p->link->up)));
	json_object_set_new(o, "driver", json_string(l->driver));
	if (l->iface[0] != '\0')
		json_object_set_new(o, "iface", json_string(l->iface));
	json_object_set_new(o, "mac", json_string(mac));
	json_object_set_new(o, "mtu", integer(p->mtu));
	if (p->vlan != 0)
		json_object_set_new(o, "vlan", integer(p->vlan));
	json_object_set_new(o, "queues", integer(p->link->n_rxq));
	l->device_stats(l, &stats);
	json_object_set_new(o, "missed", integer(stats.missed));
	json_object_set_new(o, "rx_errors", integer(stats.rx_errors));
	json_object_set_new(o, "rx_no_buffer", integer(stats.rx_no_buffer));
	json_object_set_new(o, "tx_errors", integer(stats.tx_errors));
}

static json_t *port_json(struct app *app, uint16_t id)
{
	const struct sl_port *p = &app->r->ports[id];
	struct sl_port_stats stats;
	json_t *o = json_object();

	sl_router_port_stats(app->r, id, &stats);
	json_object_set_new(o, "name", json_string(id == SL_PORT_HOST ? "router" : p->name));
	json_object_set_new(o, "id", integer(id));
	json_object_set_new(o, "addresses", addresses_json(atomic_load(&app->r->snap)->net, id));
	json_object_set_new(o, "rx", integer(stats.rx));
	json_object_set_new(o, "rx_bytes", integer(stats.rx_bytes));
	json_object_set_new(o, "tx", integer(stats.tx));
	json_object_set_new(o, "tx_bytes", integer(stats.tx_bytes));
	json_object_set_new(o, "forwarded", integer(stats.forwarded));
	json_object_set_new(o, "delivered", integer(stats.delivered));
	json_object_set_new(o, "held", json_integer(stats.held));
	json_object_set_new(o, "dropped", integer(stats.dropped));
	if (id != SL_PORT_HOST)
		add_device(o, p, app->port_link[id]);
	return o;
}

static json_t *command_ports(struct app *app, const json_t *args __rte_unused,
		json_int_t *next __rte_unused, char *err __rte_unused, size_t err_size __rte_unused)
{
	json_t *list = json_array();

	for (unsigned int i = 1; i <= app->r->n_ports; i++)
		json_array_append_new(list, port_json(app, (uint16_t)i));
	/* the router's own packets come last */
	json_array_append_new(list, port_json(app, SL_PORT_HOST));
	return list;
}

static char *stage_text(const struct sl_stage_inst *s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f;

	if (s->ops->describe == NULL)
		return NULL;
	f = open_memstream(&text, &len);
	if (f == NULL)
		return NULL;
	s->ops->describe(s->priv, f);
	fclose(f);
	return text;
}

static json_t *stage_json(const struct app *app, const struct sl_stage_inst *s)
{
	struct sl_stage_stats stats;
	json_t *o = json_object();
	char *text = stage_text(s);
	double cycles;

	sl_router_stage_stats(app->r, s->slot, &stats);
	cycles = stats.packets == 0 ? 0 : (double)stats.cycles / (double)stats.packets;
	json_object_set_new(o, "hook", json_string(sl_hook_name((enum sl_hook)s->hook)));
	json_object_set_new(o, "stage", json_string(s->ops->name));
	json_object_set_new(o, "order", json_integer(s->order));
	json_object_set_new(o, "packets", integer(stats.packets));
	json_object_set_new(o, "survivors", integer(stats.survivors));
	json_object_set_new(o, "drops", integer(stats.drops));
	json_object_set_new(o, "batches", integer(stats.batches));
	json_object_set_new(o, "cycles", integer(stats.cycles));
	json_object_set_new(o, "cycles_per_packet", json_real(cycles));
	json_object_set_new(o, "ns_per_packet", json_real(cycles * 1e9 / (double)app->r->tsc_hz));
	if (text != NULL)
		json_object_set_new(o, "about", json_string(text));
	free(text);
	return o;
}

static json_t *command_stages(struct app *app, const json_t *args __rte_unused,
		json_int_t *next __rte_unused, char *err __rte_unused, size_t err_size __rte_unused)
{
	const struct sl_pipeline *pl = atomic_load(&app->r->snap)->pl;
	json_t *list = json_array();

	for (unsigned int i = 0; i < pl->n; i++)
		json_array_append_new(list, stage_json(app, &pl->stages[i]));
	return list;
}

static json_t *drop_json(const struct app *app, enum sl_drop_reason reason)
{
	json_t *ports = json_object();
	json_t *o = json_object();
	uint64_t sum = 0;

	for (unsigned int i = 0; i <= app->r->n_ports; i++) {
		uint64_t n = sl_router_drops(app->r, (uint16_t)i, reason);

		if (n > 0)
			json_object_set_new(ports,
					i == SL_PORT_HOST ? "router" : app->r->ports[i].name,
					integer(n));
		sum += n;
	}
	json_object_set_new(o, "reason", json_string(sl_drop_name(reason)));
	json_object_set_new(o, "packets", integer(sum));
	json_object_set_new(o, "ports", ports);
	json_object_set_new(o, "help", json_string(sl_drop_help(reason)));
	return o;
}

/* reasons that occurred; with "all": true every reason */
static json_t *command_drops(struct app *app, const json_t *args, json_int_t *next __rte_unused,
		char *err __rte_unused, size_t err_size __rte_unused)
{
	bool all = args != NULL && json_is_true(json_object_get(args, "all"));
	json_t *list = json_array();

	for (unsigned int i = 0; i < SL_DROP_NB; i++) {
		json_t *o = drop_json(app, (enum sl_drop_reason)i);

		if (all || json_integer_value(json_object_get(o, "packets")) > 0)
			json_array_append_new(list, o);
		else
			json_decref(o);
	}
	return list;
}

static json_t *command_reload(struct app *app, const json_t *args __rte_unused,
		json_int_t *next __rte_unused, char *err, size_t err_size)
{
	return reload(app, err, err_size) < 0 ? NULL : json_string("reloaded");
}

static json_t *command_stop(struct app *app, const json_t *args __rte_unused,
		json_int_t *next __rte_unused, char *err __rte_unused, size_t err_size __rte_unused)
{
	app->stop = true;
	return json_string("stopping");
}

const struct command commands[] = {
	{ "status", "version, uptime, workers, memory", command_status, true },
	{ "ports", "ports and their counters", command_ports, true },
	{ "stages", "what each stage of the pipeline did and cost", command_stages, true },
	{ "drops", "packets dropped, by reason and input port", command_drops, true },
	{ "routes", "route tables", command_routes, false },
	{ "neighbours", "ARP and ND entries", command_neighbours, false },
	{ "rules", "rules as iptables-save text; their counters to 0", command_rules, false },
	{ "set", "sets as ipset-save text; lines of ipset that change them", command_set, false },
	{ "recent", "addresses that rules have seen, by list", command_recent, false },
	{ "hashlimit", "rates by key, by table", command_hashlimit, false },
	{ "conntrack", "connections: list, count, stats, delete, flush, expect, events",
			command_conntrack, false },
	{ "nat", "ports that NAT has given away, by address and worker", command_nat, false },
	{ "capture", "packets as pcapng, behind the answer", command_capture, false },
	{ "trace", "the way of packets as lines of JSON, behind the answer", command_trace, false },
	{ "reload", "read the configuration file again", command_reload, false },
	{ "stop", "end the program", command_stop, false },
};

const unsigned int n_commands = RTE_DIM(commands);

const struct command *command_find(const char *name)
{
	for (unsigned int i = 0; i < n_commands; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}
