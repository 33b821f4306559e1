/* SPDX-License-Identifier: BSD-3-Clause */
/* The bytes of an IP header that rules read and write, in both families. */
#pragma once

#include "lib/pkt.h"

/* TTL or hop limit */
uint8_t ipt_ttl(struct rte_mbuf *m);
/* the header checksum of IPv4 follows */
void ipt_set_ttl(struct rte_mbuf *m, uint8_t ttl);

/* TOS or traffic class, all 8 bits */
uint8_t ipt_tos(struct rte_mbuf *m);
void ipt_set_tos(struct rte_mbuf *m, uint8_t tos);
