/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Extensions on single packets and on sequences of equal ones at once, with answers that
 * iptables-legacy gave in a namespace. Where time passes, answers follow from the kernel's arithmetic
 * of jiffies. A rule's counter says whether it held.
 */
#include "config/ipt.h"
#include "lib/ip.h"
#include "tests/config/rules_rig.h"

#include <rte_mbuf.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)

/* 10.0.0.1 > 10.0.1.1, TOS 0x12, TTL 63; SYN with ECE, MSS 1460, ports 1000 to 80 */
#define SYN                                                                                   \
	"4512002c 00010000 3f06 0000 0a000001 0a000101 03e80050 00000007 00000000 6042 0064 " \
	"0000 0000 020405b4"
/* the same without options, and with "Hello" behind it */
#define BARE                                                                                  \
	"45000028 00010000 3f06 0000 0a000001 0a000101 03e80050 00000007 00000000 5002 0064 " \
	"0000 0000"
#define HELLO                                                                                 \
	"4500002d 00010000 3f06 0000 0a000001 0a000101 03e80050 00000007 00000000 5010 0064 " \
	"0000 0000 48656c6c6f"
#define SCTP_INIT \
	"45000024 00010000 3f84 0000 0a000001 0a000101 03e80050 00000000 00000000 01000004"
#define SIX                                                                                     \
	"6b800000 0008 1140 fd010000000000000000000000000002 fd020000000000000000000000000002 " \
	"03e80050 0008 0000"

static struct ipt_prog *prog;
static struct ipt_ruleset *rs;

static void open_rules(enum ipt_family family, const char *rules)
{
	char text[1024];

	snprintf(text, sizeof(text), "*mangle\n:FORWARD ACCEPT [0:0]\n%sCOMMIT\n", rules);
	rs = rig_load(family, text);
	prog = rig_compile(rs, "linear");
}

static void close_rules(void)
{
	ipt_prog_free(prog);
	ipt_ruleset_free(rs);
}

/* Return: the packet behind the table, NULL: dropped */
static struct rte_mbuf *run(const char *hex)
{
	struct rte_mbuf *m = rig_packet(hex);

	return ipt_prog_run(prog, IPT_MANGLE, IPT_FORWARD, rig->workers[0], &m, 1) == 1 ? m : NULL;
}

/* run() where nothing may drop it */
static struct rte_mbuf *run_through(const char *hex)
{
	struct rte_mbuf *m = run(hex);

	if (m == NULL)
		abort();
	return m;
}

static unsigned int held(void)
{
	return (unsigned int)ipt_prog_rule_counters(prog, 0).packets;
}

static bool holds(enum ipt_family family, const char *match, const char *hex)
{
	char rules[512];
	bool was;

	snprintf(rules, sizeof(rules), "-A FORWARD %s\n", match);
	open_rules(family, rules);
	rte_pktmbuf_free(run_through(hex));
	was = held() == 1;
	close_rules();
	return was;
}

