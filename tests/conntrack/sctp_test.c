/* SPDX-License-Identifier: BSD-3-Clause */
/* SCTP: every cell of the table, tags, bundles, heartbeats, restarts. */
#include "tests/conntrack/proto_fixture.h"

#include <rte_sctp.h>

#include <stdlib.h>

#define TAG_A 0xa1 /* in packets to A */
#define TAG_B 0xb1

enum {
	DATA = 0,
	INIT = 1,
	INIT_ACK = 2,
	SACK = 3,
	HEARTBEAT = 4,
	HEARTBEAT_ACK = 5,
	ABORT = 6,
	SHUTDOWN = 7,
	SHUTDOWN_ACK = 8,
	ERROR = 9,
	COOKIE_ECHO = 10,
	COOKIE_ACK = 11,
	SHUTDOWN_COMPLETE = 14,
};

static uint32_t packet_tag, offered;
static uint8_t chunk_flags;
static uint32_t spoil; /* XORed to the checksum */

/* RFC 9260 appendix A, bit by bit */
static uint32_t crc32c(const uint8_t *data, uint32_t len)
{
	uint32_t crc = UINT32_MAX;

	for (uint32_t i = 0; i < len; i++) {
		crc ^= data[i];
		for (unsigned int b = 0; b < 8; b++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78U : 0);
	}
	return rte_cpu_to_le_32(~crc);
}

static enum fx_state packet(enum fx_host from, const uint8_t *types, unsigned int n)
{
	uint8_t l4[400] = { 0 };
	struct rte_sctp_hdr *sctp = (void *)l4;
	uint32_t len = sizeof(*sctp);

	sctp->src_port = from == A ? RTE_BE16(4000) : RTE_BE16(80);
	sctp->dst_port = from == A ? RTE_BE16(80) : RTE_BE16(4000);
	sctp->tag = rte_cpu_to_be_32(packet_tag);
	for (unsigned int i = 0; i < n; i++) {
		bool init = types[i] == INIT || types[i] == INIT_ACK;
		uint32_t tag_be = rte_cpu_to_be_32(offered);

		l4[len] = types[i];
		l4[len + 1] = chunk_flags;
		l4[len + 3] = init ? 20 : 7; /* and a byte of padding */
		if (init)
			memcpy(l4 + len + 4, &tag_be, sizeof(tag_be));
		len += init ? 20 : 8;
	}
	sctp->cksum = crc32c(l4, len) ^ spoil;
	return fx_l4(from, IPPROTO_SCTP, l4, len);
}

/* one chunk with the tag that the other side has asked for */
static enum fx_state say(enum fx_host from, uint8_t type)
{
	packet_tag = type == INIT ? 0 : from == A ? TAG_B : TAG_A;
	offered = from == A ? TAG_A : TAG_B;
	return packet(from, &type, 1);
}

static enum fx_state tagged(enum fx_host from, uint8_t type, uint32_t tag, uint32_t offer)
{
	packet_tag = tag;
	offered = offer;
	return packet(from, &type, 1);
}

#define assert_sctp(state, seconds)                                                   \
	do {                                                                          \
		assert_string_equal(fx.there ? ct_proto_state(fx.e) : "gone", state); \
		assert_int_equal(fx_time(), seconds);                                 \
	} while (0)

static int setup(void **state)
{
	chunk_flags = 0;
	spoil = 0;
	return fx_setup(state);
}

static void associate(void)
{
	assert_int_equal(say(A, INIT), FX_NEW);
	assert_sctp("CLOSED", 10);
	assert_int_equal(say(B, INIT_ACK), FX_ESTABLISHED);
	assert_sctp("COOKIE_WAIT", 3);
	assert_int_equal(say(A, COOKIE_ECHO), FX_ESTABLISHED);
	assert_sctp("COOKIE_ECHOED", 3);
	assert_false(fx_is(CT_ASSURED));
	assert_int_equal(say(B, COOKIE_ACK), FX_ESTABLISHED);
	assert_sctp("ESTABLISHED", 210);
	assert_true(fx_is(CT_ASSURED));
}

/* numbers of the states, as the entry has them, are the places in these */
static const char *const names[] = { "NONE", "CLOSED", "COOKIE_WAIT", "COOKIE_ECHOED",
	"ESTABLISHED", "SHUTDOWN_SENT", "SHUTDOWN_RECD", "SHUTDOWN_ACK_SENT", "HEARTBEAT_SENT" };
