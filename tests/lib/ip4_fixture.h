/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A router of which only the IP layer is real: frames go through parse, route and forward or host by
 * hand, what it sends is kept. wan 10.0.1.1/24, lan 10.0.2.1/24, dmz 10.0.3.1/24 with an MTU of 132
 * and VLAN 7 on wan's link; 192.0.2.0/24 by 10.0.1.2, 198.51.100.0/24 by 10.0.2.2; unreachable
 * 203.0.113.0/24, prohibit 203.0.114.0/24, blackhole 203.0.115.0/24. MACs 02:00:00:00:00:port.
 */
#pragma once

#include "lib/ip.h"
#include "lib/worker.h"
#include "tests/lib/net_fixture.h"

#define FX_OUT_MAX 128

struct fx {
	struct net_fixture net;
	struct sl_worker *w;
	struct sl_link links[4];
	uint16_t vlan_port[4096];
	struct rte_mbuf *out[FX_OUT_MAX]; /* forwarded, fragments, own packets */
	unsigned int n_out;
	unsigned int arp, handed, taken6; /* given to others */
};

extern struct fx fx;

/* EAL and pool once; a router with everything at its default. Return: 0 (for cmocka) */
int fx_group_setup(void **state);
int fx_setup(void **state);
int fx_teardown(void **state);
/* switches are set between these two */
void fx_begin(void);
void fx_build(void);

/* an IPv4 packet as tests write it down; zero fields get what is usual */
struct fx_ip {
	const char *src, *dst; /* 192.0.2.7, 198.51.100.7 */
	uint8_t proto; /* UDP */
	uint8_t ttl; /* 64 */
	bool ttl_zero;
	uint8_t tos;
	uint16_t frag; /* flags and offset, host order */
	const uint8_t *opt;
	uint8_t opt_len; /* multiple of 4 */
	const void *data; /* NULL: len bytes that count up */
	uint16_t len;
};

/* Ethernet and IPv4 header, payload, right checksums of IP; room for 1600 bytes. Return: length */
uint32_t fx_frame(uint16_t port, const struct fx_ip *ip, uint8_t *frame);

/* segments of at most @split bytes, 0: one */
struct rte_mbuf *fx_mbuf(uint16_t port, const void *frame, uint32_t len, uint32_t split);

/* through the whole layer; what is sent is in fx.out. Return: frames sent by it */
unsigned int fx_rx(uint16_t port, struct rte_mbuf *m);
/* build, receive in one segment */
unsigned int fx_send(uint16_t port, const struct fx_ip *ip);

/* forget what was sent */
void fx_reset(void);
/* bytes of a sent packet from its IP header, contiguous */
const uint8_t *fx_ip_of(unsigned int i, uint32_t *len);

/* drops of one reason over all ports */
uint64_t fx_drops(enum sl_drop_reason reason);

/* does every packet of every port have exactly one end, and is every buffer back? */
void fx_assert_balance(void);
