/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets to the router's own addresses: answers byte for byte, and what gets none. */
#include "tests/lib/ip4_fixture.h"

#include <rte_ip.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define OWN "10.0.2.1" /* lan's address, asked by wan */

static uint8_t data[1400];

/* checksum at @at over @len bytes of data, with the pseudo header if @proto is not 0 */
static void checksum(unsigned int at, uint16_t len, uint8_t proto, uint16_t pseudo_len)
{
	struct sl_pkt p = { .family = SL_AF_INET };
	uint32_t sum;
	uint16_t csum;

	p.src = addr_of("192.0.2.7");
	p.dst = addr_of(OWN);
	memset(data + at, 0, 2);
	sum = rte_raw_cksum(data, len);
	if (proto != 0)
		sum += sl_csum_pseudo(&p, proto, pseudo_len);
	sum = (sum & 0xffff) + (sum >> 16);
	csum = (uint16_t)~sum;
	memcpy(data + at, &csum, 2);
}

static unsigned int ask_at(const char *dst, uint8_t proto, uint16_t len)
{
	fx.w->now_ns += 10000000000;
	fx_reset();
	return fx_send(WAN,
			&(struct fx_ip){ .dst = dst,
					.proto = proto,
					.tos = 0xbb,
					.data = data,
					.len = len });
}

static unsigned int ask(uint8_t proto, uint16_t len)
{
	return ask_at(OWN, proto, len);
}

static const uint8_t *answer(uint32_t *len)
{
	static const uint8_t addresses[] = { 10, 0, 2, 1, 192, 0, 2, 7 };
	const uint8_t *ip = fx_ip_of(0, len);

	assert_int_equal(ip[8], 64);
	assert_memory_equal(ip + 12, addresses, 8);
	assert_int_equal(rte_raw_cksum(ip, (ip[0] & 0xfU) * 4), 0xffff);
	assert_int_equal(sl_pkt(fx.out[0])->out_port, WAN);
	return ip;
}

static void fill_icmp(uint8_t type, uint8_t code, uint16_t len)
{
	for (unsigned int i = 0; i < len; i++)
		data[i] = (uint8_t)(i * 5 + 3);
	data[0] = type;
	data[1] = code;
	checksum(2, len, 0, 0);
}

static void test_echo_comes_back_whole(void **state)
{
	(void)state;
	for (uint16_t n = 8; n < 1400; n = (uint16_t)(n * 2 - 3)) {
		uint32_t len;
		const uint8_t *ip;

		fill_icmp(8, 5, n);
		assert_int_equal(ask(1, n), 1);
		ip = answer(&len);
		assert_int_equal(len, 20U + n);
		assert_int_equal(ip[1], 0xbb);
		assert_int_equal(ip[6] | ip[7], 0);
		assert_memory_equal(ip + 20, ((const uint8_t[]){ 0, 5 }), 2);
		assert_memory_equal(ip + 24, data + 4, n - 4U);
		assert_int_equal(rte_raw_cksum(ip + 20, n), 0xffff);
	}
}

static void test_echo_over_segments(void **state)
{
	uint8_t frame[1700];
	uint32_t len;
	const uint8_t *ip;

	(void)state;
	fill_icmp(8, 0, 999);
	len = fx_frame(WAN, &(struct fx_ip){ .dst = OWN, .proto = 1, .data = data, .len = 999 },
			frame);
	assert_int_equal(fx_rx(WAN, fx_mbuf(WAN, frame, len, 101)), 1);
	ip = answer(&len);
	assert_memory_equal(ip + 24, data + 4, 995);
	assert_int_equal(rte_raw_cksum(ip + 20, 999), 0xffff);
}

static void test_echo_records_the_route_back(void **state)
{
	static const uint8_t rr[] = { 7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	static const uint8_t back[] = { 7, 11, 12, 10, 0, 2, 1, 10, 0, 2, 1, 0 };
	uint32_t len;
	const uint8_t *ip;

	(void)state;
	fill_icmp(8, 0, 16);
	assert_int_equal(fx_send(WAN,
					 &(struct fx_ip){ .dst = OWN,
							 .proto = 1,
							 .opt = rr,
							 .opt_len = 12,
							 .data = data,
							 .len = 16 }),
			1);
	ip = answer(&len);
	assert_int_equal(ip[0], 0x48);
	assert_memory_equal(ip + 20, back, sizeof(back));
	assert_int_equal(rte_raw_cksum(ip + 32, 16), 0xffff);
}

static void test_timestamp_is_answered(void **state)
{
	static const uint16_t lens[] = { 8, 11, 12, 20, 40 };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(lens); i++) {
		uint32_t len;
		const uint8_t *ip;
		rte_be32_t now = rte_cpu_to_be_32(45296789);

		fill_icmp(13, 9, lens[i]);
		assert_int_equal(ask(1, lens[i]), lens[i] < 12 ? 0 : 1);
		if (lens[i] < 12)
			continue;
		ip = answer(&len);
		assert_int_equal(len, 40);
		assert_memory_equal(ip + 20, ((const uint8_t[]){ 14, 0 }), 2);
		assert_memory_equal(ip + 24, data + 4, 8);
		assert_memory_equal(ip + 32, &now, 4);
		assert_memory_equal(ip + 36, &now, 4);
		assert_int_equal(rte_raw_cksum(ip + 20, 20), 0xffff);
	}
}

