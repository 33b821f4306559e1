/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packets that both sides get, and the small network that they cross:
 *
 *   source 10.1.x.y ports -> [in 10.1.0.1/16  router  out 10.2.0.1/24] -> 10.2.0.2 port 9 and up
 *          fd01::x:y          fd01::1/64              fd02::1/64          fd02::2
 *
 * 10.2.0.3 (fd02::3) is another host there, for rules that send packets elsewhere. Whatever else a
 * packet is for goes to 10.2.0.2 as well, the router's default gateway.
 */
#pragma once

#include "app/bench/acl.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRAFFIC_FLOWS_MAX 1048576U
#define TRAFFIC_SIZE_MIN 64U /* bytes of a frame without its checksum */
#define TRAFFIC_SIZE_MIN_TCP6 74U
#define TRAFFIC_SIZE_MAX 1514U

#define TRAFFIC_IN_MAC "02:00:00:00:00:01"
#define TRAFFIC_OUT_MAC "02:00:00:00:00:02"
#define TRAFFIC_SOURCE_MAC "02:00:00:00:00:98"
#define TRAFFIC_SINK_MAC "02:00:00:00:00:99"
#define TRAFFIC_IN_V4 "10.1.0.1/16"
#define TRAFFIC_OUT_V4 "10.2.0.1/24"
#define TRAFFIC_SINK_V4 "10.2.0.2"
#define TRAFFIC_OTHER_V4 "10.2.0.3"
#define TRAFFIC_IN_V6 "fd01::1/64"
#define TRAFFIC_OUT_V6 "fd02::1/64"
#define TRAFFIC_SINK_V6 "fd02::2"
#define TRAFFIC_OTHER_V6 "fd02::3"

enum traffic_addresses {
	TRAFFIC_NEAR, /* the source's, one port of the sink */
	TRAFFIC_ANY, /* anybody's to anybody */
	TRAFFIC_RULES, /* those that the scenario's rules match */
	TRAFFIC_PCAP, /* of a capture file, with all that it holds */
	TRAFFIC_ADDRESSES_NB,
};

enum traffic_state {
	TRAFFIC_STATELESS,
	TRAFFIC_ESTABLISHED, /* every flow was answered before anything is measured */
	TRAFFIC_NEW, /* every packet opens a connection */
	TRAFFIC_STATE_NB,
};

/* names in their order, NULL at the end */
extern const char *const traffic_address_names[];
extern const char *const traffic_state_names[];

/* frames of a capture file; headers of Ethernet are ours */
struct traffic_pcap {
	uint32_t n;
	uint32_t left_out; /* of another family, too long, a fragment, at the end of its TTL, ... */
	const uint8_t **frames;
	uint16_t *lens;
};

struct traffic {
	bool v6;
	bool tcp;
	bool imix; /* 64, 590 and 1514 bytes, 7:4:1 */
	uint8_t ttl;
	uint16_t size; /* bytes of a frame, of the longest in a mix */
	uint32_t flows; /* packet i belongs to flow i modulo flows */
	enum traffic_addresses addresses;
	enum traffic_state state;
	struct acl acl; /* of TRAFFIC_RULES; the scenario's */
	const struct traffic_pcap *pcap; /* of TRAFFIC_PCAP */
};

/* other flows and another size (0: as they are) than a scenario's, where it leaves the choice */
void traffic_override(struct traffic *t, uint32_t flows, uint16_t size);

/* how many frames there are: packet i is frame i modulo this */
uint32_t traffic_count(const struct traffic *t);

/* whether frames differ behind their first 64 bytes in more than length */
bool traffic_is_whole(const struct traffic *t);
bool traffic_is_mixed(const struct traffic *t);

/* frame @i, at most t->size bytes; what is behind the headers is the same in all (but a capture's) */
uint16_t traffic_frame(const struct traffic *t, uint32_t i, uint8_t *frame);

/* the packet that opens the connection of flow @i, of t->size bytes */
uint16_t traffic_opening(const struct traffic *t, uint32_t i, uint8_t *frame);

/* what the far end answers to the opening that it got as @left, 80 bytes or more; of t->size bytes */
uint16_t traffic_answer(const struct traffic *t, const uint8_t *left, uint8_t *frame);

/* addresses that flows come from: this many from the first on, "10.1.0.2" */
uint32_t traffic_sources(const struct traffic *t);
void traffic_source(const struct traffic *t, uint32_t i, char *text, size_t size);

/* "64 B, 65536 flows" */
void traffic_describe(const struct traffic *t, char *text, size_t size);
