/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_list.h - the names of all extension descriptions, one row a file */
#pragma once

#include "config/ipt_ext.h"

/* clang-format off */
#define IPT_MATCH_EXTS(X) \
	X(ipt_match_tcp) \
	X(ipt_match_udp) \
	X(ipt_match_udplite) \
	X(ipt_match_dccp) \
	X(ipt_match_esp) \
	X(ipt_match_ah4) \
	X(ipt_match_ah6) \
	X(ipt_match_sctp) \
	X(ipt_match_icmp) \
	X(ipt_match_icmp6) \
	X(ipt_match_mh) \
	X(ipt_match_multiport) \
	X(ipt_match_iprange) \
	X(ipt_match_mac) \
	X(ipt_match_addrtype) \
	X(ipt_match_pkttype) \
	X(ipt_match_physdev) \
	X(ipt_match_rpfilter) \
	X(ipt_match_devgroup) \
	X(ipt_match_realm) \
	X(ipt_match_cpu) \
	X(ipt_match_owner) \
	X(ipt_match_length) \
	X(ipt_match_ttl) \
	X(ipt_match_hl) \
	X(ipt_match_tos) \
	X(ipt_match_dscp) \
	X(ipt_match_ecn) \
	X(ipt_match_tcpmss) \
	X(ipt_match_mark) \
	X(ipt_match_connmark) \
	X(ipt_match_limit) \
	X(ipt_match_hashlimit) \
	X(ipt_match_quota) \
	X(ipt_match_statistic) \
	X(ipt_match_recent) \
	X(ipt_match_time) \
	X(ipt_match_set) \
	X(ipt_match_comment) \
	X(ipt_match_string) \
	X(ipt_match_regex) \
	X(ipt_match_u32) \
	X(ipt_match_bpf) \
	X(ipt_match_state) \
	X(ipt_match_conntrack) \
	X(ipt_match_connlimit) \
	X(ipt_match_connbytes) \
	X(ipt_match_connlabel) \
	X(ipt_match_helper) \
	X(ipt_match_cluster) \
	X(ipt_match_hbh) \
	X(ipt_match_dst) \
	X(ipt_match_rt) \
	X(ipt_match_frag) \
	X(ipt_match_ipv6header) \
	X(ipt_match_eui64)
/* clang-format on */

/* clang-format off */
#define IPT_TARGET_EXTS(X) \
	X(ipt_target_reject4) \
	X(ipt_target_reject6) \
	X(ipt_target_log) \
	X(ipt_target_nflog) \
	X(ipt_target_nfqueue) \
	X(ipt_target_audit) \
	X(ipt_target_trace) \
	X(ipt_target_tee) \
	X(ipt_target_set) \
	X(ipt_target_mark) \
	X(ipt_target_connmark) \
	X(ipt_target_classify) \
	X(ipt_target_hmark) \
	X(ipt_target_tos) \
	X(ipt_target_dscp) \
	X(ipt_target_ecn) \
	X(ipt_target_ttl) \
	X(ipt_target_hl) \
	X(ipt_target_checksum) \
	X(ipt_target_tcpmss) \
	X(ipt_target_tcpoptstrip) \
	X(ipt_target_ct) \
	X(ipt_target_notrack) \
	X(ipt_target_snat) \
	X(ipt_target_dnat) \
	X(ipt_target_masquerade) \
	X(ipt_target_redirect) \
	X(ipt_target_netmap)
/* clang-format on */

#define X(ext) extern const struct ipt_ext ext;
IPT_MATCH_EXTS(X)
IPT_TARGET_EXTS(X)
#undef X
