/* SPDX-License-Identifier: BSD-3-Clause */
/* Equal-cost paths: how flows are shared out, and which of them stay when paths come and go. */
#include "lib/net_priv.h"
#include "tests/lib/net_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define FLOWS 4096
#define SECOND UINT64_C(1000000000)

static struct sl_worker worker;

/* wan, lan and dmz with a gateway each */
static void start(struct net_fixture *f, const char *via, unsigned int buckets)
{
	struct sl_route_conf *c;

	fixture_init(f);
	fixture_address(f, WAN, "192.0.2.1/24");
	fixture_address(f, LAN, "198.51.100.1/24");
	fixture_address(f, DMZ, "203.0.113.1/24");
	c = fixture_route(f, "10.0.0.0/8", via);
	c->buckets = buckets;
	c->idle_timer = 120;
}

#define A "192.0.2.2"
#define B "198.51.100.2"
#define C "203.0.113.2"

static const struct sl_nexthop *paths_of(const struct net_fixture *f)
{
	const struct sl_route_key key = { .family = SL_AF_INET,
		.out_port = SL_PORT_NONE,
		.in_port = WAN,
		.dst = addr_of("10.1.2.3") };

	return net_lookup(f->net, &key);
}

/* flows are told apart by what their hash would be */
static uint32_t hash_of(unsigned int flow)
{
	return flow * 0x9e3779b1U;
}

/* the port of every flow, each with a packet now */
static void send_all(const struct net_fixture *f, uint64_t now_ns, uint16_t *port)
{
	for (unsigned int i = 0; i < FLOWS; i++)
		port[i] = net_group_path(paths_of(f), hash_of(i), 0, now_ns)->port;
}

static unsigned int count(const uint16_t *port, uint16_t want)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < FLOWS; i++)
		n += port[i] == want;
	return n;
}

/* @next takes the place of @f, as at a reload at @now_ns */
static void replace(struct net_fixture *f, struct net_fixture *next, uint64_t now_ns)
{
	struct sl_snapshot snap = { .net = f->net };

	worker.now_ns = now_ns;
	next->r.workers[0] = &worker;
	atomic_store(&next->r.snap, &snap);
	assert_int_equal(fixture_build(next), 0);
	atomic_store(&next->r.snap, NULL);
	fixture_free(f);
}

static void tick(const struct net_fixture *f, uint64_t now_ns)
{
	worker.now_ns = now_ns;
	worker.net = f->net;
	sl_net_tick(&worker);
}

static void test_group_when_weighted_then_buckets_by_weight(void **state)
{
	struct net_fixture f;

	(void)state;
	start(&f, A "*1," B "*2," C "*5", 128);
	assert_int_equal(fixture_build(&f), 0);
	assert_int_equal(sl_net_path_buckets(paths_of(&f), 0), 16);
	assert_int_equal(sl_net_path_buckets(paths_of(&f), 1), 32);
	assert_int_equal(sl_net_path_buckets(paths_of(&f), 2), 80);
	fixture_free(&f);
}

static void test_group_when_a_path_goes_then_others_flows_stay(void **state)
{
	uint16_t before[FLOWS], after[FLOWS];
	struct net_fixture f, next;

	(void)state;
	start(&f, A "," B "," C, 96);
	assert_int_equal(fixture_build(&f), 0);
	send_all(&f, 1000 * SECOND, before);
	start(&next, A "," C, 96);
	replace(&f, &next, 1001 * SECOND);
	send_all(&next, 1001 * SECOND, after);
	for (unsigned int i = 0; i < FLOWS; i++) {
		if (before[i] != LAN)
			assert_int_equal(after[i], before[i]);
		else
			assert_true(after[i] == WAN || after[i] == DMZ);
	}
	assert_int_equal(sl_net_path_buckets(paths_of(&next), 0), 48);
	assert_int_equal(sl_net_path_buckets(paths_of(&next), 1), 48);
	fixture_free(&next);
}

