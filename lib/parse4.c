/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 headers of any shape: options, fragments, several segments, everything that is wrong. */
#include "lib/parse4.h"

#include "lib/ip4.h"
#include "lib/router.h"
#include "lib/worker.h"

#include <netinet/in.h>

/* transport header bytes that are made contiguous where a packet has them: the longest of TCP */
#define L4_PULL 60

uint16_t ip4_hdr_csum(struct rte_ipv4_hdr *ip)
{
	ip->hdr_checksum = 0;
	return (uint16_t)~rte_raw_cksum(ip, ip4_hdr_len(ip));
}

/* header flags of struct sl_pkt: what parsing anew has to forget */
#define PKT_IP_FLAGS                                                                  \
	(SL_PKT_FRAG | SL_PKT_FRAG_LATER | SL_PKT_FRAG_HDR | SL_PKT_L4 | SL_PKT_PORTS \
			| SL_PKT_OPTIONS | SL_PKT_DF)

/* ports; the header comes into the first segment, or stays out of reach of sl_pkt_at() */
static void fill_l4(struct rte_mbuf *m)
{
	struct sl_pkt *p = sl_pkt(m);
	uint32_t want = RTE_MIN(p->l4_off + (uint32_t)L4_PULL, m->pkt_len);
	const rte_be16_t *ports;

	if (unlikely(want > m->data_len))
		sl_pkt_pull(m, want);
	ports = sl_pkt_at(m, p->l4_off, 2 * sizeof(*ports));
	if (!parse4_has_ports(p->proto) || ports == NULL)
		return;
	p->flags |= SL_PKT_PORTS;
	p->sport_be = ports[0];
	p->dport_be = ports[1];
}

/* everything of line 0 that stands in the header; link flags and in_port stay */
static void fill4(struct rte_mbuf *m, const struct rte_ipv4_hdr *ip)
{
	struct sl_pkt *p = sl_pkt(m);
	uint16_t frag = rte_be_to_cpu_16(ip->fragment_offset);

	p->src = sl_addr_v4(ip->src_addr);
	p->dst = sl_addr_v4(ip->dst_addr);
	p->sport_be = 0;
	p->dport_be = 0;
	p->family = SL_AF_INET;
	p->proto = ip->next_proto_id;
	p->l3_len = rte_be_to_cpu_16(ip->total_length);
	p->frag_off = (uint16_t)((frag & RTE_IPV4_HDR_OFFSET_MASK) * RTE_IPV4_HDR_OFFSET_UNITS);
	p->l4_off = 0;
	p->flags &= ~PKT_IP_FLAGS;
	p->flags |= SL_PKT_L4;
	if (ip4_hdr_len(ip) > sizeof(*ip))
		p->flags |= SL_PKT_OPTIONS;
	if (frag & RTE_IPV4_HDR_DF_FLAG)
		p->flags |= SL_PKT_DF;
	if (p->frag_off != 0 || frag & RTE_IPV4_HDR_MF_FLAG)
		p->flags |= SL_PKT_FRAG;
	if (p->frag_off != 0) {
		p->flags |= SL_PKT_FRAG_LATER;
		return;
	}
	p->l4_off = (uint16_t)(p->l3_off + ip4_hdr_len(ip));
	fill_l4(m);
}

/* the checks of the header itself; @out: the whole header, contiguous */
static bool check(struct rte_mbuf *m, uint16_t l3_off, struct rte_ipv4_hdr **out)
{
	uint8_t *frame = sl_pkt_pull(m, l3_off + (uint32_t)sizeof(struct rte_ipv4_hdr));
	struct rte_ipv4_hdr *ip;

	if (frame == NULL)
		return false;
	ip = (void *)(frame + l3_off);
	if (ip->version_ihl >> 4 != 4 || ip4_hdr_len(ip) < sizeof(*ip))
		return false;
	frame = sl_pkt_pull(m, l3_off + ip4_hdr_len(ip));
	if (frame == NULL)
		return false;
	*out = (void *)(frame + l3_off);
	return true;
}

static enum sl_drop_reason check_packet(struct rte_mbuf *m, uint16_t mtu, bool segments)
{
	const struct sl_pkt *p = sl_pkt(m);
	struct rte_ipv4_hdr *ip;
	uint32_t len;

	if (!check(m, p->l3_off, &ip))
		return SL_DROP_IP4_HEADER;
	if (rte_raw_cksum(ip, ip4_hdr_len(ip)) != 0xffff)
		return SL_DROP_IP4_CHECKSUM;
	len = rte_be_to_cpu_16(ip->total_length);
	if (segments && (len > mtu || len > m->pkt_len - p->l3_off))
		return SL_DROP_SEGMENT_OVERSIZE;
	if (len > m->pkt_len - p->l3_off || len < ip4_hdr_len(ip))
		return SL_DROP_IP4_LENGTH;
	if (m->pkt_len != p->l3_off + len)
		sl_pkt_trim(m, p->l3_off + len);
	fill4(m, ip);
	return SL_DROP_NB;
}

bool sl_parse4(struct sl_worker *w, struct rte_mbuf *m, bool segments)
{
	struct sl_pkt *p = sl_pkt(m);
	enum sl_drop_reason reason;

	p->out_port = SL_PORT_NONE;
	p->mark = 0;
	reason = check_packet(m, w->r->ports[p->in_port].mtu, segments);
	if (likely(reason == SL_DROP_NB))
		return true;
	sl_drop(w, m, reason);
	return false;
}

bool sl_pkt_parse_ip(struct rte_mbuf *m, uint16_t l3_off)
{
	struct rte_ipv4_hdr *ip;
	const uint8_t *version = sl_pkt_pull(m, l3_off + 1U);

	if (version == NULL)
		return false;
	sl_pkt(m)->l3_off = l3_off;
	if (version[l3_off] >> 4 == SL_AF_INET6)
		return sl_parse6_fill(m, l3_off);
	if (!check(m, l3_off, &ip))
		return false;
	fill4(m, ip);
	return true;
}
