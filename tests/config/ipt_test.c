/* SPDX-License-Identifier: BSD-3-Clause */
/* The reader and printer of iptables-save text: forms, and what has to be refused. */
#include "config/ipset.h"
#include "config/ipt.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int load(const char *text, enum ipt_family family, struct ipt_ruleset **rs,
		struct ipt_errors *errors)
{
	struct ipt_load args = { .path = "f",
		.text = text,
		.text_len = strlen(text),
		.family = family,
		.counters = true };

	return ipt_load(&args, rs, errors);
}

/* The text as it is printed; free() it. */
static char *print(const struct ipt_ruleset *rs)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_int_equal(ipt_print(f, rs, NULL, true), 0);
	fclose(f);
	return text;
}

/* One rule in table filter, chain FORWARD, becomes this one. */
static void becomes(const char *rule, const char *want)
{
	char text[4096], line[4096], *got;
	struct ipt_ruleset *rs;
	struct ipt_errors errors;

	snprintf(text, sizeof(text), "*filter\n:U - [0:0]\n-A FORWARD %s\nCOMMIT\n", rule);
	snprintf(line, sizeof(line), "\n[0:0] -A FORWARD%s%s\n", *want != '\0' ? " " : "", want);
	if (load(text, IPT_V4, &rs, &errors) < 0)
		fail_msg("%s: %s", rule, errors.v[0].text);
	got = print(rs);
	if (strstr(got, line) == NULL)
		fail_msg("%s became\n%swanted%s", rule, got, line);
	free(got);
	ipt_ruleset_free(rs);
}

/* The text is refused at that line, with those words in the reason. */
static void refused(const char *text, uint32_t line, const char *words)
{
	struct ipt_ruleset *rs = NULL;
	struct ipt_errors errors;

	if (load(text, IPT_V4, &rs, &errors) == 0)
		fail_msg("taken: %s", text);
	assert_null(rs);
	assert_true(errors.n > 0);
	assert_int_equal(errors.v[0].line, line);
	if (strstr(errors.v[0].text, words) == NULL)
		fail_msg("%s\nwas refused: %s\nwanted: %s", text, errors.v[0].text, words);
	ipt_errors_free(&errors);
}

static void rule_refused(const char *rule, const char *words)
{
	char text[4096];

	snprintf(text, sizeof(text), "*filter\n:U - [0:0]\n%s\nCOMMIT\n", rule);
	refused(text, 3, words);
}

static void test_words_when_quoted_then_as_iptables(void **state)
{
	(void)state;
	becomes("-m comment --comment \"it\\'s a \\\"quoted\\\" back\\\\slash -A FORWARD -j ACCEPT #x\" -j ACCEPT",
			"-m comment --comment \"it\\'s a \\\"quoted\\\" back\\\\slash -A FORWARD -j ACCEPT #x\" -j "
			"ACCEPT");
	becomes("-m comment --comment 101-a-b-c", "-m comment --comment 101-a-b-c");
	becomes("-m comment --comment a\\b", "-m comment --comment \"a\\\\b\"");
	becomes("-m comment --comment \"\"", "-m comment --comment \"\"");
	rule_refused("-A FORWARD -m comment --comment 'single q'", "q'");
	rule_refused("-A FORWARD -m comment --comment \"open -j ACCEPT", "quote");
	rule_refused("-A FORWARD -m comment --comment a\"b c\"d", "bad argument \"d\"");
	rule_refused("-A FORWARD -j ACCEPT #x", "#x");
}

