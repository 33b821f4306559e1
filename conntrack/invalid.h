/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a packet of a protocol is INVALID: one list gives the numbers, the names of the counters and
 * a word of help.
 */
#pragma once

#define CT_INVALID_REASONS(X)                                                         \
	X(SHORT, "short_header", "header is cut")                                     \
	X(LENGTH, "bad_length", "length does not fit the packet")                     \
	X(CHECKSUM, "bad_checksum", "checksum is wrong")                              \
	X(TCP_FLAGS, "tcp_flags", "no such combination of TCP flags")                 \
	X(TCP_NEW, "tcp_new", "TCP packet that opens no connection")                  \
	X(TCP_STATE, "tcp_state", "TCP packet that the state has no place for")       \
	X(TCP_RST, "tcp_rst", "RST in front of what was acknowledged")                \
	X(TCP_SEQ, "tcp_seq", "sequence number over the receiver's window")           \
	X(TCP_ACK, "tcp_ack", "acknowledges what was not sent")                       \
	X(UDPLITE_COVERAGE, "udplite_coverage", "UDP-Lite without a whole checksum")  \
	X(ICMP_TYPE, "icmp_type", "ICMP type that opens no connection")               \
	X(GRE_PROTOCOL, "gre_protocol", "GRE version 1 with something else than PPP") \
	X(SCTP_CHUNK, "sctp_chunk", "SCTP chunks that do not go together")            \
	X(SCTP_NEW, "sctp_new", "SCTP packet that opens no association")              \
	X(SCTP_VTAG, "sctp_vtag", "verification tag is another one's")                \
	X(SCTP_STATE, "sctp_state", "SCTP chunk that the state has no place for")

enum ct_invalid {
#define X(name, label, help) CT_INVALID_##name,
	CT_INVALID_REASONS(X)
#undef X
	CT_INVALID_NB,
};

const char *ct_invalid_name(enum ct_invalid why);
const char *ct_invalid_help(enum ct_invalid why);
