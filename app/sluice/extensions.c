/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/extensions.h"

#include "classifier/match_core.h"
#include "classifier/match_ext.h"
#include "classifier/match_set.h"

const struct ipt_exts sl_extensions = {
	.match = {
		[IPT_M_ADDRTYPE] = &ipt_match_addrtype_ops,
		[IPT_M_COMMENT] = &ipt_match_comment_ops,
		[IPT_M_CPU] = &ipt_match_cpu_ops,
		[IPT_M_DCCP] = &ipt_match_dccp_ops,
		[IPT_M_DSCP] = &ipt_match_dscp_ops,
		[IPT_M_ECN] = &ipt_match_ecn_ops,
		[IPT_M_HL] = &ipt_match_hl_ops,
		[IPT_M_ICMP] = &ipt_match_icmp_ops,
		[IPT_M_ICMP6] = &ipt_match_icmp6_ops,
		[IPT_M_IPRANGE] = &ipt_match_iprange_ops,
		[IPT_M_LENGTH] = &ipt_match_length_ops,
		[IPT_M_LIMIT] = &ipt_match_limit_ops,
		[IPT_M_MAC] = &ipt_match_mac_ops,
		[IPT_M_MARK] = &ipt_match_mark_ops,
		[IPT_M_MULTIPORT] = &ipt_match_multiport_ops,
		[IPT_M_OWNER] = &ipt_match_owner_ops,
		[IPT_M_PHYSDEV] = &ipt_match_physdev_ops,
		[IPT_M_PKTTYPE] = &ipt_match_pkttype_ops,
		[IPT_M_QUOTA] = &ipt_match_quota_ops,
		[IPT_M_RPFILTER] = &ipt_match_rpfilter_ops,
		[IPT_M_SCTP] = &ipt_match_sctp_ops,
		[IPT_M_SET] = &ipt_match_set_ops,
		[IPT_M_STATISTIC] = &ipt_match_statistic_ops,
		[IPT_M_STRING] = &ipt_match_string_ops,
		[IPT_M_TCP] = &ipt_match_tcp_ops,
		[IPT_M_TCPMSS] = &ipt_match_tcpmss_ops,
		[IPT_M_TIME] = &ipt_match_time_ops,
		[IPT_M_TOS] = &ipt_match_tos_ops,
		[IPT_M_TTL] = &ipt_match_ttl_ops,
		[IPT_M_U32] = &ipt_match_u32_ops,
		[IPT_M_UDP] = &ipt_match_udp_ops,
		[IPT_M_UDPLITE] = &ipt_match_udplite_ops,
	},
	.target = {
		[IPT_T_AUDIT] = &ipt_target_audit_ops,
		[IPT_T_CHECKSUM] = &ipt_target_checksum_ops,
		[IPT_T_CLASSIFY] = &ipt_target_classify_ops,
		[IPT_T_DSCP] = &ipt_target_dscp_ops,
		[IPT_T_ECN] = &ipt_target_ecn_ops,
		[IPT_T_HL] = &ipt_target_hl_ops,
		[IPT_T_MARK] = &ipt_target_mark_ops,
		[IPT_T_REJECT] = &ipt_target_reject_ops,
		[IPT_T_SET] = &ipt_target_set_ops,
		[IPT_T_TCPMSS] = &ipt_target_tcpmss_ops,
		[IPT_T_TCPOPTSTRIP] = &ipt_target_tcpoptstrip_ops,
		[IPT_T_TOS] = &ipt_target_tos_ops,
		[IPT_T_TRACE] = &ipt_target_trace_ops,
		[IPT_T_TTL] = &ipt_target_ttl_ops,
	},
};
