/* SPDX-License-Identifier: BSD-3-Clause */
/* Options: a table of lists, what stands in the packet that leaves, or which byte the error names. */
#include "tests/lib/ip4_fixture.h"

#include <rte_ip.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LEN_MAX 40

/* by the clock of the fixture: 12:34:56.789 */
#define TIME 0x02, 0xb3, 0x2c, 0x95
#define IN 10, 0, 1, 1 /* wan, where the packet comes in */
#define OUT 10, 0, 2, 1 /* lan, where it leaves */

enum fate {
	SAME, /* forwarded, options as they were */
	CHANGED, /* forwarded with .after */
	PROBLEM, /* 12/0 with .pointer */
	SILENT, /* dropped */
};

static const struct row {
	const char *name;
	enum fate fate;
	uint8_t len, pointer;
	uint8_t before[LEN_MAX], after[LEN_MAX];
} rows[] = {
	{ "no-ops", SAME, 4, 0, { 1, 1, 1, 1 }, { 0 } },
	{ "end", SAME, 4, 0, { 0, 0, 0, 0 }, { 0 } },
	{ "bytes behind the end", CHANGED, 8, 0, { 1, 0, 7, 9, 1, 2, 3, 4 }, { 1, 0, 0, 0, 0 } },
	{ "unknown", SAME, 4, 0, { 200, 3, 9, 1 }, { 0 } },
	{ "unknown as long as the list", SAME, 4, 0, { 200, 4, 9, 1 }, { 0 } },
	{ "unknown too long", PROBLEM, 4, 20, { 200, 5, 9, 1 }, { 0 } },
	{ "unknown too short", PROBLEM, 4, 21, { 1, 200, 1, 1 }, { 0 } },
	{ "type without length", PROBLEM, 4, 23, { 1, 1, 1, 200 }, { 0 } },
	{ "router alert", SAME, 4, 0, { 0x94, 4, 0, 0 }, { 0 } },
	{ "two router alerts", SAME, 8, 0, { 0x94, 4, 0, 0, 0x94, 4, 0, 1 }, { 0 } },
	{ "short router alert", PROBLEM, 4, 21, { 0x94, 3, 0, 0 }, { 0 } },
	{ "rr", CHANGED, 12, 0, { 7, 11, 4 }, { 7, 11, 8, OUT } },
	{ "rr behind a no-op", CHANGED, 8, 0, { 1, 7, 7, 4 }, { 1, 7, 7, 8, OUT } },
	{ "rr with one slot left", CHANGED, 12, 0, { 7, 11, 8, 1, 2, 3, 4 },
			{ 7, 11, 12, 1, 2, 3, 4, OUT } },
	{ "rr full", SAME, 8, 0, { 7, 7, 8, 1, 2, 3, 4 }, { 0 } },
	{ "rr full beyond", SAME, 8, 0, { 7, 7, 255, 1, 2, 3, 4 }, { 0 } },
	{ "rr without slots", SAME, 4, 0, { 7, 3, 4 }, { 0 } },
	{ "rr pointer into its head", PROBLEM, 8, 22, { 7, 7, 3 }, { 0 } },
	{ "rr slot cut", PROBLEM, 8, 22, { 7, 7, 5 }, { 0 } },
	{ "rr too short", PROBLEM, 4, 21, { 7, 2 }, { 0 } },
	{ "two rr", PROBLEM, 16, 27, { 7, 7, 4, 0, 0, 0, 0, 7, 7, 4 }, { 0 } },
	{ "ts", CHANGED, 8, 0, { 68, 8, 5, 0 }, { 68, 8, 9, 0, TIME } },
	/* the address stays that of the way in */
	{ "ts and address", CHANGED, 12, 0, { 68, 12, 5, 1 }, { 68, 12, 13, 1, IN, TIME } },
	{ "ts prespecified, ours", CHANGED, 12, 0, { 68, 12, 5, 3, 10, 0, 3, 1 },
			{ 68, 12, 13, 3, 10, 0, 3, 1, TIME } },
	{ "ts prespecified, broadcast", CHANGED, 12, 0, { 68, 12, 5, 3, 10, 0, 3, 255 },
			{ 68, 12, 13, 3, 10, 0, 3, 255, TIME } },
	{ "ts prespecified, another", SAME, 12, 0, { 68, 12, 5, 3, 10, 0, 3, 2 }, { 0 } },
	{ "ts of an unknown kind", SAME, 8, 0, { 68, 8, 5, 2 }, { 0 } },
	{ "ts full", CHANGED, 8, 0, { 68, 8, 9, 0x20 }, { 68, 8, 9, 0x30 } },
	{ "ts full, unknown kind", CHANGED, 8, 0, { 68, 8, 9, 0x22 }, { 68, 8, 9, 0x32 } },
	{ "ts full, prespecified", SAME, 12, 0, { 68, 12, 13, 0xf3, 9, 9, 9, 9 }, { 0 } },
	{ "ts overflow", PROBLEM, 8, 23, { 68, 8, 9, 0xf0 }, { 0 } },
	{ "ts pointer into its head", PROBLEM, 8, 22, { 68, 8, 4, 0 }, { 0 } },
	{ "ts slot cut", PROBLEM, 8, 22, { 68, 8, 6, 0 }, { 0 } },
	{ "ts slot for two cut", PROBLEM, 8, 22, { 68, 8, 5, 1 }, { 0 } },
	{ "ts too short", PROBLEM, 4, 21, { 68, 3, 5 }, { 0 } },
	{ "two ts", PROBLEM, 16, 28, { 68, 8, 9, 0, 0, 0, 0, 0, 68, 8, 5, 0 }, { 0 } },
	{ "rr and ts", CHANGED, 16, 0, { 7, 7, 4, 0, 0, 0, 0, 68, 8, 5, 0 },
			{ 7, 7, 8, OUT, 68, 8, 9, 0, TIME } },
	{ "cipso", PROBLEM, 12, 22, { 134, 10, 0, 0, 0, 1 }, { 0 } },
	{ "short cipso", PROBLEM, 8, 21, { 134, 7, 0, 0, 0, 1, 0 }, { 0 } },
	{ "loose source route", SILENT, 8, 0, { 131, 7, 4, 10, 0, 2, 2 }, { 0 } },
	{ "strict source route, full", SILENT, 8, 0, { 137, 7, 8, 10, 0, 2, 2 }, { 0 } },
	{ "short source route", PROBLEM, 4, 21, { 131, 2 }, { 0 } },
	{ "source route pointer", PROBLEM, 8, 22, { 131, 7, 3, 10, 0, 2, 2 }, { 0 } },
	{ "two source routes", PROBLEM, 12, 24, { 131, 3, 4, 1, 137, 3, 4 }, { 0 } },
	{ "source route, then worse", PROBLEM, 8, 23, { 131, 3, 4, 200, 1 }, { 0 } },
};

