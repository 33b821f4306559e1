/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rewriting one side of a packet, or of a packet that an error quotes, as nf_nat_ipv4_manip_pkt() and
 * what it calls. Internet checksums follow by difference (RFC 1624), SCTP's is computed anew.
 */
#include "conntrack/nat.h"
#include "lib/ip.h"

#include <rte_ip.h>

#include <netinet/icmp6.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#define ICMP_HDR_LEN 8U
#define IP6_HDR_LEN 40U

/* offsets of checksums in their headers, and how much of the header has to be there */
#define TCP_CSUM 16U
#define TCP_HDR_LEN 20U
#define UDP_CSUM 6U
#define UDP_HDR_LEN 8U
#define SCTP_CSUM 8U
#define SCTP_HDR_LEN 12U
#define ICMP_CSUM 2U
#define ICMP_ID 4U

/* a packet in a frame: the outer one, or what it quotes */
struct inside {
	struct rte_mbuf *m;
	uint32_t l3_off, l4_off;
	uint8_t family, proto;
	const struct ct_tuple *to;
	enum ct_manip manip;
};

static uint32_t left(const struct inside *in)
{
	return in->m->pkt_len > in->l4_off ? in->m->pkt_len - in->l4_off : 0;
}

static const struct sl_addr *new_addr(const struct inside *in)
{
	return in->manip == CT_MANIP_SRC ? &in->to->src : &in->to->dst;
}

/* offset of the address from the start of the frame */
static uint32_t addr_off(const struct inside *in)
{
	bool src = in->manip == CT_MANIP_SRC;

	if (in->family == SL_AF_INET)
		return in->l3_off
				+ (src ? offsetof(struct rte_ipv4_hdr, src_addr)
				       : offsetof(struct rte_ipv4_hdr, dst_addr));
	return in->l3_off
			+ (src ? offsetof(struct rte_ipv6_hdr, src_addr)
			       : offsetof(struct rte_ipv6_hdr, dst_addr));
}

static inline uint16_t read16(const uint8_t *at)
{
	uint16_t v;

	memcpy(&v, at, sizeof(v));
	return v;
}

static inline void write16(uint8_t *at, uint16_t v)
{
	memcpy(at, &v, sizeof(v));
}

/* the checksum at @at after the address of the pseudo header has changed */
static void follow_addr(uint8_t *at, const struct inside *in, const uint8_t *old)
{
	unsigned int words = in->family == SL_AF_INET ? 1 : 4;
	uint16_t csum = read16(at);

	for (unsigned int i = 0; i < words; i++) {
		uint32_t was;

		memcpy(&was, old + 4 * i, sizeof(was));
		csum = sl_csum_update32(csum, was, new_addr(in)->w[i]);
	}
	write16(at, csum);
}

static void follow_port(uint8_t *csum, uint8_t *port, rte_be16_t to_be)
{
	write16(csum, sl_csum_update16(read16(csum), read16(port), to_be));
}

static void rewrite_ports(
		const struct inside *in, uint8_t *l4, const uint8_t *old, uint32_t csum_off)
{
	bool src = in->manip == CT_MANIP_SRC;
	rte_be16_t to_be = src ? in->to->sport_be : in->to->dport_be;
	uint8_t *port = l4 + (src ? 0 : 2);

	if (csum_off != 0) {
		follow_addr(l4 + csum_off, in, old);
		follow_port(l4 + csum_off, port, to_be);
	}
	write16(port, to_be);
}

static void rewrite_udp(const struct inside *in, uint8_t *l4, const uint8_t *old)
{
	/* 0 says that there is none, so it stays, and what comes out as 0 is written as its twin */
	bool has_csum = read16(l4 + UDP_CSUM) != 0 || in->proto == IPPROTO_UDPLITE;

	rewrite_ports(in, l4, old, has_csum ? UDP_CSUM : 0);
	if (has_csum && read16(l4 + UDP_CSUM) == 0)
		write16(l4 + UDP_CSUM, UINT16_MAX);
}

