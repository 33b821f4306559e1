/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipt_target.h - target extensions: which there are, and the options of each
 *
 * As in ipt_match.h: bits of `set`, then the struct. ACCEPT, DROP, QUEUE, RETURN, jump and goto are
 * verdicts (ipt_rule.h), no extensions.
 */
#pragma once

#include "classifier/ipt_match_state.h"

/* X(id, name behind -j) */
#define IPT_TARGET_LIST(X)            \
	X(AUDIT, "AUDIT")             \
	X(CHECKSUM, "CHECKSUM")       \
	X(CLASSIFY, "CLASSIFY")       \
	X(CONNMARK, "CONNMARK")       \
	X(CT, "CT")                   \
	X(DNAT, "DNAT")               \
	X(DSCP, "DSCP")               \
	X(ECN, "ECN")                 \
	X(HL, "HL")                   \
	X(HMARK, "HMARK")             \
	X(LOG, "LOG")                 \
	X(MARK, "MARK")               \
	X(MASQUERADE, "MASQUERADE")   \
	X(NETMAP, "NETMAP")           \
	X(NFLOG, "NFLOG")             \
	X(NFQUEUE, "NFQUEUE")         \
	X(NOTRACK, "NOTRACK")         \
	X(REDIRECT, "REDIRECT")       \
	X(REJECT, "REJECT")           \
	X(SET, "SET")                 \
	X(SNAT, "SNAT")               \
	X(TCPMSS, "TCPMSS")           \
	X(TCPOPTSTRIP, "TCPOPTSTRIP") \
	X(TEE, "TEE")                 \
	X(TOS, "TOS")                 \
	X(TRACE, "TRACE")             \
	X(TTL, "TTL")

enum ipt_target_kind {
#define X(id, name) IPT_T_##id,
	IPT_TARGET_LIST(X)
#undef X
	IPT_T_NB,
};

enum ipt_audit {
	IPT_AUDIT_ACCEPT,
	IPT_AUDIT_DROP,
	IPT_AUDIT_REJECT,
};
enum {
	IPT_AUDIT_TYPE = 1 << 0,
};
struct ipt_t_audit {
	uint8_t type; /* enum ipt_audit */
};

/* CHECKSUM has no values */
enum {
	IPT_CHECKSUM_FILL = 1 << 0,
};

enum {
	IPT_CLASSIFY_CLASS = 1 << 0,
};
struct ipt_t_classify {
	uint32_t priority; /* major << 16 | minor */
};

/* mark = (mark AND NOT mask) XOR value */
enum {
	IPT_MARK_SET_XMARK = 1 << 0,
};
struct ipt_t_mark {
	struct ipt_mark xmark;
};

enum {
	IPT_CONNMARK_SET_XMARK = 1 << 0, /* one of the first three is set */
	IPT_CONNMARK_SAVE = 1 << 1,
	IPT_CONNMARK_RESTORE = 1 << 2,
	IPT_CONNMARK_NFMASK = 1 << 3, /* set with save and restore, as the next */
	IPT_CONNMARK_CTMASK = 1 << 4,
	IPT_CONNMARK_LEFT = 1 << 5, /* shift before use; at most one of the two */
	IPT_CONNMARK_RIGHT = 1 << 6,
};
struct ipt_t_connmark {
	struct ipt_mark xmark; /* set: value and mask. Save and restore: mask is the one on the ct mark */
	uint32_t nfmask;
	uint8_t shift_bits;
};

enum {
	IPT_CTT_NOTRACK = 1 << 0,
	IPT_CTT_HELPER = 1 << 1,
	IPT_CTT_TIMEOUT = 1 << 2,
	IPT_CTT_CTEVENTS = 1 << 3,
	IPT_CTT_EXPEVENTS = 1 << 4,
	IPT_CTT_ZONE_ORIG = 1
			<< 5, /* --zone sets all three; only the first and the last may stand alone */
	IPT_CTT_ZONE_REPLY = 1 << 6,
	IPT_CTT_ZONE = 1 << 7,
};
struct ipt_t_ct {
	const char *helper;
	const char *timeout;
	uint32_t ctevents; /* bit n: the n-th name of the kernel's list */
	uint32_t expevents;
	uint16_t zone;
	bool zone_mark; /* the zone is the packet's mark */
};

/* SNAT, DNAT, MASQUERADE, REDIRECT */
enum {
	IPT_NAT_TO = 1 << 0, /* an address, ports or both were given */
	IPT_NAT_RANDOM = 1 << 1,
	IPT_NAT_RANDOM_FULLY = 1 << 2,
	IPT_NAT_PERSISTENT = 1 << 3,
};
struct ipt_t_nat {
	bool has_addr;
	bool has_port;
	bool has_base; /* port = lo + (original port - base) */
	struct ipt_addr lo, hi; /* a range may be written the wrong way round */
	struct ipt_range16 port;
	uint16_t base;
};

enum {
	IPT_NETMAP_TO = 1 << 0,
};
struct ipt_t_netmap {
	struct ipt_addr addr;
	uint8_t prefix_len;
};

enum {
	IPT_DSCP_SET = 1 << 0,
};
struct ipt_t_dscp {
	uint8_t dscp;
};

enum {
	IPT_ECNT_TCP_REMOVE = 1 << 0,
	IPT_ECNT_TCP_CWR = 1 << 1,
	IPT_ECNT_TCP_ECE = 1 << 2,
	IPT_ECNT_IP_ECT = 1 << 3,
};
struct ipt_t_ecn {
	uint8_t cwr;
	uint8_t ece;
	uint8_t ip_ect;
};

