/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluicectl/show.h"

#include "app/sluicectl/conntrack.h"
#include "app/sluicectl/table.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TEXT 32

static int64_t number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s == NULL ? "-" : s;
}

static void cell_number(struct table *t, const json_t *o, const char *key)
{
	char buf[TEXT];

	table_cell(t, "%s", group_digits(number(o, key), buf));
}

static void show_workers(const json_t *workers)
{
	static const char *const columns[] = { "worker", ">cpu", ">polls", ">idle", ">rests",
		NULL };
	struct table *t = table_new(columns);

	for (size_t i = 0; i < json_array_size(workers); i++) {
		const json_t *w = json_array_get(workers, i);

		cell_number(t, w, "id");
		cell_number(t, w, "cpu");
		cell_number(t, w, "polls");
		cell_number(t, w, "idle_polls");
		cell_number(t, w, "rests");
	}
	table_print(t, stdout, "no workers");
}

/* nothing where no rule ever logged */
static void show_packet_log(const json_t *o)
{
	static const char *const names[] = { "lines", "suppressed", "packets", "unread", "lost",
		"failed" };
	bool any = false;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		any |= number(o, names[i]) != 0;
	if (!any)
		return;
	printf("packet log: LOG %lld lines, %lld suppressed; NFLOG %lld packets, %lld unread; "
	       "%lld lost, %lld not written\n",
			(long long)number(o, "lines"), (long long)number(o, "suppressed"),
			(long long)number(o, "packets"), (long long)number(o, "unread"),
			(long long)number(o, "lost"), (long long)number(o, "failed"));
}

static void show_status(const json_t *o)
{
	char used[TEXT], size[TEXT], up[TEXT];

	printf("sluice %s, pid %lld, up %s\n", text(o, "version"), (long long)number(o, "pid"),
			human_seconds((uint64_t)number(o, "uptime_s"), up));
	printf("config %s, %lld reloads, %lld ports\n", text(o, "config"),
			(long long)number(o, "reloads"), (long long)number(o, "ports"));
	printf("buffers %s of %s in use, %s\n", group_digits(number(o, "buffers_in_use"), used),
			group_digits(number(o, "buffers"), size),
			json_is_true(json_object_get(o, "hugepages")) ? "in hugepages"
								      : "no hugepages");
	show_packet_log(json_object_get(o, "packet_log"));
	printf("\n");
	show_workers(json_object_get(o, "workers"));
}

static void show_addresses(const json_t *ports)
{
	static const char *const columns[] = { "port", "device", "mac", ">mtu", ">vlan",
		"addresses", NULL };
	struct table *t = table_new(columns);

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *p = json_array_get(ports, i);
		const json_t *list = json_object_get(p, "addresses");
		char all[1024] = "";
		size_t n = 0;

		if (number(p, "id") == 0)
			continue;
		for (size_t k = 0; k < json_array_size(list) && n < sizeof(all); k++)
			n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s", k == 0 ? "" : " ",
					json_string_value(json_array_get(list, k)));
		table_cell(t, "%s", text(p, "name"));
		table_cell(t, "%s%s%s", text(p, "driver"),
				json_object_get(p, "iface") == NULL ? "" : " ",
				json_object_get(p, "iface") == NULL ? "" : text(p, "iface"));
		table_cell(t, "%s", text(p, "mac"));
		table_cell(t, "%lld", (long long)number(p, "mtu"));
		table_cell(t, json_object_get(p, "vlan") == NULL ? "-" : "%lld",
				(long long)number(p, "vlan"));
		table_cell(t, "%s", all);
	}
	table_print(t, stdout, "no ports");
}

