/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of ICMP errors by a clock that the test turns. */
#include "tests/lib/ip4_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MS 1000000ULL

static bool error_to(const char *dst)
{
	struct sl_addr a = addr_of(dst);

	return sl_icmp_limit(fx.w, SL_AF_INET, &a, 11, 0);
}

static unsigned int errors(unsigned int n, const char *dst)
{
	unsigned int sent = 0;

	while (n-- > 0)
		sent += error_to(dst);
	return sent;
}

static void test_peer_gets_six_at_once_then_one_a_second(void **state)
{
	(void)state;
	assert_int_equal(errors(12, "10.0.0.1"), 6);
	fx.w->now_ns += 999 * MS;
	assert_int_equal(errors(3, "10.0.0.1"), 0);
	fx.w->now_ns += 1 * MS;
	assert_int_equal(errors(3, "10.0.0.1"), 1);
	/* others have a bucket of their own */
	assert_int_equal(errors(12, "10.0.0.2"), 6);
	fx.w->now_ns += 3600 * 1000 * MS;
	assert_int_equal(errors(12, "10.0.0.1"), 6);
}

static void test_path_mtu_and_queries_are_free(void **state)
{
	struct sl_addr a = addr_of("10.0.0.1");

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		assert_true(sl_icmp_limit(fx.w, SL_AF_INET, &a, 3, 4));
		assert_true(sl_icmp_limit(fx.w, SL_AF_INET, &a, 5, 1));
		assert_true(sl_icmp_limit(fx.w, SL_AF_INET, &a, 0, 0));
		assert_true(sl_icmp_limit(fx.w, SL_AF_INET6, &a, 2, 0));
		assert_true(sl_icmp_limit(fx.w, SL_AF_INET6, &a, 129, 0));
	}
	/* and have taken nothing */
	assert_int_equal(errors(12, "10.0.0.1"), 6);
}

/* 3/0 for packets without a route: two at once, then one in two seconds */
static void test_unroutable_pays_twice(void **state)
{
	struct sl_addr a = addr_of("10.0.0.1");
	unsigned int sent = 0;

	(void)state;
	for (unsigned int i = 0; i < 12; i++)
		sent += sl_icmp_limit_unroutable(fx.w, &a) && error_to("10.0.0.1");
	assert_int_equal(sent, 2);
	/* one second alone pays for the first limit, and nothing goes out */
	for (unsigned int i = 0; i < 10; i++) {
		fx.w->now_ns += 1000 * MS;
		assert_false(sl_icmp_limit_unroutable(fx.w, &a) && error_to("10.0.0.1"));
	}
	for (unsigned int i = 0; i < 10; i++) {
		fx.w->now_ns += 2000 * MS;
		assert_true(sl_icmp_limit_unroutable(fx.w, &a) && error_to("10.0.0.1"));
	}
}

static void test_global_bucket_holds_its_burst(void **state)
{
	unsigned int sent = 0;
	char text[32];

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "10.9.%u.%u", i / 250, i % 250);
		sent += error_to(text);
	}
	/* 50 credits, each message takes 0 to 2 of them */
	assert_in_range(sent, 25, 120);
	/* nothing new before 20 ms are over */
	fx.w->now_ns += 19 * MS;
	assert_int_equal(errors(3, "10.8.0.1"), 0);
	fx.w->now_ns += 1 * MS;
	assert_int_not_equal(errors(3, "10.8.0.1"), 0);
}

static void test_redirects_double_their_intervals_nine_times(void **state)
{
	struct sl_addr a = addr_of("10.0.0.1");
	uint64_t start = fx.w->now_ns, gap = 20;
	unsigned int sent = 0;

	(void)state;
	assert_true(sl_icmp_limit_redirect(fx.w, SL_AF_INET, &a));
	for (sent = 1; sent < 9; sent++) {
		gap = 20ULL << sent;
		fx.w->now_ns += gap * MS;
		assert_false(sl_icmp_limit_redirect(fx.w, SL_AF_INET, &a));
		fx.w->now_ns += MS;
		assert_true(sl_icmp_limit_redirect(fx.w, SL_AF_INET, &a));
	}
	/* every further one starts the silence again */
	for (unsigned int i = 0; i < 3; i++) {
		fx.w->now_ns += 20480 * MS;
		assert_false(sl_icmp_limit_redirect(fx.w, SL_AF_INET, &a));
	}
	fx.w->now_ns += 20481 * MS;
	assert_true(sl_icmp_limit_redirect(fx.w, SL_AF_INET, &a));
	assert_true(fx.w->now_ns > start);
}

static void test_wide_ipv6_prefixes_get_more(void **state)
{
	struct sl_addr a = addr_of("2001:db8::1");
	unsigned int sent[3] = { 0 };
	static const unsigned int plens[] = { 128, 64, 0 };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		a.b[15] = (uint8_t)i;
		for (unsigned int j = 0; j < 4; j++) {
			sent[i] += sl_icmp_limit_plen(fx.w, SL_AF_INET6, &a, 3, 0, plens[i]);
			sent[i] += sl_icmp_limit_plen(fx.w, SL_AF_INET6, &a, 3, 0, plens[i]);
			sent[i] += sl_icmp_limit_plen(fx.w, SL_AF_INET6, &a, 3, 0, plens[i]);
			fx.w->now_ns += 125 * MS;
		}
	}
	/* in half a second: 6 + 0; a burst of 6 and one each 250 ms; one each 62 ms, 3 wanted */
	assert_int_equal(sent[0], 6);
	assert_in_range(sent[1], 7, 8);
	assert_int_equal(sent[2], 12);
}

static void test_flood_of_peers_leaves_the_table_whole(void **state)
{
	struct sl_addr a = addr_of("10.0.0.0");
	unsigned int sent = 0;

	(void)state;
	for (unsigned int i = 0; i < 300000; i++) {
		a.v4 = rte_cpu_to_be_32(0x0a000000 + i);
		sent += sl_icmp_limit_peer(fx.w, SL_AF_INET, &a, 1000);
	}
	/* strangers are new, so everybody gets the first */
	assert_int_equal(sent, 300000);
	assert_int_equal(errors(12, "192.0.2.99"), 6);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_peer_gets_six_at_once_then_one_a_second),
		TEST(test_path_mtu_and_queries_are_free),
		TEST(test_unroutable_pays_twice),
		TEST(test_global_bucket_holds_its_burst),
		TEST(test_redirects_double_their_intervals_nine_times),
		TEST(test_wide_ipv6_prefixes_get_more),
		TEST(test_flood_of_peers_leaves_the_table_whole),
	};

	return cmocka_run_group_tests(tests, fx_group_setup, NULL);
}
