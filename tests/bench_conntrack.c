/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the connection table costs, by itself: cycles an operation over tables of several sizes.
 *
 *   bench_conntrack [ENTRIES...]        10,000 65,536 1,000,000 4,000,000 unless given
 *   bench_conntrack --small-pages       without asking for huge pages
 *
 * Tuples are made on the spot, as packets bring them in the first cache; what making them costs is
 * taken off. Look-ups are in random order and from both directions. Expiry is given the clock of a
 * busy worker, 5 us a turn of 64 packets, and is compared with what such a turn lasts.
 */
#include "conntrack/table.h"
#include "lib/router.h"

#include <rte_cycles.h>
#include <rte_eal.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define ROUNDS 101
#define TURN_NS 5000

static bool small_pages;
static struct rte_mempool *pool;
static uint32_t sink;

/* splitmix64's mixing by Vigna */
static inline uint64_t mix(uint64_t z)
{
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* addresses and ports of flow @i */
static inline void make_tuple(uint64_t i, bool reply, struct ct_tuple *t)
{
	uint64_t x = mix(i + 1), y = mix(i ^ 0x123456789abcdefULL);
	struct sl_addr a = sl_addr_v4((uint32_t)x), b = sl_addr_v4((uint32_t)(x >> 32));

	*t = (struct ct_tuple){ .src = reply ? b : a,
		.dst = reply ? a : b,
		.sport_be = (rte_be16_t)(reply ? y >> 16 : y),
		.dport_be = (rte_be16_t)(reply ? y : y >> 16),
		.family = SL_AF_INET,
		.proto = IPPROTO_TCP };
}

static struct ct_table *make_table(struct sl_router **r, uint32_t n)
{
	struct ct_conf conf;
	struct ct_table *t;
	struct ct_shard *s;

	ct_conf_init(&conf);
	conf.max = n;
	if (sl_router_create(pool, 1, r) < 0)
		exit(1);
	(*r)->manual_clock = true; /* so that pages are not taken before the advice below */
	t = ct_table_get(*r, &conf);
	if (t == NULL)
		exit(1);
	s = t->shard[0];
	if (small_pages)
		madvise(s->mem.base, s->mem.size, MADV_NOHUGEPAGE);
	return t;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static double lowest(const double *v, unsigned int n)
{
	double least = v[0];

	for (unsigned int i = 1; i < n; i++)
		least = RTE_MIN(least, v[i]);
	return least;
}

/* cycles to make one tuple, where they are needed as they are made */
static double tuple_cost(uint32_t n)
{
	struct ct_tuple t[SL_BURST];
	double best = 1e9;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint64_t seed = round, start = rte_rdtsc();

		for (unsigned int burst = 0; burst < 2000; burst++) {
			for (unsigned int i = 0; i < SL_BURST; i++) {
				uint64_t x = mix(seed++);

				make_tuple((uint32_t)x % n, x >> 63, &t[i]);
			}
			__asm__ volatile("" : : "r"(t) : "memory");
		}
		best = RTE_MIN(best, (double)(rte_rdtsc() - start) / 2000 / SL_BURST);
	}
	return best;
}

static double find_cost(struct ct_shard *s, uint64_t first, uint32_t n, double *least)
{
	unsigned int bursts = 500; /* shorter than a time slice */
	struct ct_found found[SL_BURST];
	struct ct_tuple t[SL_BURST];
	double cost[ROUNDS];
	uint64_t seed = 77;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint64_t start = rte_rdtsc();

		for (unsigned int burst = 0; burst < bursts; burst++) {
			for (unsigned int i = 0; i < SL_BURST; i++) {
				uint64_t x = mix(seed++);

				make_tuple(first + (uint32_t)x % n, x >> 63, &t[i]);
			}
			ct_find_bulk(s, t, SL_BURST, found);
			for (unsigned int i = 0; i < SL_BURST; i++) {
				if (found[i].e == NULL) {
					sink++;
					continue;
				}
				found[i].e->expires_ms++;
				found[i].e->tcp.last_seq++;
			}
		}
		cost[round] = (double)(rte_rdtsc() - start) / bursts / SL_BURST;
	}
	*least = lowest(cost, ROUNDS) - tuple_cost(n);
	return median(cost, ROUNDS) - tuple_cost(n);
}

