/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/log_text_priv.h"

#include <rte_ip.h>

#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#define HDR_LEN 20U
#define ICMP_HDR_LEN 8U
#define OFFSET_MASK 0x1fffU

static void add_addr(struct log_text *t, const char *name, const uint8_t *a)
{
	log_add(t, "%s=%u.%u.%u.%u ", name, a[0], a[1], a[2], a[3]);
}

/* bytes without which a message of a type is called incomplete; 0: whatever there is will do */
static uint32_t icmp_needs(uint8_t type)
{
	static const uint8_t needs[NR_ICMP_TYPES + 1] = {
		[ICMP_ECHOREPLY] = 4,
		[ICMP_DEST_UNREACH] = ICMP_HDR_LEN + HDR_LEN,
		[ICMP_SOURCE_QUENCH] = ICMP_HDR_LEN + HDR_LEN,
		[ICMP_REDIRECT] = ICMP_HDR_LEN + HDR_LEN,
		[ICMP_ECHO] = 4,
		[ICMP_TIME_EXCEEDED] = ICMP_HDR_LEN + HDR_LEN,
		[ICMP_PARAMETERPROB] = ICMP_HDR_LEN + HDR_LEN,
		[ICMP_TIMESTAMP] = 20,
		[ICMP_TIMESTAMPREPLY] = 20,
		[ICMP_ADDRESS] = 12,
		[ICMP_ADDRESSREPLY] = 12,
	};

	return type < sizeof(needs) ? needs[type] : 0;
}

static void icmp_body(struct log_text *t, const uint8_t *icmp, uint32_t off, bool quoted)
{
	switch (icmp[0]) {
	case ICMP_ECHOREPLY:
	case ICMP_ECHO:
		log_add(t, "ID=%u SEQ=%u ", log_be16(icmp + 4), log_be16(icmp + 6));
		return;
	case ICMP_PARAMETERPROB:
		log_add(t, "PARAMETER=%u ", icmp[4]);
		return;
	case ICMP_REDIRECT:
		add_addr(t, "GATEWAY", icmp + 4);
		break;
	case ICMP_DEST_UNREACH:
	case ICMP_SOURCE_QUENCH:
	case ICMP_TIME_EXCEEDED:
		break;
	default:
		return;
	}
	if (!quoted) {
		log_add(t, "[");
		log_ip4(t, off + ICMP_HDR_LEN, true);
		log_add(t, "] ");
	}
	if (icmp[0] == ICMP_DEST_UNREACH && icmp[1] == ICMP_FRAG_NEEDED)
		log_add(t, "MTU=%u ", log_be16(icmp + 6));
}

static void add_icmp(struct log_text *t, uint32_t off, bool fragment, bool quoted)
{
	const uint8_t *icmp;

	log_add(t, "PROTO=ICMP ");
	if (fragment)
		return;
	icmp = log_at(t, off, ICMP_HDR_LEN);
	if (icmp == NULL) {
		log_incomplete(t, off);
		return;
	}
	log_add(t, "TYPE=%u CODE=%u ", icmp[0], icmp[1]);
	if (t->rec->len - off < icmp_needs(icmp[0]))
		log_incomplete(t, off);
	else
		icmp_body(t, icmp, off, quoted);
}

/* AH and ESP: @len bytes are wanted, the SPI is at @spi */
static void add_ipsec(
		struct log_text *t, const char *name, uint32_t off, uint32_t len, uint32_t spi)
{
	const uint8_t *hdr;

	log_add(t, "PROTO=%s ", name);
	hdr = log_at(t, off, len);
	if (hdr == NULL)
		log_incomplete(t, off);
	else
		log_add(t, "SPI=0x%x ", log_be32(hdr + spi));
}

/* Return: false: nothing may follow */
static bool add_options(struct log_text *t, uint32_t off, uint32_t hdr_len)
{
	const uint8_t *opt;

	if (!log_wants(t, IPT_LOG_IP_OPTIONS) || hdr_len <= HDR_LEN)
		return true;
	opt = log_at(t, off + HDR_LEN, hdr_len - HDR_LEN);
	if (opt == NULL) {
		log_add(t, "TRUNCATED");
		return false;
	}
	log_add(t, "OPT (");
	log_add_bytes(t, opt, hdr_len - HDR_LEN);
	log_add(t, ") ");
	return true;
}

static void add_header(struct log_text *t, const uint8_t *ip)
{
	uint16_t frag = log_be16(ip + 6);

	add_addr(t, "SRC", ip + 12);
	add_addr(t, "DST", ip + 16);
	log_add(t, "LEN=%u TOS=0x%02X PREC=0x%02X TTL=%u ID=%u ", log_be16(ip + 2), ip[1] & 0x1e,
			ip[1] & 0xe0, ip[8], log_be16(ip + 4));
	if (frag & 0x8000)
		log_add(t, "CE ");
	if (frag & RTE_IPV4_HDR_DF_FLAG)
		log_add(t, "DF ");
	if (frag & RTE_IPV4_HDR_MF_FLAG)
		log_add(t, "MF ");
	if (frag & OFFSET_MASK)
		log_add(t, "FRAG:%u ", frag & OFFSET_MASK);
}

/* Return: false: nothing may follow */
static bool add_upper(struct log_text *t, uint8_t proto, uint32_t off, bool fragment, bool quoted)
{
	switch (proto) {
	case IPPROTO_TCP:
		return log_tcp(t, off, fragment);
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		return log_udp(t, off, fragment, proto == IPPROTO_UDPLITE);
	case IPPROTO_ICMP:
		add_icmp(t, off, fragment, quoted);
		return true;
	case IPPROTO_AH:
		/* of a fragment not even the name is told */
		if (!fragment)
			add_ipsec(t, "AH", off, 12, 4);
		return true;
	case IPPROTO_ESP:
		if (fragment)
			log_add(t, "PROTO=ESP ");
		else
			add_ipsec(t, "ESP", off, 8, 0);
		return true;
	default:
		log_add(t, "PROTO=%u ", proto);
		return true;
	}
}

void log_ip4(struct log_text *t, uint32_t off, bool quoted)
{
	const uint8_t *ip = log_at(t, off, HDR_LEN);
	uint32_t hdr_len;

	if (ip == NULL) {
		log_add(t, "TRUNCATED");
		return;
	}
	hdr_len = (ip[0] & 0x0fU) * 4;
	add_header(t, ip);
	if (!add_options(t, off, hdr_len)
			|| !add_upper(t, ip[9], off + hdr_len,
					(log_be16(ip + 6) & OFFSET_MASK) != 0, quoted))
		return;
	if (!quoted)
		log_mark(t);
}
