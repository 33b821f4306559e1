/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What route tables cost: bytes, time to load, TSC cycles per look-up in batches of 64. Not a test.
 *
 * Prefix lengths are about those of the Internet's tables. Destinations are random inside of the
 * routes. Figures are the least of some rounds.
 */
#include "lib/builtin.h"
#include "lib/fib.h"
#include "lib/ip.h"
#include "lib/pkt.h"
#include "tests/lib/net_fixture.h"

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_random.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SEED 7
#define LOOKUPS (1U << 20)
#define CHUNK (1U << 14)
#define ROUNDS 5
#define GATEWAYS 64

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint8_t random_length(enum sl_family family)
{
	static const uint8_t len4[] = { 24, 24, 24, 24, 24, 24, 22, 23, 21, 20, 19, 16, 18, 17, 32,
		28 };
	static const uint8_t len6[] = { 48, 48, 48, 48, 48, 48, 32, 32, 40, 44, 44, 36, 46, 29, 64,
		128 };

	return family == SL_AF_INET ? len4[rte_rand() % 16] : len6[rte_rand() % 16];
}

static struct sl_prefix random_prefix(enum sl_family family)
{
	struct sl_prefix p = { .family = (uint8_t)family, .len = random_length(family) };

	p.addr.q[0] = rte_rand();
	if (family == SL_AF_INET) {
		p.addr.w[1] = 0;
		p.addr.b[0] = (uint8_t)(1 + rte_rand() % 126);
	} else {
		p.addr.q[1] = rte_rand();
		p.addr.b[0] = 0x20 | (p.addr.b[0] & 0x0f);
	}
	p.addr = sl_addr_mask(&p.addr, family, p.len);
	return p;
}

static struct sl_addr random_inside(const struct sl_prefix *p)
{
	struct sl_addr host = { .q = { rte_rand(), rte_rand() } }, net;

	if (p->family == SL_AF_INET)
		host.w[1] = host.w[2] = host.w[3] = 0;
	net = sl_addr_mask(&host, p->family, p->len);
	host.q[0] ^= net.q[0] ^ p->addr.q[0];
	host.q[1] ^= net.q[1] ^ p->addr.q[1];
	return host;
}

/* one chunk of look-ups */
static uint64_t lookup_chunk(const struct sl_fib *fib, enum sl_family family,
		const struct sl_addr *addr, const uint32_t *host, uint64_t *sum)
{
	uint64_t start = rte_rdtsc();

	for (unsigned int i = 0; i < CHUNK; i += SL_BURST) {
		const struct sl_addr *ptr[SL_BURST];
		uint32_t value[SL_BURST];

		if (family == SL_AF_INET) {
			sl_fib_lookup4(fib, host + i, value, SL_BURST);
		} else {
			for (unsigned int k = 0; k < SL_BURST; k++)
				ptr[k] = &addr[i + k];
			sl_fib_lookup6(fib, ptr, value, SL_BURST);
		}
		*sum += value[i % SL_BURST];
	}
	return rte_rdtsc() - start;
}

/* the least time of each chunk over the rounds, added up: a chunk is shorter than a time slice */
static double cycles_per_lookup(const struct sl_fib *fib, enum sl_family family,
		const struct sl_addr *addr, const uint32_t *host, uint64_t *sum)
{
	static uint64_t best[LOOKUPS / CHUNK];
	uint64_t total = 0;

	memset(best, 0xff, sizeof(best));
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int c = 0; c < LOOKUPS / CHUNK; c++) {
			uint64_t cycles = lookup_chunk(
					fib, family, addr + c * CHUNK, host + c * CHUNK, sum);

			best[c] = RTE_MIN(best[c], cycles);
		}
	}
	for (unsigned int c = 0; c < LOOKUPS / CHUNK; c++)
		total += best[c];
	return (double)total / LOOKUPS;
}

static void bench_fib(enum sl_family family, enum sl_fib_kind kind, unsigned int n)
{
	struct sl_fib_route *routes = calloc(n, sizeof(*routes));
	struct sl_addr *addr = calloc(LOOKUPS, sizeof(*addr));
	uint32_t *host = calloc(LOOKUPS, sizeof(*host));
	double start, load;
	struct sl_fib *fib;
	uint64_t sum = 0;

	if (routes == NULL || addr == NULL || host == NULL)
		exit(1);
	for (unsigned int i = 0; i < n; i++) {
		routes[i].prefix = random_prefix(family);
		routes[i].value = 1 + i % GATEWAYS;
	}
	for (unsigned int i = 0; i < LOOKUPS; i++) {
		addr[i] = random_inside(&routes[rte_rand() % n].prefix);
		host[i] = rte_be_to_cpu_32(addr[i].v4);
	}
	start = seconds();
	if (sl_fib_build(family, kind, routes, n, &fib) < 0) {
		printf("IPv%d %7u routes: no memory\n", (int)family, n);
	} else {
		load = seconds() - start;
		printf("IPv%d %7u routes, %-8s %8.0f kB, loaded in %6.3f s, %5.1f cycles/look-up",
				(int)family, n, sl_fib_kind_name(fib),
				(double)sl_fib_memory(fib) / 1e3, load,
				cycles_per_lookup(fib, family, addr, host, &sum));
		printf(" (%llu)\n", (unsigned long long)sum);
		sl_fib_free(fib);
	}
	free(routes);
	free(addr);
	free(host);
}

