/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules that broke other importers, each with the outcome that is right: that of iptables 1.8.9 where
 * it has one. The letters and numbers in the names are those under which we collect such reports.
 */
#include "config/ipt.h"
#include "tests/config/rules_rig.h"

#include <rte_mbuf.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TCP(sport, dport)                                            \
	"45000028 00010000 4006 0000 0a000001 0a000101 " sport dport \
	"00000007 00000000 5002 0064 "                               \
	"0000 0000"
#define ICMP(type) "4500001c 00010000 4001 0000 0a000001 0a000101 " type "00 0000 00000000"

static struct ipt_ruleset *load(
		const char *text, size_t len, bool counters, struct ipt_errors *errors)
{
	const struct ipt_load args = { .path = "rules",
		.text = text,
		.text_len = len,
		.family = IPT_V4,
		.counters = counters };
	struct ipt_ruleset *rs = NULL;

	return ipt_load(&args, &rs, errors) < 0 ? NULL : rs;
}

/* refused at that line, with these words; and nothing of it was taken */
static void refused(const char *text, unsigned int line, const char *words)
{
	struct ipt_errors errors;
	struct ipt_ruleset *rs = load(text, strlen(text), false, &errors);
	char place[32];

	snprintf(place, sizeof(place), "rules:%u: ", line);
	if (rs != NULL)
		fail_msg("was taken: %s", text);
	assert_true(errors.n > 0);
	if (strncmp(errors.v[0].text, place, strlen(place)) != 0
			|| strstr(errors.v[0].text, words) == NULL)
		fail_msg("\"%s\", not at line %u for %s", errors.v[0].text, line, words);
	ipt_errors_free(&errors);
}

/* what iptables-save says of a text. Return: for free() */
static char *saved(const char *text, bool counters)
{
	struct ipt_errors errors;
	struct ipt_ruleset *rs = load(text, strlen(text), counters, &errors);
	char *out = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&out, &len);

	if (rs == NULL)
		fail_msg("%s", errors.n > 0 ? errors.v[0].text : "?");
	assert_non_null(f);
	assert_int_equal(ipt_print(f, rs, NULL, counters), 0);
	fclose(f);
	ipt_errors_free(&errors);
	ipt_ruleset_free(rs);
	return out;
}

static void becomes(const char *text, const char *line)
{
	char *out = saved(text, false), *again;

	if (strstr(out, line) == NULL)
		fail_msg("no line\n%sin\n%s", line, out);
	again = saved(out, false);
	assert_string_equal(again, out);
	free(again);
	free(out);
}

#define FORWARD(rule) "*filter\n:FORWARD ACCEPT [0:0]\n-A FORWARD " rule "\nCOMMIT\n"

/* whether the packet passes the FORWARD chain of the filter table */
static bool passes(const char *text, const char *hex)
{
	struct ipt_ruleset *rs = rig_load(IPT_V4, text);
	struct ipt_prog *prog = rig_compile(rs, NULL);
	struct rte_mbuf *m = rig_packet(hex);
	bool passed = ipt_prog_run(prog, IPT_FILTER, IPT_FORWARD, rig->workers[0], &m, 1) == 1;

	if (passed)
		rte_pktmbuf_free(m);
	ipt_prog_free(prog);
	ipt_ruleset_free(rs);
	return passed;
}

static bool matches(const char *match, const char *hex)
{
	char text[512];

	snprintf(text, sizeof(text),
			"*filter\n:FORWARD DROP [0:0]\n-A FORWARD %s -j ACCEPT\nCOMMIT\n", match);
	return passes(text, hex);
}

/* I01: quotes, backslashes, `#` and `-A` inside a comment are data; a chain may end in -ADMIN */
static void test_i01_quotes_in_a_comment(void **state)
{
	static const char comment[] =
			"-m comment --comment \"it\\'s a \\\"quoted\\\" back\\\\slash -A FORWARD -j "
			"ACCEPT #x\"";
	char text[512], line[512];
	struct ipt_ruleset *rs;

	(void)state;
	snprintf(text, sizeof(text),
			"*filter\n:FORWARD ACCEPT [0:0]\n:NOMAD-ADMIN - [0:0]\n"
			"-A NOMAD-ADMIN %s -j ACCEPT\nCOMMIT\n",
			comment);
	snprintf(line, sizeof(line), "-A NOMAD-ADMIN %s -j ACCEPT\n", comment);
	becomes(text, line);
	rs = rig_load(IPT_V4, text);
	assert_int_equal(rs->n_rules, 1);
	ipt_ruleset_free(rs);
}

