/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICMPv6 errors as the kernel's icmp6_send(): whom not to answer, which source address, what is
 * quoted (RFC 4443 2.4: as much as fits into 1280 bytes).
 */
#include "lib/ip6.h"

#define ICMP6_HDR_LEN 8U
#define QUOTE_MAX (IP6_MIN_MTU - IP6_HDR_LEN - ICMP6_HDR_LEN)

struct icmp6_error {
	uint8_t type, code;
	rte_be16_t checksum_be;
	rte_be32_t info_be;
} __rte_packed __rte_aligned(2); /* behind 14 bytes of Ethernet */
static_assert(sizeof(struct icmp6_error) == ICMP6_HDR_LEN, "as on the wire");

/*
 * Never an answer to an error. A type that cannot be read could be one, except in a
 * fragment that is too short for it. What is no ICMPv6 as far as one can see is fine.
 */
static bool is_error(const struct rte_mbuf *m, const struct sl_pkt *p)
{
	uint8_t type;

	if (!(p->flags & SL_PKT_L4) || p->flags & SL_PKT_FRAG_LATER || p->proto != IPPROTO_ICMPV6)
		return false;
	if (!sl_pkt_copy(m, p->l4_off, 1, &type))
		return !(p->flags & SL_PKT_FRAG);
	return type < ICMP6_ECHO;
}

/* of packets to a group only too big is reported, and options that ask for it (RFC 4443 2.4 e) */
static bool may_answer_group(const struct rte_mbuf *m, const struct sl_pkt *p, uint8_t type,
		uint8_t code, uint32_t info)
{
	uint8_t option;

	if (type == ICMP6_TOO_BIG)
		return true;
	if (type != ICMP6_PARAM || code != ICMP6_PARAM_OPTION)
		return false;
	return !sl_pkt_copy(m, p->l3_off + info, 1, &option) || option >> 6 == 2;
}

bool ip6_is_own_anycast(const struct sl_net *net, const struct sl_addr *addr, uint16_t port)
{
	for (uint16_t i = 1; i < SL_PORTS_MAX; i++) {
		const struct sl_net_port *np = &net->ports[i];

		if (!np->sysctl.forwarding6 || (ip6_is_link_local(addr) && i != port))
			continue;
		for (unsigned int k = 0; k < np->n_addr6; k++) {
			unsigned int len = np->addr6[k].len;
			struct sl_addr any = sl_addr_mask(&np->addr6[k].addr, SL_AF_INET6, len);

			if (len < 127 && !ip6_is_any(&any) && sl_addr_eq(&any, addr))
				return true;
		}
	}
	return false;
}

/* the port that the packet came in on; of a copy, which came in on none, that by which it leaves */
static uint16_t device(const struct sl_pkt *p)
{
	return p->flags & SL_PKT_COPY ? p->out_port : p->in_port;
}

/* the address that was asked; else one of the port that the packet came in on */
static bool choose_source(
		const struct sl_net *net, const struct sl_pkt *p, bool group, struct sl_addr *src)
{
	uint16_t port = device(p);
	struct sl_nexthop in = {
		.type = SL_ROUTE_UNICAST, .family = SL_AF_NONE, .port = port, .n_paths = 1
	};

	if (!group
			&& (sl_net_is_local(net, SL_AF_INET6, &p->dst, port)
					|| ip6_is_own_anycast(net, &p->dst, port))) {
		*src = p->dst;
		return true;
	}
	return sl_net_source(net, SL_AF_INET6, &in, &p->src, src);
}

bool sl_icmp6_error(
		struct sl_worker *w, struct rte_mbuf *m, uint8_t type, uint8_t code, uint32_t info)
{
	const struct sl_pkt *p = sl_pkt(m);
	bool group = ip6_is_multicast(&p->dst)
			|| p->flags & (SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST);
	uint32_t quote = RTE_MIN(m->pkt_len - p->l3_off, QUOTE_MAX);
	struct ip6_own o = {
		.dst = p->src, .proto = IPPROTO_ICMPV6, .port = device(p), .about = p
	};
	const struct sl_nexthop *nh;
	struct icmp6_error *icmp;
	struct rte_mbuf *own;
	void *l4;

	if ((p->in_port == SL_PORT_HOST && !(p->flags & SL_PKT_COPY)) || ip6_is_any(&p->src)
			|| ip6_is_multicast(&p->src))
		return false;
	if ((group && !may_answer_group(m, p, type, code, info)) || is_error(m, p))
		return false;
	if (!choose_source(w->net, p, group, &o.src))
		return false;
	nh = ip6_own_route(w, &o);
	if (nh == NULL || ip6_is_own_anycast(w->net, &o.dst, o.port))
		return false;
	if (!sl_icmp_limit_plen(w, SL_AF_INET6, &o.dst, type, code,
			    128 - 32 * SL_NEXTHOP_WIDTH_OF(nh->flags)))
		return false;
	own = ip6_own_alloc(w, ICMP6_HDR_LEN, &l4);
	if (own == NULL)
		return false;
	icmp = l4;
	icmp->type = type;
	icmp->code = code;
	icmp->info_be = rte_cpu_to_be_32(info);
	if (!ip6_own_append(w, own, m, p->l3_off, quote)) {
		rte_pktmbuf_free(own);
		return false;
	}
	ip6_own_send(w, own, &o, nh, offsetof(struct icmp6_error, checksum_be));
	return true;
}
