/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/extensions.h"

#include "classifier/match_core.h"
#include "classifier/match_set.h"

const struct ipt_exts sl_extensions = {
	.match = {
		[IPT_M_COMMENT] = &ipt_match_comment_ops,
		[IPT_M_ICMP] = &ipt_match_icmp_ops,
		[IPT_M_ICMP6] = &ipt_match_icmp6_ops,
		[IPT_M_IPRANGE] = &ipt_match_iprange_ops,
		[IPT_M_LENGTH] = &ipt_match_length_ops,
		[IPT_M_MAC] = &ipt_match_mac_ops,
		[IPT_M_MARK] = &ipt_match_mark_ops,
		[IPT_M_MULTIPORT] = &ipt_match_multiport_ops,
		[IPT_M_SET] = &ipt_match_set_ops,
		[IPT_M_TCP] = &ipt_match_tcp_ops,
		[IPT_M_UDP] = &ipt_match_udp_ops,
		[IPT_M_UDPLITE] = &ipt_match_udplite_ops,
	},
	.target = {
		[IPT_T_MARK] = &ipt_target_mark_ops,
		[IPT_T_REJECT] = &ipt_target_reject_ops,
		[IPT_T_SET] = &ipt_target_set_ops,
	},
};
