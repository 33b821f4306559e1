/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a new connection costs by itself, and what choosing its mapping adds: cycles, one worker.
 *
 *   bench_nat
 *
 * All go to one server from clients of a /16 by one outer address, so that every port can be used once.
 * "free": the client's own port is free. "range": --random over a range of ports of which a part is
 * taken, as after a while behind a busy MASQUERADE.
 */
#include "conntrack/nat.h"
#include "lib/router.h"

#include <rte_cycles.h>
#include <rte_eal.h>

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX 200000
#define PORTS 64512U
#define SAMPLES 10000
#define RUN 64

static struct rte_mempool *pool;
static uint32_t client; /* number of the next one */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void next_tuple(struct ct_tuple *t)
{
	uint32_t i = client++;

	*t = (struct ct_tuple){ .src = sl_addr_v4(rte_cpu_to_be_32((10U << 24) + i)),
		.dst = sl_addr_v4(RTE_BE32(0xc6120001)),
		.sport_be = rte_cpu_to_be_16((uint16_t)(1024 + i % PORTS)),
		.dport_be = RTE_BE16(443),
		.family = SL_AF_INET,
		.proto = IPPROTO_UDP };
}

/* the first packet of one connection, as the stages have it; NULL range: no NAT */
static struct ct_entry *begin(
		struct sl_worker *w, struct ct_shard *s, const struct ct_nat_range *range)
{
	struct ct_tuple t, reply;
	struct ct_entry *e;

	next_tuple(&t);
	if (ct_find(s, &t).e != NULL || !ct_tuple_invert(&t, &reply))
		return NULL;
	e = ct_create(s, &t, &reply);
	if (e == NULL)
		return NULL;
	if (range != NULL
			&& (!ct_nat_setup_null(w, s, e, CT_MANIP_DST)
					|| !ct_nat_setup(w, s, e, range, CT_MANIP_SRC))) {
		ct_kill(s, e);
		return NULL;
	}
	ct_refresh(s, e, 600);
	ct_confirm(s, e);
	return e;
}

/* @n connections; what each took goes into @cost, NULL: unmeasured. They stay if @stay */
static unsigned int run(struct sl_worker *w, struct ct_shard *s, const struct ct_nat_range *range,
		unsigned int n, bool stay, double *cost)
{
	struct ct_entry *made[RUN];
	unsigned int lost = 0;

	for (unsigned int i = 0; i < n; i++) {
		uint64_t start = rte_rdtsc_precise();

		made[i % RUN] = begin(w, s, range);
		if (cost != NULL)
			cost[i] = (double)(rte_rdtsc_precise() - start);
		lost += made[i % RUN] == NULL;
		if (i % RUN != RUN - 1)
			continue;
		for (unsigned int k = 0; k < RUN && !stay; k++)
			if (made[k] != NULL)
				ct_kill(s, made[k]);
		ct_tick(s, s->now_ms);
	}
	return lost;
}

static void show(const char *what, double *cost, double base, unsigned int lost)
{
	qsort(cost, SAMPLES, sizeof(*cost), by_value);
	printf("%-24s median %7.0f, added %7.0f; 99 %% %7.0f, worst of %u %7.0f", what,
			cost[SAMPLES / 2], cost[SAMPLES / 2] - base, cost[SAMPLES * 99 / 100],
			SAMPLES, cost[SAMPLES - 1]);
	printf(lost > 0 ? ", %u without a port\n" : "\n", lost);
}

static struct ct_shard *make_table(struct sl_router **r)
{
	struct ct_conf conf;
	struct ct_table *t;

	ct_conf_init(&conf);
	conf.max = MAX;
	if (sl_router_create(pool, 1, r) < 0)
		exit(1);
	t = ct_table_get(*r, &conf);
	if (t == NULL || ct_nat_prepare(t) < 0)
		exit(1);
	t->shard[0]->now_ms = 1000;
	return t->shard[0];
}

int main(int argc, char **argv)
{
	char *eal[] = { argv[0], (char *)(uintptr_t) "--no-huge", (char *)(uintptr_t) "--no-shconf",
		(char *)(uintptr_t) "--no-pci", (char *)(uintptr_t) "--no-telemetry",
		(char *)(uintptr_t) "--log-level=error", NULL };
	static const unsigned int used[] = { 0, 50, 90, 99 };
	struct ct_nat_range kept = { .flags = CT_NAT_ADDRS };
	static double cost[SAMPLES];
	struct ct_nat_range drawn;
	struct ct_shard *s;
	struct sl_router *r;
	double base;

	if (argc > 1) {
		fprintf(stderr, "bench_nat: '%s', expected no argument\n", argv[1]);
		return 2;
	}
	if (rte_eal_init(RTE_DIM(eal) - 1, eal) < 0)
		return 1;
	pool = sl_pool_create("bench", 1023, RTE_MBUF_DEFAULT_DATAROOM);
	if (pool == NULL)
		return 1;
	s = make_table(&r);
	kept.lo = kept.hi = sl_addr_v4(RTE_BE32(0xcb007107));
	drawn = kept;
	drawn.flags |= CT_NAT_PORTS | CT_NAT_RANDOM;
	drawn.port_lo = 1024;
	drawn.port_hi = 65535;
	run(r->workers[0], s, NULL, SAMPLES, false, NULL);
	run(r->workers[0], s, NULL, SAMPLES, false, cost);
	qsort(cost, SAMPLES, sizeof(*cost), by_value);
	base = cost[SAMPLES / 2];
	show("no NAT", cost, base, 0);
	run(r->workers[0], s, &kept, SAMPLES, false, NULL);
	show("free", cost, base, run(r->workers[0], s, &kept, SAMPLES, false, cost));
	for (unsigned int i = 0; i < RTE_DIM(used); i++) {
		char what[64];
		unsigned int lost, want = PORTS / 100 * used[i];

		while (s->count < want)
			run(r->workers[0], s, &drawn, RUN, true, NULL);
		lost = run(r->workers[0], s, &drawn, SAMPLES, false, cost);
		snprintf(what, sizeof(what), "range, %u %% in use", used[i]);
		show(what, cost, base, lost);
	}
	sl_router_free(r);
	return 0;
}
