/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_ct.h - matches on the connection of a packet */
#pragma once

#include "classifier/ipt_match.h"

/* bits of a list of states, of conntrack and state */
enum {
	IPT_CT_INVALID = 1 << 0,
	IPT_CT_ESTABLISHED = 1 << 1,
	IPT_CT_RELATED = 1 << 2,
	IPT_CT_NEW = 1 << 3,
	IPT_CT_UNTRACKED = 1 << 4,
	IPT_CT_SNAT = 1 << 5, /* conntrack only, as the next */
	IPT_CT_DNAT = 1 << 6,
};
/* bits of a list of statuses; NONE is the empty list */
enum {
	IPT_CTS_EXPECTED = 1 << 0,
	IPT_CTS_SEEN_REPLY = 1 << 1,
	IPT_CTS_ASSURED = 1 << 2,
	IPT_CTS_CONFIRMED = 1 << 3,
};

enum {
	IPT_STATE_STATE = 1 << 0,
};
struct ipt_m_state {
	uint8_t states;
};

enum {
	IPT_CONNTRACK_STATE = 1 << 0,
	IPT_CONNTRACK_PROTO = 1 << 1,
	IPT_CONNTRACK_ORIGSRC = 1 << 2,
	IPT_CONNTRACK_ORIGDST = 1 << 3,
	IPT_CONNTRACK_REPLSRC = 1 << 4,
	IPT_CONNTRACK_REPLDST = 1 << 5,
	IPT_CONNTRACK_ORIGSRCPORT = 1 << 6,
	IPT_CONNTRACK_ORIGDSTPORT = 1 << 7,
	IPT_CONNTRACK_REPLSRCPORT = 1 << 8,
	IPT_CONNTRACK_REPLDSTPORT = 1 << 9,
	IPT_CONNTRACK_STATUS = 1 << 10,
	IPT_CONNTRACK_EXPIRE = 1 << 11,
	IPT_CONNTRACK_DIR = 1 << 12,
};
/* The address as written: the kernel compares (packet XOR addr) AND mask. */
struct ipt_hostmask {
	struct ipt_addr addr;
	struct ipt_addr mask;
};
struct ipt_m_conntrack {
	uint8_t states;
	uint8_t proto;
	uint8_t status;
	bool dir_reply;
	struct ipt_hostmask origsrc, origdst, replsrc, repldst;
	struct ipt_range16 origsrcport, origdstport, replsrcport, repldstport;
	struct ipt_range32 expire_s;
};

enum {
	IPT_CONNLIMIT_UPTO = 1 << 0, /* one of the two is set; never inverted */
	IPT_CONNLIMIT_ABOVE = 1 << 1,
	IPT_CONNLIMIT_MASK = 1 << 2, /* always set */
	IPT_CONNLIMIT_SADDR = 1 << 3, /* one of the two is set */
	IPT_CONNLIMIT_DADDR = 1 << 4,
};
struct ipt_m_connlimit {
	uint32_t limit;
	uint8_t prefix_len;
};

enum ipt_connbytes_mode {
	IPT_CONNBYTES_PACKETS,
	IPT_CONNBYTES_BYTES,
	IPT_CONNBYTES_AVGPKT,
};
enum ipt_connbytes_dir {
	IPT_CONNBYTES_ORIGINAL,
	IPT_CONNBYTES_REPLY,
	IPT_CONNBYTES_BOTH,
};
enum {
	IPT_CONNBYTES_CONNBYTES = 1 << 0,
	IPT_CONNBYTES_MODE = 1 << 1,
	IPT_CONNBYTES_DIR = 1 << 2,
};
struct ipt_m_connbytes {
	uint64_t from;
	uint64_t to; /* UINT64_MAX: no upper end */
	uint8_t mode; /* enum ipt_connbytes_mode */
	uint8_t dir; /* enum ipt_connbytes_dir */
};

enum {
	IPT_CONNLABEL_LABEL = 1 << 0,
	IPT_CONNLABEL_SET = 1 << 1,
};
struct ipt_m_connlabel {
	uint8_t bit; /* 0-127 */
};

enum {
	IPT_HELPER_HELPER = 1 << 0,
};
struct ipt_m_helper {
	const char *name; /* "": any */
};

enum {
	IPT_CLUSTER_NODEMASK = 1 << 0, /* always set */
	IPT_CLUSTER_NODE = 1 << 1, /* never set: read into the mask */
	IPT_CLUSTER_NODES = 1 << 2,
	IPT_CLUSTER_SEED = 1 << 3,
};
struct ipt_m_cluster {
	uint32_t total_nodes;
	uint32_t node_mask;
	uint32_t hash_seed;
};
