/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames whose sender left work to hardware: L4 checksums to complete, and segments of up to 64 kB
 * to cut to the size that the sender asked for. The kernel says in a virtio_net_hdr what is owed.
 *
 * Cutting follows the kernel's own segmentation: every piece gets the headers of the whole, IPv4
 * ids count up, TCP sequence numbers go on by the size of a piece, FIN and PSH stay on the last and
 * CWR on the first piece.
 *
 * Example: TCP, 54 bytes of headers, 4,000 bytes of payload, gso_size 1448 make frames of 1502,
 * 1502 and 1158 bytes.
 */
#pragma once

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gso {
	const uint8_t *frame; /* NULL: nothing is pending */
	uint32_t len;
	uint32_t done; /* bytes of payload that went out */
	uint16_t l3_off;
	uint16_t l4_off;
	uint16_t headers; /* bytes up to the payload */
	uint16_t size; /* payload of a piece */
	uint16_t index; /* of the next piece */
	bool ip6;
	bool tcp; /* else UDP */
};

/**
 * gso_complete_checksum() - fill in the checksum that @vh says is owed
 *
 * The field holds the sum of the pseudo-header. Return: false if the offsets lie outside.
 */
bool gso_complete_checksum(uint8_t *frame, uint32_t len, const struct virtio_net_hdr *vh);

/**
 * gso_start() - begin to cut @frame, which stays in place and unchanged until the end
 *
 * Return: 0, or -EINVAL if the headers do not fit what @vh says or the kind is not one of TCP over
 * IPv4, TCP over IPv6 and UDP.
 */
int gso_start(struct gso *g, const uint8_t *frame, uint32_t len, const struct virtio_net_hdr *vh);

/* the next piece to @buf (g->headers + g->size bytes are enough); 0: there is none any more */
uint32_t gso_next(struct gso *g, uint8_t *buf);

static inline bool gso_pending(const struct gso *g)
{
	return g->frame != NULL;
}
