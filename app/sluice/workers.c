/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker that finds nothing to do spins for a while, since the next packet is most likely near,
 * and then rests between polls for a time that grows to REST_MAX_NS: a router without traffic takes
 * a few percent of its CPU, and the first packet of a burst waits for about 60 us at most. On an
 * isolated CPU, where nobody else could use the time, it never rests. On a CPU with several workers
 * it rests sooner.
 */
#include "app/sluice/workers.h"

#include "app/sluice/app.h"
#include "lib/log.h"

#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <time.h>

SL_LOG_TYPE("worker");

#define SPIN_POLLS 512
#define SPIN_POLLS_SHARED 16
#define REST_MIN_NS 5000
#define REST_MAX_NS 50000

static atomic_bool stop_all;

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	/* one writer: no locked instruction */
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
			memory_order_relaxed);
}

/* @idle: polls in a row that found nothing */
static void rest(struct worker_thread *t, unsigned int idle)
{
	unsigned int spin = t->shares ? SPIN_POLLS_SHARED : SPIN_POLLS;
	struct timespec ts = { .tv_nsec = REST_MIN_NS };

	if (t->isolated || idle < spin) {
		rte_pause();
		return;
	}
	ts.tv_nsec = RTE_MIN(REST_MIN_NS + (long)(idle - spin) * 1000, (long)REST_MAX_NS);
	nanosleep(&ts, NULL);
	add(&t->rests, 1);
}

static int run(void *arg)
{
	struct worker_thread *t = arg;
	struct rte_rcu_qsbr *rcu = t->w->r->rcu;
	uint64_t poll_ns = 0;
	unsigned int idle = 0;
	bool busy = false;

	/* else the kernel rounds the rests up by 50 us */
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	rte_rcu_qsbr_thread_register(rcu, t->w->id);
	rte_rcu_qsbr_thread_online(rcu, t->w->id);
	while (!atomic_load_explicit(&stop_all, memory_order_relaxed)) {
		unsigned int n = sl_worker_poll(t->w);

		rte_rcu_qsbr_quiescent(rcu, t->w->id);
		add(&t->polls, 1);
		/* the clock that this poll began with ends the one before: no further look at it */
		if (busy)
			add(&t->busy_ns, t->w->now_ns - poll_ns);
		poll_ns = t->w->now_ns;
		busy = n > 0;
		if (n > 0) {
			idle = 0;
			continue;
		}
		add(&t->idle, 1);
		rest(t, idle++);
	}
	rte_rcu_qsbr_thread_offline(rcu, t->w->id);
	rte_rcu_qsbr_thread_unregister(rcu, t->w->id);
	return 0;
}

/* whether @cpu is in the kernel's list of isolated CPUs, "2-5,8" */
static bool is_isolated(unsigned int cpu)
{
	FILE *f = fopen("/sys/devices/system/cpu/isolated", "re");
	char list[1024] = "";
	char *p = list;

	if (f == NULL)
		return false;
	if (fgets(list, sizeof(list), f) == NULL)
		list[0] = '\0';
	fclose(f);
	while (*p >= '0' && *p <= '9') {
		unsigned long first = strtoul(p, &p, 10);
		unsigned long last = *p == '-' ? strtoul(p + 1, &p, 10) : first;

		if (cpu >= first && cpu <= last)
			return true;
		if (*p == ',')
			p++;
	}
	return false;
}

int workers_start(struct app *app)
{
	struct sl_router *r = app->r;
	int ret;

	atomic_store(&stop_all, false);
	for (unsigned int i = 0; i < r->n_workers; i++) {
		struct worker_thread *t = &app->threads[i];

		t->w = r->workers[i];
		t->cpu = app->eal.worker_cpu[i];
		t->shares = app->eal.worker_shares[i];
		t->isolated = is_isolated(t->cpu) && !t->shares;
		if (getrandom(t->w->rand_state, sizeof(t->w->rand_state), 0) < 0)
			return -errno;
	}
	/* from here on calls into workers go by message */
	atomic_store(&r->threaded, true);
	for (unsigned int i = 0; i < r->n_workers; i++) {
		ret = rte_eal_remote_launch(run, &app->threads[i], i + 1);
		if (ret < 0) {
			SL_LOG(ERR, "worker %u on lcore %u: %s", i, i + 1, strerror(-ret));
			workers_stop(app);
			return ret;
		}
		SL_LOG(INFO, "worker %u on CPU %u%s%s", i, app->threads[i].cpu,
				app->threads[i].shares ? ", shared" : "",
				app->threads[i].isolated ? ", isolated" : "");
	}
	return 0;
}

void workers_stop(struct app *app)
{
	atomic_store(&stop_all, true);
	for (unsigned int i = 0; i < app->r->n_workers; i++)
		rte_eal_wait_lcore(i + 1);
	atomic_store(&app->r->threaded, false);
}
