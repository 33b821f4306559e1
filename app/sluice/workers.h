/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that run the router's workers, one lcore each. */
#pragma once

#include "lib/worker.h"

struct app;

struct worker_thread {
	struct sl_worker *w; /* [const] */
	unsigned int cpu; /* [const] */
	bool shares; /* [const] another worker is on this CPU */
	bool isolated; /* [const] nobody else is: poll without rest */
	/* [worker] control reads */
	_Atomic uint64_t polls;
	_Atomic uint64_t idle; /* polls that found nothing */
	_Atomic uint64_t rests; /* short sleeps */
	_Atomic uint64_t busy_ns; /* in polls that found something */
} __rte_cache_aligned;

/* start every worker on its lcore. Return: 0 or -errno, and then none runs */
int workers_start(struct app *app);

/* end all; returns when they have. Idempotent */
void workers_stop(struct app *app);