static void test_group_when_a_path_comes_then_only_idle_flows_move(void **state)
{
	uint16_t before[FLOWS], after[FLOWS];
	struct net_fixture f, next;

	(void)state;
	start(&f, A "," B, 96);
	assert_int_equal(fixture_build(&f), 0);
	send_all(&f, 1000 * SECOND, before);
	start(&next, A "," B "," C, 96);
	replace(&f, &next, 1010 * SECOND);
	/* all are busy */
	send_all(&next, 1010 * SECOND, after);
	assert_memory_equal(before, after, sizeof(before));
	tick(&next, 1060 * SECOND);
	send_all(&next, 1060 * SECOND, after);
	assert_memory_equal(before, after, sizeof(before));
	/* nobody has sent for longer than the timer */
	tick(&next, 1200 * SECOND);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(sl_net_path_buckets(paths_of(&next), i), 32);
	send_all(&next, 1200 * SECOND, after);
	for (unsigned int i = 0; i < FLOWS; i++)
		assert_true(after[i] == before[i] || after[i] == DMZ);
	fixture_free(&next);
}

static void test_group_when_unbalanced_for_long_then_busy_flows_move(void **state)
{
	struct net_fixture f, next;
	uint16_t port[FLOWS];

	(void)state;
	start(&f, A "," B, 96);
	assert_int_equal(fixture_build(&f), 0);
	send_all(&f, 1000 * SECOND, port);
	start(&next, A "," B "," C, 96);
	next.routes[0].unbalanced_timer = 30;
	replace(&f, &next, 1000 * SECOND);
	for (uint64_t t = 1001; t < 1031; t++) {
		send_all(&next, t * SECOND, port);
		tick(&next, t * SECOND);
		assert_int_equal(count(port, DMZ), 0);
	}
	tick(&next, 1032 * SECOND);
	assert_int_equal(sl_net_path_buckets(paths_of(&next), 2), 32);
	fixture_free(&next);
}

/* another route's buckets, and plain groups, are not mixed up with it */
static void test_group_when_another_route_then_buckets_of_its_own(void **state)
{
	struct net_fixture f;
	const struct sl_nexthop *plain;

	(void)state;
	start(&f, A "," B, 64);
	fixture_route(&f, "172.16.0.0/12", A "," B);
	assert_int_equal(fixture_build(&f), 0);
	plain = net_lookup(f.net,
			&(struct sl_route_key){ .family = SL_AF_INET,
					.out_port = SL_PORT_NONE,
					.in_port = WAN,
					.dst = addr_of("172.16.2.3") });
	assert_non_null(paths_of(&f)->group);
	assert_null(plain->group);
	fixture_free(&f);
}

/* M07: one pair of addresses, 1,000 ports, two next hops */
static void test_m07_ports_count_in_l4_mode_and_no_flow_moves(void **state)
{
	struct {
		struct rte_mbuf m;
		struct sl_pkt p;
	} b = { .p = { .family = SL_AF_INET,
				.proto = 6,
				.src = addr_of("198.51.100.9"),
				.dst = addr_of("10.1.2.3"),
				.dport_be = RTE_BE16(80),
				.flags = SL_PKT_L4 | SL_PKT_PORTS } };

	(void)state;
	for (int policy = 0; policy < 2; policy++) {
		unsigned int by_wan = 0;
		struct net_fixture f;

		start(&f, A "," C, 0);
		fixture_sysctl(&f, "net.ipv4.fib_multipath_hash_policy", policy);
		assert_int_equal(fixture_build(&f), 0);
		for (unsigned int i = 0; i < 1000; i++) {
			const struct sl_nexthop *nh;

			b.p.sport_be = rte_cpu_to_be_16((uint16_t)(1024 + i));
			nh = sl_net_path(paths_of(&f), sl_net_flow_hash(f.net, &b.p));
			assert_ptr_equal(nh,
					sl_net_path(paths_of(&f), sl_net_flow_hash(f.net, &b.p)));
			by_wan += nh->port == WAN;
		}
		printf("fib_multipath_hash_policy %d: %u of 1000 by wan\n", policy, by_wan);
		if (policy == 1)
			assert_in_range(by_wan, 400, 600);
		else
			assert_true(by_wan == 0 || by_wan == 1000);
		fixture_free(&f);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_group_when_weighted_then_buckets_by_weight),
		cmocka_unit_test(test_group_when_a_path_goes_then_others_flows_stay),
		cmocka_unit_test(test_group_when_a_path_comes_then_only_idle_flows_move),
		cmocka_unit_test(test_group_when_unbalanced_for_long_then_busy_flows_move),
		cmocka_unit_test(test_group_when_another_route_then_buckets_of_its_own),
		cmocka_unit_test(test_m07_ports_count_in_l4_mode_and_no_flow_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
