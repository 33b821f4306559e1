/* SPDX-License-Identifier: BSD-3-Clause */
/* Inputs that broke the connection tracking of others; names as in router_cases.c. */
#include "ct_rig.h"
#include "lib/pktlog.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define SECOND 1000000000ULL
#define WORKERS 4

static int begin(void **state)
{
	(void)state;
	cr_worker = 0;
	rf_clear();
	return 0;
}

/* every timer has run out: nothing may be left */
static int end(void **state)
{
	(void)state;
	rf_clear();
	for (unsigned int i = 0; i < WORKERS; i++) {
		struct ct_shard *s = ct_table_of(rf.r)->shard[i];

		for (uint32_t at = 0; at < s->high; at++)
			if (s->entries[at].status & CT_CONFIRMED
					&& !(s->entries[at].status & (CT_DYING | CT_UNFOUND)))
				ct_kill(s, &s->entries[at]);
	}
	rf_pass(SECOND);
	assert_int_equal(cr_count(), 0);
	assert_true(rf_is_whole());
	return 0;
}

/* frames that left since the last call */
static uint64_t sent(void)
{
	uint64_t n = rf.n_out + rf.lost;

	rf_clear();
	return n;
}

static void handshake(uint16_t port)
{
	cr_tcp(CR_CLIENT, port, CR_SYN, 1000, 0, 0);
	cr_tcp(CR_SERVER, port, CR_SYN | CR_ACK, 5000, 1001, 0);
	cr_tcp(CR_CLIENT, port, CR_ACK, 1001, 5001, 0);
	assert_int_equal(sent(), 3);
}

/* N14: fragments of one datagram come by different queues */
static void test_n14_fragments_over_queues(void **state)
{
	static uint8_t data[1600], frame[RF_FRAME_MAX];

	(void)state;
	for (unsigned int i = 0; i < 1000; i++) {
		struct rf_ip whole = { .port = RF_LAN,
			.src = "198.51.100.2",
			.dst = "192.0.2.2",
			.proto = IPPROTO_UDP,
			.id = (uint16_t)i,
			.payload = data,
			.len = sizeof(data) };
		struct rf_ip first = whole, later = whole;

		memset(data, 0, sizeof(data));
		data[0] = (uint8_t)(4 + (i >> 8));
		data[1] = (uint8_t)i;
		data[3] = 53;
		data[4] = sizeof(data) >> 8;
		data[5] = sizeof(data) & 0xff;
		rf_seal(&whole, data, 6);
		first.frag = 0x2000;
		first.len = 1200;
		later.frag = 1200 / 8;
		later.payload = data + 1200;
		later.len = sizeof(data) - 1200;
		rf_in_at(i % WORKERS, RF_LAN, frame, rf_build(i & 1 ? &later : &first, frame), 0);
		rf_in_at((i + 1) % WORKERS, RF_LAN, frame, rf_build(i & 1 ? &first : &later, frame),
				0);
		rf_settle();
		assert_int_equal(sent(), 2);
	}
	assert_int_equal(cr_count(), 1000);
}

static uint64_t short_connections(void)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < 10000; i++) {
		uint16_t port = (uint16_t)(10000 + i);

		cr_tcp(CR_CLIENT, port, CR_SYN, 1000, 0, 0);
		cr_tcp(CR_SERVER, port, CR_SYN | CR_ACK, 5000, 1001, 0);
		cr_tcp(CR_CLIENT, port, CR_ACK, 1001, 5001, 0);
		cr_tcp(CR_CLIENT, port, CR_FIN | CR_ACK, 1001, 5001, 0);
		cr_tcp(CR_SERVER, port, CR_FIN | CR_ACK, 5001, 1002, 0);
		cr_tcp(CR_CLIENT, port, CR_ACK, 1002, 5002, 0);
		n += sent();
	}
	return n;
}

/* N16: connections that have ended pile up between runs */
static void test_n16_table_empties_between_runs(void **state)
{
	uint64_t first;

	(void)state;
	first = short_connections();
	assert_true(cr_count() <= 1000);
	rf_pass(130 * SECOND);
	assert_int_equal(cr_count(), 0);
	assert_int_equal(short_connections(), first);
	rf_pass(130 * SECOND);
	assert_int_equal(cr_count(), 0);
}

/* N17: a reset ends the connection soon */
static void test_n17_reset_closes(void **state)
{
	(void)state;
	handshake(1024);
	assert_string_equal(cr_state(1024), "ESTABLISHED");
	assert_in_range(cr_seconds(1024), 431999, 432000);
	cr_tcp(CR_SERVER, 1024, CR_RST, 5001, 0, 0);
	assert_int_equal(sent(), 1);
	assert_string_equal(cr_state(1024), "CLOSE");
	assert_in_range(cr_seconds(1024), 9, 10);
}

