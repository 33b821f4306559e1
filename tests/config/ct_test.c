/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matches and targets on connections through whole rulesets, one packet each. Answers are those of
 * iptables-legacy in a namespace.
 */
#include "classifier/ext.h"
#include "config/ipt.h"
#include "conntrack/helper.h"
#include "conntrack/table.h"
#include "tests/config/rules_rig.h"

#include <rte_mbuf.h>

#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* 10.0.0.1:1000 > 10.0.1.1:80, UDP, 1 byte; and the answer */
#define PACKET "4500001d 00010000 4011 0000 0a000001 0a000101 03e80050 0009 0000 78"
#define ANSWER "4500001d 00010000 4011 0000 0a000101 0a000001 005003e8 0009 0000 78"

static struct ct_shard *shard;
static struct ct_entry *conn;

static int start_group(void **state)
{
	struct ct_conf conf;

	if (rig_start(state) < 0)
		return -1;
	ct_conf_init(&conf);
	conf.max = 1000;
	shard = ct_table_get(rig, &conf)->shard[0];
	return 0;
}

/* a confirmed connection of PACKET, mark 0x10, that lives 30 s */
static int start_test(void **state)
{
	struct ct_tuple t = { .src = sl_addr_v4(RTE_BE32(0x0a000001)),
		.dst = sl_addr_v4(RTE_BE32(0x0a000101)),
		.sport_be = RTE_BE16(1000),
		.dport_be = RTE_BE16(80),
		.family = SL_AF_INET,
		.proto = IPPROTO_UDP };
	struct ct_tuple reply;

	(void)state;
	shard->now_ms = ct_now(rig->workers[0]->now_ns);
	if (!ct_tuple_invert(&t, &reply))
		return -1;
	conn = ct_create(shard, &t, &reply);
	if (conn == NULL)
		return -1;
	ct_refresh(shard, conn, 30);
	ct_confirm(shard, conn);
	conn->mark = 0x10;
	return 0;
}

static int stop_test(void **state)
{
	(void)state;
	ct_kill(shard, conn);
	ct_tick(shard, shard->now_ms + 1);
	return 0;
}

enum how {
	NEW = SL_CT_NEW,
	RELATED = SL_CT_RELATED,
	ESTABLISHED = SL_CT_ESTABLISHED,
	REPLY = SL_CT_ESTABLISHED_REPLY,
	INVALID,
	UNTRACKED,
};

static struct rte_mbuf *packet(enum how how)
{
	struct rte_mbuf *m = rig_packet(how == REPLY ? ANSWER : PACKET);
	struct sl_pkt *p = sl_pkt(m);

	if (how == UNTRACKED)
		p->flags |= SL_PKT_UNTRACKED;
	if (how == INVALID || how == UNTRACKED)
		return m;
	p->ct = conn;
	p->ct_info = (uint8_t)how;
	return m;
}

static struct ipt_prog *prog;
static struct ipt_ruleset *rs;

static void open_rules(const char *table, const char *chain, const char *rules)
{
	char text[2048];

	snprintf(text, sizeof(text), "*%s\n:%s ACCEPT [0:0]\n%s\nCOMMIT\n", table, chain, rules);
	rs = rig_load(IPT_V4, text);
	prog = rig_compile(rs, NULL);
}

static void close_rules(void)
{
	ipt_prog_free(prog);
	ipt_ruleset_free(rs);
}

/* Return: whether rule @nr held for the one packet */
static bool held(unsigned int nr)
{
	return ipt_prog_rule_counters(prog, nr).packets == 1;
}

static void run(struct rte_mbuf *m, enum ipt_table_id table, enum ipt_hook hook)
{
	assert_int_equal(ipt_prog_run(prog, table, hook, rig->workers[0], &m, 1), 1);
	rte_pktmbuf_free(m);
}

static bool holds(const char *match, enum how how)
{
	char rules[512];
	bool was;

	snprintf(rules, sizeof(rules), "-A FORWARD %s", match);
	open_rules("mangle", "FORWARD", rules);
	run(packet(how), IPT_MANGLE, IPT_FORWARD);
	was = held(0);
	close_rules();
	return was;
}