static void test_negation_when_old_place_then_taken_where_it_can_be(void **state)
{
	(void)state;
	becomes("-s 10.0.0.0/24 ! -d 10.0.0.0/24 ! -i eth0 ! -o br-+ -p tcp -m multiport ! --dports "
		"80,443,1000:2000",
			"-s 10.0.0.0/24 ! -d 10.0.0.0/24 ! -i eth0 ! -o br-+ -p tcp -m multiport ! --dports "
			"80,443,1000:2000");
	becomes("-d ! 10.0.0.0/24", "! -d 10.0.0.0/24");
	becomes("-p tcp --dport ! 80", "-p tcp -m tcp ! --dport 80");
	rule_refused("-A FORWARD -j ! ACCEPT", "!");
	rule_refused("-A FORWARD ! -j ACCEPT", "!");
	rule_refused("-A FORWARD ! ! -s 1.2.3.4", "!");
	rule_refused("-A FORWARD -s 1.2.3.4 !", "!");
	rule_refused("-A FORWARD -m limit ! --limit 5/s", "!");
}

static void test_addresses_when_written_short_then_canonical(void **state)
{
	(void)state;
	becomes("-s 10.1/16", "-s 10.1.0.0/16");
	becomes("-s 10.0.0.77/255.255.255.0", "-s 10.0.0.0/24");
	becomes("-s 10.0.0.1/255.0.255.0", "-s 10.0.0.0/255.0.255.0");
	becomes("-s 1.2.3.4/0", "");
	becomes("! -s 1.2.3.4/0", "! -s 0.0.0.0/0");
	rule_refused("-A FORWARD -s www.example.org", "names are not looked up");
	rule_refused("-A FORWARD -s fd00::1", "other family");
	rule_refused("-A FORWARD -s 1.2.3.4/33", "mask");
	rule_refused("-A FORWARD ! -s 1.2.3.4,1.2.3.5", "more than one");
}

static void test_addresses_when_a_list_then_each_pair_source_first(void **state)
{
	struct ipt_ruleset *rs;
	struct ipt_errors errors;
	char *got;

	(void)state;
	assert_int_equal(load("*raw\n-A OUTPUT -s 1.1.1.1,2.2.2.2 -d 3.3.3.3,4.4.4.4\nCOMMIT\n",
					 IPT_V4, &rs, &errors),
			0);
	got = print(rs);
	assert_string_equal(got,
			"*raw\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n"
			"[0:0] -A OUTPUT -s 1.1.1.1/32 -d 3.3.3.3/32\n"
			"[0:0] -A OUTPUT -s 1.1.1.1/32 -d 4.4.4.4/32\n"
			"[0:0] -A OUTPUT -s 2.2.2.2/32 -d 3.3.3.3/32\n"
			"[0:0] -A OUTPUT -s 2.2.2.2/32 -d 4.4.4.4/32\nCOMMIT\n");
	free(got);
	ipt_ruleset_free(rs);
}

static void test_protocol_when_number_then_by_name(void **state)
{
	(void)state;
	becomes("-p 51", "-p ah");
	becomes("-p TCP ! --syn", "-p tcp -m tcp ! --tcp-flags FIN,SYN,RST,ACK SYN");
	becomes("-p tcp --tcp-flags ALL NONE",
			"-p tcp -m tcp --tcp-flags FIN,SYN,RST,PSH,ACK,URG NONE");
	becomes("-f", "-f");
	becomes("! -f", "! -f");
	becomes("-p icmp --icmp-type 255", "-p icmp -m icmp --icmp-type any");
	becomes("-p icmp --icmp-type 255/255", "-p icmp -m icmp --icmp-type any");
	becomes("-p icmp ! --icmp-type 8", "-p icmp -m icmp ! --icmp-type 8");
	rule_refused("-A FORWARD -p 256", "protocol");
	rule_refused("-A FORWARD -p nosuch", "protocol");
	rule_refused("-A FORWARD ! -p all", "never matches");
	rule_refused("-A FORWARD -m tcp --dport 80", "needs -p tcp");
	rule_refused("-A FORWARD --dport 80 -p tcp", "unknown option");
}

static void test_options_when_cut_then_only_if_unique(void **state)
{
	(void)state;
	becomes("--sourc 1.2.3.4 --prot udp --dp 5", "-s 1.2.3.4/32 -p udp -m udp --dport 5");
	rule_refused("-A FORWARD --s 1.2.3.4", "more than one");
	rule_refused("-A FORWARD -p tcp --s 5", "more than one");
	rule_refused("-A FORWARD --nosuch", "unknown option");
}

