/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/text.h"

#include "conntrack/proto.h"
#include "lib/router.h"

#include <rte_cycles.h>

#include <arpa/inet.h>
#include <inttypes.h>

void ct_view(struct ct_view *v, const struct ct_conf *conf, const struct ct_shard *s,
		const struct ct_entry *e)
{
	*v = (struct ct_view){ .e = *e,
		.cold = *ct_cold_peek(s, e),
		.now_ms = s->now_ms,
		.worker = s->worker,
		.acct = conf->acct != 0,
		.timestamp = conf->timestamp != 0,
		.wall_ns = s->table->r->workers[s->worker]->wall_ns };
}

const char *ct_text_family(uint8_t family)
{
	return family == SL_AF_INET ? "ipv4" : "ipv6";
}

const char *ct_text_proto(uint8_t proto)
{
	const char *name = ct_proto_name(proto);

	return name == NULL ? "unknown" : name;
}

enum ct_text_kind ct_text_kind(uint8_t proto)
{
	switch (proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
		return CT_TEXT_PORTS;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return CT_TEXT_ICMP;
	case IPPROTO_GRE:
		return CT_TEXT_KEYS;
	default:
		return CT_TEXT_NOTHING;
	}
}

static void print_addr(FILE *f, const char *name, uint8_t family, const struct sl_addr *a)
{
	fprintf(f, "%s=", name);
	if (family == SL_AF_INET) {
		fprintf(f, "%u.%u.%u.%u ", a->b[0], a->b[1], a->b[2], a->b[3]);
		return;
	}
	/* in full */
	for (unsigned int i = 0; i < 16; i += 2)
		fprintf(f, "%02x%02x%c", a->b[i], a->b[i + 1], i == 14 ? ' ' : ':');
}

static void print_tuple(FILE *f, const struct ct_tuple *t)
{
	print_addr(f, "src", t->family, &t->src);
	print_addr(f, "dst", t->family, &t->dst);
	switch (ct_text_kind(t->proto)) {
	case CT_TEXT_NOTHING:
		break;
	case CT_TEXT_PORTS:
		fprintf(f, "sport=%u dport=%u ", ntohs(t->sport_be), ntohs(t->dport_be));
		break;
	case CT_TEXT_ICMP:
		fprintf(f, "type=%u code=%u id=%u ", t->type, t->code, ntohs(t->id_be));
		break;
	case CT_TEXT_KEYS:
		fprintf(f, "srckey=0x%x dstkey=0x%x ", ntohs(t->sport_be), ntohs(t->dport_be));
		break;
	}
}

static void print_count(FILE *f, const struct ct_view *v, enum ct_dir dir)
{
	if (v->acct)
		fprintf(f, "packets=%" PRIu64 " bytes=%" PRIu64 " ", v->cold.packets[dir],
				v->cold.bytes[dir]);
}

static void print_zone(FILE *f, const char *name, bool is, uint16_t zone)
{
	if (is)
		fprintf(f, "%s=%u ", name, zone);
}

uint64_t ct_text_age(const struct ct_view *v)
{
	if (v->cold.start_ns == 0 || v->wall_ns < v->cold.start_ns)
		return 0;
	return (v->wall_ns - v->cold.start_ns) / NS_PER_S;
}

void ct_text_line(FILE *f, const struct ct_view *v)
{
	const struct ct_entry *e = &v->e;
	bool both = e->orig.zone == e->reply.zone;

	fprintf(f, "%-8s %u %-8s %u %u ", ct_text_family(e->orig.family),
			e->orig.family == SL_AF_INET ? AF_INET : AF_INET6,
			ct_text_proto(e->orig.proto), e->orig.proto, ct_seconds_left(e, v->now_ms));
	ct_proto_print(e, f);
	print_tuple(f, &e->orig);
	print_zone(f, "zone-orig", !both && e->orig.zone != 0, e->orig.zone);
	print_count(f, v, CT_ORIGINAL);
	if ((e->status & CT_SEEN_REPLY) == 0)
		fputs("[UNREPLIED] ", f);
	print_tuple(f, &e->reply);
	print_zone(f, "zone-reply", !both && e->orig.zone == 0, e->reply.zone);
	print_count(f, v, CT_REPLY);
	if (e->status & CT_ASSURED)
		fputs("[ASSURED] ", f);
	fprintf(f, "mark=%u ", e->mark);
	print_zone(f, "zone", both, e->orig.zone);
	if (v->timestamp)
		fprintf(f, "delta-time=%" PRIu64 " ", ct_text_age(v));
	fputs("use=2\n", f);
}
