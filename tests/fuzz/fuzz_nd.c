/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ARP and neighbour discovery, message after message into one table.
 *
 * An input is a list of records: how (HOW_*), where the frame is split into segments, length of the
 * message, message. A message is an ARP header, or an IPv6 source, a destination and an ICMPv6
 * message. At the end no buffer may be lost.
 */
#include "lib/ip.h"
#include "tests/lib/neigh_fake.h"

#include <rte_ip.h>

#define HOW_ND (1U << 0)
#define HOW_CHECKSUM (1U << 1) /* mend it */
#define HOW_BCAST (1U << 2)
#define HOW_SPLIT (1U << 3)
#define HOW_WAIT (1U << 4) /* 1.5 s pass afterwards */
#define HOW_FORWARD (1U << 5) /* a packet to the sender follows */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint16_t nd_frame(uint8_t *frame, const uint8_t *msg, uint16_t len, unsigned int how)
{
	struct rte_ipv6_hdr *ip = (void *)frame;
	uint8_t *icmp = frame + sizeof(*ip);
	uint16_t sum = 0;

	memset(ip, 0, sizeof(*ip));
	len = (uint16_t)(len - 32);
	ip->vtc_flow = RTE_BE32(6U << 28);
	ip->payload_len = rte_cpu_to_be_16(len);
	ip->proto = 58;
	ip->hop_limits = 255;
	memcpy(ip->src_addr, msg, 32);
	memcpy(icmp, msg + 32, len);
	if ((how & HOW_CHECKSUM) && len >= 4) {
		memcpy(icmp + 2, &sum, sizeof(sum));
		sum = rte_ipv6_udptcp_cksum(ip, icmp);
		memcpy(icmp + 2, &sum, sizeof(sum));
	}
	return (uint16_t)(sizeof(*ip) + len);
}

/* bytes of @m behind @at into a segment of their own */
static void split(struct rte_mbuf *m, uint16_t at)
{
	struct rte_mbuf *rest = rte_pktmbuf_alloc(fake.r.pool);
	uint16_t len = (uint16_t)(m->data_len - at);
	void *to = rest != NULL ? rte_pktmbuf_append(rest, len) : NULL;

	if (to == NULL)
		abort();
	memcpy(to, rte_pktmbuf_mtod_offset(m, uint8_t *, at), len);
	rte_pktmbuf_trim(m, len);
	if (rte_pktmbuf_chain(m, rest) < 0)
		abort();
}

static void forward_to(const struct sl_addr *addr, unsigned int how)
{
	struct rte_mbuf *m = fake_packet(how & HOW_ND ? "fd02::2" : "10.0.2.2",
			how & HOW_ND ? "fd01::2" : "10.0.1.2", 60);

	sl_pkt(m)->via = *addr;
	sl_pkt(m)->out_port = 1;
	sl_pkt(m)->nh = &fake.direct[1];
	fake_forward(m);
}

static void receive(const uint8_t *msg, uint16_t len, unsigned int how, uint8_t at)
{
	uint8_t frame[40 + 256];
	struct sl_addr sender = { .q = { 0, 0 } };
	struct rte_mbuf *m;

	if (how & HOW_ND) {
		if (len < 32)
			return;
		memcpy(&sender, msg, sizeof(sender));
		m = fake_frame(1, RTE_ETHER_TYPE_IPV6, frame, nd_frame(frame, msg, len, how));
		sl_pkt_parse_ip(m, RTE_ETHER_HDR_LEN);
		sl_pkt(m)->in_port = 1;
	} else {
		if (len >= 18)
			memcpy(&sender, msg + 14, 4);
		m = fake_frame(1, RTE_ETHER_TYPE_ARP, msg, len);
	}
	if (how & HOW_BCAST)
		sl_pkt(m)->flags |= SL_PKT_LINK_BCAST;
	/* the parser leaves the IP header in one piece */
	if ((how & HOW_SPLIT) && at >= 54 && at < m->data_len)
		split(m, at);
	if (how & HOW_ND)
		sl_neigh_rx_nd(fake.w, m);
	else
		sl_neigh_rx_arp(fake.w, m);
	if (how & HOW_FORWARD)
		forward_to(&sender, how);
	fake_run(how & HOW_WAIT ? 1500 * FAKE_MS : 0);
	fake_reset();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool started;

	if (!started)
		fake_eal();
	started = true;
	fake_start(1000 * FAKE_S);
	fake.net.sysctl.neigh4_max = 8;
	fake.net.sysctl.neigh6_max = 8;
	while (size >= 3) {
		uint16_t len = (uint16_t)RTE_MIN((size_t)data[2], size - 3);

		receive(data + 3, len, data[0], data[1]);
		data += 3 + len;
		size -= 3 + len;
	}
	fake_stop();
	return 0;
}
