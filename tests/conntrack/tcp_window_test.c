/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP's windows: the four bounds, scaling, SACK, keepalives, numbers that wrap. */
#include "conntrack/tcp_window.h"
#include "tests/conntrack/proto_fixture.h"

#define OLDEST_ACK 66000U

static uint32_t a, b; /* next sequence number of each side */
static uint16_t win_a, win_b;

static const uint8_t scale7[4] = { 1, 3, 3, 7 };

/* windows: A offers @wa, B offers @wb */
static void open_at(uint32_t isn_a, uint32_t isn_b, uint16_t wa, uint16_t wb, const uint8_t *opt,
		uint8_t opt_len)
{
	a = isn_a + 1;
	b = isn_b + 1;
	win_a = wa;
	win_b = wb;
	TCP(A, "S", isn_a, 0, .win = wa, .opt = opt, .opt_len = opt_len);
	TCP(B, "SA", isn_b, a, .win = wb, .opt = opt, .opt_len = opt_len);
	TCP(A, "A", a, b, .win = wa);
	TCP(B, "A", b, a, .win = wb);
	assert_tcp("ESTABLISHED", 432000);
}

static void open_plain(void)
{
	open_at(1000, 5000, 1000, 2000, NULL, 0);
}

/* does the first number that is refused differ by one from the last that is taken? */
static void bounds(void)
{
	/* I: begins at the edge of B's window, and behind it. Data would be let off (below). */
	assert_int_equal(TCP(A, "A", a + win_b, b, .win = win_a), FX_ESTABLISHED);
	assert_int_equal(fx.s.invalid[CT_INVALID_TCP_SEQ], 0);
	assert_int_equal(TCP(A, "A", a + 3U * win_b, b, .win = win_a), FX_INVALID);
	assert_int_equal(fx.s.invalid[CT_INVALID_TCP_SEQ], 1);
}

static void test_sequence_over_the_window(void **state)
{
	(void)state;
	open_plain();
	bounds();
}

static void test_acknowledges_what_was_not_sent(void **state)
{
	(void)state;
	open_plain();
	assert_int_equal(TCP(A, "A", a, b, .win = win_a), FX_ESTABLISHED);
	assert_int_equal(TCP(A, "A", a, b + 1, .win = win_a), FX_INVALID);
	assert_int_equal(fx.s.invalid[CT_INVALID_TCP_ACK], 1);
	TCP(B, "A", b, a, .len = 1, .win = win_b);
	assert_int_equal(TCP(A, "A", a, b + 1, .win = win_a), FX_ESTABLISHED);
}

static void test_old_segments_pass_and_change_nothing(void **state)
{
	struct ct_tcp before;

	(void)state;
	open_plain();
	before = fx.e->tcp;
	/* II: ends before everything that B may want again */
	assert_int_equal(TCP(A, "FA", a - win_b - 2, b, .win = win_a), FX_ESTABLISHED);
	assert_memory_equal(&before, &fx.e->tcp, sizeof(before));
	/* at the bound it is a segment like others */
	assert_int_equal(TCP(A, "FA", a - win_b - 1, b, .win = win_a), FX_ESTABLISHED);
	assert_string_equal(fx_tcp_state(), "FIN_WAIT");
}

static void test_very_old_acks_pass_and_change_nothing(void **state)
{
	struct ct_tcp before;

	(void)state;
	open_plain();
	before = fx.e->tcp;
	assert_int_equal(TCP(A, "FA", a, b - OLDEST_ACK - 1, .win = win_a), FX_ESTABLISHED);
	assert_memory_equal(&before, &fx.e->tcp, sizeof(before));
	assert_int_equal(TCP(A, "FA", a, b - OLDEST_ACK, .win = win_a), FX_ESTABLISHED);
	assert_string_equal(fx_tcp_state(), "FIN_WAIT");
}

static void test_a_little_too_much_passes_and_is_known(void **state)
{
	(void)state;
	open_plain();
	assert_int_equal(TCP(A, "A", a + win_b + 1, b, .len = 100, .win = win_a), FX_ESTABLISHED);
	assert_int_equal(fx.e->tcp.side[A].end, a + win_b + 101);
	assert_int_equal(fx.e->tcp.side[A].maxend, a + win_b);
	/* so it may be acknowledged */
	assert_int_equal(TCP(B, "A", b, a + win_b + 101, .win = win_b), FX_ESTABLISHED);
	/* more than a window too much is not let off */
	assert_int_equal(TCP(A, "A", fx.e->tcp.side[A].maxend + 1, b, .len = win_b, .win = win_a),
			FX_INVALID);
	assert_int_equal(TCP(A, "A", fx.e->tcp.side[A].maxend + 1, b, .len = win_b - 2,
					 .win = win_a),
			FX_ESTABLISHED);
}

