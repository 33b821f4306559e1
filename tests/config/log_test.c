/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What LOG, NFLOG and TRACE leave of a packet, with lines that the kernel wrote for the same packets.
 * Both ways of evaluating must leave the same.
 */
#include "classifier/log_text.h"
#include "config/ipt.h"
#include "lib/ip.h"
#include "tests/config/rules_rig.h"

#include <rte_mbuf.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* 10.0.0.1 > 10.0.1.1, ports 1000 to 80, SYN with ECE and AE, MSS 1460 */
#define SYN                                                                                   \
	"4512002c 00014000 3f06 0000 0a000001 0a000101 03e80050 00000007 00000000 6142 0064 " \
	"0000 0000 020405b4"
#define UDP "4500001c 00070000 4011 0000 0a000001 0a000101 00350050 00080000"
/* host unreachable, quoting the above */
#define UNREACH "45c00038 00080000 4001 0000 0a000101 0a000001 0301 0000 00000000 " UDP
#define SIX                                                                                     \
	"6b8abcde 0010 0040 fd010000000000000000000000000002 fd020000000000000000000000000002 " \
	"1100010400000000 03e80050 0008 0000"

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

/* the oldest record as a line; "" if there is none */
static const char *line(void)
{
	static char text[LOG_TEXT_MAX];
	const struct sl_pktlog_rec *rec = sl_pktlog_peek(rig->workers[0]);

	text[0] = '\0';
	if (rec == NULL)
		return text;
	sl_log_text(rig, rec, text, sizeof(text));
	sl_pktlog_pop(rig->workers[0], rec);
	return text;
}

/* @n packets by both forms of the evaluation; @lines: what each form leaves, up to NULL */
static void expect_lines(const char *const *packets, unsigned int n, uint32_t flags,
		const char *const *lines)
{
	for (int plain = 0; plain < 2; plain++) {
		struct rte_mbuf *m[8];

		for (unsigned int i = 0; i < n; i++) {
			m[i] = rig_packet(packets[i]);
			sl_pkt(m[i])->flags |= flags;
		}
		if (plain)
			ipt_prog_run_plain(prog, IPT_MANGLE, IPT_FORWARD, rig->workers[0], m, n);
		else
			ipt_prog_run(prog, IPT_MANGLE, IPT_FORWARD, rig->workers[0], m, n);
		rte_pktmbuf_free_bulk(m, n);
		for (const char *const *l = lines; *l != NULL; l++)
			assert_string_equal(line(), *l);
		assert_string_equal(line(), "");
	}
}

static void expect_line(
		enum ipt_family family, const char *rule, const char *packet, const char *expected)
{
	char text[256];

	snprintf(text, sizeof(text), "-A FORWARD %s\n", rule);
	open_rules(family, text);
	expect_lines(&packet, 1, 0, (const char *const[]){ expected, NULL });
	close_rules();
}

#define HEAD "IN=pa OUT=pb MAC=00:00:00:00:00:00:00:00:00:00:00:00:08:00 "
#define ENDS "SRC=10.0.0.1 DST=10.0.1.1 "

static void test_log_when_packet_holds_writes_the_kernels_text(void **state)
{
	(void)state;
	expect_line(IPT_V4, "-j LOG", SYN,
			HEAD ENDS
			"LEN=44 TOS=0x12 PREC=0x00 TTL=63 ID=1 DF PROTO=TCP SPT=1000 DPT=80 "
			"WINDOW=100 RES=0x00 AE ECE SYN URGP=0 ");
	expect_line(IPT_V4,
			"-j LOG --log-prefix \"in: \" --log-tcp-sequence --log-tcp-options "
			"--log-macdecode",
			SYN,
			"in: IN=pa OUT=pb MACSRC=00:00:00:00:00:00 MACDST=00:00:00:00:00:00 "
			"MACPROTO=0800 " ENDS
			"LEN=44 TOS=0x12 PREC=0x00 TTL=63 ID=1 DF PROTO=TCP SPT=1000 DPT=80 SEQ=7 "
			"ACK=0 WINDOW=100 RES=0x00 AE ECE SYN URGP=0 OPT (020405B4) ");
	expect_line(IPT_V4, "-j LOG", UDP,
			HEAD ENDS
			"LEN=28 TOS=0x00 PREC=0x00 TTL=64 ID=7 PROTO=UDP SPT=53 DPT=80 LEN=8 ");
	expect_line(IPT_V4, "-j LOG", UNREACH,
			HEAD
			"SRC=10.0.1.1 DST=10.0.0.1 LEN=56 TOS=0x00 PREC=0xC0 TTL=64 ID=8 "
			"PROTO=ICMP TYPE=3 CODE=1 [" ENDS
			"LEN=28 TOS=0x00 PREC=0x00 TTL=64 ID=7 PROTO=UDP SPT=53 DPT=80 LEN=8 ] ");
	expect_line(IPT_V6, "-j LOG --log-ip-options", SIX,
			"IN=pa OUT=pb MAC=00:00:00:00:00:00:00:00:00:00:00:00:86:dd "
			"SRC=fd01:0000:0000:0000:0000:0000:0000:0002 "
			"DST=fd02:0000:0000:0000:0000:0000:0000:0002 LEN=56 TC=184 HOPLIMIT=64 "
			"FLOWLBL=703710 OPT ( ) PROTO=UDP SPT=1000 DPT=80 LEN=8 ");
}

