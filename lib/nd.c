/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbour discovery (RFC 4861) as the kernel's net/ipv6/ndisc.c does it on a router: solicitations
 * are answered with R=1 and, but to the unspecified address, S=1; the sender is learnt.
 * Advertisements change entries that are there. Router solicitations and advertisements teach the
 * link address of their sender and nothing else; redirects teach nothing. The kernel's answer for
 * an anycast address waits up to 0.8 s if the question was multicast; here it does not.
 */
#include "lib/ip.h"
#include "lib/neigh_table.h"
#include "lib/router.h"

#include <rte_ip.h>

#include <netinet/icmp6.h>

#define HOP_LIMIT 255
#define OPT_LLADDR_LEN 8 /* bytes of a link address option of Ethernet */

struct nd_message {
	uint8_t type, code;
	rte_be16_t checksum_be;
	uint8_t flags; /* of an advertisement */
	uint8_t reserved[3];
	struct sl_addr target;
};
static_assert(sizeof(struct nd_message) == 24, "as on the wire");

#define NA_ROUTER 0x80
#define NA_SOLICITED 0x40
#define NA_OVERRIDE 0x20

struct lladdr_option {
	uint8_t type, len;
	struct rte_ether_addr mac;
};
static_assert(sizeof(struct lladdr_option) == OPT_LLADDR_LEN, "as on the wire");

/* a received message */
struct rx {
	struct rte_mbuf *m;
	const struct sl_pkt *p;
	uint16_t port;
	uint32_t off, end; /* of the ICMPv6 message in the frame */
	struct nd_message msg; /* as much of it as is there */
};

static bool is_zero(const struct sl_addr *a)
{
	return (a->q[0] | a->q[1]) == 0;
}

static bool is_multicast(const struct sl_addr *a)
{
	return a->b[0] == 0xff;
}

static bool is_link_local(const struct sl_addr *a)
{
	return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

static struct sl_addr solicited_node(const struct sl_addr *a)
{
	struct sl_addr group = { .b = { 0xff, 0x02, [11] = 0x01, [12] = 0xff } };

	memcpy(&group.b[13], &a->b[13], 3);
	return group;
}

static bool is_solicited_node(const struct sl_addr *a)
{
	struct sl_addr group = solicited_node(a);

	return sl_addr_eq(a, &group);
}

/* an address of the port itself: another port's is not ours here */
static bool own(const struct sl_worker *w, uint16_t port, const struct sl_addr *a)
{
	const struct sl_net_port *np = &w->net->ports[port];

	for (unsigned int i = 0; i < np->n_addr6; i++) {
		if (sl_addr_eq(&np->addr6[i].addr, a))
			return true;
	}
	return false;
}

/* the subnet-router anycast address of one of the port's prefixes (RFC 4291 section 2.6.1) */
static bool own_anycast(const struct sl_worker *w, uint16_t port, const struct sl_addr *a)
{
	const struct sl_net_port *np = &w->net->ports[port];

	for (unsigned int i = 0; np->sysctl.forwarding6 && i < np->n_addr6; i++) {
		unsigned int len = np->addr6[i].len;
		struct sl_addr any = sl_addr_mask(&np->addr6[i].addr, SL_AF_INET6, len);

		if (len < 127 && sl_addr_eq(&any, a))
			return true;
	}
	return false;
}

/* ---- sending -------------------------------------------------------------------------------- */

/* the way of the router's own messages: straight to the link, whatever the routes say */
static const struct sl_nexthop *direct(struct sl_worker *w, uint16_t port)
{
	struct sl_nexthop *nh = &w->r->neigh->direct[port];

	nh->type = SL_ROUTE_UNICAST;
	nh->family = SL_AF_NONE;
	nh->port = port;
	nh->mtu = w->r->ports[port].mtu;
	nh->n_paths = 1;
	return nh;
}

/* @option: type of the option that tells the port's link address, 0: none */
static void nd_send(struct sl_worker *w, uint16_t port, const struct sl_addr *src,
		const struct sl_addr *dst, const struct nd_message *msg, uint8_t option)
{
	const struct {
		struct nd_message msg;
		struct lladdr_option opt;
	} body = { *msg, { option, OPT_LLADDR_LEN / 8, w->r->ports[port].mac } };
	uint16_t len = option != 0 ? sizeof(body) : sizeof(*msg);
	struct rte_mbuf *m = neigh_own_frame(
			w, port, RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv6_hdr) + len);
	struct rte_ipv6_hdr *ip;
	struct sl_pkt *p;
	uint8_t *icmp;
	uint16_t sum;

	if (m == NULL)
		return;
	ip = rte_pktmbuf_mtod_offset(m, struct rte_ipv6_hdr *, RTE_ETHER_HDR_LEN);
	ip->vtc_flow = RTE_BE32(6U << 28);
	ip->payload_len = rte_cpu_to_be_16(len);
	ip->proto = IPPROTO_ICMPV6;
	ip->hop_limits = HOP_LIMIT;
	memcpy(ip->src_addr, src, sizeof(*src));
	memcpy(ip->dst_addr, dst, sizeof(*dst));
	icmp = (uint8_t *)(ip + 1);
	memcpy(icmp, &body, len);
	sum = rte_ipv6_udptcp_cksum(ip, icmp);
	memcpy(icmp + offsetof(struct nd_message, checksum_be), &sum, sizeof(sum));

	sl_pkt_parse_ip(m, RTE_ETHER_HDR_LEN);
	p = sl_pkt(m);
	p->flags |= SL_PKT_ORIGIN;
	p->in_port = SL_PORT_HOST;
	p->out_port = port;
	p->nh = direct(w, port);
	p->via = *dst;
	sl_worker_originate(w, m);
}

