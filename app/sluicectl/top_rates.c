/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluicectl/top_rates.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static double number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

/* a second; @was NULL: since 0 */
static double rate(const json_t *was, const json_t *now, const char *key, double s)
{
	double d = number(now, key) - number(was, key);

	return d > 0 && s > 0 ? d / s : 0;
}

/* the row of @list that has the @keys of @row, NULL behind the last; or NULL */
static const json_t *same(const json_t *list, const json_t *row, const char *const *keys)
{
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *other = json_array_get(list, i);
		const char *const *k = keys;

		while (*k != NULL
				&& json_equal(json_object_get(other, *k), json_object_get(row, *k)))
			k++;
		if (*k == NULL)
			return other;
	}
	return NULL;
}

static void set(json_t *o, const char *key, double value)
{
	json_object_set_new(o, key, json_real(value));
}

static void take(json_t *o, const json_t *from, const char *key)
{
	json_object_set(o, key, json_object_get(from, key));
}

static json_t *worker_rates(const json_t *was, const json_t *now, double s)
{
	static const char *const keys[] = { "id", NULL };
	const json_t *list = json_object_get(now, "workers");
	json_t *rows = json_array();

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *w = json_array_get(list, i);
		const json_t *old = same(json_object_get(was, "workers"), w, keys);
		double busy = rate(old, w, "busy_ns", s) / 1e9;
		json_t *o = json_object();

		json_object_set(o, "worker", json_object_get(w, "id"));
		take(o, w, "cpu");
		/* the two samples are not taken at the very moments that their clock says */
		set(o, "busy", busy > 1 ? 1 : busy);
		json_array_append_new(rows, o);
	}
	return rows;
}

static json_t *port_rates(const json_t *was, const json_t *now, double s)
{
	static const char *const keys[] = { "id", NULL };
	json_t *rows = json_array();

	for (size_t i = 0; i < json_array_size(now); i++) {
		const json_t *p = json_array_get(now, i);
		const json_t *old = same(was, p, keys);
		json_t *o = json_object();

		take(o, p, "name");
		take(o, p, "up");
		set(o, "rx", rate(old, p, "rx", s));
		set(o, "rx_bits", 8 * rate(old, p, "rx_bytes", s));
		set(o, "tx", rate(old, p, "tx", s));
		set(o, "tx_bits", 8 * rate(old, p, "tx_bytes", s));
		set(o, "dropped", rate(old, p, "dropped", s));
		set(o, "missed",
				rate(old, p, "missed", s) + rate(old, p, "rx_errors", s)
						+ rate(old, p, "tx_errors", s)
						+ rate(old, p, "rx_no_buffer", s));
		json_array_append_new(rows, o);
	}
	return rows;
}

static json_t *stage_rates(const json_t *was, const json_t *now, double s)
{
	static const char *const keys[] = { "hook", "stage", "order", NULL };
	json_t *rows = json_array();
	double all = 0;

	for (size_t i = 0; i < json_array_size(now); i++)
		all += rate(same(was, json_array_get(now, i), keys), json_array_get(now, i),
				"cycles", s);
	for (size_t i = 0; i < json_array_size(now); i++) {
		const json_t *g = json_array_get(now, i);
		const json_t *old = same(was, g, keys);
		double cycles = rate(old, g, "cycles", s), packets = rate(old, g, "packets", s);
		json_t *o = json_object();

		take(o, g, "hook");
		take(o, g, "stage");
		take(o, g, "order");
		set(o, "packets", packets);
		set(o, "dropped", rate(old, g, "drops", s));
		set(o, "cycles_per_packet", packets > 0 ? cycles / packets : 0);
		set(o, "share", all > 0 ? cycles / all : 0);
		json_array_append_new(rows, o);
	}
	return rows;
}

/* those that occurred, the most frequent first */
static json_t *drop_rates(const json_t *was, const json_t *now, double s)
{
	static const char *const keys[] = { "reason", NULL };
	json_t *rows = json_array();

	for (size_t i = 0; i < json_array_size(now); i++) {
		const json_t *d = json_array_get(now, i);
		double r = rate(same(was, d, keys), d, "packets", s);
		json_t *o = json_object();
		size_t at = 0;

		take(o, d, "reason");
		set(o, "rate", r);
		take(o, d, "packets");
		take(o, d, "help");
		while (at < json_array_size(rows) && number(json_array_get(rows, at), "rate") >= r)
			at++;
		json_array_insert_new(rows, at, o);
	}
	return rows;
}

/* NULL where nothing is tracked */
static json_t *connection_rates(const json_t *was, const json_t *now, double s)
{
	static const char *const counters[] = { "insert", "delete", "invalid", "insert_failed",
		"drop", "early_drop" };
	static const char *const keys[] = { "worker", NULL };
	json_int_t entries = 0;
	json_t *o;

	if (json_array_size(now) == 0)
		return NULL;
	o = json_object();
	for (size_t i = 0; i < json_array_size(now); i++) {
		const json_t *w = json_array_get(now, i);

		entries += json_integer_value(json_object_get(w, "entries"));
		for (size_t k = 0; k < sizeof(counters) / sizeof(counters[0]); k++)
			set(o, counters[k],
					number(o, counters[k])
							+ rate(same(was, w, keys), w, counters[k],
									s));
	}
	json_object_set_new(o, "entries", json_integer(entries));
	return o;
}

json_t *top_rates(const json_t *was, const json_t *now, double s)
{
	static const char *const facts[] = { "version", "pid", "uptime_s", "config", "buffers",
		"buffers_in_use" };
	const json_t *status = json_object_get(now, "status");
	json_t *o = json_object(), *connections;

	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		take(o, status, facts[i]);
	json_object_set_new(o, "workers", worker_rates(json_object_get(was, "status"), status, s));
#define PART(name, function)         \
	json_object_set_new(o, name, \
			function(json_object_get(was, name), json_object_get(now, name), s))
	PART("ports", port_rates);
	PART("stages", stage_rates);
	PART("drops", drop_rates);
#undef PART
	connections = connection_rates(
			json_object_get(was, "conntrack"), json_object_get(now, "conntrack"), s);
	if (connections != NULL)
		json_object_set_new(o, "connections", connections);
	return o;
}
