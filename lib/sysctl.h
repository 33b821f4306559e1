/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switches that sluice honours, under the kernel's own names and with its defaults, except that
 * a router forwards: forwarding is on unless it is switched off.
 *
 * Global ones are fields of struct sl_sysctl. Those of net.ipv4.conf.* and net.ipv6.conf.* exist for
 * "all", "default" and every port; how "all" and the port's own value combine is the kernel's rule
 * for each name (the last column).
 */
#pragma once

#include "lib/port.h"

#include <stddef.h>

/* X(field, name, default, min, max) */
#define SL_SYSCTL_GLOBAL(X)                                                                        \
	X(ip4_forward, "net.ipv4.ip_forward", 1, 0, 1)                                             \
	X(ip4_default_ttl, "net.ipv4.ip_default_ttl", 64, 1, 255)                                  \
	X(ip4_forward_use_pmtu, "net.ipv4.ip_forward_use_pmtu", 0, 0, 0)                           \
	X(ip4_fwd_update_priority, "net.ipv4.ip_forward_update_priority", 1, 0, 1)                 \
	X(icmp4_ratelimit_ms, "net.ipv4.icmp_ratelimit", 1000, 0, 3600000)                         \
	X(icmp4_ratemask, "net.ipv4.icmp_ratemask", 6168, 0, 0x7fffffff)                           \
	X(icmp_msgs_per_sec, "net.ipv4.icmp_msgs_per_sec", 1000, 0, 0x7fffffff)                    \
	X(icmp_msgs_burst, "net.ipv4.icmp_msgs_burst", 50, 0, 0x7fffffff)                          \
	X(icmp4_echo_ignore_all, "net.ipv4.icmp_echo_ignore_all", 0, 0, 1)                         \
	X(icmp4_echo_ignore_bcast, "net.ipv4.icmp_echo_ignore_broadcasts", 1, 0, 1)                \
	X(icmp4_errors_inbound, "net.ipv4.icmp_errors_use_inbound_ifaddr", 0, 0, 1)                \
	X(multipath4_policy, "net.ipv4.fib_multipath_hash_policy", 0, 0, 2)                        \
	X(ipfrag4_time_s, "net.ipv4.ipfrag_time", 30, 1, 3600)                                     \
	X(ipfrag4_max_dist, "net.ipv4.ipfrag_max_dist", 64, 0, 0x7fffffff)                         \
	X(ip6_forward, "net.ipv6.conf.all.forwarding", 1, 0, 1)                                    \
	X(ip6_default_hop_limit, "net.ipv6.conf.default.hop_limit", 64, 1, 255)                    \
	X(icmp6_ratelimit_ms, "net.ipv6.icmp.ratelimit", 1000, 0, 3600000)                         \
	X(icmp6_echo_ignore_all, "net.ipv6.icmp.echo_ignore_all", 0, 0, 1)                         \
	X(icmp6_echo_ignore_mcast, "net.ipv6.icmp.echo_ignore_multicast", 0, 0, 1)                 \
	X(icmp6_echo_ignore_anycast, "net.ipv6.icmp.echo_ignore_anycast", 0, 0, 1)                 \
	X(multipath6_policy, "net.ipv6.fib_multipath_hash_policy", 0, 0, 2)                        \
	X(ipfrag6_time_s, "net.ipv6.ip6frag_time", 60, 1, 3600)                                    \
	X(neigh4_reachable_ms, "net.ipv4.neigh.default.base_reachable_time_ms", 30000, 1, 3600000) \
	X(neigh4_retrans_ms, "net.ipv4.neigh.default.retrans_time_ms", 1000, 1, 60000)             \
	X(neigh4_mcast_solicit, "net.ipv4.neigh.default.mcast_solicit", 3, 1, 100)                 \
	X(neigh4_ucast_solicit, "net.ipv4.neigh.default.ucast_solicit", 3, 1, 100)                 \
	X(neigh4_delay_s, "net.ipv4.neigh.default.delay_first_probe_time", 5, 0, 3600)             \
	X(neigh4_stale_s, "net.ipv4.neigh.default.gc_stale_time", 60, 1, 86400)                    \
	X(neigh4_max, "net.ipv4.neigh.default.gc_thresh3", 1024, 8, 1048576)                       \
	X(neigh4_queue, "net.ipv4.neigh.default.unres_qlen", 101, 1, 4096)                         \
	X(neigh6_reachable_ms, "net.ipv6.neigh.default.base_reachable_time_ms", 30000, 1, 3600000) \
	X(neigh6_retrans_ms, "net.ipv6.neigh.default.retrans_time_ms", 1000, 1, 60000)             \
	X(neigh6_mcast_solicit, "net.ipv6.neigh.default.mcast_solicit", 3, 1, 100)                 \
	X(neigh6_ucast_solicit, "net.ipv6.neigh.default.ucast_solicit", 3, 1, 100)                 \
	X(neigh6_delay_s, "net.ipv6.neigh.default.delay_first_probe_time", 5, 0, 3600)             \
	X(neigh6_stale_s, "net.ipv6.neigh.default.gc_stale_time", 60, 1, 86400)                    \
	X(neigh6_max, "net.ipv6.neigh.default.gc_thresh3", 1024, 8, 1048576)                       \
	X(neigh6_queue, "net.ipv6.neigh.default.unres_qlen", 101, 1, 4096)

