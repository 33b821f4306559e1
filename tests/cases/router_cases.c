/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inputs that broke other routers, each with the outcome that is right. The letters and numbers in
 * the names are those under which we collect such reports.
 */
#include "tests/lib/router_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define L4_V4 34U
#define L4_V6 54U

static uint8_t data[RF_FRAME_MAX];

static uint16_t word(const struct rf_frame *f, unsigned int off)
{
	return (uint16_t)(f->data[off] << 8 | f->data[off + 1]);
}

static struct rf_ip udp4(const char *dst, uint32_t len)
{
	memset(data, 0x42, len);
	return (struct rf_ip){ .port = RF_LAN,
		.src = "198.51.100.2",
		.dst = dst,
		.proto = IPPROTO_UDP,
		.id = 77,
		.payload = data,
		.len = len };
}

static int begin(void **state)
{
	(void)state;
	rf_pass(100000000000ULL);
	rf_clear();
	return 0;
}

static int end(void **state)
{
	(void)state;
	assert_true(rf_is_whole());
	rf_clear();
	return 0;
}

/* N13: fragmented datagrams on two workers must not crash the choice of a worker */
static void test_n13_fragment_storm_on_two_workers(void **state)
{
	uint64_t out = 0;

	(void)state;
	for (unsigned int i = 0; i < 5000; i++) {
		struct rf_ip first = udp4("192.0.2.2", 1480), later = first;

		first.id = later.id = (uint16_t)i;
		first.frag = 0x2000;
		later.frag = 1480 / 8;
		later.len = 120;
		rf_send(i & 1 ? &later : &first);
		rf_send(i & 1 ? &first : &later);
		out += rf.n_out + rf.lost;
		rf_clear();
	}
	assert_int_equal(out, 10000);
}

/* O11: headers and payload are not contiguous; a header lies over two segments */
static void test_o11_header_over_segments(void **state)
{
	static uint8_t frame[RF_FRAME_MAX];
	struct rf_ip ip = udp4("192.0.2.2", 1000);
	uint32_t len = rf_build(&ip, frame);

	(void)state;
	for (uint32_t segment = 20; segment < 60; segment++) {
		rf_clear();
		rf_in(RF_LAN, frame, len, segment);
		assert_int_equal(rf.n_out, 1);
		assert_int_equal(rf.out[0].len, len);
		assert_memory_equal(rf.out[0].data + L4_V4, frame + L4_V4, len - L4_V4);
	}
}

/* O12: oversize with DF gets 3/4 with the MTU and a quote up to 576 bytes */
static void test_o12_oversize_with_df(void **state)
{
	struct rf_ip ip = udp4("192.0.2.2", 1600);
	const struct rf_frame *f = &rf.out[0];

	(void)state;
	ip.frag = 0x4000;
	rf_send(&ip);
	assert_int_equal(rf.n_out, 1);
	assert_int_equal(f->port, RF_LAN);
	assert_int_equal(f->len, 14 + 576);
	assert_int_equal(word(f, L4_V4), 3 << 8 | 4);
	assert_int_equal(word(f, L4_V4 + 6), 1500);
	assert_int_equal(f->data[L4_V4 + 8 + 8], 64); /* quoted TTL as it came */
}

/* O12: without DF it is fragmented, 8-byte aligned, same id */
static void test_o12_oversize_without_df(void **state)
{
	struct rf_ip ip = udp4("192.0.2.2", 1600);

	(void)state;
	rf_send(&ip);
	assert_int_equal(rf.n_out, 2);
	assert_int_equal(word(&rf.out[0], 14 + 6), 0x2000);
	assert_int_equal(rf.out[0].len, 14 + 1500);
	assert_int_equal(word(&rf.out[1], 14 + 6), 1480 / 8);
	assert_int_equal(rf.out[1].len, 14 + 20 + 120);
	assert_int_equal(word(&rf.out[0], 14 + 4), 77);
	assert_int_equal(word(&rf.out[1], 14 + 4), 77);
}

