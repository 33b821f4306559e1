/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports on an AF_PACKET socket, for device strings of DPDK's net_af_packet.
 *
 * DPDK's own driver would not do for a router: it joins a fanout group that makes the kernel
 * reassemble IPv4 fragments and then cuts them to its frame size, it loses what the kernel knows of
 * checksums left to hardware, and it cuts segments larger than its frames. Here
 *
 *  - the kernel says with every frame what is owed (PACKET_VNET_HDR): checksums are completed and
 *    TCP and UDP segments cut to size, so that peers may leave their offloads on;
 *  - frames come through a memory-mapped ring; what is larger than a slot of it is also queued
 *    whole (PACKET_COPY_THRESH), so that slots can be small;
 *  - tags that the kernel took off are put back;
 *  - workers beyond the first get their share by the kernel's flow hash, each with a ring of its
 *    own; every worker sends on a socket of its own.
 *
 * See packet(7) and packet_mmap.rst of the kernel.
 */
#pragma once

#include "app/sluice/gso.h"
#include "app/sluice/link.h"

#include <sys/uio.h>

#define PACKET_COPY_SIZE (sizeof(struct virtio_net_hdr) + RTE_ETHER_HDR_LEN + 4 + 65536U)
#define PACKET_TX_IOVECS (4 * SL_BURST)

/* of one worker */
struct packet_queue {
	int rx_fd; /* [const] -1: this worker only sends */
	int tx_fd; /* [const] */
	uint8_t *ring; /* [const] */
	uint8_t *copy; /* [const] a frame larger than a slot, vnet header first */
	uint8_t *piece; /* [const] one segment that was cut from it */
	unsigned int slot; /* [worker] next to read */
	uint16_t cut_vlan
			[2]; /* [worker] TPID and TCI of the frame that is being cut, network order */
	struct gso gso; /* [worker] */
	uint64_t rx_errors; /* [worker] */
	uint64_t rx_no_buffer; /* [worker] */
	uint64_t tx_errors; /* [worker] */
	_Atomic uint64_t missed; /* [control] and telemetry's thread */
} __rte_cache_aligned;

struct packet_link {
	struct port_link pl; /* first */
	struct rte_mempool *pool; /* [const] */
	unsigned int slot_size; /* [const] */
	unsigned int block_slots; /* [const] slots in a block of PACKET_BLOCK_SIZE bytes */
	unsigned int n_slots; /* [const] */
	unsigned int n_queues; /* [const] */
	struct packet_queue queues[SL_WORKERS_MAX];
};

#define PACKET_BLOCK_SIZE 65536U

static inline struct packet_link *packet_link(struct sl_link *link)
{
	return (struct packet_link *)(void *)link;
}

/* [worker] packet_io.c */
uint16_t packet_rx(struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n);
uint16_t packet_tx(struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n);
