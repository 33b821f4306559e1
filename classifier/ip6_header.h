/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks for one extension header of an IPv6 packet, for the matches that are about it. */
#pragma once

#include "classifier/ext.h"

/**
 * ip6_header_find() - the first header of kind @kind, the kernel's ipv6_find_hdr()
 * @off: from the start of the frame; set if it is there
 *
 * Headers of other kinds are stepped over; behind a fragment header with an offset there is nothing.
 * Return: whether it is there; false with c->hotdrop if the chain is cut before that is known.
 */
bool ip6_header_find(struct ipt_ctx *c, uint8_t kind, uint32_t *off);

/* @len bytes of a header that was found; false with c->hotdrop if they are not all there */
bool ip6_header_read(struct ipt_ctx *c, uint32_t off, uint32_t len, void *buf);

/* bytes that the header says it has; @h: its first two bytes */
static inline uint32_t ip6_header_len(const uint8_t *h)
{
	return (h[1] + 1U) * 8;
}
