/* SPDX-License-Identifier: BSD-3-Clause */
/* Where packets end and what is answered: addresses, routes, TTL, redirects, broadcast. */
#include "tests/lib/ip4_fixture.h"

#include <rte_ip.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FORWARD (-1) /* leaves by another port */

/* one packet from wan, and its end: forwarded, dropped in silence, or an ICMP error */
static const struct row {
	const char *src, *dst;
	int type, code; /* of the error, or FORWARD; 0/0: silence */
	enum sl_drop_reason reason;
} rows[] = {
	{ "192.0.2.7", "198.51.100.7", FORWARD, 0, 0 },
	{ "10.0.1.7", "10.0.2.7", FORWARD, 0, 0 },
	{ "0.1.2.3", "198.51.100.7", FORWARD, 0, 0 },
	{ "240.1.2.3", "198.51.100.7", FORWARD, 0, 0 },
	{ "10.0.2.255", "198.51.100.7", FORWARD, 0, 0 },
	{ "192.0.2.7", "10.0.2.0", FORWARD, 0, 0 },
	{ "224.0.0.5", "198.51.100.7", 0, 0, SL_DROP_MARTIAN_SRC },
	{ "255.255.255.255", "198.51.100.7", 0, 0, SL_DROP_MARTIAN_SRC },
	{ "0.0.0.0", "198.51.100.7", 0, 0, SL_DROP_MARTIAN_SRC },
	{ "127.0.0.1", "198.51.100.7", 0, 0, SL_DROP_MARTIAN_SRC },
	{ "10.0.1.1", "198.51.100.7", 0, 0, SL_DROP_MARTIAN_SRC },
	{ "10.0.3.1", "198.51.100.7", 0, 0, SL_DROP_MARTIAN_SRC },
	{ "10.0.3.1", "10.0.1.1", 0, 0, SL_DROP_MARTIAN_SRC },
	{ "192.0.2.7", "127.0.0.1", 0, 0, SL_DROP_MARTIAN_DST },
	{ "192.0.2.7", "0.0.0.0", 0, 0, SL_DROP_MARTIAN_DST },
	{ "192.0.2.7", "224.0.0.5", 0, 0, SL_DROP_MULTICAST },
	{ "192.0.2.7", "224.0.0.1", 0, 0, SL_DROP_HOST_IGNORED },
	{ "192.0.2.7", "10.0.2.255", 0, 0, SL_DROP_HOST_IGNORED },
	{ "192.0.2.7", "255.255.255.255", 0, 0, SL_DROP_HOST_IGNORED },
	{ "0.0.0.0", "255.255.255.255", 0, 0, SL_DROP_HOST_IGNORED },
	{ "10.0.1.1", "255.255.255.255", 0, 0, SL_DROP_MARTIAN_SRC },
	{ "192.0.2.7", "8.8.8.8", 3, 0, SL_DROP_NO_ROUTE },
	{ "192.0.2.7", "203.0.113.7", 3, 1, SL_DROP_ROUTE_UNREACHABLE },
	{ "192.0.2.7", "203.0.114.7", 3, 13, SL_DROP_ROUTE_PROHIBIT },
	{ "192.0.2.7", "203.0.115.7", 0, 0, SL_DROP_ROUTE_BLACKHOLE },
	{ "192.0.2.7", "240.0.0.1", 3, 0, SL_DROP_NO_ROUTE },
	/* nobody to answer to */
	{ "8.8.8.8", "203.0.113.7", 0, 0, SL_DROP_ROUTE_UNREACHABLE },
	{ "10.0.1.1", "203.0.113.7", 0, 0, SL_DROP_ROUTE_UNREACHABLE },
};

