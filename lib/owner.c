/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Both directions must meet at one worker, so the hash is over sums and differences that do not
 * know which end is which. Stage state must not be steered by an attacker to one worker for good,
 * but any symmetric function has collisions; what bounds the damage is the rings' size.
 */
#include "lib/owner.h"

#include "lib/ip.h"

#include <rte_icmp.h>
#include <rte_ip.h>

struct tuple {
	uint64_t addr; /* of both ends, mixed symmetrically */
	uint32_t ports;
};

static uint32_t mix(struct tuple t)
{
	uint64_t h = t.addr ^ ((uint64_t)t.ports << 32 | t.ports);

	h ^= h >> 33;
	h *= 0xff51afd7ed558ccdULL;
	h ^= h >> 33;
	h *= 0xc4ceb9fe1a85ec53ULL;
	h ^= h >> 33;
	return (uint32_t)(h >> 32);
}

static uint64_t fold(uint64_t a, uint64_t b)
{
	uint64_t lo = a < b ? a : b, hi = a < b ? b : a;

	return lo * 0x9e3779b97f4a7c15ULL ^ (hi << 1 | hi >> 63);
}

static uint64_t fold_addr(enum sl_family family, const struct sl_addr *a, const struct sl_addr *b)
{
	if (family == SL_AF_INET)
		return fold(a->v4, b->v4);
	return fold(a->q[0] ^ a->q[1] * 3, b->q[0] ^ b->q[1] * 3);
}

static uint32_t fold_ports(rte_be16_t a, rte_be16_t b)
{
	return a < b ? (uint32_t)a << 16 | b : (uint32_t)b << 16 | a;
}

/* whose connections are told apart by ports; DCCP has no tracker any more */
static bool has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_UDPLITE
			|| proto == IPPROTO_SCTP;
}

/* destination unreachable, source quench, redirect, time exceeded, parameter problem */
static bool is_error4(uint8_t type)
{
	return type == 3 || type == 4 || type == 5 || type == 11 || type == 12;
}

static bool quoted4(const struct rte_mbuf *m, uint32_t off, struct tuple *t)
{
	struct rte_ipv4_hdr ip;
	rte_be16_t ports[2];
	struct sl_addr src, dst;
	uint32_t hdr_len;

	if (!sl_pkt_copy(m, off, sizeof(ip), &ip))
		return false;
	src = sl_addr_v4(ip.src_addr);
	dst = sl_addr_v4(ip.dst_addr);
	hdr_len = (ip.version_ihl & 0xf) * 4U;
	*t = (struct tuple){ .addr = fold_addr(SL_AF_INET, &src, &dst) };
	/* a first fragment is one of a datagram that was joined here, and found its flow then */
	if ((ip.fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)) == 0
			&& has_ports(ip.next_proto_id)
			&& sl_pkt_copy(m, off + hdr_len, sizeof(ports), ports))
		t->ports = fold_ports(ports[0], ports[1]);
	return true;
}

static bool quoted6(const struct rte_mbuf *m, uint32_t off, struct tuple *t)
{
	struct rte_ipv6_hdr ip;
	rte_be16_t ports[2];
	struct sl_addr src, dst;
	uint16_t frag_off;
	uint8_t proto;
	bool has_frag;

	if (!sl_pkt_copy(m, off, sizeof(ip), &ip))
		return false;
	memcpy(src.b, &ip.src_addr, sizeof(src.b));
	memcpy(dst.b, &ip.dst_addr, sizeof(dst.b));
	*t = (struct tuple){ .addr = fold_addr(SL_AF_INET6, &src, &dst) };
	off += sizeof(ip);
	proto = ip.proto;
	if (sl_ip6_find_upper(m, &off, &proto, &frag_off, &has_frag) == 0 && frag_off == 0
			&& has_ports(proto) && sl_pkt_copy(m, off, sizeof(ports), ports))
		t->ports = fold_ports(ports[0], ports[1]);
	return true;
}

uint32_t sl_owner_hash_of(enum sl_family family, const struct sl_addr *a, const struct sl_addr *b,
		rte_be16_t port_a, rte_be16_t port_b)
{
	return mix((struct tuple){ fold_addr(family, a, b), fold_ports(port_a, port_b) });
}

uint32_t sl_owner_hash(struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	struct tuple t = { .addr = fold_addr(p->family, &p->src, &p->dst) };
	bool whole = (p->flags & (SL_PKT_FRAG | SL_PKT_L4)) == SL_PKT_L4;
	struct tuple quote;
	uint8_t type;

	if (p->flags & SL_PKT_PORTS && whole && has_ports(p->proto)) {
		t.ports = fold_ports(p->sport_be, p->dport_be);
	} else if (whole && (p->proto == IPPROTO_ICMP || p->proto == IPPROTO_ICMPV6)
			&& sl_pkt_copy(m, p->l4_off, sizeof(type), &type)) {
		uint32_t quote_off = p->l4_off + 8U;

		if (p->family == SL_AF_INET && is_error4(type) && quoted4(m, quote_off, &quote))
			t = quote;
		else if (p->family == SL_AF_INET6 && type < 128 && quoted6(m, quote_off, &quote))
			t = quote;
	}
	return mix(t);
}