static void rewrite_icmp4(const struct inside *in, uint8_t *l4)
{
	switch (l4[0]) {
	case ICMP_ECHO:
	case ICMP_ECHOREPLY:
	case ICMP_TIMESTAMP:
	case ICMP_TIMESTAMPREPLY:
	case ICMP_INFO_REQUEST:
	case ICMP_INFO_REPLY:
	case ICMP_ADDRESS:
	case ICMP_ADDRESSREPLY:
		follow_port(l4 + ICMP_CSUM, l4 + ICMP_ID, in->to->id_be);
		write16(l4 + ICMP_ID, in->to->id_be);
	}
}

static void rewrite_icmp6(const struct inside *in, uint8_t *l4, const uint8_t *old)
{
	follow_addr(l4 + ICMP_CSUM, in, old);
	if (l4[0] != ICMP6_ECHO_REQUEST && l4[0] != ICMP6_ECHO_REPLY)
		return;
	follow_port(l4 + ICMP_CSUM, l4 + ICMP_ID, in->to->id_be);
	write16(l4 + ICMP_ID, in->to->id_be);
}

/* the call id of version 1, which is the receiver's */
static void rewrite_gre(const struct inside *in, uint8_t *l4)
{
	if ((l4[1] & 7) == 1 && in->manip == CT_MANIP_DST)
		write16(l4 + 6, in->to->dport_be);
}

/* bytes of the transport header that have to be there; 0: it is left alone */
static uint32_t l4_need(const struct inside *in)
{
	switch (in->proto) {
	case IPPROTO_TCP:
		return left(in) >= TCP_HDR_LEN ? TCP_HDR_LEN : 8;
	case IPPROTO_SCTP:
		return left(in) >= SCTP_HDR_LEN ? SCTP_HDR_LEN : 8;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		return UDP_HDR_LEN;
	case IPPROTO_ICMP:
		return in->family == SL_AF_INET ? ICMP_HDR_LEN : 0;
	case IPPROTO_ICMPV6:
		return in->family == SL_AF_INET6 ? ICMP_HDR_LEN : 0;
	case IPPROTO_GRE:
		return ICMP_HDR_LEN;
	default:
		return 0;
	}
}

static void rewrite_l4(const struct inside *in, uint8_t *l4, const uint8_t *old, uint32_t need)
{
	switch (in->proto) {
	case IPPROTO_TCP:
		rewrite_ports(in, l4, old, need == TCP_HDR_LEN ? TCP_CSUM : 0);
		break;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		rewrite_udp(in, l4, old);
		break;
	case IPPROTO_SCTP:
		rewrite_ports(in, l4, old, 0);
		break;
	case IPPROTO_ICMP:
		rewrite_icmp4(in, l4);
		break;
	case IPPROTO_ICMPV6:
		rewrite_icmp6(in, l4, old);
		break;
	case IPPROTO_GRE:
		rewrite_gre(in, l4);
		break;
	}
}

static bool rewrite(const struct inside *in)
{
	uint32_t need = l4_need(in);
	const struct sl_addr *addr = new_addr(in);
	uint8_t *frame, *at;

	/* of what has nothing to be rewritten the header need not be there (authentication header, cut) */
	frame = sl_pkt_pull(in->m,
			need > 0 ? in->l4_off + need
					: in->family == SL_AF_INET
					? in->l3_off + (uint32_t)sizeof(struct rte_ipv4_hdr)
					: in->l3_off + IP6_HDR_LEN);
	if (frame == NULL)
		return false;
	/* versions that nobody knows have no receiver's key to be written */
	if (in->proto == IPPROTO_GRE && in->manip == CT_MANIP_DST
			&& (frame[in->l4_off + 1] & 7) > 1)
		return false;
	at = frame + addr_off(in);
	if (need > 0)
		rewrite_l4(in, frame + in->l4_off, at, need);
	if (in->family == SL_AF_INET) {
		struct rte_ipv4_hdr *ip = (void *)(frame + in->l3_off);
		uint32_t was;

		memcpy(&was, at, sizeof(was));
		ip->hdr_checksum = sl_csum_update32(ip->hdr_checksum, was, addr->v4);
		memcpy(at, &addr->v4, sizeof(addr->v4));
	} else {
		memcpy(at, addr, sizeof(*addr));
	}
	if (need == SCTP_HDR_LEN && in->proto == IPPROTO_SCTP) {
		uint32_t crc = 0;

		memcpy(frame + in->l4_off + SCTP_CSUM, &crc, sizeof(crc));
		crc = sl_crc32c(in->m, in->l4_off, left(in));
		memcpy(frame + in->l4_off + SCTP_CSUM, &crc, sizeof(crc));
	}
	return true;
}

