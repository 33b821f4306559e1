/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * topo: the one router that the kernel and sluice both play in the forwarding test.
 *
 *   pa 9000 - hosts .2 and .3, behind .2: 192.0.2.0/24, 10.64.0.0/10, behind .3: 192.0.3.0/24
 *   pb 9000 - host .2, behind it 198.18.0.0/15
 *   pc 1284 - host .2, behind it 198.51.100.0/24
 *   pd  134 - host .2, behind it 203.0.113.0/24; IPv4 only, as IPv6 needs 1280
 *
 * No default route, so that "no route" can be asked. Every host that may be answered has a
 * permanent neighbour: nothing is left to resolution and its timers. The small MTUs are such that a last fragment
 * could be larger than the others. Redirects are rationed by
 * source (IPv4) or destination (IPv6), and not by a sysctl; so there is a crowd at pa, of which
 * each is used once: 10.0.1.N, 10.0.11.N, fe80::1:N, fd01::1:N.
 */
#pragma once

#include "lab.h"

#include <stdint.h>
#include <stdio.h>

enum topo_port {
	PA,
	PB,
	PC,
	PD,
	TOPO_PORTS_NB,
};

/* the first of 4 million that are routed to pa */
#define TOPO_V4_SOURCES IP4(10, 64, 0, 0)

#define TOPO_CROWD_FIRST 4
#define TOPO_CROWD 240

/* to be called once, before topo_spec is used */
void topo_init(void);

/* "name=value", for both sides; kept. Return: 0 or -EINVAL */
int topo_add_sysctl(const char *setting);

extern const struct lab_spec topo_spec;

#define IP4(a, b, c, d) \
	((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

/* MACs of a router's port and of a host's: 02:00:00:00:00:01 + port, 02:00:00:00:PORT+1:HOST */
void topo_router_mac(unsigned int port, uint8_t mac[6]);
void topo_host_mac(unsigned int port, unsigned int host, uint8_t mac[6]);

/* the same router as a sluice config; the second without sysctls, and routes are its last section */
void topo_write_config(FILE *f);
void topo_write_config_defaults(FILE *f);
void topo_write_sysctls(FILE *f);
