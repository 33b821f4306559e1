/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/traffic_pcap.h"

#include "app/sluice/capture.h"

#include <rte_ether.h>
#include <rte_ip.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* neither special nor one of the lab's own networks, whose hosts are not there */
static bool is_routed_v4(rte_be32_t addr_be)
{
	uint32_t addr = rte_be_to_cpu_32(addr_be), first = addr >> 24;

	if (first == 0 || first == 127 || first >= 224)
		return false;
	return addr >> 16 != (10 << 8 | 1) && addr >> 8 != (10 << 16 | 2 << 8);
}

static bool is_routed_v6(const uint8_t *addr)
{
	/* global and unique local ones but fd01::/16, fd02::/16 */
	if ((addr[0] & 0xe0) == 0x20)
		return true;
	return (addr[0] & 0xfe) == 0xfc && !(addr[0] == 0xfd && (addr[1] == 1 || addr[1] == 2));
}

/* bytes of the packet behind Ethernet, 0: not one of those that are passed on */
static size_t packet_len(const uint8_t *at, size_t len, bool v6)
{
	struct rte_ipv4_hdr ip4;
	struct rte_ipv6_hdr ip6;
	size_t total;

	if (v6) {
		if (len < sizeof(ip6))
			return 0;
		memcpy(&ip6, at, sizeof(ip6));
		total = sizeof(ip6) + rte_be_to_cpu_16(ip6.payload_len);
		if (ip6.hop_limits <= 1 || ip6.proto == IPPROTO_FRAGMENT
				|| !is_routed_v6(ip6.src_addr) || !is_routed_v6(ip6.dst_addr))
			return 0;
	} else {
		if (len < sizeof(ip4))
			return 0;
		memcpy(&ip4, at, sizeof(ip4));
		total = rte_be_to_cpu_16(ip4.total_length);
		if (ip4.time_to_live <= 1 || ip4.version_ihl >> 4 != 4
				|| rte_ipv4_hdr_len(&ip4) < sizeof(ip4)
				|| (ip4.fragment_offset & ~RTE_BE16(RTE_IPV4_HDR_DF_FLAG)) != 0
				|| !is_routed_v4(ip4.src_addr) || !is_routed_v4(ip4.dst_addr)
				|| total < rte_ipv4_hdr_len(&ip4))
			return 0;
	}
	return total <= len && total + RTE_ETHER_HDR_LEN <= TRAFFIC_SIZE_MAX ? total : 0;
}

/* our frame from one of the file; its length, 0: left out */
static uint16_t take(const struct capture_frame *f, bool v6, uint8_t *frame)
{
	struct rte_ether_hdr eth;
	size_t len;

	if (f->len < sizeof(eth) || f->len != f->wire_len)
		return 0;
	memcpy(&eth, f->data, sizeof(eth));
	if (eth.ether_type != (v6 ? RTE_BE16(RTE_ETHER_TYPE_IPV6) : RTE_BE16(RTE_ETHER_TYPE_IPV4)))
		return 0;
	len = packet_len(f->data + sizeof(eth), f->len - sizeof(eth), v6);
	if (len == 0)
		return 0;
	rte_ether_unformat_addr(TRAFFIC_IN_MAC, &eth.dst_addr);
	rte_ether_unformat_addr(TRAFFIC_SOURCE_MAC, &eth.src_addr);
	memset(frame, 0, TRAFFIC_SIZE_MIN);
	memcpy(frame, &eth, sizeof(eth));
	memcpy(frame + sizeof(eth), f->data + sizeof(eth), len);
	len += sizeof(eth);
	return (uint16_t)(len < TRAFFIC_SIZE_MIN ? TRAFFIC_SIZE_MIN : len);
}

/* counts frames, and keeps them where @out has room for them */
static int walk(const char *path, bool v6, struct traffic_pcap *out, uint8_t *room, uint32_t *n,
		char *why, size_t why_size)
{
	struct capture_in *in = capture_open(path, why, why_size);
	const struct capture_frame *f;
	uint8_t frame[TRAFFIC_SIZE_MAX];
	int ret = 0;

	if (in == NULL)
		return -EINVAL;
	*n = 0;
	out->left_out = 0;
	while (ret == 0 && (f = capture_peek(in)) != NULL) {
		uint16_t len = *n < TRAFFIC_FLOWS_MAX ? take(f, v6, frame) : 0;

		if (len == 0) {
			out->left_out++;
		} else {
			if (room != NULL) {
				out->frames[*n] = room + (size_t)*n * TRAFFIC_SIZE_MAX;
				out->lens[*n] = len;
				memcpy(room + (size_t)*n * TRAFFIC_SIZE_MAX, frame, len);
			}
			++*n;
		}
		if (!capture_next(in, why, why_size))
			ret = -EINVAL;
	}
	capture_close(in);
	return ret;
}

int traffic_pcap_read(const char *path, bool v6, void *(*alloc)(void *arg, size_t n, size_t size),
		void *arg, struct traffic_pcap *out, char *why, size_t why_size)
{
	uint32_t n;
	int ret = walk(path, v6, out, NULL, &n, why, why_size);

	if (ret < 0)
		return ret;
	if (n == 0) {
		snprintf(why, why_size, "%s: %u frames, none that a router passes on", path,
				out->left_out);
		return -EINVAL;
	}
	out->frames = alloc(arg, n, sizeof(*out->frames));
	out->lens = alloc(arg, n, sizeof(*out->lens));
	return walk(path, v6, out, alloc(arg, n, TRAFFIC_SIZE_MAX), &out->n, why, why_size);
}
