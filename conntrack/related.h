/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP messages that are about a connection, or about none. [worker] */
#pragma once

#include "conntrack/proto.h"

#include <netinet/in.h>

enum ct_icmp {
	CT_ICMP_ORDINARY, /* has a tuple of its own: echo and the like */
	CT_ICMP_RELATED, /* an error: p->ct and p->ct_info are those of what it quotes */
	CT_ICMP_INVALID,
	CT_ICMP_UNTRACKED, /* neighbour discovery and group membership */
};

/**
 * ct_icmp_class() - what an ICMP or ICMPv6 packet is to connections
 * @c:    the packet has passed ct_proto_check()
 * @zone: ids by direction
 */
enum ct_icmp ct_icmp_class(struct ct_pkt *c, const uint16_t zone[CT_DIR_NB]);

static inline bool ct_is_icmp(const struct sl_pkt *p)
{
	return p->proto == (p->family == SL_AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);
}

/* destination unreachable and the like, which quote the packet that they are about */
bool ct_is_error(uint8_t family, uint8_t type);

/**
 * ct_find_zoned() - the connection of a tuple in a zone that may count in one direction only
 *
 * @t->zone is overwritten.
 */
struct ct_found ct_find_zoned(
		struct ct_shard *s, struct ct_tuple *t, const uint16_t zone[CT_DIR_NB]);
