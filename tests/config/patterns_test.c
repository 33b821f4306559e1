/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The match regex, and how the patterns of a table are searched for: how often Hyperscan is asked, and
 * what becomes of patterns and packets that it cannot be asked about. Its calls are wrapped.
 */
#include "app/sluice/extensions.h"
#include "config/ipt.h"
#include "lib/ip.h"
#include "tests/config/rules_rig.h"

#include <hs.h>
#include <rte_mbuf.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* IPv4 and UDP headers are 28 bytes; with the Ethernet header 42 */
#define IP_BYTES 28
#define ETH_BYTES 14

static struct ipt_ruleset *rs;
static struct ipt_prog *prog;
static char notes[8192];
static unsigned int scans, stopped;
static int fail_at; /* an index of hs_compile_multi(), -1: all; -2: it does not fail */

/* names that the linker makes: NOLINTBEGIN(bugprone-reserved-identifier) */
hs_error_t __real_hs_scan(const hs_database_t *db, const char *data, unsigned int length,
		unsigned int flags, hs_scratch_t *scratch, match_event_handler on_event, void *ctx);
hs_error_t __wrap_hs_scan(const hs_database_t *db, const char *data, unsigned int length,
		unsigned int flags, hs_scratch_t *scratch, match_event_handler on_event, void *ctx);
hs_error_t __real_hs_compile_multi(const char *const *expressions, const unsigned int *flags,
		const unsigned int *ids, unsigned int elements, unsigned int mode,
		const hs_platform_info_t *platform, hs_database_t **db, hs_compile_error_t **error);
hs_error_t __wrap_hs_compile_multi(const char *const *expressions, const unsigned int *flags,
		const unsigned int *ids, unsigned int elements, unsigned int mode,
		const hs_platform_info_t *platform, hs_database_t **db, hs_compile_error_t **error);

hs_error_t __wrap_hs_scan(const hs_database_t *db, const char *data, unsigned int length,
		unsigned int flags, hs_scratch_t *scratch, match_event_handler on_event, void *ctx)
{
	hs_error_t ret = __real_hs_scan(db, data, length, flags, scratch, on_event, ctx);

	scans++;
	stopped += ret == HS_SCAN_TERMINATED;
	return ret;
}

hs_error_t __wrap_hs_compile_multi(const char *const *expressions, const unsigned int *flags,
		const unsigned int *ids, unsigned int elements, unsigned int mode,
		const hs_platform_info_t *platform, hs_database_t **db, hs_compile_error_t **error)
{
	hs_compile_error_t *e;

	if (fail_at == -2)
		return __real_hs_compile_multi(
				expressions, flags, ids, elements, mode, platform, db, error);
	e = malloc(sizeof(*e));
	assert_non_null(e);
	e->message = strdup("too hard");
	e->expression = fail_at;
	fail_at = -2;
	*error = e;
	return HS_COMPILER_ERROR;
}

/* NOLINTEND(bugprone-reserved-identifier) */

static void take_note(void *arg, uint32_t line, const char *text)
{
	size_t n = strlen(notes);

	(void)arg;
	snprintf(notes + n, sizeof(notes) - n, "%u: %s\n", line, text);
}

/* in lines: the first rule's is 3 */
static void open_rules(const char *rules)
{
	char text[8192];
	struct ipt_prog_spec spec = { .r = rig, .exts = &sl_extensions, .note = take_note };
	struct ipt_prog_error err;

	snprintf(text, sizeof(text), "*mangle\n:FORWARD ACCEPT [0:0]\n%sCOMMIT\n", rules);
	rs = rig_load(IPT_V4, text);
	spec.rs = rs;
	notes[0] = '\0';
	if (ipt_prog_create(&spec, &prog, &err) < 0)
		fail_msg("line %u: %s", err.line, err.text);
	scans = stopped = 0;
}

static void close_rules(void)
{
	ipt_prog_free(prog);
	ipt_ruleset_free(rs);
	fail_at = -2;
}

