/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames for replays: host N at port P of the router has the MAC 02:00:00:00:P:N. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FRAME_MAX 9100
#define FRAME_IP4(a, b, c, d) \
	((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

struct frame {
	size_t len;
	uint8_t data[FRAME_MAX];
};

/* VLAN @vid (0: no tag) from host 2 of port @port (1..) to the router */
void frame_eth(struct frame *f, unsigned int port, unsigned int vid, uint16_t type);
void frame_put(struct frame *f, const void *data, size_t len);

/* the Internet checksum over data, as it stands in a packet */
uint16_t frame_sum_be(const void *data, size_t len, uint32_t sum);

/* @frag: flags and offset as in the header; the IP header is complete, TTL 64 */
void frame_ip4(struct frame *f, uint32_t src, uint32_t dst, uint8_t proto, uint16_t id,
		uint16_t frag, size_t payload);

/* a whole UDP datagram of @size bytes of IP, without UDP checksum; its payload counts up */
void frame_udp4(struct frame *f, uint32_t src, uint32_t dst, uint16_t sport, uint16_t frag,
		size_t size);
