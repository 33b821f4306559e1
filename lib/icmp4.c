/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICMP errors, as __icmp_send makes them: to whom there is none, how much is quoted, from which
 * address, with which options, and what the limits are asked.
 */
#include "lib/ip4.h"
#include "lib/worker.h"

#include <rte_icmp.h>

#include <netinet/in.h>
#include <netinet/ip_icmp.h>

/* RFC 1812: an error as a whole, where the path is no smaller */
#define ERROR_LEN_MAX 576
/* types above are unknown, and for all one knows errors */
#define TYPE_MAX 18

struct icmp_error {
	uint8_t type, code;
	rte_be16_t csum_be;
	rte_be32_t info_be;
};

bool icmp4_is_error(uint8_t type)
{
	/* as icmp_pointers[]: errors, router discovery, and what was never assigned below 8 */
	static const uint32_t errors = 1U << 1 | 1U << 2 | 1U << 6 | 1U << 7
			| 1U << ICMP_DEST_UNREACH | 1U << ICMP_SOURCE_QUENCH | 1U << ICMP_REDIRECT
			| 1U << ICMP_ROUTERADVERT | 1U << ICMP_ROUTERSOLICIT
			| 1U << ICMP_TIME_EXCEEDED | 1U << ICMP_PARAMETERPROB;

	return type > TYPE_MAX || errors >> type & 1;
}

/* errors, and what might be one, are not answered */
static bool is_error_packet(
		const struct rte_mbuf *m, const struct rte_ipv4_hdr *ip, uint16_t l3_off)
{
	uint8_t type;

	if (ip->next_proto_id != IPPROTO_ICMP)
		return false;
	return !sl_pkt_copy(m, l3_off + ip4_hdr_len(ip), sizeof(type), &type)
			|| icmp4_is_error(type);
}

/* 0 leaves the choice to the route */
static rte_be32_t source(struct sl_worker *w, const struct sl_pkt *p, enum ip4_dst dst)
{
	/* inet_select_addr(): of the input port, in the subnet of whom the error goes to if it can be */
	const struct sl_nexthop on_port = {
		.port = p->in_port, .family = SL_AF_INET, .gateway = p->src
	};

	if (dst == IP4_DST_LOCAL && p->out_port == SL_PORT_NONE)
		return p->dst.v4;
	return w->net->sysctl.icmp4_errors_inbound ? ip4_source(w, &on_port, p->src.v4) : 0;
}

static struct rte_mbuf *build(struct sl_worker *w, const struct rte_mbuf *m, uint16_t l3_off,
		uint16_t quoted, const struct icmp_error *head)
{
	struct rte_mbuf *e = ip4_answer_alloc(w, (uint16_t)(sizeof(*head) + quoted));
	struct icmp_error *icmp;

	if (e == NULL)
		return NULL;
	icmp = rte_pktmbuf_mtod(e, struct icmp_error *);
	*icmp = *head;
	sl_pkt_copy(m, l3_off, quoted, icmp + 1);
	icmp->csum_be = (uint16_t)~sl_csum_bytes(e, 0, e->pkt_len);
	return e;
}

bool icmp4_error_opts(struct sl_worker *w, struct rte_mbuf *m, uint8_t type, uint8_t code,
		uint32_t info, const struct ip4_opts *o)
{
	const struct sl_pkt *p = sl_pkt(m);
	const struct rte_ipv4_hdr *ip = ip4_hdr(m);
	struct icmp_error head = {
		.type = type,
		.code = code,
		.info_be = rte_cpu_to_be_32(info),
	};
	struct ip4_answer a = { .proto = IPPROTO_ICMP, .about = p };
	struct sl_addr to;
	enum ip4_dst dst;
	struct rte_mbuf *e;
	int room;

	if (ip == NULL || (p->in_port == SL_PORT_HOST && !(p->flags & SL_PKT_COPY))
			|| p->flags & (SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST | SL_PKT_FRAG_LATER)
			|| is_error_packet(m, ip, p->l3_off))
		return false;
	dst = ip4_classify(w, p);
	if (dst == IP4_DST_GROUP && p->out_port == SL_PORT_NONE)
		return false;
	a.src_be = source(w, p, dst);
	a.dst_be = p->src.v4;
	a.tos = (ip->type_of_service & 0x1e) | 0xc0;
	a.hash = sl_net_flow_hash(w->net, p);
	if (!ip4_options_echo(w, m, o, a.opt, &a.opts) || !ip4_answer_route(w, &a))
		return false;
	to = sl_addr_v4(a.opts.srr != 0 ? a.opts.first_hop : a.dst_be);
	if (!sl_icmp_limit(w, SL_AF_INET, &to, type, code))
		return false;
	room = RTE_MIN((int)a.nh->mtu, ERROR_LEN_MAX)
			- (int)(sizeof(*ip) + a.opts.len + sizeof(head));
	if (room <= (int)sizeof(*ip))
		return false;
	e = build(w, m, p->l3_off, (uint16_t)RTE_MIN((uint32_t)room, m->pkt_len - p->l3_off),
			&head);
	if (e == NULL)
		return false;
	ip4_answer_send(w, &a, e);
	return true;
}

bool sl_icmp4_error(
		struct sl_worker *w, struct rte_mbuf *m, uint8_t type, uint8_t code, uint32_t info)
{
	struct ip4_opts o;

	ip4_options_recall(m, &o);
	return icmp4_error_opts(w, m, type, code, info, &o);
}