/* N20: a reset far outside the window is nobody's, one inside counts */
static void test_n20_reset_out_of_window(void **state)
{
	uint64_t before;

	(void)state;
	handshake(1024);
	before = cr_stats().invalid;
	cr_tcp(CR_SERVER, 1024, CR_RST, 5001 + 500000, 0, 0);
	assert_int_equal(cr_stats().invalid, before + 1);
	assert_string_equal(cr_state(1024), "ESTABLISHED");
	cr_tcp(CR_SERVER, 1024, CR_RST, 5001, 0, 0);
	assert_int_equal(cr_stats().invalid, before + 1);
	assert_string_equal(cr_state(1024), "CLOSE");
}

/* N21: both sides open at once */
static void test_n21_simultaneous_open(void **state)
{
	(void)state;
	cr_tcp(CR_CLIENT, 1024, CR_SYN, 1000, 0, 0);
	assert_string_equal(cr_state(1024), "SYN_SENT");
	cr_tcp(CR_SERVER, 1024, CR_SYN, 5000, 0, 0);
	assert_string_equal(cr_state(1024), "SYN_SENT2");
	cr_tcp(CR_CLIENT, 1024, CR_SYN | CR_ACK, 1000, 5001, 0);
	assert_string_equal(cr_state(1024), "SYN_RECV");
	cr_tcp(CR_SERVER, 1024, CR_SYN | CR_ACK, 5000, 1001, 0);
	cr_tcp(CR_CLIENT, 1024, CR_ACK, 1001, 5001, 0);
	assert_string_equal(cr_state(1024), "ESTABLISHED");
	cr_tcp(CR_SERVER, 1024, CR_ACK, 5001, 1001, 0);
	assert_string_equal(cr_state(1024), "ESTABLISHED");
	assert_int_equal(sent(), 6);
}

/* N22: SYN-ACK again and again establishes nothing */
static void test_n22_repeated_syn_ack(void **state)
{
	(void)state;
	cr_tcp(CR_CLIENT, 1024, CR_SYN, 1000, 0, 0);
	for (unsigned int i = 0; i < 4; i++)
		cr_tcp(CR_SERVER, 1024, CR_SYN | CR_ACK, 5000, 1001, 0);
	assert_string_equal(cr_state(1024), "SYN_RECV");
	assert_in_range(cr_seconds(1024), 59, 60);
	assert_false(cr_entry(1024)->status & CT_ASSURED);
}

/* N24: what makes UDP a stream */
static void test_n24_udp_times(void **state)
{
	(void)state;
	cr_udp(CR_CLIENT, 1024, 10);
	assert_false(cr_entry(1024)->status & CT_SEEN_REPLY);
	assert_in_range(cr_seconds(1024), 29, 30);
	cr_udp(CR_SERVER, 1024, 10);
	assert_in_range(cr_seconds(1024), 29, 30);
	assert_int_equal(cr_entry(1024)->status & (CT_SEEN_REPLY | CT_ASSURED), CT_SEEN_REPLY);
	rf_pass(2 * SECOND + SECOND / 10);
	cr_udp(CR_CLIENT, 1024, 10);
	cr_udp(CR_SERVER, 1024, 10);
	assert_in_range(cr_seconds(1024), 119, 120);
	assert_true(cr_entry(1024)->status & CT_ASSURED);
}

/* the lines that nf_conntrack_log_invalid asks for, as the kernel wrote them of the same packets */
static void test_invalid_is_told_why(void **state)
{
	static const char *const told[] = {
		"nf_ct_proto_6: SEQ is over upper bound 11002 (over the window of the receiver) ",
		"nf_ct_proto_6: ACK is over upper bound 5002 (ACKed data not seen yet) ",
		"nf_ct_proto_6: SEQ is under lower bound 4294958296 (already ACKed data retransmitted) ",
		"nf_ct_proto_6: ignored ACK under lower bound 4294906296 (possible overly delayed) ",
		"nf_ct_proto_6: packet (index 1) in dir 0 invalid, state ESTABLISHED ",
		"nf_ct_proto_6: invalid rst ",
		"nf_ct_proto_6: packet (index 0) in dir 0 ignored, state ESTABLISHED ",
	};
	const struct sl_pktlog_rec *rec;
	unsigned int n = 0;

	(void)state;
	for (unsigned int w = 0; w < WORKERS; w++)
		while ((rec = sl_pktlog_peek(rf.r->workers[w])) != NULL)
			sl_pktlog_pop(rf.r->workers[w], rec);
	handshake(3000);
	cr_tcp(CR_CLIENT, 3000, CR_ACK, 900000, 5001, 10);
	cr_tcp(CR_CLIENT, 3000, CR_ACK, 1001, 995001, 0);
	cr_tcp(CR_CLIENT, 3000, CR_ACK, 1001U - 100000, 5001, 0);
	cr_tcp(CR_CLIENT, 3000, CR_ACK, 1001, 5001U - 200000, 0);
	cr_tcp(CR_CLIENT, 3000, CR_SYN | CR_ACK, 9000, 0, 0);
	cr_tcp(CR_SERVER, 3000, CR_RST, 3000, 0, 0);
	cr_tcp(CR_CLIENT, 3000, CR_SYN, 9000, 0, 0);
	for (unsigned int w = 0; w < WORKERS; w++)
		while ((rec = sl_pktlog_peek(rf.r->workers[w])) != NULL) {
			assert_true(n < RTE_DIM(told));
			assert_string_equal(rec->prefix, told[n++]);
			assert_int_equal(rec->level, 5);
			sl_pktlog_pop(rf.r->workers[w], rec);
		}
	assert_int_equal(n, RTE_DIM(told));
}

