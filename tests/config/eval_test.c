/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Verdicts on single packets, as iptables-legacy gave them in a namespace: chains, what fragments and
 * cut headers do to each match, IPv6's -p, marks. Each case runs through the plain evaluation and
 * through waves over an engine.
 */
#include "config/ipt.h"
#include "lib/drop.h"
#include "tests/config/rules_rig.h"

#include <rte_mbuf.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

enum end {
	PASS,
	DROP, /* by a rule or the policy */
	HOT, /* on the spot */
};

struct one {
	const char *what;
	const char *rules; /* of the filter table behind its FORWARD policy line */
	const char *policy;
	const char *packet;
	enum end end;
	int counted; /* packets of the first rule; -1: not looked at */
};

#define TCP_HEAD "03e80050 00000007 00000000 5002 0064 0000 0000"
#define CUT(proto) "45000018 00010000 40" proto "0000 0a000001 0a000101 03e80050"
#define UDP_HEAD "03e80035 0008 0000"

static uint64_t drops(enum sl_drop_reason reason)
{
	uint64_t n = 0;

	for (uint16_t port = 0; port <= rig->n_ports; port++)
		n += sl_router_drops(rig, port, reason);
	return n;
}

static void try_one(enum ipt_family family, const struct one *t, const char *engine)
{
	uint64_t rule = drops(SL_DROP_RULE), hot = drops(SL_DROP_HOTDROP), accepted;
	struct rte_mbuf *m = rig_packet(t->packet);
	struct ipt_ruleset *rs;
	struct ipt_prog *prog;
	char text[2048];
	enum end end;

	snprintf(text, sizeof(text), "*filter\n:FORWARD %s [0:0]\n%sCOMMIT\n", t->policy, t->rules);
	rs = rig_load(family, text);
	prog = rig_compile(rs, engine);
	if (engine == NULL)
		accepted = ipt_prog_run_plain(
				prog, IPT_FILTER, IPT_FORWARD, rig->workers[0], &m, 1);
	else
		accepted = ipt_prog_run(prog, IPT_FILTER, IPT_FORWARD, rig->workers[0], &m, 1);
	end = accepted == 1 ? PASS : drops(SL_DROP_HOTDROP) > hot ? HOT : DROP;
	if (accepted == 1)
		rte_pktmbuf_free(m);
	if (end != t->end || (end == DROP) != (drops(SL_DROP_RULE) > rule))
		fail_msg("%s: ended as %d, not %d", t->what, end, t->end);
	if (t->counted >= 0 && ipt_prog_rule_counters(prog, 0).packets != (uint64_t)t->counted)
		fail_msg("%s: the first rule counted %d", t->what,
				(int)ipt_prog_rule_counters(prog, 0).packets);
	ipt_prog_free(prog);
	ipt_ruleset_free(rs);
}

static void try_all(enum ipt_family family, const struct one *cases, size_t n)
{
	static const char *const engines[] = { NULL, "linear", "forest", "hashed" };

	for (size_t i = 0; i < n; i++)
		for (size_t e = 0; e < RTE_DIM(engines); e++)
			try_one(family, &cases[i], engines[e]);
}

