/* SPDX-License-Identifier: BSD-3-Clause */
/* TCP's states: every cell of the tables, and what the tables cannot say. */
#include "conntrack/tcp_window.h"
#include "tests/conntrack/proto_fixture.h"

#define A_ISN 1000
#define B_ISN 5000

static void handshake(void)
{
	assert_int_equal(TCP(A, "S", A_ISN, 0), FX_NEW);
	assert_tcp("SYN_SENT", 120);
	assert_int_equal(TCP(B, "SA", B_ISN, A_ISN + 1), FX_ESTABLISHED);
	assert_tcp("SYN_RECV", 60);
	assert_false(fx_is(CT_ASSURED));
	assert_int_equal(TCP(A, "A", A_ISN + 1, B_ISN + 1), FX_ESTABLISHED);
	assert_tcp("ESTABLISHED", 432000);
	assert_true(fx_is(CT_ASSURED | CT_SEEN_REPLY));
}

/* the rest of the handshake after TCP(A, "S", A_ISN, 0) and a FIN from each side */
static void close_both(void)
{
	assert_int_equal(TCP(A, "FA", A_ISN + 1, B_ISN + 1), FX_ESTABLISHED);
	assert_tcp("FIN_WAIT", 120);
	assert_int_equal(TCP(B, "A", B_ISN + 1, A_ISN + 2), FX_ESTABLISHED);
	assert_tcp("CLOSE_WAIT", 60);
	assert_int_equal(TCP(B, "FA", B_ISN + 1, A_ISN + 2), FX_ESTABLISHED);
	assert_tcp("LAST_ACK", 30);
	assert_int_equal(TCP(A, "A", A_ISN + 2, B_ISN + 2), FX_ESTABLISHED);
	assert_tcp("TIME_WAIT", 120);
}

static const char states[CT_TCP_STATES][12] = { "NONE", "SYN_SENT", "SYN_RECV", "ESTABLISHED",
	"FIN_WAIT", "CLOSE_WAIT", "LAST_ACK", "TIME_WAIT", "CLOSE", "SYN_SENT2" };
static const unsigned int times[CT_TCP_STATES] = { 0, 120, 60, 432000, 120, 60, 30, 120, 10, 120 };
static const char codes[] = "NOSSSRESFWCWLATWCLS2IVIG";

/* state by state, in the order of enum ct_tcp_state: what comes of a segment */
static const struct {
	const char *flags;
	const char *next[CT_DIR_NB];
} cells[] = {
	{ "S", { "SS SS IG IG IG IG IG SS SS S2", "IV S2 IV IV IV IV IV SS IV S2" } },
	{ "SA", { "IV IV SR IV IV IV IV IV IV SR", "IV SR IG IG IG IG IG IG IG SR" } },
	{ "FA", { "IV IV FW FW LA LA LA TW CL IV", "IV IV FW FW LA LA LA TW CL IV" } },
	{ "A", { "ES IV ES ES CW CW TW TW CL IV", "IV IG SR ES CW CW TW TW CL IG" } },
	{ "R", { "IV CL CL CL CL CL CL CL CL CL", "IV CL CL CL CL CL CL CL CL CL" } },
	{ "", { "IV IV IV IV IV IV IV IV IV IV", "IV IV IV IV IV IV IV IV IV IV" } },
};

/* number of the code for state @i; behind the states: 10 INVALID, 11 ignored */
static unsigned int cell(const char *row, unsigned int i)
{
	for (unsigned int k = 0; k < sizeof(codes) / 2; k++)
		if (memcmp(codes + 2 * k, row + 3 * i, 2) == 0)
			return k;
	fail_msg("no such state: %.2s", row + 3 * i);
	return 0;
}

static void try_cell(const char *flags, enum ct_dir dir, unsigned int state, unsigned int next)
{
	enum fx_host from = dir == CT_ORIGINAL ? A : B;
	struct fx_tcp t = { .flags = flags };
	enum fx_state got;

	handshake();
	fx.e->tcp.state = (uint8_t)state;
	fx.e->tcp.last_index = CT_TCP_KIND_ACK;
	/* so that a SYN in TIME_WAIT or CLOSE is a new beginning */
	fx.e->tcp.side[A].flags |= CT_TCP_CLOSE_INIT;
	ct_refresh(&fx.s, fx.e, 7);
	t.seq = fx.e->tcp.side[dir].end;
	t.ack = strchr(flags, 'A') == NULL ? 0 : fx.e->tcp.side[!dir].end;
	got = fx_tcp(from, &t);
	if (next >= CT_TCP_STATES) {
		assert_int_equal(got, next == CT_TCP_STATES ? FX_INVALID : FX_ESTABLISHED);
		assert_tcp(states[state], 7);
	} else if (next == CT_TCP_SYN_SENT && state >= CT_TCP_TIME_WAIT) {
		assert_int_equal(got, FX_NEW);
		assert_int_equal(fx.made, 2);
		assert_int_equal(fx.origin, from);
		assert_tcp("SYN_SENT", 120);
	} else {
		assert_int_equal(got, FX_ESTABLISHED);
		assert_tcp(states[next], times[next]);
		assert_int_equal(fx.made, 1);
	}
}

