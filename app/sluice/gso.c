/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/gso.h"

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <errno.h>
#include <string.h>

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4 /* headers before Linux 6.2 */
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define UDP_CHECKSUM_OFFSET offsetof(struct rte_udp_hdr, dgram_cksum)

/* one's complement: @sum without @out and with @in */
static uint16_t sum_replace(uint16_t sum, uint16_t out, uint16_t in)
{
	uint32_t s = (uint32_t)sum + (uint16_t)~out + in;

	s = (s & 0xffff) + (s >> 16);
	return (uint16_t)((s & 0xffff) + (s >> 16));
}

bool gso_complete_checksum(uint8_t *frame, uint32_t len, const struct virtio_net_hdr *vh)
{
	uint32_t field = (uint32_t)vh->csum_start + vh->csum_offset;
	uint16_t sum;

	if (vh->csum_start >= len || field + 2 > len)
		return false;
	sum = (uint16_t)~rte_raw_cksum(frame + vh->csum_start, len - vh->csum_start);
	/* UDP: 0 means none; TCP's sum may be 0, but 0xffff says the same there */
	if (sum == 0 && vh->csum_offset == UDP_CHECKSUM_OFFSET)
		sum = 0xffff;
	memcpy(frame + field, &sum, sizeof(sum));
	return true;
}

/* where the IP header starts, over one or two tags; 0 if there is none within @l4_off */
static uint16_t find_l3(const uint8_t *frame, uint16_t l4_off, uint16_t *ether_type)
{
	uint16_t off = RTE_ETHER_HDR_LEN;

	while (off + sizeof(struct rte_ipv4_hdr) <= l4_off) {
		uint16_t type_be;

		memcpy(&type_be, frame + off - 2, sizeof(type_be));
		*ether_type = rte_be_to_cpu_16(type_be);
		if (*ether_type == RTE_ETHER_TYPE_IPV4 || *ether_type == RTE_ETHER_TYPE_IPV6)
			return off;
		if (*ether_type != RTE_ETHER_TYPE_VLAN && *ether_type != RTE_ETHER_TYPE_QINQ)
			return 0;
		off += RTE_VLAN_HLEN;
	}
	return 0;
}

int gso_start(struct gso *g, const uint8_t *frame, uint32_t len, const struct virtio_net_hdr *vh)
{
	uint8_t type = vh->gso_type & (uint8_t)~VIRTIO_NET_HDR_GSO_ECN;
	struct gso s = { .frame = frame, .len = len, .l4_off = vh->csum_start };
	uint16_t ether_type = 0;
	uint16_t l4_len;

	s.tcp = type == VIRTIO_NET_HDR_GSO_TCPV4 || type == VIRTIO_NET_HDR_GSO_TCPV6;
	if (!s.tcp && type != VIRTIO_NET_HDR_GSO_UDP_L4)
		return -EINVAL;
	l4_len = s.tcp ? sizeof(struct rte_tcp_hdr) : sizeof(struct rte_udp_hdr);
	if ((vh->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) == 0 || vh->gso_size == 0
			|| (uint32_t)s.l4_off + l4_len > len)
		return -EINVAL;
	s.l3_off = find_l3(frame, s.l4_off, &ether_type);
	if (s.l3_off == 0)
		return -EINVAL;
	s.ip6 = ether_type == RTE_ETHER_TYPE_IPV6;
	if (s.ip6 && s.l3_off + sizeof(struct rte_ipv6_hdr) > s.l4_off)
		return -EINVAL;
	if (s.tcp) {
		const struct rte_tcp_hdr *tcp = (const void *)(frame + s.l4_off);

		l4_len = (uint16_t)((tcp->data_off >> 4) * 4);
		if (l4_len < sizeof(*tcp))
			return -EINVAL;
	}
	if ((uint32_t)s.l4_off + l4_len >= len)
		return -EINVAL;
	s.headers = (uint16_t)(s.l4_off + l4_len);
	s.size = vh->gso_size;
	*g = s;
	return 0;
}

static void fix_ip(const struct gso *g, uint8_t *buf, uint32_t len)
{
	uint8_t *l3 = buf + g->l3_off;

	if (g->ip6) {
		struct rte_ipv6_hdr *ip = (void *)l3;

		ip->payload_len = rte_cpu_to_be_16(
				(uint16_t)(len - g->l3_off - sizeof(struct rte_ipv6_hdr)));
	} else {
		struct rte_ipv4_hdr *ip = (void *)l3;

		ip->total_length = rte_cpu_to_be_16((uint16_t)(len - g->l3_off));
		ip->packet_id = rte_cpu_to_be_16(
				(uint16_t)(rte_be_to_cpu_16(ip->packet_id) + g->index));
		ip->hdr_checksum = 0;
		/* with options: the header may be longer than 20 bytes */
		ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, (size_t)(g->l4_off - g->l3_off));
	}
}

static void fix_tcp(const struct gso *g, uint8_t *buf, uint32_t len, bool last)
{
	struct rte_tcp_hdr *tcp = (void *)(buf + g->l4_off);
	uint16_t whole_be = rte_cpu_to_be_16((uint16_t)(g->len - g->l4_off));
	uint16_t piece_be = rte_cpu_to_be_16((uint16_t)(len - g->l4_off));

	tcp->sent_seq = rte_cpu_to_be_32(rte_be_to_cpu_32(tcp->sent_seq) + g->done);
	if (!last)
		tcp->tcp_flags &= (uint8_t) ~(RTE_TCP_FIN_FLAG | RTE_TCP_PSH_FLAG);
	if (g->index > 0)
		tcp->tcp_flags &= (uint8_t)~RTE_TCP_CWR_FLAG;
	tcp->cksum = sum_replace(tcp->cksum, whole_be, piece_be);
	tcp->cksum = (uint16_t)~rte_raw_cksum(tcp, len - g->l4_off);
}

static void fix_udp(const struct gso *g, uint8_t *buf, uint32_t len)
{
	struct rte_udp_hdr *udp = (void *)(buf + g->l4_off);
	uint16_t whole_be = udp->dgram_len;

	udp->dgram_len = rte_cpu_to_be_16((uint16_t)(len - g->l4_off));
	udp->dgram_cksum = sum_replace(udp->dgram_cksum, whole_be, udp->dgram_len);
	udp->dgram_cksum = (uint16_t)~rte_raw_cksum(udp, len - g->l4_off);
	if (udp->dgram_cksum == 0)
		udp->dgram_cksum = 0xffff;
}

uint32_t gso_next(struct gso *g, uint8_t *buf)
{
	uint32_t payload;
	uint32_t len;
	bool last;

	if (g->frame == NULL)
		return 0;
	payload = g->len - g->headers - g->done;
	last = payload <= g->size;
	if (!last)
		payload = g->size;
	len = g->headers + payload;
	memcpy(buf, g->frame, g->headers);
	memcpy(buf + g->headers, g->frame + g->headers + g->done, payload);
	fix_ip(g, buf, len);
	if (g->tcp)
		fix_tcp(g, buf, len, last);
	else
		fix_udp(g, buf, len);
	g->done += payload;
	g->index++;
	if (last)
		g->frame = NULL;
	return len;
}
