/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker: one lcore that polls, with everything that it alone writes. In replay and in benchmarks
 * one thread drives all of them in turn; the code cannot tell.
 */
#pragma once

#include "lib/drop.h"
#include "lib/pipeline.h"
#include "lib/port.h"

#include <rte_ring.h>

#include <stdatomic.h>

/* router's own packets that may wait for the end of a burst; more are dropped by name */
#define SL_OUTPUT_MAX 512
/* packets for the router itself that one burst can leave */
#define SL_INPUT_MAX (4 * SL_BURST)

struct sl_net;
struct sl_pktlog;
struct sl_reasm;
struct sl_watchers;

/* frames that wait for the end of the burst, by output link queue */
struct sl_txq {
	unsigned int n;
	struct rte_mbuf *pkts[2 * SL_BURST];
};

struct sl_worker {
	uint16_t id; /* [const] 0 is the host worker: it owns neighbours */
	struct sl_router *r; /* [const] */
	uint64_t now_ns; /* [worker] monotonic; in replay the capture's time */
	uint64_t wall_ns; /* [worker] since the epoch, for IPv4 timestamps and -m time */

	/* loaded once a burst, valid until the worker reports a quiescent state */
	const struct sl_net *net; /* [rcu] addresses, routes, switches */
	const struct sl_pipeline *pl; /* [rcu] */
	const struct sl_watchers *watch; /* [rcu] who looks on; NULL: nobody */
	const struct sl_stage_inst *watch_stage; /* the stage that runs, while somebody looks on */
	struct sl_stage_stats *stage; /* of the stage that runs: whom sl_drop() blames */

	struct sl_stage_stats stages[SL_STAGES_MAX]; /* by slot */
	struct sl_stage_stats outside; /* blamed for drops outside of any stage */

	/* balance, by input port: rx = forwarded + delivered + held + drops */
	uint64_t rx[SL_PORTS_MAX]; /* received; [0]: made by the router */
	uint64_t rx_bytes[SL_PORTS_MAX];
	uint64_t forwarded[SL_PORTS_MAX]; /* left by a link, or was taken by the device */
	uint64_t delivered[SL_PORTS_MAX]; /* consumed by the router itself */
	int64_t held[SL_PORTS_MAX]; /* in reassembly, at a neighbour, in a ring; sum over workers */
	uint64_t drops[SL_PORTS_MAX][SL_DROP_NB];
	/* by output port: frames, fragments each for itself */
	uint64_t tx[SL_PORTS_MAX];
	uint64_t tx_bytes[SL_PORTS_MAX];
	uint64_t handed[SL_HANDOFF_NB]; /* packets given to other workers */

	struct rte_mbuf *input[SL_INPUT_MAX]; /* routed to the router itself */
	unsigned int n_input;
	struct rte_mbuf *output[SL_OUTPUT_MAX]; /* the router's own, nh set */
	unsigned int n_output;
	struct sl_txq txq[SL_PORTS_MAX]; /* by logical port */

	struct rte_ring *inbox[SL_WORKERS_MAX]; /* single producer: worker i; NULL for itself */
	struct rte_ring *messages; /* struct sl_msg from control */
	struct sl_reasm *reasm; /* [worker] fragments that wait for the rest */
	/* the same of everything, not only what is for the router; NULL until tracking needs it */
	_Atomic(struct sl_reasm *) transit;
	struct sl_pktlog *pktlog; /* what rules write down; NULL: no rule of any ruleset ever did */
	uint32_t rand_state[4]; /* [worker] xoshiro128++; seeded per worker, fixed in replay */
} __rte_cache_aligned;

/* a received packet belongs to another logical port of its link (VLAN) */
static inline void sl_worker_move_port(struct sl_worker *w, struct rte_mbuf *m, uint16_t port)
{
	struct sl_pkt *p = sl_pkt(m);

	w->rx[p->in_port]--;
	w->rx_bytes[p->in_port] -= m->pkt_len;
	w->rx[port]++;
	w->rx_bytes[port] += m->pkt_len;
	p->in_port = port;
}

/* end of a packet that the router consumed (host stages), or that was joined to another one */
void sl_worker_deliver(struct sl_worker *w, struct rte_mbuf *m);

/* a routed packet for the router itself: input hooks, then host, at the end of the burst */
void sl_worker_to_host(struct sl_worker *w, struct rte_mbuf *m);

/**
 * sl_worker_originate() - send a packet of the router's own
 * @m: frame with room for the Ethernet header in front of the IP header (l3_off = 14), parsed by
 *     sl_pkt_parse_own(); sl_pkt(m)->nh and out_port are set
 *
 * Goes through output and postrouting at the end of the burst. Takes @m in every case; counts it as
 * received on port 0.
 */
void sl_worker_originate(struct sl_worker *w, struct rte_mbuf *m);

/**
 * sl_worker_send() - a finished frame to its output port's queue
 * @m: Ethernet header in place, sl_pkt(m)->out_port set; the VLAN tag is added here
 */
void sl_worker_send(struct sl_worker *w, struct rte_mbuf *m);

/* sl_worker_send() for @n (1..SL_BURST) frames that all leave by @port */
void sl_worker_send_bulk(
		struct sl_worker *w, uint16_t port, struct rte_mbuf **pkts, unsigned int n);

/* frames that wait, to their devices; part of sl_pipeline_flush() */
void sl_worker_tx_flush(struct sl_worker *w);

/**
 * sl_handoff() - give a packet to another worker
 *
 * Counted as held while it lies in the ring. A full ring drops it as handoff_full.
 */
void sl_handoff(struct sl_worker *w, struct rte_mbuf *m, uint16_t to, enum sl_handoff kind);

/* loads the snapshot; first thing of a burst where sl_worker_poll() is not used */
void sl_worker_begin(struct sl_worker *w);

/* timers that are due by the worker's clock: neighbours, reassembly, those of stages */
void sl_worker_tick(struct sl_worker *w);

/**
 * sl_worker_poll() - one turn: messages, timers, inboxes, every rx queue of this worker
 *
 * Return: packets moved; 0 tells the caller that it may rest.
 */
unsigned int sl_worker_poll(struct sl_worker *w);

/* uniform 32 bits; not for secrets */
uint32_t sl_worker_random(struct sl_worker *w);

/* a request from control, run by the worker between two bursts */
struct sl_msg {
	void (*run)(struct sl_worker *w, void *arg);
	void *arg;
	_Atomic bool done;
};

/**
 * sl_worker_call() - run @fn in worker @w and wait for it
 *
 * Context: control. Where nobody polls (replay, benchmarks, before start) it is called at once.
 */
void sl_worker_call(struct sl_worker *w, void (*fn)(struct sl_worker *w, void *arg), void *arg);
