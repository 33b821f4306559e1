/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/log_text_priv.h"
#include "lib/router.h"

#include <netinet/in.h>
#include <stdarg.h>

#define TCP_HDR_LEN 20U
#define UDP_HDR_LEN 8U

void log_add(struct log_text *t, const char *fmt, ...)
{
	size_t room = t->size - t->len;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->out + t->len, room, fmt, args);
	va_end(args);
	if (n > 0)
		t->len += RTE_MIN((size_t)n, room - 1);
}

void log_add_bytes(struct log_text *t, const uint8_t *bytes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		log_add(t, "%02X", bytes[i]);
}

void log_incomplete(struct log_text *t, uint32_t off)
{
	log_add(t, "INCOMPLETE [%u bytes] ", t->rec->len - off);
}

/* AE is the ninth flag, in the byte in front; Linux before 6.18 shows it in RES */
static void tcp_flags(struct log_text *t, uint16_t flags)
{
	static const char *const names[] = { "AE ", "CWR ", "ECE ", "URG ", "ACK ", "PSH ", "RST ",
		"SYN ", "FIN " };

	for (unsigned int i = 0; i < RTE_DIM(names); i++)
		if (flags & 0x100U >> i)
			log_add(t, "%s", names[i]);
}

bool log_tcp(struct log_text *t, uint32_t off, bool fragment)
{
	const uint8_t *tcp, *opt;
	uint32_t len;

	log_add(t, "PROTO=TCP ");
	if (fragment)
		return true;
	tcp = log_at(t, off, TCP_HDR_LEN);
	if (tcp == NULL) {
		log_incomplete(t, off);
		return false;
	}
	log_add(t, "SPT=%u DPT=%u ", log_be16(tcp), log_be16(tcp + 2));
	if (log_wants(t, IPT_LOG_TCP_SEQUENCE))
		log_add(t, "SEQ=%u ACK=%u ", log_be32(tcp + 4), log_be32(tcp + 8));
	log_add(t, "WINDOW=%u RES=0x%02x ", log_be16(tcp + 14), (tcp[12] & 0x0eU) << 2);
	tcp_flags(t, log_be16(tcp + 12) & 0x1ff);
	log_add(t, "URGP=%u ", log_be16(tcp + 18));
	len = (tcp[12] >> 4) * 4U;
	if (!log_wants(t, IPT_LOG_TCP_OPTIONS) || len <= TCP_HDR_LEN)
		return true;
	opt = log_at(t, off + TCP_HDR_LEN, len - TCP_HDR_LEN);
	if (opt == NULL) {
		log_add(t, "OPT (TRUNCATED)");
		return false;
	}
	log_add(t, "OPT (");
	log_add_bytes(t, opt, len - TCP_HDR_LEN);
	log_add(t, ") ");
	return true;
}

bool log_udp(struct log_text *t, uint32_t off, bool fragment, bool lite)
{
	const uint8_t *udp;

	log_add(t, "PROTO=%s ", lite ? "UDPLITE" : "UDP");
	if (fragment)
		return true;
	udp = log_at(t, off, UDP_HDR_LEN);
	if (udp == NULL) {
		log_incomplete(t, off);
		return false;
	}
	log_add(t, "SPT=%u DPT=%u LEN=%u ", log_be16(udp), log_be16(udp + 2), log_be16(udp + 4));
	return true;
}

void log_mark(struct log_text *t)
{
	if (t->rec->mark != 0)
		log_add(t, "MARK=0x%x ", t->rec->mark);
}

static const char *port_name(const struct sl_router *r, uint16_t port)
{
	return port == SL_PORT_NONE ? "" : r->ports[port].name;
}

static void add_mac(struct log_text *t, const uint8_t *mac)
{
	for (unsigned int i = 0; i < RTE_ETHER_ADDR_LEN; i++)
		log_add(t, "%s%02x", i == 0 ? "" : ":", mac[i]);
}

/* of the frame as it came in */
static void link_header(struct log_text *t)
{
	const struct sl_pktlog_rec *rec = t->rec;
	uint16_t type = rec->family == SL_AF_INET ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6;

	if (!rec->has_mac) {
		if (!log_wants(t, IPT_LOG_MACDECODE))
			log_add(t, "MAC= ");
		return;
	}
	if (log_wants(t, IPT_LOG_MACDECODE)) {
		log_add(t, "MACSRC=");
		add_mac(t, rec->mac + RTE_ETHER_ADDR_LEN);
		log_add(t, " MACDST=");
		add_mac(t, rec->mac);
		log_add(t, " MACPROTO=%04x ", type);
		return;
	}
	log_add(t, "MAC=");
	add_mac(t, rec->mac);
	log_add(t, ":");
	add_mac(t, rec->mac + RTE_ETHER_ADDR_LEN);
	log_add(t, ":%02x:%02x ", type >> 8, type & 0xff);
}

void sl_log_text(const struct sl_router *r, const struct sl_pktlog_rec *rec, char *out, size_t size)
{
	struct log_text t = { .rec = rec, .out = out, .size = size };

	out[0] = '\0';
	/* a prefix of LOG brings its own blank, one of NFLOG stands apart */
	log_add(&t, "%s%sIN=%s OUT=%s ", rec->prefix,
			rec->kind == SL_PKTLOG_GROUP && rec->prefix[0] != '\0' ? " " : "",
			port_name(r, rec->in), port_name(r, rec->out));
	if (rec->in != SL_PORT_NONE)
		link_header(&t);
	if (rec->family == SL_AF_INET)
		log_ip4(&t, 0, false);
	else
		log_ip6(&t, 0, false);
}
