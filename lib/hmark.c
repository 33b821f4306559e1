/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The hash of a flow as xt_HMARK takes it. A flow is three words: both addresses, the smaller one
 * first, and both ports, the larger one in the upper half; so both directions are one flow. The
 * words go through Jenkins' final mix with a seed, the protocol is put on top, and the hash is
 * scaled to the range of marks that was asked for.
 *
 *   TCP 192.168.1.1:80 > 10.0.0.1:1024, everything hashed, rnd 0, mod 2^32 - 1
 *   a = 0x0a000001, b = 0xc0a80101, c = 0x04000050, each + 0xdeadbeef + 12 + rnd
 *   mixed: c = 0x4f979ec7; ^ protocol 6 = 0x4f979ec1; * mod >> 32 = 0x4f979ec1
 *
 * The two directions of A:1 > B:2 share their mark with those of A:2 > B:1, since addresses and
 * ports are put in order apart: as in the kernel.
 *
 * A batch of plain packets is mixed four at a time: the words are gathered and the rest is one
 * stream of vector instructions that every x86-64-v2 has. All others take the way of sl_hmark().
 *
 * Source: Bob Jenkins, lookup3.c, 2006 (final() of hashword).
 */
#include "lib/hmark.h"

#include "lib/ip6.h"

#include <rte_icmp.h>

#include <netinet/ip_icmp.h>
#include <smmintrin.h>

#define GOLDEN 0xdeadbeefU
#define WORDS 3U

/* four packets side by side */
typedef uint32_t lanes __attribute__((vector_size(16)));
#define LANES 4U

/* what is hashed of a packet */
struct tuple {
	uint32_t src, dst; /* masked, IPv6 folded into one word; host order */
	uint32_t ports; /* in order */
	uint32_t proto;
};

struct sl_addr sl_hmark_prefix(enum sl_family family, unsigned int len)
{
	struct sl_addr ones;

	memset(&ones, 0xff, sizeof(ones));
	ones = sl_addr_mask(&ones, family, len);
	if (family == SL_AF_INET)
		ones = sl_addr_v4(ones.v4);
	return ones;
}

static inline uint32_t rol(uint32_t v, unsigned int n)
{
	return v << n | v >> (32 - n);
}

static uint32_t mark_of(const struct sl_hmark *h, const struct tuple *t)
{
	uint32_t seed = GOLDEN + 4 * WORDS + h->rnd;
	uint32_t a = RTE_MIN(t->src, t->dst) + seed;
	uint32_t b = RTE_MAX(t->src, t->dst) + seed;
	uint32_t c = t->ports + seed;

	c = (c ^ b) - rol(b, 14);
	a = (a ^ c) - rol(c, 11);
	b = (b ^ a) - rol(a, 25);
	c = (c ^ b) - rol(b, 16);
	a = (a ^ c) - rol(c, 4);
	b = (b ^ a) - rol(a, 14);
	c = (c ^ b) - rol(b, 24);
	c ^= t->proto & h->proto_mask;
	return (uint32_t)((uint64_t)c * h->mod >> 32) + h->offset;
}

static uint32_t fold(const struct sl_addr *addr, const struct sl_addr *mask)
{
	uint64_t q = (addr->q[0] & mask->q[0]) ^ (addr->q[1] & mask->q[1]);

	return rte_be_to_cpu_32((uint32_t)q ^ (uint32_t)(q >> 32));
}

static void set_addresses(const struct sl_hmark *h, uint8_t family, const struct sl_addr *src,
		const struct sl_addr *dst, struct tuple *t)
{
	bool v6 = family == SL_AF_INET6;

	t->src = fold(src, &h->src_mask[v6]);
	t->dst = fold(dst, &h->dst_mask[v6]);
}

/* @word: both ports or an SPI, as they stand in the header */
static void set_ports(const struct sl_hmark *h, rte_be32_t word, struct tuple *t)
{
	uint32_t ports = (rte_be_to_cpu_32(word) & h->port_mask) | h->port_set;

	t->ports = RTE_MAX(ports, rol(ports, 16));
}

/* where in the transport header ports or an SPI stand; -1: nowhere */
static int ports_offset(uint8_t proto)
{
	switch (proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_DCCP:
	case IPPROTO_SCTP:
	case IPPROTO_ESP:
		return 0;
	case IPPROTO_AH:
		return 4;
	default:
		return -1;
	}
}

static void read_ports(
		const struct sl_hmark *h, const struct rte_mbuf *m, uint32_t off, struct tuple *t)
{
	int at = ports_offset((uint8_t)t->proto);
	rte_be32_t word;

	if (at >= 0 && sl_pkt_copy(m, off + (uint32_t)at, sizeof(word), &word))
		set_ports(h, word, t);
}

/* where the header that an ICMP error quotes begins; 0: it is none */
static uint32_t quoted4(const struct rte_mbuf *m, uint32_t icmp)
{
	struct rte_icmp_hdr h;

	if (!sl_pkt_copy(m, icmp, sizeof(h), &h))
		return 0;
	switch (h.icmp_type) {
	case ICMP_DEST_UNREACH:
	case ICMP_SOURCE_QUENCH:
	case ICMP_REDIRECT:
	case ICMP_TIME_EXCEEDED:
	case ICMP_PARAMETERPROB:
		return icmp + (uint32_t)sizeof(h);
	default:
		return 0;
	}
}

