/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICMP: questions that have answers. Errors belong to the connection of what they quote, and are
 * looked up by that.
 */
#include "conntrack/proto_priv.h"
#include "lib/ip.h"

#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#define ICMP_HDR_LEN 8

bool ct_icmp_check(const struct ct_pkt *c)
{
	uint8_t buf[ICMP_HDR_LEN];
	const uint8_t *icmp = ct_l4_at(c, 0, ICMP_HDR_LEN, buf);

	/* IPv6 has ICMPv6 */
	if (c->p->family != SL_AF_INET)
		return ct_is_invalid(c, CT_INVALID_ICMP_TYPE);
	if (icmp == NULL)
		return ct_is_invalid(c, CT_INVALID_SHORT);
	if (c->verify && sl_csum_bytes(c->m, c->p->l4_off, ct_l4_len(c)) != 0xffff)
		return ct_is_invalid(c, CT_INVALID_CHECKSUM);
	if (icmp[0] > NR_ICMP_TYPES)
		return ct_is_invalid(c, CT_INVALID_ICMP_TYPE);
	return true;
}

enum ct_verdict ct_icmp_packet(const struct ct_pkt *c, struct ct_entry *e)
{
	switch (e->orig.type) {
	case ICMP_ECHO:
	case ICMP_TIMESTAMP:
	case ICMP_INFO_REQUEST:
	case ICMP_ADDRESS:
		ct_refresh(c->s, e, c->conf->icmp_s);
		return CT_PASS;
	default:
		return ct_invalid(c, CT_INVALID_ICMP_TYPE);
	}
}
