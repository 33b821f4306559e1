/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes packets as pcapng, which tcpdump and Wireshark read: one interface for each port, the
 * time in nanoseconds, and a remark on each packet. Written to a file that has something already, a
 * new section follows the others.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sl_router;

struct pcapng_packet {
	unsigned int port; /* 0: the router itself */
	bool out; /* it was to leave by that port, else it had come in there */
	uint64_t time_ns; /* since the epoch */
	uint32_t len; /* of the IP packet */
	uint32_t captured; /* bytes in data */
	const uint8_t *data; /* from the IP header on */
	uint8_t link[14]; /* the Ethernet header in front of it */
	bool whole; /* data begins with the link header: link is not used, nor counted in len */
	const char *remark; /* "": none */
};

/* false: see errno */
bool pcapng_start(FILE *f, const struct sl_router *r);
bool pcapng_write(FILE *f, const struct pcapng_packet *p);

/* at the end: @received packets of a port, of which @missed are not in the file */
bool pcapng_statistics(
		FILE *f, unsigned int port, uint64_t time_ns, uint64_t received, uint64_t missed);
