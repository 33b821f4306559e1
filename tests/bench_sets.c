/* SPDX-License-Identifier: BSD-3-Clause */
/* Cycles of one `-m set` on hash:ip, packet by packet and in batches; packets are in cache. */
#include "tests/config/set_fixture.h"

#include <rte_cycles.h>

#include <netinet/in.h>
#include <stdlib.h>

#define BATCHES 4000
#define ROUNDS 7

static struct set_packet packets[SL_BURST];
static struct rte_mbuf *pkts[SL_BURST];

/* addresses up to 2 * n * 7, of which every 14th is a member: nearly all miss; or only members */
static double measure(struct set_fixture *f, uint32_t n, bool hits, bool bulk)
{
	struct set_slot *slot = sl_set_slot(f->sets, "a", false);
	struct sl_set_ask ask = { .n = 1, .src = 1 };
	uint64_t best = UINT64_MAX, found = 0;
	uint32_t x = 1;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint64_t start = rte_rdtsc();

		for (unsigned int b = 0; b < BATCHES; b++) {
			for (unsigned int i = 0; i < SL_BURST; i++) {
				uint32_t k;

				x = x * 1664525 + 1013904223;
				k = (uint32_t)((uint64_t)x * n >> 32);
				packets[i].p.src.v4 = rte_cpu_to_be_32(k * 7 + (hits ? 7 : 8));
			}
			if (bulk) {
				found += sl_set_test_bulk(slot, &f->c, pkts, SL_BURST, &ask) & 1;
				continue;
			}
			for (unsigned int i = 0; i < SL_BURST; i++) {
				f->c.m = pkts[i];
				f->c.p = &packets[i].p;
				found += sl_set_match(slot, &f->c, &ask, NULL);
			}
		}
		best = RTE_MIN(best, rte_rdtsc() - start);
	}
	sl_set_put(slot, false);
	if ((found > 0) != hits)
		abort();
	return (double)best / BATCHES / SL_BURST;
}

int main(void)
{
	static const uint32_t sizes[] = { 1000, 10000, 1000000 };
	struct set_fixture *f = set_fixture_new();
	struct ipset_member m = { .key.len = 32 };

	for (unsigned int s = 0; s < RTE_DIM(sizes); s++) {
		uint64_t start;

		set_load(f, "");
		set_load(f, "create a hash:ip maxelem 2000000\n");
		start = rte_rdtsc();
		for (uint32_t i = 1; i <= sizes[s]; i++) {
			m.key.addr.w[0] = i * 7;
			sl_set_add(f->sets, "a", &m, NULL, false);
		}
		start = rte_rdtsc() - start;
		for (unsigned int i = 0; i < SL_BURST; i++) {
			set_packet(f, "10.0.0.1", "10.0.0.2", IPPROTO_UDP, 1, 2);
			packets[i] = f->packet;
			packets[i].m.buf_addr = packets[i].frame;
			pkts[i] = &packets[i].m;
		}
		printf("%7u members: miss %.1f one by one, %.1f in batches; hit %.1f, %.1f; "
		       "%.0f an add\n",
				sizes[s], measure(f, sizes[s], false, false),
				measure(f, sizes[s], false, true),
				measure(f, sizes[s], true, false), measure(f, sizes[s], true, true),
				(double)start / sizes[s]);
	}
	set_fixture_free(f);
	return 0;
}