static void test_state_when_packet_has_it_holds(void **state)
{
	static const struct {
		enum how how;
		const char *name;
	} cases[] = {
		{ NEW, "NEW" },
		{ RELATED, "RELATED" },
		{ ESTABLISHED, "ESTABLISHED" },
		{ REPLY, "ESTABLISHED" },
		{ INVALID, "INVALID" },
		{ UNTRACKED, "UNTRACKED" },
	};
	static const char *const names[] = { "NEW", "RELATED", "ESTABLISHED", "INVALID",
		"UNTRACKED" };
	static const char *const forms[] = { "-m state --state", "-m conntrack --ctstate",
		"-m state ! --state", "-m conntrack ! --ctstate",
		/* behind a test that keeps it out of the front of the chain */
		"-s 10.0.0.0/15 -m conntrack --ctstate" };
	char match[64];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		for (unsigned int k = 0; k < RTE_DIM(names); k++)
			for (unsigned int f = 0; f < RTE_DIM(forms); f++) {
				bool same = strcmp(cases[i].name, names[k]) == 0;
				bool inv = strchr(forms[f], '!') != NULL;

				snprintf(match, sizeof(match), "%s %s", forms[f], names[k]);
				if (holds(match, cases[i].how) != (same != inv))
					fail_msg("%s: %s", cases[i].name, match);
			}
}

static void test_conntrack_when_entry_is_looked_at_gives_kernels_answer(void **state)
{
	static const struct {
		const char *match;
		enum how how;
		bool holds;
	} cases[] = {
		{ "--ctproto 17", NEW, true },
		{ "! --ctproto 17", NEW, false },
		{ "--ctproto 6", NEW, false },
		{ "--ctorigsrc 10.0.0.0/24", NEW, true },
		{ "! --ctorigsrc 10.0.0.0/24", NEW, false },
		{ "--ctorigsrc 10.0.0.0/24", REPLY, true },
		{ "--ctorigdst 10.0.1.1", REPLY, true },
		{ "--ctreplsrc 10.0.1.1 --ctrepldst 10.0.0.1", NEW, true },
		{ "--ctreplsrc 10.0.0.1", NEW, false },
		{ "--ctorigsrcport 1000 --ctorigdstport 80", REPLY, true },
		{ "--ctreplsrcport 80 --ctrepldstport 1000", NEW, true },
		{ "--ctorigsrcport 5:1", NEW, false },
		{ "! --ctorigsrcport 5:1", NEW, true },
		{ "--ctstatus CONFIRMED", NEW, true },
		{ "--ctstatus NONE", NEW, false },
		{ "! --ctstatus NONE", NEW, true },
		{ "--ctstatus SEEN_REPLY,ASSURED", NEW, false },
		{ "--ctexpire 29:30", NEW, true },
		{ "--ctexpire 0", NEW, false },
		{ "! --ctexpire 30", NEW, false },
		{ "--ctdir ORIGINAL", NEW, true },
		{ "--ctdir REPLY", NEW, false },
		{ "--ctdir REPLY", REPLY, true },
		{ "--ctstate SNAT,DNAT", NEW, false },
		/* without a connection: the state alone, or nothing */
		{ "--ctstate INVALID --ctproto 6", INVALID, true },
		{ "--ctproto 17", INVALID, false },
		{ "! --ctproto 6", INVALID, false },
		{ "! --ctstatus ASSURED", UNTRACKED, false },
	};
	char match[128];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		snprintf(match, sizeof(match), "-m conntrack %s", cases[i].match);
		if (holds(match, cases[i].how) != cases[i].holds)
			fail_msg("%s: not %d", match, cases[i].holds);
	}
	conn->status |= CT_SRC_NAT;
	assert_true(holds("-m conntrack --ctstate SNAT", NEW));
	assert_false(holds("-m conntrack ! --ctstate SNAT,INVALID", NEW));
	assert_false(holds("-m conntrack --ctstate DNAT", NEW));
}

/* before it is confirmed the kernel sees no time left */
static void test_conntrack_when_not_confirmed_is_over(void **state)
{
	(void)state;
	conn->status &= ~CT_CONFIRMED;
	assert_true(holds("-m conntrack --ctexpire 0", NEW));
	assert_false(holds("-m conntrack --ctexpire 30", NEW));
	conn->status |= CT_CONFIRMED;
}

