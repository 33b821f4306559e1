/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rulesets and packets that broke other firewalls, each with the outcome that is right: large tables,
 * reloads, resets, extension headers. The letters and numbers in the names are those under which we
 * collect such reports. Whatever costs time is measured elsewhere.
 */
#include "app/sluice/extensions.h"
#include "classifier/classifier.h"
#include "config/build.h"
#include "config/build_priv.h"
#include "lib/conf.h"
#include "lib/drop.h"
#include "tests/config/rules_rig.h"

#include <rte_mbuf.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/sluice-cases-XXXXXX";
static char err[512];

static const char *const engines[] = { "linear", "hashed", "forest", "trie", NULL };

static uint64_t drops(enum sl_drop_reason reason)
{
	uint64_t n = 0;

	for (uint16_t port = 0; port <= rig->n_ports; port++)
		n += sl_router_drops(rig, port, reason);
	return n;
}

/* whether the packet passes the FORWARD chain of the filter table */
static bool passes(const struct ipt_prog *prog, const char *hex)
{
	struct rte_mbuf *m = rig_packet(hex);
	bool passed = ipt_prog_run(prog, IPT_FILTER, IPT_FORWARD, rig->workers[0], &m, 1) == 1;

	if (passed)
		rte_pktmbuf_free(m);
	return passed;
}

/* ---- A: many rules ---- */

/* UDP from 10.0.0.1 port 53 to 11.x.y.z port 1024 */
static const char *to(uint32_t low)
{
	static char hex[128];

	snprintf(hex, sizeof(hex), "4500001c 00010000 4011 0000 0a000001 0b%06x 00350400 0008 0000",
			low);
	return hex;
}

/* rule i of @n is for 11.x.y.z with i as x.y.z; @frags: and a rule for fragments behind each */
static struct ipt_ruleset *many(unsigned int n, bool frags)
{
	struct ipt_ruleset *rs;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	fprintf(f, "*filter\n:FORWARD ACCEPT [0:0]\n");
	for (unsigned int i = 0; i < n; i++) {
		fprintf(f, "-A FORWARD -d 11.%u.%u.%u/32 -p udp -m udp --dport 1024 -j DROP\n",
				i >> 16, i >> 8 & 255, i & 255);
		if (frags)
			fprintf(f, "-A FORWARD -d 11.%u.%u.%u/32 -f -j ACCEPT\n", i >> 16,
					i >> 8 & 255, i & 255);
	}
	fprintf(f, "COMMIT\n");
	fclose(f);
	rs = rig_load(IPT_V4, text);
	free(text);
	return rs;
}

static void try_many(unsigned int n, bool frags, const char *engine)
{
	struct ipt_ruleset *rs = many(n, frags);
	struct ipt_prog *prog = rig_compile(rs, engine);
	uint32_t last = rs->n_rules - (frags ? 2 : 1);
	uint64_t passed = 0;

	assert_false(passes(prog, to(0)));
	assert_false(passes(prog, to(n - 1)));
	assert_true(passes(prog, to(n)));
	assert_int_equal(ipt_prog_rule_counters(prog, 0).packets, 1);
	assert_int_equal(ipt_prog_rule_counters(prog, last).packets, 1);
	for (uint32_t i = 0; i < rs->n_policies; i++)
		passed += ipt_prog_policy_counters(prog, i).packets;
	assert_int_equal(passed, 1);
	ipt_prog_free(prog);
	ipt_ruleset_free(rs);
}

/* A01, A04: up to 100,000 rules are held, and the last one is found */
static void test_a01_a04_many_rules(void **state)
{
	static const unsigned int sizes[] = { 100, 1000, 10000, 50000, 100000 };

	(void)state;
	for (size_t i = 0; i < RTE_DIM(sizes); i++)
		try_many(sizes[i], false, NULL);
	for (size_t i = 0; engines[i] != NULL; i++)
		try_many(10000, false, engines[i]);
}

/* A02: every rule comes with one for its fragments */
static void test_a02_rules_with_fragments(void **state)
{
	static const unsigned int sizes[] = { 1000, 10000, 50000 };

	(void)state;
	for (size_t i = 0; i < RTE_DIM(sizes); i++)
		try_many(sizes[i], true, NULL);
}

