/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv6 layer through the whole router: forwarding, errors and answers, byte by byte where the
 * kernel's are known (tests/kernel compares the rest).
 */
#include "tests/lib/router_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define L4 54U /* Ethernet and fixed header */

static uint8_t data[RF_FRAME_MAX];

/* UDP from wan's neighbour to lan's */
static struct rf_ip across(uint32_t len)
{
	struct rf_ip ip = { .port = RF_WAN,
		.src = "2001:db8::2",
		.dst = "2001:db8:1::2",
		.proto = IPPROTO_UDP,
		.payload = data,
		.len = len };

	memset(data, 0x5a, len);
	data[0] = 0x13;
	data[1] = 0x88;
	data[4] = (uint8_t)(len >> 8);
	data[5] = (uint8_t)len;
	rf_seal(&ip, data, 6);
	return ip;
}

static uint16_t word(const struct rf_frame *f, unsigned int off)
{
	return (uint16_t)(f->data[off] << 8 | f->data[off + 1]);
}

/* sums to ones over pseudo header and message */
static void assert_csum_right(const struct rf_frame *f)
{
	uint32_t len = word(f, 18), sum = len + f->data[20];

	assert_int_equal(f->len, L4 + len);
	for (unsigned int i = 22; i < L4; i += 2)
		sum += word(f, i);
	for (uint32_t i = 0; i < len; i++)
		sum += i & 1 ? f->data[L4 + i] : (uint32_t)f->data[L4 + i] << 8;
	sum = (sum & 0xffff) + (sum >> 16);
	assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
}

/* one frame on wan: an error of this kind that quotes @ip, hop limit as given */
static void assert_error(const struct rf_ip *ip, uint8_t type, uint8_t code, uint32_t info)
{
	static uint8_t sent[RF_FRAME_MAX];
	uint32_t quoted = RTE_MIN(rf_build(ip, sent) - 14, 1280U - 48);
	const struct rf_frame *f = &rf.out[0];

	assert_int_equal(rf.n_out, 1);
	assert_int_equal(f->port, RF_WAN);
	assert_int_equal(f->len, L4 + 8 + quoted);
	assert_int_equal(f->data[20], IPPROTO_ICMPV6);
	assert_int_equal(f->data[21], 64);
	assert_int_equal(f->data[L4], type);
	assert_int_equal(f->data[L4 + 1], code);
	assert_int_equal((uint32_t)word(f, L4 + 4) << 16 | word(f, L4 + 6), info);
	assert_memory_equal(f->data + L4 + 8, sent + 14, quoted);
	assert_csum_right(f);
}