static const unsigned int times[] = { 0, 10, 3, 3, 210, 3, 3, 3, 30 };
static const char codes[] = "NOCLCWCEESSSSRSAHSIV";

#define STATES (sizeof(names) / sizeof(names[0]))

static const struct {
	uint8_t type;
	const char *next[CT_DIR_NB];
} cells[] = {
	{ INIT, { "CL CL CW CE ES CL CL SA CW", "IV CL CW CE ES SS SR SA IV" } },
	{ INIT_ACK, { "CL CL CW CE ES SS SR SA CL", "IV CW CW CE ES SS SR SA IV" } },
	{ ABORT, { "IV CL CL CL CL CL CL CL CL", "IV CL CL CL CL CL CL CL IV" } },
	{ SHUTDOWN, { "CL CL CW CE SS SS SR SA CL", "IV CL CW CE SR SS SR SA IV" } },
	{ SHUTDOWN_ACK, { "SA CL CW CE ES SA SA SA SA", "IV CL CW CE ES SA SA SA IV" } },
	{ ERROR, { "CL CL CW CE ES SS SR SA CL", "IV CL CW CL ES SS SR SA IV" } },
	{ COOKIE_ECHO, { "CL CL CE CE ES SS SR SA CL", "IV CL CE CE ES SS SR SA IV" } },
	{ COOKIE_ACK, { "IV CL CW ES ES SS SR SA CL", "IV CL CW ES ES SS SR SA IV" } },
	{ SHUTDOWN_COMPLETE, { "IV CL CW CE ES SS SR CL CL", "IV CL CW CE ES SS SR CL IV" } },
	{ HEARTBEAT, { "HS CL CW CE ES SS SR SA HS", "IV CL CW CE ES SS SR SA HS" } },
	{ HEARTBEAT_ACK, { "CL CL CW CE ES SS SR SA HS", "IV CL CW CE ES SS SR SA ES" } },
	{ DATA, { "IV CL CW CE ES SS SR SA HS", "IV CL CW CE ES SS SR SA HS" } },
	{ SACK, { "IV CL CW CE ES SS SR SA HS", "IV CL CW CE ES SS SR SA HS" } },
	{ 192, { "IV CL CW CE ES SS SR SA HS", "IV CL CW CE ES SS SR SA HS" } },
};

static unsigned int cell(const char *row, unsigned int i)
{
	for (unsigned int k = 0; k < sizeof(codes) / 2; k++)
		if (memcmp(codes + 2 * k, row + 3 * i, 2) == 0)
			return k;
	fail_msg("no such state: %.2s", row + 3 * i);
	return 0;
}

static void try_cell(uint8_t type, enum ct_dir dir, unsigned int state, unsigned int next)
{
	associate();
	fx.e->sctp.state = (uint8_t)state;
	ct_refresh(&fx.s, fx.e, 7);
	assert_int_equal(say(dir == CT_ORIGINAL ? A : B, type),
			next == STATES ? FX_INVALID : FX_ESTABLISHED);
	/* an INIT that is repeated does not renew */
	if (next == STATES || (type == INIT && state == 1))
		assert_sctp(names[state], 7);
	else
		assert_sctp(names[next], times[next]);
}

static void test_every_cell_of_the_table(void **state)
{
	for (unsigned int k = 0; k < sizeof(cells) / sizeof(cells[0]); k++)
		for (unsigned int dir = 0; dir < CT_DIR_NB; dir++)
			for (unsigned int s = 1; s < STATES; s++) {
				fx_teardown(state);
				setup(state);
				try_cell(cells[k].type, dir, s, cell(cells[k].next[dir], s));
			}
}

static void test_first_packets(void **state)
{
	for (unsigned int k = 0; k < sizeof(cells) / sizeof(cells[0]); k++) {
		unsigned int next = cell(cells[k].next[CT_ORIGINAL], 0);

		fx_teardown(state);
		setup(state);
		/* nobody has asked for a tag yet */
		assert_int_equal(tagged(A, cells[k].type, 0, TAG_A),
				next == STATES ? FX_INVALID : FX_NEW);
		if (next != STATES)
			assert_sctp(names[next], times[next]);
		else
			assert_false(fx.there);
	}
	assert_int_equal(tagged(A, INIT, 7, TAG_A), FX_INVALID);
	assert_int_equal(tagged(A, ERROR, 7, 0), FX_INVALID);
}

