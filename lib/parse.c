/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first look at a frame: whose it is, and whether its IP header is sound. One loop treats what
 * makes up nearly all traffic, an untagged unicast IPv4 packet without options in one segment; every
 * other frame takes the way of the functions above it, which check the same things with more cases.
 * The headers are on their way into the cache already: whoever received the batch has fetched them.
 */
#include "lib/ip.h"
#include "lib/neigh.h"
#include "lib/parse4.h"
#include "lib/router.h"
#include "lib/worker.h"

#include <rte_udp.h>

#include <netinet/in.h>

/* tags in front of an IP header that are looked at; a real frame has at most two */
#define TAGS_MAX 4

#define MAC_MASK 0xffffffffffffULL

/* 6 bytes of a MAC in the low bits; reads two bytes more, which every caller has */
static inline uint64_t load_mac(const uint8_t *mac)
{
	uint64_t v;

	memcpy(&v, mac, sizeof(v));
	return rte_le_to_cpu_64(v) & MAC_MASK;
}

static uint64_t port_mac(const struct sl_port *port)
{
	uint8_t buf[8] = { 0 };

	memcpy(buf, port->mac.addr_bytes, RTE_ETHER_ADDR_LEN);
	return load_mac(buf);
}

static bool take_drop(struct sl_worker *w, struct rte_mbuf *m, enum sl_drop_reason reason)
{
	sl_drop(w, m, reason);
	return false;
}

/* next tag of the frame, out of the descriptor or out of the frame; it is removed */
static bool pop_tag(struct rte_mbuf *m, uint16_t *tci, bool *service)
{
	struct {
		struct rte_ether_hdr eth;
		struct rte_vlan_hdr tag;
	} * h;

	if (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) {
		m->ol_flags &= ~(RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_RX_VLAN);
		*tci = m->vlan_tci;
		*service = false;
		return true;
	}
	h = (void *)sl_pkt_pull(m, sizeof(*h));
	if (h == NULL)
		return false;
	*service = h->eth.ether_type == RTE_BE16(RTE_ETHER_TYPE_QINQ);
	if (!*service && h->eth.ether_type != RTE_BE16(RTE_ETHER_TYPE_VLAN))
		return false;
	*tci = rte_be_to_cpu_16(h->tag.vlan_tci);
	memmove((uint8_t *)h + sizeof(h->tag), h, 2 * RTE_ETHER_ADDR_LEN);
	rte_pktmbuf_adj(m, sizeof(h->tag));
	return true;
}

/* the logical port of a frame; a tag with VID 0 only carries a priority */
static bool choose_port(struct sl_worker *w, struct rte_mbuf *m, const struct sl_link *link)
{
	struct sl_pkt *p = sl_pkt(m);
	uint16_t port = SL_PORT_NONE, tci;
	uint32_t tagged_len = m->pkt_len;
	bool service;

	for (unsigned int i = 0; i < TAGS_MAX && pop_tag(m, &tci, &service); i++) {
		uint16_t vid = tci & 0xfff;

		if (p->vlan_tci == 0)
			p->vlan_tci = tci;
		if (vid == 0)
			continue;
		if (port != SL_PORT_NONE || service || link->vlan_port == NULL
				|| link->vlan_port[vid] == 0)
			return take_drop(w, m, SL_DROP_VLAN);
		port = link->vlan_port[vid];
	}
	if (port == SL_PORT_NONE)
		port = link->port;
	if (port == SL_PORT_NONE)
		return take_drop(w, m, SL_DROP_VLAN_MISSING);
	if (port != p->in_port) {
		w->rx[p->in_port]--;
		w->rx_bytes[p->in_port] -= tagged_len;
		w->rx[port]++;
		w->rx_bytes[port] += tagged_len;
		p->in_port = port;
	}
	return true;
}

/* a VLAN port also hears what is sent to the MAC of the port below it */
static bool for_us(
		const struct sl_worker *w, const struct sl_link *link, uint16_t port, uint64_t mac)
{
	const struct sl_port *ports = w->r->ports;

	return mac == port_mac(&ports[port])
			|| (link->port != SL_PORT_NONE && mac == port_mac(&ports[link->port]));
}

static bool parse_arp(struct sl_worker *w, struct rte_mbuf *m)
{
	if (w->id == 0)
		sl_neigh_rx_arp(w, m);
	else
		sl_handoff(w, m, 0, SL_HANDOFF_ARP);
	return false;
}

/* any frame; true: a survivor, false: it was taken */
static __rte_noinline bool parse_frame(
		struct sl_worker *w, struct rte_mbuf *m, const struct sl_link *link)
{
	struct sl_pkt *p = sl_pkt(m);
	const struct rte_ether_hdr *eth;
	uint64_t mac;