static void test_log_when_packet_is_cut_says_so(void **state)
{
	(void)state;
	expect_line(IPT_V4, "-j LOG",
			"4500001c 00070000 4006 0000 0a000001 0a000101 00350050 00080000",
			HEAD ENDS
			"LEN=28 TOS=0x00 PREC=0x00 TTL=64 ID=7 PROTO=TCP INCOMPLETE [8 bytes] ");
	expect_line(IPT_V4, "-j LOG",
			"4500001c 00072001 4011 0000 0a000001 0a000101 00350050 00080000",
			HEAD ENDS "LEN=28 TOS=0x00 PREC=0x00 TTL=64 ID=7 MF FRAG:1 PROTO=UDP ");
}

static void test_log_when_batch_jumps_keeps_order(void **state)
{
	static const char *const packets[] = { SYN, UDP, SYN };
	static const char *const lines[] = {
		"a " HEAD ENDS "LEN=44 TOS=0x12 PREC=0x00 TTL=63 ID=1 DF PROTO=TCP SPT=1000 DPT=80 "
		"WINDOW=100 RES=0x00 AE ECE SYN URGP=0 ",
		"b " HEAD ENDS "LEN=44 TOS=0x12 PREC=0x00 TTL=63 ID=1 DF PROTO=TCP SPT=1000 DPT=80 "
		"WINDOW=100 RES=0x00 AE ECE SYN URGP=0 ",
		"b " HEAD ENDS
		"LEN=28 TOS=0x00 PREC=0x00 TTL=64 ID=7 PROTO=UDP SPT=53 DPT=80 LEN=8 ",
		"a " HEAD ENDS "LEN=44 TOS=0x12 PREC=0x00 TTL=63 ID=1 DF PROTO=TCP SPT=1000 DPT=80 "
		"WINDOW=100 RES=0x00 AE ECE SYN URGP=0 ",
		"b " HEAD ENDS "LEN=44 TOS=0x12 PREC=0x00 TTL=63 ID=1 DF PROTO=TCP SPT=1000 DPT=80 "
		"WINDOW=100 RES=0x00 AE ECE SYN URGP=0 ",
		NULL,
	};

	(void)state;
	open_rules(IPT_V4,
			":C - [0:0]\n-A FORWARD -p tcp -j C\n-A FORWARD -j LOG --log-prefix \"b \"\n"
			"-A C -j LOG --log-prefix \"a \"\n");
	expect_lines(packets, 3, 0, lines);
	close_rules();
}

static void test_trace_when_packet_is_traced_tells_its_way(void **state)
{
	static const char *const packets[] = { UDP };
#define REST HEAD ENDS "LEN=28 TOS=0x00 PREC=0x00 TTL=64 ID=7 PROTO=UDP SPT=53 DPT=80 LEN=8 "
	static const char *const lines[] = {
		"TRACE: mangle:FORWARD:rule:2 " REST, /* the first one does not hold */
		"TRACE: mangle:C:rule:1 " REST,
		"TRACE: mangle:D:return:1 " REST, /* the end of an empty chain */
		"TRACE: mangle:C:return:2 " REST, /* a RETURN without a test */
		"TRACE: mangle:FORWARD:rule:3 " REST, /* an ACCEPT with one goes on to nothing */
		NULL,
	};
	static const char *const none[] = { NULL };

	(void)state;
	open_rules(IPT_V4,
			":C - [0:0]\n:D - [0:0]\n-A FORWARD -p tcp -j DROP\n-A FORWARD -j C\n"
			"-A FORWARD -p udp -j ACCEPT\n-A C -j D\n-A C -j RETURN\n");
	expect_lines(packets, 1, 0, none);
	/* what makes the rings is a TRACE rule, in whatever table */
	assert_int_equal(sl_pktlog_enable(rig), 0);
	expect_lines(packets, 1, SL_PKT_TRACE, lines);
	close_rules();
	open_rules(IPT_V4, "");
	expect_lines(packets, 1, SL_PKT_TRACE,
			(const char *const[]){ "TRACE: mangle:FORWARD:policy:1 " REST, NULL });
	close_rules();
	/* a rule without a test counts as an end */
	open_rules(IPT_V4, "-A FORWARD -p tcp\n-A FORWARD -j DROP\n");
	{
		struct rte_mbuf *m = rig_packet(UDP);

		sl_pkt(m)->flags |= SL_PKT_TRACE;
		assert_int_equal(
				ipt_prog_run(prog, IPT_MANGLE, IPT_FORWARD, rig->workers[0], &m, 1),
				0);
		assert_string_equal(line(), "TRACE: mangle:FORWARD:policy:2 " REST);
	}
	close_rules();
}