/* new connections: a miss, an entry, its confirmation, the end of the turn */
static double create_cost(struct ct_shard *s, uint64_t first, uint32_t n, double *miss)
{
	struct ct_found found[SL_BURST];
	struct ct_tuple t[SL_BURST], reply;
	uint64_t spent = 0, missed = 0, start;
	uint32_t made = 0;

	while (made < n) {
		unsigned int burst = RTE_MIN(n - made, (uint32_t)SL_BURST);

		for (unsigned int i = 0; i < burst; i++)
			make_tuple(first + made + i, false, &t[i]);
		start = rte_rdtsc();
		ct_find_bulk(s, t, burst, found);
		missed += rte_rdtsc() - start;
		start = rte_rdtsc();
		for (unsigned int i = 0; i < burst; i++) {
			struct ct_entry *e;

			if (!ct_tuple_invert(&t[i], &reply))
				continue;
			e = ct_create(s, &t[i], &reply);
			if (e == NULL)
				exit(1);
			ct_refresh(s, e, 30);
			ct_confirm(s, e);
		}
		ct_tick(s, s->now_ms);
		spent += rte_rdtsc() - start;
		made += burst;
	}
	*miss = (double)missed / n;
	return (double)spent / n;
}

static double kill_cost(struct ct_shard *s, uint64_t first, uint32_t n)
{
	struct ct_found found[SL_BURST];
	struct ct_tuple t[SL_BURST];
	uint64_t spent = 0, start;

	for (uint32_t gone = 0; gone < n;) {
		unsigned int burst = RTE_MIN(n - gone, (uint32_t)SL_BURST);

		for (unsigned int i = 0; i < burst; i++)
			make_tuple(first + gone + i, false, &t[i]);
		ct_find_bulk(s, t, burst, found);
		start = rte_rdtsc();
		for (unsigned int i = 0; i < burst; i++)
			ct_kill(s, found[i].e);
		ct_tick(s, s->now_ms);
		spent += rte_rdtsc() - start;
		gone += burst;
	}
	return (double)spent / n;
}

/* all end in the same second, under a worker that has a turn each TURN_NS */
static void expiry(struct ct_shard *s, double ghz)
{
	uint64_t turns = 0, spent = 0, longest = 0, ns = (uint64_t)s->now_ms * 1000000;
	uint32_t n = s->count;

	ns += 31000000000ULL;
	s->now_ms = ct_now(ns);
	for (; s->count > 0; turns++, ns += TURN_NS) {
		uint64_t start = rte_rdtsc(), took;

		ct_tick(s, ct_now(ns));
		took = rte_rdtsc() - start;
		spent += took;
		longest = RTE_MAX(longest, took);
	}
	printf("  expiry       %8.1f an entry; all at once: gone in %.2f s, %.2f %% of the time, at "
	       "most %.1f us a turn\n",
			(double)spent / n, (double)turns * TURN_NS / 1e9,
			100.0 * (double)spent / ghz / ((double)turns * TURN_NS),
			(double)longest / ghz / 1000);
}

static void bench(uint32_t n, double ghz)
{
	struct sl_router *r;
	struct ct_table *t = make_table(&r, n);
	struct ct_shard *s = t->shard[0];
	double miss, cold, found, least;

	cold = create_cost(s, 0, n, &miss);
	found = find_cost(s, 0, n, &least);
	printf("%u entries\n  find         %8.1f (at least %.1f)\n  first fill   %8.1f (takes pages)\n",
			n, found, least, cold);
	printf("  kill         %8.1f\n", kill_cost(s, 0, n));
	cold = create_cost(s, n, n, &miss);
	printf("  find nothing %8.1f\n  create       %8.1f (with confirm)\n", miss, cold);
	expiry(s, ghz);
	sl_router_free(r);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = { 10000, 65536, 1000000, 4000000 };
	char *eal[] = { argv[0], (char *)(uintptr_t) "--no-huge", (char *)(uintptr_t) "--no-shconf",
		(char *)(uintptr_t) "--no-pci", (char *)(uintptr_t) "--no-telemetry",
		(char *)(uintptr_t) "--log-level=error", NULL };
	int given = 1;
	double ghz;

	if (rte_eal_init(RTE_DIM(eal) - 1, eal) < 0)
		return 1;
	pool = sl_pool_create("bench", 1023, RTE_MBUF_DEFAULT_DATAROOM);
	if (pool == NULL)
		return 1;
	ghz = (double)rte_get_tsc_hz() / 1e9;
	if (argc > 1 && strcmp(argv[1], "--small-pages") == 0) {
		small_pages = true;
		given++;
	}
	printf("cycles of %.3f GHz, %s\n", ghz, small_pages ? "4 kB pages" : "huge pages advised");
	for (int i = given; i < argc; i++)
		bench((uint32_t)strtoul(argv[i], NULL, 10), ghz);
	for (unsigned int i = 0; given >= argc && i < RTE_DIM(sizes); i++)
		bench(sizes[i], ghz);
	if (sink > 0)
		printf("%u not found\n", sink);
	return sink > 0;
}