static void test_every_cell_of_the_tables(void **state)
{
	for (unsigned int k = 0; k < sizeof(cells) / sizeof(cells[0]); k++)
		for (unsigned int dir = 0; dir < CT_DIR_NB; dir++)
			for (unsigned int s = CT_TCP_SYN_SENT; s < CT_TCP_STATES; s++) {
				fx_teardown(state);
				fx_setup(state);
				try_cell(cells[k].flags, dir, s, cell(cells[k].next[dir], s));
			}
}

static void test_first_packet_is_syn_or_plain_ack(void **state)
{
	for (unsigned int k = 0; k < sizeof(cells) / sizeof(cells[0]); k++) {
		unsigned int next = cell(cells[k].next[CT_ORIGINAL], CT_TCP_NONE);

		fx_teardown(state);
		fx_setup(state);
		assert_int_equal(TCP(A, cells[k].flags, 100, 200),
				next == CT_TCP_STATES ? FX_INVALID : FX_NEW);
		assert_string_equal(fx_tcp_state(), next == CT_TCP_STATES ? "gone" : states[next]);
	}
}

static void test_flags_that_do_not_go_together(void **state)
{
	static const char *const good[] = { "S", "SU", "SA", "R", "AR", "AF", "AFU", "A", "AU" };

	(void)state;
	for (unsigned int bits = 0; bits < 256; bits++) {
		/* PSH, ECE and CWR may stand everywhere, so they come last */
		char flags[9];
		unsigned int n = 0, told;
		bool is_good = false;

		for (unsigned int i = 0; i < 8; i++)
			if (bits >> i & 1)
				flags[n++] = "SAFRUPEC"[i];
		flags[n] = '\0';
		told = (unsigned int)strcspn(flags, "PEC");
		for (unsigned int i = 0; i < sizeof(good) / sizeof(good[0]); i++)
			is_good |= strlen(good[i]) == told && strncmp(flags, good[i], told) == 0;
		fx.s.invalid[CT_INVALID_TCP_FLAGS] = 0;
		TCP(A, flags, 1, 1);
		assert_int_equal(fx.s.invalid[CT_INVALID_TCP_FLAGS], !is_good);
		fx.there = false;
	}
}

static void test_open_and_close(void **state)
{
	(void)state;
	handshake();
	assert_int_equal(TCP(A, "PA", A_ISN + 1, B_ISN + 1, .len = 100), FX_ESTABLISHED);
	assert_tcp("ESTABLISHED", 300); /* not acknowledged yet */
	assert_int_equal(TCP(B, "A", B_ISN + 1, A_ISN + 101), FX_ESTABLISHED);
	assert_tcp("ESTABLISHED", 432000);
}

static void test_close_from_both_sides(void **state)
{
	(void)state;
	handshake();
	close_both();
	assert_int_equal(fx.s.invalid[CT_INVALID_TCP_SEQ], 0);
}

static void test_simultaneous_open(void **state)
{
	(void)state;
	assert_int_equal(TCP(A, "S", A_ISN, 0), FX_NEW);
	assert_int_equal(TCP(B, "S", B_ISN, 0), FX_ESTABLISHED);
	assert_tcp("SYN_SENT2", 120);
	assert_int_equal(TCP(A, "SA", A_ISN, B_ISN + 1), FX_ESTABLISHED);
	assert_tcp("SYN_RECV", 60);
	assert_int_equal(TCP(B, "SA", B_ISN, A_ISN + 1), FX_ESTABLISHED);
	assert_tcp("SYN_RECV", 60);
	assert_int_equal(TCP(B, "A", B_ISN + 1, A_ISN + 1), FX_ESTABLISHED);
	assert_tcp("ESTABLISHED", 432000);
	assert_true(fx_is(CT_ASSURED));
}