static void run(const struct row *r)
{
	static const uint8_t udp[8] = { 0, 1, 0, 2, 0, 8, 0, 0 };
	struct fx_ip s = { .src = r->src, .dst = r->dst, .data = udp, .len = 8 };
	bool silent = r->type == 0, forwarded = r->type == FORWARD;
	uint64_t before = fx_drops(r->reason);
	unsigned int n;
	const uint8_t *ip;
	uint32_t len;

	fx.w->now_ns += 60000000000;
	n = fx_send(WAN, &s);
	if (n != (silent ? 0U : 1U))
		fail_msg("%s to %s: %u packets out", r->src, r->dst, n);
	if (!forwarded && fx_drops(r->reason) != before + 1)
		fail_msg("%s to %s: not %s", r->src, r->dst, sl_drop_name(r->reason));
	if (n == 1) {
		ip = fx_ip_of(0, &len);
		assert_int_equal(sl_pkt(fx.out[0])->out_port, forwarded ? LAN : WAN);
		assert_int_equal(ip[8], forwarded ? 63 : 64);
		assert_int_equal(rte_raw_cksum(ip, 20), 0xffff);
		if (!forwarded && (ip[20] != r->type || ip[21] != r->code))
			fail_msg("%s to %s: %u/%u", r->src, r->dst, ip[20], ip[21]);
	}
	fx_reset();
}

static void test_addresses_and_routes(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(rows); i++)
		run(&rows[i]);
}

static void test_ttl_of_one_and_none_is_answered(void **state)
{
	uint32_t len;
	const uint8_t *ip;

	(void)state;
	for (unsigned int ttl = 0; ttl < 2; ttl++) {
		struct fx_ip s = { .ttl = (uint8_t)ttl, .ttl_zero = true, .len = 26 };

		assert_int_equal(fx_send(WAN, &s), 1);
		ip = fx_ip_of(0, &len);
		assert_int_equal(ip[20], 11);
		assert_int_equal(ip[28 + 8], ttl);
		fx_reset();
	}
	assert_int_equal(fx_drops(SL_DROP_TTL), 2);
	assert_int_equal(fx_send(WAN, &(struct fx_ip){ .ttl = 2, .len = 26 }), 1);
	assert_int_equal(fx_ip_of(0, &len)[8], 1);
}

/* no route comes before the TTL is looked at */
static void test_ttl_is_not_looked_at_without_route(void **state)
{
	uint32_t len;

	(void)state;
	assert_int_equal(fx_send(WAN, &(struct fx_ip){ .dst = "203.0.113.1", .ttl = 1, .len = 8 }),
			1);
	assert_int_equal(fx_ip_of(0, &len)[20], 3);
}

static void test_checksum_follows_the_ttl_in_every_value(void **state)
{
	uint8_t frame[100];

	(void)state;
	for (unsigned int ttl = 2; ttl < 256; ttl++) {
		for (unsigned int tos = 0; tos < 256; tos += 15) {
			struct fx_ip s = { .ttl = (uint8_t)ttl, .tos = (uint8_t)tos, .len = 26 };
			uint32_t len = fx_frame(WAN, &s, frame);
			const uint8_t *ip;

			assert_int_equal(fx_rx(WAN, fx_mbuf(WAN, frame, len, 0)), 1);
			ip = fx_ip_of(0, &len);
			assert_int_equal(rte_raw_cksum(ip, 20), 0xffff);
			assert_int_equal(ip[8], ttl - 1);
			fx_reset();
		}
	}
}

static void test_priority_is_that_of_the_tos(void **state)
{
	static const uint32_t wanted[4] = { 0, 2, 6, 4 };

	(void)state;
	for (unsigned int tos = 0; tos < 256; tos++) {
		fx_send(WAN, &(struct fx_ip){ .tos = (uint8_t)tos, .len = 8 });
		assert_int_equal(sl_pkt(fx.out[0])->priority, wanted[tos >> 3 & 3]);
		fx_reset();
	}
}

static void test_next_hop_is_gateway_or_destination(void **state)
{
	(void)state;
	fx_send(WAN, &(struct fx_ip){ .dst = "198.51.100.7", .len = 8 });
	fx_send(WAN, &(struct fx_ip){ .dst = "10.0.2.77", .len = 8 });
	assert_true(sl_pkt(fx.out[0])->via.v4 == addr_of("10.0.2.2").v4);
	assert_true(sl_pkt(fx.out[1])->via.v4 == addr_of("10.0.2.77").v4);
}

static void test_link_groups_are_not_forwarded(void **state)
{
	uint8_t frame[100];
	uint32_t len = fx_frame(WAN, &(struct fx_ip){ .ttl = 1, .len = 8 }, frame);

	(void)state;
	memset(frame, 0xff, 6);
	assert_int_equal(fx_rx(WAN, fx_mbuf(WAN, frame, len, 0)), 0);
	frame[5] = 0xfd;
	assert_int_equal(fx_rx(WAN, fx_mbuf(WAN, frame, len, 0)), 0);
	assert_int_equal(fx_drops(SL_DROP_LINK_GROUP), 2);
}