static void test_hmark_when_tuple_then_masks(void **state)
{
	(void)state;
	becomes("-j HMARK --hmark-tuple src,dst,sport,dport --hmark-mod 4 --hmark-offset 100 --hmark-rnd "
		"0xfeedcafe",
			"-j HMARK --hmark-src-prefix 32 --hmark-dst-prefix 32 --hmark-sport-mask 0xffff "
			"--hmark-dport-mask 0xffff --hmark-rnd 0xfeedcafe --hmark-mod 4 --hmark-offset 100");
	rule_refused("-A FORWARD -j HMARK --hmark-tuple src --hmark-rnd 3 --hmark-mod 0",
			"hmark-mod");
	rule_refused("-A FORWARD -j HMARK --hmark-tuple src --hmark-mod 3", "hmark-rnd");
}

/* What iptables-save prints so that the rule is lost: we print what reads back. */
static void test_print_when_iptables_loses_the_rule_then_we_do_not(void **state)
{
	(void)state;
	becomes("! -i +", "! -i +");
	becomes("-p tcp ! --sport 0:65535", "-p tcp -m tcp ! --sport 0:65535");
	becomes("-m conntrack --ctorigsrc 1.2.3.4/255.0.255.0",
			"-m conntrack --ctorigsrc 1.2.3.4/255.0.255.0");
	becomes("-m hashlimit --hashlimit-upto 600000b/s --hashlimit-burst 600000b --hashlimit-name a",
			"-m hashlimit --hashlimit-upto 600000b/s --hashlimit-burst 600000b --hashlimit-name a");
}

static void test_matches_when_two_sets_then_both_in_order(void **state)
{
	(void)state;
	becomes("-m set --match-set usr src -m set ! --match-set ign dst",
			"-m set --match-set usr src -m set ! --match-set ign dst");
}

static void test_file_when_malformed_then_refused_with_line(void **state)
{
	(void)state;
	refused("*filter\n-A INPUT -j ACCEPT\n", 3, "COMMIT");
	refused("*filter\nCOMMIT\nCOMMIT\n", 3, "COMMIT");
	refused("*filter\n*nat\nCOMMIT\n", 2, "COMMIT");
	refused("*filter\r\nCOMMIT\n", 1, "table");
	refused("*nosuch\nCOMMIT\n", 1, "table");
	refused("*filter \nCOMMIT\n", 1, "table");
	refused("-A INPUT\n", 1, "outside");
	refused("*filter\n   \nCOMMIT\n", 2, "command");
	refused("*filter\n #x\nCOMMIT\n", 2, "#x");
	refused("*filter\n:U - [0:0]\n:U - [0:0]\nCOMMIT\n", 3, "exists");
	refused("*filter\n:INPUT DROP\n:INPUT DROP\nCOMMIT\n", 3, "second");
	refused("*filter\n:INPUT REJECT\nCOMMIT\n", 2, "policy");
	refused("*filter\n:U DROP\nCOMMIT\n", 2, "policy");
	refused("*filter\n:ACCEPT -\nCOMMIT\n", 2, "named");
	refused("*filter\n:12345678901234567890123456789 -\nCOMMIT\n", 2, "28");
	refused("*filter\n-A NOPE\nCOMMIT\n", 2, "no chain");
	refused("*nat\n-A FORWARD\nCOMMIT\n", 2, "no chain");
	refused("*filter\n-A INPUT -j NOPE\nCOMMIT\n", 2, "NOPE");
	refused("*filter\n-A INPUT -j OUTPUT\nCOMMIT\n", 2, "built-in");
	refused("*filter\n-A INPUT -g ACCEPT\nCOMMIT\n", 2, "no such chain");
	refused("*filter\n[1:2 -A INPUT\nCOMMIT\n", 2, "packets:bytes");
	refused("*filter\n-A INPUT -m nosuch\nCOMMIT\n", 2, "nosuch");
	refused("*filter\n# Warning\n-A INPUT -m comment --comment \"a\n# b\"\nCOMMIT\n", 3,
			"quote");
}

