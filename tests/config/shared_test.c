/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules share by name, asked by several workers at once: no token is given twice or lost. */
#include "classifier/hashlimit.h"
#include "classifier/recent.h"
#include "lib/router.h"

#include <rte_eal.h>
#include <rte_mbuf.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define WORKERS 4
#define ROUNDS 20000
#define KEYS 64

static struct rte_mempool *pool;
static struct sl_router *r;

/* one bucket per key for all workers; nothing comes back while the clock stands */
static struct hashlimit_conf conf_of(uint32_t max)
{
	return (struct hashlimit_conf){ .avg = 1000000,
		.burst = 1000,
		.max = max,
		.expire_jiffies = 1000000,
		.gc_jiffies = 250,
		.mode = IPT_HASHLIMIT_SRCIP,
		.src_len = 32,
		.dst_len = 32 };
}

struct job {
	struct hashlimit_table *table;
	struct recent_list *list;
	unsigned int number, round;
	uint64_t now;
	uint64_t answers[HASHLIMIT_FULL + 1];
};

static void start_all(void *(*fn)(void *), struct job *jobs)
{
	pthread_t threads[WORKERS];

	for (unsigned int i = 0; i < WORKERS; i++) {
		jobs[i].number = i;
		assert_int_equal(pthread_create(&threads[i], NULL, fn, &jobs[i]), 0);
	}
	for (unsigned int i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void *take_tokens(void *arg)
{
	struct job *job = arg;

	for (unsigned int i = 0; i < ROUNDS * 2; i++) {
		const struct hashlimit_key key = { .src.w[0] = i % KEYS };

		job->answers[hashlimit_take(job->table, &key, 5, 60, false, false)]++;
	}
	return NULL;
}

static void test_hashlimit_when_workers_share_a_key_gives_each_token_once(void **state)
{
	struct hashlimit_conf conf = conf_of(4 * KEYS);
	struct job jobs[WORKERS] = { 0 };
	struct hashlimit_table *t;
	uint64_t under = 0;

	(void)state;
	/* 625 packets of each worker for each key, and 1000 tokens */
	assert_int_equal(hashlimit_hold(r, "a", IPT_V4, &conf, &t), 0);
	for (unsigned int i = 0; i < WORKERS; i++)
		jobs[i].table = t;
	start_all(take_tokens, jobs);
	for (unsigned int i = 0; i < WORKERS; i++) {
		under += jobs[i].answers[HASHLIMIT_UNDER];
		assert_int_equal(jobs[i].answers[HASHLIMIT_FULL], 0);
	}
	assert_int_equal(under, KEYS * 1000);
	hashlimit_release(t);
}

/* keys of its own for each worker, and others in the next round */
static void *fill(void *arg)
{
	struct job *job = arg;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		const struct hashlimit_key key = {
			.src.w[0] = i, .dst.w[0] = job->number, .dst.w[1] = job->round
		};

		job->answers[hashlimit_take(job->table, &key, job->now, 60, false, false)]++;
	}
	return NULL;
}

/* Return: packets for which there was no room, in two rounds between which everything expires */
static uint64_t fill_twice(uint32_t max)
{
	struct hashlimit_conf conf = conf_of(max);
	struct job jobs[WORKERS] = { 0 };
	struct hashlimit_table *t;
	uint64_t full = 0;

	assert_int_equal(hashlimit_hold(r, "b", IPT_V4, &conf, &t), 0);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < WORKERS; i++) {
			jobs[i].table = t;
			jobs[i].round = round;
			jobs[i].now = 5 + round * 2000000UL;
		}
		start_all(fill, jobs);
	}
	for (unsigned int i = 0; i < WORKERS; i++)
		full += jobs[i].answers[HASHLIMIT_FULL];
	hashlimit_release(t);
	return full;
}

static void test_hashlimit_when_table_is_full_holds_what_it_can(void **state)
{
	(void)state;
	/* what expired makes room, wherever it lies */
	assert_int_equal(fill_twice(WORKERS * ROUNDS), 0);
	assert_int_equal(fill_twice(1000), 2 * (WORKERS * ROUNDS - 1000));
}

static void *visit(void *arg)
{
	static const struct ipt_m_recent opts = { .name = "d" };
	struct job *job = arg;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		const struct recent_ask ask = { .addr.w[0] = i % 50,
			.family = IPT_V4,
			.ttl = 64,
			.now = i,
			.stamps = 32,
			.opts = &opts,
			.set = IPT_RECENT_SET };

		job->answers[recent_ask(job->list, &ask)]++;
	}
	return NULL;
}

static void test_recent_when_workers_share_a_list_keeps_it_whole(void **state)
{
	const struct sl_addr mask = { .q = { UINT64_MAX, UINT64_MAX } };
	struct job jobs[WORKERS] = { 0 };
	unsigned int lines = 0;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_non_null(f);
	assert_int_equal(recent_hold(r, "d", &mask, 32, &jobs[0].list), 0);
	for (unsigned int i = 1; i < WORKERS; i++)
		jobs[i].list = jobs[0].list;
	start_all(visit, jobs);
	assert_int_equal(recent_print(r, "d", f), 0);
	fclose(f);
	for (const char *at = text; *at != '\0'; at++)
		lines += *at == '\n';
	assert_int_equal(lines, 50);
	free(text);
	recent_release(jobs[0].list);
	assert_int_equal(recent_print(r, "d", stdout), -ENOENT);
}

static int start(void **state)
{
	(void)state;
	pool = sl_pool_create("shared", 1023, RTE_MBUF_DEFAULT_DATAROOM);
	assert_non_null(pool);
	return sl_router_create(pool, WORKERS, &r);
}

static int stop(void **state)
{
	(void)state;
	sl_router_free(r);
	rte_mempool_free(pool);
	return 0;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hashlimit_when_workers_share_a_key_gives_each_token_once),
		cmocka_unit_test(test_hashlimit_when_table_is_full_holds_what_it_can),
		cmocka_unit_test(test_recent_when_workers_share_a_list_keeps_it_whole),
	};
	char *argv[] = { (char[]){ "test" }, (char[]){ "--no-huge" }, (char[]){ "--no-shconf" },
		(char[]){ "--no-pci" }, (char[]){ "--no-telemetry" }, (char[]){ "-m" },
		(char[]){ "64" }, (char[]){ "--log-level=error" }, NULL };

	if (rte_eal_init((int)RTE_DIM(argv) - 1, argv) < 0)
		return 1;
	return cmocka_run_group_tests(tests, start, stop);
}
