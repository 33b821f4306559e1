/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The running program: router, devices, worker threads and the control thread, which owns all of
 * this. Only telemetry looks at it from a thread of its own, under @lock.
 */
#pragma once

#include "app/sluice/eal.h"
#include "app/sluice/link.h"
#include "app/sluice/workers.h"
#include "lib/router.h"

#include <pthread.h>

struct packet_log;
struct sl_conf;
struct listener;
struct sl_firewall;
struct watch_stream;

struct app {
	const char *conf_path; /* [const] */
	const char *state_path; /* [const] of connections; NULL: none are kept */
	struct sl_conf *conf; /* [control] in force */
	struct eal_setup eal; /* [const] */
	struct rte_mempool *pool; /* [const] */
	struct sl_router *r; /* [const] */
	struct sl_firewall *fw; /* [control] in force */
	struct packet_log *packet_log; /* [control] */
	unsigned int n_links; /* [const] */
	struct port_link *links[SL_PORTS_MAX]; /* [const] one for each device */
	struct port_link *port_link[SL_PORTS_MAX]; /* [const] by port id */
	struct worker_thread threads[SL_WORKERS_MAX]; /* [const] */
	pthread_mutex_t lock; /* held by control while it swaps the configuration */
	struct listener *listener; /* [control] to connections; NULL: nobody is */
	struct watch_stream *stream; /* [control] a command's, for who asked to take over */
	unsigned int reloads; /* [control] that went well */
	uint64_t table_full; /* [control] packets that had been dropped so when it was last said, */
	uint64_t table_full_ms; /* and when that was */
	bool stop; /* [control] */
};