static struct rf_ip solicit(uint8_t opt_len, uint32_t len)
{
	struct rf_ip ip = { .port = RF_WAN,
		.src = "2001:db8::2",
		.dst = "2001:db8::1",
		.proto = IPPROTO_ICMPV6,
		.ttl = 255,
		.payload = data,
		.len = len };
	struct sl_addr target;

	sl_addr_parse("2001:db8::1", &target);
	memset(data, 0, len);
	data[0] = 135;
	memcpy(data + 8, target.b, 16);
	data[24] = 1;
	data[25] = opt_len;
	memcpy(data + 26, ((const uint8_t[]){ 2, 0, 0, 0, 1, 2 }), 6);
	rf_seal(&ip, data, 2);
	return ip;
}

/* O16: an option of length 0, and one that goes past the end */
static void test_o16_truncated_option_is_dropped(void **state)
{
	static const uint8_t lens[] = { 0, 2, 31, 255 };
	uint64_t before = sl_router_drops(rf.r, RF_WAN, SL_DROP_ND_INVALID);

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(lens); i++) {
		struct rf_ip ip = solicit(lens[i], 32);

		rf_send(&ip);
	}
	assert_int_equal(rf.n_out, 0);
	assert_int_equal(sl_router_drops(rf.r, RF_WAN, SL_DROP_ND_INVALID) - before, RTE_DIM(lens));
}

/* O17: the answer carries Solicited and Router, or neighbours end up FAILED */
static void test_o17_advertisement_is_solicited(void **state)
{
	struct rf_ip ip = solicit(1, 32);
	const struct rf_frame *f = &rf.out[0];

	(void)state;
	rf_send(&ip);
	assert_int_equal(rf.n_out, 1);
	assert_int_equal(f->data[L4_V6], 136);
	assert_int_equal(f->data[L4_V6 + 4] & 0xc0, 0xc0);
}

/* O18: many packets to a next hop that never answers */
static void test_o18_silent_next_hop(void **state)
{
	struct rf_ip ip = udp4("192.0.2.200", 20);
	unsigned int asked = 0, unreachable = 0;
	uint64_t failed;

	(void)state;
	for (unsigned int i = 0; i < 1000; i++)
		rf_send(&ip);
	assert_in_range(rte_mempool_in_use_count(rf.pool), 1, 800);
	rf_pass(5000000000ULL);
	for (unsigned int i = 0; i < rf.n_out; i++) {
		asked += word(&rf.out[i], 12) == 0x0806;
		unreachable += word(&rf.out[i], 12) == 0x0800
				&& word(&rf.out[i], L4_V4) == (3 << 8 | 1);
	}
	assert_int_equal(asked, 3);
	assert_true(unreachable > 0);
	failed = sl_router_drops(rf.r, RF_LAN, SL_DROP_NEIGH_FAILED)
			+ sl_router_drops(rf.r, RF_LAN, SL_DROP_NEIGH_QUEUE);
	assert_int_equal(failed, 1000);
}

/* O18: one packet to a next hop that is there but not yet known */
static void test_o18_first_packet_is_delivered(void **state)
{
	struct rf_ip ip = udp4("192.0.2.201", 20);
	static const uint8_t reply[42] = { 2, 0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 201, 8, 6, 0, 1, 8, 0,
		6, 4, 0, 2, 2, 0, 0, 0, 1, 201, 192, 0, 2, 201, 2, 0, 0, 0, 1, 1, 192, 0, 2, 1 };

	(void)state;
	rf_send(&ip);
	assert_int_equal(rf.n_out, 1);
	assert_int_equal(word(&rf.out[0], 12), 0x0806);
	rf_clear();
	rf_in(RF_WAN, reply, sizeof(reply), 0);
	assert_int_equal(rf.n_out, 1);
	assert_int_equal(rf.out[0].data[5], 201);
	assert_int_equal(rf.out[0].len, 14 + 20 + 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(test_##name, begin, end)
		T(n13_fragment_storm_on_two_workers),
		T(o11_header_over_segments),
		T(o12_oversize_with_df),
		T(o12_oversize_without_df),
		T(o16_truncated_option_is_dropped),
		T(o17_advertisement_is_solicited),
		T(o18_silent_next_hop),
		T(o18_first_packet_is_delivered),
#undef T
	};

	rf_start(2);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