/* A05: an engine that cannot hold the rules names its limit, and they are held all the same */
static void test_a05_engine_too_small_says_so(void **state)
{
	static const unsigned int n = 20000;
	struct sl_cls_rule *rules = calloc(n, sizeof(*rules));
	struct sl_cls_spec spec = { .family = SL_AF_INET, .rules = rules, .n = n };
	struct sl_cls_key4 key = { .dst = 0x0b000000 + n - 1 };
	uint32_t label = 0;
	struct sl_cls *cls;

	(void)state;
	assert_non_null(rules);
	for (unsigned int i = 0; i < n; i++)
		rules[i] = (struct sl_cls_rule){ SL_CLS_RULE_ANY,
			.dst = sl_cls_addr4(0x0b000000 + i),
			.dst_mask = sl_cls_mask(SL_AF_INET, 32), .label = i };
	assert_int_equal(sl_cls_trie.build(&spec, &cls), 0);
	assert_non_null(strstr(cls->note, "20000 rules"));
	assert_non_null(strstr(cls->note, "12000"));
	sl_cls_lookup4(cls, &key, 1, NULL, NULL, &label);
	assert_int_equal(label, n - 1);
	cls->ops->free(cls);
	free(rules);
}

/* A06: counters are always on; each packet is counted once, by the rule that decided */
static void test_a06_counters_are_exact(void **state)
{
	(void)state;
	for (size_t e = 0; engines[e] != NULL; e++) {
		struct ipt_ruleset *rs = many(1000, false);
		struct ipt_prog *prog = rig_compile(rs, engines[e]);

		for (unsigned int i = 0; i < 2000; i++)
			passes(prog, to(i * 7 % 1000));
		for (uint32_t i = 0; i < rs->n_rules; i++) {
			assert_int_equal(ipt_prog_rule_counters(prog, i).packets, 2);
			assert_int_equal(ipt_prog_rule_counters(prog, i).bytes, 56);
		}
		ipt_prog_free(prog);
		ipt_ruleset_free(rs);
	}
}

/* ---- O: reloads and resets ---- */

static struct sl_firewall *build(const char *text, const struct sl_firewall *prev, int *ret)
{
	const struct sl_conf conf = { .path = "conf", .firewall = { .iptables = path } };
	const struct sl_firewall_args args = {
		.r = rig, .conf = &conf, .exts = &sl_extensions, .prev = prev
	};
	struct sl_firewall *fw = NULL;
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	*ret = sl_firewall_create(&args, &fw, err, sizeof(err));
	return fw;
}

static struct sl_firewall *reload(struct sl_firewall *fw, const char *text)
{
	struct sl_firewall *new;
	int ret;

	new = build(text, fw, &ret);
	if (ret < 0)
		fail_msg("%s", err);
	sl_firewall_carry(new, fw);
	sl_firewall_free(fw);
	return new;
}

/* O21: what rules deny is counted once, as theirs; unchanged rules keep their counters */
static void test_o21_denied_packets(void **state)
{
	uint64_t before = drops(SL_DROP_RULE);
	struct sl_firewall *fw;
	int ret;

	(void)state;
	fw = build("*filter\n:FORWARD ACCEPT\n-A FORWARD -p udp -j DROP\nCOMMIT\n", NULL, &ret);
	assert_int_equal(ret, 0);
	for (unsigned int i = 0; i < 1000; i++)
		assert_false(passes(fw->prog[IPT_V4], to(i)));
	assert_int_equal(drops(SL_DROP_RULE) - before, 1000);
	assert_int_equal(ipt_prog_rule_counters(fw->prog[IPT_V4], 0).packets, 1000);
	fw = reload(fw,
			"*filter\n:FORWARD ACCEPT\n-A FORWARD -p tcp -j DROP\n"
			"-A FORWARD -p udp -j DROP\nCOMMIT\n");
	assert_int_equal(ipt_prog_rule_counters(fw->prog[IPT_V4], 0).packets, 0);
	assert_int_equal(ipt_prog_rule_counters(fw->prog[IPT_V4], 1).packets, 1000);
	assert_int_equal(drops(SL_DROP_RULE) - before, 1000);
	sl_firewall_free(fw);
}

