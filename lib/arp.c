/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ARP (RFC 826) as the kernel's net/ipv4/arp.c: whom it answers, what it learns, how it asks.
 *
 * Who asks for one of our addresses is learnt and answered. Every other message only changes
 * entries that are there: a reply to our link address makes them reachable, the rest stale. Another
 * link address than the known one is taken if the entry is a second old, or the message is
 * gratuitous. Requests that proxy_arp answers are answered at once; the kernel waits for up to
 * 0.8 s (proxy_delay) if they were broadcast.
 */
#include "lib/neigh_table.h"
#include "lib/router.h"

#include <rte_arp.h>

#define LOCKTIME_NS NEIGH_NS_PER_S /* the kernel's default of locktime */
#define HRD_IEEE802 6

/* a message in the form in which it is looked at */
struct message {
	bool request;
	struct rte_ether_addr sha, tha;
	struct sl_addr sip, tip;
};

static uint8_t first_octet(const struct sl_addr *a)
{
	return a->b[0];
}

static bool is_multicast4(const struct sl_addr *a)
{
	return (first_octet(a) & 0xf0) == 0xe0;
}

/* ---- sending -------------------------------------------------------------------------------- */

/* @tha: target hardware address, NULL: zeros; to @dst, NULL: to all */
static void arp_send(struct sl_worker *w, uint16_t op, uint16_t port, rte_be32_t sip,
		rte_be32_t tip, const struct rte_ether_addr *tha, const struct rte_ether_addr *dst)
{
	const struct rte_ether_addr *mac = &w->r->ports[port].mac;
	struct rte_mbuf *m = neigh_own_frame(
			w, port, sizeof(struct rte_ether_hdr) + sizeof(struct rte_arp_hdr));
	struct rte_ether_hdr *eth;
	struct rte_arp_hdr *arp;

	if (m == NULL)
		return;
	eth = rte_pktmbuf_mtod(m, struct rte_ether_hdr *);
	arp = (struct rte_arp_hdr *)(eth + 1);
	memset(&eth->dst_addr, 0xff, sizeof(eth->dst_addr));
	if (dst != NULL)
		eth->dst_addr = *dst;
	eth->src_addr = *mac;
	eth->ether_type = RTE_BE16(RTE_ETHER_TYPE_ARP);
	arp->arp_hardware = RTE_BE16(RTE_ARP_HRD_ETHER);
	arp->arp_protocol = RTE_BE16(RTE_ETHER_TYPE_IPV4);
	arp->arp_hlen = RTE_ETHER_ADDR_LEN;
	arp->arp_plen = sizeof(rte_be32_t);
	arp->arp_opcode = rte_cpu_to_be_16(op);
	arp->arp_data.arp_sha = *mac;
	arp->arp_data.arp_sip = sip;
	if (tha != NULL)
		arp->arp_data.arp_tha = *tha;
	arp->arp_data.arp_tip = tip;
	w->rx[SL_PORT_HOST]++;
	w->rx_bytes[SL_PORT_HOST] += m->pkt_len;
	sl_worker_send(w, m);
}

/* whether some address of the port has @a, and @b unless NULL, in its subnet */
static bool on_link(const struct sl_net_port *np, const struct sl_addr *a, const struct sl_addr *b)
{
	for (unsigned int i = 0; i < np->n_addr4; i++) {
		if (sl_prefix_contains(&np->addr4[i], a)
				&& (b == NULL || sl_prefix_contains(&np->addr4[i], b)))
			return true;
	}
	return false;
}

/* an address in the subnet of an earlier one with the same length is secondary */
static bool is_secondary(const struct sl_net_port *np, unsigned int i)
{
	for (unsigned int k = 0; k < i; k++) {
		if (np->addr4[k].len == np->addr4[i].len
				&& sl_prefix_contains(&np->addr4[k], &np->addr4[i].addr))
			return true;
	}
	return false;
}

/* as the kernel's inet_select_addr(): of the target's subnet, else the port's first, else any */
static rte_be32_t select_source(const struct sl_worker *w, uint16_t port, const struct sl_addr *to)
{
	const struct sl_net_port *np = &w->net->ports[port];

	for (unsigned int i = 0; i < np->n_addr4; i++) {
		if (!is_secondary(np, i) && sl_prefix_contains(&np->addr4[i], to))
			return np->addr4[i].addr.v4;
	}
	if (np->n_addr4 > 0)
		return np->addr4[0].addr.v4;
	for (unsigned int i = 1; i <= w->r->n_ports; i++) {
		if (w->net->ports[i].n_addr4 > 0)
			return w->net->ports[i].addr4[0].addr.v4;
	}
	return 0;
}

