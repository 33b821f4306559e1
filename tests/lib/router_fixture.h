/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole router in a test: nothing replaced but the devices. Ports, in the order of their ids:
 *
 *   wan  192.0.2.1/24   2001:db8::1/64     default routes by 192.0.2.2 and 2001:db8::2
 *   lan  198.51.100.1/24 2001:db8:1::1/64  MTU 9000
 *   tag  203.0.113.1/24  2001:db8:5::1/64  VLAN 5 on lan's link
 *
 * Host .2 or ::2 of each network is a known neighbour, 02:00:00:00:NN:02 with the port's id as NN;
 * everybody else has to be asked for.
 */
#pragma once

#include "lib/router.h"

#include <netinet/in.h>

enum {
	RF_WAN = 1,
	RF_LAN = 2,
	RF_TAG = 3,
};

#define RF_OUT_MAX 256
#define RF_FRAME_MAX 16384

/* a frame that left, without a VLAN tag as little as with one: as the device gets it */
struct rf_frame {
	uint16_t port;
	uint32_t len;
	const uint8_t *data; /* until rf_clear() */
};

struct rf {
	struct sl_router *r;
	struct rte_mempool *pool;
	struct rf_frame out[RF_OUT_MAX];
	unsigned int n_out;
	uint64_t lost; /* frames that left when out was full */
};

extern struct rf rf;

/* DPDK and the router with that many workers; once a process. Aborts where it fails. */
void rf_start(unsigned int n_workers);

/* the configuration once more, with stages on top of the router's own */
void rf_apply(const struct sl_stage_spec *specs, unsigned int n_specs);

/**
 * rf_mbuf() - a frame in buffers of the router's pool
 * @segment: bytes of each segment; 0: as few segments as it needs
 */
struct rte_mbuf *rf_mbuf(const void *frame, uint32_t len, uint32_t segment);

/* a frame that a port receives, to its end */
void rf_in(uint16_t port, const void *frame, uint32_t len, uint32_t segment);

/* the same to one of the workers, which does its part; rf_settle() lets all of them finish */
void rf_in_at(unsigned int worker, uint16_t port, const void *frame, uint32_t len,
		uint32_t segment);
void rf_settle(void);

/* time goes by, timers run */
void rf_pass(uint64_t ns);

/* the same in one leap, for days */
void rf_jump(uint64_t ns);

void rf_clear(void);

/* everything that waits is dropped; true if the balance holds and every buffer is back */
bool rf_is_whole(void);

/* ------------------------------------------------------------------------- frames to send in */

struct rf_ip {
	uint16_t port; /* destination MAC and source MAC are this port's and its neighbour's */
	const char *src, *dst; /* of one family */
	uint8_t proto;
	uint8_t ttl; /* 0: 64 */
	uint16_t id;
	uint16_t frag; /* IPv4: the header's word, host order; IPv6: offset and M of a fragment header */
	bool has_frag_hdr; /* IPv6 */
	const void *payload;
	uint32_t len;
};

/* builds a frame with right lengths and header checksum; returns its length */
uint32_t rf_build(const struct rf_ip *ip, uint8_t *frame);

/* build and rf_in() */
void rf_send(const struct rf_ip *ip);

/* payload of an ICMP or ICMPv6 message or of a UDP datagram made valid: checksum filled in */
void rf_seal(const struct rf_ip *ip, void *payload, unsigned int csum_off);
