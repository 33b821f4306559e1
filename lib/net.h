/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network as workers see it: addresses of the ports, route tables, policy and switches. Built
 * whole from a configuration, immutable, swapped under RCU.
 */
#pragma once

#include "lib/conf.h"
#include "lib/pkt.h"
#include "lib/sysctl.h"

struct net_group;
struct net_priv;
struct sl_neigh;
struct sl_router;
struct sl_worker;

/* flags of struct sl_nexthop */
/* of an IPv6 route, whose width rations the ICMPv6 errors along it: 0 (/128) to 4 (default) */
#define SL_NEXTHOP_WIDTH(len) ((128U - (len)) / 32 << 8)
#define SL_NEXTHOP_WIDTH_OF(flags) ((flags) >> 8 & 7)
#define SL_NEXTHOP_ANYCAST (1U << 0) /* LOCAL: subnet-router anycast address, no unicast one */

/*
 * Where a route leads; equal-cost paths are several of these in a row. Routes that lead to the same
 * place share one.
 */
struct sl_nexthop {
	uint8_t type; /* enum sl_route_type */
	uint8_t family; /* of the gateway; SL_AF_NONE: the destination is on the link */
	uint16_t port; /* output port; for local routes the port that has the address (0: loopback) */
	uint16_t mtu; /* of the path: the route's or the port's; 65535 for local */
	uint16_t n_paths; /* > 1 only in the first of a group: choose by sl_net_path() */
	uint32_t weight; /* upper bound of this path's share of 2^32 - 1, cumulative */
	uint32_t id; /* index in the net; for counters */
	uint32_t flags; /* SL_NEXTHOP_* */
	struct sl_addr gateway;
	rte_be32_t source4_be; /* IPv4: own packets take this address; 0: not said */
	struct sl_neigh *neigh; /* the gateway's entry, pinned; NULL: find by destination */
	struct net_group *group; /* in the first of a resilient group; NULL: paths by weight */
} __rte_aligned(64);
static_assert(sizeof(struct sl_nexthop) == 64, "a next hop is one cache line");

struct sl_net_port {
	unsigned int n_addr4, n_addr6;
	struct sl_prefix *addr4; /* in the order of the file: the first is the primary one */
	struct sl_prefix *addr6; /* link-local first, always there */
	struct sl_sysctl_port sysctl;
};

struct sl_net {
	struct sl_sysctl sysctl;
	struct sl_net_port ports[SL_PORTS_MAX];
	struct sl_nexthop *nexthops; /* [0] stands for "no route" and has no valid type */
	unsigned int n_nexthops;
	/* the rest is private to lib/net*.c */
	struct net_priv *priv;
};

/* what a route is chosen by */
struct sl_route_key {
	uint8_t family;
	uint8_t proto; /* 0: unknown */
	uint8_t tos;
	rte_be16_t sport_be, dport_be;
	uint16_t in_port; /* SL_PORT_HOST for own packets */
	uint16_t out_port; /* wanted output port, or SL_PORT_NONE (0 is that too) */
	uint32_t mark;
	struct sl_addr dst;
	struct sl_addr src; /* all zero: not chosen yet */
	uint32_t hash; /* chooses among equal paths */
};

/**
 * sl_net_build() - network state from a configuration
 * Local, broadcast, multicast and connected routes follow from the addresses. Return: 0 and *out,
 * or -EINVAL, -ENOMEM with a line in @err that names file, line and column.
 */
int sl_net_build(struct sl_router *r, const struct sl_conf *conf, struct sl_net **out, char *err,
		size_t err_size);
void sl_net_free(struct sl_router *r, struct sl_net *net);

/**
 * sl_net_route() - one look-up through policy and tables
 *
 * With an output port only routes by that port count, and a destination without one is taken to be
 * on its link, as the kernel does for SO_BINDTODEVICE. IPv6 link-local and multicast destinations
 * need an output or input port.
 *
 * Return: the path (never a group; of type UNICAST, LOCAL, BROADCAST, BLACKHOLE, UNREACHABLE or
 * PROHIBIT), or NULL if there is no route.
 */
const struct sl_nexthop *sl_net_route(const struct sl_net *net, const struct sl_route_key *key);

/* as sl_net_route(), before a path of a group is chosen, and by the tables alone: no destination is
 * taken to be on the link of an output port (but for scoped ones of IPv6), nor to be special (IPv4) */
const struct sl_nexthop *sl_net_group(const struct sl_net *net, const struct sl_route_key *key);

/* what the local table alone says of @addr, or NULL; no scoped or special destinations */
const struct sl_nexthop *sl_net_local_route(
		const struct sl_net *net, enum sl_family family, const struct sl_addr *addr);

/* the path of a group for a packet with this hash; @nh itself if it is no group */
const struct sl_nexthop *sl_net_path(const struct sl_nexthop *nh, uint32_t hash);

/* hash of a packet for equal-cost paths by the multipath policy in force */
uint32_t sl_net_flow_hash(const struct sl_net *net, const struct sl_pkt *p);

/* whether @addr is one of the router's own addresses, on any port (IPv6 link-local: on @port) */
bool sl_net_is_local(const struct sl_net *net, enum sl_family family, const struct sl_addr *addr,
		uint16_t port);

/* whether @addr is the broadcast address of a subnet of some port (not 255.255.255.255) */
bool sl_net_is_broadcast4(const struct sl_net *net, rte_be32_t addr_be);

/**
 * sl_net_source() - the source address for an own packet to @dst out of @nh
 *
 * IPv4: the address that a connected route came from, else as inet_select_addr (the port's first
 * primary address with the gateway in its subnet, else its first, else any port's). IPv6: RFC 6724 among the port's and then
 * the router's addresses. Return: false if there is none.
 */
bool sl_net_source(const struct sl_net *net, enum sl_family family, const struct sl_nexthop *nh,
		const struct sl_addr *dst, struct sl_addr *src);

/* verdict of the kernel's source validation for a packet that came in on p->in_port */
enum sl_source_verdict {
	SL_SOURCE_OK,
	SL_SOURCE_MARTIAN,
	SL_SOURCE_RP_FILTER,
};
/* IPv4 only; @onlink: set if the source is directly connected on the input port (for redirects) */
enum sl_source_verdict sl_net_validate_source4(const struct sl_net *net, const struct sl_pkt *p,
		const struct sl_nexthop *dst_nh, bool *onlink);

/* for `sluicectl routes`: every route of every table, in order; returns how many were visited */
unsigned int sl_net_walk(const struct sl_net *net,
		void (*fn)(const struct sl_route_conf *route, const struct sl_nexthop *paths,
				unsigned int n_paths, void *arg),
		void *arg);

/* [worker] once a turn, by worker 0: buckets of resilient groups */
void sl_net_tick(struct sl_worker *w);

/* [control] what rules and paths of @prev have counted, to their equals; after its grace period */
void sl_net_carry_counts(const struct sl_net *net, const struct sl_net *prev);

/* for `sluicectl routes --marks`: the rules in their order, where there are any to choose from */
struct sl_rule_stats {
	uint8_t family;
	uint32_t priority;
	const char *text; /* as `ip rule` says it */
	uint64_t packets; /* that it has decided on */
};
void sl_net_walk_rules(const struct sl_router *r, const struct sl_net *net,
		void (*fn)(const struct sl_rule_stats *rule, void *arg), void *arg);
/* packets that were given one of several paths; buckets of path number @path of a resilient group */
uint64_t sl_net_path_packets(const struct sl_net *net, const struct sl_nexthop *path);
unsigned int sl_net_path_buckets(const struct sl_nexthop *first, unsigned int path);