/* N34: an echo reply that nobody asked for */
static void test_n34_stray_echo_reply(void **state)
{
	uint64_t before = cr_stats().invalid;

	(void)state;
	cr_echo(CR_SERVER, 77, 0);
	assert_int_equal(cr_count(), 0);
	assert_int_equal(cr_stats().invalid, before + 1);
}

static uint64_t udp_unpolled(unsigned int n)
{
	static uint8_t frame[RF_FRAME_MAX];

	for (unsigned int i = 0; i < n; i++) {
		uint8_t l4[16] = { 4, (uint8_t)(i % 200), 0, 53, 0, 16 };
		struct rf_ip ip = { .port = RF_LAN,
			.src = "198.51.100.2",
			.dst = "192.0.2.2",
			.proto = IPPROTO_UDP,
			.payload = l4,
			.len = sizeof(l4) };

		rf_in_at(0, RF_LAN, frame, rf_build(&ip, frame), 0);
	}
	return sent();
}

/* N36: a ring between workers that is full loses packets, by name, and is a ring again afterwards */
static void test_n36_handoff_recovers(void **state)
{
	uint64_t out, dropped = sl_router_drops(rf.r, RF_LAN, SL_DROP_HANDOFF_FULL);

	(void)state;
	out = udp_unpolled(7000);
	rf_settle();
	out += sent();
	dropped = sl_router_drops(rf.r, RF_LAN, SL_DROP_HANDOFF_FULL) - dropped;
	assert_true(dropped > 0);
	for (unsigned int i = 0; i < 1000; i++) {
		cr_udp(CR_CLIENT, (uint16_t)(1024 + i % 200), 8);
		assert_int_equal(sent(), 1);
	}
	assert_true(out > 0);
}

/* N37: what comes for the router itself and was not asked for, on every worker */
static void test_n37_unsolicited_on_every_worker(void **state)
{
	static uint8_t frame[RF_FRAME_MAX];

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		uint8_t l4[20] = { 0, 80, (uint8_t)(i >> 8), (uint8_t)i };
		struct rf_ip ip = { .port = RF_WAN,
			.src = "192.0.2.2",
			.dst = "192.0.2.1",
			.proto = i & 1 ? IPPROTO_UDP : IPPROTO_TCP,
			.payload = l4,
			.len = sizeof(l4) };

		l4[4] = 0;
		l4[5] = 20;
		l4[12] = 5 << 4;
		l4[13] = CR_SYN | CR_ACK;
		rf_seal(&ip, l4, i & 1 ? 6 : 16);
		rf_in_at(i % WORKERS, RF_WAN, frame, rf_build(&ip, frame), 0);
		rf_settle();
		rf_clear();
	}
	assert_true(cr_count() <= 1000);
}

/* N38: a flood fills the table, and whoever talks goes on talking */
static void test_n38_flood_spares_the_established(void **state)
{
	uint64_t before;

	(void)state;
	for (uint16_t i = 0; i < 800; i++)
		handshake((uint16_t)(1024 + i));
	before = cr_stats().drop + cr_stats().early_drop;
	for (unsigned int i = 0; i < 50000; i++) {
		cr_tcp(CR_CLIENT, (uint16_t)(10000 + i), CR_SYN, 1, 0, 0);
		rf_clear();
	}
	assert_true(cr_stats().drop + cr_stats().early_drop > before);
	assert_true(cr_count() <= 1000);
	for (uint16_t i = 0; i < 800; i++) {
		cr_tcp(CR_SERVER, (uint16_t)(1024 + i), CR_ACK, 5001, 1001, 100);
		assert_int_equal(sent(), 1);
		assert_string_equal(cr_state((uint16_t)(1024 + i)), "ESTABLISHED");
	}
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_n14_fragments_over_queues),
		CASE(test_n16_table_empties_between_runs),
		CASE(test_n17_reset_closes),
		CASE(test_n20_reset_out_of_window),
		CASE(test_n21_simultaneous_open),
		CASE(test_n22_repeated_syn_ack),
		CASE(test_n24_udp_times),
		CASE(test_invalid_is_told_why),
		CASE(test_n34_stray_echo_reply),
		CASE(test_n36_handoff_recovers),
		CASE(test_n37_unsolicited_on_every_worker),
		CASE(test_n38_flood_spares_the_established),
	};

	cr_start(WORKERS, 1000);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