static void test_icmp_that_ends_in_silence(void **state)
{
	(void)state;
	for (unsigned int type = 0; type < 256; type++) {
		if (type == 8 || type == 13)
			continue;
		fill_icmp((uint8_t)type, 0, 40);
		assert_int_equal(ask(1, 40), 0);
	}
	/* types up to 18 are consumed, others refused */
	assert_int_equal(fx.w->delivered[WAN], 17);
	assert_int_equal(fx_drops(SL_DROP_HOST_IGNORED), 256 - 19);
	fill_icmp(8, 0, 40);
	data[2] ^= 1;
	assert_int_equal(ask(1, 40), 0);
	assert_int_equal(fx_drops(SL_DROP_HOST_CHECKSUM), 1);
	fill_icmp(8, 0, 7);
	checksum(2, 7, 0, 0);
	assert_int_equal(ask(1, 7), 0);
	fill_icmp(8, 0, 16);
	assert_int_equal(ask_at("10.0.1.255", 1, 16), 0);
	assert_int_equal(ask_at("224.0.0.1", 1, 16), 0);
}

static void fill_udp(uint16_t dgram_len, uint16_t len)
{
	for (unsigned int i = 0; i < len; i++)
		data[i] = (uint8_t)(i * 3 + 1);
	data[4] = (uint8_t)(dgram_len >> 8);
	data[5] = (uint8_t)dgram_len;
	checksum(6, RTE_MIN(dgram_len, len), 17, dgram_len);
}

static void test_udp_gets_port_unreachable(void **state)
{
	uint32_t len;
	const uint8_t *ip;

	(void)state;
	fill_udp(40, 40);
	assert_int_equal(ask(17, 40), 1);
	ip = answer(&len);
	assert_memory_equal(ip + 20, ((const uint8_t[]){ 3, 3 }), 2);
	assert_int_equal(len, 28 + 60);
	/* what lies behind the datagram is not quoted */
	fill_udp(30, 40);
	assert_int_equal(ask(17, 40), 1);
	ip = answer(&len);
	assert_int_equal(len, 28 + 50);
	assert_int_equal(ip[28 + 2] << 8 | ip[28 + 3], 60);
	/* no checksum is fine */
	data[6] = data[7] = 0;
	assert_int_equal(ask(17, 40), 1);
}

static void test_udp_that_ends_in_silence(void **state)
{
	(void)state;
	fill_udp(40, 40);
	data[20] ^= 1;
	assert_int_equal(ask(17, 40), 0);
	assert_int_equal(fx_drops(SL_DROP_HOST_CHECKSUM), 1);
	fill_udp(41, 40);
	assert_int_equal(ask(17, 40), 0);
	fill_udp(7, 40);
	assert_int_equal(ask(17, 40), 0);
	for (uint16_t n = 0; n < 8; n++)
		assert_int_equal(ask(17, n), 0);
	assert_int_equal(fx_drops(SL_DROP_HOST_L4), 10);
	fill_udp(40, 40);
	data[6] = data[7] = 0;
	assert_int_equal(ask_at("10.0.2.255", 17, 40), 0);
	assert_int_equal(fx_drops(SL_DROP_HOST_IGNORED), 1);
}

static void test_udplite_covers_what_it_says(void **state)
{
	static const struct {
		uint16_t field, covered;
		unsigned int answers;
	} cases[] = { { 0, 40, 1 }, { 8, 8, 1 }, { 40, 40, 1 }, { 20, 20, 1 }, { 7, 7, 0 },
		{ 41, 40, 0 }, { 20, 21, 0 } };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		fill_udp(cases[i].field, 40);
		checksum(6, cases[i].covered, 136, 40);
		assert_int_equal(ask(136, 40), cases[i].answers);
	}
	fill_udp(40, 40);
	data[6] = data[7] = 0;
	assert_int_equal(ask(136, 40), 0);
}

static void fill_tcp(uint8_t flags, unsigned int doff, uint16_t len)
{
	for (unsigned int i = 0; i < len; i++)
		data[i] = (uint8_t)(i + 1);
	data[12] = (uint8_t)(doff << 4);
	data[13] = flags;
	checksum(16, len, 6, len);
}