bool ct_nat_rewrite(struct rte_mbuf *m, const struct ct_tuple *to, enum ct_manip manip)
{
	struct sl_pkt *p = sl_pkt(m);
	const struct inside in = {
		.m = m,
		.l3_off = p->l3_off,
		.l4_off = p->l4_off,
		.family = p->family,
		.proto = p->proto,
		.to = to,
		.manip = manip,
	};

	if (!rewrite(&in))
		return false;
	if (manip == CT_MANIP_SRC)
		p->src = to->src;
	else
		p->dst = to->dst;
	if ((p->flags & SL_PKT_PORTS) == 0)
		return true;
	if (manip == CT_MANIP_SRC)
		p->sport_be = to->sport_be;
	else
		p->dport_be = to->dport_be;
	return true;
}

/* whether the connection's packets that go @dir are rewritten on this side */
static bool is_bound(const struct ct_entry *e, enum ct_dir dir, enum ct_manip manip)
{
	uint32_t bit = manip == CT_MANIP_SRC ? CT_SRC_NAT : CT_DST_NAT;

	/* replies have the other side rewritten back */
	return e->status & (dir == CT_REPLY ? bit ^ CT_NAT_MASK : bit);
}

/* a 16-bit sum, and what is to be added to it */
static inline uint16_t fold(uint32_t sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)(sum + (sum >> 16));
}

/**
 * rewrite_plain() - ct_nat_rewrite() of TCP and UDP over IPv4 in one piece, what nearly all packets are
 * @from: tuple of the packets that go the other way; its other side is what this side becomes
 *
 * Return: false: not such a one, and nothing has changed.
 */
static inline bool rewrite_plain(struct rte_mbuf *m, struct sl_pkt *p, const struct ct_tuple *from,
		enum ct_manip manip)
{
	bool src = manip == CT_MANIP_SRC, tcp = p->proto == IPPROTO_TCP;
	struct rte_ipv4_hdr *ip;
	uint8_t *l4, *csum;
	rte_be32_t addr, was;
	rte_be16_t port;
	uint32_t diff;

	if ((p->flags & SL_PKT_PORTS) == 0 || p->family != SL_AF_INET
			|| (!tcp && p->proto != IPPROTO_UDP))
		return false;
	l4 = sl_pkt_at(m, p->l4_off, tcp ? TCP_HDR_LEN : UDP_HDR_LEN);
	if (unlikely(l4 == NULL))
		return false;
	ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, p->l3_off);
	addr = src ? from->dst.v4 : from->src.v4;
	port = src ? from->dport_be : from->sport_be;
	was = src ? ip->src_addr : ip->dst_addr;
	/* each sum changes by the new words less the old ones (RFC 1624, equation 3) */
	diff = (~was & 0xffff) + (~was >> 16) + (addr & 0xffff) + (addr >> 16);
	ip->hdr_checksum = (uint16_t)~fold((uint16_t)~ip->hdr_checksum + diff);
	if (src)
		ip->src_addr = addr;
	else
		ip->dst_addr = addr;
	csum = l4 + (tcp ? TCP_CSUM : UDP_CSUM);
	l4 += src ? 0 : 2;
	/* UDP: 0 says that there is none, so it stays, and what comes out as 0 is written as its twin */
	if (tcp || read16(csum) != 0) {
		uint16_t sum;

		diff += (uint16_t)~read16(l4) + (uint32_t)port;
		sum = (uint16_t)~fold((uint16_t)~read16(csum) + diff);
		write16(csum, !tcp && sum == 0 ? UINT16_MAX : sum);
	}
	write16(l4, port);
	if (src) {
		p->src.v4 = addr;
		p->sport_be = port;
	} else {
		p->dst.v4 = addr;
		p->dport_be = port;
	}
	return true;
}

