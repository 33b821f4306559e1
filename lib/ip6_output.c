/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv6 packets of the router's own: route, header, checksum. The flow label is 0: the kernel puts
 * a keyed hash there (auto_flowlabels), which says nothing to anybody else.
 */
#include "lib/ip6.h"
#include "lib/router.h"

#define L3_OFF RTE_ETHER_HDR_LEN
#define L4_OFF (L3_OFF + IP6_HDR_LEN)

const struct sl_nexthop *ip6_own_route(const struct sl_worker *w, const struct ip6_own *o)
{
	bool scoped = ip6_is_link_local(&o->dst) || ip6_is_multicast(&o->dst);
	struct sl_route_key key = {
		.family = SL_AF_INET6,
		.proto = o->proto,
		.in_port = SL_PORT_HOST,
		.out_port = scoped ? o->port : SL_PORT_NONE,
		.dst = o->dst,
		.src = o->src,
	};
	const struct sl_nexthop *nh = sl_net_route(w->net, &key);

	return nh != NULL && nh->type == SL_ROUTE_UNICAST ? nh : NULL;
}

struct rte_mbuf *ip6_own_alloc(struct sl_worker *w, uint32_t len, void **l4)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w->r->pool);
	uint8_t *frame;

	if (m == NULL)
		return NULL;
	frame = (void *)rte_pktmbuf_append(m, (uint16_t)(L4_OFF + len));
	if (frame == NULL) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memset(sl_pkt(m), 0, sizeof(struct sl_pkt));
	memset(frame, 0, L4_OFF + len);
	*l4 = frame + L4_OFF;
	return m;
}

bool ip6_own_append(struct sl_worker *w, struct rte_mbuf *own, const struct rte_mbuf *m,
		uint32_t off, uint32_t len)
{
	struct rte_mbuf *seg = rte_pktmbuf_lastseg(own);

	while (len > 0) {
		uint32_t n = RTE_MIN(len, (uint32_t)rte_pktmbuf_tailroom(seg));

		if (n == 0) {
			struct rte_mbuf *next = rte_pktmbuf_alloc(w->r->pool);

			if (next == NULL)
				return false;
			seg->next = next;
			own->nb_segs++;
			seg = next;
			continue;
		}
		if (!sl_pkt_copy(m, off, n, rte_pktmbuf_mtod_offset(seg, void *, seg->data_len)))
			return false;
		seg->data_len = (uint16_t)(seg->data_len + n);
		own->pkt_len += n;
		off += n;
		len -= n;
	}
	return true;
}

static uint16_t checksum(const struct rte_mbuf *m, uint8_t proto)
{
	uint32_t len = m->pkt_len - L4_OFF;
	uint32_t sum = (uint32_t)sl_csum_bytes(m, L4_OFF, len)
			+ sl_csum_pseudo(sl_pkt((struct rte_mbuf *)(uintptr_t)m), proto, len);

	return (uint16_t) ~((sum & 0xffff) + (sum >> 16));
}

void ip6_own_send(struct sl_worker *w, struct rte_mbuf *m, const struct ip6_own *o,
		const struct sl_nexthop *nh, unsigned int csum_off)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	struct rte_ipv6_hdr *ip = (void *)(frame + L3_OFF);
	struct sl_pkt *p = sl_pkt(m);
	uint16_t csum;

	ip->vtc_flow = rte_cpu_to_be_32(6U << 28 | (uint32_t)o->traffic_class << 20);
	ip->payload_len = rte_cpu_to_be_16((uint16_t)(m->pkt_len - L4_OFF));
	ip->proto = o->proto;
	ip->hop_limits = o->hop_limit != 0 ? o->hop_limit
					   : (uint8_t)w->net->ports[nh->port].sysctl.hop_limit;
	memcpy(ip->src_addr, &o->src, sizeof(o->src));
	memcpy(ip->dst_addr, &o->dst, sizeof(o->dst));
	memset(frame + L4_OFF + csum_off, 0, sizeof(csum));
	memset(p, 0, sizeof(*p));
	sl_parse6_fill(m, L3_OFF);
	csum = checksum(m, o->proto);
	/* a reset's is left to skb_checksum_help(), which sends no 0; ICMPv6's is not */
	if (csum == 0 && o->proto == IPPROTO_TCP)
		csum = UINT16_MAX;
	memcpy(frame + L4_OFF + csum_off, &csum, sizeof(csum));
	p->nh = nh;
	p->out_port = nh->port;
	p->via = nh->family == SL_AF_NONE ? o->dst : nh->gateway;
	if (o->about != NULL)
		sl_pkt_attach(p, o->about);
	sl_worker_originate(w, m);
}
