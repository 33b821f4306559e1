/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The router: ports, workers and what they share. Programs make one, give it links and a
 * configuration, and either run workers on lcores or drive them by hand.
 */
#pragma once

#include "lib/pipeline.h"
#include "lib/port.h"
#include "lib/worker.h"

#include <rte_rcu_qsbr.h>

struct rte_mempool;
struct sl_conf;
struct sl_icmp_limits;
struct sl_neigh_table;
struct sl_net;
struct sl_router;
struct sl_watchers;

/* everything that a configuration makes: built aside, swapped by one pointer */
struct sl_snapshot {
	struct sl_net *net;
	struct sl_pipeline *pl;
};

/* something of another directory's that lives as long as the router; see sl_router_attach() */
struct sl_attachment {
	const void *key;
	void *ptr;
	void (*destroy)(void *ptr);
};
#define SL_ATTACHMENTS_MAX 8

/**
 * sl_steer_fn - [worker] the owner of a packet, where NAT has changed it
 * @owner: who it is by addresses and ports
 */
typedef uint16_t (*sl_steer_fn)(struct sl_router *r, struct rte_mbuf *m, uint16_t owner);

/* sl_closed_fn - [worker] a connection of a packet that was answered by a reset */
typedef void (*sl_closed_fn)(struct sl_worker *w, struct ct_entry *e);

struct sl_router {
	struct rte_mempool *pool; /* [const] mbufs with SL_PKT_PRIV_SIZE of private area */
	struct rte_rcu_qsbr *rcu; /* [const] one thread id per worker */
	unsigned int n_workers; /* [const] */
	struct sl_worker *workers[SL_WORKERS_MAX]; /* [const] */
	_Atomic bool threaded; /* [control] workers run on lcores: calls go by message */
	bool manual_clock; /* [const] the caller sets now_ns and wall_ns of workers (replay) */
	uint32_t secret; /* [const] of hashes that strangers should not foresee */
	uint64_t tsc_hz; /* [const] */
	uint64_t tsc_to_ns; /* [const] ns per tick, 32.32 fixed point */
	uint64_t start_tsc; /* [const] now_ns counts from here */
	uint64_t start_wall_ns; /* [const] wall clock at start_tsc */

	unsigned int n_ports; /* [const] ids 1..n_ports */
	struct sl_port ports[SL_PORTS_MAX]; /* [0] is the router itself, named "" */
	unsigned int n_links;
	struct sl_link *links[SL_PORTS_MAX];

	_Atomic(struct sl_snapshot *) snap; /* [rcu] what workers read; swapped whole */

	_Atomic(struct sl_watchers *) watchers; /* [rcu] see watch.h; NULL: nobody looks on */
	_Atomic uint32_t trace_id; /* of the packet that was traced last */

	struct sl_neigh_table *neigh; /* host worker writes, workers read */
	struct sl_icmp_limits *icmp_limits; /* shared token buckets of ICMP errors */
	_Atomic bool *pktlog_groups; /* [control] writes: NFLOG groups that are read; NULL: see pktlog */

	_Atomic(sl_closed_fn) closed; /* NULL: nothing is tracked */
	_Atomic(sl_steer_fn) steer; /* NULL: addresses and ports say it all */
	struct sl_attachment attached[SL_ATTACHMENTS_MAX]; /* [control] */
	unsigned int n_attached;

	/* [control] while a configuration is applied: where sl_stage_error() writes */
	char *err;
	size_t err_size;
};

/* the mbuf pool that every user of the library needs: @n buffers, @room bytes of data each */
struct rte_mempool *sl_pool_create(const char *name, unsigned int n, unsigned int room);

/**
 * sl_router_create() - a router with @n_workers workers, without ports
 *
 * @pool stays the caller's. Return: 0, -EINVAL, -ENOMEM.
 */
int sl_router_create(struct rte_mempool *pool, unsigned int n_workers, struct sl_router **out);

/**
 * sl_router_fix() - nothing left to chance, for replay
 *
 * The caller sets now_ns and wall_ns of every worker; seeds are fixed. Right after creation only.
 */
void sl_router_fix(struct sl_router *r);

/* ends packets that still wait (counted as shutdown); workers must have stopped */
void sl_router_drain(struct sl_router *r);

/* frees links, configuration and everything else; workers must have stopped */
void sl_router_free(struct sl_router *r);

/**
 * sl_router_add_port() - a logical port on @link
 * @vlan: VID, 0 = untagged
 *
 * Before start only. The link belongs to the router from the first port on it.
 * Return: the id (1..), -EEXIST (name, or VID on that link), -ENOSPC.
 */
int sl_router_add_port(struct sl_router *r, const char *name, struct sl_link *link,
		const struct rte_ether_addr *mac, uint16_t mtu, uint16_t vlan);

/**
 * sl_router_attach() - keep @ptr with the router until sl_router_free(), which calls @destroy
 * @key: the address of something of the caller's own
 *
 * For state that outlives configurations: connections, lists that rules share by name.
 * Context: control. Return: 0, -EEXIST, -ENOSPC; then @ptr stays the caller's.
 */
int sl_router_attach(struct sl_router *r, const void *key, void *ptr, void (*destroy)(void *ptr));

/**
 * sl_router_join_transit() - workers get a place for fragments of what is only passed on
 *
 * Stays until the router is freed. Context: control. Return: 0, -ENOMEM.
 */
int sl_router_join_transit(struct sl_router *r);

/* what was attached under @key; NULL: nothing. Context: control */
void *sl_router_attached(const struct sl_router *r, const void *key);

/* logical port by name; 0 if there is none */
uint16_t sl_router_port(const struct sl_router *r, const char *name);

/**
 * sl_router_apply() - take over a configuration: at start and on reload
 * @conf:   addresses, routes, neighbours, policy, switches; only read
 * @specs:  stages on top of the router's own
 *
 * Builds network state and pipeline aside, swaps both, waits for a grace period, frees the old ones.
 * On failure nothing has changed and @err names the place. Return: 0 or -errno.
 */
int sl_router_apply(struct sl_router *r, const struct sl_conf *conf,
		const struct sl_stage_spec *specs, unsigned int n_specs, char *err,
		size_t err_size);

/* wait until every worker has passed a quiescent state; no-op if nobody polls */
void sl_router_synchronize(struct sl_router *r);

/* sums over workers */
struct sl_port_stats {
	uint64_t rx, rx_bytes, tx, tx_bytes;
	uint64_t forwarded, delivered, dropped;
	int64_t held;
};
void sl_router_port_stats(const struct sl_router *r, uint16_t port, struct sl_port_stats *out);
uint64_t sl_router_drops(const struct sl_router *r, uint16_t port, enum sl_drop_reason reason);
void sl_router_stage_stats(const struct sl_router *r, uint16_t slot, struct sl_stage_stats *out);

/**
 * sl_router_balance() - rx = forwarded + delivered + held + drops, for every port
 *
 * Only meaningful while the box is quiet. Return: 0, or the id + 1 of the first port that is off,
 * whose two sides are put into @rx and @accounted.
 */
int sl_router_balance(const struct sl_router *r, uint64_t *rx, uint64_t *accounted);