static void test_tcp_gets_a_reset(void **state)
{
	static const struct {
		uint8_t flags, doff;
		uint16_t len;
		uint8_t rst_flags;
		uint32_t seq, ack;
	} cases[] = {
		{ 0x02, 5, 20, 0x14, 0, 0x05060709 }, /* SYN */
		{ 0x02, 6, 24, 0x14, 0, 0x05060709 },
		{ 0x03, 5, 30, 0x14, 0, 0x05060708 + 12 }, /* SYN, FIN and ten bytes */
		{ 0x00, 5, 25, 0x14, 0, 0x05060708 + 5 },
		{ 0x10, 5, 30, 0x04, 0x090a0b0c, 0 }, /* ACK */
		{ 0x12, 5, 20, 0x04, 0x090a0b0c, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		uint8_t rst[20] = { 3, 4, 1, 2 };
		uint32_t len;
		const uint8_t *ip;
		rte_be32_t seq = rte_cpu_to_be_32(cases[i].seq),
			   ack = rte_cpu_to_be_32(cases[i].ack);

		fill_tcp(cases[i].flags, cases[i].doff, cases[i].len);
		assert_int_equal(ask(6, cases[i].len), 1);
		ip = answer(&len);
		memcpy(rst + 4, &seq, 4);
		memcpy(rst + 8, &ack, 4);
		rst[12] = 0x50;
		rst[13] = cases[i].rst_flags;
		memcpy(rst + 16, ip + 36, 2);
		assert_int_equal(len, 40);
		assert_int_equal(ip[1], 0xb8); /* without ECN */
		assert_memory_equal(ip + 4, ((const uint8_t[]){ 0, 0, 0x40, 0 }), 4);
		assert_memory_equal(ip + 20, rst, 20);
		/* the answer's checksum is right if ours over the same bytes is the same */
		memcpy(data, rst, 20);
		checksum(16, 20, 6, 20);
		assert_memory_equal(data + 16, ip + 36, 2);
	}
}

static void test_tcp_that_ends_in_silence(void **state)
{
	uint8_t frame[100];
	uint32_t len;

	(void)state;
	fill_tcp(0x04, 5, 20); /* RST */
	assert_int_equal(ask(6, 20), 0);
	assert_int_equal(fx_drops(SL_DROP_HOST_IGNORED), 1);
	fill_tcp(0x02, 5, 20);
	data[3] ^= 1;
	assert_int_equal(ask(6, 20), 0);
	assert_int_equal(fx_drops(SL_DROP_HOST_CHECKSUM), 1);
	fill_tcp(0x02, 4, 20);
	assert_int_equal(ask(6, 20), 0);
	fill_tcp(0x02, 6, 20);
	assert_int_equal(ask(6, 20), 0);
	fill_tcp(0x02, 5, 19);
	assert_int_equal(ask(6, 19), 0);
	assert_int_equal(fx_drops(SL_DROP_HOST_L4), 3);
	/* to the router, but by link broadcast */
	fill_tcp(0x02, 5, 20);
	len = fx_frame(WAN, &(struct fx_ip){ .dst = OWN, .proto = 6, .data = data, .len = 20 },
			frame);
	memset(frame, 0xff, 6);
	assert_int_equal(fx_rx(WAN, fx_mbuf(WAN, frame, len, 0)), 0);
	assert_int_equal(fx_drops(SL_DROP_HOST_IGNORED), 2);
}

static void test_protocols(void **state)
{
	(void)state;
	memset(data, 0, sizeof(data));
	for (unsigned int proto = 1; proto < 256; proto++) {
		bool known = proto == 1 || proto == 2 || proto == 6 || proto == 17 || proto == 103
				|| proto == 136;
		uint32_t len;

		assert_int_equal(ask((uint8_t)proto, 30), known ? 0 : 1);
		if (!known)
			assert_memory_equal(answer(&len) + 20, ((const uint8_t[]){ 3, 2 }), 2);
	}
	/* never to a group */
	assert_int_equal(ask_at("10.0.1.255", 50, 30), 0);
	assert_int_equal(ask_at("255.255.255.255", 50, 30), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_echo_comes_back_whole),
		TEST(test_echo_over_segments),
		TEST(test_echo_records_the_route_back),
		TEST(test_timestamp_is_answered),
		TEST(test_icmp_that_ends_in_silence),
		TEST(test_udp_gets_port_unreachable),
		TEST(test_udp_that_ends_in_silence),
		TEST(test_udplite_covers_what_it_says),
		TEST(test_tcp_gets_a_reset),
		TEST(test_tcp_that_ends_in_silence),
		TEST(test_protocols),
	};

	return cmocka_run_group_tests(tests, fx_group_setup, NULL);
}
