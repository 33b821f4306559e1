/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same answers that sluicectl gets, put into rows. Control does this between other work; workers
 * notice nothing, as their counters are only read.
 */
#include "app/sluice/metrics_rows.h"

#include "app/sluice/app.h"
#include "app/sluice/commands.h"
#include "config/build.h"
#include "lib/conf.h"

#include <string.h>
#include <time.h>

#define NAT_PERIOD_NS 5000000000ULL
/* addresses with rows of their own; a prefix of NETMAP may have any number */
#define NAT_ADDRESSES_MAX 256

static json_t *ask(struct app *app, const char *name, json_t *args)
{
	json_int_t next = 0;
	char err[256];
	json_t *result = command_find(name)->run(app, args, &next, err, sizeof(err));

	json_decref(args);
	return result;
}

static const char *text(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s == NULL ? "" : s;
}

static json_int_t number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

static void add_to(json_t *o, const char *key, json_int_t n)
{
	json_object_set_new(o, key, json_integer(number(o, key) + n));
}

/* the row of @rows whose @n fields @keys are those of @row; NULL: there is none */
static json_t *same_row(
		const json_t *rows, const json_t *row, const char *const *keys, unsigned int n)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		json_t *other = json_array_get(rows, i);
		unsigned int k = 0;

		while (k < n
				&& json_equal(json_object_get(row, keys[k]),
						json_object_get(other, keys[k])))
			k++;
		if (k == n)
			return other;
	}
	return NULL;
}

/* adds @row to @rows, or its @sums to the row that has the same @keys already; takes @row */
static void merge(json_t *rows, json_t *row, const char *const *keys, unsigned int n_keys,
		const char *const *sums, unsigned int n_sums)
{
	json_t *same = same_row(rows, row, keys, n_keys);

	if (same == NULL) {
		json_array_append_new(rows, row);
		return;
	}
	for (unsigned int i = 0; i < n_sums; i++)
		add_to(same, sums[i], number(row, sums[i]));
	json_decref(row);
}

static void add_status(struct app *app, json_t *rows)
{
	json_t *status = ask(app, "status", NULL);
	json_t *workers = json_object_get(status, "workers");

	json_object_set_new(status, "start_s", json_real((double)app->r->start_wall_ns / 1e9));
	json_object_set_new(status, "conntrack_max",
			json_integer((json_int_t)app->conf->conntrack_max));
	for (size_t i = 0; i < json_array_size(workers); i++) {
		json_t *w = json_array_get(workers, i);

		json_object_set(w, "worker", json_object_get(w, "id"));
		json_object_set_new(w, "busy_s", json_real((double)number(w, "busy_ns") / 1e9));
	}
	json_object_set(rows, "workers", workers);
	json_object_set(rows, "packet_log", json_object_get(status, "packet_log"));
	json_object_set_new(rows, "status", status);
}

/* every reason of every port, with 0 too: a counter that begins at its first drop has no rate */
static json_t *drop_rows(const json_t *ports, const json_t *drops)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < json_array_size(drops); i++) {
		const json_t *d = json_array_get(drops, i);
		const json_t *by_port = json_object_get(d, "ports");

		for (size_t k = 0; k < json_array_size(ports); k++) {
			json_t *port = json_object_get(json_array_get(ports, k), "port");
			json_t *row = json_object();

			json_object_set(row, "port", port);
			json_object_set(row, "reason", json_object_get(d, "reason"));
			json_object_set_new(row, "packets",
					json_integer(number(by_port, json_string_value(port))));
			json_array_append_new(rows, row);
		}
	}
	return rows;
}

static void add_ports(struct app *app, json_t *rows)
{
	json_t *ports = ask(app, "ports", NULL);
	json_t *drops = ask(app, "drops", json_pack("{s:b}", "all", 1));

	for (size_t i = 0; i < json_array_size(ports); i++) {
		json_t *p = json_array_get(ports, i);

		json_object_set(p, "port", json_object_get(p, "name"));
	}
	json_object_set_new(rows, "drops", drop_rows(ports, drops));
	json_object_set_new(rows, "ports", ports);
	json_decref(drops);
}

static void add_stages(struct app *app, json_t *rows)
{
	static const char *const keys[] = { "hook", "stage", "order" };
	static const char *const sums[] = { "packets", "survivors", "drops", "batches", "cycles" };
	json_t *stages = ask(app, "stages", NULL);
	json_t *merged = json_array();

	/* a configuration may have one stage twice in one place */
	for (size_t i = 0; i < json_array_size(stages); i++)
		merge(merged, json_incref(json_array_get(stages, i)), keys, RTE_DIM(keys), sums,
				RTE_DIM(sums));
	json_object_set_new(rows, "stages", merged);
	json_decref(stages);
}

