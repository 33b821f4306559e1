/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Ethernet header of a packet that leaves. It stands right in front of the IP header, wherever
 * the frame began when it came in (a VLAN tag makes four bytes of difference; sl_worker_send() adds
 * the output port's tag).
 */
#pragma once

#include "lib/pkt.h"
#include "lib/router.h"

#include <rte_ether.h>

/* source address and ethertype: the header's last 8 bytes, as they lie in memory */
static inline uint64_t neigh_frame_tail(const struct sl_port *port, uint8_t family)
{
	uint16_t type = family == SL_AF_INET6 ? RTE_BE16(RTE_ETHER_TYPE_IPV6)
					      : RTE_BE16(RTE_ETHER_TYPE_IPV4);
	uint64_t tail = 0;

	memcpy(&tail, &port->mac, sizeof(port->mac));
	memcpy((uint8_t *)&tail + sizeof(port->mac), &type, sizeof(type));
	return tail;
}

/* 14 bytes at @eth by two stores that overlap; @link: MAC, first byte lowest, rest of no account */
static inline void neigh_frame_store(uint8_t *eth, uint64_t link, uint64_t tail)
{
	link = rte_cpu_to_le_64(link);
	memcpy(eth, &link, sizeof(link));
	memcpy(eth + RTE_ETHER_ADDR_LEN, &tail, sizeof(tail));
}

/* make the frame begin 14 bytes before the IP header; false: no room in front */
bool neigh_frame_align(struct rte_mbuf *m);

/* the whole header of one packet, p->out_port and p->family set; false: no room in front */
bool neigh_frame_write(const struct sl_router *r, struct rte_mbuf *m, uint64_t link);
