/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One connection between two hosts, A and B, and the protocols over it: packets are tracked as the
 * stage does it, without a table. Whoever sends first is the original direction. Time stands still
 * but for fx_pass().
 */
#pragma once

#include "conntrack/proto.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum fx_host {
	A,
	B,
};

/* what rules would see; the kernel's states */
enum fx_state {
	FX_INVALID,
	FX_NEW,
	FX_ESTABLISHED,
	FX_DROP,
};

struct fx {
	struct ct_shard s;
	struct ct_conf conf;
	struct ct_entry *e; /* what the shard has, used or not */
	bool there; /* it is a connection */
	enum fx_host origin; /* who sent the first packet */
	enum sl_family family;
	bool verify; /* checksums */
	bool bad_csum; /* of what is built next: off by one */
	uint32_t split; /* bytes of each segment of an mbuf, 0: one */
	unsigned int made; /* connections until now */
};

extern struct fx fx;

/* cmocka: EAL once, and a fresh connection for each test. IPv4, checksums are verified. */
int fx_group(void **state);
int fx_setup(void **state);
int fx_teardown(void **state);

void fx_pass(uint32_t ms);

/* a whole IP packet from @from */
enum fx_state fx_ip(enum fx_host from, const void *packet, uint32_t len);
/* a transport header and what is behind it; nothing is filled in */
enum fx_state fx_l4(enum fx_host from, uint8_t proto, const void *l4, uint32_t len);

/* bytes that make the checksum at @at of @l4 right, or off by one with fx.bad_csum */
void fx_seal(enum fx_host from, uint8_t proto, uint8_t *l4, uint32_t len, uint32_t covered,
		unsigned int at);

/* a TCP segment: @flags of "SAFRPUEC" */
struct fx_tcp {
	const char *flags;
	uint32_t seq, ack;
	uint16_t win;
	bool no_win; /* 0; else a @win of 0 stands for 1000 */
	uint16_t len; /* of data */
	const void *opt;
	uint8_t opt_len; /* multiple of 4 */
};
enum fx_state fx_tcp(enum fx_host from, const struct fx_tcp *t);
#define TCP(from, f, s, a, ...) \
	fx_tcp(from, &(const struct fx_tcp){ .flags = f, .seq = s, .ack = a, __VA_ARGS__ })

/* a datagram of @len bytes of data between ports that stay the same */
enum fx_state fx_udp(enum fx_host from, uint32_t len);

const char *fx_tcp_state(void);
/* seconds that are left, rounded */
unsigned int fx_time(void);
bool fx_is(uint32_t status);

/* the connection is in this state, and has that many seconds */
#define assert_tcp(state, seconds)                          \
	do {                                                \
		assert_string_equal(fx_tcp_state(), state); \
		assert_int_equal(fx_time(), seconds);       \
	} while (0)
