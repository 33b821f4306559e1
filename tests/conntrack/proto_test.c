/* SPDX-License-Identifier: BSD-3-Clause */
/* UDP, UDP-Lite, ICMP, ICMPv6, GRE and the protocols that nobody knows. */
#include "tests/conntrack/proto_fixture.h"

#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <stdlib.h>

#define LATER_MS 2001

static void be16(uint8_t *at, unsigned int v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

/* ------------------------------------------------------------------------------------- UDP */

static void test_udp_unreplied_answered_stream(void **state)
{
	(void)state;
	assert_int_equal(fx_udp(A, 10), FX_NEW);
	assert_int_equal(fx_time(), 30);
	fx_pass(1000);
	assert_int_equal(fx_udp(A, 10), FX_NEW);
	assert_int_equal(fx_udp(B, 10), FX_ESTABLISHED);
	assert_int_equal(fx_time(), 30);
	assert_int_equal(fx_udp(A, 10), FX_ESTABLISHED);
	assert_int_equal(fx_time(), 30);
	fx_pass(1000);
	/* two seconds, and not more */
	assert_int_equal(fx_udp(A, 10), FX_ESTABLISHED);
	assert_false(fx_is(CT_ASSURED));
	fx_pass(1);
	assert_int_equal(fx_udp(A, 10), FX_ESTABLISHED);
	assert_true(fx_is(CT_ASSURED));
	assert_int_equal(fx_time(), 120);
}

static void test_udp_late_answer_is_no_stream_yet(void **state)
{
	(void)state;
	fx_udp(A, 10);
	fx_pass(LATER_MS);
	fx_udp(B, 10);
	assert_int_equal(fx_time(), 30);
	assert_false(fx_is(CT_ASSURED));
	fx_udp(B, 10);
	assert_int_equal(fx_time(), 120);
	assert_true(fx_is(CT_ASSURED));
}

static void test_udp_stream_outlives_the_clock(void **state)
{
	(void)state;
	fx_udp(A, 10);
	fx_udp(B, 10);
	fx_pass(LATER_MS);
	for (unsigned int i = 0; i < 60000; i++) {
		fx_udp(A, 10);
		assert_int_equal(fx_time(), 120);
		fx_pass(100000);
	}
}

static void test_udp_times_have_switches(void **state)
{
	(void)state;
	fx.conf.udp_s = 11;
	fx.conf.udp_stream_s = 12;
	fx_udp(A, 10);
	assert_int_equal(fx_time(), 11);
	fx_udp(B, 10);
	fx_pass(LATER_MS);
	fx_udp(A, 10);
	assert_int_equal(fx_time(), 12);
}

static void test_udp_expires(void **state)
{
	(void)state;
	fx_udp(A, 10);
	fx_pass(29999);
	assert_true(fx.there);
	fx_pass(1);
	assert_int_equal(fx_udp(B, 10), FX_NEW);
	assert_int_equal(fx.origin, B);
}

static void test_udp_clash_never_becomes_assured(void **state)
{
	(void)state;
	fx_udp(A, 10);
	fx.e->status |= CT_REPLY_ONLY;
	fx_udp(B, 10);
	fx_pass(LATER_MS);
	fx_udp(B, 10);
	assert_false(fx_is(CT_ASSURED));
}

static void test_udp_lengths(void **state)
{
	static const struct {
		uint16_t len;
		bool good;
	} cases[] = { { 0, false }, { 7, false }, { 8, true }, { 12, true }, { 20, true },
		{ 21, false }, { 0xffff, false } };
	uint8_t l4[20] = { 0x9c, 0x40, 0, 53 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		be16(l4 + 4, cases[i].len); /* checksum 0: none */
		assert_int_equal(fx_l4(A, IPPROTO_UDP, l4, sizeof(l4)),
				cases[i].good ? FX_NEW : FX_INVALID);
	}
	for (uint32_t n = 0; n < 8; n++)
		assert_int_equal(fx_l4(A, IPPROTO_UDP, l4, n), FX_INVALID);
	assert_int_equal(fx.s.invalid[CT_INVALID_SHORT], 8);
	assert_int_equal(fx.s.invalid[CT_INVALID_LENGTH], 4);
}

static void test_checksums_where_they_are_asked_for(void **state)
{
	(void)state;
	for (unsigned int family = 0; family < 2; family++) {
		fx.family = family == 0 ? SL_AF_INET : SL_AF_INET6;
		for (fx.split = 0; fx.split < 100; fx.split += 13) {
			fx.bad_csum = true;
			fx.verify = true;
			assert_int_equal(fx_udp(A, 33), FX_INVALID);
			assert_int_equal(TCP(A, "S", 1, 0, .len = 33), FX_INVALID);
			fx.verify = false;
			assert_int_equal(fx_udp(A, 33), FX_NEW);
			fx.there = false;
			assert_int_equal(TCP(A, "S", 1, 0, .len = 33), FX_NEW);
			fx.there = false;
			fx.bad_csum = false;
			fx.verify = true;
			assert_int_equal(fx_udp(A, 33), FX_NEW);
			fx.there = false;
			assert_int_equal(TCP(A, "S", 1, 0, .len = 33), FX_NEW);
			fx.there = false;
		}
	}
}

/* -------------------------------------------------------------------------------- UDP-Lite */

/* the number in the pseudo header: the kernel takes UDP's */
static uint8_t pseudo = IPPROTO_UDP;

static enum fx_state lite(enum fx_host from, uint16_t coverage, bool no_csum)
{
	uint8_t l4[40] = { 0x9c, 0x40, 0, 53 };

	be16(l4 + 4, coverage);
	l4[30] = 0x55;
	fx_seal(from, pseudo, l4, sizeof(l4), coverage == 0 ? sizeof(l4) : coverage, 6);
	l4[39] = 0xaa; /* behind a coverage of 39 at most */
	if (coverage == 0 || coverage == sizeof(l4))
		l4[39] = 0;
	if (no_csum)
		be16(l4 + 6, 0);
	return fx_l4(from, IPPROTO_UDPLITE, l4, sizeof(l4));
}

static void test_udplite_coverage(void **state)
{
	(void)state;
	assert_int_equal(lite(A, 0, false), FX_NEW);
	assert_int_equal(lite(A, 8, false), FX_NEW);
	assert_int_equal(lite(A, 31, false), FX_NEW);
	assert_int_equal(lite(A, 40, false), FX_NEW);
	assert_int_equal(lite(A, 8, true), FX_INVALID);
	assert_int_equal(fx.s.invalid[CT_INVALID_UDPLITE_COVERAGE], 1);
	fx.bad_csum = true;
	assert_int_equal(lite(A, 31, false), FX_INVALID);
	fx.bad_csum = false;
	pseudo = IPPROTO_UDPLITE;
	assert_int_equal(lite(A, 31, false), FX_INVALID);
	pseudo = IPPROTO_UDP;
	assert_int_equal(fx.s.invalid[CT_INVALID_CHECKSUM], 2);
}

static void test_udplite_is_assured_behind_the_first_answer(void **state)
{
	(void)state;
	lite(A, 0, false);
	assert_int_equal(fx_time(), 30);
	assert_int_equal(lite(B, 0, false), FX_ESTABLISHED);
	assert_int_equal(fx_time(), 30);
	assert_false(fx_is(CT_ASSURED));
	lite(A, 0, false);
	assert_int_equal(fx_time(), 120);
	assert_true(fx_is(CT_ASSURED));
}

/* ------------------------------------------------------------------------ ICMP and ICMPv6 */

static enum fx_state icmp(enum fx_host from, uint8_t type, uint32_t len)
{
	uint8_t l4[64] = { type, 0, 0, 0, 0x12, 0x34, 0, 1 };
	uint8_t proto = fx.family == SL_AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6;

	fx_seal(from, proto, l4, len, len, 2);
	return fx_l4(from, proto, l4, len);
}

static void test_icmp_questions_open(void **state)
{
	(void)state;
	for (unsigned int type = 0; type < 256; type++) {
		bool opens = type == ICMP_ECHO || type == ICMP_TIMESTAMP
				|| type == ICMP_INFO_REQUEST || type == ICMP_ADDRESS;

		fx.there = false;
		assert_int_equal(icmp(A, (uint8_t)type, 16), opens ? FX_NEW : FX_INVALID);
	}
}

static void test_icmp_time_and_answers(void **state)
{
	(void)state;
	fx.conf.icmp_s = 31;
	assert_int_equal(icmp(A, ICMP_ECHO, 16), FX_NEW);
	assert_int_equal(fx_time(), 31);
	fx_pass(20000);
	assert_int_equal(icmp(B, ICMP_ECHOREPLY, 16), FX_ESTABLISHED);
	assert_int_equal(fx_time(), 31);
	assert_int_equal(icmp(A, ICMP_ECHO, 16), FX_ESTABLISHED);
	assert_false(fx_is(CT_ASSURED));
}

static void test_icmp_short_or_wrong(void **state)
{
	(void)state;
	for (uint32_t len = 4; len < 8; len++)
		assert_int_equal(icmp(A, ICMP_ECHO, len), FX_INVALID);
	fx.bad_csum = true;
	assert_int_equal(icmp(A, ICMP_ECHO, 16), FX_INVALID);
	/* errors are checked, too */
	assert_int_equal(icmp(A, ICMP_DEST_UNREACH, 16), FX_INVALID);
	assert_int_equal(fx.s.invalid[CT_INVALID_CHECKSUM], 2);
	fx.verify = false;
	assert_int_equal(icmp(A, ICMP_ECHO, 16), FX_NEW);
}

static void test_icmp6_questions_open(void **state)
{
	(void)state;
	fx.family = SL_AF_INET6;
	for (unsigned int type = 128; type < 256; type++) {
		bool opens = type == ICMP6_ECHO_REQUEST || type == 139;

		fx.there = false;
		assert_int_equal(icmp(A, (uint8_t)type, 16), opens ? FX_NEW : FX_INVALID);
	}
	assert_int_equal(icmp(A, ICMP6_ECHO_REQUEST, 16), FX_NEW);
	assert_int_equal(fx_time(), 30);
	assert_int_equal(icmp(B, ICMP6_ECHO_REPLY, 16), FX_ESTABLISHED);
	fx.bad_csum = true;
	assert_int_equal(icmp(A, ICMP6_ECHO_REQUEST, 16), FX_INVALID);
}

static void test_each_family_has_its_own_icmp(void **state)
{
	const uint8_t echo6[8] = { ICMP6_ECHO_REQUEST }, echo4[8] = { ICMP_ECHO };

	(void)state;
	fx.verify = false;
	assert_int_equal(fx_l4(A, IPPROTO_ICMPV6, echo6, sizeof(echo6)), FX_INVALID);
	fx.family = SL_AF_INET6;
	assert_int_equal(fx_l4(A, IPPROTO_ICMP, echo4, sizeof(echo4)), FX_INVALID);
}

/* --------------------------------------------------------------------------- GRE, generic */

static void test_gre(void **state)
{
	const uint8_t plain[] = { 0x20, 0, 8, 0, 0, 0, 0, 7 };
	const uint8_t pptp[] = { 0x30, 1, 0x88, 0x0b, 0, 0, 0, 7, 0, 0, 0, 0 };
	const uint8_t other[] = { 0x30, 1, 8, 0, 0, 0, 0, 7, 0, 0, 0, 0 };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_non_null(f);
	assert_int_equal(fx_l4(A, IPPROTO_GRE, other, sizeof(other)), FX_INVALID);
	assert_int_equal(fx_l4(A, IPPROTO_GRE, other, 7), FX_NEW); /* no key, no question */
	fx.there = false;
	assert_int_equal(fx_l4(A, IPPROTO_GRE, pptp, sizeof(pptp)), FX_NEW);
	fx.there = false;
	assert_int_equal(fx_l4(A, IPPROTO_GRE, plain, sizeof(plain)), FX_NEW);
	assert_int_equal(fx_time(), 30);
	fx_l4(B, IPPROTO_GRE, plain, sizeof(plain));
	assert_int_equal(fx_time(), 30);
	assert_false(fx_is(CT_ASSURED));
	fx.conf.gre_stream_s = 99; /* it keeps the times that it was made with */
	fx_l4(B, IPPROTO_GRE, plain, sizeof(plain));
	assert_int_equal(fx_time(), 180);
	assert_true(fx_is(CT_ASSURED));
	ct_proto_print(fx.e, f);
	fclose(f);
	assert_string_equal(text, "timeout=30, stream_timeout=180 ");
	free(text);
}

static void test_unknown_protocols_are_never_invalid(void **state)
{
	const uint8_t data[4] = { 1, 2, 3, 4 };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		uint8_t proto = (const uint8_t[]){ IPPROTO_ESP, IPPROTO_DCCP, 255 }[i];

		fx.there = false;
		assert_null(ct_proto_name(proto));
		assert_int_equal(fx_l4(A, proto, data, sizeof(data)), FX_NEW);
		assert_int_equal(fx_time(), 600);
		assert_int_equal(fx_l4(B, proto, data, sizeof(data)), FX_ESTABLISHED);
		assert_int_equal(fx_l4(A, proto, data, 0), FX_ESTABLISHED);
		assert_int_equal(fx_time(), 600);
		assert_false(fx_is(CT_ASSURED));
		assert_false(ct_proto_can_early_drop(fx.e));
		assert_null(ct_proto_state(fx.e));
	}
}

