/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/traffic.h"

#include "lib/addr.h"

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_udp.h>

#include <string.h>

#define FLOWS_PER_ADDRESS 16384 /* source ports from 1024 on */
#define FIRST_PORT 1024
#define DISCARD_PORT 9

static void put_mac(const char *text, struct rte_ether_addr *to)
{
	struct rte_ether_addr mac = { 0 };

	rte_ether_unformat_addr(text, &mac);
	*to = mac;
}

static void put_v4(const struct traffic *t, uint32_t flow, uint8_t *at, uint16_t len)
{
	struct rte_ipv4_hdr ip = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16((uint16_t)(len + sizeof(ip))),
		.time_to_live = t->ttl,
		.next_proto_id = IPPROTO_UDP,
	};
	struct sl_addr dst;

	sl_addr_parse(TRAFFIC_SINK_V4, &dst);
	ip.dst_addr = dst.v4;
	ip.src_addr = rte_cpu_to_be_32(RTE_IPV4(10, 1, 0, 2) + flow / FLOWS_PER_ADDRESS);
	ip.hdr_checksum = rte_ipv4_cksum(&ip);
	memcpy(at, &ip, sizeof(ip));
}

static void put_v6(const struct traffic *t, uint32_t flow, uint8_t *at, uint16_t len)
{
	struct rte_ipv6_hdr ip = {
		.vtc_flow = RTE_BE32(0x60000000),
		.payload_len = rte_cpu_to_be_16(len),
		.proto = IPPROTO_UDP,
		.hop_limits = t->ttl,
	};
	uint32_t host = rte_cpu_to_be_32(2 + flow / FLOWS_PER_ADDRESS);
	struct sl_addr addr;

	sl_addr_parse(TRAFFIC_SINK_V6, &addr);
	memcpy(&ip.dst_addr, &addr, sizeof(addr));
	sl_addr_parse("fd01::", &addr);
	addr.w[3] = host;
	memcpy(&ip.src_addr, &addr, sizeof(addr));
	memcpy(at, &ip, sizeof(ip));
}

void traffic_frame(const struct traffic *t, uint32_t flow, uint8_t *frame)
{
	size_t ip_len = t->v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	uint16_t udp_len = (uint16_t)(t->size - sizeof(struct rte_ether_hdr) - ip_len);
	struct rte_ether_hdr eth = {
		.ether_type = t->v6 ? RTE_BE16(RTE_ETHER_TYPE_IPV6) : RTE_BE16(RTE_ETHER_TYPE_IPV4),
	};
	struct rte_udp_hdr udp = {
		.src_port = rte_cpu_to_be_16((uint16_t)(FIRST_PORT + flow % FLOWS_PER_ADDRESS)),
		.dst_port = RTE_BE16(DISCARD_PORT),
		.dgram_len = rte_cpu_to_be_16(udp_len),
	};
	uint8_t *ip = frame + sizeof(eth);

	put_mac(TRAFFIC_IN_MAC, &eth.dst_addr);
	put_mac(TRAFFIC_SOURCE_MAC, &eth.src_addr);
	memset(frame, 0, t->size);
	memcpy(frame, &eth, sizeof(eth));
	if (t->v6) {
		put_v6(t, flow, ip, udp_len);
		memcpy(ip + ip_len, &udp, sizeof(udp));
		udp.dgram_cksum = rte_ipv6_udptcp_cksum((void *)ip, ip + ip_len);
	} else {
		put_v4(t, flow, ip, udp_len); /* UDP checksum 0: none */
	}
	memcpy(ip + ip_len, &udp, sizeof(udp));
}
