/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbour: the last stage of postrouting. Cuts IPv4 packets to the MTU, puts the Ethernet header
 * on and gives the frame to its output port. Packets whose next hop is not resolved go to the host
 * worker.
 *
 * The straight path is a packet by a gateway whose entry the route pins: one load of the link
 * address, two stores. Destinations on the link cost a look-up. Fragmentation, frames that do not
 * begin 14 bytes before the IP header, and what waits are in other(), out of line.
 */
#include "lib/builtin.h"
#include "lib/ip.h"
#include "lib/neigh.h"
#include "lib/neigh_frame.h"
#include "lib/worker.h"

#include <rte_prefetch.h>

#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>

#define PREFETCH_AHEAD 4
/* of 65,535 bytes at an MTU of 68: 48 bytes of data in each */
#define FRAGMENTS_MAX 1400

bool neigh_frame_align(struct rte_mbuf *m)
{
	struct sl_pkt *p = sl_pkt(m);
	int extra = (int)p->l3_off - RTE_ETHER_HDR_LEN;

	if (extra > 0) {
		if (rte_pktmbuf_adj(m, (uint16_t)extra) == NULL)
			return false;
	} else if (extra < 0) {
		if (rte_pktmbuf_prepend(m, (uint16_t)-extra) == NULL)
			return false;
	}
	p->l3_off = RTE_ETHER_HDR_LEN;
	if (p->l4_off != 0)
		p->l4_off = (uint16_t)(p->l4_off - extra);
	if (p->family == SL_AF_INET && p->opt_off != 0)
		p->opt_off = (uint16_t)(p->opt_off - extra);
	return true;
}

bool neigh_frame_write(const struct sl_router *r, struct rte_mbuf *m, uint64_t link)
{
	const struct sl_pkt *p = sl_pkt(m);

	if (p->l3_off != RTE_ETHER_HDR_LEN && !neigh_frame_align(m))
		return false;
	neigh_frame_store(rte_pktmbuf_mtod(m, uint8_t *), link,
			neigh_frame_tail(&r->ports[p->out_port], p->family));
	return true;
}

/* link address of a group address; RFC 1112 section 6.4, RFC 2464 section 7. Return: 0 if none */
static uint64_t group_link(const struct sl_pkt *p, uint8_t route_type)
{
	const uint8_t *a = p->dst.b;
	struct rte_ether_addr mac;
	uint64_t link = 0;

	if (p->family == SL_AF_INET6) {
		if (a[0] != 0xff)
			return 0;
		mac = (struct rte_ether_addr){ { 0x33, 0x33, a[12], a[13], a[14], a[15] } };
	} else if ((a[0] & 0xf0) == 0xe0) {
		mac = (struct rte_ether_addr){ { 0x01, 0x00, 0x5e, a[1] & 0x7f, a[2], a[3] } };
	} else if (route_type == SL_ROUTE_BROADCAST) {
		mac = (struct rte_ether_addr){ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };
	} else {
		return 0;
	}
	memcpy(&link, &mac, sizeof(mac));
	return rte_le_to_cpu_64(link);
}

/* link address of the next hop, whichever way it is found; 0: not resolved */
static uint64_t __rte_noinline find_link(
		struct sl_worker *w, const struct sl_pkt *p, const struct sl_nexthop *nh)
{
	struct sl_neigh *neigh = nh->neigh;
	/* a copy goes to its gateway, wherever it says that it goes */
	uint64_t link = neigh == NULL && !(p->flags & SL_PKT_COPY) ? group_link(p, nh->type) : 0;

	if (link != 0)
		return link;
	if (neigh == NULL)
		neigh = sl_neigh_find(w->r->neigh, p->out_port, p->family, &p->via);
	if (neigh == NULL)
		return 0;
	link = atomic_load_explicit(&neigh->link, memory_order_relaxed);
	if (!(link & SL_NEIGH_USABLE))
		return 0;
	if (atomic_load_explicit(&neigh->used, memory_order_relaxed) == 0)
		sl_neigh_wake(w->r->neigh, neigh);
	return link;
}

/* one packet that is no larger than the MTU, off the straight path */
static void send_one(struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh)
{
	uint64_t link = find_link(w, sl_pkt(m), nh);

	/* a connection may be gone before the neighbour has answered */
	if (link == 0)
		sl_pkt(m)->ct = NULL;
	if (link == 0 && w->id == 0)
		sl_neigh_resolve(w, m);
	else if (link == 0)
		sl_handoff(w, m, 0, SL_HANDOFF_RESOLVE);
	else if (neigh_frame_write(w->r, m, link))
		sl_worker_send(w, m);
	else
		sl_drop(w, m, SL_DROP_NO_BUFFER);
}