static void test_syn_answers_without_ack_stay_in_syn_recv(void **state)
{
	(void)state;
	TCP(A, "S", A_ISN, 0);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(TCP(B, "SA", B_ISN, A_ISN + 1), FX_ESTABLISHED);
		assert_tcp("SYN_RECV", 60);
	}
	assert_false(fx_is(CT_ASSURED));
}

static void test_repeated_syn_does_not_renew(void **state)
{
	(void)state;
	TCP(A, "S", A_ISN, 0);
	fx_pass(20000);
	assert_int_equal(TCP(A, "S", A_ISN, 0), FX_NEW);
	assert_tcp("SYN_SENT", 100);
	fx_pass(100000);
	assert_int_equal(TCP(A, "S", A_ISN, 0), FX_NEW);
	assert_int_equal(fx.made, 2);
}

static void test_reset_of_a_syn_ends_the_entry(void **state)
{
	(void)state;
	TCP(A, "S", A_ISN, 0);
	assert_int_equal(TCP(B, "RA", 0, A_ISN + 1), FX_ESTABLISHED);
	assert_string_equal(fx_tcp_state(), "gone");
	/* also the client's own */
	TCP(A, "S", A_ISN, 0);
	assert_int_equal(TCP(A, "R", A_ISN + 1, 0), FX_NEW);
	assert_string_equal(fx_tcp_state(), "gone");
}

static void test_reset_exactly_in_place_closes(void **state)
{
	(void)state;
	handshake();
	assert_int_equal(TCP(B, "R", B_ISN + 1, 0), FX_ESTABLISHED);
	assert_tcp("CLOSE", 10);
}

static void test_reset_outside_the_window_is_invalid(void **state)
{
	(void)state;
	handshake();
	assert_int_equal(TCP(B, "R", B_ISN + 500000, 0), FX_INVALID);
	assert_tcp("ESTABLISHED", 432000);
	assert_int_equal(TCP(B, "R", B_ISN - 10, 0), FX_INVALID);
	assert_int_equal(fx.s.invalid[CT_INVALID_TCP_RST], 1);
	assert_int_equal(fx.s.why, CT_INVALID_TCP_RST);
	assert_int_equal(TCP(B, "R", B_ISN + 1, 0), FX_ESTABLISHED);
	assert_tcp("CLOSE", 10);
}

static void test_early_reset_passes_where_it_may(void **state)
{
	(void)state;
	fx.conf.tcp_ignore_rst = 1;
	handshake();
	assert_int_equal(TCP(B, "R", B_ISN, 0), FX_ESTABLISHED);
	assert_string_equal(fx_tcp_state(), "ESTABLISHED");
}

static void test_reset_behind_data_in_flight_closes(void **state)
{
	(void)state;
	handshake();
	TCP(B, "PA", B_ISN + 1, A_ISN + 1, .len = 19);
	assert_int_equal(TCP(B, "R", B_ISN + 20, 0), FX_ESTABLISHED);
	assert_tcp("CLOSE", 10);
}

static void test_reset_while_closing_is_not_questioned(void **state)
{
	(void)state;
	handshake();
	TCP(A, "FA", A_ISN + 1, B_ISN + 1);
	assert_int_equal(TCP(B, "R", 77, 0), FX_ESTABLISHED);
	assert_tcp("CLOSE", 10);
}

static void test_reuse_after_fins_is_a_new_connection(void **state)
{
	(void)state;
	handshake();
	close_both();
	assert_int_equal(TCP(A, "S", 900000, 0), FX_NEW);
	assert_int_equal(fx.made, 2);
	assert_tcp("SYN_SENT", 120);
}

static void test_reuse_after_own_reset(void **state)
{
	(void)state;
	handshake();
	TCP(A, "R", A_ISN + 1, 0);
	assert_int_equal(TCP(A, "S", 900000, 0), FX_NEW);
	assert_int_equal(fx.made, 2);
}

static void test_syn_after_the_others_reset_is_ignored(void **state)
{
	(void)state;
	handshake();
	TCP(B, "R", B_ISN + 1, 0);
	assert_int_equal(TCP(A, "S", 900000, 0), FX_ESTABLISHED);
	assert_tcp("CLOSE", 10);
	assert_int_equal(fx.made, 1);
	/* the server knows it: in step again */
	assert_int_equal(TCP(B, "SA", 70000, 900001), FX_ESTABLISHED);
	assert_tcp("SYN_RECV", 60);
	assert_int_equal(TCP(A, "A", 900001, 70001), FX_ESTABLISHED);
	assert_string_equal(fx_tcp_state(), "ESTABLISHED");
}

