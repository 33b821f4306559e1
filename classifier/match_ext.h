/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches and targets beside those of match_core.h; app/sluice/extensions.c lists them. */
#pragma once

#include "classifier/ext.h"

extern const struct ipt_match_ops ipt_match_addrtype_ops;
extern const struct ipt_match_ops ipt_match_ah_ops;
extern const struct ipt_match_ops ipt_match_bpf_ops;
extern const struct ipt_match_ops ipt_match_cpu_ops;
extern const struct ipt_match_ops ipt_match_dccp_ops;
extern const struct ipt_match_ops ipt_match_devgroup_ops;
extern const struct ipt_match_ops ipt_match_dscp_ops;
extern const struct ipt_match_ops ipt_match_dst_ops;
extern const struct ipt_match_ops ipt_match_ecn_ops;
extern const struct ipt_match_ops ipt_match_esp_ops;
extern const struct ipt_match_ops ipt_match_eui64_ops;
extern const struct ipt_match_ops ipt_match_frag_ops;
extern const struct ipt_match_ops ipt_match_hashlimit_ops;
extern const struct ipt_match_ops ipt_match_hbh_ops;
extern const struct ipt_match_ops ipt_match_hl_ops;
extern const struct ipt_match_ops ipt_match_ipv6header_ops;
extern const struct ipt_match_ops ipt_match_limit_ops;
extern const struct ipt_match_ops ipt_match_mh_ops;
extern const struct ipt_match_ops ipt_match_owner_ops;
extern const struct ipt_match_ops ipt_match_physdev_ops;
extern const struct ipt_match_ops ipt_match_pkttype_ops;
extern const struct ipt_match_ops ipt_match_quota_ops;
extern const struct ipt_match_ops ipt_match_realm_ops;
extern const struct ipt_match_ops ipt_match_recent_ops;
extern const struct ipt_match_ops ipt_match_regex_ops;
extern const struct ipt_match_ops ipt_match_rpfilter_ops;
extern const struct ipt_match_ops ipt_match_rt_ops;
extern const struct ipt_match_ops ipt_match_sctp_ops;
extern const struct ipt_match_ops ipt_match_statistic_ops;
extern const struct ipt_match_ops ipt_match_string_ops;
extern const struct ipt_match_ops ipt_match_tcpmss_ops;
extern const struct ipt_match_ops ipt_match_time_ops;
extern const struct ipt_match_ops ipt_match_tos_ops;
extern const struct ipt_match_ops ipt_match_ttl_ops;
extern const struct ipt_match_ops ipt_match_u32_ops;

extern const struct ipt_target_ops ipt_target_audit_ops;
extern const struct ipt_target_ops ipt_target_checksum_ops;
extern const struct ipt_target_ops ipt_target_classify_ops;
extern const struct ipt_target_ops ipt_target_dscp_ops;
extern const struct ipt_target_ops ipt_target_ecn_ops;
extern const struct ipt_target_ops ipt_target_hl_ops;
extern const struct ipt_target_ops ipt_target_log_ops;
extern const struct ipt_target_ops ipt_target_nflog_ops;
extern const struct ipt_target_ops ipt_target_tcpmss_ops;
extern const struct ipt_target_ops ipt_target_tcpoptstrip_ops;
extern const struct ipt_target_ops ipt_target_tee_ops;
extern const struct ipt_target_ops ipt_target_tos_ops;
extern const struct ipt_target_ops ipt_target_trace_ops;
extern const struct ipt_target_ops ipt_target_ttl_ops;
