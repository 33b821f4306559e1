/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the IPv6 layer share: header numbers, address classes, own packets. */
#pragma once

#include "lib/ip.h"
#include "lib/worker.h"

#include <rte_ip.h>

#include <netinet/in.h>

#define IP6_HDR_LEN 40U
#define IP6_MIN_MTU 1280U
#define IP6_FRAG_HDR_LEN 8U
#define IP6_PLEN_MAX 65535U

/* ICMPv6 types and codes that the router sends */
#define ICMP6_UNREACH 1
#define ICMP6_UNREACH_NO_ROUTE 0
#define ICMP6_UNREACH_PROHIBITED 1
#define ICMP6_UNREACH_SCOPE 2
#define ICMP6_UNREACH_PORT 4
#define ICMP6_TOO_BIG 2
#define ICMP6_TIME 3
#define ICMP6_TIME_HOPS 0
#define ICMP6_TIME_REASM 1
#define ICMP6_PARAM 4
#define ICMP6_PARAM_FIELD 0
#define ICMP6_PARAM_NEXT_HEADER 1
#define ICMP6_PARAM_OPTION 2
#define ICMP6_PARAM_INCOMPLETE 3
#define ICMP6_ECHO 128
#define ICMP6_ECHO_REPLY 129
#define ICMP6_ND_FIRST 133
#define ICMP6_ND_REDIRECT 137

static inline bool ip6_is_any(const struct sl_addr *a)
{
	return (a->q[0] | a->q[1]) == 0;
}

static inline bool ip6_is_loopback(const struct sl_addr *a)
{
	return a->q[0] == 0 && a->q[1] == rte_cpu_to_be_64(1);
}

static inline bool ip6_is_multicast(const struct sl_addr *a)
{
	return a->b[0] == 0xff;
}

static inline bool ip6_is_link_local(const struct sl_addr *a)
{
	return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

/* an extension header that a walk can step over, or "no next header" (the kernel's ipv6_ext_hdr) */
static inline bool ip6_is_extension(uint8_t proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_ROUTING || proto == IPPROTO_FRAGMENT
			|| proto == IPPROTO_AH || proto == IPPROTO_NONE || proto == IPPROTO_DSTOPTS;
}

/* TCP, UDP, UDP-Lite, SCTP, DCCP: ports are the first four bytes of the header */
static inline bool ip6_has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_UDPLITE
			|| proto == IPPROTO_SCTP || proto == IPPROTO_DCCP;
}

/* a walk along the extension headers; see ip6_walk() */
struct ip6_chain {
	uint32_t off; /* of the header that @proto names */
	uint16_t nhoff; /* of the byte that holds @proto, from the IPv6 header */
	uint16_t frag_off; /* bytes; > 0: the walk ended here, @off is behind the fragment header */
	uint8_t proto;
	bool frag_hdr; /* there was a fragment header */
	bool frag; /* and it was not an atomic one */
	bool stop_at_ah; /* given: an authentication header is not stepped over */
	bool skip_routing; /* given: nothing of a routing header is asked for but its length */
};

/**
 * ip6_walk() - step over extension headers from @c->off, @c->proto to the upper layer
 *
 * The kernel's ipv6_find_hdr() for "any": hop-by-hop, routing, destination options, fragment and
 * authentication headers are stepped over, in any order. A header may claim a length beyond the
 * packet: the protocol that it names is taken, its header is not there then.
 * Return: 0, or -EBADMSG if the chain is cut, or a later fragment goes on with an extension header.
 */
int ip6_walk(const struct rte_mbuf *m, struct ip6_chain *c);

/* start of the walk in the packet of @m */
struct ip6_chain ip6_chain_of(const struct sl_pkt *p, const struct rte_ipv6_hdr *ip);

/* lib/ip6_hopopts.c: the option walk, for hop-by-hop and (own addresses) destination options */
enum ip6_options {
	IP6_OPTIONS_HOP,
	IP6_OPTIONS_DEST,
};

/**
 * ip6_options_rx() - check the options header at @off (from the IPv6 header)
 *
 * Sets @len to the header's length. Return: false if the packet was answered and/or dropped.
 */
bool ip6_options_rx(struct sl_worker *w, struct rte_mbuf *m, uint32_t off, enum ip6_options kind,
		uint32_t *len);

/* lib/ip6_output.c: packets of the router's own ---------------------------------------------- */

/* an IPv6 header to be written */
struct ip6_own {
	struct sl_addr src, dst;
	uint8_t proto;
	uint8_t traffic_class;
	uint8_t hop_limit; /* 0: the output port's */
	uint16_t port; /* output port asked for, SL_PORT_NONE: any */
	const struct sl_pkt *about; /* the packet whose connection it belongs to; NULL: none */
};

/**
 * ip6_own_route() - the path of a packet to @o->dst
 *
 * Link-local and group destinations need @o->port. Return: NULL if there is none to send by.
 */
const struct sl_nexthop *ip6_own_route(const struct sl_worker *w, const struct ip6_own *o);

/* an empty buffer with @len bytes behind an IPv6 header to come, which are in @l4; NULL: none */
struct rte_mbuf *ip6_own_alloc(struct sl_worker *w, uint32_t len, void **l4);

/**
 * ip6_own_send() - write the IPv6 header and the transport checksum, and originate
 * @m:        of ip6_own_alloc(), payload chained to it
 * @csum_off: of the checksum field in the transport header
 *
 * Takes @m.
 */
void ip6_own_send(struct sl_worker *w, struct rte_mbuf *m, const struct ip6_own *o,
		const struct sl_nexthop *nh, unsigned int csum_off);

/* the first @len bytes of the packet of @m behind @own (a copy, over as many buffers as needed) */
bool ip6_own_append(struct sl_worker *w, struct rte_mbuf *own, const struct rte_mbuf *m,
		uint32_t off, uint32_t len);

/* whether @addr is a subnet-router anycast address of @port (link-local) or of any port */
bool ip6_is_own_anycast(const struct sl_net *net, const struct sl_addr *addr, uint16_t port);

/* whether the router listens to the group @addr on @port: all nodes, all routers, solicited node */
bool ip6_is_own_group(const struct sl_net *net, const struct sl_addr *addr, uint16_t port);

/* lib/ip6_redirect.c: an ICMPv6 redirect for a packet that leaves by its input port, if one is due */
void ip6_redirect(struct sl_worker *w, struct rte_mbuf *m);