static void test_reasons_have_names(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < CT_INVALID_NB; i++) {
		assert_non_null(ct_invalid_name((enum ct_invalid)i));
		assert_non_null(ct_invalid_help((enum ct_invalid)i));
	}
	assert_string_equal(ct_invalid_name(CT_INVALID_CHECKSUM), "bad_checksum");
}

#define UNIT(name) cmocka_unit_test_setup_teardown(name, fx_setup, fx_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIT(test_udp_unreplied_answered_stream),
		UNIT(test_udp_late_answer_is_no_stream_yet),
		UNIT(test_udp_stream_outlives_the_clock),
		UNIT(test_udp_times_have_switches),
		UNIT(test_udp_expires),
		UNIT(test_udp_clash_never_becomes_assured),
		UNIT(test_udp_lengths),
		UNIT(test_checksums_where_they_are_asked_for),
		UNIT(test_udplite_coverage),
		UNIT(test_udplite_is_assured_behind_the_first_answer),
		UNIT(test_icmp_questions_open),
		UNIT(test_icmp_time_and_answers),
		UNIT(test_icmp_short_or_wrong),
		UNIT(test_icmp6_questions_open),
		UNIT(test_each_family_has_its_own_icmp),
		UNIT(test_gre),
		UNIT(test_unknown_protocols_are_never_invalid),
		UNIT(test_reasons_have_names),
	};

	return cmocka_run_group_tests(tests, fx_group, NULL);
}