/* how conf.all and conf.PORT make the value in force */
enum sl_sysctl_combine {
	SL_SYSCTL_OWN, /* the port's alone */
	SL_SYSCTL_AND,
	SL_SYSCTL_OR,
	SL_SYSCTL_MAX,
	SL_SYSCTL_MIN,
};

/* X(field, family, name, default, min, max, combine) */
#define SL_SYSCTL_PORT(X)                                               \
	X(forwarding4, 4, "forwarding", 1, 0, 1, OWN)                   \
	X(rp_filter, 4, "rp_filter", 0, 0, 2, MAX)                      \
	X(accept_source_route4, 4, "accept_source_route", 1, 0, 1, AND) \
	X(accept_local, 4, "accept_local", 0, 0, 1, OR)                 \
	X(route_localnet, 4, "route_localnet", 0, 0, 1, OR)             \
	X(bc_forwarding, 4, "bc_forwarding", 0, 0, 1, AND)              \
	X(send_redirects4, 4, "send_redirects", 1, 0, 1, OR)            \
	X(shared_media, 4, "shared_media", 1, 0, 1, OR)                 \
	X(src_valid_mark, 4, "src_valid_mark", 0, 0, 1, OR)             \
	X(log_martians, 4, "log_martians", 0, 0, 1, OR)                 \
	X(proxy_arp, 4, "proxy_arp", 0, 0, 1, OR)                       \
	X(arp_ignore, 4, "arp_ignore", 0, 0, 8, MAX)                    \
	X(arp_announce, 4, "arp_announce", 0, 0, 2, MAX)                \
	X(forwarding6, 6, "forwarding", 1, 0, 1, OWN)                   \
	X(hop_limit, 6, "hop_limit", 64, 1, 255, OWN)                   \
	X(accept_source_route6, 6, "accept_source_route", 0, -1, 1, MIN)

struct sl_sysctl {
#define X(field, name, def, min, max) int field;
	SL_SYSCTL_GLOBAL(X)
#undef X
};

/* values in force for one port, combined with "all" */
struct sl_sysctl_port {
#define X(field, family, name, def, min, max, combine) int field;
	SL_SYSCTL_PORT(X)
#undef X
};

/* everything that was set; combine once at the end */
struct sl_sysctl_set {
	struct sl_sysctl global;
	struct sl_sysctl_port all;
	struct sl_sysctl_port fresh; /* "default" */
	struct sl_sysctl_port port[SL_PORTS_MAX];
};

/* every value at its default; ports take "default" as it is when sl_sysctl_combine() runs */
void sl_sysctl_init(struct sl_sysctl_set *set);

/**
 * sl_sysctl_check() - is @name known and @value in its range
 * @port: filled with the port's name if the name holds one ("wan" of net.ipv4.conf.wan.rp_filter),
 *        else ""; at least SL_PORT_NAME_MAX bytes
 *
 * Names with '/' for '.' are taken too. Return: 0; -ENOENT: unknown name; -ERANGE: and the bounds
 * in @min and @max. Also -ENOENT for net.netfilter.*, which belongs to conntrack.
 */
int sl_sysctl_check(const char *name, long value, char *port, long *min, long *max);

/* store one checked value; @port_id for a name that holds a port, else 0 */
int sl_sysctl_store(struct sl_sysctl_set *set, const char *name, long value, uint16_t port_id);

/* value in force on one port */
void sl_sysctl_combine(
		const struct sl_sysctl_set *set, uint16_t port_id, struct sl_sysctl_port *out);
