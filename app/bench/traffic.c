/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/traffic.h"

#include "lib/addr.h"

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define FLOWS_PER_ADDRESS 16384 /* source ports from 1024 on */
#define FIRST_PORT 1024
#define DISCARD_PORT 9
#define SEQ_IN 1000 /* of the first segment each way */
#define SEQ_OUT 5000

const char *const traffic_address_names[] = { "near", "any", "rules", "pcap", NULL };
const char *const traffic_state_names[] = { "none", "established", "new", NULL };

/* simple IMIX: 7 small, 4 middle and 1 long, as far apart as they can be */
static const uint16_t imix[] = { 64, 590, 64, 64, 590, 64, 1514, 64, 590, 64, 590, 64 };

enum segment {
	SEGMENT_SYN,
	SEGMENT_SYN_ACK,
	SEGMENT_ACK,
};

/* what a frame is made of */
struct parts {
	bool v6;
	uint8_t proto;
	uint8_t ttl;
	bool back; /* from the far end */
	enum segment segment;
	struct sl_addr src, dst;
	uint16_t sport, dport;
	uint16_t size;
};

void traffic_override(struct traffic *t, uint32_t flows, uint16_t size)
{
	if (t->addresses == TRAFFIC_PCAP)
		return;
	if (flows > 0)
		t->flows = flows;
	if (size > 0 && !t->imix)
		t->size = size < TRAFFIC_SIZE_MIN_TCP6 && t->v6 && t->tcp ? TRAFFIC_SIZE_MIN_TCP6
									  : size;
}

uint32_t traffic_count(const struct traffic *t)
{
	uint32_t n = RTE_DIM(imix);

	if (t->addresses == TRAFFIC_PCAP)
		return t->pcap->n;
	return t->imix ? (t->flows + n - 1) / n * n : t->flows;
}

bool traffic_is_whole(const struct traffic *t)
{
	return t->addresses == TRAFFIC_PCAP || (t->v6 && t->tcp);
}

bool traffic_is_mixed(const struct traffic *t)
{
	return t->addresses == TRAFFIC_PCAP || t->imix;
}

uint32_t traffic_sources(const struct traffic *t)
{
	return t->addresses == TRAFFIC_NEAR ? (t->flows - 1) / FLOWS_PER_ADDRESS + 1 : 0;
}

static struct sl_addr source(bool v6, uint32_t i)
{
	struct sl_addr addr;

	memset(&addr, 0, sizeof(addr));
	if (v6) {
		sl_addr_parse("fd01::", &addr);
		addr.w[3] = rte_cpu_to_be_32(2 + i);
	} else {
		addr.v4 = rte_cpu_to_be_32(RTE_IPV4(10, 1, 0, 2) + i);
	}
	return addr;
}

void traffic_source(const struct traffic *t, uint32_t i, char *text, size_t size)
{
	struct sl_addr addr = source(t->v6, i);

	inet_ntop(t->v6 ? AF_INET6 : AF_INET, &addr, text, (socklen_t)size);
}

static void put_mac(const char *text, struct rte_ether_addr *to)
{
	struct rte_ether_addr mac = { 0 };

	rte_ether_unformat_addr(text, &mac);
	*to = mac;
}

static void put_ethernet(const struct parts *p, uint8_t *at)
{
	struct rte_ether_hdr eth = {
		.ether_type = p->v6 ? RTE_BE16(RTE_ETHER_TYPE_IPV6) : RTE_BE16(RTE_ETHER_TYPE_IPV4),
	};

	put_mac(p->back ? TRAFFIC_OUT_MAC : TRAFFIC_IN_MAC, &eth.dst_addr);
	put_mac(p->back ? TRAFFIC_SINK_MAC : TRAFFIC_SOURCE_MAC, &eth.src_addr);
	memcpy(at, &eth, sizeof(eth));
}

static void put_v4(const struct parts *p, uint8_t *at, uint16_t len)
{
	struct rte_ipv4_hdr ip = {
		.version_ihl = RTE_IPV4_VHL_DEF,
		.total_length = rte_cpu_to_be_16((uint16_t)(len + sizeof(ip))),
		.time_to_live = p->ttl,
		.next_proto_id = p->proto,
		.src_addr = p->src.v4,
		.dst_addr = p->dst.v4,
	};

	ip.hdr_checksum = rte_ipv4_cksum(&ip);
	memcpy(at, &ip, sizeof(ip));
}