void arp_solicit(struct sl_worker *w, const struct neigh_entry *e, const struct sl_pkt *trigger,
		const struct rte_ether_addr *mac)
{
	uint16_t port = e->n.port;
	const struct sl_net_port *np = &w->net->ports[port];
	rte_be32_t source = 0;

	/* the packet's own source, if it is ours and arp_announce allows it */
	if (trigger != NULL && np->sysctl.arp_announce < 2
			&& sl_net_is_local(w->net, SL_AF_INET, &trigger->src, port)
			&& (np->sysctl.arp_announce == 0 || on_link(np, &e->n.addr, &trigger->src)))
		source = trigger->src.v4;
	if (source == 0)
		source = select_source(w, port, &e->n.addr);
	arp_send(w, RTE_ARP_OP_REQUEST, port, source, e->n.addr.v4, NULL, mac);
}

/* ---- receiving ------------------------------------------------------------------------------ */

/* what the kernel's arp_rcv() and arp_process() throw away unread; false: malformed */
static bool parse(struct rte_mbuf *m, struct message *msg)
{
	struct rte_arp_hdr arp;

	if (!sl_pkt_copy(m, sl_pkt(m)->l3_off, sizeof(arp), &arp))
		return false;
	if (arp.arp_hlen != RTE_ETHER_ADDR_LEN || arp.arp_plen != sizeof(rte_be32_t))
		return false;
	if (arp.arp_protocol != RTE_BE16(RTE_ETHER_TYPE_IPV4)
			|| (arp.arp_hardware != RTE_BE16(RTE_ARP_HRD_ETHER)
					&& arp.arp_hardware != RTE_BE16(HRD_IEEE802)))
		return false;
	if (arp.arp_opcode != RTE_BE16(RTE_ARP_OP_REQUEST)
			&& arp.arp_opcode != RTE_BE16(RTE_ARP_OP_REPLY))
		return false;
	msg->request = arp.arp_opcode == RTE_BE16(RTE_ARP_OP_REQUEST);
	msg->sha = arp.arp_data.arp_sha;
	msg->tha = arp.arp_data.arp_tha;
	msg->sip = sl_addr_v4(arp.arp_data.arp_sip);
	msg->tip = sl_addr_v4(arp.arp_data.arp_tip);
	return true;
}

/* arp_ignore: whether a request of @sip for our address @tip gets no answer */
static bool ignored(
		const struct sl_net_port *np, const struct sl_addr *sip, const struct sl_addr *tip)
{
	bool same_subnet = np->sysctl.arp_ignore == 2;

	switch (np->sysctl.arp_ignore) {
	case 1:
	case 2:
		break;
	case 8:
		return true;
	default:
		/* 3 spares addresses of scope host, of which there are none */
		return false;
	}
	for (unsigned int i = 0; i < np->n_addr4; i++) {
		if (sl_addr_eq(&np->addr4[i].addr, tip))
			/* a probe has no subnet (RFC 5227) */
			return same_subnet && sip->v4 != 0 && !on_link(np, tip, sip);
	}
	return true;
}

/* the route of a packet from the asker to what he asks for; NULL: it would not get anywhere */
static const struct sl_nexthop *route(struct sl_worker *w, uint16_t port, const struct message *msg)
{
	struct sl_route_key key = {
		.family = SL_AF_INET,
		.in_port = port,
		.out_port = SL_PORT_NONE,
		.dst = msg->tip,
		.src = msg->sip,
	};
	struct sl_pkt asker = {
		.family = SL_AF_INET,
		.in_port = port,
		.out_port = SL_PORT_NONE,
		.src = msg->sip,
		.dst = msg->tip,
	};
	const struct sl_nexthop *nh;
	bool onlink;

	if (is_multicast4(&msg->sip) || msg->sip.v4 == UINT32_MAX || msg->tip.v4 == 0
			|| msg->tip.v4 == UINT32_MAX)
		return NULL;
	if (first_octet(&msg->sip) == 127 && !w->net->ports[port].sysctl.route_localnet)
		return NULL;
	nh = sl_net_route(w->net, &key);
	if (nh == NULL || sl_net_validate_source4(w->net, &asker, nh, &onlink) != SL_SOURCE_OK)
		return NULL;
	return nh;
}

