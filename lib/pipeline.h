/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pipeline: stages in the order of hooks, built aside by control and swapped under RCU.
 *
 *   parse, ingress, prerouting, route -+-> forward, postrouting, neighbour, tx
 *                                      +-> input, host
 *                 router's own packets --> output, postrouting, neighbour, tx
 *
 * A worker takes a batch from rx to tx. Between two stages it reads the TSC once and adds packets,
 * survivors, cycles and batches to counters of its own (struct sl_stage_stats), always.
 */
#pragma once

#include "lib/stage.h"

#include <rte_common.h>

#include <stdint.h>

#define SL_STAGES_MAX 64

struct sl_stage_inst {
	const struct sl_stage_ops *ops;
	void *priv; /* [const] */
	int order;
	uint16_t slot; /* of the counters; kept over reloads by (hook, order, name, nth) */
	uint8_t hook; /* enum sl_hook */
};

/* counters of one stage in one worker [worker] */
struct sl_stage_stats {
	uint64_t packets; /* in */
	uint64_t survivors; /* out */
	uint64_t drops;
	uint64_t batches;
	uint64_t cycles; /* TSC */
} __rte_aligned(64);

struct sl_pipeline {
	unsigned int n;
	struct sl_stage_inst stages[SL_STAGES_MAX]; /* by hook, then order */
	uint16_t first[SL_HOOK_NB + 1]; /* stages of hook h: first[h] .. first[h + 1] - 1 */
	unsigned int n_ticks;
	uint16_t ticks[SL_STAGES_MAX]; /* stages that have a tick, by index */
};

/* one stage that the pipeline shall hold */
struct sl_stage_spec {
	const struct sl_stage_ops *ops;
	const struct sl_stage_conf *conf; /* NULL: the router's own */
	enum sl_hook hook;
	int order;
};

/**
 * sl_pipeline_build() - instances of the router's own stages and of @specs, in order
 * @prev:  pipeline in use, whose counter slots are taken over; NULL at start
 *
 * Own stages (parse, handoff, route, forward, host, neighbour) are added by itself.
 * Return: 0 and *out, -EINVAL (stage may not stand in that hook), -E2BIG, or what a create said;
 * everything that was made is unmade again.
 */
int sl_pipeline_build(struct sl_router *r, const struct sl_pipeline *prev,
		const struct sl_stage_spec *specs, unsigned int n_specs, struct sl_pipeline **out);

/* destroys every instance; after a grace period if it was in use */
void sl_pipeline_free(struct sl_pipeline *pl);

/**
 * sl_pipeline_rx() - a batch that @port received, to its end
 * @port: logical port id
 * @n:    1..SL_BURST; the mbufs belong to the pipeline from here on
 *
 * Context: worker. Fills the line 1 defaults of struct sl_pkt; the caller need not.
 */
void sl_pipeline_rx(struct sl_worker *w, uint16_t port, struct rte_mbuf **pkts, unsigned int n);

/* a batch handed over by another worker, starting at prerouting */
void sl_pipeline_resume(struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n);

/* everything that the batch left behind: host input, own packets, tx; ends a burst */
void sl_pipeline_flush(struct sl_worker *w);
