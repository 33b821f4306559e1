/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hash that chooses among equal-cost paths. What goes into it is the kernel's rule for each
 * fib_multipath_hash_policy; the kernel's key is random, so the choice itself cannot be the same.
 *
 * 0: addresses (IPv6: flow label and protocol too); ICMP errors go the way of what they quote
 * 1: addresses, protocol and ports
 * 2: as 0, of the innermost header of an IP-in-IP or GRE packet
 */
#include "lib/net.h"

#include <rte_icmp.h>
#include <rte_ip.h>
#include <rte_jhash.h>

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#define TUNNELS_MAX 4

struct flow {
	struct sl_addr src, dst;
	uint32_t label;
	uint32_t ports;
	uint8_t proto;
};
static_assert(offsetof(struct flow, proto) == 40, "hashed as words, then the protocol");

static uint32_t hash_flow(const struct flow *f)
{
	return rte_jhash_32b((const uint32_t *)(const void *)f, offsetof(struct flow, proto) / 4,
			f->proto);
}

static const struct rte_mbuf *mbuf_of(const struct sl_pkt *p)
{
	return (const struct rte_mbuf *)(const void *)p - 1;
}

/* addresses of the header at @off; the offset behind it, or 0 if it is cut or of another version */
static uint32_t read_header(const struct rte_mbuf *m, uint32_t off, uint8_t family, struct flow *f)
{
	union {
		struct rte_ipv4_hdr v4;
		struct rte_ipv6_hdr v6;
	} h;

	memset(f, 0, sizeof(*f));
	if (family == SL_AF_INET) {
		if (!sl_pkt_copy(m, off, sizeof(h.v4), &h.v4) || h.v4.version != 4 || h.v4.ihl < 5)
			return 0;
		f->src = sl_addr_v4(h.v4.src_addr);
		f->dst = sl_addr_v4(h.v4.dst_addr);
		f->proto = h.v4.next_proto_id;
		/* nothing is behind the header of a later fragment */
		if ((h.v4.fragment_offset & rte_cpu_to_be_16(RTE_IPV4_HDR_OFFSET_MASK)) != 0)
			f->proto = IPPROTO_NONE;
		return off + rte_ipv4_hdr_len(&h.v4);
	}
	if (!sl_pkt_copy(m, off, sizeof(h.v6), &h.v6)
			|| (rte_be_to_cpu_32(h.v6.vtc_flow) >> 28) != 6)
		return 0;
	memcpy(f->src.b, h.v6.src_addr, sizeof(f->src.b));
	memcpy(f->dst.b, h.v6.dst_addr, sizeof(f->dst.b));
	f->label = rte_be_to_cpu_32(h.v6.vtc_flow) & 0xfffff;
	f->proto = h.v6.proto;
	return off + sizeof(h.v6);
}

static bool is_error(const struct sl_pkt *p, uint8_t type)
{
	if (p->family == SL_AF_INET6)
		return type == ICMP6_DST_UNREACH || type == ICMP6_PACKET_TOO_BIG
				|| type == ICMP6_TIME_EXCEEDED || type == ICMP6_PARAM_PROB;
	return type == ICMP_DEST_UNREACH || type == ICMP_REDIRECT || type == ICMP_TIME_EXCEEDED
			|| type == ICMP_PARAMETERPROB;
}

/* the flow that an ICMP error quotes takes the place of the error's own */
static void quoted_flow(const struct sl_pkt *p, struct flow *f)
{
	const struct rte_mbuf *m = mbuf_of(p);
	struct flow quoted;
	uint8_t type;

	if (p->proto != (p->family == SL_AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6)
			|| !(p->flags & SL_PKT_L4) || (p->flags & SL_PKT_FRAG_LATER)
			|| !sl_pkt_copy(m, p->l4_off, 1, &type) || !is_error(p, type))
		return;
	if (read_header(m, p->l4_off + sizeof(struct rte_icmp_hdr), p->family, &quoted) != 0)
		*f = quoted;
}

/* length of a GRE header that says @flags; 0: not version 0, or with source routing */
static uint32_t gre_length(uint16_t flags)
{
	if ((flags & 0x4007) != 0)
		return 0;
	return 4 + ((flags & 0x8000) ? 4 : 0) + ((flags & 0x2000) ? 4 : 0)
			+ ((flags & 0x1000) ? 4 : 0);
}

static void innermost_flow(const struct sl_pkt *p, struct flow *f)
{
	const struct rte_mbuf *m = mbuf_of(p);
	uint32_t off = p->l4_off;
	uint8_t proto = p->proto;

	if (!(p->flags & SL_PKT_L4) || (p->flags & SL_PKT_FRAG_LATER))
		return;
	for (unsigned int i = 0; i < TUNNELS_MAX && off != 0; i++) {
		uint8_t family = proto == IPPROTO_IPIP ? SL_AF_INET : SL_AF_INET6;
		struct flow inner;
		rte_be16_t gre[2];

		if (proto == IPPROTO_GRE) {
			uint32_t len;

			if (!sl_pkt_copy(m, off, sizeof(gre), gre))
				return;
			len = gre_length(rte_be_to_cpu_16(gre[0]));
			if (len == 0)
				return;
			off += len;
			if (gre[1] == RTE_BE16(RTE_ETHER_TYPE_IPV4))
				family = SL_AF_INET;
			else if (gre[1] != RTE_BE16(RTE_ETHER_TYPE_IPV6))
				return;
		} else if (proto != IPPROTO_IPIP && proto != IPPROTO_IPV6) {
			return;
		}
		off = read_header(m, off, family, &inner);
		if (off == 0)
			return;
		proto = inner.proto;
		*f = inner;
	}
}

uint32_t sl_net_flow_hash(const struct sl_net *net, const struct sl_pkt *p)
{
	int policy = p->family == SL_AF_INET ? net->sysctl.multipath4_policy
					     : net->sysctl.multipath6_policy;
	struct flow f, own;

	memset(&f, 0, sizeof(f));
	if (policy != 1 && p->family == SL_AF_INET6
			&& read_header(mbuf_of(p), p->l3_off, SL_AF_INET6, &own) != 0)
		f.label = own.label;
	f.src = p->src;
	f.dst = p->dst;
	f.proto = p->proto;
	if (policy == 1)
		f.ports = (uint32_t)p->sport_be << 16 | p->dport_be;
	else
		quoted_flow(p, &f);
	if (policy == 2)
		innermost_flow(p, &f);
	/* IPv4 looks at the protocol with the ports only */
	if (p->family == SL_AF_INET && policy == 0)
		f.proto = 0;
	return hash_flow(&f);
}