/* a UDP packet with this payload goes through the rules. Return: its mark */
static uint32_t mark_of(const char *payload, size_t len, bool split, bool plain)
{
	static uint8_t frame[9000];
	const uint8_t ip[] = { 0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 1, 1, 4,
		0, 0, 9 };
	size_t n = ETH_BYTES + IP_BYTES + len;
	struct rte_mbuf *m;
	uint64_t accepted;
	uint32_t mark;

	memset(frame, 0, ETH_BYTES + IP_BYTES);
	memcpy(frame + ETH_BYTES, ip, sizeof(ip));
	frame[ETH_BYTES + 2] = (uint8_t)((IP_BYTES + len) >> 8);
	frame[ETH_BYTES + 3] = (uint8_t)(IP_BYTES + len);
	frame[ETH_BYTES + 24] = (uint8_t)((8 + len) >> 8);
	frame[ETH_BYTES + 25] = (uint8_t)(8 + len);
	memcpy(frame + ETH_BYTES + IP_BYTES, payload, len);
	m = rig_frame(frame, n, split);
	if (plain)
		accepted = ipt_prog_run_plain(
				prog, IPT_MANGLE, IPT_FORWARD, rig->workers[0], &m, 1);
	else
		accepted = ipt_prog_run(prog, IPT_MANGLE, IPT_FORWARD, rig->workers[0], &m, 1);
	assert_int_equal(accepted, 1);
	mark = sl_pkt(m)->mark;
	rte_pktmbuf_free(m);
	return mark;
}

static uint32_t mark(const char *payload)
{
	return mark_of(payload, strlen(payload), false, false);
}

static void test_regex_when_searched_for_holds_in_its_bytes(void **state)
{
	static const struct {
		const char *match, *payload;
		bool holds;
	} cases[] = {
		{ "--regex b+", "abbc", true },
		{ "--regex b+", "acc", false },
		{ "! --regex b+", "acc", true },
		{ "! --regex b+", "abbc", false },
		{ "--regex \"GET /[a-z]+\\\\.php\"", "GET /index.php HTTP", true },
		{ "--regex \"GET /[a-z]+\\\\.php\"", "GET /index-php HTTP", false },
		{ "--regex get", "GET /", false },
		{ "--regex get --icase", "GET /", true },
		{ "--regex \"(?i)get\"", "GET /", true },
		/* ^ and $ are the ends of the bytes that are named; the packet's without */
		{ "--regex ^GET --from 28", "GET /", true },
		{ "--regex ^GET --from 29", "GET /", false },
		{ "--regex ^GET", "GET /", false },
		{ "--regex ^E", "", true },
		{ "--regex c$", "abc", true },
		{ "--regex c$", "abcd", false },
		{ "--regex c$ --to 31", "abcd", true },
		/* it has to lie in them as a whole */
		{ "--regex bcd --from 29 --to 32", "abcde", true },
		{ "--regex bcd --from 30", "abcde", false },
		{ "--regex bcd --to 31", "abcde", false },
		{ "--regex a+ --from 30 --to 31", "aaaaaa", true },
		{ "--regex a.*e --from 28 --to 32", "abcde", false },
		{ "--regex a.*e --from 28 --to 33", "abcde", true },
		/* no bytes are there */
		{ "--regex a --from 100", "aaa", false },
		{ "! --regex a --from 100", "aaa", true },
		{ "--regex \"a.b\"", "a\nb", true },
		{ "--regex \"a\\\\xffb\"",
				"a\xff"
				"b",
				true },
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		size_t len = strlen(cases[i].payload);
		char rules[256];

		snprintf(rules, sizeof(rules), "-A FORWARD -m regex %s -j MARK --set-mark 1\n",
				cases[i].match);
		open_rules(rules);
		for (unsigned int k = 0; k < 4; k++)
			if (mark_of(cases[i].payload, len, k & 1, k & 2) != cases[i].holds)
				fail_msg("%s in \"%s\" (%u)", cases[i].match, cases[i].payload, k);
		close_rules();
	}
}