/* I02: an apostrophe is escaped when written and not when read */
static void test_i02_apostrophe(void **state)
{
	(void)state;
	becomes(FORWARD("-m comment --comment \"don't\""),
			"-A FORWARD -m comment --comment \"don\\'t\"\n");
}

/* I03: single quotes quote nothing */
static void test_i03_single_quotes(void **state)
{
	(void)state;
	refused(FORWARD("-m comment --comment 'single q'"), 3, "q'");
}

/* I04: comments with blanks, and without quotes but with hyphens */
static void test_i04_whole_comment(void **state)
{
	(void)state;
	becomes(FORWARD("-m comment --comment \"allow web in\""),
			"-m comment --comment \"allow web in\"\n");
	becomes(FORWARD("-m comment --comment 101-a-b-c"), "-m comment --comment 101-a-b-c\n");
}

/* I06: a remark on its own line is none of ours; one spliced into a rule is an error */
static void test_i06_warning_line(void **state)
{
#define WARNING "# Warning: iptables-legacy tables present, use iptables-legacy-save to see them\n"
	(void)state;
	becomes(WARNING "*filter\n:FORWARD ACCEPT [0:0]\n-A FORWARD -j DROP\nCOMMIT\n" WARNING,
			"-A FORWARD -j DROP\n");
	refused("*filter\n:FORWARD ACCEPT [0:0]\n-A FORWARD -m comment --comment \"half a " WARNING
		" one\" -j DROP\nCOMMIT\n",
			3, "quote");
}

/* I07: heads of all save programs are remarks */
static void test_i07_heads(void **state)
{
	(void)state;
	becomes("# Generated by xtables-save v1.8.2 on Mon Jan  1 00:00:00 2024\n" FORWARD(
				"-j DROP"),
			"-A FORWARD -j DROP\n");
	becomes("# Generated by iptables-save v1.8.9 (nf_tables) on Mon Jan  1 00:00:00 2024\n" FORWARD(
				"-j DROP"),
			"-A FORWARD -j DROP\n");
}

/* I08, I09: COMMIT is missing, or there is one too many: nothing is applied */
static void test_i08_i09_commit(void **state)
{
	(void)state;
	refused("*filter\n-A FORWARD -j DROP\n", 3, "COMMIT");
	refused("*filter\n-A FORWARD -j DROP\nCOMMIT\nCOMMIT\n", 4, "COMMIT");
}

/* I11: counters of chains may be missing */
static void test_i11_no_counters(void **state)
{
	char *out = saved("*filter\n:FORWARD DROP\n:UC -\nCOMMIT\n", true);

	(void)state;
	assert_non_null(strstr(out, ":FORWARD DROP [0:0]\n"));
	assert_non_null(strstr(out, ":UC - [0:0]\n"));
	free(out);
}

/* I12: kept in full where they are asked for, else zero */
static void test_i12_counters(void **state)
{
	static const char text[] = "*filter\n:FORWARD DROP [5:500]\n"
				   "[18446744073709551615:12] -A FORWARD -p tcp\nCOMMIT\n";
	char *out = saved(text, true);

	(void)state;
	assert_non_null(strstr(out, ":FORWARD DROP [5:500]\n"));
	assert_non_null(strstr(out, "[18446744073709551615:12] -A FORWARD -p tcp\n"));
	free(out);
	becomes(text, ":FORWARD DROP [0:0]\n");
	becomes(text, "\n-A FORWARD -p tcp\n");
}

