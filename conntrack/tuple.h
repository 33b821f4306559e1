/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tells connections apart: addresses, protocol, and what the protocol has for ports. A
 * connection has two, of its original direction and of its replies; without NAT one is the other
 * turned round.
 */
#pragma once

#include "lib/pkt.h"

enum ct_dir {
	CT_ORIGINAL,
	CT_REPLY,
	CT_DIR_NB,
};

struct ct_tuple {
	struct sl_addr src;
	struct sl_addr dst;
	union {
		/* TCP UDP UDP-Lite SCTP DCCP: ports; GRE version 1: keys; others 0 */
		struct {
			rte_be16_t sport_be;
			rte_be16_t dport_be;
		};
		/* ICMP and ICMPv6 */
		struct {
			rte_be16_t id_be;
			uint8_t type;
			uint8_t code;
		};
	};
	uint8_t family; /* enum sl_family */
	uint8_t proto;
	uint16_t zone; /* in this direction */
};
static_assert(sizeof(struct ct_tuple) == 40, "no padding: compared by words");

static inline bool ct_tuple_eq(const struct ct_tuple *a, const struct ct_tuple *b)
{
	const uint64_t *x = (const uint64_t *)(const void *)a;
	const uint64_t *y = (const uint64_t *)(const void *)b;

	return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4])) == 0;
}

/**
 * ct_tuple_get() - the tuple of a whole packet
 * @zone: in the packet's direction
 *
 * Return: false if the packet has none (header cut, later fragment, extension chain cut).
 */
bool ct_tuple_get(struct rte_mbuf *m, uint16_t zone, struct ct_tuple *t);

/**
 * ct_tuple_quoted() - the tuple of the packet that an ICMP or ICMPv6 error quotes, as it stands there
 * @off: of the quoted IP header from the start of the frame
 *
 * Return: false if the quote is too short or is a later fragment.
 */
bool ct_tuple_quoted(struct rte_mbuf *m, uint32_t off, uint16_t zone, struct ct_tuple *t);

/**
 * ct_tuple_invert() - the tuple of the answer
 *
 * Return: false for ICMP types that have no answer.
 */
bool ct_tuple_invert(const struct ct_tuple *t, struct ct_tuple *answer);
