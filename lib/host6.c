/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv6 packets for the router itself: the kernel's ip6_protocol_deliver_rcu() on a host where nothing
 * listens. Extension headers are taken one by one, each by its own rules, until a transport header:
 * echo is answered, neighbour discovery goes to the host worker, TCP gets a reset, UDP a port
 * unreachable, anything unknown a parameter problem that points at the byte which named it.
 */
#include "lib/ip6.h"
#include "lib/neigh.h"

#include <rte_tcp.h>
#include <rte_udp.h>

#define ROUTING_HDR_MIN 8U
#define ROUTING_RPL 3 /* RFC 6554 */
#define ROUTING_SEGMENT 4 /* RFC 8754 */
/* bytes of UDP that the kernel sums up when they come in, not when somebody reads them */
#define SUM_AT_ONCE 76U

/* where the walk along the headers is, counted from the IPv6 header */
struct place {
	uint32_t off; /* header to be looked at */
	uint32_t nhoff; /* the byte that named it */
	bool joined; /* a fragment header was passed */
};

static struct rte_ipv6_hdr *header(struct rte_mbuf *m)
{
	return rte_pktmbuf_mtod_offset(m, struct rte_ipv6_hdr *, sl_pkt(m)->l3_off);
}

static void refuse(struct sl_worker *w, struct rte_mbuf *m, uint8_t code, uint32_t pointer,
		enum sl_drop_reason reason)
{
	sl_icmp6_error(w, m, ICMP6_PARAM, code, pointer);
	sl_drop(w, m, reason);
}

/* @len bytes of the header at @at, counted from the IPv6 header, or NULL */
static const uint8_t *pull(struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	uint32_t at = sl_pkt(m)->l3_off + off;
	const uint8_t *frame = sl_pkt_pull(m, at + len);

	return frame != NULL ? frame + at : NULL;
}

static bool take_drop(struct sl_worker *w, struct rte_mbuf *m, enum sl_drop_reason reason)
{
	sl_drop(w, m, reason);
	return false;
}

static bool take_routing(struct sl_worker *w, struct rte_mbuf *m, struct place *at)
{
	const struct sl_pkt *p = sl_pkt(m);
	const uint8_t *h = pull(m, at->off, ROUTING_HDR_MIN);
	uint32_t len = h != NULL ? (h[1] + 1U) * 8 : 0;

	if (h != NULL)
		h = pull(m, at->off, len);
	if (h == NULL || ip6_is_multicast(&p->dst)
			|| p->flags & (SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST))
		return take_drop(w, m, SL_DROP_IP6_EXTENSION);
	/* segment routing and RPL are switched off by default, used up or not */
	if (h[2] == ROUTING_SEGMENT || h[2] == ROUTING_RPL)
		return take_drop(w, m, SL_DROP_IP6_EXTENSION);
	if (h[3] != 0) {
		refuse(w, m, ICMP6_PARAM_FIELD, at->off + 2, SL_DROP_IP6_EXTENSION);
		return false;
	}
	at->nhoff = at->off;
	at->off += len;
	return true;
}

static bool take_destination(struct sl_worker *w, struct rte_mbuf *m, struct place *at)
{
	uint32_t len;

	if (!ip6_options_rx(w, m, at->off, IP6_OPTIONS_DEST, &len))
		return false;
	at->nhoff = at->off;
	at->off += len;
	return true;
}

/* Return: the packet to go on with, or NULL */
static struct rte_mbuf *take_fragment(struct sl_worker *w, struct rte_mbuf *m, struct place *at)
{
	const uint8_t *h = pull(m, at->off, IP6_FRAG_HDR_LEN);

	if (at->joined || h == NULL || header(m)->payload_len == 0) {
		refuse(w, m, ICMP6_PARAM_FIELD, at->off, SL_DROP_IP6_EXTENSION);
		return NULL;
	}
	at->joined = true;
	if (((uint32_t)(h[2] << 8 | h[3]) & 0xfff9) == 0) {
		at->nhoff = at->off;
		at->off += IP6_FRAG_HDR_LEN;
		return m;
	}
	/* what comes back has no fragment header any more: the next header is at the same place */
	return sl_reasm_rx(w, w->reasm, m);
}