static void test_chains_when_walked_end_as_in_the_kernel(void **state)
{
	const char *tcp = "45000028 00010000 40060000 0a000001 0a000101" TCP_HEAD;
	const struct one cases[] = {
		{ "goto does not come back",
				":U - [0:0]\n-A FORWARD -g U\n-A FORWARD -j ACCEPT\n"
				"-A U -s 1.2.3.4 -j ACCEPT\n",
				"DROP", tcp, DROP, -1 },
		{ "jump comes back",
				":U - [0:0]\n-A FORWARD -j U\n-A FORWARD -j ACCEPT\n"
				"-A U -s 1.2.3.4 -j ACCEPT\n",
				"DROP", tcp, PASS, -1 },
		{ "a chain without rules", ":U - [0:0]\n-A FORWARD -j U\n-A FORWARD -j ACCEPT\n",
				"DROP", tcp, PASS, 1 },
		{ "return in a base chain", "-A FORWARD -j RETURN\n-A FORWARD -j ACCEPT\n", "DROP",
				tcp, DROP, 1 },
		{ "return behind a goto goes behind the last jump",
				":U - [0:0]\n:V - [0:0]\n-A FORWARD -j U\n-A FORWARD -j ACCEPT\n"
				"-A U -g V\n-A U -j DROP\n-A V -j RETURN\n",
				"DROP", tcp, PASS, 1 },
		{ "queue with nobody to listen", "-A FORWARD -j QUEUE\n", "ACCEPT", tcp, DROP, 1 },
		{ "a rule without target only counts", "-A FORWARD -p tcp\n", "ACCEPT", tcp, PASS,
				1 },
		{ "a mark is seen by the rule behind",
				"-A FORWARD -j MARK --set-mark 3\n-A FORWARD -m mark --mark 3 -j DROP\n",
				"ACCEPT", tcp, DROP, 1 },
		{ "a value outside the mask never matches",
				"-A FORWARD -m mark --mark 0x101/0xff -j DROP\n", "ACCEPT", tcp,
				PASS, 0 },
		{ "names are not case-blind", "-A FORWARD -i PA -j DROP\n", "ACCEPT", tcp, PASS,
				0 },
		{ "pa+ holds for pa", "-A FORWARD -i pa+ ! -o x+ -j DROP\n", "ACCEPT", tcp, DROP,
				1 },
		{ "! -i + never holds", "-A FORWARD ! -i + -j DROP\n", "ACCEPT", tcp, PASS, 0 },
		{ "a mask with holes", "-A FORWARD -s 10.0.0.1/255.0.0.255 -j DROP\n", "ACCEPT",
				tcp, DROP, 1 },
		{ "length is the IP packet's", "-A FORWARD -m length --length 40 -j DROP\n",
				"ACCEPT", tcp, DROP, 1 },
	};

	(void)state;
	try_all(IPT_V4, cases, RTE_DIM(cases));
}

static void test_matches_when_headers_are_cut_drop_on_the_spot(void **state)
{
	const char *cut_tcp = CUT("06"), *cut_udp = CUT("11"), *cut_icmp = CUT("01");
	const struct one cases[] = {
		{ "tcp", "-A FORWARD -p tcp -m tcp --dport 81 -j ACCEPT\n", "ACCEPT", cut_tcp, HOT,
				0 },
		{ "-p alone never drops", "-A FORWARD -p tcp -j ACCEPT\n", "DROP", cut_tcp, PASS,
				1 },
		{ "another protocol's match is not reached",
				"-A FORWARD -p udp -m udp --dport 80 -j ACCEPT\n", "DROP", cut_tcp,
				DROP, 0 },
		{ "an address in front of it is",
				"-A FORWARD -s 1.2.3.4 -p tcp -m tcp --dport 81\n", "DROP", cut_tcp,
				DROP, 0 },
		{ "udp", "-A FORWARD -p udp -m udp --dport 81\n", "ACCEPT", cut_udp, HOT, 0 },
		{ "icmp", "-A FORWARD -p icmp -m icmp --icmp-type 8\n", "ACCEPT", cut_icmp, HOT,
				0 },
		{ "multiport reads four bytes",
				"-A FORWARD -p tcp -m multiport --dports 80 -j DROP\n", "ACCEPT",
				cut_tcp, DROP, 1 },
		{ "a rule behind one that ends it",
				"-A FORWARD -p tcp -j ACCEPT\n-A FORWARD -p tcp -m tcp --dport 1\n",
				"DROP", cut_tcp, PASS, 1 },
	};

	(void)state;
	try_all(IPT_V4, cases, RTE_DIM(cases));
}

