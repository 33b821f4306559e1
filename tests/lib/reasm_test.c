/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragments for the router itself through the whole router: an echo that comes in pieces is answered
 * if and only if the kernel would have joined them. Pieces are of 16 bytes, so that many fit a test.
 */
#include "lib/net.h"
#include "tests/lib/router_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define PIECE 16U
#define PIECES 4U
#define MF4 0x2000U

static uint8_t echo[PIECES * PIECE];

static struct rf_ip whole4 = { .port = RF_WAN,
	.src = "192.0.2.2",
	.dst = "192.0.2.1",
	.proto = IPPROTO_ICMP,
	.payload = echo,
	.len = sizeof(echo) };
static struct rf_ip whole6 = { .port = RF_WAN,
	.src = "2001:db8::2",
	.dst = "2001:db8::1",
	.proto = IPPROTO_ICMPV6,
	.has_frag_hdr = true,
	.payload = echo,
	.len = sizeof(echo) };

static void make_echo(struct rf_ip *ip, uint8_t type, uint16_t id)
{
	for (unsigned int i = 0; i < sizeof(echo); i++)
		echo[i] = (uint8_t)(i * 7 + id);
	echo[0] = type;
	echo[1] = 0;
	ip->id = id;
	rf_seal(ip, echo, 2);
}

/* bytes off..off+len of the echo as a fragment */
static void piece(const struct rf_ip *ip, unsigned int off, unsigned int len, bool more)
{
	struct rf_ip f = *ip;

	f.payload = echo + off;
	f.len = len;
	if (ip->proto == IPPROTO_ICMP)
		f.frag = (uint16_t)(off / 8 | (more ? MF4 : 0));
	else
		f.frag = (uint16_t)(off | more);
	rf_send(&f);
}

static void nth(const struct rf_ip *ip, unsigned int n)
{
	piece(ip, n * PIECE, PIECE, n + 1 < PIECES);
}

/* frames out since rf_clear() that are echo replies with the whole payload */
static unsigned int replies(const struct rf_ip *ip)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < rf.n_out; i++) {
		const uint8_t *f = rf.out[i].data;
		bool v4 = ip->proto == IPPROTO_ICMP;
		unsigned int l4 = v4 ? 34 : 54;
		bool is_echo = rf.out[i].len == l4 + sizeof(echo) && f[l4] == (v4 ? 0 : 129);

		n += is_echo && memcmp(f + l4 + 4, echo + 4, sizeof(echo) - 4) == 0;
	}
	return n;
}

/* ICMP messages of this type and code */
static unsigned int errors(unsigned int l4, uint8_t type, uint8_t code)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < rf.n_out; i++)
		n += rf.out[i].len > l4 + 1 && rf.out[i].data[l4] == type
				&& rf.out[i].data[l4 + 1] == code;
	return n;
}

static int begin(void **state)
{
	(void)state;
	rf_clear();
	return 0;
}

static int end(void **state)
{
	(void)state;
	assert_int_equal(rf.lost, 0);
	assert_true(rf_is_whole());
	rf_clear();
	return 0;
}

static void test_reasm_any_order_joins(void **state)
{
	uint16_t id = 1;

	(void)state;
	for (unsigned int order = 0; order < 256; order++) {
		unsigned int a = order & 3, b = order >> 2 & 3, c = order >> 4 & 3, d = order >> 6;

		if (a == b || a == c || a == d || b == c || b == d || c == d)
			continue;
		for (unsigned int f = 0; f < 2; f++) {
			struct rf_ip *ip = f == 0 ? &whole4 : &whole6;

			make_echo(ip, f == 0 ? 8 : 128, id++);
			rf_clear();
			nth(ip, a);
			nth(ip, b);
			nth(ip, c);
			assert_int_equal(replies(ip), 0);
			nth(ip, d);
			assert_int_equal(replies(ip), 1);
		}
	}
}

static void test_reasm_exact_duplicate_is_ignored(void **state)
{
	(void)state;
	make_echo(&whole4, 8, 1000);
	nth(&whole4, 0);
	nth(&whole4, 1);
	nth(&whole4, 1);
	nth(&whole4, 2);
	nth(&whole4, 3);
	assert_int_equal(replies(&whole4), 1);
}

static void test_reasm_overlap_kills_the_datagram(void **state)
{
	(void)state;
	for (unsigned int f = 0; f < 2; f++) {
		struct rf_ip *ip = f == 0 ? &whole4 : &whole6;

		make_echo(ip, f == 0 ? 8 : 128, 1010);
		rf_clear();
		nth(ip, 0);
		piece(ip, 8, PIECE, true); /* half of the first, half of the second */
		for (unsigned int n = 1; n < PIECES; n++)
			nth(ip, n);
		assert_int_equal(replies(ip), 0);
	}
}