void nd_solicit(struct sl_worker *w, const struct neigh_entry *e, const struct sl_pkt *trigger,
		bool unicast)
{
	const struct sl_net_port *np = &w->net->ports[e->n.port];
	struct nd_message msg = { .type = ND_NEIGHBOR_SOLICIT, .target = e->n.addr };
	struct sl_addr group = solicited_node(&e->n.addr);
	const struct sl_addr *src;

	if (np->n_addr6 == 0)
		return;
	/* the packet's own source if it is the port's, else the link-local address */
	src = trigger != NULL && own(w, e->n.port, &trigger->src) ? &trigger->src
								  : &np->addr6[0].addr;
	nd_send(w, e->n.port, src, unicast ? &e->n.addr : &group, &msg, ND_OPT_SOURCE_LINKADDR);
}

static void advertise(struct sl_worker *w, uint16_t port, const struct sl_addr *target,
		const struct sl_addr *dst, uint8_t flags, bool with_lladdr)
{
	struct nd_message msg = { .type = ND_NEIGHBOR_ADVERT, .flags = flags, .target = *target };
	struct sl_addr src = *target;

	if (w->net->ports[port].sysctl.forwarding6)
		msg.flags |= NA_ROUTER;
	if (!own(w, port, target)) {
		/* an anycast address may not be a source */
		if (!sl_net_source(w->net, SL_AF_INET6, direct(w, port), dst, &src))
			return;
	}
	nd_send(w, port, &src, dst, &msg, with_lladdr ? ND_OPT_TARGET_LINKADDR : 0);
}

/* ---- receiving ------------------------------------------------------------------------------ */

/*
 * Walk the options behind @fixed bytes of message and take the first one of type @wanted.
 * Return: false if the list or that option is malformed; *mac is NULL if there is none.
 */
static bool link_option(const struct rx *rx, uint32_t fixed, uint8_t wanted,
		struct rte_ether_addr *buf, const struct rte_ether_addr **mac)
{
	uint32_t off = rx->off + fixed;
	bool bad = false, seen = false;

	*mac = NULL;
	while (off < rx->end) {
		struct nd_opt_hdr opt;
		uint32_t len;

		if (rx->end - off < sizeof(opt) || !sl_pkt_copy(rx->m, off, sizeof(opt), &opt))
			return false;
		len = opt.nd_opt_len * 8U;
		if (len == 0 || len > rx->end - off)
			return false;
		if (opt.nd_opt_type == wanted && !seen) {
			seen = true;
			bad = len != OPT_LLADDR_LEN
					|| !sl_pkt_copy(rx->m, off + sizeof(opt), sizeof(*buf),
							buf);
			*mac = buf;
		}
		off += len;
	}
	return !bad;
}

/* Each of these returns whether the message was well-formed. */

static bool rx_ns(struct sl_worker *w, const struct rx *rx)
{
	const struct sl_addr *src = &rx->p->src, *dst = &rx->p->dst, *target = &rx->msg.target;
	bool dad = is_zero(src), multicast = is_multicast(dst), ours = own(w, rx->port, target);
	struct rte_ether_addr buf;
	const struct rte_ether_addr *mac;
	struct neigh_entry *e;

	if (is_multicast(target) || (dad && !is_solicited_node(dst))
			|| !link_option(rx, sizeof(rx->msg), ND_OPT_SOURCE_LINKADDR, &buf, &mac)
			|| (dad && mac != NULL))
		return false;
	if (!ours && !own_anycast(w, rx->port, target))
		return true;
	if (dad) {
		static const struct sl_addr all_nodes = { .b = { 0xff, 0x02, [15] = 0x01 } };

		advertise(w, rx->port, target, &all_nodes, ours ? NA_OVERRIDE : 0, true);
		return true;
	}
	if (!multicast || mac != NULL)
		e = neigh_lookup_make(w, rx->port, SL_AF_INET6, src);
	else
		e = neigh_lookup_live(w->r->neigh, rx->port, SL_AF_INET6, src);
	if (e == NULL)
		return true;
	neigh_update(w, e, mac, SL_NEIGH_STALE, NEIGH_WEAK_OVERRIDE | NEIGH_OVERRIDE);
	advertise(w, rx->port, target, src, NA_SOLICITED | (ours && multicast ? NA_OVERRIDE : 0),
			multicast);
	return true;
}