/* TTL and HL */
enum {
	IPT_TTLT_SET = 1 << 0,
	IPT_TTLT_DEC = 1 << 1,
	IPT_TTLT_INC = 1 << 2,
};
struct ipt_t_ttl {
	uint8_t value;
};

enum {
	IPT_HMARK_SRC_PREFIX = 1 << 0,
	IPT_HMARK_DST_PREFIX = 1 << 1,
	IPT_HMARK_SPORT_MASK = 1 << 2,
	IPT_HMARK_DPORT_MASK = 1 << 3,
	IPT_HMARK_SPI_MASK = 1 << 4,
	IPT_HMARK_SPORT = 1 << 5,
	IPT_HMARK_DPORT = 1 << 6,
	IPT_HMARK_SPI = 1 << 7,
	IPT_HMARK_PROTO_MASK = 1 << 8,
	IPT_HMARK_RND = 1 << 9,
	IPT_HMARK_MOD = 1 << 10,
	IPT_HMARK_OFFSET = 1 << 11,
	IPT_HMARK_CT = 1 << 12,
};
/* What is not given is 0. */
struct ipt_t_hmark {
	uint8_t src_len; /* prefix lengths */
	uint8_t dst_len;
	uint16_t sport_mask;
	uint16_t dport_mask;
	uint16_t sport;
	uint16_t dport;
	uint16_t proto_mask;
	uint32_t spi_mask;
	uint32_t spi;
	uint32_t rnd;
	uint32_t mod;
	uint32_t offset;
};

enum {
	IPT_LOG_PREFIX = 1 << 0,
	IPT_LOG_LEVEL = 1 << 1,
	IPT_LOG_TCP_SEQUENCE = 1 << 2,
	IPT_LOG_TCP_OPTIONS = 1 << 3,
	IPT_LOG_IP_OPTIONS = 1 << 4,
	IPT_LOG_UID = 1 << 5,
	IPT_LOG_MACDECODE = 1 << 6,
};
struct ipt_t_log {
	const char *prefix;
	uint8_t level; /* 0-7; filled in */
};

enum {
	IPT_NFLOG_PREFIX = 1 << 0,
	IPT_NFLOG_GROUP = 1 << 1,
	IPT_NFLOG_RANGE = 1 << 2, /* without effect, kept for the text */
	IPT_NFLOG_SIZE = 1 << 3,
	IPT_NFLOG_THRESHOLD = 1 << 4,
};
struct ipt_t_nflog {
	const char *prefix;
	uint16_t group;
	uint16_t threshold;
	uint32_t size_bytes;
};

enum {
	IPT_NFQUEUE_NUM = 1 << 0,
	IPT_NFQUEUE_BALANCE = 1 << 1,
	IPT_NFQUEUE_BYPASS = 1 << 2,
	IPT_NFQUEUE_CPU_FANOUT = 1 << 3,
};
struct ipt_t_nfqueue {
	struct ipt_range16 queues;
};

/* NOTRACK and TRACE have no options */

/* What REJECT answers; the names of IPv4, then of IPv6, then those of both. */
enum ipt_reject {
	IPT_REJ_NET_UNREACH,
	IPT_REJ_HOST_UNREACH,
	IPT_REJ_PROTO_UNREACH,
	IPT_REJ_PORT_UNREACH,
	IPT_REJ_NET_PROHIBITED,
	IPT_REJ_HOST_PROHIBITED,
	IPT_REJ_ADMIN_PROHIBITED,
	IPT_REJ6_NO_ROUTE,
	IPT_REJ6_ADM_PROHIBITED,
	IPT_REJ6_ADDR_UNREACH,
	IPT_REJ6_PORT_UNREACH,
	IPT_REJ6_POLICY_FAIL,
	IPT_REJ6_REJECT_ROUTE,
	IPT_REJ_TCP_RESET,
	IPT_REJ_NB,
};
enum {
	IPT_REJECT_WITH = 1 << 0, /* always set */
};
struct ipt_t_reject {
	uint8_t with; /* enum ipt_reject */
};

enum {
	IPT_SETT_ADD = 1 << 0,
	IPT_SETT_DEL = 1 << 1,
	IPT_SETT_MAP = 1 << 2,
	IPT_SETT_EXIST = 1 << 3,
	IPT_SETT_TIMEOUT = 1 << 4,
	IPT_SETT_MAP_MARK = 1 << 5,
	IPT_SETT_MAP_PRIO = 1 << 6,
	IPT_SETT_MAP_QUEUE = 1 << 7,
};
struct ipt_t_set {
	struct ipt_set_ref add;
	struct ipt_set_ref del;
	struct ipt_set_ref map;
	uint32_t timeout_s;
};

enum {
	IPT_TCPMSST_SET = 1 << 0,
	IPT_TCPMSST_CLAMP = 1 << 1,
};
struct ipt_t_tcpmss {
	uint16_t mss;
};

enum {
	IPT_TCPOPTSTRIP_OPTIONS = 1 << 0,
};
struct ipt_t_tcpoptstrip {
	uint32_t options[8]; /* bit n of the 256: strip option n */
};

enum {
	IPT_TEE_GATEWAY = 1 << 0,
	IPT_TEE_OIF = 1 << 1,
};
struct ipt_t_tee {
	struct ipt_addr gateway;
	char oif[IPT_IFNAME_LEN];
};

/* tos = (tos AND NOT mask) XOR value */
enum {
	IPT_TOS_SET = 1 << 0,
};
struct ipt_t_tos {
	uint8_t value;
	uint8_t mask;
};