static void add_conntrack(struct app *app, json_t *rows)
{
	static const char prefix[] = "invalid_";
	json_t *stats = ask(app, "conntrack", json_pack("{s:s}", "do", "stats"));
	json_t *invalid = json_array();

	for (size_t i = 0; i < json_array_size(stats); i++) {
		json_t *s = json_array_get(stats, i);

		for (void *k = json_object_iter(s); k != NULL; k = json_object_iter_next(s, k)) {
			const char *key = json_object_iter_key(k);

			if (strncmp(key, prefix, strlen(prefix)) != 0)
				continue;
			json_array_append_new(invalid,
					json_pack("{s:O, s:s, s:O}", "worker",
							json_object_get(s, "worker"), "reason",
							key + strlen(prefix), "packets",
							json_object_iter_value(k)));
		}
	}
	json_object_set_new(rows, "conntrack", stats);
	json_object_set_new(rows, "invalid", invalid);
}

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* workers together; addresses that are too many under one name */
static json_t *nat_rows(const json_t *addresses)
{
	static const char *const keys[] = { "address", "protocol" };
	static const char *const sums[] = { "connections", "ports" };
	json_t *rows = json_array();
	const char *last = "";
	unsigned int n = 0;

	for (size_t i = 0; i < json_array_size(addresses); i++) {
		json_t *row = json_copy(json_array_get(addresses, i));

		/* they come by address */
		n += strcmp(last, text(row, "address")) != 0;
		last = text(json_array_get(addresses, i), "address");
		if (n > NAT_ADDRESSES_MAX)
			json_object_set_new(row, "address", json_string("other"));
		merge(rows, row, keys, RTE_DIM(keys), sums, RTE_DIM(sums));
	}
	return rows;
}

static json_t *exhausted_rows(const json_t *exhausted)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < json_array_size(exhausted); i++)
		json_array_append_new(rows,
				json_pack("{s:I, s:O}", "worker", (json_int_t)i, "packets",
						json_array_get(exhausted, i)));
	return rows;
}

/* walks over all connections, in small steps; often asked, it would take control's time */
static void add_nat(struct app *app, struct metrics_cache *cache, json_t *rows)
{
	uint64_t now_ns = monotonic_ns();

	if (cache->nat == NULL || now_ns - cache->nat_ns > NAT_PERIOD_NS) {
		json_decref(cache->nat);
		cache->nat = ask(app, "nat", NULL);
		cache->nat_ns = now_ns;
	}
	json_object_set_new(rows, "nat", nat_rows(json_object_get(cache->nat, "addresses")));
	json_object_set_new(rows, "exhausted",
			exhausted_rows(json_object_get(cache->nat, "exhausted")));
}

static void add_policy(const struct sl_firewall_policy *p, void *arg)
{
	json_array_append_new(arg,
			json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "family",
					p->family == IPT_V6 ? "ipv6" : "ipv4", "table", p->table,
					"chain", p->chain, "policy", p->drop ? "DROP" : "ACCEPT",
					"packets", (json_int_t)p->packets, "bytes",
					(json_int_t)p->bytes));
}

static void add_rules(struct app *app, json_t *rows)
{
	json_t *policies = json_array();
	json_t *rules = json_array();

	if (app->fw != NULL) {
		sl_firewall_policies(app->fw, add_policy, policies);
		for (unsigned int i = 0; i < 2; i++)
			json_array_append_new(rules,
					json_pack("{s:s, s:I}", "family", i == 0 ? "ipv4" : "ipv6",
							"rules",
							(json_int_t)sl_firewall_rules(app->fw,
									i == 0 ? IPT_V4 : IPT_V6)));
	}
	json_object_set_new(rows, "policies", policies);
	json_object_set_new(rows, "rules", rules);
}

json_t *metrics_rows(struct app *app, struct metrics_cache *cache)
{
	json_t *rows = json_object();

	add_status(app, rows);
	add_ports(app, rows);
	add_stages(app, rows);
	add_conntrack(app, rows);
	add_nat(app, cache, rows);
	add_rules(app, rows);
	return rows;
}

void metrics_cache_free(struct metrics_cache *cache)
{
	json_decref(cache->nat);
	cache->nat = NULL;
}