static void test_connmark_when_it_copies_keeps_to_masks_and_shifts(void **state)
{
	(void)state;
	conn->mark = 0;
	open_rules("mangle", "FORWARD",
			"-A FORWARD -j CONNMARK --set-xmark 0x3/0xff --left-shift-mark 4\n"
			"-A FORWARD -m connmark --mark 0x30\n"
			"-A FORWARD -j MARK --set-mark 0xf0\n"
			"-A FORWARD -j CONNMARK --save-mark --right-shift-mark 4\n"
			"-A FORWARD -m connmark --mark 0xf\n"
			"-A FORWARD -j CONNMARK --restore-mark --left-shift-mark 1\n"
			"-A FORWARD -m mark --mark 0x1e\n"
			"-A FORWARD -j CONNMARK --save-mark --nfmask 0x12 --ctmask 0xf0\n"
			"-A FORWARD -m connmark --mark 0x1d\n"
			"-A FORWARD -m connmark ! --mark 0x1d");
	run(packet(NEW), IPT_MANGLE, IPT_FORWARD);
	for (unsigned int i = 0; i < 9; i++)
		if (!held(i))
			fail_msg("rule %u did not hold, mark 0x%x", i, conn->mark);
	assert_false(held(9));
	assert_int_equal(conn->mark, 0x1d);
	close_rules();
	/* without a connection neither holds */
	assert_false(holds("-m connmark --mark 0", INVALID));
	assert_false(holds("-m connmark ! --mark 1", INVALID));
}

#define HMARK_CT "-A FORWARD -j HMARK --hmark-tuple ct,src,dst,sport,dport,proto"

/* a kernel's mark of 10.0.1.2:40001 > 10.0.1.1:80 that DNAT turned to 10.0.2.2:8080 */
static void test_hmark_when_of_a_connection_is_that_behind_nat(void **state)
{
	static const enum how known[] = { NEW, ESTABLISHED, REPLY, RELATED };
	static const enum how unknown[] = { INVALID, UNTRACKED };
	struct ct_tuple orig = { .src = sl_addr_v4(RTE_BE32(0x0a000102)),
		.dst = sl_addr_v4(RTE_BE32(0x0a000101)),
		.sport_be = RTE_BE16(40001),
		.dport_be = RTE_BE16(80),
		.family = SL_AF_INET,
		.proto = IPPROTO_TCP };
	struct ct_tuple reply;
	struct ct_entry *plain = conn;

	(void)state;
	assert_true(ct_tuple_invert(&orig, &reply));
	reply.src = sl_addr_v4(RTE_BE32(0x0a000202));
	reply.sport_be = RTE_BE16(8080);
	conn = ct_create(shard, &orig, &reply);
	assert_non_null(conn);
	ct_refresh(shard, conn, 30);
	ct_confirm(shard, conn);
	for (unsigned int i = 0; i < RTE_DIM(known); i++) {
		open_rules("mangle", "FORWARD",
				HMARK_CT " --hmark-mod 4294967295 --hmark-rnd 0x11\n"
					 "-A FORWARD -m mark --mark 0x4494efca");
		run(packet(known[i]), IPT_MANGLE, IPT_FORWARD);
		assert_true(held(1));
		close_rules();
	}
	for (unsigned int i = 0; i < RTE_DIM(unknown); i++) {
		open_rules("mangle", "FORWARD",
				"-A FORWARD -j MARK --set-mark 7\n" HMARK_CT
				" --hmark-mod 4294967295 --hmark-rnd 0x11\n"
				"-A FORWARD -m mark --mark 7");
		run(packet(unknown[i]), IPT_MANGLE, IPT_FORWARD);
		assert_true(held(2));
		close_rules();
	}
	ct_kill(shard, conn);
	conn = plain;
}

static void test_connbytes_when_range_is_inverted_keeps_single_numbers(void **state)
{
	struct ct_cold *cold = ct_cold(shard, conn);

	(void)state;
	cold->packets[CT_ORIGINAL] = 1;
	cold->bytes[CT_ORIGINAL] = 100;
	cold->packets[CT_REPLY] = 2;
	cold->bytes[CT_REPLY] = 500;
#define BYTES(range, dir, mode) \
	"-m connbytes " range " --connbytes-dir " dir " --connbytes-mode " mode
	assert_true(holds(BYTES("--connbytes 3:3", "both", "packets"), NEW));
	assert_true(holds(BYTES("--connbytes 1", "original", "packets"), NEW));
	assert_false(holds(BYTES("! --connbytes 0:2", "original", "packets"), NEW));
	assert_true(holds(BYTES("! --connbytes 1:1", "original", "packets"), NEW));
	assert_false(holds(BYTES("! --connbytes 2:2", "original", "packets"), NEW));
	assert_true(holds(BYTES("--connbytes 500:", "reply", "bytes"), NEW));
	assert_true(holds(BYTES("--connbytes 250:250", "reply", "avgpkt"), NEW));
	assert_true(holds(BYTES("--connbytes 200:200", "both", "avgpkt"), NEW));
	assert_false(holds(BYTES("--connbytes 0:", "both", "packets"), INVALID));
	assert_false(holds(BYTES("! --connbytes 5:9", "both", "packets"), INVALID));
#undef BYTES
}

