/* SPDX-License-Identifier: BSD-3-Clause */
/* ICMP errors: their form byte for byte, and the packets that get none. */
#include "tests/lib/ip4_fixture.h"

#include <rte_ip.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void test_form(void **state)
{
	struct fx_ip s = { .ttl = 1, .tos = 0xff, .len = 30 };
	static const uint8_t addresses[] = { 10, 0, 1, 1, 192, 0, 2, 7 };
	uint8_t frame[100];
	uint32_t frame_len, len;
	const uint8_t *ip;

	(void)state;
	frame_len = fx_frame(WAN, &s, frame);
	assert_int_equal(fx_rx(WAN, fx_mbuf(WAN, frame, frame_len, 0)), 1);
	ip = fx_ip_of(0, &len);
	assert_int_equal(len, 28 + 50);
	assert_int_equal(ip[0], 0x45);
	assert_int_equal(ip[1], 0xde); /* (0xff & 0x1e) | 0xc0 */
	assert_int_equal(ip[2] << 8 | ip[3], len);
	assert_int_equal(ip[6] << 8 | ip[7], 0);
	assert_int_equal(ip[8], 64);
	assert_int_equal(ip[9], 1);
	assert_memory_equal(ip + 12, addresses, 8);
	assert_int_equal(rte_raw_cksum(ip, 20), 0xffff);
	assert_int_equal(rte_raw_cksum(ip + 20, len - 20), 0xffff);
	assert_memory_equal(ip + 20, ((const uint8_t[]){ 11, 0 }), 2);
	assert_memory_equal(ip + 24, ((const uint8_t[]){ 0, 0, 0, 0 }), 4);
	assert_memory_equal(ip + 28, frame + 14, 50);
	assert_int_equal(sl_pkt(fx.out[0])->in_port, SL_PORT_HOST);
	assert_true(sl_pkt(fx.out[0])->via.v4 == addr_of("10.0.1.2").v4);
}

static void test_quote_ends_at_576(void **state)
{
	static const uint8_t rr[] = { 7, 7, 4, 0, 0, 0, 0, 1 };
	uint8_t frame[1700];
	uint32_t len;

	(void)state;
	for (uint16_t n = 520; n < 540; n++) {
		struct fx_ip s = { .ttl = 1, .len = n };

		fx.w->now_ns += 10000000000;
		len = fx_frame(WAN, &s, frame);
		fx_rx(WAN, fx_mbuf(WAN, frame, len, n & 1 ? 100 : 0));
		fx_ip_of(0, &len);
		assert_int_equal(len, RTE_MIN(28U + 20 + n, 576U));
		fx_reset();
	}
	/* options of the answer take their room; a full record route is copied */
	fx.w->now_ns += 10000000000;
	len = fx_frame(WAN, &(struct fx_ip){ .ttl = 1, .opt = rr, .opt_len = 8, .len = 1000 },
			frame);
	fx_rx(WAN, fx_mbuf(WAN, frame, len, 0));
	assert_int_equal(fx_ip_of(0, &len)[0], 0x47);
	assert_int_equal(len, 576);
}

/* errors that leave by dmz have to fit there */
static void test_quote_ends_at_a_small_mtu(void **state)
{
	uint8_t frame[1700];
	struct fx_ip s = { .src = "198.51.101.7", .dst = "8.8.8.8", .len = 1000 };
	uint32_t len;

	(void)state;
	len = fx_frame(WAN, &s, frame);
	assert_int_equal(fx_rx(WAN, fx_mbuf(WAN, frame, len, 0)), 1);
	fx_ip_of(0, &len);
	assert_int_equal(len, 132);
	assert_int_equal(sl_pkt(fx.out[0])->out_port, DMZ);
}

static void test_icmp_is_answered_by_type(void **state)
{
	(void)state;
	for (unsigned int type = 0; type < 256; type++) {
		bool query = type == 0 || type == 8 || (type >= 13 && type <= 18);
		uint8_t data[8] = { (uint8_t)type };
		struct fx_ip s = { .proto = 1, .ttl = 1, .data = data, .len = 8 };

		fx.w->now_ns += 10000000000;
		assert_int_equal(fx_send(WAN, &s), query ? 1 : 0);
		fx_reset();
	}
	/* the type is not there */
	assert_int_equal(fx_send(WAN, &(struct fx_ip){ .proto = 1, .ttl = 1 }), 0);
}

static void test_fragments_are_answered_by_the_first(void **state)
{
	struct fx_ip s = { .ttl = 1, .frag = 0x2000, .len = 16 };

	(void)state;
	assert_int_equal(fx_send(WAN, &s), 1);
	s.frag = 0x2001;
	assert_int_equal(fx_send(WAN, &s), 0);
	s.frag = 0x0001;
	assert_int_equal(fx_send(WAN, &s), 0);
	assert_int_equal(fx_drops(SL_DROP_TTL), 3);
}

static void test_rate_is_limited(void **state)
{
	unsigned int sent = 0;

	(void)state;
	for (unsigned int i = 0; i < 12; i++)
		sent += fx_send(WAN, &(struct fx_ip){ .ttl = 1, .len = 26 });
	assert_int_equal(sent, 6);
	sent = 0;
	for (unsigned int i = 0; i < 12; i++)
		sent += fx_send(WAN,
				&(struct fx_ip){ .src = "192.0.2.8", .dst = "8.8.8.8", .len = 26 });
	assert_int_equal(sent, 2);
	assert_int_equal(fx_drops(SL_DROP_TTL) + fx_drops(SL_DROP_NO_ROUTE), 24);
}

static int setup_inbound(void **state)
{
	(void)state;
	fx_begin();
	fixture_sysctl(&fx.net, "net.ipv4.icmp_errors_use_inbound_ifaddr", 1);
	fx_build();
	return 0;
}

static void test_source_is_that_of_the_way_back_or_in(void **state)
{
	/* comes in by wan, the answer leaves by dmz */
	struct fx_ip s = { .src = "198.51.101.7", .ttl = 1, .len = 26 };
	uint8_t wanted[] = { 10, 0, 3, 1 };
	uint32_t len;

	(void)state;
	if (fx.w->net->sysctl.icmp4_errors_inbound)
		wanted[2] = 1;
	assert_int_equal(fx_send(WAN, &s), 1);
	assert_memory_equal(fx_ip_of(0, &len) + 12, wanted, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_form),
		TEST(test_quote_ends_at_576),
		TEST(test_quote_ends_at_a_small_mtu),
		TEST(test_icmp_is_answered_by_type),
		TEST(test_fragments_are_answered_by_the_first),
		TEST(test_rate_is_limited),
		TEST(test_source_is_that_of_the_way_back_or_in),
		cmocka_unit_test_setup_teardown(test_source_is_that_of_the_way_back_or_in,
				setup_inbound, fx_teardown),
	};

	return cmocka_run_group_tests(tests, fx_group_setup, NULL);
}
