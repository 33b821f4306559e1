/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts that iptables-legacy gave (rules with --connlimit-above 0, 1, 2, ... and which of them
 * held), and what two workers make of one network.
 */
#include "conntrack/connlimit.h"
#include "tests/conntrack/table_fixture.h"

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct ct_table *table;
static struct connlimit *cl;
static uint32_t now_ms;

static int start_test(void **state)
{
	(void)state;
	now_ms = 100000;
	table = tf_table(1000, 2, now_ms);
	cl = connlimit_create(1000, 1);
	return cl == NULL;
}

static int stop_test(void **state)
{
	connlimit_put(cl);
	return tf_teardown(state);
}

static struct ct_entry *add(unsigned int worker, uint16_t port, uint8_t proto, uint32_t timeout_s)
{
	struct ct_tuple t = tf_tuple("10.9.0.1", "10.9.0.2", proto, port, 7);
	struct ct_shard *s = table->shard[worker];
	struct ct_entry *e;

	s->now_ms = now_ms;
	e = tf_add(s, &t, timeout_s);
	assert_non_null(e);
	return e;
}

/* a packet of @e, NULL: of nothing that is tracked */
static uint32_t count_at(const char *net, unsigned int worker, const struct ct_entry *e)
{
	struct connlimit_pkt p = {
		.table = table,
		.now_ms = now_ms,
		.jiffies = now_ms / 4,
	};
	uint32_t n = 0;

	assert_int_equal(sl_addr_parse(net, &p.net), SL_AF_INET);
	if (e != NULL) {
		p.ref = ct_ref(table->shard[worker], e);
		p.status = e->status;
	}
	assert_true(connlimit_count(cl, &p, &n));
	return n;
}

static uint32_t count(unsigned int worker, const struct ct_entry *e)
{
	return count_at("10.9.0.0", worker, e);
}

static void test_count_when_connections_come_grows_once_for_each(void **state)
{
	struct ct_entry *e[20];

	(void)state;
	for (unsigned int i = 0; i < 20; i++) {
		e[i] = add(0, (uint16_t)(2000 + i), IPPROTO_UDP, 3);
		assert_int_equal(count(0, e[i]), i + 1);
		now_ms += 10;
	}
	assert_int_equal(count(0, e[5]), 20);
	/* a train in one jiffy */
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(count(0, e[6]), 20);
	now_ms += 4000;
	assert_int_equal(count(0, add(0, 3000, IPPROTO_UDP, 3)), 1);
}

static void test_count_when_many_are_gone_forgets_65_at_a_time(void **state)
{
	static const uint32_t expected[] = { 87, 23, 3, 4, 5, 6 };

	(void)state;
	for (unsigned int i = 0; i < 151; i++) {
		assert_int_equal(count(0, add(0, (uint16_t)(10000 + i), IPPROTO_UDP, 3)), i + 1);
		now_ms += 5;
	}
	now_ms += 4000;
	for (unsigned int i = 0; i < RTE_DIM(expected); i++) {
		assert_int_equal(count(0, add(0, (uint16_t)(11000 + i), IPPROTO_UDP, 30)),
				expected[i]);
		now_ms += 30;
	}
}

static void test_count_when_assured_adds_only_the_first(void **state)
{
	struct ct_entry *e[3], *new;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		e[i] = add(0, (uint16_t)(6100 + i), IPPROTO_UDP, 30);
		e[i]->status |= CT_ASSURED;
		assert_int_equal(count(0, e[i]), 1);
		now_ms += 50;
	}
	new = add(0, 6200, IPPROTO_UDP, 30);
	assert_int_equal(count(0, new), 2);
}

static void test_count_when_tcp_is_closed_forgets_it(void **state)
{
	struct ct_entry *a = add(0, 1, IPPROTO_TCP, 100), *b = add(0, 2, IPPROTO_TCP, 100);

	(void)state;
	a->tcp.state = b->tcp.state = CT_TCP_ESTABLISHED;
	assert_int_equal(count(0, a), 1);
	now_ms += 10;
	assert_int_equal(count(0, b), 2);
	a->tcp.state = CT_TCP_TIME_WAIT;
	now_ms += 10;
	/* found before a is come to: the list is looked through from the youngest on */
	assert_int_equal(count(0, b), 2);
	assert_int_equal(count(0, add(0, 3, IPPROTO_TCP, 100)), 2);
}

static void test_count_when_nothing_is_tracked_counts_the_packet_alone(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(count(0, NULL), 1);
		now_ms += 10;
	}
}

static void test_count_when_workers_share_a_network_is_one(void **state)
{
	struct ct_entry *a = add(0, 1, IPPROTO_UDP, 100), *b = add(1, 2, IPPROTO_UDP, 100);

	(void)state;
	assert_int_equal(count(0, a), 1);
	now_ms += 10;
	assert_int_equal(count(1, b), 2);
	assert_int_equal(count_at("10.8.0.0", 1, b), 1);
	ct_kill(table->shard[0], a);
	now_ms += 10;
	assert_int_equal(count(1, add(1, 3, IPPROTO_UDP, 100)), 2);
}

/* networks that never come again do not fill the memory */
static void test_count_when_sources_are_forged_frees_their_networks(void **state)
{
	char net[32];

	(void)state;
	for (unsigned int i = 0; i < 400000; i++) {
		snprintf(net, sizeof(net), "10.%u.%u.%u", i >> 16, i >> 8 & 255, i & 255);
		assert_int_equal(count_at(net, 0, NULL), 1);
		now_ms += i % 16 == 0 ? 4 : 0;
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, start_test, stop_test)
		T(test_count_when_connections_come_grows_once_for_each),
		T(test_count_when_many_are_gone_forgets_65_at_a_time),
		T(test_count_when_assured_adds_only_the_first),
		T(test_count_when_tcp_is_closed_forgets_it),
		T(test_count_when_nothing_is_tracked_counts_the_packet_alone),
		T(test_count_when_workers_share_a_network_is_one),
		T(test_count_when_sources_are_forged_frees_their_networks),
#undef T
	};

	return cmocka_run_group_tests(tests, tf_eal, NULL);
}