static void test_matches_when_packet_is_a_later_fragment_do_not_hold(void **state)
{
	const char *first = "45000028 00012000 40060000 0a000001 0a000101" TCP_HEAD;
	const char *second = "45000028 00010001 40060000 0a000001 0a000101" TCP_HEAD;
	const char *third = "45000028 00010002 40060000 0a000001 0a000101" TCP_HEAD;
	const struct one cases[] = {
		{ "the first is like a whole one", "-A FORWARD -p tcp -m tcp --dport 80 -j DROP\n",
				"ACCEPT", first, DROP, 1 },
		{ "-f is not for the first", "-A FORWARD -f -j DROP\n", "ACCEPT", first, PASS, 0 },
		{ "-f", "-A FORWARD -f -j DROP\n", "ACCEPT", third, DROP, 1 },
		{ "! -f", "-A FORWARD ! -f -j DROP\n", "ACCEPT", third, PASS, 0 },
		{ "eight bytes would overwrite flags",
				"-A FORWARD -p tcp -m tcp --dport 80 -j ACCEPT\n", "ACCEPT", second,
				HOT, 0 },
		{ "ports of others are unknown", "-A FORWARD -p tcp -m tcp --dport 80 -j DROP\n",
				"ACCEPT", third, PASS, 0 },
		{ "so is what they are not", "-A FORWARD -p tcp -m tcp ! --dport 81 -j DROP\n",
				"ACCEPT", third, PASS, 0 },
		{ "multiport too", "-A FORWARD -p tcp -m multiport ! --dports 81 -j DROP\n",
				"ACCEPT", second, PASS, 0 },
		{ "the protocol is known", "-A FORWARD -p tcp -j DROP\n", "ACCEPT", third, DROP,
				1 },
	};

	(void)state;
	try_all(IPT_V4, cases, RTE_DIM(cases));
}

static void test_tcp_when_flags_and_options_are_asked_reads_them(void **state)
{
	const char *ece = "45000028 00010000 40060000 0a000001 0a000101"
			  "03e80050 00000007 00000000 50c2 0064 0000 0000";
	const char *mss = "4500002c 00010000 40060000 0a000001 0a000101"
			  "03e80050 00000007 00000000 6002 0064 0000 0000 020405b4";
	const char *torn = "4500002c 00010000 40060000 0a000001 0a000101"
			   "03e80050 00000007 00000000 7002 0064 0000 0000 020405b4";
	const char *zero = "4500002c 00010000 40060000 0a000001 0a000101"
			   "03e80050 00000007 00000000 6002 0064 0000 0000 05000402";
	const struct one cases[] = {
		{ "--syn looks away from ECE and CWR", "-A FORWARD -p tcp --syn -j DROP\n",
				"ACCEPT", ece, DROP, 1 },
		{ "! --syn", "-A FORWARD -p tcp ! --syn -j DROP\n", "ACCEPT", ece, PASS, 0 },
		{ "an option", "-A FORWARD -p tcp --tcp-option 2 -j DROP\n", "ACCEPT", mss, DROP,
				1 },
		{ "no option", "-A FORWARD -p tcp ! --tcp-option 2 -j DROP\n", "ACCEPT", ece, DROP,
				1 },
		{ "options beyond the packet", "-A FORWARD -p tcp --tcp-option 9 -j ACCEPT\n",
				"ACCEPT", torn, HOT, 0 },
		{ "only if the ports hold", "-A FORWARD -p tcp --dport 81 --tcp-option 9 -j DROP\n",
				"ACCEPT", torn, PASS, 0 },
		{ "a length of 0 counts as 1", "-A FORWARD -p tcp --tcp-option 4 -j DROP\n",
				"ACCEPT", zero, DROP, 1 },
	};

	(void)state;
	try_all(IPT_V4, cases, RTE_DIM(cases));
}

#define IP6(payload, next)       \
	"60000000 " payload next \
	"40 fd010000000000000000000000000002 fd020000000000000000000000000002"

