/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rules want written down of packets (LOG, NFLOG, TRACE), on its way out of the workers. A
 * worker copies what a line needs into a ring of its own and never waits; control takes records out
 * and writes them. A ring that is full loses the record and counts it.
 *
 * Records lie one behind the other in a ring of bytes, each in one piece: one that would reach over
 * the end begins anew at the start, behind a record of kind SL_PKTLOG_PAD.
 */
#pragma once

#include "lib/addr.h"

#include <rte_common.h>
#include <rte_mbuf.h>

#include <stdatomic.h>

struct sl_router;
struct sl_worker;

/* bytes of one worker's ring */
#define SL_PKTLOG_RING (1U << 21)
#define SL_PKTLOG_PREFIX_MAX 96
#define SL_PKTLOG_GROUPS 65536

enum sl_pktlog_kind {
	SL_PKTLOG_PAD, /* to the end of the ring */
	SL_PKTLOG_LINE, /* a line of text */
	SL_PKTLOG_TRACE, /* likewise, of a traced packet */
	SL_PKTLOG_GROUP, /* the packet, for the readers of a group */
};

struct sl_pktlog_rec {
	uint32_t size; /* of the whole record; a multiple of 8 */
	uint8_t kind; /* enum sl_pktlog_kind */
	uint8_t family; /* enum sl_family */
	uint8_t level; /* as syslog's: 0 emergency .. 7 debug */
	uint8_t options; /* of the line; IPT_LOG_* */
	uint64_t wall_ns;
	uint16_t in; /* ports, SL_PORT_NONE: none */
	uint16_t out;
	uint16_t group;
	bool has_mac;
	uint8_t mac[12]; /* destination, source */
	uint32_t mark;
	uint32_t len; /* of the IP packet */
	uint32_t captured; /* bytes of it in data */
	char prefix[SL_PKTLOG_PREFIX_MAX];
	uint8_t data[]; /* from the IP header on */
};

/* of one worker */
struct sl_pktlog {
	_Atomic uint64_t head; /* [worker] bytes ever written */
	_Atomic uint64_t lost; /* [worker] records for which there was no room */
	_Atomic uint64_t unread; /* [worker] packets for groups that nobody reads */
	_Atomic uint64_t tail __rte_cache_aligned; /* [control] bytes ever taken */
	uint8_t data[SL_PKTLOG_RING] __rte_cache_aligned;
};

/* [control] rings for all workers, once; before rules that write are in force. Return: 0, -ENOMEM */
int sl_pktlog_enable(struct sl_router *r);
void sl_pktlog_free(struct sl_router *r);

/* [control] whether somebody reads packets of a group */
void sl_pktlog_subscribe(struct sl_router *r, uint16_t group, bool on);

/**
 * sl_pktlog_write() - [worker] one record about the packet of @m
 * @head:    all but size, time, family, mark, len, captured and MAC addresses, which are filled in
 * @capture: bytes of the IP packet that are wanted
 *
 * A packet of a group that nobody reads is only counted.
 */
void sl_pktlog_write(struct sl_worker *w, struct rte_mbuf *m, const struct sl_pktlog_rec *head,
		uint32_t capture);

/* [control] the oldest record of a worker, NULL: none; valid until sl_pktlog_pop() */
const struct sl_pktlog_rec *sl_pktlog_peek(struct sl_worker *w);
void sl_pktlog_pop(struct sl_worker *w, const struct sl_pktlog_rec *rec);

/* sums over workers */
uint64_t sl_pktlog_lost(const struct sl_router *r);
uint64_t sl_pktlog_unread(const struct sl_router *r);
