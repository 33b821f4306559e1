/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading an IPv4 header, for the straight path and for every other. */
#pragma once

#include "lib/pkt.h"

#include <rte_ip.h>

struct sl_worker;

/* does a header of 20 bytes sum up to ones? */
static inline bool parse4_csum20_ok(const struct rte_ipv4_hdr *ip)
{
	uint64_t a, b, sum;
	uint32_t c;

	memcpy(&a, ip, sizeof(a));
	memcpy(&b, (const uint8_t *)ip + 8, sizeof(b));
	memcpy(&c, (const uint8_t *)ip + 16, sizeof(c));
	sum = (a & UINT32_MAX) + (a >> 32) + (b & UINT32_MAX) + (b >> 32) + c;
	sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	/* a third fold is not needed: the sum of 20 bytes is below 5 * 2^32 */
	return sum == 0xffff;
}

/* TCP, UDP, DCCP, SCTP, UDP-Lite: ports are the first four bytes of the header */
static inline bool parse4_has_ports(uint8_t proto)
{
	static const uint64_t ports[4] = {
		[0] = 1ULL << 6 | 1ULL << 17 | 1ULL << 33,
		[2] = 1ULL << (132 - 128) | 1ULL << (136 - 128),
	};

	return ports[proto >> 6] >> (proto & 63) & 1;
}

/**
 * sl_parse4() - an IPv4 packet at p->l3_off: ip_rcv's checks, padding cut, struct sl_pkt filled
 * @segments: the link's peer leaves segmentation to hardware
 *
 * p->flags holds what the link layer knows. Return: false if it was dropped.
 */
bool sl_parse4(struct sl_worker *w, struct rte_mbuf *m, bool segments);
