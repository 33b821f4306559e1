/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/note.h"

#include "classifier/ipt_target.h"
#include "classifier/log_record.h"
#include "conntrack/proto_priv.h"
#include "lib/pktlog.h"

#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>

#define ALL_PROTOCOLS 255
#define LEVEL_NOTICE 5

void ct_note_line(const struct ct_pkt *c, const char *format, ...)
{
	bool own = c->p->flags & SL_PKT_ORIGIN;
	struct sl_pktlog_rec rec = {
		.kind = SL_PKTLOG_LINE,
		.level = LEVEL_NOTICE,
		.options = IPT_LOG_TCP_SEQUENCE | IPT_LOG_TCP_OPTIONS | IPT_LOG_IP_OPTIONS
				| IPT_LOG_UID,
		.in = own ? SL_PORT_NONE : c->p->in_port,
		.out = own ? c->p->out_port : SL_PORT_NONE,
	};
	va_list args;
	int n;

	if (c->conf->log_invalid != ALL_PROTOCOLS && c->conf->log_invalid != c->p->proto)
		return;
	n = snprintf(rec.prefix, sizeof(rec.prefix), "nf_ct_proto_%u: ", c->p->proto);
	va_start(args, format);
	n += vsnprintf(rec.prefix + n, sizeof(rec.prefix) - (size_t)n, format, args);
	va_end(args);
	if ((size_t)n + 1 < sizeof(rec.prefix))
		rec.prefix[n] = ' ';
	sl_pktlog_write(c->w, c->m, &rec, log_record_wants(c->p));
}

static const char *checksum(uint8_t proto)
{
	switch (proto) {
	case IPPROTO_ICMP:
		return "bad hw icmp checksum";
	case IPPROTO_ICMPV6:
		return "ICMPv6 checksum failed";
	case IPPROTO_SCTP:
		return "nf_ct_sctp: bad CRC ";
	default:
		return "bad checksum";
	}
}

/* where not even ports are there, the packet has no connection to begin with, and nothing is said */
static const char *header(const struct ct_pkt *c)
{
	uint32_t there = ct_l4_len(c);

	switch (c->p->proto) {
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		return there >= 4 ? "short packet" : NULL;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return "short packet";
	case IPPROTO_SCTP:
		return there >= 4 && there < 12 ? "nf_ct_sctp: short packet " : NULL;
	default:
		return NULL;
	}
}

static const char *coverage(const struct ct_pkt *c)
{
	const uint8_t *sum;
	uint8_t buf[2];

	sum = ct_l4_at(c, 6, sizeof(buf), buf);
	return sum != NULL && (sum[0] | sum[1]) == 0 ? "checksum missing"
						     : "invalid checksum coverage";
}

/* types that open no connection are passed over in silence */
static const char *icmp_type(const struct ct_pkt *c)
{
	const uint8_t *type;
	uint8_t buf;

	type = ct_l4_at(c, 0, 1, &buf);
	return c->p->proto == IPPROTO_ICMP && type != NULL && *type > 18 ? "invalid icmp type"
									 : NULL;
}

void ct_note_reason(const struct ct_pkt *c, enum ct_invalid why)
{
	const char *text = NULL;

	switch (why) {
	case CT_INVALID_SHORT:
		text = header(c);
		break;
	case CT_INVALID_LENGTH:
		text = c->p->proto == IPPROTO_TCP ? "truncated packet"
						  : "truncated/malformed packet";
		break;
	case CT_INVALID_CHECKSUM:
		text = checksum(c->p->proto);
		break;
	case CT_INVALID_TCP_FLAGS:
		text = "invalid tcp flag combination";
		break;
	case CT_INVALID_TCP_NEW:
		text = "invalid new";
		break;
	case CT_INVALID_TCP_RST:
		text = "invalid rst";
		break;
	case CT_INVALID_UDPLITE_COVERAGE:
		text = coverage(c);
		break;
	case CT_INVALID_ICMP_TYPE:
		text = icmp_type(c);
		break;
	default: /* the caller tells more, or the kernel is silent */
		break;
	}
	if (text != NULL)
		ct_note_line(c, "%s", text);
}