static bool rx_na(struct sl_worker *w, const struct rx *rx)
{
	const struct sl_addr *target = &rx->msg.target;
	bool solicited = (rx->msg.flags & NA_SOLICITED) != 0;
	uint32_t flags = NEIGH_WEAK_OVERRIDE | NEIGH_SET_ROUTER;
	struct rte_ether_addr buf;
	const struct rte_ether_addr *mac;
	struct neigh_entry *e;

	if (is_multicast(target) || (is_multicast(&rx->p->dst) && solicited)
			|| !link_option(rx, sizeof(rx->msg), ND_OPT_TARGET_LINKADDR, &buf, &mac))
		return false;
	/* somebody claims our address: nothing that we could do about it */
	if (own(w, rx->port, target))
		return true;
	e = neigh_lookup_live(w->r->neigh, rx->port, SL_AF_INET6, target);
	if (e == NULL || e->state == SL_NEIGH_FAILED)
		return true;
	if (rx->msg.flags & NA_OVERRIDE)
		flags |= NEIGH_OVERRIDE;
	if (rx->msg.flags & NA_ROUTER)
		flags |= NEIGH_ROUTER;
	neigh_update(w, e, mac, solicited ? SL_NEIGH_REACHABLE : SL_NEIGH_STALE, flags);
	return true;
}

/* the sender of a router solicitation or advertisement is learnt */
static bool learn_sender(struct sl_worker *w, const struct rx *rx, uint32_t fixed, uint32_t flags)
{
	struct rte_ether_addr buf;
	const struct rte_ether_addr *mac;
	struct neigh_entry *e;

	if (!link_option(rx, fixed, ND_OPT_SOURCE_LINKADDR, &buf, &mac))
		return false;
	e = neigh_lookup_make(w, rx->port, SL_AF_INET6, &rx->p->src);
	if (e != NULL)
		neigh_update(w, e, mac, SL_NEIGH_STALE,
				NEIGH_WEAK_OVERRIDE | NEIGH_OVERRIDE | NEIGH_SET_ROUTER | flags);
	return true;
}

static bool rx_rs(struct sl_worker *w, const struct rx *rx)
{
	if (!w->net->ports[rx->port].sysctl.forwarding6 || is_zero(&rx->p->src))
		return true;
	return learn_sender(w, rx, sizeof(struct nd_router_solicit), 0);
}

static bool rx_ra(struct sl_worker *w, const struct rx *rx)
{
	if (!is_link_local(&rx->p->src) || rx->end - rx->off < sizeof(struct nd_router_advert))
		return false;
	return learn_sender(w, rx, sizeof(struct nd_router_advert), NEIGH_ROUTER);
}

/* what the kernel's icmpv6_rcv() and ndisc_rcv() look at for every type */
static bool valid(struct rx *rx)
{
	uint32_t len = rx->end - rx->off;
	uint8_t hop_limit;
	uint32_t sum;

	if (!sl_pkt_copy(rx->m, rx->p->l3_off + offsetof(struct rte_ipv6_hdr, hop_limits), 1,
			    &hop_limit)
			|| hop_limit != HOP_LIMIT)
		return false;
	/* fragmented ones are refused: RFC 6980 */
	if ((rx->p->flags & SL_PKT_FRAG_HDR) || rx->p->frag_max != 0)
		return false;
	memset(&rx->msg, 0, sizeof(rx->msg));
	if (rx->end <= rx->off || len < sizeof(struct icmp6_hdr)
			|| !sl_pkt_copy(rx->m, rx->off, RTE_MIN(len, (uint32_t)sizeof(rx->msg)),
					&rx->msg))
		return false;
	sum = (uint32_t)sl_csum_bytes(rx->m, rx->off, len)
			+ sl_csum_pseudo(rx->p, IPPROTO_ICMPV6, len);
	return (sum & 0xffff) + (sum >> 16) == 0xffff && rx->msg.code == 0;
}

static bool receive(struct sl_worker *w, struct rx *rx)
{
	if (!valid(rx))
		return false;
	switch (rx->msg.type) {
	case ND_NEIGHBOR_SOLICIT:
		return rx->end - rx->off >= sizeof(rx->msg) && rx_ns(w, rx);
	case ND_NEIGHBOR_ADVERT:
		return rx->end - rx->off >= sizeof(rx->msg) && rx_na(w, rx);
	case ND_ROUTER_SOLICIT:
		return rx_rs(w, rx);
	case ND_ROUTER_ADVERT:
		return rx_ra(w, rx);
	default:
		/* a router takes no redirects */
		return true;
	}
}

void sl_neigh_rx_nd(struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	struct rx rx = {
		.m = m,
		.p = p,
		.port = p->in_port,
		.off = p->l4_off,
		.end = p->l3_off + p->l3_len,
	};

	if (receive(w, &rx))
		sl_worker_deliver(w, m);
	else
		sl_drop(w, m, SL_DROP_ND_INVALID);
}
