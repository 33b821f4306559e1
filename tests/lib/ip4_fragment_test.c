/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes of fragments: sizes, offsets, flags, options, and that nothing of the data is lost. */
#include "tests/lib/ip4_fixture.h"

#include <rte_ip.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* dmz has an MTU of 132 */
#define TO_DMZ "198.51.101.7"

/* @data was sent with the flags and offset @frag; the fragments in fx.out have to say the same */
static void assert_joins(const uint8_t *data, uint32_t len, uint16_t frag, unsigned int hdr_len,
		uint16_t mtu)
{
	uint32_t off = 0;

	for (unsigned int i = 0; i < fx.n_out; i++) {
		uint32_t n;
		const uint8_t *ip = fx_ip_of(i, &n);
		uint16_t field = (uint16_t)(ip[6] << 8 | ip[7]);
		bool last = i == fx.n_out - 1;

		assert_true(n <= mtu);
		assert_int_equal(ip[0], 0x40 | hdr_len / 4);
		assert_int_equal(ip[2] << 8 | ip[3], n);
		assert_int_equal(ip[4] << 8 | ip[5], 0x1234);
		assert_int_equal(rte_raw_cksum(ip, hdr_len), 0xffff);
		assert_int_equal(field & 0x1fff, (frag & 0x1fff) + off / 8);
		assert_int_equal(field & 0xe000, last ? frag & 0x2000 : 0x2000);
		n -= hdr_len;
		assert_true(last || n % 8 == 0);
		/* as much as goes in, but for the last */
		assert_true(last || n == ((mtu - hdr_len) & ~7U));
		assert_memory_equal(ip + hdr_len, data + off, n);
		off += n;
		assert_int_equal(sl_pkt(fx.out[i])->in_port, i == 0 ? WAN : SL_PORT_HOST);
		assert_int_equal(sl_pkt(fx.out[i])->out_port, DMZ);
		assert_int_equal(sl_pkt(fx.out[i])->l3_len, n + hdr_len);
	}
	assert_int_equal(off, len);
}

static void test_every_length_is_cut_and_joins_again(void **state)
{
	uint8_t data[1400], frame[1700];

	(void)state;
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 31 >> 3);
	for (uint16_t len = 110; len < sizeof(data); len += 3) {
		for (uint32_t split = 0; split <= 300; split += 150) {
			struct fx_ip s = { .dst = TO_DMZ, .data = data, .len = len };
			unsigned int whole = len <= 112, n;

			n = fx_rx(WAN, fx_mbuf(WAN, frame, fx_frame(WAN, &s, frame), split));
			assert_int_equal(n, whole ? 1 : (len + 111U) / 112);
			assert_joins(data, len, 0, 20, 132);
			fx_reset();
		}
	}
}

static void test_fragments_are_cut_further(void **state)
{
	static const uint16_t frags[] = { 0x2000, 0x2010, 0x0010, 0x3000 };
	uint8_t data[400], frame[600];

	(void)state;
	memset(data, 0x5a, sizeof(data));
	for (unsigned int i = 0; i < RTE_DIM(frags); i++) {
		struct fx_ip s = { .dst = TO_DMZ, .data = data, .len = 400, .frag = frags[i] };

		fx_rx(WAN, fx_mbuf(WAN, frame, fx_frame(WAN, &s, frame), 0));
		assert_joins(data, 400, frags[i], 20, 132);
		fx_reset();
	}
}

static void test_options_without_copied_bit_stay_in_the_first(void **state)
{
	static const uint8_t opt[] = { 200, 4, 1, 2, 1, 82, 3, 9, 0x94, 4, 0, 0 };
	static const uint8_t later[] = { 200, 4, 1, 2, 1, 1, 1, 1, 0x94, 4, 0, 0 };
	struct fx_ip s = { .dst = TO_DMZ, .opt = opt, .opt_len = 12, .len = 300 };
	uint32_t len;

	(void)state;
	assert_int_equal(fx_send(WAN, &s), 4);
	assert_memory_equal(fx_ip_of(0, &len) + 20, opt, sizeof(opt));
	for (unsigned int i = 1; i < 4; i++)
		assert_memory_equal(fx_ip_of(i, &len) + 20, later, sizeof(later));
	fx_reset();
	/* a later fragment has lost them before */
	s.frag = 0x2010;
	assert_int_equal(fx_send(WAN, &s), 4);
	for (unsigned int i = 0; i < 4; i++)
		assert_memory_equal(fx_ip_of(i, &len) + 20, opt, sizeof(opt));
}

static void test_reassembled_is_cut_to_the_size_it_had(void **state)
{
	uint8_t frame[1700];
	struct rte_mbuf *m, *out[64];
	unsigned int n;

	(void)state;
	m = fx_mbuf(WAN, frame, fx_frame(WAN, &(struct fx_ip){ .len = 1400 }, frame), 0);
	fx.w->rx[WAN]++;
	assert_true(sl_pkt_parse_ip(m, 14));
	sl_pkt(m)->frag_max = 620;
	n = sl_ip4_fragment(fx.w, m, 1500, out, RTE_DIM(out));
	assert_int_equal(n, 3);
	assert_int_equal(sl_pkt(out[0])->l3_len, 620);
	assert_int_equal(sl_pkt(out[2])->l3_len, 220);
	for (unsigned int i = 0; i < n; i++)
		sl_worker_deliver(fx.w, out[i]);
}

static void test_too_many_fragments_fail_whole(void **state)
{
	uint8_t frame[1700];
	struct rte_mbuf *m, *out[4];

	(void)state;
	m = fx_mbuf(WAN, frame, fx_frame(WAN, &(struct fx_ip){ .len = 1400 }, frame), 0);
	fx.w->rx[WAN]++;
	assert_true(sl_pkt_parse_ip(m, 14));
	assert_int_equal(sl_ip4_fragment(fx.w, m, 300, out, RTE_DIM(out)), 0);
	assert_int_equal(fx_drops(SL_DROP_FRAG_FAILED), 1);
}

static void test_df_is_answered_with_the_mtu(void **state)
{
	uint32_t len;
	const uint8_t *ip;

	(void)state;
	assert_int_equal(fx_send(WAN, &(struct fx_ip){ .dst = TO_DMZ, .frag = 0x4000, .len = 113 }),
			1);
	ip = fx_ip_of(0, &len);
	assert_memory_equal(ip + 20, ((const uint8_t[]){ 3, 4 }), 2);
	assert_memory_equal(ip + 24, ((const uint8_t[]){ 0, 0, 0, 132 }), 4);
	assert_int_equal(ip[28 + 8], 64); /* TTL as it came */
	assert_int_equal(fx_drops(SL_DROP_TOO_BIG), 1);
	fx_reset();
	assert_int_equal(fx_send(WAN, &(struct fx_ip){ .dst = TO_DMZ, .frag = 0x4000, .len = 112 }),
			1);
	assert_int_equal(sl_pkt(fx.out[0])->out_port, DMZ);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_every_length_is_cut_and_joins_again),
		TEST(test_fragments_are_cut_further),
		TEST(test_options_without_copied_bit_stay_in_the_first),
		TEST(test_reassembled_is_cut_to_the_size_it_had),
		TEST(test_too_many_fragments_fail_whole),
		TEST(test_df_is_answered_with_the_mtu),
	};

	return cmocka_run_group_tests(tests, fx_group_setup, NULL);
}
