/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipt_match.h - the matches of a rule: which there are, and the options of each
 *
 * One struct a match; the bits of `set` and `inv` stand in front of it. Values are valid only where
 * their bit is in `set`, unless a remark says that a default is filled in. Matches on connections are
 * in ipt_match_ct.h, those with a memory or a clock in ipt_match_state.h, those on IPv6 extension
 * headers in ipt_match_v6.h.
 */
#pragma once

#include "classifier/ipt_rule.h"

/* X(id, name behind -m) */
#define IPT_MATCH_LIST(X)           \
	X(ADDRTYPE, "addrtype")     \
	X(AH, "ah")                 \
	X(BPF, "bpf")               \
	X(CLUSTER, "cluster")       \
	X(COMMENT, "comment")       \
	X(CONNBYTES, "connbytes")   \
	X(CONNLABEL, "connlabel")   \
	X(CONNLIMIT, "connlimit")   \
	X(CONNMARK, "connmark")     \
	X(CONNTRACK, "conntrack")   \
	X(CPU, "cpu")               \
	X(DCCP, "dccp")             \
	X(DEVGROUP, "devgroup")     \
	X(DSCP, "dscp")             \
	X(DST, "dst")               \
	X(ECN, "ecn")               \
	X(ESP, "esp")               \
	X(EUI64, "eui64")           \
	X(FRAG, "frag")             \
	X(HASHLIMIT, "hashlimit")   \
	X(HBH, "hbh")               \
	X(HELPER, "helper")         \
	X(HL, "hl")                 \
	X(ICMP, "icmp")             \
	X(ICMP6, "icmp6")           \
	X(IPRANGE, "iprange")       \
	X(IPV6HEADER, "ipv6header") \
	X(LENGTH, "length")         \
	X(LIMIT, "limit")           \
	X(MAC, "mac")               \
	X(MARK, "mark")             \
	X(MH, "mh")                 \
	X(MULTIPORT, "multiport")   \
	X(OWNER, "owner")           \
	X(PHYSDEV, "physdev")       \
	X(PKTTYPE, "pkttype")       \
	X(QUOTA, "quota")           \
	X(REALM, "realm")           \
	X(RECENT, "recent")         \
	X(REGEX, "regex")           \
	X(RPFILTER, "rpfilter")     \
	X(RT, "rt")                 \
	X(SCTP, "sctp")             \
	X(SET, "set")               \
	X(STATE, "state")           \
	X(STATISTIC, "statistic")   \
	X(STRING, "string")         \
	X(TCP, "tcp")               \
	X(TCPMSS, "tcpmss")         \
	X(TIME, "time")             \
	X(TOS, "tos")               \
	X(TTL, "ttl")               \
	X(U32, "u32")               \
	X(UDP, "udp")               \
	X(UDPLITE, "udplite")

enum ipt_match_kind {
#define X(id, name) IPT_M_##id,
	IPT_MATCH_LIST(X)
#undef X
	IPT_M_NB,
};

struct ipt_match {
	uint16_t kind; /* enum ipt_match_kind */
	uint32_t set; /* bits: options given */
	uint32_t inv; /* bits: options behind a `!` */
	const void *data; /* struct ipt_m_KIND; NULL for eui64 */
};

struct ipt_mark {
	uint32_t value;
	uint32_t mask;
};

/* tcp; udp, udplite and dccp have the ports in the same places */
enum {
	IPT_PORTS_SPORT = 1 << 0,
	IPT_PORTS_DPORT = 1 << 1,
	IPT_TCP_OPTION = 1 << 2,
	IPT_TCP_FLAGS = 1 << 3,
};
struct ipt_m_tcp {
	struct ipt_range16 sport; /* 0-65535 where not given, also in the next three */
	struct ipt_range16 dport;
	uint8_t option;
	uint8_t flags_mask; /* on byte 13 */
	uint8_t flags_cmp;
};
struct ipt_m_udp {
	struct ipt_range16 sport;
	struct ipt_range16 dport;
};
struct ipt_m_udplite {
	struct ipt_range16 sport;
	struct ipt_range16 dport;
};

enum {
	IPT_DCCP_TYPES = 1 << 2,
	IPT_DCCP_OPTION = 1 << 3,
};
struct ipt_m_dccp {
	struct ipt_range16 sport;
	struct ipt_range16 dport;
	uint16_t types; /* bit n: packet type n */
	uint8_t option;
};

