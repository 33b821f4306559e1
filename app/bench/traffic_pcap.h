/* SPDX-License-Identifier: BSD-3-Clause */
/* A capture file as traffic. */
#pragma once

#include "app/bench/traffic.h"

/**
 * traffic_pcap_read() - frames that a router passes on, with our Ethernet addresses
 * @alloc: zeroed memory that lives as long as @out, by @arg; never NULL
 * @why:   on failure a line with the file, what was found and what was expected
 *
 * Left out and counted: what is not of the family, longer than TRAFFIC_SIZE_MAX, cut short, a
 * fragment, at the end of its TTL, or from or to an address that is not routed.
 * Return: 0, -EINVAL.
 */
int traffic_pcap_read(const char *path, bool v6, void *(*alloc)(void *arg, size_t n, size_t size),
		void *arg, struct traffic_pcap *out, char *why, size_t why_size);
