/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv4 packets for the router itself: what a kernel answers with no socket open. Echo and timestamp
 * requests are answered, UDP gets port unreachable, TCP a reset, unknown protocols protocol
 * unreachable; everything else, and everything sent to a group, ends in silence.
 */
#include "lib/ip4.h"
#include "lib/worker.h"

#include <rte_icmp.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <netinet/in.h>
#include <netinet/ip_icmp.h>

#define TCP_OFF(tcp) ((unsigned int)(tcp)->data_off >> 4)

/* a packet for the router, its headers where they can be read */
struct rx {
	struct sl_worker *w;
	struct rte_mbuf *m;
	struct sl_pkt *p;
	uint8_t tos;
	uint32_t l4_len;
	bool group; /* it was sent to a broadcast or multicast address */
};

static void deliver(struct rx *rx)
{
	sl_worker_deliver(rx->w, rx->m);
}

static void refuse(struct rx *rx, enum sl_drop_reason reason)
{
	sl_drop(rx->w, rx->m, reason);
}

/* does the transport checksum hold, over @covered bytes? @pseudo: with the pseudo header */
static bool checksum_ok(const struct rx *rx, uint32_t covered, bool pseudo)
{
	uint32_t sum = sl_csum_bytes(rx->m, rx->p->l4_off, covered);

	if (pseudo)
		sum += sl_csum_pseudo(rx->p, rx->p->proto, rx->l4_len);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

/* route and options of an answer to the sender */
static bool prepare(struct rx *rx, struct ip4_answer *a)
{
	struct ip4_opts o;

	a->src_be = ip4_spec_dst(rx->w, rx->p);
	a->dst_be = rx->p->src.v4;
	a->hash = sl_net_flow_hash(rx->w->net, rx->p);
	ip4_options_recall(rx->m, &o);
	return ip4_options_echo(rx->w, rx->m, &o, a->opt, &a->opts) && ip4_answer_route(rx->w, a);
}

/* an ICMP message that is complete but for its checksum, cut free of the request's headers */
static void reply(struct rx *rx, struct rte_icmp_hdr *icmp, uint8_t type, uint8_t code)
{
	struct ip4_answer a = { .proto = IPPROTO_ICMP, .tos = rx->tos };
	struct sl_addr to;

	if (!prepare(rx, &a)) {
		refuse(rx, SL_DROP_HOST_IGNORED);
		return;
	}
	to = sl_addr_v4(a.opts.srr != 0 ? a.opts.first_hop : a.dst_be);
	if (!sl_icmp_limit(rx->w, SL_AF_INET, &to, type, code)) {
		refuse(rx, SL_DROP_ICMP_RATE);
		return;
	}
	/* the request's buffer becomes the answer: as received it ends here */
	rx->w->delivered[rx->p->in_port]++;
	rte_pktmbuf_adj(rx->m, rx->p->l4_off);
	icmp->icmp_type = type;
	icmp->icmp_code = code;
	icmp->icmp_cksum = 0;
	icmp->icmp_cksum = (uint16_t)~sl_csum_bytes(rx->m, 0, rx->m->pkt_len);
	ip4_answer_send(rx->w, &a, rx->m);
}

static void icmp_timestamp(struct rx *rx, struct rte_icmp_hdr *icmp)
{
	const uint32_t len = sizeof(struct rte_icmp_hdr) + 3 * sizeof(rte_be32_t);
	rte_be32_t now = ip4_timestamp(rx->w);
	uint8_t *times;

	if (rx->l4_len < sizeof(struct rte_icmp_hdr) + sizeof(rte_be32_t)) {
		refuse(rx, SL_DROP_HOST_L4);
		return;
	}
	/* the answer is as long as it is, whatever the request's length */
	if (rx->l4_len > len)
		sl_pkt_trim(rx->m, rx->p->l4_off + len);
	else if (rx->l4_len < len
			&& rte_pktmbuf_append(rx->m, (uint16_t)(len - rx->l4_len)) == NULL) {
		refuse(rx, SL_DROP_NO_BUFFER);
		return;
	}
	times = sl_pkt_pull(rx->m, rx->p->l4_off + len);
	if (times == NULL) {
		refuse(rx, SL_DROP_NO_BUFFER);
		return;
	}
	times += rx->p->l4_off + sizeof(*icmp) + sizeof(now);
	memcpy(times, &now, sizeof(now));
	memcpy(times + sizeof(now), &now, sizeof(now));
	reply(rx, icmp, ICMP_TIMESTAMPREPLY, 0);
}

static void icmp_rx(struct rx *rx)
{
	const struct sl_sysctl *ctl = &rx->w->net->sysctl;
	struct rte_icmp_hdr *icmp;

	if (!checksum_ok(rx, rx->l4_len, false)) {
		refuse(rx, SL_DROP_HOST_CHECKSUM);
		return;
	}
	icmp = sl_pkt_at(rx->m, rx->p->l4_off, sizeof(*icmp));
	if (icmp == NULL) {
		refuse(rx, SL_DROP_HOST_L4);
		return;
	}
	if (rx->group && ctl->icmp4_echo_ignore_bcast) {
		refuse(rx, SL_DROP_HOST_IGNORED);
		return;
	}
	switch (icmp->icmp_type) {
	case ICMP_ECHO:
		if (ctl->icmp4_echo_ignore_all)
			refuse(rx, SL_DROP_HOST_IGNORED);
		else
			reply(rx, icmp, ICMP_ECHOREPLY, icmp->icmp_code);
		break;
	case ICMP_TIMESTAMP:
		icmp_timestamp(rx, icmp);
		break;
	default:
		if (icmp->icmp_type > ICMP_ADDRESSREPLY)
			refuse(rx, SL_DROP_HOST_IGNORED);
		else
			deliver(rx);
		break;
	}
}

/* nothing listens: the sender learns it, unless it asked many at once */
static void unreachable(struct rx *rx, uint8_t code)
{
	if (rx->group) {
		refuse(rx, SL_DROP_HOST_IGNORED);
		return;
	}
	sl_icmp4_error(rx->w, rx->m, ICMP_DEST_UNREACH, code, 0);
	deliver(rx);
}

/* nf_reset_ct() in udp_rcv(): the error is told to be the connection's by what it quotes alone */
static void port_unreachable(struct rx *rx)
{
	sl_pkt(rx->m)->ct = NULL;
	unreachable(rx, ICMP_PORT_UNREACH);
}

static void udp_rx(struct rx *rx)
{
	const struct rte_udp_hdr *udp = sl_pkt_at(rx->m, rx->p->l4_off, sizeof(*udp));
	uint32_t len;

	if (udp == NULL) {
		refuse(rx, SL_DROP_HOST_L4);
		return;
	}
	len = rte_be_to_cpu_16(udp->dgram_len);
	if (len < sizeof(*udp) || len > rx->l4_len) {
		refuse(rx, SL_DROP_HOST_L4);
		return;
	}
	/* what lies behind the datagram is no part of it, and not quoted */
	if (len < rx->l4_len) {
		sl_pkt_trim(rx->m, rx->p->l4_off + len);
		rx->l4_len = len;
	}
	if (udp->dgram_cksum != 0 && !checksum_ok(rx, len, true)) {
		refuse(rx, SL_DROP_HOST_CHECKSUM);
		return;
	}
	port_unreachable(rx);
}

static void udplite_rx(struct rx *rx)
{
	const struct rte_udp_hdr *udp = sl_pkt_at(rx->m, rx->p->l4_off, sizeof(*udp));
	uint32_t covered;

	if (udp == NULL) {
		refuse(rx, SL_DROP_HOST_L4);
		return;
	}
	covered = rte_be_to_cpu_16(udp->dgram_len);
	if (covered == 0)
		covered = rx->l4_len;
	if (covered < sizeof(*udp) || covered > rx->l4_len) {
		refuse(rx, SL_DROP_HOST_L4);
		return;
	}
	if (udp->dgram_cksum == 0 || !checksum_ok(rx, covered, true)) {
		refuse(rx, SL_DROP_HOST_CHECKSUM);
		return;
	}
	port_unreachable(rx);
}

/* RFC 9293, section 3.10.7.1: an answer to a segment of no connection */
static void fill_reset(const struct rx *rx, const struct rte_tcp_hdr *tcp, struct rte_tcp_hdr *rst)
{
	uint32_t seq = rte_be_to_cpu_32(tcp->sent_seq);

	memset(rst, 0, sizeof(*rst));
	rst->src_port = tcp->dst_port;
	rst->dst_port = tcp->src_port;
	rst->data_off = sizeof(*rst) / 4 << 4;
	rst->tcp_flags = RTE_TCP_RST_FLAG;
	if (tcp->tcp_flags & RTE_TCP_ACK_FLAG) {
		rst->sent_seq = tcp->recv_ack;
		return;
	}
	seq += rx->l4_len - TCP_OFF(tcp) * 4;
	seq += !!(tcp->tcp_flags & RTE_TCP_SYN_FLAG) + !!(tcp->tcp_flags & RTE_TCP_FIN_FLAG);
	rst->recv_ack = rte_cpu_to_be_32(seq);
	rst->tcp_flags |= RTE_TCP_ACK_FLAG;
}

static void send_reset(struct rx *rx, const struct rte_tcp_hdr *tcp)
{
	/* a reset belongs to no connection and has no ECN */
	struct ip4_answer a = {
		.proto = IPPROTO_TCP,
		.tos = rx->tos & 0xfc,
		.sport_be = tcp->dst_port,
		.dport_be = tcp->src_port,
		.df = true,
	};
	struct rte_mbuf *m;
	struct rte_tcp_hdr *rst;
	struct sl_pkt ends;

	if (!prepare(rx, &a))
		return;
	m = ip4_answer_alloc(rx->w, sizeof(*rst));
	if (m == NULL)
		return;
	rst = rte_pktmbuf_mtod(m, struct rte_tcp_hdr *);
	fill_reset(rx, tcp, rst);
	ends = (struct sl_pkt){
		.family = SL_AF_INET,
		.src = sl_addr_v4(a.src_be),
		.dst = sl_addr_v4(a.dst_be),
	};
	rst->cksum = sl_csum_pseudo(&ends, IPPROTO_TCP, sizeof(*rst));
	rst->cksum = (uint16_t)~sl_csum_bytes(m, 0, sizeof(*rst));
	ip4_answer_send(rx->w, &a, m);
}

static void tcp_rx(struct rx *rx)
{
	const struct rte_tcp_hdr *tcp = sl_pkt_at(rx->m, rx->p->l4_off, sizeof(*tcp));

	if (rx->p->flags & (SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST)) {
		refuse(rx, SL_DROP_HOST_IGNORED);
		return;
	}
	if (tcp == NULL || TCP_OFF(tcp) * 4 < sizeof(*tcp) || TCP_OFF(tcp) * 4 > rx->l4_len) {
		refuse(rx, SL_DROP_HOST_L4);
		return;
	}
	if (!checksum_ok(rx, rx->l4_len, true)) {
		refuse(rx, SL_DROP_HOST_CHECKSUM);
		return;
	}
	if (rx->group || tcp->tcp_flags & RTE_TCP_RST_FLAG
			|| !sl_tcp_may_reset(rx->m, rx->p->l4_off, tcp)) {
		refuse(rx, SL_DROP_HOST_IGNORED);
		return;
	}
	send_reset(rx, tcp);
	deliver(rx);
}

void sl_host4_rx(struct sl_worker *w, struct rte_mbuf *m)
{
	struct rx rx = { .w = w, .m = m, .p = sl_pkt(m) };
	const struct rte_ipv4_hdr *ip = ip4_hdr(m);

	if (ip == NULL) {
		refuse(&rx, SL_DROP_IP4_HEADER);
		return;
	}
	rx.tos = ip->type_of_service;
	rx.l4_len = rx.p->l3_len - ip4_hdr_len(ip);
	rx.group = ip4_classify(w, rx.p) == IP4_DST_GROUP;
	switch (rx.p->proto) {
	case IPPROTO_ICMP:
		icmp_rx(&rx);
		break;
	case IPPROTO_IGMP:
	case IPPROTO_PIM: /* the kernel's multicast routing listens, and has no use for it */
		deliver(&rx);
		break;
	case IPPROTO_TCP:
		tcp_rx(&rx);
		break;
	case IPPROTO_UDP:
		udp_rx(&rx);
		break;
	case IPPROTO_UDPLITE:
		udplite_rx(&rx);
		break;
	default:
		unreachable(&rx, ICMP_PROT_UNREACH);
		break;
	}
}