enum ipt_sctp_how {
	IPT_SCTP_ANY = 1,
	IPT_SCTP_ALL,
	IPT_SCTP_ONLY,
};
enum {
	IPT_SCTP_CHUNKS = 1 << 2,
};
#define IPT_SCTP_FLAGS_MAX 4
struct ipt_m_sctp {
	struct ipt_range16 sport;
	struct ipt_range16 dport;
	uint8_t how; /* enum ipt_sctp_how */
	uint8_t n_flags;
	uint32_t types[8]; /* bit n of the 256: chunk type n is in the list */
	struct {
		uint8_t type;
		uint8_t mask; /* (chunk flags AND mask) == value, else the chunk is not in the list */
		uint8_t value;
	} flags[IPT_SCTP_FLAGS_MAX];
};

/* icmp and icmp6 */
enum {
	IPT_ICMP_TYPE = 1 << 0,
};
struct ipt_m_icmp {
	uint8_t type; /* icmp: 255 is any type and code */
	uint8_t code_lo;
	uint8_t code_hi;
};

enum {
	IPT_ESP_SPI = 1 << 0,
};
struct ipt_m_esp {
	struct ipt_range32 spi; /* lo may be above hi: then nothing is inside */
};

enum {
	IPT_AH_SPI = 1 << 0,
	IPT_AH_LEN = 1 << 1, /* IPv6 only, as the next */
	IPT_AH_RES = 1 << 2, /* the reserved field has to be 0 */
};
struct ipt_m_ah {
	struct ipt_range32 spi;
	uint32_t len_bytes;
};

enum {
	IPT_MULTIPORT_SPORTS = 1 << 0,
	IPT_MULTIPORT_DPORTS = 1 << 1,
	IPT_MULTIPORT_PORTS = 1 << 2, /* source or destination */
};
#define IPT_MULTIPORT_MAX 15
struct ipt_m_multiport {
	uint8_t n;
	struct ipt_range16 ports[IPT_MULTIPORT_MAX];
};

enum {
	IPT_IPRANGE_SRC = 1 << 0,
	IPT_IPRANGE_DST = 1 << 1,
};
struct ipt_m_iprange {
	struct ipt_addr src_lo, src_hi; /* lo may be above hi: then nothing is inside */
	struct ipt_addr dst_lo, dst_hi;
};

enum {
	IPT_MAC_SOURCE = 1 << 0,
};
struct ipt_m_mac {
	uint8_t addr[6];
};

/* mark and connmark */
enum {
	IPT_MARK_MARK = 1 << 0,
};
struct ipt_m_mark {
	struct ipt_mark mark; /* (mark AND mask) == value; value may have bits outside the mask */
};

enum {
	IPT_LENGTH_LENGTH = 1 << 0,
};
struct ipt_m_length {
	struct ipt_range16 bytes; /* of the whole IP packet; lo may be above hi */
};

/* ttl and hl */
enum {
	IPT_TTL_EQ = 1 << 0,
	IPT_TTL_LT = 1 << 1,
	IPT_TTL_GT = 1 << 2,
};
struct ipt_m_ttl {
	uint8_t ttl;
};

enum {
	IPT_TOS_TOS = 1 << 0,
};
struct ipt_m_tos {
	uint8_t value; /* (TOS AND mask) == value */
	uint8_t mask;
};

enum {
	IPT_DSCP_DSCP = 1 << 0,
};
struct ipt_m_dscp {
	uint8_t dscp; /* 0-63 */
};

enum {
	IPT_ECN_TCP_ECE = 1 << 0,
	IPT_ECN_TCP_CWR = 1 << 1,
	IPT_ECN_IP_ECT = 1 << 2,
};
struct ipt_m_ecn {
	uint8_t ip_ect; /* 0-3 */
};

enum {
	IPT_TCPMSS_MSS = 1 << 0,
};
struct ipt_m_tcpmss {
	struct ipt_range16 mss;
};

enum {
	IPT_ADDRTYPE_SRC = 1 << 0,
	IPT_ADDRTYPE_DST = 1 << 1,
	IPT_ADDRTYPE_IFACE_IN = 1 << 2,
	IPT_ADDRTYPE_IFACE_OUT = 1 << 3,
};
/* the bits of src_types and dst_types */
enum ipt_addrtype {
	IPT_ADDR_UNSPEC,
	IPT_ADDR_UNICAST,
	IPT_ADDR_LOCAL,
	IPT_ADDR_BROADCAST,
	IPT_ADDR_ANYCAST,
	IPT_ADDR_MULTICAST,
	IPT_ADDR_BLACKHOLE,
	IPT_ADDR_UNREACHABLE,
	IPT_ADDR_PROHIBIT,
	IPT_ADDR_THROW,
	IPT_ADDR_NAT,
	IPT_ADDR_XRESOLVE,
	IPT_ADDR_NB,
};
struct ipt_m_addrtype {
	uint16_t src_types; /* bit n: enum ipt_addrtype */
	uint16_t dst_types;
};

