/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HMARK: a mark out of the hash of a packet's flow, bit for bit as the kernel's xt_HMARK. Both
 * directions of a flow give the same mark, and so does an ICMP error about it.
 */
#pragma once

#include "lib/pkt.h"

/* what is hashed, and where in the marks it lands; what is not given is 0 */
struct sl_hmark {
	struct sl_addr src_mask[2], dst_mask[2]; /* IPv4 (first word), IPv6 */
	uint32_t port_mask; /* of source port << 16 | destination port, or of an SPI */
	uint32_t port_set; /* bits that are set whatever the packet says */
	uint16_t proto_mask;
	uint32_t rnd, mod, offset; /* mark = hash * mod / 2^32 + offset; mod >= 1 */
};

/* a flow that is known otherwise than from the packet at hand: a tracked connection */
struct sl_hmark_flow {
	uint8_t family; /* enum sl_family */
	uint8_t proto;
	struct sl_addr src, dst;
	rte_be16_t sport_be, dport_be; /* whatever stands in their place where there are no ports */
};

/* the mark of a length of prefix: an address mask */
struct sl_addr sl_hmark_prefix(enum sl_family family, unsigned int len);

/**
 * sl_hmark() - the mark of a packet
 *
 * Return: true and *mark; false if the mark is to stay as it is (an ICMP error that quotes no whole
 * header). Context: any.
 */
bool sl_hmark(const struct sl_hmark *h, struct rte_mbuf *m, uint32_t *mark);

/* the mark of a connection: all protocols but ICMP have something in the place of ports */
uint32_t sl_hmark_of_flow(const struct sl_hmark *h, const struct sl_hmark_flow *flow);

/* sl_hmark() into the marks of @n (1..SL_BURST) packets of both families [worker] */
void sl_hmark_bulk(const struct sl_hmark *h, struct rte_mbuf *const *pkts, unsigned int n);