/* any IPv4 packet; nothing in a quoted header is checked, as little as the kernel does */
static bool read4(const struct sl_hmark *h, const struct rte_mbuf *m, uint32_t off, struct tuple *t)
{
	struct rte_ipv4_hdr ip;
	struct sl_addr src, dst;
	uint32_t quoted = 0;

	if (!sl_pkt_copy(m, off, sizeof(ip), &ip))
		return false;
	if (ip.next_proto_id == IPPROTO_ICMP)
		quoted = quoted4(m, off + rte_ipv4_hdr_len(&ip));
	if (quoted != 0) {
		off = quoted;
		if (!sl_pkt_copy(m, off, sizeof(ip), &ip))
			return false;
	}
	src = sl_addr_v4(ip.src_addr);
	dst = sl_addr_v4(ip.dst_addr);
	set_addresses(h, SL_AF_INET, &src, &dst, t);
	t->proto = ip.next_proto_id;
	if ((ip.fragment_offset & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK | RTE_IPV4_HDR_MF_FLAG)) == 0)
		read_ports(h, m, off + rte_ipv4_hdr_len(&ip), t);
	return true;
}

/* the extension headers behind the one at @off; AH is the end: it has an SPI */
static bool walk6(const struct rte_mbuf *m, uint32_t off, const struct rte_ipv6_hdr *ip,
		struct ip6_chain *c)
{
	*c = (struct ip6_chain){ .off = off + IP6_HDR_LEN, .proto = ip->proto, .stop_at_ah = true };
	return ip6_walk(m, c) == 0;
}

static uint32_t quoted6(const struct rte_mbuf *m, uint32_t icmp)
{
	struct rte_icmp_hdr h;

	if (!sl_pkt_copy(m, icmp, sizeof(h), &h) || h.icmp_type == 0 || h.icmp_type >= ICMP6_ECHO)
		return 0;
	return icmp + (uint32_t)sizeof(h);
}

/* any IPv6 packet; an extension chain that cannot be walked leaves the tuple empty */
static bool read6(const struct sl_hmark *h, const struct rte_mbuf *m, uint32_t off, struct tuple *t)
{
	struct rte_ipv6_hdr ip;
	struct ip6_chain c;
	struct sl_addr src, dst;
	uint32_t quoted = 0;

	if (!sl_pkt_copy(m, off, sizeof(ip), &ip))
		return false;
	if (!walk6(m, off, &ip, &c))
		return true;
	if (c.proto == IPPROTO_ICMPV6 && !c.frag_hdr)
		quoted = quoted6(m, c.off);
	if (quoted != 0) {
		if (!sl_pkt_copy(m, quoted, sizeof(ip), &ip)
				|| (rte_be_to_cpu_32(ip.vtc_flow) >> 28) != 6
				|| !walk6(m, quoted, &ip, &c))
			return false;
	}
	memcpy(&src, ip.src_addr, sizeof(src));
	memcpy(&dst, ip.dst_addr, sizeof(dst));
	set_addresses(h, SL_AF_INET6, &src, &dst, t);
	t->proto = c.proto;
	if (!c.frag_hdr)
		read_ports(h, m, c.off, t);
	return true;
}

/* whether line 0 of struct sl_pkt says all: ports are there, and nothing stands in between */
static inline bool is_plain(const struct sl_pkt *p)
{
	uint32_t flags = p->flags & (SL_PKT_PORTS | SL_PKT_FRAG | SL_PKT_FRAG_HDR);

	return flags == SL_PKT_PORTS
			&& (p->family == SL_AF_INET || p->l4_off - p->l3_off == (int)IP6_HDR_LEN);
}

static inline rte_be32_t ports_of(const struct sl_pkt *p)
{
	rte_be32_t word;

	memcpy(&word, &p->sport_be, sizeof(word));
	return word;
}
static_assert(offsetof(struct sl_pkt, dport_be) == offsetof(struct sl_pkt, sport_be) + 2,
		"both ports are one word");

bool sl_hmark(const struct sl_hmark *h, struct rte_mbuf *m, uint32_t *mark)
{
	const struct sl_pkt *p = sl_pkt(m);
	struct tuple t = { 0 };

	if (likely(is_plain(p))) {
		set_addresses(h, p->family, &p->src, &p->dst, &t);
		set_ports(h, ports_of(p), &t);
		t.proto = p->proto;
	} else if (p->family == SL_AF_INET) {
		if (!read4(h, m, p->l3_off, &t))
			return false;
	} else if (!read6(h, m, p->l3_off, &t)) {
		return false;
	}
	*mark = mark_of(h, &t);
	return true;
}