static void test_liberal_lets_everything_pass(void **state)
{
	(void)state;
	fx.conf.tcp_be_liberal = 1;
	open_plain();
	assert_int_equal(TCP(A, "A", a + 500000, b, .win = win_a), FX_ESTABLISHED);
	assert_int_equal(TCP(A, "A", a, b + 500000, .win = win_a), FX_ESTABLISHED);
	assert_int_equal(TCP(A, "FA", a + 500000, b, .win = win_a), FX_ESTABLISHED);
	assert_tcp("FIN_WAIT", 120);
	assert_int_equal(fx.e->tcp.side[A].end, a);
}

static void test_scaled_window(void **state)
{
	(void)state;
	open_at(1000, 5000, 1000, 2000, scale7, 4);
	/* what came with the SYNs is not scaled, what came behind them is */
	assert_int_equal(fx.e->tcp.side[A].maxend, a + (2000U << 7));
	assert_int_equal(fx.e->tcp.side[B].maxend, b + (1000U << 7));
	assert_int_equal(TCP(A, "A", a + (2000U << 7), b, .win = win_a), FX_ESTABLISHED);
	assert_int_equal(TCP(A, "A", a + (2U * 2000 << 7) + 2, b, .win = win_a), FX_INVALID);
}

static void test_scale_counts_only_if_both_offer_it(void **state)
{
	static const uint8_t nothing[4] = { 1, 1, 1, 1 };

	(void)state;
	TCP(A, "S", 1000, 0, .opt = scale7, .opt_len = 4);
	TCP(B, "SA", 5000, 1001, .opt = nothing, .opt_len = 4);
	assert_int_equal(fx.e->tcp.side[A].scale, 0);
	TCP(A, "A", 1001, 5001);
	assert_int_equal(fx.e->tcp.side[B].maxend, 6001);
}

static void test_scale_over_14_is_14(void **state)
{
	static const uint8_t wild[4] = { 3, 3, 200, 0 };

	(void)state;
	TCP(A, "S", 1000, 0, .opt = wild, .opt_len = 4);
	assert_int_equal(fx.e->tcp.side[A].scale, 14);
}