static uint32_t l4_len(const struct rte_mbuf *m, uint32_t l4_off)
{
	return m->pkt_len - l4_off;
}

/* sum over @len bytes of transport and the pseudo header for @pseudo_len; right if all ones */
static bool checksum_ok(const struct rte_mbuf *m, const struct sl_pkt *p, uint8_t proto,
		uint32_t l4_off, uint32_t len, uint32_t pseudo_len)
{
	uint32_t sum = (uint32_t)sl_csum_bytes(m, l4_off, len)
			+ sl_csum_pseudo(p, proto, pseudo_len);

	return ((sum & 0xffff) + (sum >> 16)) == 0xffff;
}

/* Turns the request into the reply: what is in front of the ICMPv6 header goes, data stays. */
static void echo(struct sl_worker *w, struct rte_mbuf *m, uint32_t l4_off)
{
	struct sl_pkt *p = sl_pkt(m);
	const struct sl_sysctl *s = &w->net->sysctl;
	bool group = ip6_is_multicast(&p->dst);
	bool anycast = !group && ip6_is_own_anycast(w->net, &p->dst, p->in_port);
	struct ip6_own o = {
		.src = p->dst,
		.dst = p->src,
		.proto = IPPROTO_ICMPV6,
		.traffic_class = (uint8_t)(rte_be_to_cpu_32(header(m)->vtc_flow) >> 20),
		.port = p->in_port,
	};
	const struct sl_nexthop *nh;

	if (s->icmp6_echo_ignore_all || (group && s->icmp6_echo_ignore_mcast)
			|| (anycast && s->icmp6_echo_ignore_anycast)) {
		sl_drop(w, m, SL_DROP_HOST_IGNORED);
		return;
	}
	if (group || anycast)
		memset(&o.src, 0, sizeof(o.src));
	nh = ip6_own_route(w, &o);
	/* without a source of its own the answer must leave by where the question came in */
	if (nh == NULL || ip6_is_any(&o.dst) || (ip6_is_any(&o.src) && nh->port != p->in_port)
			|| (ip6_is_any(&o.src)
					&& !sl_net_source(
							w->net, SL_AF_INET6, nh, &o.dst, &o.src))) {
		sl_drop(w, m, SL_DROP_HOST_IGNORED);
		return;
	}
	w->delivered[p->in_port]++;
	rte_pktmbuf_adj(m, (uint16_t)(l4_off - RTE_ETHER_HDR_LEN - IP6_HDR_LEN));
	*rte_pktmbuf_mtod_offset(m, uint8_t *, RTE_ETHER_HDR_LEN + IP6_HDR_LEN) = ICMP6_ECHO_REPLY;
	ip6_own_send(w, m, &o, nh, 2);
}

static void take_icmp(struct sl_worker *w, struct rte_mbuf *m, uint32_t l4_off)
{
	struct sl_pkt *p = sl_pkt(m);
	uint32_t len = l4_len(m, l4_off);
	const uint8_t *h;

	if (!checksum_ok(m, p, IPPROTO_ICMPV6, l4_off, len, len)) {
		sl_drop(w, m, SL_DROP_HOST_CHECKSUM);
		return;
	}
	h = pull(m, l4_off - p->l3_off, 8);
	if (h == NULL) {
		sl_drop(w, m, SL_DROP_HOST_L4);
		return;
	}
	if (h[0] == ICMP6_ECHO) {
		echo(w, m, l4_off);
	} else if (h[0] >= ICMP6_ND_FIRST && h[0] <= ICMP6_ND_REDIRECT) {
		p->proto = IPPROTO_ICMPV6;
		p->l4_off = (uint16_t)l4_off;
		if (w->id == 0)
			sl_neigh_rx_nd(w, m);
		else
			sl_handoff(w, m, 0, SL_HANDOFF_ND);
	} else {
		sl_drop(w, m, SL_DROP_HOST_IGNORED);
	}
}

