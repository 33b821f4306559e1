/* SPDX-License-Identifier: BSD-3-Clause */
#include "frame.h"

#include <string.h>

static void put8(struct frame *f, unsigned int v)
{
	f->data[f->len++] = (uint8_t)v;
}

static void put16(struct frame *f, unsigned int v)
{
	put8(f, v >> 8);
	put8(f, v & 0xff);
}

static void put32(struct frame *f, uint32_t v)
{
	put16(f, v >> 16);
	put16(f, v & 0xffff);
}

void frame_put(struct frame *f, const void *data, size_t len)
{
	memcpy(f->data + f->len, data, len);
	f->len += len;
}

void frame_eth(struct frame *f, unsigned int port, unsigned int vid, uint16_t type)
{
	const uint8_t macs[12] = { 2, 0, 0, 0, 0, (uint8_t)port, 2, 0, 0, 0, (uint8_t)port, 2 };

	f->len = 0;
	frame_put(f, macs, sizeof(macs));
	if (vid != 0) {
		put16(f, 0x8100);
		put16(f, vid);
	}
	put16(f, type);
}

uint16_t frame_sum_be(const void *data, size_t len, uint32_t sum)
{
	const uint8_t *p = data;
	uint8_t be[2];
	uint16_t v;

	for (size_t i = 0; i < len; i++)
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	be[0] = (uint8_t)(~sum >> 8);
	be[1] = (uint8_t)~sum;
	memcpy(&v, be, sizeof(v));
	return v;
}

void frame_ip4(struct frame *f, uint32_t src, uint32_t dst, uint8_t proto, uint16_t id,
		uint16_t frag, size_t payload)
{
	size_t at = f->len;
	uint16_t sum;

	put16(f, 0x4500);
	put16(f, (unsigned int)(20 + payload));
	put16(f, id);
	put16(f, frag);
	put8(f, 64);
	put8(f, proto);
	put16(f, 0);
	put32(f, src);
	put32(f, dst);
	sum = frame_sum_be(f->data + at, 20, 0);
	memcpy(f->data + at + 10, &sum, sizeof(sum));
}

void frame_udp4(struct frame *f, uint32_t src, uint32_t dst, uint16_t sport, uint16_t frag,
		size_t size)
{
	frame_ip4(f, src, dst, 17, sport, frag, size - 20);
	put16(f, sport);
	put16(f, 9);
	put16(f, (unsigned int)(size - 20));
	put16(f, 0);
	for (size_t i = 28; i < size; i++)
		put8(f, i & 0xff);
}