bool ct_nat_packet(struct rte_mbuf *m, const struct ct_entry *e, enum ct_manip manip)
{
	enum ct_dir dir = ct_info_dir(sl_pkt(m)->ct_info);
	struct ct_tuple to;

	if (likely(!is_bound(e, dir, manip))
			|| likely(rewrite_plain(m, sl_pkt(m), ct_tuple_of(e, !dir), manip)))
		return true;
	return ct_tuple_invert(ct_tuple_of(e, !dir), &to) && ct_nat_rewrite(m, &to, manip);
}

/* Return: whether the ICMP checksum of the packet is right */
static bool is_valid(const struct rte_mbuf *m, const struct sl_pkt *p)
{
	uint32_t len = m->pkt_len - p->l4_off;
	uint32_t sum = sl_csum_bytes(m, p->l4_off, len);

	if (p->family == SL_AF_INET6)
		sum += sl_csum_pseudo(p, IPPROTO_ICMPV6, len);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff || sum == 0;
}

static void fill_checksum(struct rte_mbuf *m, const struct sl_pkt *p, uint8_t *icmp)
{
	uint32_t len = m->pkt_len - p->l4_off;
	uint32_t sum;

	write16(icmp + ICMP_CSUM, 0);
	sum = sl_csum_bytes(m, p->l4_off, len);
	if (p->family == SL_AF_INET6)
		sum += sl_csum_pseudo(p, IPPROTO_ICMPV6, len);
	sum = (sum & 0xffff) + (sum >> 16);
	write16(icmp + ICMP_CSUM, (uint16_t)~sum);
}

static bool is_redirect(const struct sl_pkt *p, uint8_t type)
{
	return type == (p->family == SL_AF_INET ? ICMP_REDIRECT : ND_REDIRECT);
}

/* where the quoted packet's headers are */
static bool find_quote(struct rte_mbuf *m, struct inside *in)
{
	const struct sl_pkt *p = sl_pkt(m);
	uint32_t off = p->l4_off + ICMP_HDR_LEN;
	bool is_v4 = p->family == SL_AF_INET;
	const uint8_t *frame = sl_pkt_pull(
			m, off + (is_v4 ? (uint32_t)sizeof(struct rte_ipv4_hdr) : IP6_HDR_LEN));
	uint16_t frag_off = 0;
	bool has_frag = false;

	if (frame == NULL)
		return false;
	in->m = m;
	in->l3_off = off;
	in->family = p->family;
	if (is_v4) {
		in->proto = frame[off + offsetof(struct rte_ipv4_hdr, next_proto_id)];
		in->l4_off = off + (frame[off] & 0xfU) * 4;
		return true;
	}
	in->proto = frame[off + offsetof(struct rte_ipv6_hdr, proto)];
	in->l4_off = off + IP6_HDR_LEN;
	return sl_ip6_find_upper(m, &in->l4_off, &in->proto, &frag_off, &has_frag) == 0;
}

bool ct_nat_icmp(struct rte_mbuf *m, const struct ct_entry *e, enum ct_manip manip)
{
	struct sl_pkt *p = sl_pkt(m);
	enum ct_dir dir = ct_info_dir(p->ct_info);
	struct inside quote = { .to = ct_tuple_of(e, !dir), .manip = manip ^ 1 };
	const uint32_t done = CT_SRC_NAT_DONE | CT_DST_NAT_DONE;
	/* the router redirects before a first packet has come to POSTROUTING; ours waits for it */
	bool early = p->flags & SL_PKT_ORIGIN && e->status & CT_FRESH;
	struct ct_tuple to;
	uint8_t *frame;

	if (!find_quote(m, &quote) || !is_valid(m, p))
		return false;
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	if (is_redirect(p, frame[p->l4_off])
			&& ((e->status & done) != done || early || e->status & CT_NAT_MASK))
		return false;
	if (!is_bound(e, dir, manip))
		return true;
	if (!rewrite(&quote) || !ct_tuple_invert(ct_tuple_of(e, !dir), &to))
		return false;
	frame = sl_pkt_pull(m, p->l4_off + ICMP_HDR_LEN);
	if (p->family == SL_AF_INET)
		fill_checksum(m, p, frame + p->l4_off);
	if (!ct_nat_rewrite(m, &to, manip))
		return false;
	if (p->family == SL_AF_INET6)
		fill_checksum(m, p, rte_pktmbuf_mtod_offset(m, uint8_t *, p->l4_off));
	return true;
}