static void test_connlabel_when_set_is_there_for_the_next(void **state)
{
	(void)state;
	assert_false(holds("-m connlabel --label 127", NEW));
	assert_true(holds("-m connlabel ! --label 127", NEW));
	assert_true(holds("-m connlabel --label 127 --set", NEW));
	assert_true(holds("-m connlabel --label 127", REPLY));
	assert_false(holds("-m connlabel --label 126", REPLY));
	assert_true(holds("-m connlabel ! --label 1", INVALID));
	assert_false(holds("-m connlabel --label 1 --set", INVALID));
}

static void test_helper_when_master_has_it_holds(void **state)
{
	struct ct_tuple t = conn->orig, reply;
	struct ct_entry *master;

	(void)state;
	assert_false(holds("-m helper --helper ftp", RELATED));
	assert_true(holds("-m helper ! --helper ftp", RELATED));
	t.sport_be = RTE_BE16(2);
	assert_true(ct_tuple_invert(&t, &reply));
	master = ct_create(shard, &t, &reply);
	assert_non_null(master);
	ct_confirm(shard, master);
	conn->master_id = master->id;
	conn->master_at = ct_index_of(shard, master);
	conn->master_worker = 0;
	assert_false(holds("-m helper --helper ftp", RELATED));
	master->helper = CT_HELPER_FTP;
	assert_true(holds("-m helper --helper ftp", RELATED));
	assert_true(holds("-m helper --helper ftp-2121", RELATED));
	assert_true(holds("-m helper --helper \"\"", RELATED));
	assert_false(holds("-m helper --helper tftp", RELATED));
	assert_false(holds("-m helper ! --helper ftp", RELATED));
	ct_kill(shard, master);
}

/* what stands in raw behind a CT target */
static void test_ct_when_asked_looks_like_a_connection_of_nothing(void **state)
{
	(void)state;
	open_rules("raw", "PREROUTING",
			"-A PREROUTING -m conntrack --ctstate INVALID\n"
			"-A PREROUTING -j CT --zone 5\n"
			"-A PREROUTING -m conntrack --ctstate NEW\n"
			"-A PREROUTING -m conntrack --ctstatus CONFIRMED\n"
			"-A PREROUTING -m conntrack --ctorigsrc 0.0.0.0\n"
			"-A PREROUTING -m conntrack --ctexpire 0\n"
			"-A PREROUTING -m connmark --mark 0\n"
			"-A PREROUTING -m connlabel ! --label 1\n"
			"-A PREROUTING -m conntrack --ctstate INVALID\n"
			"-A PREROUTING -m conntrack --ctproto 17\n"
			"-A PREROUTING -m connmark ! --mark 0\n"
			"-A PREROUTING -m connbytes --connbytes 0:10 --connbytes-dir both "
			"--connbytes-mode packets\n"
			"-A PREROUTING -j CT --notrack\n"
			"-A PREROUTING -m conntrack --ctstate UNTRACKED");
	run(packet(INVALID), IPT_RAW, IPT_PREROUTING);
	for (unsigned int i = 0; i < 14; i++)
		if (held(i) != (i < 8 || i == 12))
			fail_msg("rule %u", i);
	close_rules();
}

