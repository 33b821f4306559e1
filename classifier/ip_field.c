/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/ip_field.h"

#include "lib/ip.h"

/* The parser saw to it that the fixed IP header is whole and in the first segment. */
static uint8_t *ip_header(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, uint8_t *, sl_pkt(m)->l3_off);
}

static bool is_v4(struct rte_mbuf *m)
{
	return sl_pkt(m)->family == SL_AF_INET;
}

/* one 16-bit word of an IPv4 header, by its offset there */
static void set_word4(uint8_t *ip, unsigned int off, uint8_t hi, uint8_t lo)
{
	rte_be16_t was, now, csum;

	memcpy(&was, ip + off, sizeof(was));
	ip[off] = hi;
	ip[off + 1] = lo;
	memcpy(&now, ip + off, sizeof(now));
	memcpy(&csum, ip + 10, sizeof(csum));
	csum = sl_csum_update16(csum, was, now);
	memcpy(ip + 10, &csum, sizeof(csum));
}

uint8_t ipt_ttl(struct rte_mbuf *m)
{
	return ip_header(m)[is_v4(m) ? 8 : 7];
}

/* one 16-bit word of an IPv6 header, which has no checksum of its own; see SL_PKT_SUMMED */
static void set_word6(struct rte_mbuf *m, unsigned int off, uint8_t hi, uint8_t lo)
{
	uint8_t *ip = ip_header(m);
	struct sl_pkt *p = sl_pkt(m);
	uint32_t was = (uint32_t)ip[off] << 8 | ip[off + 1];
	uint32_t sum;

	ip[off] = hi;
	ip[off + 1] = lo;
	if (likely((p->flags & SL_PKT_SUMMED) == 0))
		return;
	sum = p->hdr_sum + (was ^ 0xffff) + ((uint32_t)hi << 8 | lo);
	sum = (sum & 0xffff) + (sum >> 16);
	p->hdr_sum = (uint16_t)(sum + (sum >> 16));
}

void ipt_set_ttl(struct rte_mbuf *m, uint8_t ttl)
{
	uint8_t *ip = ip_header(m);

	if (is_v4(m))
		set_word4(ip, 8, ttl, ip[9]);
	else
		set_word6(m, 6, ip[6], ttl);
}

uint8_t ipt_tos(struct rte_mbuf *m)
{
	const uint8_t *ip = ip_header(m);

	return is_v4(m) ? ip[1] : (uint8_t)(ip[0] << 4 | ip[1] >> 4);
}

void ipt_set_tos(struct rte_mbuf *m, uint8_t tos)
{
	uint8_t *ip = ip_header(m);

	if (is_v4(m)) {
		set_word4(ip, 0, ip[0], tos);
		return;
	}
	set_word6(m, 0, (uint8_t)((ip[0] & 0xf0) | tos >> 4), (uint8_t)(tos << 4 | (ip[1] & 0x0f)));
}
