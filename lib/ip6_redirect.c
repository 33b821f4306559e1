/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ICMPv6 redirects (RFC 4861 8.2) as ip6_forward() and ndisc_send_redirect() send them: a packet
 * leaves by the port it came in on, its sender is a neighbour there, and the better first hop is the
 * destination itself or a router whose link-local address the route names.
 */
#include "lib/ip6.h"
#include "lib/neigh.h"
#include "lib/router.h"

#define HOP_LIMIT 255
#define OPT_TARGET_LLADDR 2
#define OPT_REDIRECTED 4
#define OPT_LEN 8U /* of a link address option, and of the head of the redirected header option */

struct redirect {
	uint8_t type, code;
	rte_be16_t checksum_be;
	rte_be32_t reserved;
	struct sl_addr target, dst;
} __rte_packed __rte_aligned(2); /* behind 14 bytes of Ethernet */
static_assert(sizeof(struct redirect) == 40, "as on the wire");

/* the target's link address, if it is known */
static bool find_mac(const struct sl_worker *w, const struct sl_pkt *p,
		const struct sl_addr *target, uint8_t *mac)
{
	const struct sl_neigh *n = p->nh->neigh;
	uint64_t link;

	if (n == NULL)
		n = sl_neigh_find(w->r->neigh, p->out_port, SL_AF_INET6, target);
	if (n == NULL)
		return false;
	link = rte_cpu_to_le_64(atomic_load_explicit(&n->link, memory_order_acquire));
	memcpy(mac, &link, RTE_ETHER_ADDR_LEN);
	return (rte_le_to_cpu_64(link) & SL_NEIGH_USABLE) != 0;
}

static struct rte_mbuf *build(struct sl_worker *w, const struct rte_mbuf *m, const struct sl_pkt *p,
		const struct sl_addr *target)
{
	uint8_t mac[RTE_ETHER_ADDR_LEN];
	uint32_t mac_len = find_mac(w, p, target, mac) ? OPT_LEN : 0;
	uint32_t room = IP6_MIN_MTU - IP6_HDR_LEN - (uint32_t)sizeof(struct redirect) - mac_len;
	uint32_t quote_len = RTE_MIN(room, m->pkt_len - p->l3_off + OPT_LEN) & ~7U;
	struct rte_mbuf *own;
	struct redirect *r;
	uint8_t *opt;
	void *l4;

	own = ip6_own_alloc(w, (uint32_t)sizeof(*r) + mac_len + OPT_LEN, &l4);
	if (own == NULL)
		return NULL;
	r = l4;
	r->type = ICMP6_ND_REDIRECT;
	r->target = *target;
	r->dst = p->dst;
	opt = (uint8_t *)(r + 1);
	if (mac_len != 0) {
		opt[0] = OPT_TARGET_LLADDR;
		opt[1] = 1;
		memcpy(opt + 2, mac, sizeof(mac));
		opt += OPT_LEN;
	}
	opt[0] = OPT_REDIRECTED;
	opt[1] = (uint8_t)(quote_len / 8);
	if (!ip6_own_append(w, own, m, p->l3_off, quote_len - OPT_LEN)) {
		rte_pktmbuf_free(own);
		return NULL;
	}
	return own;
}

void ip6_redirect(struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	const struct sl_net_port *np = &w->net->ports[p->in_port];
	struct ip6_own o = {
		.dst = p->src,
		.proto = IPPROTO_ICMPV6,
		.hop_limit = HOP_LIMIT,
		.port = p->in_port,
	};
	struct sl_addr target = p->nh->family == SL_AF_NONE ? p->dst : p->nh->gateway;
	const struct sl_nexthop *nh;
	struct rte_mbuf *own;

	if (!sl_icmp_limit_redirect(w, SL_AF_INET6, &p->dst))
		return;
	if (np->n_addr6 == 0 || (!sl_addr_eq(&target, &p->dst) && !ip6_is_link_local(&target)))
		return;
	o.src = np->addr6[0].addr;
	nh = ip6_own_route(w, &o);
	if (nh == NULL || nh->family != SL_AF_NONE)
		return;
	if (!sl_icmp_limit_redirect(w, SL_AF_INET6, &p->src))
		return;
	own = build(w, m, p, &target);
	if (own != NULL)
		ip6_own_send(w, own, &o, nh, offsetof(struct redirect, checksum_be));
}
