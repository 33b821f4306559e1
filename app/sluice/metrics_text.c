/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/metrics_text.h"

#include "conntrack/table.h"

#include <string.h>

#define LABELS_MAX 4

enum kind {
	COUNTER,
	GAUGE
};

struct metric {
	const char *name;
	const char *list; /* its rows */
	const char *field; /* of a row; NULL: always 1 */
	enum kind kind;
	const char *help;
	const char *labels[LABELS_MAX]; /* fields of the row that become labels; NULL ends */
};

#define PORT(name, field, help)                                              \
	{                                                                    \
		"sluice_port_" name "_total", "ports", field, COUNTER, help, \
		{                                                            \
			"port"                                               \
		}                                                            \
	}
#define STAGE(name, field, help)                                               \
	{                                                                      \
		"sluice_stage_" name "_total", "stages", field, COUNTER, help, \
		{                                                              \
			"hook", "stage", "order"                               \
		}                                                              \
	}

/* clang-format off */
static const struct metric table[] = {
	{ "sluice_build_info", "status", NULL, GAUGE, "Always 1, with the version as label.",
			{ "version" } },
	{ "sluice_start_time_seconds", "status", "start_s", GAUGE, "When the router started, Unix time.", { NULL } },
	{ "sluice_reloads_total", "status", "reloads", COUNTER, "Reloads of the configuration that went well.", { NULL } },
	{ "sluice_tsc_hertz", "status", "tsc_hz", GAUGE, "Cycles a second, as stages count them.", { NULL } },
	{ "sluice_packet_buffers", "status", "buffers", GAUGE, "Packet buffers that there are.", { NULL } },
	{ "sluice_packet_buffers_in_use", "status", "buffers_in_use", GAUGE, "Packet buffers in use.", { NULL } },

	{ "sluice_worker_busy_seconds_total", "workers", "busy_s", COUNTER,
			"Time in polls that found packets; its rate is the share of the CPU that they took.",
			{ "worker", "cpu" } },
	{ "sluice_worker_polls_total", "workers", "polls", COUNTER, "Polls.", { "worker", "cpu" } },
	{ "sluice_worker_idle_polls_total", "workers", "idle_polls", COUNTER, "Polls that found nothing.", { "worker", "cpu" } },
	{ "sluice_worker_rests_total", "workers", "rests", COUNTER, "Short sleeps of a worker without packets.", { "worker", "cpu" } },

	PORT("receive_packets", "rx", "Packets received."),
	PORT("receive_bytes", "rx_bytes", "Bytes received."),
	PORT("transmit_packets", "tx", "Packets sent."),
	PORT("transmit_bytes", "tx_bytes", "Bytes sent."),
	PORT("forwarded_packets", "forwarded", "Packets received here that were sent on."),
	PORT("delivered_packets", "delivered", "Packets received here that were for the router."),
	{ "sluice_port_held_packets", "ports", "held", GAUGE, "Packets received here that wait.", { "port" } },
	PORT("missed_packets", "missed", "Packets that the device had no room for."),
	PORT("receive_errors", "rx_errors", "Packets that the device received broken."),
	PORT("receive_no_buffer", "rx_no_buffer", "Packets that the device had no buffer for."),
	PORT("transmit_errors", "tx_errors", "Packets that the device failed to send."),
	{ "sluice_port_up", "ports", "up", GAUGE, "1 if the link is up.", { "port" } },
	{ "sluice_dropped_packets_total", "drops", "packets", COUNTER,
			"Packets dropped, by the port that received them and by reason.", { "port", "reason" } },

	STAGE("packets", "packets", "Packets that went into a stage."),
	STAGE("survivors", "survivors", "Packets that came out of a stage."),
	STAGE("dropped_packets", "drops", "Packets that a stage dropped."),
	STAGE("batches", "batches", "Batches that went into a stage."),
	STAGE("cycles", "cycles", "Cycles of the TSC in a stage."),

	{ "sluice_conntrack_entries", "conntrack", "entries", GAUGE, "Tracked connections, as nf_conntrack_count.", { "worker" } },
	{ "sluice_conntrack_max", "status", "conntrack_max", GAUGE, "Connections that there is room for, as nf_conntrack_max.", { NULL } },
#define X(stat) { "sluice_conntrack_" #stat "_total", "conntrack", #stat, COUNTER, \
		"Statistic " #stat " of connection tracking, as the kernel's.", { "worker" } },
	CT_STATS(X)
#undef X
	{ "sluice_conntrack_invalid_reason_total", "invalid", "packets", COUNTER,
			"Packets of state INVALID for which a protocol gave a reason.", { "worker", "reason" } },

	{ "sluice_nat_connections", "nat", "connections", GAUGE,
			"Connections whose source is translated, by the address that they got.", { "address", "protocol" } },
	{ "sluice_nat_ports_in_use", "nat", "ports", GAUGE,
			"Ports or ids that source translation has given away, by address.", { "address", "protocol" } },
	{ "sluice_nat_exhausted_packets_total", "exhausted", "packets", COUNTER,
			"Packets that found no free port.", { "worker" } },

	{ "sluice_rules_policy_packets_total", "policies", "packets", COUNTER,
			"Packets that the policy of a built-in chain decided on.", { "family", "table", "chain", "policy" } },
	{ "sluice_rules_policy_bytes_total", "policies", "bytes", COUNTER,
			"Bytes of packets that the policy of a built-in chain decided on.", { "family", "table", "chain", "policy" } },
	{ "sluice_rules", "rules", "rules", GAUGE, "Rules in force.", { "family" } },

	{ "sluice_packet_log_lines_total", "packet_log", "lines", COUNTER, "Lines that LOG and TRACE wrote.", { NULL } },
	{ "sluice_packet_log_suppressed_total", "packet_log", "suppressed", COUNTER, "Lines of LOG and TRACE above the rate.", { NULL } },
	{ "sluice_packet_log_packets_total", "packet_log", "packets", COUNTER, "Packets that NFLOG wrote.", { NULL } },
	{ "sluice_packet_log_lost_total", "packet_log", "lost", COUNTER, "Packets for the log that found no room.", { NULL } },
};
/* clang-format on */

