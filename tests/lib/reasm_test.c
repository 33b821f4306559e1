/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragments for the router itself through the whole router: an echo that comes in pieces is answered
 * if and only if the kernel would have joined them.
 */
#include "tests/lib/reasm_pieces.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_reasm_any_order_joins(void **state)
{
	uint16_t id = 1;

	(void)state;
	for (unsigned int order = 0; order < 256; order++) {
		unsigned int a = order & 3, b = order >> 2 & 3, c = order >> 4 & 3, d = order >> 6;

		if (a == b || a == c || a == d || b == c || b == d || c == d)
			continue;
		for (unsigned int f = 0; f < 2; f++) {
			struct rf_ip *ip = f == 0 ? &pieces4 : &pieces6;

			pieces_make(ip, id++);
			rf_clear();
			pieces_send_nth(ip, a);
			pieces_send_nth(ip, b);
			pieces_send_nth(ip, c);
			assert_int_equal(pieces_replies(ip), 0);
			pieces_send_nth(ip, d);
			assert_int_equal(pieces_replies(ip), 1);
		}
	}
}

static void test_reasm_exact_duplicate_is_ignored(void **state)
{
	(void)state;
	for (unsigned int f = 0; f < 2; f++) {
		struct rf_ip *ip = f == 0 ? &pieces4 : &pieces6;

		pieces_make(ip, 1000);
		rf_clear();
		pieces_send_nth(ip, 0);
		pieces_send_nth(ip, 1);
		pieces_send_nth(ip, 1);
		pieces_send_nth(ip, 2);
		pieces_send_nth(ip, 3);
		assert_int_equal(pieces_replies(ip), 1);
	}
}

static void test_reasm_overlap_kills_the_datagram(void **state)
{
	(void)state;
	for (unsigned int f = 0; f < 2; f++) {
		struct rf_ip *ip = f == 0 ? &pieces4 : &pieces6;

		pieces_make(ip, 1010);
		rf_clear();
		pieces_send_nth(ip, 0);
		pieces_send(ip, 8, PIECE, true); /* half of the first, half of the second */
		for (unsigned int n = 1; n < PIECES; n++)
			pieces_send_nth(ip, n);
		assert_int_equal(pieces_replies(ip), 0);
	}
}

/* what lies wholly in what came already is a duplicate to the kernel, whatever its bounds */
static void test_reasm_inner_piece_is_ignored(void **state)
{
	(void)state;
	for (unsigned int f = 0; f < 2; f++) {
		struct rf_ip *ip = f == 0 ? &pieces4 : &pieces6;

		pieces_make(ip, 1015);
		rf_clear();
		pieces_send_nth(ip, 0);
		pieces_send_nth(ip, 1);
		pieces_send(ip, 8, PIECE, true);
		pieces_send_nth(ip, 2);
		pieces_send_nth(ip, 3);
		assert_int_equal(pieces_replies(ip), 1);
	}
}

static void test_reasm_two_ends_do_not_join(void **state)
{
	(void)state;
	pieces_make(&pieces4, 1020);
	pieces_send_nth(&pieces4, 0);
	pieces_send_nth(&pieces4, 3);
	pieces_send(&pieces4, PIECE, PIECE, false); /* says that the datagram ends here */
	pieces_send_nth(&pieces4, 2);
	pieces_send_nth(&pieces4, 1);
	assert_int_equal(pieces_replies(&pieces4), 0);
}

static void test_reasm_ids_and_sources_are_apart(void **state)
{
	struct rf_ip other = pieces4;

	(void)state;
	pieces_make(&pieces4, 1030);
	for (unsigned int i = 0; i < 3; i++)
		pieces_send_nth(&pieces4, i);
	other.id = 1031;
	pieces_send_nth(&other, 3);
	other = pieces4;
	other.src = "192.0.2.3";
	pieces_send_nth(&other, 3);
	assert_int_equal(pieces_replies(&pieces4), 0);
	pieces_send_nth(&pieces4, 3);
	assert_int_equal(pieces_replies(&pieces4), 1);
}

/* RFC 8200 4.5: not the last, and no multiple of 8 bytes: parameter problem at the length field */
static void test_reasm6_odd_piece_is_answered(void **state)
{
	(void)state;
	pieces_make(&pieces6, 1060);
	pieces_send(&pieces6, 0, 13, true);
	assert_int_equal(pieces_errors(54, 4, 0), 1);
	assert_int_equal(rf.out[0].data[54 + 7], 4);
}

/* what is refused with an answer leaves the datagram as it was */
static void test_reasm6_goes_on_after_odd_and_oversize(void **state)
{
	(void)state;
	pieces_make(&pieces6, 1070);
	pieces_send_nth(&pieces6, 0);
	pieces_send(&pieces6, PIECE, 13, true);
	pieces_send_nth(&pieces6, 1);
	pieces_send_oversize6();
	assert_int_equal(pieces_errors(54, 4, 0), 2);
	assert_int_equal(rf.out[1].data[54 + 7], 42);
	pieces_send_nth(&pieces6, 2);
	pieces_send_nth(&pieces6, 3);
	assert_int_equal(pieces_replies(&pieces6), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(test_##name, pieces_begin, pieces_end)
		T(reasm_any_order_joins),
		T(reasm_exact_duplicate_is_ignored),
		T(reasm_overlap_kills_the_datagram),
		T(reasm_inner_piece_is_ignored),
		T(reasm_two_ends_do_not_join),
		T(reasm_ids_and_sources_are_apart),
		T(reasm6_odd_piece_is_answered),
		T(reasm6_goes_on_after_odd_and_oversize),
#undef T
	};

	rf_start(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
