/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 packets of the router's own: where they go, where from, and their header. */
#include "lib/ip4.h"
#include "lib/router.h"
#include "lib/worker.h"

#include <rte_jhash.h>

#include <netinet/in.h>

/* RFC 7600: the source of ICMP errors of a router that has no address */
#define DUMMY_ADDRESS RTE_BE32(0xc0000008)

#define L3_OFF sizeof(struct rte_ether_hdr)

rte_be32_t ip4_source(struct sl_worker *w, const struct sl_nexthop *nh, rte_be32_t dst_be)
{
	struct sl_addr dst = sl_addr_v4(dst_be), src;

	return sl_net_source(w->net, SL_AF_INET, nh, &dst, &src) ? src.v4 : 0;
}

/* of no packet in particular */
static const struct ip4_answer nothing;

static const struct sl_nexthop *look_up(
		const struct sl_worker *w, rte_be32_t dst_be, const struct ip4_answer *a)
{
	return sl_net_route(w->net,
			&(struct sl_route_key){
					.family = SL_AF_INET,
					.proto = a->proto,
					.tos = a->tos,
					.sport_be = a->sport_be,
					.dport_be = a->dport_be,
					.in_port = SL_PORT_HOST,
					.out_port = SL_PORT_NONE,
					.dst = sl_addr_v4(dst_be),
					.src = sl_addr_v4(a->src_be),
					.hash = a->hash,
			});
}

enum ip4_dst ip4_classify(const struct sl_worker *w, const struct sl_pkt *p)
{
	const struct sl_nexthop *nh;

	if (ip4_is_multicast(p->dst.v4) || p->dst.v4 == IP4_LIMITED_BROADCAST)
		return IP4_DST_GROUP;
	nh = look_up(w, p->dst.v4, &nothing);
	if (nh != NULL && nh->type == SL_ROUTE_LOCAL)
		return IP4_DST_LOCAL;
	return nh != NULL && nh->type == SL_ROUTE_BROADCAST ? IP4_DST_GROUP : IP4_DST_OTHER;
}

rte_be32_t ip4_spec_dst(struct sl_worker *w, const struct sl_pkt *p)
{
	const struct sl_nexthop on_port = { .port = p->in_port };
	const struct sl_nexthop *nh = NULL;

	if (ip4_classify(w, p) == IP4_DST_LOCAL)
		return p->dst.v4;
	if (p->src.v4 != 0)
		nh = look_up(w, p->src.v4, &nothing);
	if (nh == NULL || nh->type != SL_ROUTE_UNICAST)
		nh = &on_port;
	return ip4_source(w, nh, p->src.v4);
}

bool ip4_answer_route(struct sl_worker *w, struct ip4_answer *a)
{
	rte_be32_t hop_be = a->opts.srr != 0 ? a->opts.first_hop : a->dst_be;
	const struct sl_nexthop *nh = look_up(w, hop_be, a);

	if (nh == NULL || (nh->type != SL_ROUTE_UNICAST && nh->type != SL_ROUTE_BROADCAST))
		return false;
	if (nh->port == SL_PORT_HOST) /* 127.255.255.255: stays inside */
		return false;
	if (a->src_be == 0)
		a->src_be = ip4_source(w, nh, hop_be);
	if (a->src_be == 0)
		a->src_be = DUMMY_ADDRESS;
	a->nh = nh;
	return true;
}

struct rte_mbuf *ip4_answer_alloc(struct sl_worker *w, uint16_t len)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w->r->pool);

	if (m == NULL)
		return NULL;
	if (rte_pktmbuf_append(m, len) == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	return m;
}

/* slots of the options that wait for the sender's address and time */
static void enter_options(struct sl_worker *w, const struct ip4_answer *a, uint8_t *ip)
{
	const struct ip4_opts *o = &a->opts;
	rte_be32_t now = ip4_timestamp(w);

	memcpy(ip + sizeof(struct rte_ipv4_hdr), a->opt, o->len);
	if (o->srr != 0)
		memcpy(ip + o->srr + ip[o->srr + 1] - 4, &a->dst_be, sizeof(a->dst_be));
	if (o->rr_addr)
		memcpy(ip + o->rr + ip[o->rr + 2] - 5, &a->src_be, sizeof(a->src_be));
	if (o->ts_addr)
		memcpy(ip + o->ts + ip[o->ts + 2] - 9, &a->src_be, sizeof(a->src_be));
	if (o->ts_time)
		memcpy(ip + o->ts + ip[o->ts + 2] - 5, &now, sizeof(now));
}

/*
 * The kernel's id is a counter that nobody can foresee. Ours follows from what is sent, when, and a
 * secret, so that it does not depend on which worker answers; a reply that is cut to fragments
 * differs from others of the same time by its first 64 bits (identifier, sequence, checksum).
 */
static uint16_t ident(const struct sl_worker *w, const struct ip4_answer *a,
		const struct rte_mbuf *m, uint32_t l4_off)
{
	uint32_t words[6] = { a->dst_be, a->src_be, (uint32_t)w->now_ns,
		(uint32_t)(w->now_ns >> 32) };

	sl_pkt_copy(m, l4_off, RTE_MIN(m->pkt_len - l4_off, 8U), &words[4]);
	return (uint16_t)rte_jhash_32b(words, RTE_DIM(words), w->r->secret);
}

void ip4_answer_send(struct sl_worker *w, struct ip4_answer *a, struct rte_mbuf *m)
{
	uint16_t hdr_len = (uint16_t)(sizeof(struct rte_ipv4_hdr) + a->opts.len);
	struct sl_pkt *p = sl_pkt(m);
	struct rte_ether_hdr *eth;
	struct rte_ipv4_hdr *ip;

	if (m->pkt_len + hdr_len > UINT16_MAX) {
		rte_pktmbuf_free(m);
		return;
	}
	eth = (void *)rte_pktmbuf_prepend(m, (uint16_t)(L3_OFF + hdr_len));
	if (eth == NULL) {
		rte_pktmbuf_free(m);
		return;
	}
	memset(eth, 0, L3_OFF);
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	ip = (void *)(eth + 1);
	*ip = (struct rte_ipv4_hdr){
		.version_ihl = (uint8_t)(4 << 4 | hdr_len / 4),
		.type_of_service = a->tos,
		.total_length = rte_cpu_to_be_16((uint16_t)(m->pkt_len - L3_OFF)),
		.packet_id = a->df ? 0 : ident(w, a, m, L3_OFF + hdr_len),
		.fragment_offset = a->df ? RTE_BE16(RTE_IPV4_HDR_DF_FLAG) : 0,
		.time_to_live = (uint8_t)w->net->sysctl.ip4_default_ttl,
		.next_proto_id = a->proto,
		.src_addr = a->src_be,
		.dst_addr = a->opts.srr != 0 ? a->opts.first_hop : a->dst_be,
	};
	enter_options(w, a, (uint8_t *)ip);
	ip->hdr_checksum = ip4_hdr_csum(ip);
	memset(p, 0, sizeof(*p));
	p->flags = SL_PKT_ORIGIN;
	sl_pkt_parse_ip(m, L3_OFF);
	p->nh = a->nh;
	p->out_port = a->nh->port;
	p->via = a->nh->family == SL_AF_NONE ? p->dst : a->nh->gateway;
	if (a->about != NULL)
		sl_pkt_attach(p, a->about);
	sl_worker_originate(w, m);
}
