/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMPv6: as ICMP. What belongs to the link (neighbour discovery, MLD) is not tracked at all. */
#include "conntrack/proto_priv.h"

#include <netinet/icmp6.h>
#include <netinet/in.h>

#define ICMP6_HDR_LEN 8
#define NODE_INFO_QUERY 139 /* RFC 4620 */

bool ct_icmp6_check(const struct ct_pkt *c)
{
	uint8_t buf[ICMP6_HDR_LEN];
	uint32_t len = ct_l4_len(c);

	if (c->p->family != SL_AF_INET6)
		return ct_is_invalid(c, CT_INVALID_ICMP_TYPE);
	if (ct_l4_at(c, 0, ICMP6_HDR_LEN, buf) == NULL)
		return ct_is_invalid(c, CT_INVALID_SHORT);
	if (!ct_csum_is_right(c, IPPROTO_ICMPV6, len, len))
		return ct_is_invalid(c, CT_INVALID_CHECKSUM);
	return true;
}

enum ct_verdict ct_icmp6_packet(const struct ct_pkt *c, struct ct_entry *e)
{
	if (e->orig.type != ICMP6_ECHO_REQUEST && e->orig.type != NODE_INFO_QUERY)
		return ct_invalid(c, CT_INVALID_ICMP_TYPE);
	ct_refresh(c->s, e, c->conf->icmpv6_s);
	return CT_PASS;
}