/* I13: negations in the new place, and in the old one, which iptables 1.8 no longer reads */
static void test_i13_negation(void **state)
{
	static const char rule[] = "-s 10.0.0.0/24 ! -d 10.0.0.0/24 ! -i eth0 ! -o br-+ -p tcp -m "
				   "multiport ! --dports 80,443,1000:2000";
	char text[512], line[512];

	(void)state;
	snprintf(text, sizeof(text), "*filter\n-A FORWARD %s\nCOMMIT\n", rule);
	snprintf(line, sizeof(line), "-A FORWARD %s\n", rule);
	becomes(text, line);
	/* old dumps hold it: it is read, and written in the new place */
	becomes(FORWARD("-d ! 10.0.0.0/24"), "-A FORWARD ! -d 10.0.0.0/24\n");
}

/* I14: --ports is source or destination; 15 of them at most */
static void test_i14_multiport(void **state)
{
	static const char match[] = "-p tcp -m multiport --ports 8080:8081,9";

	(void)state;
	assert_true(matches(match, TCP("1f90", "0001")));
	assert_true(matches(match, TCP("0002", "1f91")));
	assert_false(matches(match, TCP("0002", "1f92")));
	refused(FORWARD("-p tcp -m multiport --ports 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16"), 3,
			"15");
}

/* I15: goto returns to where the last jump came from: here to the policy */
static void test_i15_goto(void **state)
{
#define CALL(how)                                        \
	"*filter\n:FORWARD DROP [0:0]\n:UC - [0:0]\n"    \
	"-A FORWARD -" how " UC\n-A FORWARD -j ACCEPT\n" \
	"-A UC -j RETURN\nCOMMIT\n"
	(void)state;
	assert_false(passes(CALL("g"), TCP("0001", "0002")));
	assert_true(passes(CALL("j"), TCP("0001", "0002")));
}

/* I16: a chain without rules is fallen through */
static void test_i16_empty_chain(void **state)
{
	(void)state;
	assert_true(passes("*filter\n:FORWARD DROP [0:0]\n:UC - [0:0]\n-A FORWARD -j UC\n"
			   "-A FORWARD -j ACCEPT\nCOMMIT\n",
			TCP("0001", "0002")));
}

/* I18: chains that are not there, and that call themselves */
static void test_i18_bad_jumps(void **state)
{
	(void)state;
	refused(FORWARD("-j NOPE"), 3, "NOPE");
	refused("*filter\n:A1 - [0:0]\n:B1 - [0:0]\n-A FORWARD -j A1\n-A A1 -j B1\n-A B1 -j A1\n"
		"COMMIT\n",
			6, "loop");
}

/* I19: two sets are two matches, in their order */
static void test_i19_two_sets(void **state)
{
	static const char rule[] = "-A FORWARD -m set --match-set usr src -m set ! --match-set ign "
				   "dst -j ACCEPT\n";
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), "*filter\n%sCOMMIT\n", rule);
	becomes(text, rule);
}

static int no_set(void *arg, const char *name, enum ipt_family family)
{
	(void)arg, (void)name, (void)family;
	return -ENOENT;
}

/* I20: a set that is not there is named with its line */
static void test_i20_missing_set(void **state)
{
	static const char text[] = FORWARD("-m set --match-set nosuch src -j DROP");
	const struct ipt_load args = { .path = "rules",
		.text = text,
		.text_len = sizeof(text) - 1,
		.family = IPT_V4,
		.set = no_set };
	struct ipt_ruleset *rs = NULL;
	struct ipt_errors errors;

	(void)state;
	assert_true(ipt_load(&args, &rs, &errors) < 0);
	assert_int_equal(errors.n, 1);
	assert_int_equal(errors.v[0].line, 3);
	assert_non_null(strstr(errors.v[0].text, "nosuch"));
	ipt_errors_free(&errors);
}

/* I21: a rule is never taken with fewer matches than it has */
static void test_i21_unknown_match(void **state)
{
	(void)state;
	refused(FORWARD("-p tcp -m frobnicate --level 3 -j DROP"), 3, "frobnicate");
	refused(FORWARD("-m mark --mark 0x1 --new-encoding 5 -j DROP"), 3, "new-encoding");
}