enum ipt_pkttype {
	IPT_PKT_UNICAST,
	IPT_PKT_BROADCAST,
	IPT_PKT_MULTICAST,
	IPT_PKT_OTHERHOST,
};
enum {
	IPT_PKTTYPE_TYPE = 1 << 0,
};
struct ipt_m_pkttype {
	uint8_t type; /* enum ipt_pkttype */
};

enum {
	IPT_STRING_STRING = 1 << 0, /* one of the two is set: text, or with bytes that are not */
	IPT_STRING_HEX = 1 << 1,
	IPT_STRING_ALGO = 1 << 2,
	IPT_STRING_FROM = 1 << 3,
	IPT_STRING_TO = 1 << 4,
	IPT_STRING_ICASE = 1 << 5,
};
#define IPT_STRING_MAX 128
struct ipt_m_string {
	uint16_t from; /* the whole pattern lies in [from, to), counted from the IP header; filled in */
	uint16_t to;
	uint8_t len;
	uint8_t pattern[IPT_STRING_MAX];
	const char *algo;
};

enum {
	IPT_REGEX_REGEX = 1 << 0,
	IPT_REGEX_ICASE = 1 << 1,
	IPT_REGEX_FROM = 1 << 2,
	IPT_REGEX_TO = 1 << 3,
};
struct ipt_m_regex {
	uint16_t from; /* ^ and $ are the ends of [from, to), counted from the IP header; filled in */
	uint16_t to;
	const char *pattern;
};

enum {
	IPT_U32_U32 = 1 << 0,
};
#define IPT_U32_MAX 10
enum ipt_u32_op {
	IPT_U32_AND,
	IPT_U32_LEFT,
	IPT_U32_RIGHT,
	IPT_U32_AT,
};
struct ipt_u32_step {
	uint32_t number;
	uint8_t op; /* enum ipt_u32_op; of the first step: not used, the number is the offset */
};
struct ipt_u32_test {
	uint8_t n_steps;
	uint8_t n_ranges;
	struct ipt_u32_step steps[IPT_U32_MAX];
	struct ipt_range32 ranges[IPT_U32_MAX];
};
struct ipt_m_u32 {
	uint8_t n_tests;
	const struct ipt_u32_test *tests; /* all have to hold */
};

enum {
	IPT_BPF_BYTECODE = 1 << 0,
};
struct ipt_bpf_insn {
	uint16_t code;
	uint8_t jt;
	uint8_t jf;
	uint32_t k;
};
#define IPT_BPF_MAX 64
struct ipt_m_bpf {
	uint16_t n;
	const struct ipt_bpf_insn *insns; /* runs over the IP packet; not 0 is a match */
};

enum {
	IPT_RPFILTER_LOOSE = 1 << 0,
	IPT_RPFILTER_VALIDMARK = 1 << 1,
	IPT_RPFILTER_ACCEPT_LOCAL = 1 << 2,
	IPT_RPFILTER_INVERT = 1 << 3,
};
/* rpfilter has no values, only bits */

enum {
	IPT_PHYSDEV_IS_IN = 1 << 0,
	IPT_PHYSDEV_IN = 1 << 1,
	IPT_PHYSDEV_IS_OUT = 1 << 2,
	IPT_PHYSDEV_OUT = 1 << 3,
	IPT_PHYSDEV_IS_BRIDGED = 1 << 4,
};
struct ipt_m_physdev {
	struct ipt_iface in; /* `inv` stays false here: see the match */
	struct ipt_iface out;
};

enum {
	IPT_COMMENT_COMMENT = 1 << 0,
};
struct ipt_m_comment {
	const char *text;
};

enum {
	IPT_OWNER_SOCKET = 1 << 0,
	IPT_OWNER_UID = 1 << 1,
	IPT_OWNER_GID = 1 << 2,
	IPT_OWNER_SUPPL = 1 << 3,
};
struct ipt_m_owner {
	struct ipt_range32 uid;
	struct ipt_range32 gid;
};

enum {
	IPT_REALM_REALM = 1 << 0,
};
struct ipt_m_realm {
	struct ipt_mark realm;
};

enum {
	IPT_CPU_CPU = 1 << 0,
};
struct ipt_m_cpu {
	uint32_t cpu;
};

enum {
	IPT_DEVGROUP_SRC = 1 << 0,
	IPT_DEVGROUP_DST = 1 << 1,
};
struct ipt_m_devgroup {
	struct ipt_mark src;
	struct ipt_mark dst;
};