/* the kernel fragments to the path's MTU, what it had joined not beyond its largest fragment */
static uint16_t fragment_size(const struct sl_pkt *p, const struct sl_nexthop *nh)
{
	return p->frag_max != 0 ? RTE_MIN(p->frag_max, nh->mtu) : nh->mtu;
}

/* a copy that had to be cut is refused instead, to the packet's sender */
static bool refuse_copy(struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);

	if (!(p->flags & SL_PKT_COPY))
		return false;
	if (p->family == SL_AF_INET)
		sl_icmp4_error(w, m, ICMP_DEST_UNREACH, ICMP_FRAG_NEEDED, p->nh->mtu);
	else if (p->l3_len > p->nh->mtu)
		sl_icmp6_error(w, m, ICMP6_PACKET_TOO_BIG, 0, p->nh->mtu);
	else
		return false;
	sl_drop(w, m, SL_DROP_TOO_BIG);
	return true;
}

static void __rte_noinline send_fragments(struct sl_worker *w, struct rte_mbuf *m, uint16_t mtu)
{
	const struct sl_nexthop *nh = sl_pkt(m)->nh;
	struct rte_mbuf *out[FRAGMENTS_MAX];
	unsigned int n;

	if (refuse_copy(w, m))
		return;
	if (sl_pkt(m)->family == SL_AF_INET) {
		n = sl_ip4_fragment(w, m, mtu, out, RTE_DIM(out));
	} else if (sl_pkt(m)->in_port == SL_PORT_HOST || sl_pkt(m)->frag_max != 0) {
		n = sl_ip6_fragment(w, m, mtu, out, RTE_DIM(out));
	} else {
		sl_drop(w, m, SL_DROP_TOO_BIG);
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		send_one(w, out[i], nh);
}

static void __rte_noinline other(struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	uint16_t mtu = fragment_size(p, p->nh);

	if (p->l3_len > mtu)
		send_fragments(w, m, mtu);
	else
		send_one(w, m, p->nh);
}

/* link address for a packet that needs nothing but a header; 0: it needs more */
static inline uint64_t straight(
		struct sl_worker *w, const struct sl_pkt *p, const struct sl_nexthop *nh)
{
	struct sl_neigh *neigh = nh->neigh;
	uint64_t link;

	if (unlikely(p->l3_len > nh->mtu || p->frag_max != 0 || p->l3_off != RTE_ETHER_HDR_LEN))
		return 0;
	if (unlikely(neigh == NULL))
		return find_link(w, p, nh);
	link = atomic_load_explicit(&neigh->link, memory_order_relaxed);
	if (unlikely(!(link & SL_NEIGH_USABLE)
			    || atomic_load_explicit(&neigh->used, memory_order_relaxed) == 0))
		return find_link(w, p, nh);
	return link;
}

/* Frames on the straight path that follow each other to one port are handed over together. */
static unsigned int process(struct sl_worker *w, void *priv __rte_unused, struct rte_mbuf **pkts,
		unsigned int n)
{
	const struct sl_router *r = w->r;
	uint16_t port = SL_PORT_NONE; /* of the frames first .. i - 1 */
	unsigned int first = 0;
	uint64_t tail4 = 0, tail6 = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct sl_pkt *p = sl_pkt(pkts[i]);
		uint64_t link = straight(w, p, p->nh);

		if (i + PREFETCH_AHEAD < n)
			rte_prefetch0(sl_pkt(pkts[i + PREFETCH_AHEAD])->nh);
		if (unlikely(link == 0 || p->out_port != port)) {
			if (i > first)
				sl_worker_send_bulk(w, port, &pkts[first], i - first);
			first = i;
			if (link == 0) {
				first = i + 1;
				other(w, pkts[i]);
				continue;
			}
			port = p->out_port;
			tail4 = neigh_frame_tail(&r->ports[port], SL_AF_INET);
			tail6 = neigh_frame_tail(&r->ports[port], SL_AF_INET6);
		}
		neigh_frame_store(rte_pktmbuf_mtod(pkts[i], uint8_t *), link,
				p->family == SL_AF_INET ? tail4 : tail6);
	}
	if (n > first)
		sl_worker_send_bulk(w, port, &pkts[first], n - first);
	return 0;
}

const struct sl_stage_ops sl_stage_neighbour = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "neighbour",
	.help = "Ethernet header by ARP and ND, fragmentation, to the output port",
	.hooks = SL_HOOK_BIT(SL_HOOK_POSTROUTING),
	.order = SL_ORDER_LAST,
	.process = process,
};
