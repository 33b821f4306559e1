/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/log_text_priv.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>

#define HDR_LEN 40U
#define ICMP_HDR_LEN 8U

/* where the walk along the extension headers stands */
struct walk {
	uint32_t off;
	uint8_t proto; /* of the header there */
	bool fragment; /* behind a fragment header with an offset */
};

static void add_addr(struct log_text *t, const char *name, const uint8_t *a)
{
	log_add(t, "%s=", name);
	for (unsigned int i = 0; i < 16; i += 2)
		log_add(t, "%s%04x", i == 0 ? "" : ":", log_be16(a + i));
	log_add(t, " ");
}

static bool is_extension(uint8_t proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_ROUTING || proto == IPPROTO_FRAGMENT
			|| proto == IPPROTO_ESP || proto == IPPROTO_AH || proto == IPPROTO_DSTOPTS;
}

/* Return: its length, 0: nothing may follow */
static uint32_t fragment_header(struct log_text *t, struct walk *k)
{
	const uint8_t *fh;

	log_add(t, "FRAG:");
	fh = log_at(t, k->off, 8);
	if (fh == NULL) {
		log_add(t, "TRUNCATED ");
		return 0;
	}
	log_add(t, "%u ", log_be16(fh + 2) & 0xfff8U);
	if (fh[3] & 1)
		log_add(t, "INCOMPLETE ");
	log_add(t, "ID:%08x ", log_be32(fh + 4));
	k->fragment |= (log_be16(fh + 2) & 0xfff8U) != 0;
	return 8;
}

/* AH and ESP are only shown with the options. Return: false: nothing may follow */
static bool ipsec_header(struct log_text *t, const struct walk *k, const char *name, uint32_t len,
		uint32_t spi)
{
	const uint8_t *hdr;

	if (!log_wants(t, IPT_LOG_IP_OPTIONS))
		return true;
	log_add(t, "%s ", name);
	if (k->fragment) {
		log_add(t, ")");
		return false;
	}
	hdr = log_at(t, k->off, len);
	if (hdr == NULL) {
		log_add(t, "INCOMPLETE [%u bytes] )", t->rec->len - k->off);
		return false;
	}
	log_add(t, "SPI=0x%x ", log_be32(hdr + spi));
	return true;
}

/* Return: the header's length, 0: nothing may follow */
static uint32_t extension(struct log_text *t, struct walk *k, const uint8_t *hdr)
{
	switch (k->proto) {
	case IPPROTO_FRAGMENT:
		return fragment_header(t, k);
	case IPPROTO_AH:
		return ipsec_header(t, k, "AH", 12, 4) ? (hdr[1] + 2U) * 4 : 0;
	case IPPROTO_ESP:
		if (ipsec_header(t, k, "ESP", 8, 0) && log_wants(t, IPT_LOG_IP_OPTIONS))
			log_add(t, ")");
		return 0;
	default:
		if (!k->fragment)
			return (hdr[1] + 1U) * 8;
		if (log_wants(t, IPT_LOG_IP_OPTIONS))
			log_add(t, ")");
		return 0;
	}
}

/* Return: false: nothing may follow */
static bool extensions(struct log_text *t, struct walk *k)
{
	while (is_extension(k->proto)) {
		const uint8_t *hdr = log_at(t, k->off, 2);
		uint32_t len;

		if (hdr == NULL) {
			log_add(t, "TRUNCATED");
			return false;
		}
		if (log_wants(t, IPT_LOG_IP_OPTIONS))
			log_add(t, "OPT ( ");
		len = extension(t, k, hdr);
		if (len == 0)
			return false;
		if (log_wants(t, IPT_LOG_IP_OPTIONS))
			log_add(t, ") ");
		k->proto = hdr[0];
		k->off += len;
	}
	return true;
}

static void icmp_body(struct log_text *t, const uint8_t *icmp, uint32_t off, bool quoted)
{
	switch (icmp[0]) {
	case ICMP6_ECHO_REQUEST:
	case ICMP6_ECHO_REPLY:
		log_add(t, "ID=%u SEQ=%u ", log_be16(icmp + 4), log_be16(icmp + 6));
		return;
	case ICMP6_PARAM_PROB:
		log_add(t, "POINTER=%08x ", log_be32(icmp + 4));
		break;
	case ICMP6_DST_UNREACH:
	case ICMP6_PACKET_TOO_BIG:
	case ICMP6_TIME_EXCEEDED:
		break;
	default:
		return;
	}
	if (!quoted) {
		log_add(t, "[");
		log_ip6(t, off + ICMP_HDR_LEN, true);
		log_add(t, "] ");
	}
	if (icmp[0] == ICMP6_PACKET_TOO_BIG)
		log_add(t, "MTU=%u ", log_be32(icmp + 4));
}

/* Return: false: nothing may follow */
static bool add_icmp(struct log_text *t, uint32_t off, bool fragment, bool quoted)
{
	const uint8_t *icmp;

	log_add(t, "PROTO=ICMPv6 ");
	if (fragment)
		return true;
	icmp = log_at(t, off, ICMP_HDR_LEN);
	if (icmp == NULL) {
		log_incomplete(t, off);
		return false;
	}
	log_add(t, "TYPE=%u CODE=%u ", icmp[0], icmp[1]);
	icmp_body(t, icmp, off, quoted);
	return true;
}

/* Return: false: nothing may follow */
static bool add_upper(struct log_text *t, const struct walk *k, bool quoted)
{
	switch (k->proto) {
	case IPPROTO_TCP:
		return log_tcp(t, k->off, k->fragment);
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		return log_udp(t, k->off, k->fragment, k->proto == IPPROTO_UDPLITE);
	case IPPROTO_ICMPV6:
		return add_icmp(t, k->off, k->fragment, quoted);
	default:
		log_add(t, "PROTO=%u ", k->proto);
		return true;
	}
}

void log_ip6(struct log_text *t, uint32_t off, bool quoted)
{
	const uint8_t *ip = log_at(t, off, HDR_LEN);
	struct walk k;
	uint32_t word;

	if (ip == NULL) {
		log_add(t, "TRUNCATED");
		return;
	}
	word = log_be32(ip);
	add_addr(t, "SRC", ip + 8);
	add_addr(t, "DST", ip + 24);
	log_add(t, "LEN=%u TC=%u HOPLIMIT=%u FLOWLBL=%u ", log_be16(ip + 4) + HDR_LEN,
			word >> 20 & 0xff, ip[7], word & 0xfffff);
	k = (struct walk){ .off = off + HDR_LEN, .proto = ip[6] };
	if (extensions(t, &k) && add_upper(t, &k, quoted) && !quoted)
		log_mark(t);
}