static void show_ports(const json_t *ports)
{
	static const char *const columns[] = { "port", "link", ">rx", ">rx bytes", ">tx",
		">tx bytes", ">forwarded", ">delivered", ">held", ">dropped", ">missed", ">errors",
		NULL };
	struct table *t = table_new(columns);
	char buf[TEXT];

	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *p = json_array_get(ports, i);
		bool router = number(p, "id") == 0;

		table_cell(t, "%s", text(p, "name"));
		table_cell(t, "%s",
				router                                                   ? "-"
						: json_is_true(json_object_get(p, "up")) ? "up"
											 : "DOWN");
		cell_number(t, p, "rx");
		table_cell(t, "%s", human_bytes((uint64_t)number(p, "rx_bytes"), buf));
		cell_number(t, p, "tx");
		table_cell(t, "%s", human_bytes((uint64_t)number(p, "tx_bytes"), buf));
		cell_number(t, p, "forwarded");
		cell_number(t, p, "delivered");
		cell_number(t, p, "held");
		cell_number(t, p, "dropped");
		cell_number(t, p, "missed");
		table_cell(t, "%s",
				group_digits(number(p, "rx_errors") + number(p, "tx_errors")
								+ number(p, "rx_no_buffer"),
						buf));
	}
	table_print(t, stdout, "no ports");
	putchar('\n');
	show_addresses(ports);
}

static void show_stages(const json_t *stages)
{
	static const char *const columns[] = { "hook", "stage", ">packets", ">out", ">dropped",
		">per batch", ">cycles/packet", ">ns/packet", NULL };
	struct table *t = table_new(columns);

	for (size_t i = 0; i < json_array_size(stages); i++) {
		const json_t *s = json_array_get(stages, i);
		int64_t batches = number(s, "batches");

		table_cell(t, "%s", text(s, "hook"));
		table_cell(t, "%s", text(s, "stage"));
		cell_number(t, s, "packets");
		cell_number(t, s, "survivors");
		cell_number(t, s, "drops");
		table_cell(t, "%.1f",
				batches == 0 ? 0.0
					     : (double)number(s, "packets") / (double)batches);
		table_cell(t, "%.1f", json_real_value(json_object_get(s, "cycles_per_packet")));
		table_cell(t, "%.1f", json_real_value(json_object_get(s, "ns_per_packet")));
	}
	table_print(t, stdout, "no stages");
}

static void show_drops(const json_t *drops)
{
	static const char *const columns[] = { "reason", ">packets", "by port", "meaning", NULL };
	struct table *t = table_new(columns);

	for (size_t i = 0; i < json_array_size(drops); i++) {
		const json_t *d = json_array_get(drops, i);
		json_t *ports = json_object_get(d, "ports");
		char all[512] = "";
		char buf[TEXT];
		size_t n = 0;

		for (void *k = json_object_iter(ports); k != NULL && n < sizeof(all);
				k = json_object_iter_next(ports, k))
			n += (size_t)snprintf(all + n, sizeof(all) - n, "%s%s %s",
					n == 0 ? "" : ", ", json_object_iter_key(k),
					group_digits(json_integer_value(json_object_iter_value(k)),
							buf));
		table_cell(t, "%s", text(d, "reason"));
		cell_number(t, d, "packets");
		table_cell(t, "%s", all);
		table_cell(t, "%s", text(d, "help"));
	}
	table_print(t, stdout, "no packet was dropped");
}

/* "via 10.0.0.1 dev wan", paths one behind the other */
static void path_text(const json_t *via, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < json_array_size(via); i++) {
		const json_t *p = json_array_get(via, i);
		const char *gateway = json_string_value(json_object_get(p, "gateway"));

		if (n >= size)
			break;
		n += (size_t)snprintf(buf + n, size - n, "%s%s%s%sdev %s", i == 0 ? "" : ", ",
				gateway == NULL ? "" : "via ", gateway == NULL ? "" : gateway,
				gateway == NULL ? "" : " ", text(p, "port"));
	}
}

/* rules with what they decided on, and paths that share a route */
static void show_marks(const json_t *marks)
{
	static const char *const rule_columns[] = { "family", ">priority", "rule", ">packets",
		NULL };
	static const char *const path_columns[] = { ">table", "to", "path", ">buckets", ">packets",
		NULL };
	struct table *rules = table_new(rule_columns), *paths = table_new(path_columns);
	const json_t *list = json_object_get(marks, "rules");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *r = json_array_get(list, i);

		table_cell(rules, "IPv%lld", (long long)number(r, "family"));
		cell_number(rules, r, "priority");
		table_cell(rules, "%s", text(r, "rule"));
		cell_number(rules, r, "packets");
	}
	table_print(rules, stdout, "no rules but main's");
	list = json_object_get(marks, "paths");
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *p = json_array_get(list, i);
		const char *gateway = json_string_value(json_object_get(p, "gateway"));

		cell_number(paths, p, "table");
		table_cell(paths, "%s", text(p, "to"));
		table_cell(paths, "%s%s%sdev %s", gateway == NULL ? "" : "via ",
				gateway == NULL ? "" : gateway, gateway == NULL ? "" : " ",
				text(p, "port"));
		if (json_object_get(p, "buckets") == NULL)
			table_cell(paths, "-");
		else
			cell_number(paths, p, "buckets");
		cell_number(paths, p, "packets");
	}
	table_print(paths, stdout, "no route with several paths");
}

