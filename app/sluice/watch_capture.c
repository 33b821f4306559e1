/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of a capture as pcapng. What there is no field for stands in a comment on the packet, as
 * words NAME=VALUE:
 *
 *   port=wan dir=in verdict=dropped reason=rule_drop hook=forward stage=filter out=lan mark=0x1
 *
 * verdict is received, sent, enters (a hook) or dropped.
 */
#include "app/sluice/pcapng.h"
#include "app/sluice/watch_stream.h"
#include "lib/router.h"

#include <inttypes.h>

static const char *port_name(const struct sl_router *r, uint16_t port)
{
	return port == SL_PORT_HOST ? "router" : r->ports[port].name;
}

static const char *verdict(const struct sl_watch_rec *rec)
{
	switch ((enum sl_watch_at)rec->at) {
	case SL_WATCH_RX:
		return "received";
	case SL_WATCH_HOOK:
		return "enters";
	case SL_WATCH_DROP:
		return "dropped";
	case SL_WATCH_TX:
		return "sent";
	case SL_WATCH_PAD:
	case SL_WATCH_STAGE:
	case SL_WATCH_RULE:
	case SL_WATCH_DELIVERED:
		break;
	}
	return "";
}

/* words one behind the other; opening a stream for each packet would cost more than all else */
struct words {
	char *at, *end;
};

static void add(struct words *w, const char *name, const char *value)
{
	size_t name_len = strlen(name), value_len = strlen(value);

	if (name_len + value_len >= (size_t)(w->end - w->at))
		return;
	memcpy(w->at, name, name_len);
	memcpy(w->at + name_len, value, value_len + 1);
	w->at += name_len + value_len;
}

static void comment(const struct sl_router *r, const struct sl_watch_rec *rec, uint16_t port,
		char *buf, size_t size)
{
	struct words w = { buf, buf + size };
	char mark[16];

	add(&w, "port=", port_name(r, port));
	add(&w, " dir=", rec->at == SL_WATCH_TX ? "out" : "in");
	add(&w, " verdict=", verdict(rec));
	if (rec->at == SL_WATCH_DROP)
		add(&w, " reason=", sl_drop_name((enum sl_drop_reason)rec->reason));
	if (rec->hook < SL_HOOK_NB)
		add(&w, " hook=", sl_hook_name((enum sl_hook)rec->hook));
	if (rec->stage[0] != '\0')
		add(&w, " stage=", rec->stage);
	if (rec->at == SL_WATCH_TX)
		add(&w, " in=", port_name(r, rec->state.in));
	else if (rec->state.out != SL_PORT_NONE)
		add(&w, " out=", port_name(r, rec->state.out));
	if (rec->state.mark != 0) {
		snprintf(mark, sizeof(mark), "0x%" PRIx32, rec->state.mark);
		add(&w, " mark=", mark);
	}
}

void watch_capture_start(struct watch_stream *s, FILE *f)
{
	pcapng_start(f, s->r);
}

void watch_capture_write(struct watch_stream *s, FILE *f, const struct sl_watch_rec *rec)
{
	uint16_t port = rec->at == SL_WATCH_TX ? rec->state.out : rec->state.in;
	char remark[256];
	struct pcapng_packet p = {
		.port = port,
		.out = rec->at == SL_WATCH_TX,
		.time_ns = rec->wall_ns,
		.len = rec->len,
		.captured = rec->captured,
		.data = rec->data,
		.whole = true,
		.remark = remark,
	};

	comment(s->r, rec, port, remark, sizeof(remark));
	pcapng_write(f, &p);
	s->seen[port]++;
	s->n++;
}

void watch_capture_finish(struct watch_stream *s, FILE *f)
{
	uint64_t now_ns = s->r->workers[0]->wall_ns;

	for (uint16_t i = 0; i <= s->r->n_ports; i++) {
		uint64_t missed = sl_watch_missed(&s->watch, i);

		pcapng_statistics(f, i, now_ns, s->seen[i] + missed, missed);
	}
}