static void test_ignored_syn_and_its_answer_resynchronize(void **state)
{
	static const uint8_t opt[8] = { 1, 3, 3, 7, 1, 1, 4, 2 };

	(void)state;
	handshake();
	assert_int_equal(TCP(A, "S", 900000, 0, .opt = opt, .opt_len = 8, .win = 3000),
			FX_ESTABLISHED);
	assert_tcp("ESTABLISHED", 432000);
	/* what does not acknowledge it changes nothing */
	assert_int_equal(TCP(B, "SA", 70000, 900000), FX_ESTABLISHED);
	assert_tcp("ESTABLISHED", 432000);
	assert_int_equal(TCP(A, "S", 900000, 0, .opt = opt, .opt_len = 8, .win = 3000),
			FX_ESTABLISHED);
	assert_int_equal(TCP(B, "SA", 70000, 900001, .opt = opt, .opt_len = 8), FX_ESTABLISHED);
	assert_tcp("SYN_RECV", 60);
	assert_int_equal(fx.e->tcp.side[A].scale, 7);
	assert_int_equal(fx.e->tcp.side[B].scale, 7);
	assert_int_equal(fx.e->tcp.side[A].maxwin, 3000);
	assert_int_equal(TCP(A, "A", 900001, 70001), FX_ESTABLISHED);
	assert_tcp("ESTABLISHED", 432000);
}

static void test_liberal_side_stays_so_behind_a_new_beginning(void **state)
{
	(void)state;
	TCP(A, "A", A_ISN, B_ISN, .len = 10);
	TCP(A, "S", 900000, 0);
	assert_int_equal(TCP(B, "SA", 70000, 900001), FX_ESTABLISHED);
	assert_tcp("SYN_RECV", 60);
	assert_int_equal(fx.e->tcp.side[A].flags & CT_TCP_LIBERAL, 0);
	assert_int_equal(TCP(B, "A", 70001 + 500000, 900001), FX_ESTABLISHED);
	assert_int_equal(TCP(A, "A", 900001 + 500000, 70001), FX_INVALID);
}

static void test_reset_answers_the_other_sides_syn_alone(void **state)
{
	(void)state;
	handshake();
	TCP(A, "S", 5000, 0);
	assert_int_equal(TCP(A, "R", 800000, 5001), FX_INVALID);
	fx.there = false;
	handshake();
	TCP(A, "S", 5000, 0);
	assert_int_equal(TCP(B, "R", 800000, 5001), FX_ESTABLISHED);
	assert_tcp("CLOSE", 10);
}

static void test_syn_without_options_keeps_those_of_the_first(void **state)
{
	static const uint8_t perm[4] = { 1, 1, 4, 2 };

	(void)state;
	TCP(A, "S", A_ISN, 0, .opt = perm, .opt_len = 4);
	TCP(B, "SA", B_ISN, A_ISN + 1);
	TCP(A, "SA", A_ISN + 1, B_ISN + 1);
	assert_int_equal(fx.e->tcp.side[A].flags & CT_TCP_SACK_PERM, CT_TCP_SACK_PERM);
}

static void test_challenge_ack_in_last_ack(void **state)
{
	(void)state;
	handshake();
	TCP(B, "FA", B_ISN + 1, A_ISN + 1);
	TCP(A, "A", A_ISN + 1, B_ISN + 2);
	TCP(A, "FA", A_ISN + 1, B_ISN + 2);
	assert_tcp("LAST_ACK", 30);
	assert_int_equal(TCP(A, "S", 900000, 0), FX_ESTABLISHED);
	/* answers the SYN, not the FIN */
	assert_int_equal(TCP(B, "A", B_ISN + 2, A_ISN + 1), FX_ESTABLISHED);
	assert_tcp("LAST_ACK", 30);
	assert_int_equal(TCP(B, "A", B_ISN + 2, A_ISN + 2), FX_ESTABLISHED);
	assert_tcp("TIME_WAIT", 120);
}

static void test_old_connection_of_the_server_is_reset(void **state)
{
	(void)state;
	TCP(A, "S", A_ISN, 0);
	/* the server answers from an older connection; the client resets that */
	assert_int_equal(TCP(B, "A", 4444, 3333), FX_ESTABLISHED);
	assert_tcp("SYN_SENT", 120);
	assert_int_equal(TCP(A, "R", 3333, 0), FX_ESTABLISHED);
	assert_tcp("CLOSE", 10);
}

