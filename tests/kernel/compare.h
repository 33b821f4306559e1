/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compare: two sets of frames, port by port, regardless of order. Every frame is compared byte for
 * byte after cmp_add() has evened out what the kernel does not determine:
 *
 * - the identification of IPv4 datagrams that the router itself makes without DF, which the kernel
 *   draws at random, of their copies, and the header checksum over it;
 * - the identification in fragment headers of the router's own IPv6 packets, likewise;
 * - the time of day in timestamp options and replies, if it is within a second of the frame's time,
 *   and the checksums over it.
 *
 * A checksum is evened out only where it is right, so a wrong one shows.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CMP_NO_CASE UINT32_MAX

struct cmp_frame {
	unsigned int port;
	uint32_t index; /* of the case that caused it, or CMP_NO_CASE */
	uint32_t len;
	bool matched;
	uint64_t time_ns;
	uint8_t *data; /* as it was seen */
	uint8_t *even; /* as it is compared */
};

struct cmp_set {
	struct cmp_frame *v;
	size_t n;
	size_t room;
};

/* @time_ns: realtime clock when the router handled it. Return: 0 or -ENOMEM */
int cmp_add(struct cmp_set *set, unsigned int port, uint32_t index, uint64_t time_ns,
		const uint8_t *data, size_t len);
void cmp_reset(struct cmp_set *set);

/* cmp_match() - set matched in all frames that have a partner; sorts both. Return: how many lack one */
size_t cmp_match(struct cmp_set *a, struct cmp_set *b);
