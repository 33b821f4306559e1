/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports. A logical port is what rules, routes and addresses name. It stands on a link: an ethdev,
 * a memory source and sink, or a capture file. Several VLAN ports may share one link.
 */
#pragma once

#include "lib/addr.h"
#include "lib/pkt.h"

#include <stdatomic.h>

#define SL_PORTS_MAX 64 /* logical ports; id 0 is the router itself */
#define SL_PORT_NAME_MAX 16 /* with NUL, as IFNAMSIZ */
#define SL_WORKERS_MAX 32

struct sl_link;

struct sl_link_ops {
	const char *kind; /* "ethdev", "memory", "pcap" */
	/* [worker] as rte_eth_rx_burst and rte_eth_tx_burst */
	uint16_t (*rx)(struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n);
	uint16_t (*tx)(struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n);
	/* [control] stop, close and free; never while workers poll it */
	void (*close)(struct sl_link *link);
};

/* a thing that packets come from and go to; concrete links embed this first */
struct sl_link {
	const struct sl_link_ops *ops; /* [const] */
	uint16_t n_rxq; /* [const] worker i polls queue i; workers >= n_rxq poll nothing here */
	uint16_t n_txq; /* [const] worker i sends on queue i; others hand over to i % n_txq */
	bool spreads; /* [const] symmetric RSS over n_rxq == workers queues: receiver is owner */
	bool csum_partial; /* [const] peers may leave L4 checksums to hardware: complete them */
	bool segments; /* [const] peers may leave segmentation to hardware: name it when seen */
	_Atomic bool up; /* [control] writes, workers read */
	uint16_t home; /* [const] port that frames are counted on until their VLAN is known */
	uint16_t port; /* [const] logical port for untagged frames, SL_PORT_NONE: tagged only */
	uint16_t *vlan_port; /* [const] logical port by VID (4096), 0 = none; NULL: no VLANs */
};

struct sl_port {
	uint16_t id; /* 1.. */
	char name[SL_PORT_NAME_MAX];
	struct rte_ether_addr mac;
	uint16_t mtu; /* of the IP packet, bytes */
	uint16_t vlan; /* VID that its frames carry, 0 = untagged */
	struct sl_link *link;
	uint8_t v6_token[8]; /* interface id of its link-local address (EUI-64 of mac) */
};