static void test_regex_when_over_two_buffers_is_found(void **state)
{
	static char payload[3000];

	(void)state;
	memset(payload, '.', sizeof(payload));
	/* rig_frame() cuts more than 2,000 bytes into pieces of less than 900 */
	memset(payload + 100, 'x', 1900);
	open_rules("-A FORWARD -m regex --regex \\.x{1900}\\. -j MARK --or-mark 1\n"
		   "-A FORWARD -m regex --regex x{1901} -j MARK --or-mark 2\n");
	assert_int_equal(mark_of(payload, sizeof(payload), true, false), 1);
	assert_int_equal(mark_of(payload, sizeof(payload), true, true), 1);
	close_rules();
}

static void test_packet_when_many_rules_ask_is_scanned_once(void **state)
{
	(void)state;
	open_rules("-A FORWARD -m string --string one --algo bm -j MARK --or-mark 1\n"
		   "-A FORWARD -m string --string two --algo bm --from 30 -j MARK --or-mark 2\n"
		   "-A FORWARD -m string ! --string three --algo bm -j MARK --or-mark 4\n"
		   "-A FORWARD -m string --string TWO --algo bm --icase --to 40 -j MARK --or-mark 8\n"
		   "-A FORWARD -m regex --regex t.o -m string --string one --algo kmp -j MARK "
		   "--or-mark 16\n");
	assert_int_equal(mark("one two"), 1 | 2 | 4 | 8 | 16);
	assert_int_equal(scans, 1);
	assert_int_equal(mark("nothing"), 4);
	assert_int_equal(scans, 2);
	assert_non_null(strstr(notes,
			"0: table mangle: 6 of 6 patterns are searched for together, "
			"by 1 Hyperscan database\n"));
	close_rules();
}

static void test_packet_when_no_rule_asks_is_not_scanned(void **state)
{
	(void)state;
	open_rules("-A FORWARD -p tcp -m string --string one --algo bm -j MARK --or-mark 1\n"
		   "-A FORWARD -p udp -m udp --dport 7 -m regex --regex t.o -j MARK --or-mark 2\n");
	assert_int_equal(mark("one two"), 0);
	assert_int_equal(scans, 0);
	close_rules();
}

/* the TTL is 64, 0x40, at byte 8 */
static void test_packet_when_a_target_writes_into_it_is_scanned_anew(void **state)
{
	(void)state;
	open_rules("-A FORWARD -m string --hex-string \"|05|\" --algo bm --from 8 --to 9 "
		   "-j MARK --or-mark 1\n"
		   "-A FORWARD -m string --hex-string \"|40|\" --algo bm --from 8 --to 9 "
		   "-j MARK --or-mark 2\n"
		   "-A FORWARD -j TTL --ttl-set 5\n"
		   "-A FORWARD -m string --hex-string \"|05|\" --algo bm --from 8 --to 9 "
		   "-j MARK --or-mark 4\n"
		   "-A FORWARD -m string --hex-string \"|40|\" --algo bm --from 8 --to 9 "
		   "-j MARK --or-mark 8\n");
	assert_int_equal(mark("x"), 2 | 4);
	/* MARK leaves what is known; TTL does not */
	assert_int_equal(scans, 2);
	close_rules();
}

static void test_patterns_when_far_apart_have_passes_of_their_own(void **state)
{
	(void)state;
	open_rules("-A FORWARD -m string --string a --algo bm --from 28 --to 40 -j MARK --or-mark 1\n"
		   "-A FORWARD -m string --string b --algo bm --from 900 --to 990 -j MARK "
		   "--or-mark 2\n"
		   "-A FORWARD -m string --string c --algo bm --from 200 --to 240 -j MARK "
		   "--or-mark 4\n");
	assert_non_null(strstr(notes,
			"3 of 3 patterns are searched for together, by 2 Hyperscan "
			"databases\n"));
	assert_int_equal(mark("a"), 1);
	close_rules();
}

