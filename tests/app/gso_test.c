/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/gso.h"

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define TCP_OPTIONS 12

struct packet {
	uint8_t bytes[9100];
	uint32_t len;
	uint16_t l4_off;
	struct virtio_net_hdr vh;
};

static void fill_payload(struct packet *p, uint32_t from, uint32_t payload)
{
	for (uint32_t i = 0; i < payload; i++)
		p->bytes[from + i] = (uint8_t)(i * 7 + i / 251);
	p->len = from + payload;
}

static void put_ip4(struct packet *p, uint8_t proto, uint32_t l4_len)
{
	struct rte_ipv4_hdr *ip = (void *)(p->bytes + RTE_ETHER_HDR_LEN);

	p->bytes[12] = 0x08;
	p->bytes[13] = 0x00;
	ip->version_ihl = 0x45;
	ip->total_length = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) + l4_len));
	ip->packet_id = rte_cpu_to_be_16(0xfffe);
	ip->fragment_offset = rte_cpu_to_be_16(RTE_IPV4_HDR_DF_FLAG);
	ip->time_to_live = 64;
	ip->next_proto_id = proto;
	ip->src_addr = RTE_BE32(0x0a000001);
	ip->dst_addr = RTE_BE32(0x0a010002);
	ip->hdr_checksum = rte_ipv4_cksum(ip);
	p->l4_off = RTE_ETHER_HDR_LEN + sizeof(*ip);
}

static void put_ip6(struct packet *p, uint8_t proto, uint32_t l4_len)
{
	struct rte_ipv6_hdr *ip = (void *)(p->bytes + RTE_ETHER_HDR_LEN);

	p->bytes[12] = 0x86;
	p->bytes[13] = 0xdd;
	ip->vtc_flow = RTE_BE32(0x60000000);
	ip->payload_len = rte_cpu_to_be_16((uint16_t)l4_len);
	ip->proto = proto;
	ip->hop_limits = 64;
	memset(ip->src_addr, 0x20, sizeof(ip->src_addr));
	memset(ip->dst_addr, 0x21, sizeof(ip->dst_addr));
	p->l4_off = RTE_ETHER_HDR_LEN + sizeof(*ip);
}

static uint16_t pseudo_sum(const struct packet *p)
{
	const uint8_t *l3 = p->bytes + RTE_ETHER_HDR_LEN;

	return p->bytes[12] == 0x08 ? rte_ipv4_phdr_cksum((const void *)l3, 0)
				    : rte_ipv6_phdr_cksum((const void *)l3, 0);
}

/* as a sender with offloads leaves it: the sum of the pseudo-header in the checksum field */
static void make_tcp(struct packet *p, bool ip6, uint32_t payload, uint16_t size)
{
	uint32_t l4_len = sizeof(struct rte_tcp_hdr) + TCP_OPTIONS + payload;
	struct rte_tcp_hdr *tcp;

	memset(p, 0, sizeof(*p));
	if (ip6)
		put_ip6(p, IPPROTO_TCP, l4_len);
	else
		put_ip4(p, IPPROTO_TCP, l4_len);
	tcp = (void *)(p->bytes + p->l4_off);
	tcp->src_port = RTE_BE16(1000);
	tcp->dst_port = RTE_BE16(80);
	tcp->sent_seq = RTE_BE32(0xfffffc00);
	tcp->data_off = (sizeof(*tcp) + TCP_OPTIONS) / 4 << 4;
	tcp->tcp_flags = RTE_TCP_ACK_FLAG | RTE_TCP_PSH_FLAG | RTE_TCP_FIN_FLAG | RTE_TCP_CWR_FLAG;
	fill_payload(p, p->l4_off + (uint32_t)sizeof(*tcp) + TCP_OPTIONS, payload);
	tcp->cksum = pseudo_sum(p);
	p->vh = (struct virtio_net_hdr){
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = ip6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4,
		.gso_size = size,
		.csum_start = p->l4_off,
		.csum_offset = offsetof(struct rte_tcp_hdr, cksum),
	};
}

