/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stage: code plugged into a hook at an order. One const struct of callbacks at the bottom of its
 * file and one line in one table (app/sluice/stages.c); a plug-in hands out the same struct.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#define SL_STAGE_API_VERSION 1

struct rte_mbuf;
struct sl_router;
struct sl_stage_conf;
struct sl_worker;

/* where a stage may stand, in the order in which a forwarded packet meets them */
enum sl_hook {
	SL_HOOK_INGRESS,
	SL_HOOK_PREROUTING,
	SL_HOOK_INPUT,
	SL_HOOK_FORWARD,
	SL_HOOK_OUTPUT,
	SL_HOOK_POSTROUTING,
	SL_HOOK_NB,
};

#define SL_HOOK_BIT(hook) (1U << (hook))

/* order inside a hook: netfilter's priorities; the router's own steps stand outside them */
enum sl_order {
	SL_ORDER_FIRST = -1000, /* parse, handoff, forward: before everything */
	SL_ORDER_REASSEMBLY = -400,
	SL_ORDER_RAW = -300,
	SL_ORDER_CONNTRACK = -200,
	SL_ORDER_MANGLE = -150,
	SL_ORDER_DNAT = -100,
	SL_ORDER_FILTER = 0,
	SL_ORDER_SECURITY = 50,
	SL_ORDER_SNAT = 100,
	SL_ORDER_CONFIRM = 900,
	SL_ORDER_LAST = 1000, /* route, host, neighbour: behind everything */
};

struct sl_stage_ops {
	uint32_t api_version; /* SL_STAGE_API_VERSION */
	const char *name; /* [a-z0-9_-], unique */
	const char *help; /* one line */
	uint32_t hooks; /* SL_HOOK_BIT() of every hook where it may stand */
	int order; /* default, see enum sl_order */

	/**
	 * [control] make one instance; every worker runs it at the same time.
	 * @conf is the stage's entry under `pipeline:`, NULL for a stage of the router's own.
	 * Return: 0 and *priv (may stay NULL), or -errno, after sl_stage_error() where the
	 * configuration is to blame (lib/stage_conf.h).
	 */
	int (*create)(struct sl_router *r, const struct sl_stage_conf *conf, void **priv);

	/**
	 * [worker] treat @n (1..SL_BURST) packets.
	 * Survivors go to the front of @pkts in their order; every other packet has been given to
	 * exactly one place (sl_drop, sl_worker_to_host, sl_handoff, a hold of the stage's own).
	 * No lock, allocation or system call. Return: the number of survivors.
	 */
	unsigned int (*process)(
			struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n);

	/**
	 * [worker] once a turn, while no packet is under way; may be NULL.
	 * For timers and for what a burst has left behind. Bounded work, no packet given up.
	 */
	void (*tick)(struct sl_worker *w, void *priv);

	/* [control] after a grace period; may be NULL */
	void (*destroy)(void *priv);

	/* [control] one line about the instance for people, without newline; may be NULL */
	void (*describe)(const void *priv, FILE *out);
};

const char *sl_hook_name(enum sl_hook hook);