static void test_ipv6_when_protocol_is_asked_walks_the_headers(void **state)
{
	const char *udp = IP6("0008", "11") UDP_HEAD;
	const char *dstopts = IP6("0010", "3c") "1100010400000000" UDP_HEAD;
	const char *ah = IP6("002c",
			"33") "06040000 00000001 00000001 000000000000000000000000" TCP_HEAD;
	const char *cut = IP6("0001", "3c") "11";
	const char *later = IP6("0010", "2c") "06000009 00000001 0000000000000000";
	const char *segment = IP6("0020",
			"2c") "06000009 00000001 03e80050 00000007 00000000 6002 0064 0000 0000 01010402";
	const char *none = IP6("0000", "3b");
	const struct one cases[] = {
		{ "an empty datagram (N40)", "-A FORWARD -p udp -j ACCEPT\n", "DROP", udp, PASS,
				1 },
		{ "options are walked past", "-A FORWARD -p udp -m udp --dport 53 -j DROP\n",
				"ACCEPT", dstopts, DROP, 1 },
		{ "so is AH (N39)", "-A FORWARD -p tcp -m tcp --dport 80 -j ACCEPT\n", "DROP", ah,
				PASS, 1 },
		{ "AH is no protocol then", "-A FORWARD -p ah -j ACCEPT\n", "DROP", ah, DROP, 0 },
		{ "a chain that is cut", "-A FORWARD -p tcp\n", "ACCEPT", cut, HOT, 0 },
		{ "-p 0 walks too", "-A FORWARD -p 0\n", "ACCEPT", cut, HOT, 0 },
		{ "no -p, no walk", "-A FORWARD -j ACCEPT\n", "DROP", cut, PASS, 1 },
		{ "not where an address in front does not hold", "-A FORWARD -s ::1 -p tcp\n",
				"ACCEPT", cut, PASS, 0 },
		{ "a later fragment has a protocol", "-A FORWARD -p tcp -j DROP\n", "ACCEPT", later,
				DROP, 1 },
		{ "but no ports", "-A FORWARD -p tcp -m tcp --dport 0:65535 -j DROP\n", "ACCEPT",
				later, PASS, 0 },
		{ "what looks for a header finds that of IP",
				"-A FORWARD -p tcp -m tcpmss --mss 0:9\n", "ACCEPT", segment, HOT,
				0 },
		{ "no next header", "-A FORWARD -p 59 -j DROP\n", "ACCEPT", none, DROP, 1 },
	};

	(void)state;
	try_all(IPT_V6, cases, RTE_DIM(cases));
}

static void test_icmp_when_type_is_any_holds_for_all(void **state)
{
	const char *echo = "4500001c 00010000 40010000 0a000001 0a000101 08000000 00010001";
	const char *odd = "4500001c 00010000 40010000 0a000001 0a000101 1e050000 00010001";
	const struct one cases[] = {
		{ "255", "-A FORWARD -p icmp -m icmp --icmp-type 255 -j DROP\n", "ACCEPT", odd,
				DROP, 1 },
		{ "any", "-A FORWARD -p icmp -m icmp --icmp-type any -j DROP\n", "ACCEPT", odd,
				DROP, 1 },
		{ "not any", "-A FORWARD -p icmp -m icmp ! --icmp-type any -j DROP\n", "ACCEPT",
				odd, PASS, 0 },
		{ "8", "-A FORWARD -p icmp -m icmp --icmp-type 8 -j DROP\n", "ACCEPT", echo, DROP,
				1 },
		{ "not 8", "-A FORWARD -p icmp -m icmp ! --icmp-type 8 -j DROP\n", "ACCEPT", odd,
				DROP, 1 },
		{ "type and code", "-A FORWARD -p icmp -m icmp --icmp-type 8/1 -j DROP\n", "ACCEPT",
				echo, PASS, 0 },
	};

	(void)state;
	try_all(IPT_V4, cases, RTE_DIM(cases));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chains_when_walked_end_as_in_the_kernel),
		cmocka_unit_test(test_matches_when_headers_are_cut_drop_on_the_spot),
		cmocka_unit_test(test_matches_when_packet_is_a_later_fragment_do_not_hold),
		cmocka_unit_test(test_tcp_when_flags_and_options_are_asked_reads_them),
		cmocka_unit_test(test_ipv6_when_protocol_is_asked_walks_the_headers),
		cmocka_unit_test(test_icmp_when_type_is_any_holds_for_all),
	};

	return cmocka_run_group_tests(tests, rig_start, rig_stop);
}