/* what lies wholly in what came already is a duplicate to the kernel, whatever its bounds */
static void test_reasm_inner_piece_is_ignored(void **state)
{
	(void)state;
	make_echo(&whole4, 8, 1015);
	nth(&whole4, 0);
	nth(&whole4, 1);
	piece(&whole4, 8, PIECE, true);
	nth(&whole4, 2);
	nth(&whole4, 3);
	assert_int_equal(replies(&whole4), 1);
}

static void test_reasm_two_ends_do_not_join(void **state)
{
	(void)state;
	make_echo(&whole4, 8, 1020);
	nth(&whole4, 0);
	nth(&whole4, 3);
	piece(&whole4, PIECE, PIECE, false); /* says that the datagram ends here */
	nth(&whole4, 2);
	nth(&whole4, 1);
	assert_int_equal(replies(&whole4), 0);
}

static void test_reasm_ids_and_sources_are_apart(void **state)
{
	struct rf_ip other = whole4;

	(void)state;
	make_echo(&whole4, 8, 1030);
	for (unsigned int i = 0; i < 3; i++)
		nth(&whole4, i);
	other.id = 1031;
	nth(&other, 3);
	other = whole4;
	other.src = "192.0.2.3";
	nth(&other, 3);
	assert_int_equal(replies(&whole4), 0);
	nth(&whole4, 3);
	assert_int_equal(replies(&whole4), 1);
}

static void test_reasm_timeout_answers_if_the_first_is_there(void **state)
{
	(void)state;
	make_echo(&whole4, 8, 1040);
	nth(&whole4, 0);
	nth(&whole4, 2);
	rf_pass(29000000000ULL);
	assert_int_equal(rf.n_out, 0);
	rf_pass(2000000000ULL);
	assert_int_equal(errors(34, 11, 1), 1);
	assert_int_equal(sl_router_drops(rf.r, RF_WAN, SL_DROP_REASM_TIMEOUT), 2);

	rf_clear();
	make_echo(&whole6, 128, 1041);
	nth(&whole6, 0);
	rf_pass(59000000000ULL);
	assert_int_equal(rf.n_out, 0);
	rf_pass(2000000000ULL);
	assert_int_equal(errors(54, 3, 1), 1);
}

static void test_reasm_timeout_without_the_first_is_silent(void **state)
{
	(void)state;
	make_echo(&whole4, 8, 1050);
	nth(&whole4, 1);
	nth(&whole4, 3);
	rf_pass(40000000000ULL);
	assert_int_equal(rf.n_out, 0);
}

/* RFC 8200 4.5: not the last, and no multiple of 8 bytes: parameter problem at the length field */
static void test_reasm6_odd_piece_is_answered(void **state)
{
	(void)state;
	make_echo(&whole6, 128, 1060);
	piece(&whole6, 0, 13, true);
	assert_int_equal(errors(54, 4, 0), 1);
	assert_int_equal(rf.out[0].data[54 + 7], 4);
}

static void test_reasm_flood_is_bounded(void **state)
{
	unsigned int in_use;

	(void)state;
	/* the pool has 8,191 buffers: an attacker must not get them all */
	for (unsigned int i = 0; i < 20000; i++) {
		struct rf_ip f = whole4;

		f.id = (uint16_t)i;
		f.src = i & 1 ? "192.0.2.2" : "192.0.2.9";
		f.frag = MF4 | 1;
		f.len = 8;
		rf_send(&f);
	}
	in_use = rte_mempool_in_use_count(rf.pool);
	assert_in_range(in_use, 1, 8000);
	assert_true(sl_router_drops(rf.r, RF_WAN, SL_DROP_REASM_FULL) > 0);
	/* what is whole still comes through */
	make_echo(&whole6, 128, 7);
	whole6.has_frag_hdr = false;
	rf_send(&whole6);
	whole6.has_frag_hdr = true;
	assert_int_equal(replies(&whole6), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reasm_any_order_joins, begin, end),
		cmocka_unit_test_setup_teardown(test_reasm_exact_duplicate_is_ignored, begin, end),
		cmocka_unit_test_setup_teardown(test_reasm_overlap_kills_the_datagram, begin, end),
		cmocka_unit_test_setup_teardown(test_reasm_inner_piece_is_ignored, begin, end),
		cmocka_unit_test_setup_teardown(test_reasm_two_ends_do_not_join, begin, end),
		cmocka_unit_test_setup_teardown(test_reasm_ids_and_sources_are_apart, begin, end),
		cmocka_unit_test_setup_teardown(
				test_reasm_timeout_answers_if_the_first_is_there, begin, end),
		cmocka_unit_test_setup_teardown(
				test_reasm_timeout_without_the_first_is_silent, begin, end),
		cmocka_unit_test_setup_teardown(test_reasm6_odd_piece_is_answered, begin, end),
		cmocka_unit_test_setup_teardown(test_reasm_flood_is_bounded, begin, end),
	};

	rf_start(1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