static void test_nflog_when_nobody_reads_only_counts(void **state)
{
	struct rte_mbuf *m = rig_packet(SYN);
	uint64_t unread;

	(void)state;
	open_rules(IPT_V4, "-A FORWARD -j NFLOG --nflog-group 7\n");
	unread = sl_pktlog_unread(rig);
	ipt_prog_run(prog, IPT_MANGLE, IPT_FORWARD, rig->workers[0], &m, 1);
	assert_null(sl_pktlog_peek(rig->workers[0]));
	assert_int_equal(sl_pktlog_unread(rig), unread + 1);
	rte_pktmbuf_free(m);
	close_rules();
}

static void test_nflog_when_group_is_read_hands_over_the_packet(void **state)
{
	struct rte_mbuf *m = rig_packet(SYN);
	const struct sl_pktlog_rec *rec;

	(void)state;
	open_rules(IPT_V4,
			"-A FORWARD -j NFLOG --nflog-group 8 --nflog-prefix p --nflog-size 24\n"
			"-A FORWARD -j NFLOG --nflog-group 8 --nflog-threshold 9\n");
	sl_pktlog_subscribe(rig, 8, true);
	ipt_prog_run(prog, IPT_MANGLE, IPT_FORWARD, rig->workers[0], &m, 1);
	rec = sl_pktlog_peek(rig->workers[0]);
	assert_non_null(rec);
	assert_int_equal(rec->kind, SL_PKTLOG_GROUP);
	assert_int_equal(rec->group, 8);
	assert_string_equal(rec->prefix, "p");
	assert_int_equal(rec->len, 44);
	assert_int_equal(rec->captured, 24);
	assert_memory_equal(rec->data,
			rte_pktmbuf_mtod_offset(m, const uint8_t *, sl_pkt(m)->l3_off), 24);
	sl_pktlog_pop(rig->workers[0], rec);
	rec = sl_pktlog_peek(rig->workers[0]);
	assert_non_null(rec);
	assert_int_equal(rec->captured, 44);
	sl_pktlog_pop(rig->workers[0], rec);
	assert_null(sl_pktlog_peek(rig->workers[0]));
	sl_pktlog_subscribe(rig, 8, false);
	rte_pktmbuf_free(m);
	close_rules();
}

/* by its own measure: everything comes back in order, what had no room is counted */
static void test_ring_when_it_is_full_loses_and_counts(void **state)
{
	struct rte_mbuf *m = rig_packet(UDP);
	struct sl_pktlog_rec head = { .kind = SL_PKTLOG_LINE, .in = 1, .out = 2 };
	struct sl_worker *w = rig->workers[0];
	uint64_t lost = sl_pktlog_lost(rig);
	uint32_t next = 0, taken = 0;

	(void)state;
	assert_int_equal(sl_pktlog_enable(rig), 0);
	for (unsigned int round = 0; round < 20; round++) {
		const struct sl_pktlog_rec *rec;
		uint64_t before = sl_pktlog_lost(rig);

		while (sl_pktlog_lost(rig) == before) {
			sl_pkt(m)->mark = next;
			/* records of many sizes, so that the end of the ring comes anywhere */
			sl_pktlog_write(w, m, &head, next * 7 % 29);
			if (sl_pktlog_lost(rig) == before)
				next++;
		}
		for (unsigned int i = 0; i < 997 * (round + 1) && (rec = sl_pktlog_peek(w)) != NULL;
				i++) {
			assert_int_equal(rec->kind, SL_PKTLOG_LINE);
			assert_int_equal(rec->mark, taken);
			assert_int_equal(rec->captured, RTE_MIN(taken * 7 % 29, 28U));
			taken++;
			sl_pktlog_pop(w, rec);
		}
	}
	assert_int_equal(sl_pktlog_lost(rig), lost + 20);
	while (sl_pktlog_peek(w) != NULL) {
		sl_pktlog_pop(w, sl_pktlog_peek(w));
		taken++;
	}
	assert_int_equal(taken, next);
	rte_pktmbuf_free(m);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_log_when_packet_holds_writes_the_kernels_text),
		cmocka_unit_test(test_log_when_packet_is_cut_says_so),
		cmocka_unit_test(test_log_when_batch_jumps_keeps_order),
		cmocka_unit_test(test_trace_when_packet_is_traced_tells_its_way),
		cmocka_unit_test(test_nflog_when_nobody_reads_only_counts),
		cmocka_unit_test(test_nflog_when_group_is_read_hands_over_the_packet),
		cmocka_unit_test(test_ring_when_it_is_full_loses_and_counts),
	};

	return cmocka_run_group_tests(tests, rig_start, rig_stop);
}
