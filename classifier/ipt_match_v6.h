/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_v6.h - matches on IPv6 extension headers */
#pragma once

#include "classifier/ipt_match.h"

/* hbh and dst */
enum {
	IPT_OPTS_LEN = 1 << 0,
	IPT_OPTS_OPTS = 1 << 1,
};
#define IPT_OPTS_MAX 16
struct ipt_m_opts {
	uint32_t len_bytes;
	uint8_t n;
	struct {
		uint8_t type;
		bool any_len;
		uint8_t len;
	} opts[IPT_OPTS_MAX]; /* the header has to hold these, in this order */
};

enum {
	IPT_RT_TYPE = 1 << 0,
	IPT_RT_SEGSLEFT = 1 << 1,
	IPT_RT_LEN = 1 << 2,
	IPT_RT_0_RES = 1 << 3,
	IPT_RT_0_ADDRS = 1 << 4,
	IPT_RT_0_NOT_STRICT = 1 << 5,
};
#define IPT_RT_MAX 16
struct ipt_m_rt {
	uint32_t type;
	struct ipt_range32 segsleft;
	uint32_t len_bytes;
	uint8_t n;
	struct ipt_addr addrs[IPT_RT_MAX];
};

enum {
	IPT_FRAG_ID = 1 << 0,
	IPT_FRAG_LEN = 1 << 1, /* the kernel knows the option and tests nothing */
	IPT_FRAG_RES = 1 << 2,
	IPT_FRAG_FIRST = 1 << 3,
	IPT_FRAG_MORE = 1 << 4,
	IPT_FRAG_LAST = 1 << 5,
};
struct ipt_m_frag {
	struct ipt_range32 id;
	uint32_t len_bytes;
};

enum {
	IPT_IPV6HEADER_HEADER = 1 << 0,
	IPT_IPV6HEADER_SOFT = 1 << 1,
};
/* bits of headers */
enum {
	IPT_HDR_PROTO = 1 << 0,
	IPT_HDR_NONE = 1 << 1,
	IPT_HDR_ESP = 1 << 2,
	IPT_HDR_AH = 1 << 3,
	IPT_HDR_FRAG = 1 << 4,
	IPT_HDR_ROUTE = 1 << 5,
	IPT_HDR_DST = 1 << 6,
	IPT_HDR_HOP = 1 << 7,
};
struct ipt_m_ipv6header {
	uint8_t headers;
};

enum {
	IPT_MH_TYPE = 1 << 0,
};
struct ipt_m_mh {
	uint8_t lo;
	uint8_t hi;
};
