/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A TCP reset in the name of the packet's destination, as the kernel's REJECT --reject-with
 * tcp-reset makes it: TOS 0, no options, and no limit on how many. A segment whose checksum is
 * wrong, a fragment and a reset get none.
 */
#include "lib/ip4.h"
#include "lib/ip6.h"
#include "lib/router.h"
#include "lib/worker.h"

#include <rte_tcp.h>

static bool has_flag(const struct rte_tcp_hdr *tcp, uint8_t flag)
{
	return (tcp->tcp_flags & flag) != 0;
}

/* the header of the segment, if it may be answered; @len: of header and payload */
static bool read_segment(struct rte_mbuf *m, struct rte_tcp_hdr *tcp, uint32_t *len)
{
	const struct sl_pkt *p = sl_pkt(m);
	uint32_t sum;

	if (!(p->flags & SL_PKT_L4) || p->flags & SL_PKT_FRAG_LATER || p->proto != IPPROTO_TCP
			|| !sl_pkt_copy(m, p->l4_off, sizeof(*tcp), tcp)
			|| has_flag(tcp, RTE_TCP_RST_FLAG))
		return false;
	*len = m->pkt_len - p->l4_off;
	sum = (uint32_t)sl_csum_bytes(m, p->l4_off, *len) + sl_csum_pseudo(p, IPPROTO_TCP, *len);
	return ((sum & 0xffff) + (sum >> 16)) == 0xffff;
}

static void fill(const struct rte_tcp_hdr *tcp, uint32_t len, struct rte_tcp_hdr *rst)
{
	uint32_t end = rte_be_to_cpu_32(tcp->sent_seq) + has_flag(tcp, RTE_TCP_SYN_FLAG)
			+ has_flag(tcp, RTE_TCP_FIN_FLAG) + len - (tcp->data_off >> 4) * 4U;

	memset(rst, 0, sizeof(*rst));
	rst->src_port = tcp->dst_port;
	rst->dst_port = tcp->src_port;
	rst->data_off = sizeof(*rst) / 4 << 4;
	rst->tcp_flags = RTE_TCP_RST_FLAG;
	if (has_flag(tcp, RTE_TCP_ACK_FLAG)) {
		rst->sent_seq = tcp->recv_ack;
	} else {
		rst->recv_ack = rte_cpu_to_be_32(end);
		rst->tcp_flags |= RTE_TCP_ACK_FLAG;
	}
}

/* nf_ct_set_closing() */
static void close_connection(struct sl_worker *w, const struct sl_pkt *p)
{
	sl_closed_fn closed = atomic_load_explicit(&w->r->closed, memory_order_acquire);

	if (closed != NULL && p->ct != NULL && (p->flags & SL_PKT_CT_TEMPLATE) == 0)
		closed(w, p->ct);
}

bool sl_tcp4_reset(struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	struct ip4_answer a = { .proto = IPPROTO_TCP,
		.src_be = p->dst.v4,
		.dst_be = p->src.v4,
		.df = true,
		.hash = sl_net_flow_hash(w->net, p),
		.about = p };
	struct sl_pkt ends = { .family = SL_AF_INET, .src = p->dst, .dst = p->src };
	struct rte_tcp_hdr tcp, *rst;
	struct rte_mbuf *answer;
	uint32_t len;

	if (!read_segment(m, &tcp, &len) || ip4_classify(w, p) == IP4_DST_GROUP
			|| !ip4_answer_route(w, &a))
		return false;
	answer = ip4_answer_alloc(w, sizeof(*rst));
	if (answer == NULL)
		return false;
	rst = rte_pktmbuf_mtod(answer, struct rte_tcp_hdr *);
	fill(&tcp, len, rst);
	rst->cksum = sl_csum_pseudo(&ends, IPPROTO_TCP, sizeof(*rst));
	rst->cksum = (uint16_t)~sl_csum_bytes(answer, 0, sizeof(*rst));
	ip4_answer_send(w, &a, answer);
	close_connection(w, p);
	return true;
}

bool sl_tcp6_reset(struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	struct ip6_own o = {
		.src = p->dst,
		.dst = p->src,
		.proto = IPPROTO_TCP,
		.port = SL_PORT_NONE,
		.about = p,
	};
	const struct sl_nexthop *nh;
	struct rte_mbuf *answer;
	struct rte_tcp_hdr tcp;
	uint32_t len;
	void *rst;

	if (ip6_is_multicast(&p->src) || ip6_is_any(&p->src) || ip6_is_multicast(&p->dst)
			|| !read_segment(m, &tcp, &len))
		return false;
	if (ip6_is_link_local(&p->src))
		o.port = p->in_port;
	nh = ip6_own_route(w, &o);
	if (nh == NULL)
		return false;
	answer = ip6_own_alloc(w, sizeof(tcp), &rst);
	if (answer == NULL)
		return false;
	fill(&tcp, len, rst);
	ip6_own_send(w, answer, &o, nh, offsetof(struct rte_tcp_hdr, cksum));
	close_connection(w, p);
	return true;
}