uint32_t sl_hmark_of_flow(const struct sl_hmark *h, const struct sl_hmark_flow *flow)
{
	struct tuple t = { .proto = flow->proto };

	set_addresses(h, flow->family, &flow->src, &flow->dst, &t);
	if (flow->proto != IPPROTO_ICMP)
		set_ports(h,
				rte_cpu_to_be_32((uint32_t)rte_be_to_cpu_16(flow->sport_be) << 16
						| rte_be_to_cpu_16(flow->dport_be)),
				&t);
	return mark_of(h, &t);
}

/* plain packets as columns; addresses are masked already, all in network order */
struct columns {
	uint32_t src[SL_BURST], dst[SL_BURST], ports[SL_BURST], proto[SL_BURST];
	uint32_t mark[SL_BURST];
} __rte_aligned(64);

static inline lanes load(const uint32_t *v)
{
	return *(const lanes *)(const void *)v;
}

static inline lanes all(uint32_t v)
{
	return (lanes){ v, v, v, v };
}

/* bytes in another order within each lane */
#define SHUFFLE(v, b0, b1, b2, b3)                                                               \
	((lanes)__builtin_shuffle((bytes)(v),                                                    \
			(bytes){ b0, b1, b2, b3, 4 + b0, 4 + b1, 4 + b2, 4 + b3, 8 + b0, 8 + b1, \
					8 + b2, 8 + b3, 12 + b0, 12 + b1, 12 + b2, 12 + b3 }))
typedef uint8_t bytes __attribute__((vector_size(16)));

static inline lanes to_host(lanes v)
{
	return SHUFFLE(v, 3, 2, 1, 0);
}

static inline lanes rol_lanes(lanes v, unsigned int n)
{
	return v << n | v >> (32 - n);
}

static inline lanes min_lanes(lanes a, lanes b)
{
	return (lanes)_mm_min_epu32((__m128i)a, (__m128i)b);
}

static inline lanes max_lanes(lanes a, lanes b)
{
	return (lanes)_mm_max_epu32((__m128i)a, (__m128i)b);
}

/* the upper half of the products of both, lane by lane */
static inline lanes scale(lanes v, uint32_t by)
{
	typedef uint64_t pair __attribute__((vector_size(16)));
	const pair low = { UINT32_MAX, UINT32_MAX }, factor = { by, by };
	pair even = ((pair)v & low) * factor >> 32;
	pair odd = ((pair)v >> 32) * factor & ~low;

	return (lanes)(even | odd);
}

static void mix(const struct sl_hmark *h, struct columns *k, unsigned int n)
{
	const lanes seed = all(GOLDEN + 4 * WORDS + h->rnd);

	for (unsigned int i = 0; i < n; i += LANES) {
		lanes src = to_host(load(&k->src[i])), dst = to_host(load(&k->dst[i]));
		lanes w = (to_host(load(&k->ports[i])) & all(h->port_mask)) | all(h->port_set);
		lanes a = min_lanes(src, dst) + seed;
		lanes b = max_lanes(src, dst) + seed;
		lanes c = max_lanes(w, SHUFFLE(w, 2, 3, 0, 1)) + seed;

		c = (c ^ b) - rol_lanes(b, 14);
		a = (a ^ c) - rol_lanes(c, 11);
		b = (b ^ a) - rol_lanes(a, 25);
		c = (c ^ b) - SHUFFLE(b, 2, 3, 0, 1);
		a = (a ^ c) - rol_lanes(c, 4);
		b = (b ^ a) - rol_lanes(a, 14);
		c = (c ^ b) - SHUFFLE(b, 1, 2, 3, 0);
		c ^= load(&k->proto[i]) & all(h->proto_mask);
		*(lanes *)(void *)&k->mark[i] = scale(c, h->mod) + all(h->offset);
	}
}

void sl_hmark_bulk(const struct sl_hmark *h, struct rte_mbuf *const *pkts, unsigned int n)
{
	struct columns k;
	uint64_t odd = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct sl_pkt *p = sl_pkt(pkts[i]);
		bool plain = is_plain(p);

		k.src[i] = p->src.v4 & h->src_mask[0].v4;
		k.dst[i] = p->dst.v4 & h->dst_mask[0].v4;
		if (unlikely(p->family != SL_AF_INET)) {
			k.src[i] = rte_cpu_to_be_32(fold(&p->src, &h->src_mask[1]));
			k.dst[i] = rte_cpu_to_be_32(fold(&p->dst, &h->dst_mask[1]));
		}
		k.ports[i] = ports_of(p);
		k.proto[i] = p->proto;
		odd |= (uint64_t)!plain << i;
	}
	for (unsigned int i = n; i % LANES != 0; i++) {
		k.src[i] = k.dst[i] = k.ports[i] = k.proto[i] = 0;
	}
	mix(h, &k, n);
	for (unsigned int i = 0; i < n; i++)
		if (likely(!(odd >> i & 1)))
			sl_pkt(pkts[i])->mark = k.mark[i];
	for (; unlikely(odd != 0); odd &= odd - 1) {
		struct rte_mbuf *m = pkts[__builtin_ctzll(odd)];

		sl_hmark(h, m, &sl_pkt(m)->mark);
	}
}