static void test_shutdown(void **state)
{
	(void)state;
	associate();
	say(A, SHUTDOWN);
	assert_sctp("SHUTDOWN_SENT", 3);
	assert_true(ct_proto_can_early_drop(fx.e));
	say(B, SHUTDOWN_ACK);
	assert_sctp("SHUTDOWN_ACK_SENT", 3);
	say(A, SHUTDOWN_COMPLETE);
	assert_sctp("CLOSED", 10);
	assert_false(ct_proto_can_early_drop(fx.e));
}

static void test_tags(void **state)
{
	static const uint8_t types[] = { DATA, SACK, COOKIE_ECHO, COOKIE_ACK, SHUTDOWN, ERROR,
		INIT_ACK, ABORT, SHUTDOWN_COMPLETE };

	(void)state;
	associate();
	for (unsigned int i = 0; i < sizeof(types); i++)
		assert_int_equal(tagged(A, types[i], 0x77, TAG_A), FX_INVALID);
	assert_int_equal(fx.s.invalid[CT_INVALID_SCTP_VTAG], sizeof(types));
	assert_int_equal(tagged(A, INIT, TAG_B, TAG_A), FX_INVALID);
	assert_sctp("ESTABLISHED", 210);
	/* with the flag T the tag is the sender's own */
	chunk_flags = 1;
	assert_int_equal(tagged(A, ABORT, TAG_B, 0), FX_INVALID);
	assert_int_equal(tagged(A, ABORT, TAG_A, 0), FX_ESTABLISHED);
	assert_sctp("CLOSED", 10);
}

static void test_restart(void **state)
{
	(void)state;
	associate();
	assert_int_equal(tagged(A, INIT, 0, 0xa2), FX_ESTABLISHED);
	assert_int_equal(tagged(B, INIT_ACK, 0xa2, 0xb2), FX_ESTABLISHED);
	assert_int_equal(tagged(A, COOKIE_ECHO, 0xb2, 0), FX_ESTABLISHED);
	assert_int_equal(tagged(B, COOKIE_ACK, 0xa2, 0), FX_ESTABLISHED);
	assert_int_equal(tagged(B, DATA, TAG_A, 0), FX_INVALID);
	assert_int_equal(tagged(B, DATA, 0xa2, 0), FX_ESTABLISHED);
}

static void test_repeated_init_opens_no_door(void **state)
{
	(void)state;
	associate();
	assert_int_equal(tagged(A, INIT, 0, TAG_A), FX_ESTABLISHED);
	assert_int_equal(tagged(B, INIT_ACK, TAG_A, 0xb2), FX_INVALID);
	assert_int_equal(tagged(B, INIT_ACK, TAG_A, TAG_B), FX_ESTABLISHED);
}

static void test_inits_cross(void **state)
{
	(void)state;
	associate();
	assert_int_equal(tagged(A, INIT, 0, 0xa2), FX_ESTABLISHED);
	assert_int_equal(tagged(B, INIT, 0, 0xb2), FX_ESTABLISHED);
	assert_int_equal(tagged(A, INIT_ACK, 0xb2, 0xa3), FX_INVALID);
	assert_int_equal(tagged(A, INIT_ACK, 0xb2, 0xa2), FX_ESTABLISHED);
	assert_int_equal(tagged(B, INIT_ACK, 0xa2, 0xb3), FX_INVALID);
}

static void test_heartbeat_opens_a_path(void **state)
{
	(void)state;
	assert_int_equal(tagged(A, HEARTBEAT, TAG_B, 0), FX_NEW);
	assert_sctp("HEARTBEAT_SENT", 30);
	assert_int_equal(tagged(B, HEARTBEAT_ACK, TAG_A, 0), FX_ESTABLISHED);
	assert_sctp("ESTABLISHED", 210);
	assert_true(fx_is(CT_ASSURED));
}

static void test_heartbeat_of_a_peer_that_has_restarted(void **state)
{
	(void)state;
	associate();
	fx_pass(10000);
	assert_int_equal(tagged(A, HEARTBEAT, 0x99, 0), FX_ESTABLISHED);
	assert_sctp("ESTABLISHED", 200); /* passes, and renews nothing */
	assert_int_equal(tagged(A, HEARTBEAT_ACK, 0x99, 0), FX_INVALID);
	assert_int_equal(tagged(B, HEARTBEAT_ACK, 0x98, 0), FX_ESTABLISHED);
	assert_sctp("ESTABLISHED", 210);
	assert_int_equal(tagged(B, DATA, 0x98, 0), FX_ESTABLISHED);
	/* the other direction's tag is whatever comes next */
	assert_int_equal(tagged(A, HEARTBEAT, 0x99, 0), FX_ESTABLISHED);
	assert_int_equal(tagged(A, DATA, 0x99, 0), FX_ESTABLISHED);
}