static void test_torn_options_are_not_read(void **state)
{
	static const uint8_t torn[][8] = {
		{ 3, 4, 7, 0, 1, 1, 1, 0 }, /* scale with a wrong length */
		{ 0, 3, 3, 7, 0, 0, 0, 0 }, /* behind the end */
		{ 8, 1, 3, 3, 7, 0, 0, 0 }, /* length 1 */
		{ 8, 0, 3, 3, 7, 0, 0, 0 },
		{ 1, 1, 1, 1, 1, 1, 3, 3 }, /* over the end of the header */
		{ 8, 9, 3, 3, 7, 0, 0, 0 },
		{ 1, 1, 1, 1, 1, 1, 1, 3 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(torn) / sizeof(torn[0]); i++) {
		fx.there = false;
		TCP(A, "S", 1000, 0, .opt = torn[i], .opt_len = 8);
		assert_int_equal(fx.e->tcp.side[A].flags, 0);
		assert_int_equal(fx.e->tcp.side[A].scale, 0);
	}
}

/* two blocks, the higher one first or last */
static enum fx_state sack(uint32_t ack, uint32_t right1, uint32_t right2)
{
	uint8_t opt[20] = { 1, 1, 5, 18 };
	rte_be32_t words[4] = { rte_cpu_to_be_32(right1 - 1), rte_cpu_to_be_32(right1),
		rte_cpu_to_be_32(right2 - 1), rte_cpu_to_be_32(right2) };

	memcpy(opt + 4, words, sizeof(words));
	return TCP(A, "A", a, ack, .win = win_a, .opt = opt, .opt_len = 20);
}

static void test_sack_counts_as_acknowledgement(void **state)
{
	static const uint8_t perm[4] = { 1, 1, 4, 2 };

	(void)state;
	open_at(1000, 5000, 1000, 2000, perm, 4);
	TCP(B, "A", b, a, .len = 500, .win = win_b);
	assert_int_equal(sack(b, b + 200, b + 500), FX_ESTABLISHED);
	assert_int_equal(sack(b, b + 500, b + 200), FX_ESTABLISHED);
	assert_int_equal(sack(b, b + 501, b + 200), FX_INVALID);
	assert_int_equal(sack(b, b + 200, b + 501), FX_INVALID);
	/* the window begins behind the highest block */
	assert_int_equal(fx.e->tcp.side[A].maxwin, 1500);
}

static void test_sack_that_was_not_permitted_is_not_read(void **state)
{
	(void)state;
	open_plain();
	assert_int_equal(sack(b, b + 500, b + 700), FX_ESTABLISHED);
}

static void test_timestamps_alone_are_no_sack(void **state)
{
	static const uint8_t perm[4] = { 1, 1, 4, 2 };
	static const uint8_t stamps[12] = { 1, 1, 8, 10, 5, 10, 255, 255, 255, 255, 255, 255 };

	(void)state;
	open_at(1000, 5000, 1000, 2000, perm, 4);
	assert_int_equal(TCP(A, "A", a, b, .win = win_a, .opt = stamps, .opt_len = 12),
			FX_ESTABLISHED);
}

static void test_numbers_that_wrap(void **state)
{
	static const uint32_t starts[] = { 0, 1, UINT32_MAX - 1, UINT32_MAX, UINT32_MAX - 500,
		0x7fffffff, 0x80000000, UINT32_MAX - 2500 };

	for (unsigned int i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		for (unsigned int k = 0; k < sizeof(starts) / sizeof(starts[0]); k++) {
			fx_teardown(state);
			fx_setup(state);
			open_at(starts[i], starts[k], 1000, 2000, NULL, 0);
			bounds();
			assert_int_equal(TCP(A, "A", a, b + 1, .win = win_a), FX_INVALID);
			for (unsigned int n = 0; n < 5; n++) {
				assert_int_equal(TCP(B, "A", b, a, .len = 800, .win = win_b),
						FX_ESTABLISHED);
				b += 800;
				assert_int_equal(TCP(A, "A", a, b, .win = win_a), FX_ESTABLISHED);
			}
			assert_int_equal(fx.e->tcp.side[B].end, b);
		}
}

static void test_window_that_shrinks_keeps_its_edge(void **state)
{
	(void)state;
	open_plain();
	TCP(B, "A", b, a, .win = 10);
	assert_int_equal(fx.e->tcp.side[A].maxend, a + 2000);
	/* a window of 0 may be probed with one byte */
	TCP(A, "A", a, b, .win = win_a, .len = 1000);
	TCP(A, "A", a + 1000, b, .win = win_a, .len = 1000);
	TCP(B, "A", b, a + 2000, .no_win = true);
	assert_int_equal(fx.e->tcp.side[A].maxend, a + 2001);
	assert_int_equal(TCP(A, "A", a + 2000, b, .win = win_a, .len = 1), FX_ESTABLISHED);
}

static void test_keep_alive_before_the_other_side_was_seen(void **state)
{
	(void)state;
	assert_int_equal(TCP(A, "A", 999, 5000), FX_NEW);
	/* answered with what A has sent before */
	assert_int_equal(TCP(B, "A", 5000, 1000), FX_ESTABLISHED);
	assert_int_equal(fx.e->tcp.side[A].end, 1000);
}

static void test_reset_with_ack_of_0_answers_all(void **state)
{
	(void)state;
	open_plain();
	assert_int_equal(TCP(B, "RA", b, 0), FX_ESTABLISHED);
	assert_tcp("CLOSE", 10);
}

static void test_numbers_that_nat_has_moved(void **state)
{
	(void)state;
	open_plain();
	TCP(B, "A", b, a, .len = 10, .win = win_b);
	/* A sees B's bytes 7 further on, from the first data on */
	fx.e->status |= CT_SEQ_ADJUST;
	fx.s.cold->seqadj[CT_REPLY].pos = b;
	fx.s.cold->seqadj[CT_REPLY].before = 0;
	fx.s.cold->seqadj[CT_REPLY].after = 7;
	assert_int_equal(TCP(A, "A", a, b + 17, .win = win_a), FX_ESTABLISHED);
	assert_int_equal(fx.e->tcp.side[A].maxack, b + 10);
	assert_int_equal(TCP(A, "A", a, b + 18, .win = win_a), FX_INVALID);
	/* in front of the place nothing is moved */
	assert_int_equal(TCP(A, "A", a, b, .win = win_a), FX_ESTABLISHED);
}

static void test_headers_in_pieces(void **state)
{
	(void)state;
	for (fx.split = 1; fx.split < 60; fx.split += 3) {
		fx.there = false;
		open_at(1000, 5000, 1000, 2000, scale7, 4);
		assert_int_equal(fx.e->tcp.side[A].scale, 7);
		assert_int_equal(TCP(A, "A", a, b, .len = 30), FX_ESTABLISHED);
		assert_int_equal(fx.e->tcp.side[A].end, a + 30);
	}
}

#define UNIT(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(test_sequence_over_the_window),
		UNIT(test_acknowledges_what_was_not_sent),
		UNIT(test_old_segments_pass_and_change_nothing),
		UNIT(test_very_old_acks_pass_and_change_nothing),
		UNIT(test_a_little_too_much_passes_and_is_known),
		UNIT(test_liberal_lets_everything_pass),
		UNIT(test_scaled_window),
		UNIT(test_scale_counts_only_if_both_offer_it),
		UNIT(test_scale_over_14_is_14),
		UNIT(test_torn_options_are_not_read),
		UNIT(test_sack_counts_as_acknowledgement),
		UNIT(test_sack_that_was_not_permitted_is_not_read),
		UNIT(test_timestamps_alone_are_no_sack),
		UNIT(test_numbers_that_wrap),
		UNIT(test_window_that_shrinks_keeps_its_edge),
		UNIT(test_keep_alive_before_the_other_side_was_seen),
		UNIT(test_reset_with_ack_of_0_answers_all),
		UNIT(test_numbers_that_nat_has_moved),
		UNIT(test_headers_in_pieces),
	};

	return cmocka_run_group_tests(tests, fx_group, NULL);
}
