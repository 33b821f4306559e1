/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv6 header: the checks of the kernel's ip6_rcv_core(). Transport right behind the fixed header is
 * the straight path, everything else goes through ip6_walk().
 */
#include "lib/ip6.h"
#include "lib/router.h"

static bool take_drop(struct sl_worker *w, struct rte_mbuf *m, enum sl_drop_reason reason)
{
	sl_drop(w, m, reason);
	return false;
}

/* the transport of a packet with extension headers */
static __rte_noinline void fill_chain(struct rte_mbuf *m, struct sl_pkt *p, uint8_t proto)
{
	struct ip6_chain c = { .off = p->l3_off + IP6_HDR_LEN, .proto = proto };
	rte_be16_t ports[2];
	int ret;

	if (proto == IPPROTO_HOPOPTS)
		p->flags |= SL_PKT_OPTIONS;
	ret = ip6_walk(m, &c);
	p->proto = c.proto;
	p->frag_off = c.frag_off;
	if (c.frag_hdr)
		p->flags |= SL_PKT_FRAG_HDR;
	if (c.frag)
		p->flags |= SL_PKT_FRAG;
	if (c.frag_off != 0)
		p->flags |= SL_PKT_FRAG_LATER;
	if (ret < 0 || c.off > UINT16_MAX)
		return;
	p->flags |= SL_PKT_L4;
	if (c.frag_off != 0)
		return;
	p->l4_off = (uint16_t)c.off;
	if (ip6_has_ports(c.proto) && sl_pkt_copy(m, c.off, sizeof(ports), ports)) {
		p->flags |= SL_PKT_PORTS;
		p->sport_be = ports[0];
		p->dport_be = ports[1];
	}
}

/* line 0 of struct sl_pkt; the flags of the link stay, l3_off and in_port are set */
static inline void fill(
		struct rte_mbuf *m, struct sl_pkt *p, const struct rte_ipv6_hdr *ip, uint32_t len)
{
	const rte_be16_t *ports = (const void *)(ip + 1);
	uint8_t proto = ip->proto;

	memcpy(&p->src, ip->src_addr, sizeof(p->src));
	memcpy(&p->dst, ip->dst_addr, sizeof(p->dst));
	p->sport_be = 0;
	p->dport_be = 0;
	p->flags &= ~(SL_PKT_FRAG | SL_PKT_FRAG_LATER | SL_PKT_FRAG_HDR | SL_PKT_L4 | SL_PKT_PORTS
			| SL_PKT_OPTIONS | SL_PKT_DF);
	p->family = SL_AF_INET6;
	p->proto = proto;
	p->l4_off = 0;
	p->frag_off = 0;
	p->l3_len = len;
	if (unlikely(ip6_is_extension(proto) && proto != IPPROTO_NONE)) {
		fill_chain(m, p, proto);
		return;
	}
	p->flags |= SL_PKT_L4;
	p->l4_off = (uint16_t)(p->l3_off + IP6_HDR_LEN);
	if (!ip6_has_ports(proto))
		return;
	if (likely(m->data_len >= p->l4_off + 4U)) {
		p->flags |= SL_PKT_PORTS;
		p->sport_be = ports[0];
		p->dport_be = ports[1];
	} else if (sl_pkt_copy(m, p->l4_off, 2, &p->sport_be)
			&& sl_pkt_copy(m, p->l4_off + 2U, 2, &p->dport_be)) {
		p->flags |= SL_PKT_PORTS;
	} else {
		p->sport_be = 0;
	}
}

bool sl_parse6_fill(struct rte_mbuf *m, uint16_t l3_off)
{
	struct sl_pkt *p = sl_pkt(m);
	const struct rte_ipv6_hdr *ip;
	const uint8_t *frame = sl_pkt_pull(m, l3_off + IP6_HDR_LEN);

	if (frame == NULL)
		return false;
	ip = (const void *)(frame + l3_off);
	p->l3_off = l3_off;
	fill(m, p, ip, IP6_HDR_LEN + rte_be_to_cpu_16(ip->payload_len));
	return true;
}

/* RFC 4291: 2.5.3 loopback, 2.7 groups as a source or of a scope that cannot come from a link */
static bool bad_address(const struct sl_pkt *p, enum sl_drop_reason *why)
{
	*why = SL_DROP_MARTIAN_SRC;
	if (ip6_is_multicast(&p->src) || ip6_is_loopback(&p->src))
		return true;
	*why = SL_DROP_MARTIAN_DST;
	return ip6_is_loopback(&p->dst) || (ip6_is_multicast(&p->dst) && (p->dst.b[1] & 0xf) <= 1);
}

/* may the addresses be bad? cheap, and true for few good packets */
static inline bool odd_address(const struct sl_pkt *p)
{
	return p->src.q[0] == 0 || p->dst.q[0] == 0 || p->src.b[0] == 0xff || p->dst.b[0] == 0xff;
}

bool sl_parse6(struct sl_worker *w, struct rte_mbuf *m)
{
	struct sl_pkt *p = sl_pkt(m);
	const struct rte_ipv6_hdr *ip;
	const uint8_t *frame = sl_pkt_pull(m, p->l3_off + IP6_HDR_LEN);
	enum sl_drop_reason why;
	uint32_t len, room, options_len;

	p->family = SL_AF_INET6;
	if (unlikely(w->r->ports[p->in_port].mtu < IP6_MIN_MTU))
		return take_drop(w, m, SL_DROP_IP6_OFF);
	if (unlikely(frame == NULL || frame[p->l3_off] >> 4 != SL_AF_INET6))
		return take_drop(w, m, SL_DROP_IP6_HEADER);
	ip = (const void *)(frame + p->l3_off);
	room = m->pkt_len - p->l3_off;
	len = IP6_HDR_LEN + rte_be_to_cpu_16(ip->payload_len);
	/* a jumbogram says its length in an option */
	if (unlikely(ip->payload_len == 0 && ip->proto == IPPROTO_HOPOPTS))
		len = room;
	if (unlikely(len > room))
		return take_drop(w, m, SL_DROP_IP6_LENGTH);
	if (len < room)
		sl_pkt_trim(m, p->l3_off + len);
	p->out_port = SL_PORT_NONE;
	p->mark = 0;
	fill(m, p, ip, len);
	if (unlikely(odd_address(p)) && bad_address(p, &why))
		return take_drop(w, m, why);
	if (unlikely(p->flags & SL_PKT_OPTIONS)) {
		if (!ip6_options_rx(w, m, IP6_HDR_LEN, IP6_OPTIONS_HOP, &options_len))
			return false;
		p->l3_len = m->pkt_len - p->l3_off;
	}
	return true;
}