/* a whole configuration: checks, gateways, next hops, tables */
static void bench_build(unsigned int n)
{
	struct net_fixture *f = malloc(sizeof(*f));
	struct sl_route_conf *routes = calloc(n, sizeof(*routes));
	struct sl_via_conf *via = calloc(n, sizeof(*via));
	unsigned int used = 0;
	double start;
	int ret;

	if (f == NULL || routes == NULL || via == NULL)
		exit(1);
	fixture_init(f);
	fixture_address(f, WAN, "192.0.2.2/24");
	fixture_address(f, LAN, "10.0.0.1/24");
	for (unsigned int i = 0; i < n; i++) {
		struct sl_route_conf *r = &routes[used++];

		r->to = random_prefix(SL_AF_INET);
		r->table = SL_TABLE_MAIN;
		r->metric = i; /* the same prefix may come twice */
		r->via = &via[i];
		r->n_via = 1;
		via[i].has_gateway = true;
		via[i].weight = 1;
		via[i].gateway = addr_of("192.0.2.3");
		via[i].gateway.b[3] = (uint8_t)(3 + i % GATEWAYS);
	}
	f->conf.routes = routes;
	f->conf.n_routes = used;
	start = seconds();
	ret = fixture_build(f);
	printf("network of %u IPv4 routes: %s, %.3f s\n", n, ret < 0 ? f->err : "built",
			seconds() - start);
	fixture_free(f);
	free(via);
	free(routes);
	free(f);
}

/* the IP layer is not measured: nothing may get here */
bool sl_ip4_input(struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh)
{
	(void)w;
	(void)m;
	(void)nh;
	return false;
}

bool sl_ip6_input(struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh)
{
	return sl_ip4_input(w, m, nh);
}

/* the whole stage: look-up, source check, next hop, for packets that are plain */
static void bench_stage(unsigned int n, enum sl_family family)
{
	static struct {
		struct rte_mbuf m;
		struct sl_pkt p;
	} packets[SL_BURST];
	static struct sl_worker w;
	struct rte_mbuf *pkts[SL_BURST];
	struct net_fixture *f = calloc(1, sizeof(*f));
	struct sl_route_conf *routes = calloc(n, sizeof(*routes));
	struct sl_via_conf via = { .has_gateway = true, .weight = 1 };
	struct sl_addr source = addr_of(family == SL_AF_INET ? "10.7.7.7" : "2001:db8:7::7");
	static uint64_t best[LOOKUPS / CHUNK];
	static struct sl_addr dst[LOOKUPS];
	uint64_t cycles = 0, total = 0;

	if (f == NULL || routes == NULL)
		exit(1);
	fixture_init(f);
	fixture_address(f, WAN, "192.0.2.2/24");
	fixture_address(f, WAN, "2001:db8::2/64");
	via.gateway = addr_of(family == SL_AF_INET ? "192.0.2.1" : "2001:db8::1");
	for (unsigned int i = 0; i < n; i++)
		routes[i] = (struct sl_route_conf){ .to = random_prefix(family),
			.table = SL_TABLE_MAIN,
			.metric = 1 + i,
			.via = &via,
			.n_via = 1 };
	f->conf.routes = routes;
	f->conf.n_routes = n;
	if (fixture_build(f) < 0) {
		printf("%s\n", f->err);
		exit(1);
	}
	w.r = &f->r;
	w.net = f->net;
	for (unsigned int i = 0; i < LOOKUPS; i++)
		dst[i] = random_inside(&routes[rte_rand() % n].to);
	memset(best, 0xff, sizeof(best));
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < LOOKUPS; i += SL_BURST) {
			uint64_t start;

			if (i % CHUNK == 0)
				cycles = 0;
			for (unsigned int k = 0; k < SL_BURST; k++) {
				struct sl_pkt *p = &packets[k].p;

				p->family = (uint8_t)family;
				p->in_port = LAN;
				p->src = source;
				p->dst = dst[i + k];
				pkts[k] = &packets[k].m;
			}
			start = rte_rdtsc();
			if (sl_stage_route.process(&w, NULL, pkts, SL_BURST) != SL_BURST)
				exit(1);
			cycles += rte_rdtsc() - start;
			if (i % CHUNK == CHUNK - SL_BURST)
				best[i / CHUNK] = RTE_MIN(best[i / CHUNK], cycles);
		}
	}
	for (unsigned int c = 0; c < LOOKUPS / CHUNK; c++)
		total += best[c];
	printf("route stage, IPv%d, %6u routes: %5.1f cycles/packet\n", (int)family, n,
			(double)total / LOOKUPS);
	fixture_free(f);
	free(routes);
	free(f);
}

int main(int argc, char **argv)
{
	char *eal[] = { argv[0], (char[]){ "--no-huge" }, (char[]){ "--no-shconf" },
		(char[]){ "--no-pci" }, (char[]){ "--no-telemetry" }, (char[]){ "-m" },
		(char[]){ "1024" }, (char[]){ "--log-level" }, (char[]){ "*:error" }, NULL };

	(void)argc;
	if (rte_eal_init(RTE_DIM(eal) - 1, eal) < 0)
		return 1;
	rte_srand(SEED);
	bench_fib(SL_AF_INET, SL_FIB_TRIE, 1000);
	bench_fib(SL_AF_INET, SL_FIB_DIR24, 1000);
	bench_fib(SL_AF_INET, SL_FIB_TRIE, 100000);
	bench_fib(SL_AF_INET, SL_FIB_DIR24, 100000);
	bench_fib(SL_AF_INET, SL_FIB_TRIE, 500000);
	bench_fib(SL_AF_INET, SL_FIB_DIR24, 500000);
	bench_fib(SL_AF_INET6, SL_FIB_TRIE, 1000);
	bench_fib(SL_AF_INET6, SL_FIB_TRIE, 64000);
	bench_stage(1000, SL_AF_INET);
	bench_stage(500000, SL_AF_INET);
	bench_stage(1000, SL_AF_INET6);
	bench_stage(64000, SL_AF_INET6);
	bench_build(1000);
	bench_build(500000);
	return 0;
}
