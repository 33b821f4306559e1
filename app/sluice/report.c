/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/report.h"

#include <inttypes.h>
#include <jansson.h>

static uint64_t dropped(const struct sl_router *r, enum sl_drop_reason reason)
{
	uint64_t sum = 0;

	for (uint16_t port = 0; port <= r->n_ports; port++)
		sum += sl_router_drops(r, port, reason);
	return sum;
}

static const struct sl_pipeline *pipeline(const struct sl_router *r)
{
	return atomic_load(&r->snap)->pl;
}

static const char *port_name(const struct sl_router *r, uint16_t port)
{
	return port == SL_PORT_HOST ? "(router)" : r->ports[port].name;
}

static void print_ports(const struct sl_router *r, FILE *out)
{
	fprintf(out, "%-15s %10s %10s %10s %10s %10s\n", "port", "received", "sent", "forwarded",
			"delivered", "dropped");
	for (uint16_t i = 1; i <= r->n_ports + 1; i++) {
		uint16_t port = i > r->n_ports ? SL_PORT_HOST : i; /* the router's own last */
		struct sl_port_stats s;

		sl_router_port_stats(r, port, &s);
		fprintf(out,
				"%-15s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %10" PRIu64
				" %10" PRIu64 "\n",
				port_name(r, port), s.rx, s.tx, s.forwarded, s.delivered,
				s.dropped);
	}
}

static void print_drops(const struct sl_router *r, FILE *out)
{
	bool any = false;

	for (unsigned int d = 0; d < SL_DROP_NB; d++) {
		uint64_t n = dropped(r, (enum sl_drop_reason)d);

		if (n == 0)
			continue;
		if (!any)
			fprintf(out, "\n%-24s %10s\n", "drop", "packets");
		any = true;
		fprintf(out, "%-24s %10" PRIu64 "  %s\n", sl_drop_name((enum sl_drop_reason)d), n,
				sl_drop_help((enum sl_drop_reason)d));
	}
}

static void print_stages(const struct sl_router *r, FILE *out)
{
	const struct sl_pipeline *pl = pipeline(r);

	fprintf(out, "\n%-12s %-16s %10s %10s %10s %14s\n", "hook", "stage", "packets", "drops",
			"batches", "cycles/packet");
	for (unsigned int i = 0; i < pl->n; i++) {
		const struct sl_stage_inst *inst = &pl->stages[i];
		struct sl_stage_stats s;

		sl_router_stage_stats(r, inst->slot, &s);
		fprintf(out, "%-12s %-16s %10" PRIu64 " %10" PRIu64 " %10" PRIu64 " %14.1f\n",
				sl_hook_name((enum sl_hook)inst->hook), inst->ops->name, s.packets,
				s.drops, s.batches,
				s.packets == 0 ? 0.0 : (double)s.cycles / (double)s.packets);
	}
}

void report_print(const struct sl_router *r, FILE *out)
{
	print_ports(r, out);
	print_drops(r, out);
	print_stages(r, out);
}

static json_t *integer(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *json_ports(const struct sl_router *r)
{
	json_t *ports = json_object();

	for (uint16_t i = 1; i <= r->n_ports; i++) {
		struct sl_port_stats s;
		json_t *port = json_object();

		sl_router_port_stats(r, i, &s);
		json_object_set_new(port, "rx", integer(s.rx));
		json_object_set_new(port, "rx_bytes", integer(s.rx_bytes));
		json_object_set_new(port, "tx", integer(s.tx));
		json_object_set_new(port, "tx_bytes", integer(s.tx_bytes));
		json_object_set_new(port, "forwarded", integer(s.forwarded));
		json_object_set_new(port, "delivered", integer(s.delivered));
		json_object_set_new(port, "dropped", integer(s.dropped));
		json_object_set_new(ports, r->ports[i].name, port);
	}
	return ports;
}

static json_t *json_drops(const struct sl_router *r)
{
	json_t *drops = json_object();

	for (unsigned int d = 0; d < SL_DROP_NB; d++) {
		uint64_t n = dropped(r, (enum sl_drop_reason)d);

		if (n > 0)
			json_object_set_new(
					drops, sl_drop_name((enum sl_drop_reason)d), integer(n));
	}
	return drops;
}

static json_t *json_stages(const struct sl_router *r)
{
	const struct sl_pipeline *pl = pipeline(r);
	json_t *stages = json_array();

	for (unsigned int i = 0; i < pl->n; i++) {
		const struct sl_stage_inst *inst = &pl->stages[i];
		json_t *stage = json_object();
		struct sl_stage_stats s;

		sl_router_stage_stats(r, inst->slot, &s);
		json_object_set_new(
				stage, "hook", json_string(sl_hook_name((enum sl_hook)inst->hook)));
		json_object_set_new(stage, "stage", json_string(inst->ops->name));
		json_object_set_new(stage, "packets", integer(s.packets));
		json_object_set_new(stage, "drops", integer(s.drops));
		json_object_set_new(stage, "batches", integer(s.batches));
		json_object_set_new(stage, "cycles", integer(s.cycles));
		json_array_append_new(stages, stage);
	}
	return stages;
}

bool report_json(const struct sl_router *r, const char *path)
{
	json_t *root = json_object();
	bool ok;

	json_object_set_new(root, "ports", json_ports(r));
	json_object_set_new(root, "drops", json_drops(r));
	json_object_set_new(root, "stages", json_stages(r));
	ok = json_dump_file(root, path, JSON_INDENT(1)) == 0;
	json_decref(root);
	return ok;
}

bool report_balance(const struct sl_router *r, FILE *out)
{
	uint64_t rx, accounted;
	int off = sl_router_balance(r, &rx, &accounted);

	if (off == 0)
		return true;
	fprintf(out, "balance of %s is off: %" PRIu64 " received, %" PRIu64 " accounted for\n",
			port_name(r, (uint16_t)(off - 1)), rx, accounted);
	return false;
}
