/* SPDX-License-Identifier: BSD-3-Clause */
/* What the IPv4 files of lib/ share among themselves. */
#pragma once

#include "lib/ip.h"

#include <rte_ip.h>

struct sl_worker;

/* bytes of the largest IPv4 header and of its options */
#define IP4_HDR_MAX 60
#define IP4_OPT_MAX 40

/* An IPv4 header with its place in the frame; NULL if it is not whole in the first segment. */
static inline struct rte_ipv4_hdr *ip4_hdr(struct rte_mbuf *m)
{
	return sl_pkt_at(m, sl_pkt(m)->l3_off, sizeof(struct rte_ipv4_hdr));
}

static inline unsigned int ip4_hdr_len(const struct rte_ipv4_hdr *ip)
{
	return (ip->version_ihl & 0xfU) * 4;
}

static inline bool ip4_is_multicast(rte_be32_t addr_be)
{
	return (addr_be & RTE_BE32(0xf0000000)) == RTE_BE32(0xe0000000);
}

static inline bool ip4_is_loopback(rte_be32_t addr_be)
{
	return (addr_be & RTE_BE32(0xff000000)) == RTE_BE32(0x7f000000);
}

/* 255.255.255.255 */
#define IP4_LIMITED_BROADCAST UINT32_MAX

/* checksum of a header whose field is zero or to be ignored; stored by the caller */
uint16_t ip4_hdr_csum(struct rte_ipv4_hdr *ip);

/* lib/ip4_options.c --------------------------------------------------------------------------- */

/* what was found in a header; offsets from its start, 0 = not there */
struct ip4_opts {
	uint8_t len; /* bytes of options */
	uint8_t rr, ts, srr, cipso;
	bool rr_addr; /* the last slot before the pointer of rr wants the output address */
	bool ts_addr, ts_time; /* likewise of ts */
	bool strict; /* srr is a strict one */
	bool hit; /* srr: the packet was for the router, its next hop is in the option */
	bool changed; /* bytes were changed, the header checksum has not followed */
	rte_be32_t first_hop; /* of an option to send: where srr leads first */
};

/* milliseconds since midnight UT, as timestamps carry them */
rte_be32_t ip4_timestamp(const struct sl_worker *w);

/**
 * ip4_options_compile() - check the options of a received packet, enter what can be entered now
 * @o: result; what was found before an error stands in it
 *
 * Return: 0, or the offset of the byte that is wrong, from the start of the IP header.
 */
unsigned int ip4_options_compile(struct sl_worker *w, struct rte_mbuf *m, struct ip4_opts *o);

/* the result of an earlier ip4_options_compile() again, from header and flags */
void ip4_options_recall(struct rte_mbuf *m, struct ip4_opts *o);

/* enter output address and source route of a forwarded packet, mend the checksum */
void ip4_options_forward(struct sl_worker *w, struct rte_mbuf *m);

/**
 * ip4_options_echo() - the options of an answer to @m: source route turned, RR and TS go on
 * @buf: IP4_OPT_MAX bytes, filled with @echo->len bytes
 *
 * Return: false if the kernel would not answer.
 */
bool ip4_options_echo(struct sl_worker *w, struct rte_mbuf *m, const struct ip4_opts *o,
		uint8_t *buf, struct ip4_opts *echo);

/* options that do not belong into later fragments become no-ops */
void ip4_options_fragment(struct rte_ipv4_hdr *ip);

/* lib/ip4_output.c: packets of the router's own ------------------------------------------------ */

/* an answer to a received packet */
struct ip4_answer {
	rte_be32_t src_be; /* 0: chosen by the route */
	rte_be32_t dst_be;
	uint8_t proto;
	uint8_t tos;
	rte_be16_t sport_be, dport_be; /* as far as rules of the policy may ask */
	bool df; /* DF and id 0, else a random id */
	uint32_t hash; /* chooses among equal paths */
	const struct sl_pkt *about; /* the packet whose connection it belongs to; NULL: none */
	const struct sl_nexthop *nh; /* filled by ip4_answer_route() */
	struct ip4_opts opts;
	uint8_t opt[IP4_OPT_MAX];
};

/* the address that a packet to @nh and @dst_be would be sent from; 0: none */
rte_be32_t ip4_source(struct sl_worker *w, const struct sl_nexthop *nh, rte_be32_t dst_be);

/* the address by which the sender of @m should know the router (fib_compute_spec_dst) */
rte_be32_t ip4_spec_dst(struct sl_worker *w, const struct sl_pkt *p);

/* what the destination of a packet is to the router */
enum ip4_dst {
	IP4_DST_LOCAL,
	IP4_DST_GROUP, /* broadcast or multicast */
	IP4_DST_OTHER,
};
enum ip4_dst ip4_classify(const struct sl_worker *w, const struct sl_pkt *p);

/* Return: false if there is no way, or only to the router itself. */
bool ip4_answer_route(struct sl_worker *w, struct ip4_answer *a);

/* a buffer for @len bytes of payload, room for all headers in front of them; NULL: none */
struct rte_mbuf *ip4_answer_alloc(struct sl_worker *w, uint16_t len);

/* header in front of the payload that is @m, and away */
void ip4_answer_send(struct sl_worker *w, struct ip4_answer *a, struct rte_mbuf *m);

/* lib/icmp4.c --------------------------------------------------------------------------------- */

/* whether messages of this type are errors, which beget no errors */
bool icmp4_is_error(uint8_t type);

/* sl_icmp4_error() where the options have just been compiled */
bool icmp4_error_opts(struct sl_worker *w, struct rte_mbuf *m, uint8_t type, uint8_t code,
		uint32_t info, const struct ip4_opts *o);