static void test_redirect_names_the_better_hop(void **state)
{
	static const uint8_t gateway[] = { 5, 1 }, wan2[] = { 10, 0, 1, 2 },
			     wan9[] = { 10, 0, 1, 9 };
	uint32_t len;
	const uint8_t *ip;

	(void)state;
	/* a neighbour on wan sends to what lies behind wan's gateway */
	assert_int_equal(fx_send(WAN,
					 &(struct fx_ip){ .src = "10.0.1.7",
							 .dst = "192.0.2.9",
							 .len = 26 }),
			2);
	ip = fx_ip_of(0, &len);
	assert_memory_equal(ip + 20, gateway, 2);
	assert_memory_equal(ip + 24, wan2, 4);
	assert_int_equal(ip[28 + 8], 63); /* TTL as it goes out */
	assert_int_equal(fx_ip_of(1, &len)[8], 63);
	fx_reset();
	/* or to another neighbour */
	assert_int_equal(fx_send(WAN,
					 &(struct fx_ip){ .src = "10.0.1.8",
							 .dst = "10.0.1.9",
							 .len = 26 }),
			2);
	assert_memory_equal(fx_ip_of(0, &len) + 24, wan9, 4);
	fx_reset();
	/* a sender behind a gateway could not follow it */
	assert_int_equal(fx_send(WAN,
					 &(struct fx_ip){ .src = "192.0.2.7",
							 .dst = "10.0.1.9",
							 .len = 26 }),
			1);
}

static int setup_forwarding_off(void **state)
{
	(void)state;
	fx_begin();
	fixture_sysctl(&fx.net, "net.ipv4.conf.wan.forwarding", 0);
	fx_build();
	return 0;
}

static void test_forwarding_off_is_silent(void **state)
{
	(void)state;
	assert_int_equal(fx_send(WAN, &(struct fx_ip){ .len = 8 }), 0);
	assert_int_equal(fx_send(WAN, &(struct fx_ip){ .dst = "8.8.8.8", .len = 8 }), 0);
	assert_int_equal(fx_drops(SL_DROP_FORWARDING_OFF), 2);
	assert_int_equal(fx_send(LAN,
					 &(struct fx_ip){ .src = "198.51.100.1",
							 .dst = "192.0.2.1",
							 .len = 8 }),
			1);
}

static int setup_bc_forwarding(void **state)
{
	(void)state;
	fx_begin();
	fixture_sysctl(&fx.net, "net.ipv4.conf.all.bc_forwarding", 1);
	fixture_sysctl(&fx.net, "net.ipv4.conf.wan.bc_forwarding", 1);
	fx_build();
	return 0;
}

static void test_directed_broadcast_is_forwarded_where_wanted(void **state)
{
	(void)state;
	assert_int_equal(fx_send(WAN, &(struct fx_ip){ .dst = "10.0.2.255", .len = 8 }), 1);
	assert_int_equal(sl_pkt(fx.out[0])->out_port, LAN);
	assert_true(sl_pkt(fx.out[0])->via.v4 == addr_of("10.0.2.255").v4);
	/* only of those that come in by wan */
	assert_int_equal(fx_send(LAN,
					 &(struct fx_ip){ .src = "10.0.2.7",
							 .dst = "10.0.1.255",
							 .len = 8 }),
			0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_addresses_and_routes),
		TEST(test_ttl_of_one_and_none_is_answered),
		TEST(test_ttl_is_not_looked_at_without_route),
		TEST(test_checksum_follows_the_ttl_in_every_value),
		TEST(test_priority_is_that_of_the_tos),
		TEST(test_next_hop_is_gateway_or_destination),
		TEST(test_link_groups_are_not_forwarded),
		TEST(test_redirect_names_the_better_hop),
		cmocka_unit_test_setup_teardown(
				test_forwarding_off_is_silent, setup_forwarding_off, fx_teardown),
		cmocka_unit_test_setup_teardown(test_directed_broadcast_is_forwarded_where_wanted,
				setup_bc_forwarding, fx_teardown),
	};

	return cmocka_run_group_tests(tests, fx_group_setup, NULL);
}
