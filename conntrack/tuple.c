/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/tuple.h"

#include "lib/ip.h"

#include <rte_ip.h>

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

/* RFC 2637: enhanced GRE, whose key holds the call id */
#define GRE_VERSION_MASK 7
#define GRE_VERSION_1 1
#define GRE_PPP 0x880b
#define GRE_KEY_LEN 8 /* up to the call id's end */

struct icmp_head {
	uint8_t type;
	uint8_t code;
	rte_be16_t csum_be;
	rte_be16_t id_be;
	rte_be16_t seq_be;
};

/* DCCP has no tracker any more: its packets are told apart by addresses alone */
static bool has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_UDPLITE
			|| proto == IPPROTO_SCTP;
}

static bool get_icmp(const struct rte_mbuf *m, uint32_t off, struct ct_tuple *t)
{
	struct icmp_head h;

	if (!sl_pkt_copy(m, off, sizeof(h), &h))
		return false;
	t->id_be = h.id_be;
	t->type = h.type;
	t->code = h.code;
	return true;
}

/* only version 1 has something that tells calls apart: one key, for the receiver */
static bool get_gre(const struct rte_mbuf *m, uint32_t off, struct ct_tuple *t)
{
	uint8_t h[GRE_KEY_LEN];

	if (!sl_pkt_copy(m, off, 2, h))
		return true;
	if ((h[1] & GRE_VERSION_MASK) != GRE_VERSION_1)
		return true;
	if (!sl_pkt_copy(m, off, sizeof(h), h))
		return true;
	if (h[2] != GRE_PPP >> 8 || h[3] != (GRE_PPP & 0xff))
		return false;
	memcpy(&t->dport_be, &h[6], sizeof(t->dport_be));
	return true;
}

/* what the protocol's header at @off says; addresses, family and proto are in @t */
static bool get_l4(const struct rte_mbuf *m, uint32_t off, struct ct_tuple *t)
{
	rte_be16_t ports[2];

	t->sport_be = 0;
	t->dport_be = 0;
	if (has_ports(t->proto)) {
		if (!sl_pkt_copy(m, off, sizeof(ports), ports))
			return false;
		t->sport_be = ports[0];
		t->dport_be = ports[1];
		return true;
	}
	if (t->proto == (t->family == SL_AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6))
		return get_icmp(m, off, t);
	return t->proto != IPPROTO_GRE || get_gre(m, off, t);
}

bool ct_tuple_get(struct rte_mbuf *m, uint16_t zone, struct ct_tuple *t)
{
	const struct sl_pkt *p = sl_pkt(m);

	if (unlikely((p->flags & (SL_PKT_L4 | SL_PKT_FRAG_LATER)) != SL_PKT_L4))
		return false;
	t->src = p->src;
	t->dst = p->dst;
	t->family = p->family;
	t->proto = p->proto;
	t->zone = zone;
	if (likely(p->flags & SL_PKT_PORTS) && likely(has_ports(p->proto))) {
		t->sport_be = p->sport_be;
		t->dport_be = p->dport_be;
		return true;
	}
	/* ipv6_skip_exthdr() finds nothing behind "no next header" */
	if (p->family == SL_AF_INET6 && p->proto == IPPROTO_NONE)
		return false;
	return get_l4(m, p->l4_off, t);
}

static bool quoted4(const struct rte_mbuf *m, uint32_t off, struct ct_tuple *t)
{
	struct rte_ipv4_hdr ip;

	if (!sl_pkt_copy(m, off, sizeof(ip), &ip)
			|| (ip.fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)) != 0)
		return false;
	t->src = sl_addr_v4(ip.src_addr);
	t->dst = sl_addr_v4(ip.dst_addr);
	t->proto = ip.next_proto_id;
	return get_l4(m, off + (ip.version_ihl & 0xfU) * 4, t);
}

static bool quoted6(const struct rte_mbuf *m, uint32_t off, struct ct_tuple *t)
{
	struct rte_ipv6_hdr ip;
	uint16_t frag_off = 0;
	bool has_frag = false;
	uint8_t proto;

	if (!sl_pkt_copy(m, off, sizeof(ip), &ip))
		return false;
	memcpy(t->src.b, &ip.src_addr, sizeof(t->src.b));
	memcpy(t->dst.b, &ip.dst_addr, sizeof(t->dst.b));
	off += (uint32_t)sizeof(ip);
	proto = ip.proto;
	if (sl_ip6_find_upper(m, &off, &proto, &frag_off, &has_frag) < 0 || frag_off != 0
			|| proto == IPPROTO_NONE)
		return false;
	t->proto = proto;
	return get_l4(m, off, t);
}

bool ct_tuple_quoted(struct rte_mbuf *m, uint32_t off, uint16_t zone, struct ct_tuple *t)
{
	t->family = sl_pkt(m)->family;
	t->zone = zone;
	return t->family == SL_AF_INET ? quoted4(m, off, t) : quoted6(m, off, t);
}

/* Return: the type that answers, or -1 */
static int answer_type(const struct ct_tuple *t)
{
	if (t->family == SL_AF_INET6) {
		switch (t->type) {
		case ICMP6_ECHO_REQUEST:
		case ICMP6_ECHO_REPLY:
		case 139: /* node information query and response, RFC 4620 */
		case 140:
			return t->type
					^ (t->type < 139 ? ICMP6_ECHO_REQUEST ^ ICMP6_ECHO_REPLY
							 : 139 ^ 140);
		default:
			return -1;
		}
	}
	switch (t->type) {
	case ICMP_ECHO:
		return ICMP_ECHOREPLY;
	case ICMP_ECHOREPLY:
		return ICMP_ECHO;
	case ICMP_TIMESTAMP:
	case ICMP_INFO_REQUEST:
	case ICMP_ADDRESS:
		return t->type + 1;
	case ICMP_TIMESTAMPREPLY:
	case ICMP_INFO_REPLY:
	case ICMP_ADDRESSREPLY:
		return t->type - 1;
	default:
		return -1;
	}
}

bool ct_tuple_invert(const struct ct_tuple *t, struct ct_tuple *answer)
{
	bool icmp = t->proto == (t->family == SL_AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);
	int type = icmp ? answer_type(t) : 0;

	if (type < 0)
		return false;
	*answer = *t;
	answer->src = t->dst;
	answer->dst = t->src;
	if (icmp) {
		answer->type = (uint8_t)type;
	} else {
		answer->sport_be = t->dport_be;
		answer->dport_be = t->sport_be;
	}
	return true;
}