/*
 * Where conntrack has tested the checksum the kernel keeps its sum, with the IP header in it, and does
 * not correct it when a rule changes the traffic class or hop limit. Seen with UDP alone.
 */
static bool has_stale_sum(const struct sl_pkt *p)
{
	return p->flags & SL_PKT_SUMMED && p->hdr_sum != 0 && p->hdr_sum != 0xffff;
}

/* UDP: the length field may cut the packet; UDP-Lite: it says how much the checksum covers */
static bool udp_ok(struct sl_worker *w, struct rte_mbuf *m, uint8_t proto, uint32_t l4_off)
{
	const struct sl_pkt *p = sl_pkt(m);
	uint32_t len = l4_len(m, l4_off), covered;
	struct rte_udp_hdr udp;

	if (!sl_pkt_copy(m, l4_off, sizeof(udp), &udp))
		return take_drop(w, m, SL_DROP_HOST_L4);
	covered = rte_be_to_cpu_16(udp.dgram_len);
	if (covered == 0)
		covered = len;
	if (covered > len || covered < sizeof(udp))
		return take_drop(w, m, SL_DROP_HOST_L4);
	if (proto == IPPROTO_UDP && covered < len) {
		sl_pkt_trim(m, l4_off + covered);
		len = covered;
	}
	if (proto == IPPROTO_UDP && len > SUM_AT_ONCE && has_stale_sum(p))
		return take_drop(w, m, SL_DROP_HOST_CHECKSUM);
	if (udp.dgram_cksum == 0 || !checksum_ok(m, p, proto, l4_off, covered, len))
		return take_drop(w, m, SL_DROP_HOST_CHECKSUM);
	return true;
}

static void take_udp(struct sl_worker *w, struct rte_mbuf *m, uint8_t proto, uint32_t l4_off)
{
	if (!udp_ok(w, m, proto, l4_off))
		return;
	/* as nf_reset_ct(): the error is told to be the connection's by what it quotes alone */
	sl_pkt(m)->ct = NULL;
	if (!ip6_is_multicast(&sl_pkt(m)->dst))
		sl_icmp6_error(w, m, ICMP6_UNREACH, ICMP6_UNREACH_PORT, 0);
	sl_drop(w, m, SL_DROP_HOST_IGNORED);
}

/* RFC 9293 3.10.7.1: nothing is there for this segment */
static void reset(struct sl_worker *w, struct rte_mbuf *m, const struct rte_tcp_hdr *tcp,
		uint32_t data_len)
{
	const struct sl_pkt *p = sl_pkt(m);
	uint32_t span = data_len + ((tcp->tcp_flags & RTE_TCP_SYN_FLAG) != 0)
			+ ((tcp->tcp_flags & RTE_TCP_FIN_FLAG) != 0);
	/* class without the ECN bits */
	struct ip6_own o = {
		.src = p->dst,
		.dst = p->src,
		.proto = IPPROTO_TCP,
		.traffic_class = (uint8_t)(rte_be_to_cpu_32(header(m)->vtc_flow) >> 20 & 0xfc),
		.port = p->in_port,
	};
	const struct sl_nexthop *nh = ip6_own_route(w, &o);
	struct rte_tcp_hdr *rst;
	struct rte_mbuf *own;
	void *l4;

	if (nh == NULL || ip6_is_any(&o.dst))
		return;
	own = ip6_own_alloc(w, sizeof(*rst), &l4);
	if (own == NULL)
		return;
	rst = l4;
	rst->src_port = tcp->dst_port;
	rst->dst_port = tcp->src_port;
	rst->data_off = sizeof(*rst) / 4 << 4;
	rst->tcp_flags = RTE_TCP_RST_FLAG;
	if (tcp->tcp_flags & RTE_TCP_ACK_FLAG) {
		rst->sent_seq = tcp->recv_ack;
	} else {
		rst->tcp_flags |= RTE_TCP_ACK_FLAG;
		rst->recv_ack = rte_cpu_to_be_32(rte_be_to_cpu_32(tcp->sent_seq) + span);
	}
	ip6_own_send(w, own, &o, nh, offsetof(struct rte_tcp_hdr, cksum));
}

