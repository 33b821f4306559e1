/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker without a pipeline, for the tests of neighbours: what leaves is kept, the clock is moved
 * by hand, the edges of lib/ are replaced by the linker (--wrap, see meson.build).
 *
 * Ports 1 and 2 with 10.0.PORT.1/24 (port 1 also 10.0.9.1/24), fd0PORT::1/64 and
 * fe80::ff:fe00:PORT01/64, MACs 02:00:00:00:0PORT:01.
 */
#pragma once

#include "lib/neigh.h"
#include "lib/net.h"
#include "lib/router.h"

#define FAKE_SENT_MAX 8192
#define FAKE_MS 1000000ULL
#define FAKE_S 1000000000ULL

struct fake {
	struct sl_router r;
	struct sl_worker *w; /* the host worker */
	struct sl_net net;
	struct sl_nexthop local, direct[3]; /* what routes lead to */
	struct sl_sysctl_set set;

	/* frames given to sl_worker_send(), in order; own IP packets are sent through the stage */
	struct rte_mbuf *sent[FAKE_SENT_MAX];
	unsigned int n_sent;
	/* own IP packets, not yet sent */
	struct rte_mbuf *output[FAKE_SENT_MAX];
	unsigned int n_output;
	unsigned int n_icmp4, n_icmp6; /* errors sent */
	uint8_t icmp_type, icmp_code; /* of the last one */
	unsigned int n_delivered;
	unsigned int n_handed[SL_HANDOFF_NB];
	uint16_t handed_to;
	struct rte_mbuf *handed;
	unsigned int n_fragmented;
};

extern struct fake fake;

void fake_eal(void); /* once */
void fake_start(uint64_t now_ns);
void fake_stop(void); /* frees, and checks that no buffer is lost */
void fake_reset(void); /* forget what was sent */
void fake_flush(void); /* own packets out through the neighbour stage */
/* move the clock on, timer by timer */
void fake_run(uint64_t ns);

/* an IPv4 or IPv6 packet of @len bytes that came in on port 1 and leaves on port 2 by @via */
struct rte_mbuf *fake_packet(const char *src, const char *via, uint16_t len);
/* give it to the neighbour stage by a route without a gateway */
void fake_forward(struct rte_mbuf *m);
/* a frame received on @port: Ethernet header and @len bytes */
struct rte_mbuf *fake_frame(uint16_t port, uint16_t type, const void *data, uint16_t len);

struct sl_addr fake_addr(const char *text);
void fake_arp(uint16_t port, bool request, bool broadcast, const char *sip, const char *sha,
		const char *tip, const char *tha);
/* ND packet: @flags of an advertisement; @opt bytes of options; checksum and hop limit are right */
struct rte_mbuf *fake_nd(uint16_t port, uint8_t type, const char *src, const char *dst,
		const char *target, uint8_t flags, const void *opt, uint16_t opt_len);
void fake_mac(const char *text, uint8_t *mac);
enum sl_neigh_state fake_state(uint16_t port, const char *addr);
/* frame @i is exactly this; hex, and blanks for people */
void fake_assert_frame(unsigned int i, const char *hex);
unsigned int fake_drops(enum sl_drop_reason reason);