static int begin(void **state)
{
	(void)state;
	rf_pass(10000000000ULL); /* the rate limits' buckets are full again, nobody is asked for */
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

static void test_forward_decreases_hop_limit_alone(void **state)
{
	static uint8_t sent[RF_FRAME_MAX];
	struct rf_ip ip = across(100);
	uint32_t len = rf_build(&ip, sent);

	(void)state;
	rf_send(&ip);
	assert_int_equal(rf.n_out, 1);
	assert_int_equal(rf.out[0].port, RF_LAN);
	assert_int_equal(rf.out[0].len, len);
	assert_memory_equal(rf.out[0].data,
			((const uint8_t[]){ 2, 0, 0, 0, 2, 2, 2, 0, 0, 0, 2, 1 }), 12);
	sent[21]--;
	assert_memory_equal(rf.out[0].data + 12, sent + 12, len - 12);
}

static void test_forward_hop_limit_1_answers_3_0(void **state)
{
	struct rf_ip ip = across(20);

	(void)state;
	ip.ttl = 1;
	rf_send(&ip);
	assert_error(&ip, 3, 0, 0);
}

static void test_forward_too_big_answers_with_mtu(void **state)
{
	struct rf_ip ip = across(3000);

	(void)state;
	/* lan takes 9,000 bytes, tag 1,500; the sender is on wan, whose frames are as large as we say */
	ip.dst = "2001:db8:5::2";
	rf_seal(&ip, data, 6);
	rf_send(&ip);
	assert_error(&ip, 2, 0, 1500);
}

static void test_forward_jumbo_over_segments_is_intact(void **state)
{
	static uint8_t sent[RF_FRAME_MAX];
	struct rf_ip ip = across(8000);
	uint32_t len = rf_build(&ip, sent);

	(void)state;
	for (uint32_t segment = 1; segment <= 256; segment = segment * 3 + 1) {
		rf_clear();
		rf_in(RF_WAN, sent, len, RTE_MAX(segment, 40U));
		assert_int_equal(rf.n_out, 1);
		assert_int_equal(rf.out[0].len, len);
		assert_memory_equal(rf.out[0].data + 22, sent + 22, len - 22);
	}
}

static void test_forward_link_local_source_answers_1_2(void **state)
{
	struct rf_ip ip = across(20);

	(void)state;
	ip.src = "fe80::2";
	rf_seal(&ip, data, 6);
	rf_send(&ip);
	/* the sender has to be resolved first: a solicitation goes out, the error waits for it */
	assert_int_equal(rf.n_out, 1);
	assert_int_equal(rf.out[0].data[L4], 135);
	assert_int_equal(sl_router_drops(rf.r, RF_WAN, SL_DROP_SCOPE), 1);
}

static void test_own_udp_answers_port_unreachable(void **state)
{
	struct rf_ip ip = across(20);

	(void)state;
	ip.dst = "2001:db8:1::1";
	rf_seal(&ip, data, 6);
	rf_send(&ip);
	assert_error(&ip, 1, 4, 0);
}

static void test_own_udp_without_checksum_is_silent(void **state)
{
	struct rf_ip ip = across(20);

	(void)state;
	ip.dst = "2001:db8::1";
	data[6] = data[7] = 0;
	rf_send(&ip);
	assert_int_equal(rf.n_out, 0);
}

static void test_own_unknown_protocol_points_at_next_header(void **state)
{
	struct rf_ip ip = across(20);

	(void)state;
	ip.dst = "2001:db8::1";
	ip.proto = 253;
	rf_send(&ip);
	assert_error(&ip, 4, 1, 6);
}

static void test_own_syn_is_reset(void **state)
{
	struct rf_ip ip = across(20);
	const struct rf_frame *f = &rf.out[0];

	(void)state;
	ip.dst = "2001:db8::1";
	ip.proto = IPPROTO_TCP;
	memcpy(data,
			((const uint8_t[]){ 0x12, 0x34, 0, 80, 0, 0, 0, 41, 0, 0, 0, 0, 0x50, 2, 16,
					0, 0, 0, 0, 0 }),
			20);
	rf_seal(&ip, data, 16);
	rf_send(&ip);
	assert_int_equal(rf.n_out, 1);
	assert_csum_right(f);
	assert_int_equal(word(f, L4), 80);
	assert_int_equal(word(f, L4 + 2), 0x1234);
	assert_int_equal(word(f, L4 + 10), 42); /* acknowledges the SYN */
	assert_int_equal(f->data[L4 + 13], 0x14); /* RST, ACK */
}

static void test_own_echo_of_any_size_is_answered(void **state)
{
	struct rf_ip ip = across(3000);
	uint32_t got = 0;

	(void)state;
	ip.dst = "2001:db8::1";
	ip.proto = IPPROTO_ICMPV6;
	data[0] = 128;
	data[1] = 0;
	rf_seal(&ip, data, 2);
	rf_send(&ip);
	/* 3,000 bytes do not fit 1,500: fragments, each behind a fragment header */
	assert_true(rf.n_out >= 3);
	for (unsigned int i = 0; i < rf.n_out; i++) {
		assert_int_equal(rf.out[i].data[20], 44);
		assert_in_range(rf.out[i].len, 63, 1514);
		assert_int_equal(word(&rf.out[i], L4 + 2) & 0xfff8, got);
		assert_int_equal(word(&rf.out[i], L4 + 2) & 1, i + 1 < rf.n_out);
		got += rf.out[i].len - L4 - 8;
	}
	assert_int_equal(got, 3000);
}

static void test_error_never_answers_error(void **state)
{
	struct rf_ip ip = across(60);

	(void)state;
	ip.proto = IPPROTO_ICMPV6;
	ip.ttl = 1;
	data[0] = 1;
	rf_seal(&ip, data, 2);
	rf_send(&ip);
	assert_int_equal(rf.n_out, 0);
}

static void test_error_is_rationed(void **state)
{
	struct rf_ip ip = across(20);

	(void)state;
	ip.ttl = 1;
	for (unsigned int i = 0; i < 100; i++)
		rf_send(&ip);
	assert_in_range(rf.n_out, 1, 12);
	assert_true(sl_router_drops(rf.r, RF_WAN, SL_DROP_TTL) >= 100);
}

static void test_vlan_port_both_ways(void **state)
{
	struct rf_ip ip = across(20);

	(void)state;
	ip.port = RF_TAG;
	ip.src = "2001:db8:5::2";
	rf_seal(&ip, data, 6);
	rf_send(&ip);
	assert_int_equal(rf.n_out, 1);
	assert_int_equal(rf.out[0].port, RF_LAN);
	assert_int_equal(word(&rf.out[0], 12), 0x86dd);

	rf_clear();
	ip = across(20);
	ip.dst = "2001:db8:5::2";
	rf_seal(&ip, data, 6);
	rf_send(&ip);
	assert_int_equal(rf.out[0].port, RF_TAG);
	assert_int_equal(word(&rf.out[0], 12), 0x8100);
	assert_int_equal(word(&rf.out[0], 14), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(test_##name, begin, end)
		T(forward_decreases_hop_limit_alone),
		T(forward_hop_limit_1_answers_3_0),
		T(forward_too_big_answers_with_mtu),
		T(forward_jumbo_over_segments_is_intact),
		T(forward_link_local_source_answers_1_2),
		T(own_udp_answers_port_unreachable),
		T(own_udp_without_checksum_is_silent),
		T(own_unknown_protocol_points_at_next_header),
		T(own_syn_is_reset),
		T(own_echo_of_any_size_is_answered),
		T(error_never_answers_error),
		T(error_is_rationed),
		T(vlan_port_both_ways),
#undef T
	};

	rf_start(2);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
