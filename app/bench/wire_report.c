/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/wire_report.h"

#define COLUMN 22

static void put_cell(FILE *out, bool known, const char *text)
{
	fprintf(out, "%*s", COLUMN, known ? text : "-");
}

static void put_ping(const struct wire_result *r, const char *name, size_t offset, FILE *out)
{
	char text[32];

	fprintf(out, "%-28s", name);
	for (unsigned int i = 0; i < WIRE_ROUTER_NB; i++) {
		const double *us =
				(const double *)(const void *)((const char *)&r[i].ping + offset);

		snprintf(text, sizeof(text), "%.0f", *us);
		put_cell(out, r[i].ping.received > 0, text);
	}
	fputc('\n', out);
}

static void put_stream(const struct wire_result *r, bool udp, FILE *out)
{
	char text[32];

	fprintf(out, "%-28s", udp ? "UDP of 1400 B, Mbit/s" : "TCP, Mbit/s");
	for (unsigned int i = 0; i < WIRE_ROUTER_NB; i++) {
		const struct wire_stream *s = udp ? &r[i].udp : &r[i].tcp;

		snprintf(text, sizeof(text), "%.0f", s->mbit_s);
		put_cell(out, s->mbit_s > 0, text);
	}
	fprintf(out, "\n%-28s", udp ? "  lost, %" : "  CPUs at work");
	for (unsigned int i = 0; i < WIRE_ROUTER_NB; i++) {
		const struct wire_stream *s = udp ? &r[i].udp : &r[i].tcp;

		snprintf(text, sizeof(text), "%.1f", udp ? 100 * s->lost : s->busy);
		put_cell(out, s->mbit_s > 0, text);
	}
	fputc('\n', out);
	if (!udp)
		return;
	fprintf(out, "%-28s", "  CPUs at work");
	for (unsigned int i = 0; i < WIRE_ROUTER_NB; i++) {
		snprintf(text, sizeof(text), "%.1f", r[i].udp.busy);
		put_cell(out, r[i].udp.mbit_s > 0, text);
	}
	fputc('\n', out);
}

/* one way takes half of there and back */
static double message_mbit_s(unsigned int size, double us)
{
	return 8.0 * size / (us / 2);
}

static void put_messages(const struct wire_result *r, unsigned int at, FILE *out)
{
	char text[64];

	snprintf(text, sizeof(text), "messages of %u B", wire_sizes[at]);
	fprintf(out, "%-28s", text);
	for (unsigned int i = 0; i < WIRE_ROUTER_NB; i++) {
		double us = r[i].message_us[at];

		if (us > 0)
			snprintf(text, sizeof(text), "%.0f us, %.4g Mbit/s", us,
					message_mbit_s(wire_sizes[at], us));
		put_cell(out, us > 0, text);
	}
	fputc('\n', out);
}

void wire_report_text(const struct wire_result *r, FILE *out)
{
	fprintf(out, "%-28s", "");
	for (unsigned int i = 0; i < WIRE_ROUTER_NB; i++)
		fprintf(out, "%*s", COLUMN, wire_router_names[i]);
	fputc('\n', out);
	put_ping(r, "ping, us: least", offsetof(struct wire_ping, min_us), out);
	put_ping(r, "  median", offsetof(struct wire_ping, median_us), out);
	put_ping(r, "  99 %", offsetof(struct wire_ping, p99_us), out);
	put_ping(r, "  99.9 %", offsetof(struct wire_ping, p999_us), out);
	put_stream(r, false, out);
	put_stream(r, true, out);
	for (unsigned int i = 0; i < WIRE_SIZES; i++)
		put_messages(r, i, out);
	fputs("\nMessages go there and back, one after the other. Links have no offloads (checksum,\n"
	      "segmentation, GRO), whoever routes. A veth is the kernel's: what a router in user\n"
	      "space can show on it is that it works, and what rules cost.\n",
			out);
	for (unsigned int i = 0; i < WIRE_ROUTER_NB; i++) {
		if (r[i].skipped[0] != '\0')
			fprintf(out, "%s: skipped: %s\n", wire_router_names[i], r[i].skipped);
		else if (r[i].fault[0] != '\0')
			fprintf(out, "%s: %s\n", wire_router_names[i], r[i].fault);
	}
}

static json_t *stream_json(const struct wire_stream *s)
{
	if (s->mbit_s <= 0)
		return json_null();
	return json_pack("{s:f, s:f, s:f}", "mbit_s", s->mbit_s, "lost", s->lost, "cpus", s->busy);
}

static json_t *result_json(const struct wire_result *r)
{
	json_t *out = json_object(), *messages = json_array();

	if (r->skipped[0] != '\0') {
		json_decref(messages);
		json_object_set_new(out, "skipped", json_string(r->skipped));
		return out;
	}
	if (r->fault[0] != '\0')
		json_object_set_new(out, "fault", json_string(r->fault));
	if (r->ping.received > 0)
		json_object_set_new(out, "ping",
				json_pack("{s:i, s:i, s:f, s:f, s:f, s:f}", "sent",
						(int)r->ping.sent, "received",
						(int)r->ping.received, "min_us", r->ping.min_us,
						"median_us", r->ping.median_us, "p99_us",
						r->ping.p99_us, "p999_us", r->ping.p999_us));
	json_object_set_new(out, "tcp", stream_json(&r->tcp));
	json_object_set_new(out, "udp", stream_json(&r->udp));
	for (unsigned int i = 0; i < WIRE_SIZES; i++)
		if (r->message_us[i] > 0)
			json_array_append_new(messages,
					json_pack("{s:i, s:f, s:f}", "bytes", (int)wire_sizes[i],
							"round_trip_us", r->message_us[i], "mbit_s",
							message_mbit_s(wire_sizes[i],
									r->message_us[i])));
	json_object_set_new(out, "messages", messages);
	return out;
}

json_t *wire_report_json(const struct wire_result *results)
{
	static const char *const keys[] = { "kernel", "af_xdp", "af_packet" };
	json_t *out = json_object();

	for (unsigned int i = 0; i < WIRE_ROUTER_NB; i++)
		json_object_set_new(out, keys[i], result_json(&results[i]));
	return out;
}
