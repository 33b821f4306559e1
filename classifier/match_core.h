/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches and targets that every firewall has; app/sluice/extensions.c lists them. */
#pragma once

#include "classifier/ext.h"

extern const struct ipt_match_ops ipt_match_comment_ops;
extern const struct ipt_match_ops ipt_match_icmp_ops;
extern const struct ipt_match_ops ipt_match_icmp6_ops;
extern const struct ipt_match_ops ipt_match_iprange_ops;
extern const struct ipt_match_ops ipt_match_length_ops;
extern const struct ipt_match_ops ipt_match_mac_ops;
extern const struct ipt_match_ops ipt_match_mark_ops;
extern const struct ipt_match_ops ipt_match_multiport_ops;
extern const struct ipt_match_ops ipt_match_tcp_ops;
extern const struct ipt_match_ops ipt_match_udp_ops;
extern const struct ipt_match_ops ipt_match_udplite_ops;

extern const struct ipt_target_ops ipt_target_mark_ops;
extern const struct ipt_target_ops ipt_target_reject_ops;