static void test_bundles(void **state)
{
	static const struct {
		uint8_t types[2];
		bool good;
	} cases[] = { { { INIT, DATA }, false }, { { DATA, INIT }, false },
		{ { SACK, INIT_ACK }, false }, { { INIT_ACK, SACK }, false },
		{ { DATA, COOKIE_ECHO }, false }, { { DATA, COOKIE_ACK }, false },
		{ { COOKIE_ECHO, DATA }, true }, { { COOKIE_ACK, DATA }, true },
		{ { SACK, DATA }, true }, { { SACK, SHUTDOWN_COMPLETE }, false } };
	const uint8_t close[] = { SACK, SHUTDOWN }, none[] = { DATA };

	(void)state;
	associate();
	packet_tag = TAG_B;
	offered = TAG_A;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(packet(A, cases[i].types, 2),
				cases[i].good ? FX_ESTABLISHED : FX_INVALID);
	assert_int_equal(fx.s.invalid[CT_INVALID_SCTP_CHUNK], 7);
	assert_int_equal(packet(A, none, 0), FX_INVALID);
	/* each chunk moves the state */
	assert_int_equal(packet(A, close, 2), FX_ESTABLISHED);
	assert_sctp("SHUTDOWN_SENT", 3);
}

static void test_cookie_with_data_is_assured(void **state)
{
	const uint8_t types[] = { COOKIE_ACK, DATA };

	(void)state;
	say(A, INIT);
	say(B, INIT_ACK);
	say(A, COOKIE_ECHO);
	packet_tag = TAG_A;
	assert_int_equal(packet(B, types, 2), FX_ESTABLISHED);
	assert_true(fx_is(CT_ASSURED));
}

static void test_checksum(void **state)
{
	(void)state;
	for (fx.split = 0; fx.split < 60; fx.split += 7) {
		spoil = 1U << (fx.split % 32);
		assert_int_equal(say(A, INIT), FX_INVALID);
		spoil = 0;
		assert_int_equal(say(A, INIT), FX_NEW);
		fx.there = false;
	}
	spoil = 1;
	fx.verify = false;
	assert_int_equal(say(A, INIT), FX_NEW);
}

static void test_cut_anywhere(void **state)
{
	const uint8_t data[40] = { [12] = INIT, [15] = 20 };

	(void)state;
	fx.verify = false;
	for (uint32_t len = 0; len < 32; len++)
		assert_int_equal(fx_l4(A, IPPROTO_SCTP, data, len), FX_INVALID);
	assert_int_equal(fx_l4(A, IPPROTO_SCTP, data, 32), FX_NEW);
}

static void test_switches_and_print(void **state)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_non_null(f);
	fx.conf.sctp_closed_s = 101;
	fx.conf.sctp_cookie_wait_s = 102;
	fx.conf.sctp_cookie_echoed_s = 103;
	fx.conf.sctp_established_s = 104;
	fx.conf.sctp_shutdown_sent_s = 105;
	say(A, INIT);
	assert_sctp("CLOSED", 101);
	say(B, INIT_ACK);
	assert_sctp("COOKIE_WAIT", 102);
	say(A, COOKIE_ECHO);
	assert_sctp("COOKIE_ECHOED", 103);
	say(B, COOKIE_ACK);
	assert_sctp("ESTABLISHED", 104);
	say(A, SHUTDOWN);
	assert_sctp("SHUTDOWN_SENT", 105);
	ct_proto_print(fx.e, f);
	fclose(f);
	assert_string_equal(text, "SHUTDOWN_SENT ");
	free(text);
}

#define UNIT(name) cmocka_unit_test_setup_teardown(name, setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(test_every_cell_of_the_table),
		UNIT(test_first_packets),
		UNIT(test_shutdown),
		UNIT(test_tags),
		UNIT(test_restart),
		UNIT(test_repeated_init_opens_no_door),
		UNIT(test_inits_cross),
		UNIT(test_heartbeat_opens_a_path),
		UNIT(test_heartbeat_of_a_peer_that_has_restarted),
		UNIT(test_bundles),
		UNIT(test_cookie_with_data_is_assured),
		UNIT(test_checksum),
		UNIT(test_cut_anywhere),
		UNIT(test_switches_and_print),
	};

	return cmocka_run_group_tests(tests, fx_group, NULL);
}