	p->flags = 0;
	p->family = SL_AF_NONE;
	p->proto = 0;
	if (sl_pkt_pull(m, sizeof(*eth)) == NULL)
		return take_drop(w, m, SL_DROP_RUNT);
	if (!choose_port(w, m, link))
		return false;
	eth = (void *)sl_pkt_pull(m, sizeof(*eth));
	if (eth == NULL)
		return take_drop(w, m, SL_DROP_RUNT);
	mac = load_mac(eth->dst_addr.addr_bytes);
	if (mac == MAC_MASK)
		p->flags = SL_PKT_LINK_BCAST;
	else if (rte_is_multicast_ether_addr(&eth->dst_addr))
		p->flags = SL_PKT_LINK_MCAST;
	else if (!for_us(w, link, p->in_port, mac))
		return take_drop(w, m, SL_DROP_LINK_OTHER);
	p->l3_off = sizeof(*eth);
	switch (rte_be_to_cpu_16(eth->ether_type)) {
	case RTE_ETHER_TYPE_IPV4:
		return sl_parse4(w, m, link->segments);
	case RTE_ETHER_TYPE_IPV6:
		return sl_parse6(w, m);
	case RTE_ETHER_TYPE_ARP:
		return parse_arp(w, m);
	default:
		return take_drop(w, m, SL_DROP_ETHERTYPE);
	}
}

/* what a packet on the straight path looks like, apart from the length */
static __rte_always_inline bool is_straight(const struct rte_mbuf *m, uint64_t mac)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t type_be;

	if (unlikely(m->nb_segs != 1 || m->data_len < sizeof(struct rte_ether_hdr) + 24
			    || m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED))
		return false;
	memcpy(&type_be, frame + 2 * RTE_ETHER_ADDR_LEN, sizeof(type_be));
	return load_mac(frame) == mac && type_be == RTE_BE16(RTE_ETHER_TYPE_IPV4)
			&& frame[sizeof(struct rte_ether_hdr)] == 0x45;
}

/* checks as in sl_parse4(); false: let that one find out what is wrong */
static __rte_always_inline bool parse_straight(struct rte_mbuf *m, struct sl_pkt *p)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	const struct rte_ipv4_hdr *ip = (const void *)(frame + sizeof(struct rte_ether_hdr));
	uint32_t room = m->data_len - (uint32_t)sizeof(struct rte_ether_hdr);
	uint32_t len = rte_be_to_cpu_16(ip->total_length);
	const struct rte_udp_hdr *l4 = (const void *)(ip + 1);
	uint16_t ports;

	/* four bytes behind the header are there: is_straight() and this see to it */
	if (unlikely(!parse4_csum20_ok(ip) || len < 24 || len > room
			    || ip->fragment_offset & RTE_BE16(0x3fff)))
		return false;
	if (room != len) {
		m->data_len = (uint16_t)(len + sizeof(struct rte_ether_hdr));
		m->pkt_len = m->data_len;
	}
	/* the two that make up nearly everything before the table of all */
	if (likely(ip->next_proto_id == IPPROTO_UDP || ip->next_proto_id == IPPROTO_TCP))
		ports = UINT16_MAX;
	else
		ports = parse4_has_ports(ip->next_proto_id) ? UINT16_MAX : 0;
	p->src.q[0] = ip->src_addr;
	p->src.q[1] = 0;
	p->dst.q[0] = ip->dst_addr;
	p->dst.q[1] = 0;
	p->sport_be = l4->src_port & ports;
	p->dport_be = l4->dst_port & ports;
	p->flags = SL_PKT_L4 | (ports & SL_PKT_PORTS)
			| (ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_DF_FLAG) ? SL_PKT_DF : 0);
	p->family = SL_AF_INET;
	p->proto = ip->next_proto_id;
	p->l3_off = sizeof(struct rte_ether_hdr);
	p->l4_off = sizeof(struct rte_ether_hdr) + sizeof(*ip);
	p->out_port = SL_PORT_NONE;
	p->frag_off = 0;
	p->l3_len = len;
	p->mark = 0;
	return true;
}

unsigned int sl_parse_batch(struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n)
{
	const struct sl_port *port = &w->r->ports[sl_pkt(pkts[0])->in_port];
	const struct sl_link *link = port->link;
	unsigned int survivors = 0;
	/* a link without untagged port has no straight path, nor has one whose peer cuts segments */
	bool straight = link->port == port->id && !link->segments;
	uint64_t mac = straight ? port_mac(port) : UINT64_MAX;

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];

		if (likely(is_straight(m, mac)) && likely(parse_straight(m, sl_pkt(m))))
			pkts[survivors++] = m;
		else if (parse_frame(w, m, link))
			pkts[survivors++] = m;
	}
	if (unlikely(link->csum_partial))
		for (unsigned int i = 0; i < survivors; i++)
			sl_offload_complete(pkts[i]);
	return survivors;
}
