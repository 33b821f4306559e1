/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Looking at packets from outside: captures and traces. While somebody looks, workers copy what he
 * asked for into a ring of each worker and reader and never wait; a ring that is full loses the
 * record and counts it. While nobody does, it costs a test of one pointer for each batch and hook,
 * and one for each packet that is dropped or delivered.
 *
 * A capture takes frames at fixed points: as they come in, enter a hook, are dropped, or leave. A
 * trace gives a number to packets that its filter or a TRACE target choose, and tells of each of
 * them what it is after every stage, each rule that held, and its end.
 */
#pragma once

#include "lib/drop.h"
#include "lib/pkt.h"
#include "lib/port.h"
#include "lib/stage.h"

#include <stdatomic.h>

struct sl_router;
struct sl_worker;
struct sl_stage_inst;

/* readers at once */
#define SL_WATCH_MAX 8
/* bytes of the ring of one worker and reader, a power of two */
#define SL_WATCH_RING (1U << 23)
/* of a rule's line; what is longer is cut */
#define SL_WATCH_TEXT_MAX 512

/* where a record was made */
enum sl_watch_at {
	SL_WATCH_PAD, /* to the end of the ring */
	SL_WATCH_RX, /* came in, or was made by the router */
	SL_WATCH_HOOK, /* enters a hook */
	SL_WATCH_STAGE, /* has passed a stage */
	SL_WATCH_RULE, /* a rule holds, or a chain has ended */
	SL_WATCH_DROP,
	SL_WATCH_DELIVERED, /* the router has taken it */
	SL_WATCH_TX, /* goes to the device */
};

/* what is known of a packet at that moment */
struct sl_watch_state {
	struct sl_addr src, dst;
	rte_be16_t sport_be, dport_be;
	uint32_t flags; /* SL_PKT_* */
	uint32_t mark;
	uint32_t priority;
	uint16_t in, out; /* ports */
	uint16_t zone;
	uint8_t family; /* enum sl_family; SL_AF_NONE: not parsed yet, or not IP */
	uint8_t proto;
	uint8_t ttl;
	uint8_t tos;
	uint8_t ct_info;
	bool has_ct;
};

struct sl_watch_rec {
	uint32_t size; /* of the whole record; a multiple of 8 */
	uint8_t at; /* enum sl_watch_at */
	uint8_t hook; /* enum sl_hook; SL_HOOK_NB: none */
	uint16_t reason; /* enum sl_drop_reason */
	uint32_t id; /* of a traced packet */
	uint32_t len; /* of the frame */
	uint32_t captured; /* bytes of it in data */
	uint32_t text_len; /* bytes of text behind them */
	uint64_t wall_ns;
	char stage[24]; /* "": none */
	struct sl_watch_state state;
	uint8_t data[];
};

struct sl_watch_ring {
	_Atomic uint64_t head; /* [worker] bytes ever written */
	_Atomic uint64_t missed[SL_PORTS_MAX]; /* [worker] records without room, by port */
	_Atomic uint64_t tail __rte_cache_aligned; /* [control] bytes ever taken */
	uint8_t data[SL_WATCH_RING] __rte_cache_aligned;
};

/* one reader; all but the rings is [const] while workers see it */
struct sl_watch {
	bool trace; /* else a capture */
	bool rx, tx; /* of a capture: at these points */
	bool marked; /* of a trace: only what a TRACE target chooses */
	uint8_t hooks; /* of a capture: SL_HOOK_BIT() of hooks whose packets are taken */
	uint8_t drop_hooks; /* likewise, what is dropped there; bit SL_HOOK_NB: outside of all hooks */
	uint32_t last_id; /* of a trace: no packet behind this one; 0: no end */
	uint16_t port; /* SL_PORT_NONE: all */
	bool (*match)(const void *arg, struct rte_mbuf *m); /* [worker] NULL: every frame */
	const void *match_arg;
	struct sl_watch_ring *rings[SL_WORKERS_MAX];
};

/* all readers [rcu] */
struct sl_watchers {
	unsigned int n;
	const struct sl_watch *v[SL_WATCH_MAX];
	const struct sl_watch *trace; /* the one of them that traces; NULL: none */
	bool rx, tx; /* some capture wants that */
	uint8_t hooks; /* likewise */
};

/**
 * sl_watch_add() - workers see @watch from now on
 *
 * Gives it its rings. Context: control.
 * Return: 0, -ENOMEM, -ENOSPC (too many readers), -EBUSY (somebody traces already).
 */
int sl_watch_add(struct sl_router *r, struct sl_watch *watch);

/* no worker writes to @watch any more; what it has can still be read. Context: control */
void sl_watch_remove(struct sl_router *r, const struct sl_watch *watch);

/* frees the rings of a reader that was removed */
void sl_watch_free_rings(struct sl_watch *watch);

/* [control] the oldest record of a worker, NULL: none; valid until sl_watch_pop() */
const struct sl_watch_rec *sl_watch_peek(struct sl_watch_ring *ring);
void sl_watch_pop(struct sl_watch_ring *ring, const struct sl_watch_rec *rec);

/* records that were lost at a port, of all workers */
uint64_t sl_watch_missed(const struct sl_watch *watch, uint16_t port);

/* [worker] the following only where w->watch is not NULL */
void sl_watch_rx(struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n);
void sl_watch_own(struct sl_worker *w, struct rte_mbuf *m);
void sl_watch_hook(struct sl_worker *w, enum sl_hook hook, struct rte_mbuf **pkts, unsigned int n);
void sl_watch_stage(struct sl_worker *w, const struct sl_stage_inst *s, struct rte_mbuf **pkts,
		unsigned int n);
void sl_watch_drop(struct sl_worker *w, struct rte_mbuf *m, enum sl_drop_reason reason);
void sl_watch_delivered(struct sl_worker *w, struct rte_mbuf *m);
void sl_watch_tx(struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n);
/* a TRACE target has chosen @m */
void sl_watch_choose(struct sl_worker *w, struct rte_mbuf *m);
/* @text: what held; @hook: of the table */
void sl_watch_rule(struct sl_worker *w, struct rte_mbuf *m, enum sl_hook hook, const char *text);