static void test_loops_when_reached_then_refused(void **state)
{
	struct ipt_ruleset *rs;
	struct ipt_errors errors;

	(void)state;
	refused("*filter\n:A - \n:B - \n-A A -j B\n-A B -j A\n-A INPUT -j A\nCOMMIT\n", 5, "loop");
	refused("*filter\n:A - \n-A A -j A\n-A INPUT -j A\nCOMMIT\n", 3, "loop");
	/* behind a rule that ends the chain, and from no base chain */
	assert_int_equal(load("*filter\n:A - \n-A A -j DROP\n-A A -j A\n-A INPUT -j A\nCOMMIT\n",
					 IPT_V4, &rs, &errors),
			0);
	ipt_ruleset_free(rs);
	assert_int_equal(load("*filter\n:A - \n-A A -j A\nCOMMIT\n", IPT_V4, &rs, &errors), 0);
	ipt_ruleset_free(rs);
}

static void test_places_when_hook_is_wrong_then_refused(void **state)
{
	struct ipt_ruleset *rs;
	struct ipt_errors errors;

	(void)state;
	refused("*nat\n:A -\n-A A -j SNAT --to-source 1.2.3.4\n-A PREROUTING -j A\nCOMMIT\n", 3,
			"PREROUTING");
	refused("*filter\n-A INPUT -j TTL --ttl-set 4\nCOMMIT\n", 2, "table filter");
	refused("*mangle\n-A INPUT -j REJECT\nCOMMIT\n", 2, "table mangle");
	refused("*filter\n-A INPUT -j REJECT --reject-with tcp-reset\nCOMMIT\n", 2, "-p tcp");
	refused("*filter\n-A OUTPUT -m mac --mac-source 00:11:22:33:44:55\nCOMMIT\n", 2, "OUTPUT");
	refused("*filter\n-A INPUT -o eth0\nCOMMIT\n", 2, "-o");
	refused("*nat\n-A PREROUTING -j DROP\nCOMMIT\n", 2, "DROP");
	assert_int_equal(load("*nat\n:A -\n-A A -j SNAT --to-source 1.2.3.4\nCOMMIT\n", IPT_V4, &rs,
					 &errors),
			0);
	ipt_ruleset_free(rs);
}

static void test_limits_when_exceeded_then_refused(void **state)
{
	static char text[120000];

	(void)state;
	snprintf(text, sizeof(text), "*filter\n-A INPUT -m comment --comment %0100000d\nCOMMIT\n",
			0);
	refused(text, 2, "10239");
	snprintf(text, sizeof(text), "*filter\n-A INPUT -m comment --comment %01024d\nCOMMIT\n", 0);
	refused(text, 2, "1023");
	rule_refused("-A FORWARD -p tcp -m multiport --ports 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
			"15");
	rule_refused("-A FORWARD -m mark --mark 0x1ffffffff", "mark");
	rule_refused("-A FORWARD -m length --length 65536", "length");
	rule_refused("-A FORWARD -i 1234567890123456", "15");
}

static void count_line(void *arg, uint32_t line, const char *text, const char *why)
{
	unsigned int *n = arg;

	(void)line, (void)text;
	n[why != NULL]++;
}

static void test_file_when_it_holds_a_nul_then_refused(void **state)
{
	static const char text[] = "*filter\n-A INPUT -j ACC\0EPT\nCOMMIT\n";
	unsigned int n[2] = { 0 };
	struct ipt_load args = { .path = "f",
		.text = text,
		.text_len = sizeof(text) - 1,
		.line = count_line,
		.line_arg = n };
	struct ipt_ruleset *rs;
	struct ipt_errors errors;

	(void)state;
	assert_int_equal(ipt_load(&args, &rs, &errors), -EINVAL);
	assert_string_equal(errors.v[0].text, "f:2: NUL byte in the line");
	assert_int_equal(n[0], 2);
	assert_int_equal(n[1], 1);
	ipt_errors_free(&errors);
}