static void check_forwarded(const struct row *r)
{
	const uint8_t *wanted = r->fate == SAME ? r->before : r->after;
	uint32_t len;
	const uint8_t *ip = fx_ip_of(0, &len);

	assert_int_equal(sl_pkt(fx.out[0])->out_port, LAN);
	assert_int_equal(ip[8], 63);
	if (memcmp(ip + 20, wanted, r->len) != 0)
		fail_msg("%s: options differ from what they should be", r->name);
	assert_int_equal(rte_raw_cksum(ip, 20U + r->len), 0xffff);
}

static void check_problem(const struct row *r)
{
	uint32_t len;
	const uint8_t *ip = fx_ip_of(0, &len);
	const uint8_t *icmp = ip + (ip[0] & 0xf) * 4;

	assert_int_equal(sl_pkt(fx.out[0])->out_port, WAN);
	assert_int_equal(icmp[0], 12);
	assert_int_equal(icmp[1], 0);
	if (icmp[4] != r->pointer)
		fail_msg("%s: pointer %u, wanted %u", r->name, icmp[4], r->pointer);
}

static void run(const struct row *r, uint32_t split)
{
	struct fx_ip s = { .opt = r->before, .opt_len = r->len, .len = 26 };
	uint8_t frame[200];
	uint32_t len = fx_frame(WAN, &s, frame);
	unsigned int n;

	fx.w->now_ns += 10000000000; /* no rate limit between rows */
	n = fx_rx(WAN, fx_mbuf(WAN, frame, len, split));
	if (n != (r->fate == SILENT ? 0U : 1U))
		fail_msg("%s: %u packets out", r->name, n);
	if (r->fate == SAME || r->fate == CHANGED)
		check_forwarded(r);
	else if (r->fate == PROBLEM)
		check_problem(r);
	fx_reset();
}

static void test_table(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(rows); i++) {
		run(&rows[i], 0);
		run(&rows[i], 9);
	}
}