static void test_pick_up_half_way(void **state)
{
	(void)state;
	assert_int_equal(TCP(A, "A", A_ISN, B_ISN, .len = 10), FX_NEW);
	assert_tcp("ESTABLISHED", 300);
	assert_false(fx_is(CT_ASSURED));
	/* windows may be scaled by what nobody knows */
	assert_int_equal(TCP(B, "A", B_ISN, A_ISN + 10, .len = 20), FX_ESTABLISHED);
	assert_true(fx_is(CT_SEEN_REPLY));
	assert_int_equal(TCP(B, "A", B_ISN + 5000000, A_ISN + 10, .len = 20), FX_ESTABLISHED);
	assert_true(fx_is(CT_ASSURED));
}

static void test_no_pick_up_where_it_is_off(void **state)
{
	(void)state;
	fx.conf.tcp_loose = 0;
	assert_int_equal(TCP(A, "A", A_ISN, B_ISN), FX_INVALID);
	assert_int_equal(fx.s.invalid[CT_INVALID_TCP_NEW], 1);
	assert_int_equal(TCP(A, "S", A_ISN, 0), FX_NEW);
}

static void test_retransmissions_shorten_the_time(void **state)
{
	(void)state;
	fx.conf.tcp_max_retrans_s = 200;
	handshake();
	for (unsigned int i = 0; i < 4; i++) {
		TCP(A, "A", A_ISN + 1, B_ISN + 1, .len = 10);
		assert_tcp("ESTABLISHED", i < 3 ? 300 : 200);
	}
	TCP(B, "A", B_ISN + 1, A_ISN + 11);
	assert_tcp("ESTABLISHED", 432000);
	fx.conf.tcp_max_retrans = 1;
	TCP(A, "A", A_ISN + 11, B_ISN + 1, .len = 10);
	TCP(A, "A", A_ISN + 11, B_ISN + 1, .len = 10);
	assert_tcp("ESTABLISHED", 200);
}

static void test_window_of_zero_shortens_the_time(void **state)
{
	(void)state;
	handshake();
	TCP(B, "A", B_ISN + 1, A_ISN + 1, .no_win = true);
	assert_tcp("ESTABLISHED", 300);
	TCP(B, "A", B_ISN + 1, A_ISN + 1);
	assert_tcp("ESTABLISHED", 432000);
}

static void test_refused_ends_of_both_sides_shorten_the_time(void **state)
{
	(void)state;
	handshake();
	assert_int_equal(TCP(A, "FA", A_ISN + 500000, B_ISN + 1), FX_INVALID);
	assert_tcp("ESTABLISHED", 432000);
	assert_int_equal(TCP(B, "R", B_ISN + 500000, 0), FX_INVALID);
	assert_tcp("ESTABLISHED", 300);
}

static void test_refused_ends_leave_short_times_alone(void **state)
{
	(void)state;
	fx.conf.tcp_unack_s = 20;
	handshake();
	TCP(A, "FA", A_ISN + 1, B_ISN + 1);
	TCP(B, "A", B_ISN + 1, A_ISN + 2);
	assert_tcp("CLOSE_WAIT", 60);
	assert_int_equal(TCP(B, "FA", B_ISN + 500000, A_ISN + 2), FX_INVALID);
	assert_int_equal(TCP(A, "FA", A_ISN + 500000, B_ISN + 1), FX_INVALID);
	assert_tcp("CLOSE_WAIT", 60);
}

static void test_every_time_has_its_switch(void **state)
{
	(void)state;
	fx.conf.tcp_syn_sent_s = 101;
	fx.conf.tcp_syn_recv_s = 102;
	fx.conf.tcp_established_s = 103;
	fx.conf.tcp_fin_wait_s = 104;
	fx.conf.tcp_close_wait_s = 105;
	fx.conf.tcp_last_ack_s = 106;
	fx.conf.tcp_time_wait_s = 107;
	fx.conf.tcp_close_s = 108;
	TCP(A, "S", A_ISN, 0);
	assert_tcp("SYN_SENT", 101);
	TCP(B, "SA", B_ISN, A_ISN + 1);
	assert_tcp("SYN_RECV", 102);
	TCP(A, "A", A_ISN + 1, B_ISN + 1);
	assert_tcp("ESTABLISHED", 103);
	TCP(A, "FA", A_ISN + 1, B_ISN + 1);
	assert_tcp("FIN_WAIT", 104);
	TCP(B, "A", B_ISN + 1, A_ISN + 2);
	assert_tcp("CLOSE_WAIT", 105);
	TCP(B, "FA", B_ISN + 1, A_ISN + 2);
	assert_tcp("LAST_ACK", 106);
	TCP(A, "A", A_ISN + 2, B_ISN + 2);
	assert_tcp("TIME_WAIT", 107);
	TCP(A, "R", A_ISN + 2, 0);
	assert_tcp("CLOSE", 108);
}