static void test_load_when_lines_are_wrong_then_each_is_told(void **state)
{
	static const char text[] =
			"# x\n*filter\n-A INPUT -m nosuch\n-A INPUT -j ACCEPT\n-A INPUT -s a.b\nCOMMIT";
	unsigned int n[2] = { 0 };
	struct ipt_load args = { .path = "f",
		.text = text,
		.text_len = strlen(text),
		.line = count_line,
		.line_arg = n };
	struct ipt_ruleset *rs;
	struct ipt_errors errors;

	(void)state;
	assert_int_equal(ipt_load(&args, &rs, &errors), -EINVAL);
	assert_int_equal(errors.total, 2);
	assert_int_equal(n[0], 3);
	assert_int_equal(n[1], 2);
	ipt_errors_free(&errors);
}

static void test_caps_when_missing_then_refused_by_name(void **state)
{
	static const char text[] = "*filter\n-A INPUT -m comment --comment a -j LOG\nCOMMIT\n";
	struct ipt_caps caps = { .match[IPT_M_COMMENT] = true };
	struct ipt_load args = {
		.path = "f", .text = text, .text_len = strlen(text), .caps = &caps
	};
	struct ipt_ruleset *rs;
	struct ipt_errors errors;

	(void)state;
	assert_int_equal(ipt_load(&args, &rs, &errors), -EINVAL);
	assert_string_equal(errors.v[0].text, "f:2: target \"LOG\" is not built into this sluice");
	ipt_errors_free(&errors);
}

static void test_counters_when_full_width_then_kept(void **state)
{
	struct ipt_ruleset *rs;
	struct ipt_errors errors;
	char *got;

	(void)state;
	assert_int_equal(load("*filter\n:FORWARD DROP [5:500]\n:UC -\n:INPUT DROP\n"
			      "[18446744073709551615:12] -A FORWARD -j UC\nCOMMIT\n",
					 IPT_V4, &rs, &errors),
			0);
	got = print(rs);
	assert_string_equal(got,
			"*filter\n:INPUT DROP [0:0]\n:FORWARD DROP [5:500]\n:OUTPUT ACCEPT [0:0]\n"
			":UC - [0:0]\n[18446744073709551615:12] -A FORWARD -j UC\nCOMMIT\n");
	free(got);
	ipt_ruleset_free(rs);
}

static void test_commands_when_in_a_file_then_carried_out(void **state)
{
	struct ipt_ruleset *rs;
	struct ipt_errors errors;
	char *got;

	(void)state;
	assert_int_equal(
			load("*filter\n:A -\n-N B\n-E B C\n-A INPUT -j C\n-I INPUT -j A\n-I INPUT 2 -s 1.2.3.4\n"
			     "-D INPUT -s 1.2.3.4/32\n-R INPUT 2 -g C\n-P OUTPUT DROP\n-X\nCOMMIT\n",
					IPT_V4, &rs, &errors),
			-EINVAL); /* -X: the chains are in use */
	ipt_errors_free(&errors);
	assert_int_equal(
			load("*filter\n:A -\n-N B\n-E B C\n-A INPUT -j C\n-I INPUT -j A\n-I INPUT 2 -s 1.2.3.4\n"
			     "-D INPUT -s 1.2.3.4/32\n-R INPUT 2 -g C\n-P OUTPUT DROP\nCOMMIT\n",
					IPT_V4, &rs, &errors),
			0);
	got = print(rs);
	assert_string_equal(got,
			"*filter\n:INPUT ACCEPT [0:0]\n:FORWARD ACCEPT [0:0]\n:OUTPUT DROP [0:0]\n"
			":A - [0:0]\n:C - [0:0]\n[0:0] -A INPUT -j A\n[0:0] -A INPUT -g C\nCOMMIT\n");
	free(got);
	ipt_ruleset_free(rs);
}

/* ---- sets ---- */

