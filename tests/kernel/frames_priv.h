/* SPDX-License-Identifier: BSD-3-Clause */
/* what the generators of a class are made of: a random source, a buffer, headers with checksums */
#pragma once

#include "frames.h"
#include "topo.h"

#include <stdbool.h>
#include <stddef.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
/* one of a static list */
#define PICK(g, list) ((list)[gen_below((g), ARRAY_LEN(list))])

struct gen {
	struct frames_case *c;
	uint64_t rng;
	unsigned int k; /* how often this class had its turn: to go through a list */
};

struct buf {
	uint8_t b[FRAMES_LEN_MAX];
	size_t n;
};

struct ip4 {
	uint32_t src;
	uint32_t dst;
	uint16_t id;
	uint16_t frag; /* flags and offset as in the header */
	uint8_t tos;
	uint8_t ttl;
	uint8_t proto;
	struct buf opts; /* filled up with zeroes to a multiple of 4 */
};

struct ip6 {
	uint8_t src[16];
	uint8_t dst[16];
	uint32_t flow; /* traffic class and label */
	uint8_t hops;
	uint8_t proto; /* of what follows the extension headers */
	uint8_t first; /* of the fixed header; proto if there are no extension headers */
	struct buf ext;
};

#define IP4_DF 0x4000
#define IP4_MF 0x2000
#define ETH_LEN 14

uint32_t gen_u32(struct gen *g);
uint32_t gen_below(struct gen *g, uint32_t n);
bool gen_chance(struct gen *g, unsigned int percent);

void put8(struct buf *b, unsigned int v);
void put16(struct buf *b, unsigned int v);
void put32(struct buf *b, uint32_t v);
void put_mem(struct buf *b, const void *p, size_t n);
void put_zero(struct buf *b, size_t n);
void put_random(struct gen *g, struct buf *b, size_t n);
void set16(uint8_t *p, unsigned int v);
unsigned int get16(const uint8_t *p);

/* RFC 1071, folded, not inverted */
uint32_t sum16(const uint8_t *p, size_t n, uint32_t sum);

/*
 * A transport header and a payload of len bytes with the case's number in it, right checksums.
 * For a protocol that has no form here: len random bytes.
 */
void put_l4_v4(struct gen *g, struct buf *b, const struct ip4 *ip, size_t len);
void put_l4_v6(struct gen *g, struct buf *b, const struct ip6 *ip, size_t len);
/* for TCP, UDP and the like: the port that the frame goes to */
void put_l4_ports(struct gen *g, struct buf *b, unsigned int proto, uint32_t pseudo,
		unsigned int dport, size_t len);
uint32_t pseudo_v4(const struct ip4 *ip);
uint32_t pseudo_v6(const struct ip6 *ip);

void ip4_from_a(struct gen *g, struct ip4 *ip); /* from a host at pa to somewhere that is routed */
/*
 * Set the destination. "No route" and its like are rationed for each source, and not by a sysctl of
 * a namespace; so a frame to where there is no route gets a source that no other has.
 */
void ip4_to(struct gen *g, struct ip4 *ip, uint32_t dst);
void put_ip4(struct buf *b, const struct ip4 *ip, const struct buf *l4);
void ip4_fix_sum(uint8_t *ip);
void ip6_from_a(struct gen *g, struct ip6 *ip);
void put_ip6(struct buf *b, const struct ip6 *ip, const struct buf *l4);

void addr6(uint8_t out[16], const char *text);

/* a frame from host .2 of the port to the router's MAC */
void put_eth(struct buf *b, unsigned int port, unsigned int ethertype);
void gen_add(struct gen *g, unsigned int port, const struct buf *b);
void gen_send_v4(struct gen *g, unsigned int port, const struct ip4 *ip, const struct buf *l4);
void gen_send_v6(struct gen *g, unsigned int port, const struct ip6 *ip, const struct buf *l4);

extern const uint8_t gen_protos_v4[];
extern const uint8_t gen_protos_v6[];
#define GEN_PROTOS_NB 11

struct gen_class {
	const char *name;
	void (*make)(struct gen *g);
};

/* each list ends at a NULL name */
extern const struct gen_class gen_v4_header[];
extern const struct gen_class gen_v4_options[];
extern const struct gen_class gen_v4_own[];
extern const struct gen_class gen_v6_header[];
extern const struct gen_class gen_v6_ext[];
extern const struct gen_class gen_v6_own[];
extern const struct gen_class gen_arp[];
extern const struct gen_class gen_zero[];
extern const struct gen_class gen_big[];