static void put_v6(const struct parts *p, uint8_t *at, uint16_t len)
{
	struct rte_ipv6_hdr ip = {
		.vtc_flow = RTE_BE32(0x60000000),
		.payload_len = rte_cpu_to_be_16(len),
		.proto = p->proto,
		.hop_limits = p->ttl,
	};

	memcpy(&ip.src_addr, &p->src, sizeof(p->src));
	memcpy(&ip.dst_addr, &p->dst, sizeof(p->dst));
	memcpy(at, &ip, sizeof(ip));
}

static uint16_t checksum(const struct parts *p, const uint8_t *ip, const uint8_t *l4)
{
	return p->v6 ? rte_ipv6_udptcp_cksum((const void *)ip, l4)
		     : rte_ipv4_udptcp_cksum((const void *)ip, l4);
}

static void put_tcp(const struct parts *p, const uint8_t *ip, uint8_t *at)
{
	struct rte_tcp_hdr tcp = {
		.src_port = rte_cpu_to_be_16(p->sport),
		.dst_port = rte_cpu_to_be_16(p->dport),
		.sent_seq = rte_cpu_to_be_32(SEQ_IN),
		.data_off = sizeof(tcp) / 4 << 4,
		.tcp_flags = RTE_TCP_SYN_FLAG,
		.rx_win = RTE_BE16(65535),
	};

	switch (p->segment) {
	case SEGMENT_SYN:
		break;
	case SEGMENT_SYN_ACK:
		tcp.sent_seq = rte_cpu_to_be_32(SEQ_OUT);
		tcp.recv_ack = rte_cpu_to_be_32(SEQ_IN + 1);
		tcp.tcp_flags = RTE_TCP_SYN_FLAG | RTE_TCP_ACK_FLAG;
		break;
	case SEGMENT_ACK:
		tcp.sent_seq = rte_cpu_to_be_32(SEQ_IN + 1);
		tcp.recv_ack = rte_cpu_to_be_32(SEQ_OUT + 1);
		tcp.tcp_flags = RTE_TCP_ACK_FLAG;
		break;
	}
	memcpy(at, &tcp, sizeof(tcp));
	tcp.cksum = checksum(p, ip, at);
	memcpy(at, &tcp, sizeof(tcp));
}

static void put_udp(const struct parts *p, uint16_t len, const uint8_t *ip, uint8_t *at)
{
	struct rte_udp_hdr udp = {
		.src_port = rte_cpu_to_be_16(p->sport),
		.dst_port = rte_cpu_to_be_16(p->dport),
		.dgram_len = rte_cpu_to_be_16(len),
	};

	memcpy(at, &udp, sizeof(udp));
	/* IPv4: none */
	if (p->v6)
		udp.dgram_cksum = checksum(p, ip, at);
	memcpy(at, &udp, sizeof(udp));
}

static uint16_t put_frame(const struct parts *p, uint8_t *frame)
{
	size_t ip_len = p->v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr);
	size_t l4_at = RTE_ETHER_HDR_LEN + ip_len;
	uint16_t l4_len = (uint16_t)(p->size - l4_at);
	uint8_t *ip = frame + RTE_ETHER_HDR_LEN;

	for (size_t i = l4_at; i < p->size; i++)
		frame[i] = (uint8_t)('a' + i % 26);
	put_ethernet(p, frame);
	if (p->v6)
		put_v6(p, ip, l4_len);
	else
		put_v4(p, ip, l4_len);
	if (p->proto == IPPROTO_TCP)
		put_tcp(p, ip, frame + l4_at);
	else
		put_udp(p, l4_len, ip, frame + l4_at);
	return p->size;
}

