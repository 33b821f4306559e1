/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * string_gen: packets with payloads of small and large alphabets, and rules that look for pieces of
 * them, whole or slightly wrong, in windows that just hold them or just do not.
 */
#pragma once

#include "frames_priv.h"

#include <stdio.h>

struct string_spec {
	bool v6;
	bool regex; /* now and then an expression that says the same */
	const char *algo;
	unsigned int payload_max; /* bytes behind the UDP header */
};

/* a whole UDP datagram from a host at pa, in one frame however long it is */
void string_frame(struct gen *g, const struct string_spec *s, struct buf *frame);

/* "-m string ..." that is about one of @n frames, which follow each other in memory */
void string_match(struct gen *g, const struct string_spec *s, const struct buf *frames,
		unsigned int n, FILE *out);

/*
 * The datagram as IPv4 or IPv6 fragments that all but the last hold a multiple of 8 bytes.
 *
 * Return: how many, at most @max.
 */
unsigned int string_fragments(
		struct gen *g, const struct buf *frame, struct buf *out, unsigned int max);