static void test_source_route_through_the_router(void **state)
{
	static const uint8_t lsrr[] = { 1, 131, 11, 4, 198, 51, 100, 7, 203, 0, 113, 9 };
	static const uint8_t after[] = { 1, 131, 11, 8, OUT, 203, 0, 113, 9 };
	uint32_t len;
	const uint8_t *ip;

	(void)state;
	assert_int_equal(fx_send(WAN,
					 &(struct fx_ip){ .dst = "10.0.1.1",
							 .opt = lsrr,
							 .opt_len = 12,
							 .len = 8 }),
			1);
	ip = fx_ip_of(0, &len);
	assert_memory_equal(ip + 20, after, sizeof(after));
	assert_memory_equal(ip + 16, ((const uint8_t[]){ 198, 51, 100, 7 }), 4);
	assert_int_equal(rte_raw_cksum(ip, 32), 0xffff);
	assert_int_equal(sl_pkt(fx.out[0])->out_port, LAN);
}

static void test_strict_source_route_to_a_gateway_fails(void **state)
{
	static const uint8_t ssrr[] = { 1, 137, 7, 4, 198, 51, 100, 7 };
	uint32_t len;
	const uint8_t *ip;

	(void)state;
	assert_int_equal(fx_send(WAN,
					 &(struct fx_ip){ .dst = "10.0.1.1",
							 .opt = ssrr,
							 .opt_len = 8,
							 .len = 8 }),
			1);
	ip = fx_ip_of(0, &len);
	ip += (ip[0] & 0xf) * 4;
	assert_int_equal(ip[0], 3);
	assert_int_equal(ip[1], 5);
}

static void test_strict_source_route_past_the_router_is_a_problem(void **state)
{
	static const uint8_t ssrr[] = { 1, 137, 7, 4, 198, 51, 100, 7 };
	uint32_t len;
	const uint8_t *ip;

	(void)state;
	assert_int_equal(fx_send(WAN, &(struct fx_ip){ .opt = ssrr, .opt_len = 8, .len = 8 }), 1);
	ip = fx_ip_of(0, &len);
	ip += (ip[0] & 0xf) * 4;
	assert_int_equal(ip[0], 12);
	assert_int_equal(ip[4], 16);
}

static int setup_source_route(void **state)
{
	(void)state;
	fx_begin();
	fixture_sysctl(&fx.net, "net.ipv4.conf.all.accept_source_route", 1);
	fixture_sysctl(&fx.net, "net.ipv4.conf.default.accept_source_route", 1);
	fx_build();
	return 0;
}

/* what stands in the quote of an error: options filled by the way in, checksum as received */
static void test_quote_shows_what_was_entered(void **state)
{
	static const uint8_t rr[] = { 7, 15, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t quoted[] = { 7, 15, 8, IN, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	/* the answer goes on recording: the way in, and the way out of the answer */
	static const uint8_t echoed[] = { 7, 15, 12, IN, IN, 0, 0, 0, 0, 0 };
	struct fx_ip s = { .opt = rr, .opt_len = 16, .ttl = 1, .len = 8 };
	uint8_t frame[200];
	uint32_t len;
	const uint8_t *ip;

	(void)state;
	len = fx_frame(WAN, &s, frame);
	assert_int_equal(fx_rx(WAN, fx_mbuf(WAN, frame, len, 0)), 1);
	ip = fx_ip_of(0, &len);
	assert_int_equal(ip[0], 0x49);
	assert_memory_equal(ip + 20, echoed, sizeof(echoed));
	assert_int_equal(ip[36], 11);
	assert_memory_equal(ip + 36 + 8, frame + 14, 20); /* header, old checksum and TTL */
	assert_memory_equal(ip + 36 + 8 + 20, quoted, sizeof(quoted));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_table, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(
				test_quote_shows_what_was_entered, fx_setup, fx_teardown),
		cmocka_unit_test_setup_teardown(test_source_route_through_the_router,
				setup_source_route, fx_teardown),
		cmocka_unit_test_setup_teardown(test_strict_source_route_to_a_gateway_fails,
				setup_source_route, fx_teardown),
		cmocka_unit_test_setup_teardown(
				test_strict_source_route_past_the_router_is_a_problem,
				setup_source_route, fx_teardown),
	};

	return cmocka_run_group_tests(tests, fx_group_setup, NULL);
}