static void assert_checksums(const uint8_t *frame)
{
	const uint8_t *l3 = frame + RTE_ETHER_HDR_LEN;

	if (frame[12] == 0x08) {
		assert_int_equal(rte_raw_cksum(l3, sizeof(struct rte_ipv4_hdr)), 0xffff);
		assert_int_equal(rte_ipv4_udptcp_cksum_verify((const void *)l3,
						 l3 + sizeof(struct rte_ipv4_hdr)),
				0);
	} else {
		assert_int_equal(rte_ipv6_udptcp_cksum_verify((const void *)l3,
						 l3 + sizeof(struct rte_ipv6_hdr)),
				0);
	}
}

/* the pieces of @p carry its payload in order; returns how many they are */
static unsigned int check_tcp_pieces(struct packet *p, uint16_t size)
{
	uint32_t headers = p->l4_off + (uint32_t)sizeof(struct rte_tcp_hdr) + TCP_OPTIONS;
	unsigned int n = 0;
	uint32_t done = 0;
	uint8_t piece[9100];
	struct gso g;
	uint32_t len;

	assert_int_equal(gso_start(&g, p->bytes, p->len, &p->vh), 0);
	while ((len = gso_next(&g, piece)) > 0) {
		const struct rte_tcp_hdr *tcp = (const void *)(piece + p->l4_off);
		bool last = done + len - headers == p->len - headers;

		assert_true(len - headers <= size);
		assert_true(last || len - headers == size);
		assert_int_equal(rte_be_to_cpu_32(tcp->sent_seq), 0xfffffc00U + done);
		assert_int_equal((tcp->tcp_flags & RTE_TCP_FIN_FLAG) != 0, last);
		assert_int_equal((tcp->tcp_flags & RTE_TCP_PSH_FLAG) != 0, last);
		assert_int_equal((tcp->tcp_flags & RTE_TCP_CWR_FLAG) != 0, n == 0);
		assert_memory_equal(piece + headers, p->bytes + headers + done, len - headers);
		if (p->bytes[12] == 0x08) {
			const struct rte_ipv4_hdr *ip = (const void *)(piece + RTE_ETHER_HDR_LEN);

			assert_int_equal(rte_be_to_cpu_16(ip->packet_id), (0xfffe + n) & 0xffff);
			assert_int_equal(rte_be_to_cpu_16(ip->total_length),
					len - RTE_ETHER_HDR_LEN);
		}
		assert_checksums(piece);
		done += len - headers;
		n++;
	}
	assert_int_equal(done, p->len - headers);
	return n;
}

static void test_gso_tcp_makes_whole_segments(void **state __rte_unused)
{
	static const uint32_t payloads[] = { 1, 1448, 1449, 2896, 4000, 8999 };
	static const unsigned int pieces[] = { 1, 1, 2, 2, 3, 7 };
	struct packet p;

	for (unsigned int i = 0; i < RTE_DIM(payloads); i++) {
		for (int ip6 = 0; ip6 < 2; ip6++) {
			make_tcp(&p, ip6 != 0, payloads[i], 1448);
			assert_int_equal(check_tcp_pieces(&p, 1448), pieces[i]);
		}
	}
}

static void test_gso_udp_makes_datagrams(void **state __rte_unused)
{
	struct rte_udp_hdr *udp;
	uint8_t piece[2000];
	unsigned int n = 0;
	struct packet p;
	struct gso g;
	uint32_t len;

	memset(&p, 0, sizeof(p));
	put_ip4(&p, IPPROTO_UDP, sizeof(*udp) + 3000);
	udp = (void *)(p.bytes + p.l4_off);
	udp->src_port = RTE_BE16(53);
	udp->dgram_len = rte_cpu_to_be_16(sizeof(*udp) + 3000);
	fill_payload(&p, p.l4_off + (uint32_t)sizeof(*udp), 3000);
	udp->dgram_cksum = pseudo_sum(&p);
	p.vh = (struct virtio_net_hdr){
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
		.gso_type = VIRTIO_NET_HDR_GSO_UDP_L4,
		.gso_size = 1200,
		.csum_start = p.l4_off,
		.csum_offset = offsetof(struct rte_udp_hdr, dgram_cksum),
	};
	assert_int_equal(gso_start(&g, p.bytes, p.len, &p.vh), 0);
	while ((len = gso_next(&g, piece)) > 0) {
		const struct rte_udp_hdr *u = (const void *)(piece + p.l4_off);

		assert_int_equal(rte_be_to_cpu_16(u->dgram_len), len - p.l4_off);
		assert_checksums(piece);
		n++;
	}
	assert_int_equal(n, 3);
}