/* I23: 255 is any type */
static void test_i23_any_icmp(void **state)
{
	static const char *const all[] = { "255", "255/255", "any" };

	(void)state;
	for (size_t i = 0; i < RTE_DIM(all); i++) {
		char match[64], text[256];

		snprintf(match, sizeof(match), "-p icmp -m icmp --icmp-type %s", all[i]);
		snprintf(text, sizeof(text), "*filter\n-A FORWARD %s\nCOMMIT\n", match);
		becomes(text, "-A FORWARD -p icmp -m icmp --icmp-type any\n");
		assert_true(matches(match, ICMP("08")));
		assert_true(matches(match, ICMP("0b")));
		assert_true(matches(match, ICMP("ff")));
	}
	assert_false(matches("-p icmp -m icmp ! --icmp-type 8", ICMP("08")));
	assert_true(matches("-p icmp -m icmp ! --icmp-type 8", ICMP("0b")));
}

/* I24: names for numbers, and the long form of --syn */
static void test_i24_protocol_names(void **state)
{
	(void)state;
	becomes(FORWARD("-p 51"), "-A FORWARD -p ah\n");
	becomes(FORWARD("-p ah"), "-A FORWARD -p ah\n");
	becomes(FORWARD("-f"), "-A FORWARD -f\n");
	becomes(FORWARD("! -f"), "-A FORWARD ! -f\n");
	becomes(FORWARD("-p tcp ! --syn"),
			"-A FORWARD -p tcp -m tcp ! --tcp-flags FIN,SYN,RST,ACK SYN\n");
	becomes(FORWARD("-p tcp --tcp-flags ALL NONE"),
			"-A FORWARD -p tcp -m tcp --tcp-flags FIN,SYN,RST,PSH,ACK,URG NONE\n");
}

/* I25: the line, its text and the reason, however long the file is */
static void test_i25_one_bad_line_of_many(void **state)
{
	static const unsigned int lines = 45000, bad = 42189;
	struct ipt_ruleset *rs = NULL;
	struct ipt_errors errors;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	assert_non_null(f);
	fprintf(f, "*filter\n");
	for (unsigned int i = 2; i < lines; i++) {
		if (i == bad)
			fprintf(f, "-A FORWARD -s 10.0.0.0/33 -j DROP\n");
		else
			fprintf(f, "-A FORWARD -s 10.%u.%u.%u/32 -j DROP\n", i >> 16 & 255,
					i >> 8 & 255, i & 255);
	}
	fprintf(f, "COMMIT\n");
	fclose(f);
	rs = load(text, len, false, &errors);
	assert_null(rs);
	assert_int_equal(errors.n, 1);
	assert_int_equal(errors.v[0].line, bad);
	assert_non_null(strstr(errors.v[0].text, "rules:42189: "));
	assert_non_null(strstr(errors.v[0].text, "33"));
	ipt_errors_free(&errors);
	free(text);
}

/* I26: the JSON of nft is no iptables-save: it is refused, and not read as an empty ruleset */
static void test_i26_json_of_nft(void **state)
{
	(void)state;
	refused("{\"masquerade\":{\"port\":{\"range\":[1024,65535]}}}\n", 1, "");
	refused("{\"rule\":{\"family\":\"ip\",\"table\":\"nat\",\"chain\":\"POSTROUTING\"}}\n", 1,
			"");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test(test_##name)
		T(i01_quotes_in_a_comment),
		T(i02_apostrophe),
		T(i03_single_quotes),
		T(i04_whole_comment),
		T(i06_warning_line),
		T(i07_heads),
		T(i08_i09_commit),
		T(i11_no_counters),
		T(i12_counters),
		T(i13_negation),
		T(i14_multiport),
		T(i15_goto),
		T(i16_empty_chain),
		T(i18_bad_jumps),
		T(i19_two_sets),
		T(i20_missing_set),
		T(i21_unknown_match),
		T(i23_any_icmp),
		T(i24_protocol_names),
		T(i25_one_bad_line_of_many),
		T(i26_json_of_nft),
#undef T
	};

	return cmocka_run_group_tests(tests, rig_start, rig_stop);
}