static void take_tcp(struct sl_worker *w, struct rte_mbuf *m, uint32_t l4_off)
{
	const struct sl_pkt *p = sl_pkt(m);
	uint32_t len = l4_len(m, l4_off), hdr_len;
	struct rte_tcp_hdr tcp;

	if (p->flags & (SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST)) {
		sl_drop(w, m, SL_DROP_HOST_IGNORED);
		return;
	}
	if (!sl_pkt_copy(m, l4_off, sizeof(tcp), &tcp)) {
		sl_drop(w, m, SL_DROP_HOST_L4);
		return;
	}
	hdr_len = (tcp.data_off >> 4) * 4U;
	if (hdr_len < sizeof(tcp) || hdr_len > len) {
		sl_drop(w, m, SL_DROP_HOST_L4);
		return;
	}
	if (!checksum_ok(m, p, IPPROTO_TCP, l4_off, len, len)) {
		sl_drop(w, m, SL_DROP_HOST_CHECKSUM);
		return;
	}
	if (!(tcp.tcp_flags & RTE_TCP_RST_FLAG) && !ip6_is_multicast(&p->dst)
			&& !ip6_is_own_anycast(w->net, &p->dst, p->in_port)
			&& sl_tcp_may_reset(m, l4_off, &tcp))
		reset(w, m, &tcp, len - hdr_len);
	sl_drop(w, m, SL_DROP_HOST_IGNORED);
}

/* the first header that is no extension header */
static void take_transport(
		struct sl_worker *w, struct rte_mbuf *m, uint8_t proto, const struct place *at)
{
	uint32_t l4_off = sl_pkt(m)->l3_off + at->off;

	/* an extension header may have claimed more bytes than there are */
	if (l4_off > m->pkt_len) {
		sl_drop(w, m, SL_DROP_IP6_EXTENSION);
		return;
	}
	switch (proto) {
	case IPPROTO_ICMPV6:
		take_icmp(w, m, l4_off);
		break;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		take_udp(w, m, proto, l4_off);
		break;
	case IPPROTO_TCP:
		take_tcp(w, m, l4_off);
		break;
	case IPPROTO_NONE:
	case IPPROTO_PIM: /* the kernel's multicast routing listens, and has no use for it */
		sl_drop(w, m, SL_DROP_HOST_IGNORED);
		break;
	default:
		refuse(w, m, ICMP6_PARAM_NEXT_HEADER, at->nhoff, SL_DROP_HOST_IGNORED);
		break;
	}
}

void sl_host6_rx(struct sl_worker *w, struct rte_mbuf *m)
{
	struct place at = { .off = IP6_HDR_LEN, .nhoff = offsetof(struct rte_ipv6_hdr, proto) };

	/* the hop-by-hop header was looked at when the packet came in */
	if (sl_pkt(m)->flags & SL_PKT_OPTIONS) {
		at.nhoff = at.off;
		at.off += (((const uint8_t *)header(m))[at.off + 1] + 1U) * 8;
	}
	for (;;) {
		uint8_t proto = ((const uint8_t *)header(m))[at.nhoff];

		if (proto == IPPROTO_ROUTING) {
			if (!take_routing(w, m, &at))
				return;
		} else if (proto == IPPROTO_DSTOPTS) {
			if (!take_destination(w, m, &at))
				return;
		} else if (proto == IPPROTO_FRAGMENT) {
			m = take_fragment(w, m, &at);
			if (m == NULL)
				return;
		} else {
			take_transport(w, m, proto, &at);
			return;
		}
	}
}
