/* SPDX-License-Identifier: BSD-3-Clause */
/* What lib/net*.c and the route stage know of a network and nobody else. */
#pragma once

#include "lib/fib.h"
#include "lib/net.h"

/* routes of addresses stand in this table, which every look-up asks first */
#define NET_TABLE_LOCAL 255U
#define NET_TABLE_DEFAULT 253U

#define NET_METRIC6_KERNEL 256U /* of connected IPv6 routes */
#define NET_METRIC6_USER 1024U /* of configured ones without a metric */

/* bits of the filter of own addresses */
#define NET_OWN_BITS 12U

/* one route, whether it is in force or stands behind one of a lower metric */
struct net_route {
	struct sl_prefix to;
	uint8_t type; /* enum sl_route_type */
	bool of_address; /* follows from an address */
	uint16_t mtu; /* as written; 0: the port's */
	uint16_t n_paths;
	uint32_t table;
	uint32_t metric;
	uint32_t nh; /* first of its paths */
	uint32_t order; /* in which it was added */
	struct sl_mark at;
};

struct net_table {
	uint32_t id;
	uint8_t family;
	unsigned int n_routes;
	const struct net_route *routes; /* by prefix, then metric */
	uint8_t min_len; /* routes of shorter prefixes do not count, see is_suppressed() in net_table.c */
	struct sl_fib *fib; /* the local table's routes and, where they say nothing, these */
};

/* one rule of one family */
struct net_rule {
	uint32_t mark, mask;
	struct sl_prefix from, to; /* family SL_AF_NONE: any */
	uint16_t iif, oif; /* SL_PORT_NONE: any */
	uint8_t type; /* enum sl_policy_type */
	uint8_t proto, tos; /* 0: any */
	bool invert;
	struct sl_policy_ports sport, dport;
	const struct net_table *table; /* of SL_POLICY_TABLE; NULL: no routes */
	uint32_t value; /* of BLACKHOLE and its like: the next hop, or SL_FIB_MISS */
	uint32_t target; /* of SL_POLICY_GOTO: number of the rule */
	uint32_t priority;
	uint32_t table_id;
	uint32_t goto_priority;
	uint8_t min_len; /* as in struct sl_policy_conf */
	const struct sl_policy_conf *conf; /* [control] while it is built */
};

/* what a look-up needs to know of a packet beside its addresses, mark and ports of the router */
#define NET_NEEDS_FLOW (1U << 0) /* protocol and ports */
#define NET_NEEDS_TOS (1U << 1)

/* rules that look at nothing but marks are compared eight at a time, see net_rules_by_mark() */
#define NET_MARKS_MAX 16

/* the rules of one family behind the one of the local table, in order */
struct net_rules {
	struct net_rule *v;
	unsigned int n;
	unsigned int needs; /* NET_NEEDS_* */
	unsigned int first_count; /* of the counters of @v */
	bool decide; /* some rule beside main's may decide */
	/* rules that look at marks alone and have a table, while those are all; 0: they are not */
	unsigned int n_marks;
	uint32_t mark[NET_MARKS_MAX] __rte_aligned(64);
	uint32_t mask[NET_MARKS_MAX];
	uint16_t nth[NET_MARKS_MAX]; /* of the rule in @v */
	const struct sl_fib *fib[NET_MARKS_MAX];
};

#define NET_PATHS_MAX 256
#define NET_NO_PATH UINT16_MAX
/* a clock of about a second */
#define NET_BUCKET_TIME(ns) ((uint32_t)((ns) >> 30))

/* a resilient group, see net_group.c */
struct net_group {
	struct net_group *next;
	uint32_t n; /* buckets */
	uint32_t paths; /* next hop of the first path */
	uint16_t n_paths;
	uint64_t idle_ns, unbalanced_ns;
	uint64_t next_ns, unbalanced_since_ns; /* [worker 0] */
	_Atomic uint16_t *path; /* of each bucket; worker 0 writes */
	uint32_t *used[SL_WORKERS_MAX]; /* [worker] when each bucket was; 0: never */
};

/* what a source's own route must be for a packet to go straight */
enum net_reverse {
	NET_REVERSE_NONE, /* not asked */
	NET_REVERSE_PORT, /* unicast by the input port */
	NET_REVERSE_ANY, /* unicast */
};

