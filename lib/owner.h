/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owner of a flow: the one worker that may touch its state. A pure function of addresses and
 * ports, the same for both directions.
 */
#pragma once

#include "lib/pkt.h"

/**
 * sl_owner_hash() - 32 bits, equal for both directions of a flow
 *
 * Fragments and packets without ports hash on the addresses alone; ICMP errors on the flow that
 * they quote, where the quote can be read.
 */
uint32_t sl_owner_hash(struct rte_mbuf *m);

/* the same for a flow that is no packet; ports 0 where there are none */
uint32_t sl_owner_hash_of(enum sl_family family, const struct sl_addr *a, const struct sl_addr *b,
		rte_be16_t port_a, rte_be16_t port_b);

/* the worker of @n that owns the packet's flow */
static inline uint16_t sl_owner(struct rte_mbuf *m, unsigned int n)
{
	return (uint16_t)(((uint64_t)sl_owner_hash(m) * n) >> 32);
}