static void test_match_when_header_is_read_gives_kernels_answer(void **state)
{
	static const struct {
		const char *match, *packet;
		bool holds;
	} cases[] = {
		{ "-m ttl --ttl-eq 63", SYN, true },
		{ "-m ttl ! --ttl-eq 63", SYN, false },
		{ "-m ttl --ttl-lt 63", SYN, false },
		{ "-m ttl --ttl-gt 62", SYN, true },
		{ "-m tos --tos 0x10/0x1e", SYN, false },
		{ "-m tos --tos 0x12/0x1e", SYN, true },
		{ "-m dscp --dscp 4", SYN, true },
		{ "-m dscp ! --dscp 4", SYN, false },
		{ "-m ecn --ecn-ip-ect 2", SYN, true },
		{ "-p tcp -m ecn --ecn-tcp-ece", SYN, true },
		{ "-p tcp -m ecn --ecn-tcp-cwr", SYN, false },
		{ "-p tcp -m ecn ! --ecn-tcp-cwr", SYN, true },
		{ "-p tcp -m tcpmss --mss 1460", SYN, true },
		{ "-p tcp -m tcpmss ! --mss 1460", SYN, false },
		{ "-p tcp -m tcpmss --mss 0:1459", SYN, false },
		{ "-p tcp -m tcpmss --mss 0:65535", BARE, false },
		{ "-p tcp -m tcpmss ! --mss 0:65535", BARE, true },
		{ "-m pkttype --pkt-type unicast", SYN, true },
		{ "-m pkttype ! --pkt-type multicast", SYN, true },
		{ "-m physdev --physdev-in pa", SYN, false },
		{ "-m physdev ! --physdev-in pa", SYN, true },
		{ "-m string --string llo --algo bm", HELLO, true },
		{ "-m string --string LLO --algo kmp", HELLO, false },
		{ "-m string --string LLO --algo kmp --icase", HELLO, true },
		{ "-m string --string Hello --algo bm --from 40 --to 45", HELLO, true },
		{ "-m string --string Hello --algo bm --from 41", HELLO, false },
		{ "-m string --string Hello --algo bm --to 44", HELLO, false },
		{ "-m string ! --hex-string \"|0a000101|\" --algo bm", HELLO, false },
		{ "-m u32 --u32 \"0x6&0xff=0x6\"", SYN, true },
		{ "-m u32 --u32 \"0x0>>0x16&0x3c@0x0=0x3e80050\"", SYN, true },
		{ "-m u32 --u32 \"0x29=0x0:0xffffffff\"", SYN, false },
		{ "-m u32 ! --u32 \"0x29=0x0:0xffffffff\"", SYN, true },
		{ "-m u32 --u32 \"0x28=0x20405b4\"", SYN, true },
		{ "-p sctp -m sctp --chunk-types any INIT", SCTP_INIT, true },
		{ "-p sctp -m sctp --chunk-types any DATA", SCTP_INIT, false },
		{ "-p sctp -m sctp ! --chunk-types any DATA", SCTP_INIT, true },
		{ "-p sctp -m sctp --chunk-types only INIT,DATA", SCTP_INIT, true },
		{ "-p sctp -m sctp --chunk-types all INIT,DATA", SCTP_INIT, false },
		{ "-m statistic --mode random --probability 1", SYN, true },
		{ "-m statistic --mode random --probability 0", SYN, false },
		{ "-m statistic --mode random ! --probability 0", SYN, true },
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		if (holds(IPT_V4, cases[i].match, cases[i].packet) != cases[i].holds)
			fail_msg("%s: not %d", cases[i].match, cases[i].holds);
	assert_true(holds(IPT_V6, "-m hl --hl-eq 64", SIX));
	assert_false(holds(IPT_V6, "-m hl ! --hl-eq 64", SIX));
	assert_true(holds(IPT_V6, "-m dscp --dscp 46", SIX));
	assert_true(holds(IPT_V6, "-m tos --tos 0xb8", SIX));
}

/* one byte of a chunk's header */
#define SCTP_CUT "45000021 00010000 3f84 0000 0a000001 0a000101 03e80050 00000000 00000000 01"

/* Such a match holds, and the packet is dropped: what the rule does is done before, nothing behind. */
static void test_match_when_it_holds_behind_not_and_drops_acts_before(void **state)
{
	(void)state;
	open_rules(IPT_V4,
			"-A FORWARD -p sctp -m sctp ! --chunk-types any DATA -j MARK --set-mark 7\n"
			"-A FORWARD\n");
	assert_null(run(SCTP_CUT));
	assert_int_equal(held(), 1);
	assert_int_equal(ipt_prog_rule_counters(prog, 1).packets, 0);
	close_rules();
	/* without `!` it does not hold */
	open_rules(IPT_V4, "-A FORWARD -p sctp -m sctp --chunk-types any DATA\n-A FORWARD\n");
	assert_null(run(SCTP_CUT));
	assert_int_equal(held(), 0);
	assert_int_equal(ipt_prog_rule_counters(prog, 1).packets, 0);
	close_rules();
}

/* @bits: of packet i, from the first on; the packets are @gap_ns apart */
static void expect_sequence(const char *match, uint64_t gap_ns, const char *bits)
{
	struct sl_worker *w = rig->workers[0];
	uint64_t start_ns = w->now_ns;
	unsigned int before = 0;
	char rules[512];

	snprintf(rules, sizeof(rules), "-A FORWARD %s\n", match);
	open_rules(IPT_V4, rules);
	w->now_ns = 1000 * SECOND;
	for (const char *bit = bits; *bit != '\0'; bit++) {
		rte_pktmbuf_free(run_through(SYN));
		if (held() - before != (unsigned int)(*bit - '0'))
			fail_msg("%s: packet %d", match, (int)(bit - bits));
		before = held();
		w->now_ns += gap_ns;
	}
	w->now_ns = start_ns;
	close_rules();
}

static void test_match_when_it_remembers_counts_as_the_kernel(void **state)
{
	(void)state;
	expect_sequence("-m limit --limit 10/s --limit-burst 3", 0, "1110000");
	/* a token comes back every 25 jiffies */
	expect_sequence("-m limit --limit 10/s --limit-burst 3", 50 * MS, "11111010101");
	expect_sequence("-m limit --limit 10/s --limit-burst 1", 100 * MS, "11111");
	expect_sequence("-m limit --limit 10/s --limit-burst 1", 96 * MS, "10101");
	expect_sequence("-m limit --limit 1/hour --limit-burst 2", SECOND, "11000");
	expect_sequence("-m statistic --mode nth --every 3 --packet 0", 0, "1001001");
	expect_sequence("-m statistic --mode nth --every 3 --packet 2", 0, "0010010");
	expect_sequence("-m statistic --mode nth ! --every 3 --packet 0", 0, "0110110");
	/* of 44 bytes each; what does not fit ends it */
	expect_sequence("-m quota --quota 100", 0, "11000");
	expect_sequence("-m quota ! --quota 100", 0, "00111");
}

static void test_match_when_it_is_shared_by_name_counts_as_the_kernel(void **state)
{
	(void)state;
	expect_sequence("-m hashlimit --hashlimit-upto 10/s --hashlimit-burst 3 --hashlimit-name a",
			0, "1110000");
	expect_sequence("-m hashlimit --hashlimit-above 10/s --hashlimit-burst 3 "
			"--hashlimit-mode srcip --hashlimit-name a",
			50 * MS, "00000101010");
	/* it dies with the first tick of the collector behind its time, at 4 s: the burst is back */
	expect_sequence("-m hashlimit --hashlimit-upto 1/hour --hashlimit-burst 1 "
			"--hashlimit-htable-expire 2500 --hashlimit-htable-gcinterval 1000 "
			"--hashlimit-name a",
			4000 * MS, "1111");
	expect_sequence("-m hashlimit --hashlimit-upto 1/hour --hashlimit-burst 1 "
			"--hashlimit-htable-expire 2500 --hashlimit-htable-gcinterval 1000 "
			"--hashlimit-name a",
			2400 * MS, "1000");
	/* 44 bytes are three chunks of 16, of 17 that come in a second */
	expect_sequence("-m hashlimit --hashlimit-upto 256b/s --hashlimit-name a", 0, "11111000");
	expect_sequence("-m hashlimit --hashlimit-upto 3/min --hashlimit-burst 2 "
			"--hashlimit-rate-match --hashlimit-rate-interval 2 --hashlimit-name a",
			0, "11111000");
	expect_sequence("-m recent --set --name a", 0, "111");
	expect_sequence("-m recent --update --name a", 0, "000");
	expect_sequence("-m recent ! --update --name a", 0, "111");
	expect_sequence("-m recent ! --set --name a", 0, "000");
}

static void expect_second(const char *rules, uint64_t gap_ns, const char *bits)
{
	struct sl_worker *w = rig->workers[0];
	unsigned int before = 0;

	open_rules(IPT_V4, rules);
	w->now_ns = 1000 * SECOND;
	for (const char *bit = bits; *bit != '\0'; bit++) {
		unsigned int now;

		rte_pktmbuf_free(run_through(SYN));
		now = (unsigned int)ipt_prog_rule_counters(prog, 1).packets;
		if (now - before != (unsigned int)(*bit - '0'))
			fail_msg("%s: packet %d", rules, (int)(bit - bits));
		before = now;
		w->now_ns += gap_ns;
	}
	close_rules();
}

static void test_recent_when_rules_share_a_list_sees_what_the_other_noted(void **state)
{
	(void)state;
	expect_second("-A FORWARD -m recent --set --name b\n"
		      "-A FORWARD -m recent --rcheck --hitcount 3 --name b\n",
			0, "001111");
	expect_second("-A FORWARD -m recent --set --name b\n"
		      "-A FORWARD -m recent --rcheck --seconds 10 --hitcount 3 --name b\n",
			6 * SECOND, "000000");
	expect_second("-A FORWARD -m recent --set --name b\n"
		      "-A FORWARD -m recent --rcheck --seconds 12 --hitcount 3 --name b\n",
			6 * SECOND, "001111");
	expect_second("-A FORWARD -m recent --set --name b\n"
		      "-A FORWARD -m recent --remove --name b\n",
			0, "111");
	expect_second("-A FORWARD -m recent --remove --name b\n"
		      "-A FORWARD -m recent --rcheck --name b\n",
			0, "000");
}

/* what the new rules name again lives on, whatever they say of its rate */
static void test_hashlimit_when_rules_are_loaded_anew_keeps_its_table(void **state)
{
	static const char first[] = "-A FORWARD -m hashlimit --hashlimit-upto 1/hour "
				    "--hashlimit-burst 2 --hashlimit-name c\n";
	static const char second[] = "-A FORWARD -m hashlimit --hashlimit-upto 1000/s "
				     "--hashlimit-burst 100 --hashlimit-name c\n";
	struct ipt_ruleset *old_rs;
	struct ipt_prog *old;

	(void)state;
	rig->workers[0]->now_ns = 1000 * SECOND;
	open_rules(IPT_V4, first);
	for (unsigned int i = 0; i < 3; i++)
		rte_pktmbuf_free(run_through(SYN));
	assert_int_equal(held(), 2);
	old = prog;
	old_rs = rs;
	open_rules(IPT_V4, second);
	ipt_prog_free(old);
	ipt_ruleset_free(old_rs);
	for (unsigned int i = 0; i < 3; i++)
		rte_pktmbuf_free(run_through(SYN));
	assert_int_equal(held(), 0);
	close_rules();
	/* nobody named it for a while: it is made anew */
	open_rules(IPT_V4, second);
	for (unsigned int i = 0; i < 3; i++)
		rte_pktmbuf_free(run_through(SYN));
	assert_int_equal(held(), 3);
	close_rules();
}

static void test_time_when_clock_moves_holds_inside(void **state)
{
	/* Thursday 2026-03-05 23:30:00 UTC */
	static const uint64_t when_s = 1772753400;
	static const struct {
		const char *match;
		bool holds;
	} cases[] = {
		{ "-m time --weekdays Thu", true },
		{ "-m time ! --weekdays Thu", false },
		{ "-m time --monthdays 5", true },
		{ "-m time --monthdays 4,6", false },
		{ "-m time --timestart 23:30:00 --timestop 23:30:00", true },
		{ "-m time --timestart 23:00:00 --timestop 23:29:59", false },
		{ "-m time --timestart 23:00:00 --timestop 01:00:00", true },
		{ "-m time --datestart 2026-03-05T23:30:01", false },
		{ "-m time --datestop 2026-03-05T23:30:00", true },
	};
	struct sl_worker *w = rig->workers[0];

	(void)state;
	w->wall_ns = when_s * SECOND;
	for (size_t i = 0; i < RTE_DIM(cases); i++)
		if (holds(IPT_V4, cases[i].match, SYN) != cases[i].holds)
			fail_msg("%s: not %d", cases[i].match, cases[i].holds);
	/* an hour later it is Friday, but the span began on Thursday */
	w->wall_ns += 3600 * SECOND;
	assert_false(holds(
			IPT_V4, "-m time --timestart 23:00 --timestop 01:00 --weekdays Thu", SYN));
	assert_true(holds(IPT_V4,
			"-m time --timestart 23:00 --timestop 01:00 --weekdays Thu --contiguous",
			SYN));
}

/* from the IP header; checksums of the input are wrong and have to stay wrong by the same amount */
static void expect_change(enum ipt_family family, const char *rule, const char *in, const char *out)
{
	struct rte_mbuf *m, *want = rig_packet(out);
	char rules[512];
	bool same;

	snprintf(rules, sizeof(rules), "-A FORWARD %s\n", rule);
	open_rules(family, rules);
	m = run_through(in);
	same = m->pkt_len == want->pkt_len && sl_pkt(m)->l3_len == sl_pkt(want)->l3_len
			&& memcmp(rte_pktmbuf_mtod(m, void *), rte_pktmbuf_mtod(want, void *),
					   m->pkt_len)
					== 0;
	if (!same) {
		rte_pktmbuf_dump(stderr, m, m->pkt_len);
		fail_msg("%s", rule);
	}
	rte_pktmbuf_free(m);
	rte_pktmbuf_free(want);
	close_rules();
}

static void test_target_when_it_writes_keeps_checksums(void **state)
{
	(void)state;
	expect_change(IPT_V4, "-j TTL --ttl-inc 1", SYN,
			"4512002c 00010000 4006 feff 0a000001 0a000101 03e80050 00000007 00000000 "
			"6042 0064 0000 0000 020405b4");
	expect_change(IPT_V4, "-j TTL --ttl-dec 200", SYN,
			"4512002c 00010000 0006 3f00 0a000001 0a000101 03e80050 00000007 00000000 "
			"6042 0064 0000 0000 020405b4");
	expect_change(IPT_V4, "-j TOS --set-tos 0x00/0xff", SYN,
			"4500002c 00010000 3f06 0012 0a000001 0a000101 03e80050 00000007 00000000 "
			"6042 0064 0000 0000 020405b4");
	expect_change(IPT_V4, "-j DSCP --set-dscp 0", SYN,
			"4502002c 00010000 3f06 0010 0a000001 0a000101 03e80050 00000007 00000000 "
			"6042 0064 0000 0000 020405b4");
	expect_change(IPT_V4, "-p tcp -j ECN --ecn-tcp-remove", SYN,
			"4512002c 00010000 3f06 0000 0a000001 0a000101 03e80050 00000007 00000000 "
			"6002 0064 0040 0000 020405b4");
	expect_change(IPT_V4, "-p tcp --syn -j TCPMSS --set-mss 1400", SYN,
			"4512002c 00010000 3f06 0000 0a000001 0a000101 03e80050 00000007 00000000 "
			"6042 0064 003c 0000 02040578");
	expect_change(IPT_V4, "-p tcp --syn -j TCPMSS --set-mss 1500", SYN, SYN);
	expect_change(IPT_V4, "-p tcp -j TCPOPTSTRIP --strip-options 2", SYN,
			"4512002c 00010000 3f06 0000 0a000001 0a000101 03e80050 00000007 00000000 "
			"6042 0064 05b6 0000 01010101");
	expect_change(IPT_V6, "-j HL --hl-set 1", SIX,
			"6b800000 0008 1101 fd010000000000000000000000000002 "
			"fd020000000000000000000000000002 03e80050 0008 0000");
	expect_change(IPT_V6, "-j DSCP --set-dscp 1", SIX,
			"60400000 0008 1140 fd010000000000000000000000000002 "
			"fd020000000000000000000000000002 03e80050 0008 0000");
}

static void test_tcpmss_when_there_is_no_option_adds_one(void **state)
{
	struct rte_mbuf *m;
	const uint8_t *ip;

	(void)state;
	open_rules(IPT_V4, "-A FORWARD -p tcp --syn -j TCPMSS --set-mss 1400\n");
	m = run_through(BARE);
	assert_int_equal(sl_pkt(m)->l3_len, 44);
	assert_int_equal(m->pkt_len, sl_pkt(m)->l3_off + 44U);
	ip = rte_pktmbuf_mtod_offset(m, const uint8_t *, sl_pkt(m)->l3_off);
	assert_int_equal(ip[3], 44);
	assert_int_equal(ip[32], 0x60);
	assert_memory_equal(ip + 40, ((const uint8_t[]){ 2, 4, 2, 0x18 }), 4);
	rte_pktmbuf_free(m);
	close_rules();
}

static void test_tcpmss_when_header_is_cut_drops(void **state)
{
	(void)state;
	open_rules(IPT_V4, "-A FORWARD -p tcp --syn -j TCPMSS --set-mss 1400\n");
	/* 24 bytes of header are said to be there, 20 are */
	assert_null(run("45000028 00010000 3f06 0000 0a000001 0a000101 03e80050 00000007 00000000 "
			"6002 0064 0000 0000"));
	close_rules();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_match_when_header_is_read_gives_kernels_answer),
		cmocka_unit_test(test_match_when_it_holds_behind_not_and_drops_acts_before),
		cmocka_unit_test(test_match_when_it_remembers_counts_as_the_kernel),
		cmocka_unit_test(test_match_when_it_is_shared_by_name_counts_as_the_kernel),
		cmocka_unit_test(test_recent_when_rules_share_a_list_sees_what_the_other_noted),
		cmocka_unit_test(test_hashlimit_when_rules_are_loaded_anew_keeps_its_table),
		cmocka_unit_test(test_time_when_clock_moves_holds_inside),
		cmocka_unit_test(test_target_when_it_writes_keeps_checksums),
		cmocka_unit_test(test_tcpmss_when_there_is_no_option_adds_one),
		cmocka_unit_test(test_tcpmss_when_header_is_cut_drops),
	};

	return cmocka_run_group_tests(tests, rig_start, rig_stop);
}