struct net_priv {
	const struct net_table *main4, *main6; /* always there */
	const struct net_table *local4, *local6; /* always there */
	struct net_route *routes; /* by family, table, prefix, metric */
	unsigned int n_routes;
	struct net_table *tables;
	unsigned int n_tables;
	struct net_rules rules[2]; /* IPv4, IPv6 */
	struct net_group *groups; /* resilient ones */
	/* packets by rule of IPv4, of IPv6, by next hop; NULL: there is nothing to count */
	uint64_t *count[SL_WORKERS_MAX]; /* [worker] */
	uint64_t *count_before; /* [control] what equal rules and paths had before */
	unsigned int n_counts, first_path;
	bool custom_rules4; /* the configuration has rules for IPv4 */
	bool custom_local; /* the configuration puts routes into the local table */
	/* next hops by port: on its link, its own address, its anycast address (0: not forwarding) */
	uint32_t link[SL_PORTS_MAX], own[SL_PORTS_MAX], anycast[SL_PORTS_MAX];
	uint32_t broadcast; /* next hop of 255.255.255.255 */
	/* input ports whose plain packets the route stage decides */
	bool straight4[SL_PORTS_MAX], straight6[SL_PORTS_MAX];
	uint8_t reverse4[SL_PORTS_MAX]; /* enum net_reverse; what it asks there */
	bool any_reverse4;
	/* bit net_own_bit(a) is set if a is an own address or a broadcast address */
	uint64_t own4[(1U << NET_OWN_BITS) / 64] __rte_aligned(64);
};

static inline unsigned int net_own_bit(rte_be32_t addr_be)
{
	return (uint32_t)(addr_be * 0x9e3779b1U) >> (32 - NET_OWN_BITS);
}

static inline bool net_maybe_own4(const struct net_priv *priv, rte_be32_t addr_be)
{
	unsigned int bit = net_own_bit(addr_be);

	return (priv->own4[bit / 64] >> (bit % 64)) & 1;
}

/* a network while it is being made */
struct net_build {
	struct sl_router *r;
	const struct sl_conf *conf;
	struct sl_net *net;
	struct net_priv *priv;
	const struct sl_net *prev; /* in force; NULL at start */
	unsigned int cap_routes, cap_nexthops;
	uint32_t *nh_hash; /* next hops by content; 0 = free */
	unsigned int nh_hash_size;
	char *err;
	size_t err_size;
};

/* net_build.c: "path:line:column: ..."; returns -EINVAL */
int net_error(struct net_build *b, struct sl_mark at, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
/* -ENOMEM and a line that says so */
int net_no_memory(struct net_build *b);
int net_add_route(struct net_build *b, const struct net_route *route);

/* net_nexthop.c: the same @n paths again give the same index; *index is of the first one */
int net_add_nexthops(struct net_build *b, const struct sl_nexthop *paths, unsigned int n,
		uint32_t *index);
int net_pin_gateways(struct net_build *b);
void net_unpin_gateways(struct sl_router *r, struct sl_net *net);

/* net_addr.c, net_routes.c, net_table.c, net_rules.c, net_group.c, net_count.c: the steps of a build, in this order */
int net_build_addresses(struct net_build *b);
int net_build_routes(struct net_build *b);
int net_build_tables(struct net_build *b);
int net_build_rules(struct net_build *b);
int net_build_groups(struct net_build *b);
int net_build_counts(struct net_build *b);
void net_free_rules(struct net_priv *priv);
void net_free_groups(struct net_priv *priv);
void net_free_counts(struct net_priv *priv);

/* net_group.c */
int net_group_create(struct net_build *b, const struct sl_route_conf *c, struct net_group **out);
/* [worker] the path of a flow, which has used its bucket */
const struct sl_nexthop *net_group_path(const struct sl_nexthop *first, uint32_t hash,
		unsigned int worker, uint64_t now_ns);

/* net_table.c */
const struct net_table *net_find_table(
		const struct net_priv *priv, enum sl_family family, uint32_t id);
/* the route of the same prefix, table and metric in another network; NULL: none */
const struct net_route *net_find_route(const struct sl_net *net, const struct net_route *r);
/* the same table without routes of prefixes shorter than @min_len; @t may be NULL, and *out then */
int net_suppress_table(struct net_build *b, const struct net_table *t, unsigned int min_len,
		const struct net_table **out);
/* longest match among the routes that lead out of @port (0: any); NULL, or the path by @port */
const struct sl_nexthop *net_table_search(const struct sl_net *net, const struct net_table *t,
		const struct sl_addr *dst, uint16_t port, uint32_t hash);

/* net_policy.c */
static inline const struct net_rules *net_rules_of(const struct net_priv *priv, uint8_t family)
{
	return &priv->rules[family == SL_AF_INET6];
}

/* protocol, ports and TOS of @p as far as rules ask for them */
void net_fill_key(const struct net_priv *priv, const struct sl_pkt *p, struct sl_route_key *key);

/**
 * net_lookup_from() - the first rule at or behind *nth that decides
 * @nth: in: where to begin; out: number of that rule, or the number of rules
 *
 * Return: index of a next hop, or SL_FIB_MISS.
 */
uint32_t net_lookup_from(
		const struct sl_net *net, const struct sl_route_key *key, unsigned int *nth);
/* the group or path that @key leads to; NULL: none. Not for special destinations. */
const struct sl_nexthop *net_lookup(const struct sl_net *net, const struct sl_route_key *key);
/* the same among the routes by @port (0: any), and for every destination; slower */
const struct sl_nexthop *net_search(
		const struct sl_net *net, const struct sl_route_key *key, uint16_t port);