static void set_becomes(const char *text, const char *want)
{
	struct ipset_file *file;
	struct ipt_errors errors;
	char *got = NULL;
	size_t size;
	FILE *f;

	if (ipset_load("s", text, strlen(text), &file, &errors) < 0)
		fail_msg("%s: %s", text, errors.v[0].text);
	f = open_memstream(&got, &size);
	assert_int_equal(ipset_print(f, file), 0);
	fclose(f);
	assert_string_equal(got, want);
	free(got);
	ipset_free(file);
}

static void test_sets_when_ranges_then_expanded(void **state)
{
	(void)state;
	set_becomes("create a hash:net\nadd a 11.0.0.0-11.0.0.9\n",
			"create a hash:net family inet hashsize 1024 maxelem 65536\n"
			"add a 11.0.0.0/29\nadd a 11.0.0.8/31\n");
	set_becomes("create a hash:ip netmask 24 timeout 9\nadd a 10.0.0.1-10.0.1.5 timeout 5\n",
			"create a hash:ip family inet hashsize 1024 maxelem 65536 netmask 24 timeout 9\n"
			"add a 10.0.0.0 timeout 5\nadd a 10.0.1.0 timeout 5\n");
	set_becomes("create a hash:ip,port\nadd a 1.2.3.4-1.2.3.5,udp:7-8",
			"create a hash:ip,port family inet hashsize 1024 maxelem 65536\n"
			"add a 1.2.3.4,udp:7\nadd a 1.2.3.4,udp:8\nadd a 1.2.3.5,udp:7\nadd a 1.2.3.5,udp:8\n");
	set_becomes("create a hash:ip\ncreate l list:set size 4\nadd l a",
			"create a hash:ip family inet hashsize 1024 maxelem 65536\ncreate l list:set size 4\n"
			"add l a\n");
}

static void test_sets_when_wrong_then_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "create a hash:ip\nadd a 1.1.1.1\nadd a 1.1.1.1",
				"s:3: set a has this member already" },
		{ "create a hash:ip maxelem 2\nadd a 1.2.3.0/30",
				"s:2: set a is full, it holds 2" },
		{ "add a 1.1.1.1", "s:1: there is no set a" },
		{ "create a hash:foo", "s:1: unknown type \"hash:foo\"" },
		{ "create a hash:ip\ncreate a hash:ip", "s:2: set a exists" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ipset_file *file;
		struct ipt_errors errors;

		assert_int_equal(
				ipset_load("s", rows[i].text, strlen(rows[i].text), &file, &errors),
				-EINVAL);
		assert_string_equal(errors.v[0].text, rows[i].why);
		ipt_errors_free(&errors);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_when_quoted_then_as_iptables),
		cmocka_unit_test(test_negation_when_old_place_then_taken_where_it_can_be),
		cmocka_unit_test(test_addresses_when_written_short_then_canonical),
		cmocka_unit_test(test_addresses_when_a_list_then_each_pair_source_first),
		cmocka_unit_test(test_protocol_when_number_then_by_name),
		cmocka_unit_test(test_options_when_cut_then_only_if_unique),
		cmocka_unit_test(test_hmark_when_tuple_then_masks),
		cmocka_unit_test(test_print_when_iptables_loses_the_rule_then_we_do_not),
		cmocka_unit_test(test_matches_when_two_sets_then_both_in_order),
		cmocka_unit_test(test_file_when_malformed_then_refused_with_line),
		cmocka_unit_test(test_loops_when_reached_then_refused),
		cmocka_unit_test(test_places_when_hook_is_wrong_then_refused),
		cmocka_unit_test(test_limits_when_exceeded_then_refused),
		cmocka_unit_test(test_file_when_it_holds_a_nul_then_refused),
		cmocka_unit_test(test_load_when_lines_are_wrong_then_each_is_told),
		cmocka_unit_test(test_caps_when_missing_then_refused_by_name),
		cmocka_unit_test(test_counters_when_full_width_then_kept),
		cmocka_unit_test(test_commands_when_in_a_file_then_carried_out),
		cmocka_unit_test(test_sets_when_ranges_then_expanded),
		cmocka_unit_test(test_sets_when_wrong_then_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
