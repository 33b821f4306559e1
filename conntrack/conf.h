/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The switches of connection tracking: net.netfilter.nf_conntrack_*, the kernel's names, defaults and
 * ranges. A field ends in _s where it is a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* X(field, name behind net.netfilter.nf_conntrack_, default, min, max) */
#define CT_SYSCTL_TIMES(X)                                               \
	X(tcp_syn_sent_s, "tcp_timeout_syn_sent", 120)                   \
	X(tcp_syn_recv_s, "tcp_timeout_syn_recv", 60)                    \
	X(tcp_established_s, "tcp_timeout_established", 432000)          \
	X(tcp_fin_wait_s, "tcp_timeout_fin_wait", 120)                   \
	X(tcp_close_wait_s, "tcp_timeout_close_wait", 60)                \
	X(tcp_last_ack_s, "tcp_timeout_last_ack", 30)                    \
	X(tcp_time_wait_s, "tcp_timeout_time_wait", 120)                 \
	X(tcp_close_s, "tcp_timeout_close", 10)                          \
	X(tcp_max_retrans_s, "tcp_timeout_max_retrans", 300)             \
	X(tcp_unack_s, "tcp_timeout_unacknowledged", 300)                \
	X(udp_s, "udp_timeout", 30)                                      \
	X(udp_stream_s, "udp_timeout_stream", 120)                       \
	X(icmp_s, "icmp_timeout", 30)                                    \
	X(icmpv6_s, "icmpv6_timeout", 30)                                \
	X(generic_s, "generic_timeout", 600)                             \
	X(gre_s, "gre_timeout", 30)                                      \
	X(gre_stream_s, "gre_timeout_stream", 180)                       \
	X(sctp_closed_s, "sctp_timeout_closed", 10)                      \
	X(sctp_cookie_wait_s, "sctp_timeout_cookie_wait", 3)             \
	X(sctp_cookie_echoed_s, "sctp_timeout_cookie_echoed", 3)         \
	X(sctp_established_s, "sctp_timeout_established", 210)           \
	X(sctp_shutdown_sent_s, "sctp_timeout_shutdown_sent", 3)         \
	X(sctp_shutdown_recd_s, "sctp_timeout_shutdown_recd", 3)         \
	X(sctp_shutdown_ack_sent_s, "sctp_timeout_shutdown_ack_sent", 3) \
	X(sctp_heartbeat_sent_s, "sctp_timeout_heartbeat_sent", 30)      \
	X(frag6_s, "frag6_timeout", 60)

#define CT_SYSCTL_SWITCHES(X)                                \
	X(tcp_loose, "tcp_loose", 1, 0, 1)                   \
	X(tcp_be_liberal, "tcp_be_liberal", 0, 0, 1)         \
	X(tcp_ignore_rst, "tcp_ignore_invalid_rst", 0, 0, 1) \
	X(tcp_max_retrans, "tcp_max_retrans", 3, 0, 255)     \
	X(checksum, "checksum", 1, 0, 1)                     \
	X(acct, "acct", 0, 0, 1)                             \
	X(timestamp, "timestamp", 0, 0, 1)                   \
	X(events, "events", 2, 0, 2)                         \
	X(log_invalid, "log_invalid", 0, 0, 255)             \
	X(expect_max, "expect_max", 4096, 1, 1048576)

struct ct_conf {
	uint32_t max; /* entries, all workers together */
#define X(field, name, def) uint32_t field;
	CT_SYSCTL_TIMES(X)
#undef X
#define X(field, name, def, min, max) uint32_t field;
	CT_SYSCTL_SWITCHES(X)
#undef X
};

void ct_conf_init(struct ct_conf *conf);

/**
 * ct_sysctl_check() - is @name known and @value in its range
 *
 * Return: 0, -ENOENT, or -ERANGE with the bounds in @min and @max.
 */
int ct_sysctl_check(const char *name, long value, long *min, long *max);

/* one checked value */
void ct_sysctl_store(struct ct_conf *conf, const char *name, long value);

/* the names, for documentation: NULL behind the last */
const char *ct_sysctl_name(size_t i, long *def);