static void test_ct_when_several_ask_the_first_is_heard(void **state)
{
	static const struct {
		const char *rules;
		bool untracked;
		uint16_t zone;
		uint8_t dirs;
		bool mark;
	} cases[] = {
		{ "-A PREROUTING -j CT --zone 5", false, 5, 3, false },
		{ "-A PREROUTING -j CT --zone-orig 6", false, 6, 1, false },
		{ "-A PREROUTING -j CT --zone-reply 7", false, 7, 2, false },
		{ "-A PREROUTING -j CT --zone mark", false, 0, 3, true },
		{ "-A PREROUTING -j CT --zone-orig 8 --zone-reply 8", false, 8, 3, false },
		{ "-A PREROUTING -j CT", false, 0, 0, false },
		{ "-A PREROUTING -j CT --notrack --zone 3", true, 0, 0, false },
		{ "-A PREROUTING -j NOTRACK\n-A PREROUTING -j CT --zone 5", true, 0, 0, false },
		{ "-A PREROUTING -j CT --zone 5\n-A PREROUTING -j NOTRACK\n"
		  "-A PREROUTING -j CT --zone 6",
				false, 5, 3, false },
	};

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct rte_mbuf *m = packet(INVALID);
		const struct ct_template *t;

		open_rules("raw", "PREROUTING", cases[i].rules);
		assert_int_equal(
				ipt_prog_run(prog, IPT_RAW, IPT_PREROUTING, rig->workers[0], &m, 1),
				1);
		t = ct_template_of(sl_pkt(m));
		assert_int_equal((sl_pkt(m)->flags & SL_PKT_UNTRACKED) != 0, cases[i].untracked);
		assert_int_equal(t == NULL, cases[i].untracked);
		if (t != NULL) {
			assert_int_equal(t->zone, cases[i].zone);
			assert_int_equal(t->zone_dirs, cases[i].dirs);
			assert_int_equal(t->zone_mark, cases[i].mark);
		}
		rte_pktmbuf_free(m);
		close_rules();
	}
}

static void test_needs_when_a_rule_asks_for_a_connection(void **state)
{
	static const struct {
		const char *table, *chain, *rule;
		uint8_t needs;
	} cases[] = {
		{ "mangle", "INPUT", "-m conntrack --ctstate NEW", IPT_NEEDS_CT },
		{ "mangle", "INPUT", "-m state --state NEW", IPT_NEEDS_CT },
		{ "mangle", "INPUT", "-m connmark --mark 1", IPT_NEEDS_CT },
		{ "mangle", "INPUT", "-m connlimit --connlimit-above 3", IPT_NEEDS_CT },
		{ "mangle", "INPUT", "-m connlabel --label 5", IPT_NEEDS_CT },
		{ "mangle", "INPUT", "-m helper --helper ftp", IPT_NEEDS_CT },
		{ "mangle", "INPUT",
				"-m cluster --cluster-total-nodes 2 --cluster-local-node 1 "
				"--cluster-hash-seed 1",
				IPT_NEEDS_CT },
		{ "mangle", "INPUT",
				"-m connbytes --connbytes 1:2 --connbytes-dir both --connbytes-mode packets",
				IPT_NEEDS_CT | IPT_NEEDS_CT_ACCT },
		{ "mangle", "INPUT", "-j CONNMARK --restore-mark", IPT_NEEDS_CT },
		{ "raw", "PREROUTING", "-j CT --zone 5", IPT_NEEDS_CT },
		{ "raw", "PREROUTING", "-j CT", IPT_NEEDS_CT },
		{ "raw", "PREROUTING", "-j CT --notrack --zone 5", 0 },
		{ "raw", "PREROUTING", "-j NOTRACK", 0 },
		{ "mangle", "INPUT", "-m mark --mark 1 -j MARK --set-mark 2", 0 },
		{ "mangle", "INPUT", "-j HMARK --hmark-tuple ct,src --hmark-mod 2 --hmark-rnd 1",
				IPT_NEEDS_CT },
		{ "mangle", "INPUT", "-j HMARK --hmark-tuple src --hmark-mod 2 --hmark-rnd 1", 0 },
	};
	char rules[256];

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		snprintf(rules, sizeof(rules), "-A %s %s", cases[i].chain, cases[i].rule);
		open_rules(cases[i].table, cases[i].chain, rules);
		if (ipt_prog_needs(prog) != cases[i].needs)
			fail_msg("%s: %u", rules, ipt_prog_needs(prog));
		close_rules();
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, start_test, stop_test)
		T(test_state_when_packet_has_it_holds),
		T(test_conntrack_when_entry_is_looked_at_gives_kernels_answer),
		T(test_conntrack_when_not_confirmed_is_over),
		T(test_connmark_when_it_copies_keeps_to_masks_and_shifts),
		T(test_hmark_when_of_a_connection_is_that_behind_nat),
		T(test_connbytes_when_range_is_inverted_keeps_single_numbers),
		T(test_connlabel_when_set_is_there_for_the_next),
		T(test_helper_when_master_has_it_holds),
		T(test_ct_when_asked_looks_like_a_connection_of_nothing),
		T(test_ct_when_several_ask_the_first_is_heard),
		T(test_needs_when_a_rule_asks_for_a_connection),
#undef T
	};

	return cmocka_run_group_tests(tests, start_group, rig_stop);
}