/* Return: false if the table is full */
static bool learn(struct sl_worker *w, uint16_t port, const struct message *msg)
{
	struct neigh_entry *e;

	/* a broadcast address needs no entry; the kernel makes one that nothing changes */
	if (sl_net_is_broadcast4(w->net, msg->sip.v4))
		return true;
	e = neigh_lookup_make(w, port, SL_AF_INET, &msg->sip);
	if (e == NULL)
		return false;
	neigh_update(w, e, &msg->sha, SL_NEIGH_STALE, NEIGH_OVERRIDE);
	return true;
}

/* the asked-for address is here */
static void reply(struct sl_worker *w, uint16_t port, const struct message *msg)
{
	arp_send(w, RTE_ARP_OP_REPLY, port, msg->tip.v4, msg->sip.v4, &msg->sha, &msg->sha);
}

/* Return: whether the request was for us or for somebody we stand in for */
static bool answer(struct sl_worker *w, uint16_t port, const struct message *msg)
{
	const struct sl_net_port *np = &w->net->ports[port];
	const struct sl_nexthop *nh = route(w, port, msg);

	if (nh == NULL)
		return false;
	if (nh->type == SL_ROUTE_LOCAL) {
		if (!ignored(np, &msg->sip, &msg->tip) && learn(w, port, msg))
			reply(w, port, msg);
		return true;
	}
	if (nh->type == SL_ROUTE_UNICAST && nh->port != port && np->sysctl.forwarding4
			&& np->sysctl.proxy_arp) {
		learn(w, port, msg);
		reply(w, port, msg);
		return true;
	}
	return false;
}

/* a sender that tells his own address, unasked */
static bool is_gratuitous(struct sl_worker *w, uint16_t port, const struct message *msg)
{
	if (!sl_addr_eq(&msg->sip, &msg->tip))
		return false;
	if (!msg->request && !rte_is_same_ether_addr(&msg->sha, &msg->tha))
		return false;
	return !sl_net_is_local(w->net, SL_AF_INET, &msg->sip, port)
			&& !sl_net_is_broadcast4(w->net, msg->sip.v4) && !is_multicast4(&msg->sip);
}

static void update(struct sl_worker *w, uint16_t port, const struct message *msg, bool to_us)
{
	struct neigh_entry *e = neigh_lookup_live(w->r->neigh, port, SL_AF_INET, &msg->sip);
	bool override;

	if (e == NULL)
		return;
	override = w->now_ns > e->updated_ns + LOCKTIME_NS || is_gratuitous(w, port, msg);
	neigh_update(w, e, &msg->sha, !msg->request && to_us ? SL_NEIGH_REACHABLE : SL_NEIGH_STALE,
			override ? NEIGH_OVERRIDE : 0);
}

static void process(struct sl_worker *w, uint16_t port, const struct message *msg, bool to_us)
{
	const struct sl_net_port *np = &w->net->ports[port];

	if (is_multicast4(&msg->tip)
			|| (first_octet(&msg->tip) == 127 && !np->sysctl.route_localnet))
		return;
	if (msg->sip.v4 == 0) {
		/* duplicate address detection (RFC 5227): answered, nothing to learn */
		if (msg->request && sl_net_is_local(w->net, SL_AF_INET, &msg->tip, port)
				&& !ignored(np, &msg->sip, &msg->tip))
			reply(w, port, msg);
		return;
	}
	if (msg->request && answer(w, port, msg))
		return;
	update(w, port, msg, to_us);
}

void sl_neigh_rx_arp(struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	struct message msg;

	if (p->flags & SL_PKT_LINK_OTHER) {
		sl_drop(w, m, SL_DROP_LINK_OTHER);
		return;
	}
	if (!parse(m, &msg)) {
		sl_drop(w, m, SL_DROP_ARP_INVALID);
		return;
	}
	process(w, p->in_port, &msg, !(p->flags & (SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST)));
	sl_worker_deliver(w, m);
}
