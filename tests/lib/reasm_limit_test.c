/* SPDX-License-Identifier: BSD-3-Clause */
/* What bounds reassembly: time, distance, the size of the whole, and the buffers that it may hold. */
#include "lib/net.h"
#include "tests/lib/reasm_pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_reasm_timeout_answers_if_the_first_is_there(void **state)
{
	(void)state;
	pieces_make(&pieces4, 1040);
	pieces_send_nth(&pieces4, 0);
	pieces_send_nth(&pieces4, 2);
	rf_pass(29000000000ULL);
	assert_int_equal(rf.n_out, 0);
	rf_pass(2000000000ULL);
	assert_int_equal(pieces_errors(34, 11, 1), 1);
	assert_int_equal(sl_router_drops(rf.r, RF_WAN, SL_DROP_REASM_TIMEOUT), 2);

	rf_clear();
	pieces_make(&pieces6, 1041);
	pieces_send_nth(&pieces6, 0);
	rf_pass(59000000000ULL);
	assert_int_equal(rf.n_out, 0);
	rf_pass(2000000000ULL);
	assert_int_equal(pieces_errors(54, 3, 1), 1);
}

static void test_reasm_timeout_without_the_first_is_silent(void **state)
{
	(void)state;
	pieces_make(&pieces4, 1050);
	pieces_send_nth(&pieces4, 1);
	pieces_send_nth(&pieces4, 3);
	rf_pass(40000000000ULL);
	assert_int_equal(rf.n_out, 0);
}

/* a datagram that begins with such a fragment is there all the same, and its time runs */
static void test_reasm6_odd_piece_starts_the_clock(void **state)
{
	(void)state;
	for (unsigned int how = 0; how < 2; how++) {
		pieces_make(&pieces6, (uint16_t)(1080 + how));
		if (how == 0)
			pieces_send(&pieces6, 0, 13, true);
		else
			pieces_send_oversize6();
		rf_pass(40000000000ULL);
		rf_clear();
		pieces_send_nth(&pieces6, 0);
		rf_pass(19000000000ULL);
		assert_int_equal(rf.n_out, 0);
		rf_pass(2000000000ULL);
		assert_int_equal(pieces_errors(54, 3, 1), 1);
	}
}

/* net.ipv4.ipfrag_max_dist: 64 fragments of the same source since the last one are too many */
static void test_reasm4_starts_over_when_far(void **state)
{
	(void)state;
	for (unsigned int between = 63; between <= 64; between++) {
		pieces_make(&pieces4, 2000);
		rf_clear();
		for (unsigned int i = 0; i < PIECES - 1; i++)
			pieces_send_nth(&pieces4, i);
		for (unsigned int i = 0; i < between; i++) {
			struct rf_ip other = pieces4;

			other.id = (uint16_t)(3000 + between * 100 + i);
			pieces_send_nth(&other, 1);
		}
		pieces_send_nth(&pieces4, 3);
		assert_int_equal(pieces_replies(&pieces4), between == 63);
		if (between == 63)
			continue;
		/* the piece that came too late is the first of a new datagram */
		for (unsigned int i = 0; i < PIECES - 1; i++)
			pieces_send_nth(&pieces4, i);
		assert_int_equal(pieces_replies(&pieces4), 1);
	}
}

/* sends @len bytes of ICMP as IPv4 fragments; counts the bytes of ICMP that come back */
static uint32_t big4(uint16_t id, uint32_t len)
{
	static uint8_t data[65536];
	struct rf_ip ip = pieces4;
	uint32_t back = 0;

	memset(data, 0x77, sizeof(data));
	data[0] = 8;
	data[1] = 0;
	ip.id = id;
	ip.len = len;
	ip.payload = data;
	rf_seal(&ip, data, 2);
	for (uint32_t off = 0; off < len; off += 16000) {
		ip.payload = data + off;
		ip.len = RTE_MIN(len - off, 16000U);
		ip.frag = (uint16_t)(off / 8 | (off + ip.len < len ? PIECES_MF4 : 0));
		rf_send(&ip);
	}
	for (unsigned int i = 0; i < rf.n_out; i++)
		back += rf.out[i].len - 34;
	return back;
}

static void test_reasm4_whole_is_at_most_65535(void **state)
{
	uint64_t before;

	(void)state;
	assert_int_equal(big4(4000, 65515), 65515);
	rf_clear();
	before = sl_router_drops(rf.r, RF_WAN, SL_DROP_REASM);
	assert_int_equal(big4(4001, 65516), 0);
	assert_int_equal(sl_router_drops(rf.r, RF_WAN, SL_DROP_REASM), before + 5);
}

static void test_reasm_held_is_in_the_balance(void **state)
{
	uint64_t rx, accounted, held;

	(void)state;
	pieces_make(&pieces4, 4010);
	pieces_make(&pieces6, 4011);
	for (unsigned int i = 0; i < 3; i++) {
		pieces_send_nth(&pieces4, i);
		pieces_send_nth(&pieces6, i);
		held = rf.r->workers[0]->held[RF_WAN];
		assert_int_equal(held, 2 * (i + 1));
		assert_int_equal(sl_router_balance(rf.r, &rx, &accounted), 0);
	}
	pieces_send_nth(&pieces4, 3);
	assert_int_equal(rf.r->workers[0]->held[RF_WAN], 3);
}

/* datagrams of which nothing is kept are bounded too, and leave the other family its share */
static void test_reasm6_flood_of_odd_pieces_leaves_ipv4_alone(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 10000; i++) {
		pieces6.id = (uint16_t)i;
		pieces_send(&pieces6, 0, 13, true);
	}
	assert_true(sl_router_drops(rf.r, RF_WAN, SL_DROP_REASM_FULL) > 0);
	pieces_make(&pieces4, 4020);
	rf_clear();
	for (unsigned int i = 0; i < PIECES; i++)
		pieces_send_nth(&pieces4, i);
	assert_int_equal(pieces_replies(&pieces4), 1);
}

static void test_reasm_flood_is_bounded(void **state)
{
	unsigned int in_use;

	(void)state;
	/* the pool has 8,191 buffers: an attacker must not get them all */
	for (unsigned int i = 0; i < 20000; i++) {
		struct rf_ip f = pieces4;

		f.id = (uint16_t)i;
		f.src = i & 1 ? "192.0.2.2" : "192.0.2.9";
		f.frag = PIECES_MF4 | 1;
		f.len = 8;
		rf_send(&f);
	}
	in_use = rte_mempool_in_use_count(rf.pool);
	assert_in_range(in_use, 1, 8000);
	assert_true(sl_router_drops(rf.r, RF_WAN, SL_DROP_REASM_FULL) > 0);
	/* what is whole still comes through */
	pieces_make(&pieces6, 7);
	pieces6.has_frag_hdr = false;
	rf_send(&pieces6);
	pieces6.has_frag_hdr = true;
	assert_int_equal(pieces_replies(&pieces6), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(test_##name, pieces_begin, pieces_end)
		T(reasm_timeout_answers_if_the_first_is_there),
		T(reasm_timeout_without_the_first_is_silent),
		T(reasm6_odd_piece_starts_the_clock),
		T(reasm4_starts_over_when_far),
		T(reasm4_whole_is_at_most_65535),
		T(reasm_held_is_in_the_balance),
		T(reasm6_flood_of_odd_pieces_leaves_ipv4_alone),
		T(reasm_flood_is_bounded),
#undef T
	};

	rf_start(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