static void test_unacknowledged_data_shortens_the_time(void **state)
{
	(void)state;
	fx.conf.tcp_unack_s = 109;
	handshake();
	TCP(B, "A", B_ISN + 1, A_ISN + 1, .len = 1);
	assert_tcp("ESTABLISHED", 109);
	TCP(A, "A", A_ISN + 1, B_ISN + 1, .len = 1);
	TCP(B, "A", B_ISN + 2, A_ISN + 2);
	assert_tcp("ESTABLISHED", 109);
	TCP(A, "A", A_ISN + 2, B_ISN + 2);
	assert_tcp("ESTABLISHED", 432000);
}

static void test_rejected_connection_is_closed(void **state)
{
	(void)state;
	handshake();
	ct_tcp_set_closing(&fx.s, fx.e);
	assert_tcp("CLOSE", 10);
}

static void test_what_may_be_dropped_early(void **state)
{
	(void)state;
	handshake();
	for (unsigned int s = 0; s < CT_TCP_STATES; s++) {
		fx.e->tcp.state = (uint8_t)s;
		assert_int_equal(ct_proto_can_early_drop(fx.e),
				s >= CT_TCP_FIN_WAIT && s <= CT_TCP_CLOSE);
	}
}

static void test_fixed_time_stays(void **state)
{
	(void)state;
	TCP(A, "S", A_ISN, 0);
	fx.e->status |= CT_FIXED_TIMEOUT;
	TCP(B, "SA", B_ISN, A_ISN + 1);
	assert_tcp("SYN_RECV", 120);
}

static void test_print(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_non_null(f);
	handshake();
	ct_proto_print(fx.e, f);
	fclose(f);
	assert_string_equal(text, "ESTABLISHED ");
	free(text);
	assert_string_equal(ct_proto_name(IPPROTO_TCP), "tcp");
}

#define UNIT(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(test_every_cell_of_the_tables),
		UNIT(test_first_packet_is_syn_or_plain_ack),
		UNIT(test_flags_that_do_not_go_together),
		UNIT(test_open_and_close),
		UNIT(test_close_from_both_sides),
		UNIT(test_simultaneous_open),
		UNIT(test_syn_answers_without_ack_stay_in_syn_recv),
		UNIT(test_repeated_syn_does_not_renew),
		UNIT(test_reset_of_a_syn_ends_the_entry),
		UNIT(test_reset_exactly_in_place_closes),
		UNIT(test_reset_outside_the_window_is_invalid),
		UNIT(test_early_reset_passes_where_it_may),
		UNIT(test_reset_behind_data_in_flight_closes),
		UNIT(test_reset_while_closing_is_not_questioned),
		UNIT(test_reuse_after_fins_is_a_new_connection),
		UNIT(test_reuse_after_own_reset),
		UNIT(test_syn_after_the_others_reset_is_ignored),
		UNIT(test_ignored_syn_and_its_answer_resynchronize),
		UNIT(test_liberal_side_stays_so_behind_a_new_beginning),
		UNIT(test_reset_answers_the_other_sides_syn_alone),
		UNIT(test_syn_without_options_keeps_those_of_the_first),
		UNIT(test_challenge_ack_in_last_ack),
		UNIT(test_old_connection_of_the_server_is_reset),
		UNIT(test_pick_up_half_way),
		UNIT(test_no_pick_up_where_it_is_off),
		UNIT(test_retransmissions_shorten_the_time),
		UNIT(test_window_of_zero_shortens_the_time),
		UNIT(test_refused_ends_of_both_sides_shorten_the_time),
		UNIT(test_refused_ends_leave_short_times_alone),
		UNIT(test_every_time_has_its_switch),
		UNIT(test_unacknowledged_data_shortens_the_time),
		UNIT(test_rejected_connection_is_closed),
		UNIT(test_what_may_be_dropped_early),
		UNIT(test_fixed_time_stays),
		UNIT(test_print),
	};

	return cmocka_run_group_tests(tests, fx_group, NULL);
}
