/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The router of tests/lib/router_fixture.h with connection tracking in its pipeline. A client at
 * lan, 198.51.100.2, talks to a server at wan, 192.0.2.2.
 */
#pragma once

#include "conntrack/proto.h"
#include "tests/lib/router_fixture.h"

#define CR_FIN 0x01
#define CR_SYN 0x02
#define CR_RST 0x04
#define CR_ACK 0x10

enum cr_host {
	CR_CLIENT,
	CR_SERVER,
};

/* once a process; with room for so many connections, all workers together */
void cr_start(unsigned int n_workers, uint32_t max);

/* connections over all workers, and what the workers have counted */
unsigned int cr_count(void);
struct ct_stats cr_stats(void);

/* the connection whose first packet had this source port or id; NULL: none */
const struct ct_entry *cr_entry(uint16_t port);
/* its state as text ("" without one), and seconds that are left; 0 if it is not there */
const char *cr_state(uint16_t port);
uint32_t cr_seconds(uint16_t port);

/* the frames; the client's port is @port, the server's 80. Worker @w gets them */
extern unsigned int cr_worker;
void cr_tcp(enum cr_host from, uint16_t port, uint8_t flags, uint32_t seq, uint32_t ack,
		uint32_t len);
void cr_udp(enum cr_host from, uint16_t port, uint32_t len);
void cr_echo(enum cr_host from, uint16_t id, uint8_t type);
