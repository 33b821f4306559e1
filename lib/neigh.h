/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours: ARP and ND. The host worker (worker 0) alone writes entries, keeps their timers and
 * the packets that wait; every worker reads the link address with one atomic load. The states are
 * the kernel's (NUD).
 */
#pragma once

#include "lib/addr.h"
#include "lib/pkt.h"

#include <stdatomic.h>

struct sl_conf;
struct sl_neigh_table;
struct sl_router;
struct sl_worker;

enum sl_neigh_state {
	SL_NEIGH_NONE,
	SL_NEIGH_INCOMPLETE,
	SL_NEIGH_REACHABLE,
	SL_NEIGH_STALE,
	SL_NEIGH_DELAY,
	SL_NEIGH_PROBE,
	SL_NEIGH_FAILED,
	SL_NEIGH_PERMANENT,
	SL_NEIGH_STATE_NB,
};

/* link word: MAC in the low 48 bits (first byte lowest), usable bit on top */
#define SL_NEIGH_USABLE (1ULL << 63)

struct sl_neigh {
	_Atomic uint64_t link; /* host worker writes, workers read */
	_Atomic uint8_t used; /* set by workers when it is 0, cleared by the host worker's timer */
	uint8_t family;
	uint16_t port;
	struct sl_addr addr;
	/* the rest is the host worker's; see lib/neigh.c */
};

int sl_neigh_table_create(struct sl_router *r, struct sl_neigh_table **out);
void sl_neigh_table_free(struct sl_neigh_table *t);

/* entry for (port, address), made if it is not there; pinned until sl_neigh_unpin(). [control] */
struct sl_neigh *sl_neigh_pin(struct sl_router *r, uint16_t port, enum sl_family family,
		const struct sl_addr *addr);
void sl_neigh_unpin(struct sl_router *r, struct sl_neigh *n);

/* static entries of a configuration: new ones permanent, those gone from it forgotten; checked
 * whole before anything changes. [control] */
int sl_neigh_apply(struct sl_router *r, const struct sl_conf *conf, char *err, size_t err_size);

/* [worker] entry for (port, address) or NULL; lock-free */
struct sl_neigh *sl_neigh_find(const struct sl_neigh_table *t, uint16_t port, enum sl_family family,
		const struct sl_addr *addr);

/* [host worker] an ARP frame or an ND packet for the router; takes it */
void sl_neigh_rx_arp(struct sl_worker *w, struct rte_mbuf *m);
void sl_neigh_rx_nd(struct sl_worker *w, struct rte_mbuf *m);

/* [host worker] hold @m until p->via on p->out_port is known, then send; takes it */
void sl_neigh_resolve(struct sl_worker *w, struct rte_mbuf *m);

/* [worker] resolution failed (SL_HANDOFF_UNREACH): host unreachable to the sender, drop; takes it */
void sl_neigh_unreach(struct sl_worker *w, struct rte_mbuf *m);

/* [worker] a packet goes to @n, whose `used` was found to be 0: the host worker has to know */
void sl_neigh_wake(struct sl_neigh_table *t, struct sl_neigh *n);

/* [host worker] timers: probes, expiry; cheap when nothing is due. Between two bursts. */
void sl_neigh_tick(struct sl_worker *w);

/* [host worker] when the next timer is due, UINT64_MAX: none; a clock that jumps stops there */
uint64_t sl_neigh_next_ns(const struct sl_neigh_table *t);

/* [host worker] drop everything that waits, at the end */
void sl_neigh_flush(struct sl_worker *w);

/* [host worker] link went down or up: entries of the port are flushed; up: announce addresses */
void sl_neigh_port_changed(struct sl_worker *w, uint16_t port, bool up);

struct sl_neigh_info {
	uint16_t port;
	uint8_t family;
	struct sl_addr addr;
	struct rte_ether_addr mac;
	enum sl_neigh_state state;
	bool has_mac, router, pinned;
	unsigned int queued;
	uint64_t age_ns; /* since the last confirmation */
};
/* [control] copies up to @max entries; returns how many there are */
unsigned int sl_neigh_list(struct sl_router *r, struct sl_neigh_info *out, unsigned int max);

const char *sl_neigh_state_name(enum sl_neigh_state state);