static void near_parts(const struct traffic *t, uint32_t flow, struct parts *p)
{
	p->src = source(t->v6, flow / FLOWS_PER_ADDRESS);
	memset(&p->dst, 0, sizeof(p->dst));
	sl_addr_parse(t->v6 ? TRAFFIC_SINK_V6 : TRAFFIC_SINK_V4, &p->dst);
	p->sport = (uint16_t)(FIRST_PORT + flow % FLOWS_PER_ADDRESS);
	/* one for each address: source NAT need not change a port */
	p->dport = (uint16_t)(DISCARD_PORT + flow / FLOWS_PER_ADDRESS);
	p->proto = t->tcp ? IPPROTO_TCP : IPPROTO_UDP;
}

static void far_parts(const struct traffic *t, uint32_t flow, struct parts *p)
{
	struct acl_flow f;

	if (t->addresses == TRAFFIC_RULES)
		acl_draw(&t->acl, flow, &f);
	else
		acl_draw_any(flow, &f);
	p->src.v4 = rte_cpu_to_be_32(f.src);
	p->dst.v4 = rte_cpu_to_be_32(f.dst);
	p->sport = f.sport;
	p->dport = f.dport;
	p->proto = f.proto;
}

static uint16_t make(const struct traffic *t, uint32_t i, enum segment segment, uint8_t *frame)
{
	struct parts p = { .v6 = t->v6,
		.ttl = t->ttl,
		.segment = segment,
		.size = t->imix ? imix[i % RTE_DIM(imix)] : t->size };

	if (t->addresses == TRAFFIC_NEAR)
		near_parts(t, i % t->flows, &p);
	else
		far_parts(t, i % t->flows, &p);
	return put_frame(&p, frame);
}

uint16_t traffic_frame(const struct traffic *t, uint32_t i, uint8_t *frame)
{
	if (t->addresses == TRAFFIC_PCAP) {
		memcpy(frame, t->pcap->frames[i], t->pcap->lens[i]);
		return t->pcap->lens[i];
	}
	return make(t, i, t->state == TRAFFIC_NEW ? SEGMENT_SYN : SEGMENT_ACK, frame);
}

uint16_t traffic_opening(const struct traffic *t, uint32_t i, uint8_t *frame)
{
	return make(t, i, SEGMENT_SYN, frame);
}

uint16_t traffic_answer(const struct traffic *t, const uint8_t *left, uint8_t *frame)
{
	size_t addr_at = t->v6 ? offsetof(struct rte_ipv6_hdr, src_addr)
			       : offsetof(struct rte_ipv4_hdr, src_addr);
	size_t addr_len = t->v6 ? 16 : 4;
	const uint8_t *ip = left + RTE_ETHER_HDR_LEN;
	const uint8_t *l4 =
			ip + (t->v6 ? sizeof(struct rte_ipv6_hdr) : sizeof(struct rte_ipv4_hdr));
	struct parts p = { .v6 = t->v6,
		.ttl = 64,
		.back = true,
		.segment = SEGMENT_SYN_ACK,
		.proto = t->tcp ? IPPROTO_TCP : IPPROTO_UDP,
		.size = t->size };

	memcpy(&p.dst, ip + addr_at, addr_len);
	memcpy(&p.src, ip + addr_at + addr_len, addr_len);
	p.dport = (uint16_t)(l4[0] << 8 | l4[1]);
	p.sport = (uint16_t)(l4[2] << 8 | l4[3]);
	return put_frame(&p, frame);
}

void traffic_describe(const struct traffic *t, char *text, size_t size)
{
	static const char *const whose[] = {
		[TRAFFIC_NEAR] = "",
		[TRAFFIC_ANY] = " between anybody",
		[TRAFFIC_RULES] = " that rules match",
		[TRAFFIC_PCAP] = "",
	};
	static const char *const what[] = {
		[TRAFFIC_STATELESS] = "",
		[TRAFFIC_ESTABLISHED] = "established ",
		[TRAFFIC_NEW] = "new ",
	};
	char bytes[32];

	snprintf(bytes, sizeof(bytes), "%u B", t->size);
	if (t->addresses == TRAFFIC_PCAP)
		snprintf(text, size, "%u frames of a capture, up to %u B", t->flows, t->size);
	else
		snprintf(text, size, "%s, %s%s%u %sflow%s%s", t->imix ? "IMIX" : bytes,
				t->v6 ? "IPv6, " : "", t->tcp ? "TCP, " : "", t->flows,
				what[t->state], t->flows == 1 ? "" : "s", whose[t->addresses]);
}
