/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of a trace as lines of JSON; the reader puts those of one packet together. */
#include "app/sluice/watch_stream.h"
#include "lib/router.h"

#include <arpa/inet.h>
#include <jansson.h>

static const char *const names[] = {
	[SL_WATCH_RX] = "received",
	[SL_WATCH_STAGE] = "stage",
	[SL_WATCH_RULE] = "rule",
	[SL_WATCH_DROP] = "dropped",
	[SL_WATCH_DELIVERED] = "delivered",
	[SL_WATCH_TX] = "sent",
};

static const char *port_name(const struct sl_router *r, uint16_t port)
{
	return port == SL_PORT_HOST ? "router" : r->ports[port].name;
}

static json_t *integer(uint64_t n)
{
	return json_integer((json_int_t)n);
}

static json_t *endpoint(const struct sl_watch_state *s, const struct sl_addr *a, rte_be16_t port_be)
{
	bool v6 = s->family == SL_AF_INET6;
	char addr[INET6_ADDRSTRLEN];

	inet_ntop(v6 ? AF_INET6 : AF_INET, a, addr, sizeof(addr));
	if (!(s->flags & SL_PKT_PORTS))
		return json_string(addr);
	return json_sprintf(v6 ? "[%s]:%u" : "%s:%u", addr, rte_be_to_cpu_16(port_be));
}

static const char *ct_state(const struct sl_watch_state *s)
{
	if (s->flags & SL_PKT_UNTRACKED)
		return "untracked";
	if (!s->has_ct)
		return "none";
	switch ((enum sl_ct_info)s->ct_info) {
	case SL_CT_ESTABLISHED:
		return "established";
	case SL_CT_RELATED:
		return "related";
	case SL_CT_NEW:
		return "new";
	case SL_CT_ESTABLISHED_REPLY:
		return "established reply";
	case SL_CT_RELATED_REPLY:
		return "related reply";
	}
	return "none";
}

static json_t *proto_json(uint8_t proto)
{
	switch (proto) {
	case IPPROTO_ICMP:
		return json_string("icmp");
	case IPPROTO_ICMPV6:
		return json_string("icmpv6");
	case IPPROTO_TCP:
		return json_string("tcp");
	case IPPROTO_UDP:
		return json_string("udp");
	case IPPROTO_SCTP:
		return json_string("sctp");
	default:
		return json_integer(proto);
	}
}

static json_t *state_json(const struct sl_router *r, const struct sl_watch_state *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "in", json_string(port_name(r, s->in)));
	if (s->out != SL_PORT_NONE)
		json_object_set_new(o, "out", json_string(port_name(r, s->out)));
	if (s->family == SL_AF_NONE)
		return o;
	json_object_set_new(o, "src", endpoint(s, &s->src, s->sport_be));
	json_object_set_new(o, "dst", endpoint(s, &s->dst, s->dport_be));
	json_object_set_new(o, "proto", proto_json(s->proto));
	json_object_set_new(o, "ttl", integer(s->ttl));
	json_object_set_new(o, "tos", json_sprintf("0x%02x", s->tos));
	json_object_set_new(o, "mark", json_sprintf("0x%x", s->mark));
	json_object_set_new(o, "priority", json_sprintf("0x%x", s->priority));
	json_object_set_new(o, "zone", integer(s->zone));
	json_object_set_new(o, "ct", json_string(ct_state(s)));
	return o;
}

void watch_trace_write(struct watch_stream *s, FILE *f, const struct sl_watch_rec *rec)
{
	uint16_t port = rec->at == SL_WATCH_TX ? rec->state.out : rec->state.in;
	json_t *o = json_object();

	if (rec->at == SL_WATCH_RX) {
		s->seen[port]++;
		s->n++;
	}
	json_object_set_new(o, "id", integer(rec->id));
	json_object_set_new(o, "time_ns", integer(rec->wall_ns));
	json_object_set_new(o, "at", json_string(names[rec->at]));
	json_object_set_new(o, "len", integer(rec->len));
	if (rec->hook < SL_HOOK_NB)
		json_object_set_new(o, "hook", json_string(sl_hook_name((enum sl_hook)rec->hook)));
	if (rec->stage[0] != '\0')
		json_object_set_new(o, "stage", json_string(rec->stage));
	if (rec->at == SL_WATCH_DROP) {
		enum sl_drop_reason reason = (enum sl_drop_reason)rec->reason;

		json_object_set_new(o, "reason", json_string(sl_drop_name(reason)));
		json_object_set_new(o, "help", json_string(sl_drop_help(reason)));
	}
	/* comments of rules may hold any bytes, JSON holds UTF-8 */
	if (rec->text_len > 0
			&& json_object_set_new(o, "text",
					   json_stringn((const char *)rec->data + rec->captured,
							   rec->text_len))
					< 0)
		json_object_set_new(o, "text", json_string("(not UTF-8)"));
	json_object_set_new(o, "state", state_json(s->r, &rec->state));
	json_dumpf(o, f, JSON_COMPACT);
	fputc('\n', f);
	json_decref(o);
}

void watch_trace_finish(struct watch_stream *s, FILE *f)
{
	uint64_t missed = 0;

	for (uint16_t i = 0; i <= s->r->n_ports; i++)
		missed += sl_watch_missed(&s->watch, i);
	fprintf(f, "{\"at\":\"end\",\"packets\":%llu,\"missed\":%llu}\n", (unsigned long long)s->n,
			(unsigned long long)missed);
}