/* @quotes: of a label's value, not of a help text */
static void put_escaped(const char *s, bool quotes, FILE *out)
{
	for (; *s != '\0'; s++) {
		if (*s == '\n')
			fputs("\\n", out);
		else if (*s == '\\' || (quotes && *s == '"'))
			fprintf(out, "\\%c", *s);
		else
			fputc(*s, out);
	}
}

static void put_label(const char *label, const json_t *value, bool first, FILE *out)
{
	fprintf(out, "%s%s=\"", first ? "{" : ",", label);
	if (json_is_string(value))
		put_escaped(json_string_value(value), true, out);
	else
		fprintf(out, "%lld", (long long)json_integer_value(value));
	fputc('"', out);
}

static void put_row(const struct metric *m, const json_t *row, FILE *out)
{
	const json_t *value = m->field == NULL ? NULL : json_object_get(row, m->field);
	unsigned int i;

	if (m->field != NULL && value == NULL)
		return;
	fputs(m->name, out);
	for (i = 0; i < LABELS_MAX && m->labels[i] != NULL; i++)
		put_label(m->labels[i], json_object_get(row, m->labels[i]), i == 0, out);
	fputs(i > 0 ? "} " : " ", out);
	if (value == NULL || json_is_boolean(value))
		fprintf(out, "%d\n", value == NULL || json_is_true(value));
	else if (json_is_real(value))
		fprintf(out, "%.6f\n", json_real_value(value));
	else
		fprintf(out, "%lld\n", (long long)json_integer_value(value));
}

void metrics_text(const json_t *rows, FILE *out)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct metric *m = &table[i];
		const json_t *list = json_object_get(rows, m->list);

		fprintf(out, "# HELP %s ", m->name);
		put_escaped(m->help, false, out);
		fprintf(out, "\n# TYPE %s %s\n", m->name, m->kind == COUNTER ? "counter" : "gauge");
		if (json_is_object(list))
			put_row(m, list, out);
		for (size_t k = 0; k < json_array_size(list); k++)
			put_row(m, json_array_get(list, k), out);
	}
}