/* O22: a hundred reloads, of which every tenth is refused: no packet meets anything but whole rules */
static void test_o22_reloads(void **state)
{
	static const char good[] = "*filter\n:FORWARD DROP\n-A FORWARD -p udp -j ACCEPT\nCOMMIT\n";
	static const char bad[] = "*filter\n:FORWARD DROP\n-A FORWARD -p udp -j NOWHERE\nCOMMIT\n";
	struct sl_firewall *fw;
	uint64_t sent = 0;
	int ret;

	(void)state;
	fw = build(good, NULL, &ret);
	assert_int_equal(ret, 0);
	for (unsigned int i = 0; i < 100; i++) {
		for (unsigned int flow = 0; flow < 1000; flow++, sent++)
			assert_true(passes(fw->prog[IPT_V4], to(flow)));
		if (i % 10 == 9) {
			assert_null(build(bad, fw, &ret));
			assert_true(ret < 0);
			assert_non_null(strstr(err, ":3: "));
		} else {
			fw = reload(fw, good);
		}
	}
	assert_int_equal(ipt_prog_rule_counters(fw->prog[IPT_V4], 0).packets, sent);
	sl_firewall_free(fw);
}

/* ---- N: extension headers ---- */

#define IP6(len, next)                                                                            \
	"60000000 " len " " next "40 fd010000000000000000000000000002 fd020000000000000000000000" \
	"000002 "
#define TCP6(dport) "9c40" dport " 00000007 00000000 5002 0064 0000 0000"

static bool passes6(const char *rules, const char *hex)
{
	char text[512];
	struct ipt_ruleset *rs;
	struct ipt_prog *prog;
	bool passed;

	snprintf(text, sizeof(text), "*filter\n:FORWARD DROP [0:0]\n%sCOMMIT\n", rules);
	rs = rig_load(IPT_V6, text);
	prog = rig_compile(rs, NULL);
	passed = passes(prog, hex);
	ipt_prog_free(prog);
	ipt_ruleset_free(rs);
	return passed;
}

/* N39: as ip6tables-legacy: TCP behind AH is TCP, and -p ah never matches */
static void test_n39_tcp_behind_ah(void **state)
{
#define AH_TCP(dport) \
	IP6("002c", "33") "06040000 00000100 00000001 000000000000000000000000 " TCP6(dport)
	(void)state;
	assert_true(passes6("-A FORWARD -p tcp --dport 80 -j ACCEPT\n", AH_TCP("0050")));
	assert_false(passes6("-A FORWARD -p tcp --dport 80 -j ACCEPT\n", AH_TCP("0051")));
	assert_false(passes6("-A FORWARD -p ah -j ACCEPT\n", AH_TCP("0050")));
	assert_true(passes6("-A FORWARD -m ah --ahspi 256 -j ACCEPT\n", AH_TCP("0050")));
}

/* N40: UDP without data */
static void test_n40_empty_udp(void **state)
{
	(void)state;
	assert_true(passes6(
			"-A FORWARD -p udp -j ACCEPT\n", IP6("0008", "11") "03e80050 0008 0000"));
}

/* N41: what stands behind a header that nobody knows is not looked for: it is dropped */
static void test_n41_unknown_extension_header(void **state)
{
#define DSTOPTS(next) next "00 0104 00000000 "
#define ECHO "8000 0000 00010001"
	static const char echo[] = "-A FORWARD -p icmpv6 --icmpv6-type echo-request -j ACCEPT\n";
	uint64_t before = drops(SL_DROP_RULE);

	(void)state;
	assert_true(passes6(echo, IP6("0010", "3c") DSTOPTS("3a") ECHO));
	assert_false(passes6(echo, IP6("0018", "3c") DSTOPTS("87") "3a00 0500 00000000 " ECHO));
	assert_int_equal(drops(SL_DROP_RULE) - before, 1);
}

static int start(void **state)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	return rig_start(state);
}

static int stop(void **state)
{
	unlink(path);
	return rig_stop(state);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test(test_##name)
		T(a01_a04_many_rules),
		T(a02_rules_with_fragments),
		T(a05_engine_too_small_says_so),
		T(a06_counters_are_exact),
		T(o21_denied_packets),
		T(o22_reloads),
		T(n39_tcp_behind_ah),
		T(n40_empty_udp),
		T(n41_unknown_extension_header),
#undef T
	};

	return cmocka_run_group_tests(tests, start, stop);
}
