/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipt_set.h - what an `ipset save` text says: sets and their members
 *
 * Numbers are in host order. Ranges are expanded: each member is one that a look-up finds. One arena
 * owns all of a load, see config/ipset.h.
 */
#pragma once

#include "classifier/ipt_rule.h"

/* X(id, name, parts of a member in the order in which they are written) */
#define IPSET_TYPES(X)                                             \
	X(BITMAP_IP, "bitmap:ip", IP)                              \
	X(BITMAP_IP_MAC, "bitmap:ip,mac", IP, MAC)                 \
	X(BITMAP_PORT, "bitmap:port", PORT)                        \
	X(HASH_IP, "hash:ip", IP)                                  \
	X(HASH_IP_MAC, "hash:ip,mac", IP, MAC)                     \
	X(HASH_IP_MARK, "hash:ip,mark", IP, MARK)                  \
	X(HASH_IP_PORT, "hash:ip,port", IP, PORT)                  \
	X(HASH_IP_PORT_IP, "hash:ip,port,ip", IP, PORT, IP2)       \
	X(HASH_IP_PORT_NET, "hash:ip,port,net", IP, PORT, NET2)    \
	X(HASH_MAC, "hash:mac", MAC)                               \
	X(HASH_MARK, "hash:mark", MARK)                            \
	X(HASH_NET, "hash:net", NET)                               \
	X(HASH_NET_IFACE, "hash:net,iface", NET, IFACE)            \
	X(HASH_NET_NET, "hash:net,net", NET, NET2)                 \
	X(HASH_NET_PORT, "hash:net,port", NET, PORT)               \
	X(HASH_NET_PORT_NET, "hash:net,port,net", NET, PORT, NET2) \
	X(LIST_SET, "list:set", SET)

enum ipset_type {
#define X(id, name, ...) IPSET_##id,
	IPSET_TYPES(X)
#undef X
	IPSET_TYPE_NB,
};

/* What makes two members the same one. Unused parts are 0. */
struct ipset_key {
	struct ipt_addr addr; /* host bits are 0 */
	struct ipt_addr addr2;
	uint32_t mark;
	uint32_t set; /* of list:set: number of the member set in the file */
	uint16_t port; /* ICMP: type << 8 | code */
	uint8_t proto;
	uint8_t len; /* prefix lengths */
	uint8_t len2;
	uint8_t mac[6];
	uint8_t physdev; /* the interface is a bridge port */
	char iface[IPT_IFNAME_LEN];
};

struct ipset_member {
	struct ipset_key key;
	bool has_mac; /* bitmap:ip,mac may lack one */
	bool nomatch;
	bool wildcard; /* the interface name is a prefix */
	uint8_t skb; /* bits: IPSET_SKB_* */
	uint16_t skb_queue;
	uint32_t timeout_s; /* 0: stays, in a set with timeouts */
	struct ipt_counters counters;
	uint32_t skb_mark, skb_mask;
	uint32_t skb_prio; /* major << 16 | minor */
	const char *comment; /* or NULL */
};

enum {
	IPSET_SKB_MARK = 1 << 0,
	IPSET_SKB_PRIO = 1 << 1,
	IPSET_SKB_QUEUE = 1 << 2,
};

struct ipset {
	const char *name;
	uint8_t type; /* enum ipset_type */
	uint8_t family; /* enum ipt_family */
	bool has_family; /* the type knows one */
	bool timeout;
	bool counters;
	bool comment;
	bool skbinfo;
	bool forceadd;
	bool has_netmask;
	uint8_t netmask; /* prefix length that addresses are cut to; all bits without one */
	uint32_t markmask;
	uint32_t timeout_s; /* of members that give none */
	uint32_t hashsize;
	uint32_t maxelem; /* of hash types; of list:set its size */
	uint32_t bucketsize; /* 0: not given, as initval */
	uint32_t initval;
	struct ipt_addr lo, hi; /* of bitmap:ip and bitmap:ip,mac */
	struct ipt_range16 ports; /* of bitmap:port */
	uint32_t line;
	uint32_t n_members;
	struct ipset_member *members; /* in the order of the file */
};

struct ipset_file {
	uint32_t n_sets;
	struct ipset *sets;
	void *arena;
};