static void show_routes(const json_t *routes)
{
	static const char *const columns[] = { ">table", "type", "to", "path", ">metric", NULL };
	struct table *t;

	if (json_is_object(routes)) {
		show_marks(routes);
		return;
	}
	t = table_new(columns);
	for (size_t i = 0; i < json_array_size(routes); i++) {
		const json_t *r = json_array_get(routes, i);
		char path[512];

		path_text(json_object_get(r, "via"), path, sizeof(path));
		table_cell(t, "%lld", (long long)number(r, "table"));
		table_cell(t, "%s", text(r, "type"));
		table_cell(t, "%s", text(r, "to"));
		table_cell(t, "%s", path);
		table_cell(t, "%lld", (long long)number(r, "metric"));
	}
	table_print(t, stdout, "no routes");
}

static void show_neighbours(const json_t *neighbours)
{
	static const char *const columns[] = { "address", "port", "mac", "state", ">queued", ">age",
		NULL };
	struct table *t = table_new(columns);

	for (size_t i = 0; i < json_array_size(neighbours); i++) {
		const json_t *n = json_array_get(neighbours, i);

		table_cell(t, "%s", text(n, "address"));
		table_cell(t, "%s", text(n, "port"));
		table_cell(t, "%s", text(n, "mac"));
		table_cell(t, "%s%s", text(n, "state"),
				json_is_true(json_object_get(n, "router")) ? " router" : "");
		cell_number(t, n, "queued");
		table_cell(t, "%.1f s", (double)number(n, "age_ms") / 1000);
	}
	table_print(t, stdout, "no neighbours");
}

static void show_rules(const json_t *lines)
{
	const json_t *line;
	size_t i;

	json_array_foreach((json_t *)(uintptr_t)lines, i, line)
	{
		const char *s = json_string_value(line);

		puts(s == NULL ? "# a line that is not UTF-8" : s);
	}
}

/* text, or for each line that was done whether it held */
static void show_set(const json_t *result)
{
	if (json_is_string(json_array_get(result, 0)) || json_is_object(json_array_get(result, 0)))
		show_rules(result);
}

static void show_nat(const json_t *nat)
{
	static const char *const columns[] = { "address", "protocol", ">worker", ">connections",
		">ports", NULL };
	const json_t *rows = json_object_get(nat, "addresses");
	const json_t *exhausted = json_object_get(nat, "exhausted");
	struct table *t = table_new(columns);

	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *r = json_array_get(rows, i);

		table_cell(t, "%s", text(r, "address"));
		table_cell(t, "%s", text(r, "protocol"));
		cell_number(t, r, "worker");
		cell_number(t, r, "connections");
		cell_number(t, r, "ports");
	}
	table_print(t, stdout, "no source is translated");
	for (size_t i = 0; i < json_array_size(exhausted); i++)
		printf("worker %zu: %lld packets found no free port\n", i,
				(long long)json_integer_value(json_array_get(exhausted, i)));
}

void show(const char *command, const json_t *result)
{
	static const struct {
		const char *command;
		void (*show)(const json_t *result);
	} shows[] = {
		{ "status", show_status },
		{ "ports", show_ports },
		{ "stages", show_stages },
		{ "drops", show_drops },
		{ "routes", show_routes },
		{ "neighbours", show_neighbours },
		{ "rules", show_rules },
		{ "set", show_set },
		{ "recent", show_rules },
		{ "hashlimit", show_rules },
		{ "conntrack", conntrack_show },
		{ "nat", show_nat },
	};

	for (unsigned int i = 0; i < sizeof(shows) / sizeof(shows[0]); i++) {
		if (strcmp(command, shows[i].command) == 0) {
			shows[i].show(result);
			return;
		}
	}
	if (json_is_string(result))
		puts(json_string_value(result));
	else
		json_dumpf(result, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
}
