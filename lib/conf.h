/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A configuration as data: what config/ reads from YAML and what lib/ is built from. Everything
 * hangs off one arena and is freed with it; no field is a default unless its comment says so.
 */
#pragma once

#include "lib/addr.h"
#include "lib/port.h"
#include "lib/stage.h"

#include <stddef.h>

/* where in the file a thing was written; for errors */
struct sl_mark {
	unsigned int line; /* 1.. */
	unsigned int column; /* 1.. */
};

struct sl_port_conf {
	struct sl_mark at;
	const char *name;
	const char *device; /* DPDK device string; NULL only with parent */
	const char *parent; /* name of the port whose link this VLAN port shares; NULL */
	struct sl_prefix *addresses;
	struct sl_mark *addresses_at;
	unsigned int n_addresses;
	uint16_t mtu; /* 1500 unless given; 68..9600 (1280.. with an IPv6 address) */
	uint16_t vlan; /* 1..4094, 0 = untagged */
	bool has_mac;
	struct rte_ether_addr mac;
};

enum sl_route_type {
	SL_ROUTE_UNICAST,
	SL_ROUTE_LOCAL, /* the router's own address */
	SL_ROUTE_BROADCAST,
	SL_ROUTE_BLACKHOLE,
	SL_ROUTE_UNREACHABLE,
	SL_ROUTE_PROHIBIT,
	SL_ROUTE_THROW,
	SL_ROUTE_TYPE_NB,
};

struct sl_via_conf {
	bool has_gateway;
	struct sl_addr gateway;
	const char *port; /* `dev`; NULL: found from the gateway */
	uint32_t weight; /* 1..256, 1 unless given */
};

#define SL_TABLE_MAIN 254

struct sl_route_conf {
	struct sl_mark at;
	struct sl_prefix to;
	enum sl_route_type type;
	uint32_t table; /* 1..2^32-1; SL_TABLE_MAIN unless given */
	uint32_t metric;
	uint16_t mtu; /* 0: the port's */
	struct sl_via_conf *via; /* equal-cost paths */
	unsigned int n_via;
	uint32_t buckets; /* of a resilient group; 0: it is none */
	uint32_t idle_timer, unbalanced_timer; /* seconds; 120 and 0 unless given */
};

struct sl_neigh_conf {
	struct sl_mark at;
	uint8_t family;
	struct sl_addr ip;
	struct rte_ether_addr mac;
	const char *port;
};

enum sl_policy_type {
	SL_POLICY_TABLE, /* look up in `table` */
	SL_POLICY_GOTO, /* on to the rule of priority `target` */
	SL_POLICY_NOP, /* a place to go to */
	SL_POLICY_BLACKHOLE,
	SL_POLICY_UNREACHABLE,
	SL_POLICY_PROHIBIT,
};

/* min..max; max 0: not looked at */
struct sl_policy_ports {
	uint16_t min, max;
};

/* one rule of `policy:`, tried by priority, then in the order of the file */
struct sl_policy_conf {
	struct sl_mark at;
	uint32_t priority;
	uint8_t type; /* enum sl_policy_type */
	uint8_t family; /* SL_AF_NONE: both, unless a prefix says one */
	bool invert; /* `not` */
	uint32_t fwmark;
	uint32_t fwmask; /* 0: mark not looked at */
	struct sl_prefix from; /* family SL_AF_NONE: any */
	struct sl_prefix to;
	const char *iif; /* NULL: any */
	const char *oif; /* NULL: any */
	uint8_t ipproto; /* 0: any */
	uint8_t tos; /* 0: any */
	struct sl_policy_ports sport, dport;
	uint32_t table;
	uint32_t target; /* of SL_POLICY_GOTO */
	uint8_t min_len; /* routes of shorter prefixes do not count: suppress_prefixlength + 1, or 0 */
};

struct sl_sysctl_conf {
	struct sl_mark at;
	const char *name; /* "net.ipv4.conf.wan.rp_filter" */
	long value; /* checked against the range of the name */
};

/* one entry of `pipeline:`; keys that the stage itself reads are kept as text */
struct sl_stage_conf {
	struct sl_mark at;
	const char *path; /* of the file, for errors */
	enum sl_hook hook;
	const char *stage;
	bool has_order;
	int order;
	struct {
		const char *key;
		const char *value; /* a list is joined by ',' */
		struct sl_mark at;
	} * args;
	unsigned int n_args;
};

/* a reader of NFLOG packets */
struct sl_nflog_conf {
	struct sl_mark at;
	uint16_t group;
	const char *pcap; /* one of the two; paths as below */
	const char *text;
};

#define SL_LOG_RATE 20
#define SL_LOG_BURST 100

/* where the lines of LOG and TRACE go */
struct sl_log_conf {
	const char *file; /* NULL: the program's own log */
	uint32_t rate; /* lines a second; 0: no limit. SL_LOG_RATE, but 0 with a file, unless given */
	uint32_t burst; /* SL_LOG_BURST unless given */
	bool has_rate;
};

struct sl_firewall_conf {
	struct sl_mark at;
	const char *iptables; /* paths, made absolute against the config's directory; NULL */
	const char *ip6tables;
	const char *ipset;
	const char *engine; /* NULL: auto */
	struct sl_mark engine_at;
	struct sl_log_conf log;
	struct sl_nflog_conf *nflog;
	unsigned int n_nflog;
};

enum sl_hugepages {
	SL_HUGEPAGES_AUTO,
	SL_HUGEPAGES_OFF,
};

/* where HTTP serves what is counted */
struct sl_metrics_conf {
	const char *listen; /* as it was written; NULL: nowhere */
	struct sl_addr addr;
	uint8_t family; /* enum sl_family */
	uint16_t port; /* host order */
	struct sl_mark at;
};

struct sl_conf {
	const char *path; /* as given, for errors */
	unsigned int n_workers; /* 1 unless given */
	unsigned int *lcores; /* CPUs given as a list; NULL: a number was given */
	enum sl_hugepages hugepages;
	struct sl_port_conf *ports;
	unsigned int n_ports;
	struct sl_route_conf *routes;
	unsigned int n_routes;
	struct sl_neigh_conf *neighbours;
	unsigned int n_neighbours;
	struct sl_policy_conf *policy;
	unsigned int n_policy;
	struct sl_sysctl_conf *sysctls;
	unsigned int n_sysctls;
	struct sl_stage_conf *stages;
	unsigned int n_stages;
	struct sl_firewall_conf firewall;
	uint32_t conntrack_max; /* 262144 unless given */
	struct sl_metrics_conf metrics;
	const char **plugins; /* shared objects, which are loaded; paths as of the firewall */
	unsigned int n_plugins;
	const char *control_socket; /* "/run/sluice/control.sock" unless given */
	void *arena; /* of config/, for its free function */
};