/* reports at every byte end the pass, and answers stay as they are */
static void test_packet_when_it_brings_many_reports_is_searched_one_by_one(void **state)
{
	static char payload[1400];

	(void)state;
	memset(payload, 'a', sizeof(payload));
	open_rules("-A FORWARD -m string --string aa --algo bm --from 1000 -j MARK --or-mark 1\n"
		   "-A FORWARD -m string --string aaa --algo bm --from 1001 --to 1003 -j MARK "
		   "--or-mark 2\n"
		   "-A FORWARD -m string --string aaab --algo bm -j MARK --or-mark 4\n"
		   "-A FORWARD -m string --string aaa --algo bm --from 1001 --to 1004 -j MARK "
		   "--or-mark 8\n"
		   "-A FORWARD -m regex --regex ^E.*a{1000}$ -j MARK --or-mark 16\n");
	assert_int_equal(mark_of(payload, sizeof(payload), false, false), 1 | 8 | 16);
	/* the pass for all, and the one for the expression by itself */
	assert_int_equal(scans, 2);
	assert_int_equal(stopped, 2);
	assert_int_equal(mark("aaaab"), 4);
	assert_int_equal(scans, 3);
	close_rules();
}

static const char *const three = "-A FORWARD -m string --string one --algo bm -j MARK --or-mark 1\n"
				 "-A FORWARD -m regex --regex t.o -j MARK --or-mark 2\n"
				 "-A FORWARD -m string --string three --algo bm -j MARK "
				 "--or-mark 4\n";

static void test_pattern_when_hyperscan_cannot_hold_it_is_searched_by_itself(void **state)
{
	(void)state;
	for (fail_at = 0; fail_at < 3;) {
		int which = fail_at;
		char note[128];

		open_rules(three);
		snprintf(note, sizeof(note),
				"%d: %s: searched by itself, not together with others: too hard\n",
				3 + which, which == 1 ? "regex" : "string");
		assert_non_null(strstr(notes, note));
		assert_non_null(strstr(notes, "0: table mangle: 2 of 3 patterns"));
		assert_int_equal(mark("one three"), 1 | 4);
		assert_int_equal(mark("two"), 2);
		close_rules();
		fail_at = which + 1;
	}
	fail_at = -2;
}

static void test_patterns_when_hyperscan_holds_none_are_searched_one_by_one(void **state)
{
	(void)state;
	fail_at = -1;
	open_rules(three);
	assert_non_null(strstr(notes, "3: string: searched by itself"));
	assert_non_null(strstr(notes, "4: regex: searched by itself"));
	assert_non_null(strstr(notes, "5: string: searched by itself"));
	assert_non_null(strstr(notes, "0: table mangle: 0 of 3 patterns"));
	assert_int_equal(mark("two three"), 2 | 4);
	assert_int_equal(mark("one"), 1);
	close_rules();
}

static void test_patterns_when_too_many_stretches_are_named_some_are_searched_alone(void **state)
{
	char rules[4096] = "", *at = rules;

	(void)state;
	for (unsigned int i = 0; i < 40; i++)
		at += sprintf(at,
				"-A FORWARD -m regex --regex ^x --from %u -j MARK --set-mark %u\n",
				28 + i, i + 1);
	open_rules(rules);
	assert_non_null(strstr(notes, "0: table mangle: 32 of 40 patterns"));
	assert_null(strstr(notes, "34: regex: searched by itself"));
	assert_non_null(strstr(notes,
			"35: regex: searched by itself, not together with others: "
			"more than 32 stretches of a packet are named\n"));
	assert_int_equal(mark("x"), 1);
	assert_int_equal(mark("0123456789012345678901234567890x"), 32);
	assert_int_equal(mark("012345678901234567890123456789012345678x"), 40);
	close_rules();
}