static void test_gso_start_refuses_what_does_not_fit(void **state __rte_unused)
{
	struct packet p;
	struct gso g = { .frame = NULL };

	make_tcp(&p, false, 4000, 1448);
	/* cut anywhere in the headers */
	for (uint32_t len = 0; len <= p.l4_off + sizeof(struct rte_tcp_hdr) + TCP_OPTIONS; len++)
		assert_int_equal(gso_start(&g, p.bytes, len, &p.vh), -EINVAL);
	p.vh.gso_size = 0;
	assert_int_equal(gso_start(&g, p.bytes, p.len, &p.vh), -EINVAL);
	p.vh.gso_size = 1448;
	p.vh.gso_type = VIRTIO_NET_HDR_GSO_UDP;
	assert_int_equal(gso_start(&g, p.bytes, p.len, &p.vh), -EINVAL);
	p.vh.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
	p.vh.flags = 0;
	assert_int_equal(gso_start(&g, p.bytes, p.len, &p.vh), -EINVAL);
	p.vh.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	p.vh.csum_start = 20; /* inside the IP header */
	assert_int_equal(gso_start(&g, p.bytes, p.len, &p.vh), -EINVAL);
	p.vh.csum_start = p.l4_off;
	p.bytes[p.l4_off + 12] = 0x40; /* TCP header of 16 bytes */
	assert_int_equal(gso_start(&g, p.bytes, p.len, &p.vh), -EINVAL);
	assert_false(gso_pending(&g));
}

static void test_gso_checksum_is_completed(void **state __rte_unused)
{
	struct packet p;

	make_tcp(&p, false, 100, 1448);
	assert_true(gso_complete_checksum(p.bytes, p.len, &p.vh));
	assert_checksums(p.bytes);
	make_tcp(&p, true, 101, 1448);
	assert_true(gso_complete_checksum(p.bytes, p.len, &p.vh));
	assert_checksums(p.bytes);
}

static void test_gso_udp_checksum_is_never_zero(void **state __rte_unused)
{
	struct virtio_net_hdr vh = { .csum_start = 0, .csum_offset = 6 };
	uint8_t udp[8] = { 0xff, 0xff, 0, 0, 0, 0, 0, 0 };

	/* the sum is 0xffff, so its complement would be zero, which means none */
	assert_true(gso_complete_checksum(udp, sizeof(udp), &vh));
	assert_int_equal(udp[6] << 8 | udp[7], 0xffff);
}

static void test_gso_checksum_offsets_outside_are_refused(void **state __rte_unused)
{
	struct virtio_net_hdr vh = { .csum_start = 10, .csum_offset = 6 };
	uint8_t frame[64] = { 0 };

	assert_false(gso_complete_checksum(frame, 10, &vh));
	assert_false(gso_complete_checksum(frame, 17, &vh));
	assert_true(gso_complete_checksum(frame, 18, &vh));
	vh.csum_start = UINT16_MAX;
	vh.csum_offset = UINT16_MAX;
	assert_false(gso_complete_checksum(frame, sizeof(frame), &vh));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gso_tcp_makes_whole_segments),
		cmocka_unit_test(test_gso_udp_makes_datagrams),
		cmocka_unit_test(test_gso_start_refuses_what_does_not_fit),
		cmocka_unit_test(test_gso_checksum_is_completed),
		cmocka_unit_test(test_gso_udp_checksum_is_never_zero),
		cmocka_unit_test(test_gso_checksum_offsets_outside_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