static void test_regex_when_wrong_is_refused(void **state)
{
	static const struct {
		const char *match, *why;
	} cases[] = {
		{ "", "regex: --regex was expected" },
		{ "--regex \"\"", "--regex: empty, a string was expected" },
		{ "--regex \"(a\"",
				"--regex \"(a\": Missing close parenthesis for group started at "
				"index 0.; an expression for Hyperscan was expected" },
		{ "--regex a*",
				"--regex \"a*\": it matches an empty text, so it is in every packet; one "
				"that needs a byte was expected" },
		{ "--regex \"(a)\\\\1\"", "Back-references are unsupported." },
		{ "--regex \"(?=a)b\"", "Zero-width assertions are not supported" },
		{ "--regex ^$", "it matches an empty text" },
		{ "--regex [z-a]", "Range out of order in character class" },
		{ "--regex a --from 5 --to 5", "--from 5 --to 5: no byte is between them" },
		{ "--regex a --from 6 --to 5", "--from 6 --to 5: no byte is between them" },
		{ "--regex a --from 65536", "--from" },
		{ "--regex a --to x", "--to" },
		{ "--regex a --regex b", "regex" },
		{ "--regex a ! --icase", "icase" },
		{ "--regex a --algo bm", "--algo" },
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct ipt_load load = { .path = "f", .family = IPT_V4 };
		struct ipt_ruleset *none = NULL;
		struct ipt_errors errors;
		char text[512];

		snprintf(text, sizeof(text), "*filter\n-A FORWARD -m regex %s\nCOMMIT\n",
				cases[i].match);
		load.text = text;
		load.text_len = strlen(text);
		if (ipt_load(&load, &none, &errors) == 0)
			fail_msg("taken: %s", cases[i].match);
		assert_int_equal(errors.v[0].line, 2);
		if (strstr(errors.v[0].text, cases[i].why) == NULL)
			fail_msg("%s was refused: %s\nwanted: %s", cases[i].match, errors.v[0].text,
					cases[i].why);
		ipt_errors_free(&errors);
	}
}

static void test_regex_when_printed_is_read_again_as_it_was(void **state)
{
	static const char rule[] =
			"-A FORWARD -m regex ! --regex \"^GET \\\\x2f[\\\"a-z]+\" --from 28 "
			"--to 99 --icase -j ACCEPT\n";
	static const char plain[] = "-A FORWARD -m regex --regex abc\n";
	char text[512], *got = NULL;
	size_t size;
	FILE *f;

	(void)state;
	snprintf(text, sizeof(text),
			"*filter\n:FORWARD ACCEPT [0:0]\n%s-A FORWARD -m regex --to 65535 --from 0 "
			"--regex abc\nCOMMIT\n",
			rule);
	rs = rig_load(IPT_V4, text);
	f = open_memstream(&got, &size);
	assert_non_null(f);
	assert_int_equal(ipt_print(f, rs, NULL, false), 0);
	fclose(f);
	assert_non_null(strstr(got, rule));
	assert_non_null(strstr(got, plain));
	free(got);
	ipt_ruleset_free(rs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_regex_when_searched_for_holds_in_its_bytes),
		cmocka_unit_test(test_regex_when_over_two_buffers_is_found),
		cmocka_unit_test(test_packet_when_many_rules_ask_is_scanned_once),
		cmocka_unit_test(test_packet_when_no_rule_asks_is_not_scanned),
		cmocka_unit_test(test_packet_when_a_target_writes_into_it_is_scanned_anew),
		cmocka_unit_test(test_patterns_when_far_apart_have_passes_of_their_own),
		cmocka_unit_test(test_packet_when_it_brings_many_reports_is_searched_one_by_one),
		cmocka_unit_test(test_pattern_when_hyperscan_cannot_hold_it_is_searched_by_itself),
		cmocka_unit_test(test_patterns_when_hyperscan_holds_none_are_searched_one_by_one),
		cmocka_unit_test(
				test_patterns_when_too_many_stretches_are_named_some_are_searched_alone),
		cmocka_unit_test(test_regex_when_wrong_is_refused),
		cmocka_unit_test(test_regex_when_printed_is_read_again_as_it_was),
	};

	fail_at = -2;
	return cmocka_run_group_tests(tests, rig_start, rig_stop);
}
