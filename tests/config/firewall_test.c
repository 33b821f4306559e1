/* SPDX-License-Identifier: BSD-3-Clause */
/* The firewall of a configuration: all or nothing, which stages it makes, counters over a reload. */
#include "app/sluice/extensions.h"
#include "config/build.h"
#include "config/build_priv.h"
#include "lib/conf.h"
#include "lib/pipeline.h"
#include "tests/config/rules_rig.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/sluice-firewall-XXXXXX";
static char err[512];

static struct sl_firewall *build(
		const char *text, const struct sl_firewall *prev, FILE *report, int *ret)
{
	const struct sl_conf conf = { .path = "conf", .firewall = { .iptables = path } };
	const struct sl_firewall_args args = {
		.r = rig, .conf = &conf, .exts = &sl_extensions, .prev = prev, .report = report
	};
	struct sl_firewall *fw = NULL;
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	err[0] = '\0';
	*ret = sl_firewall_create(&args, &fw, err, sizeof(err));
	return fw;
}

static void send(struct sl_firewall *fw, unsigned int n)
{
	while (n-- > 0) {
		struct rte_mbuf *m = rig_packet("4500001c 00010000 40110000 0a000001 0a000101"
						"03e80035 0008 0000");

		if (ipt_prog_run(fw->prog[IPT_V4], IPT_FILTER, IPT_FORWARD, rig->workers[0], &m, 1)
				!= 0)
			rte_pktmbuf_free(m);
	}
}

static void assert_text(struct sl_firewall *fw, const char *expected)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(sl_firewall_print(fw, f, IPT_V4, NULL, true), 0);
	fclose(f);
	assert_string_equal(text, expected);
	free(text);
}

#define HEAD "*filter\n:INPUT ACCEPT [0:0]\n"

static void test_counters_when_reloaded_stay_with_unchanged_rules(void **state)
{
	struct sl_firewall *a, *b;
	int ret;

	(void)state;
	a = build("*filter\n:FORWARD ACCEPT\n-A FORWARD -p udp\n-A FORWARD -p udp\n"
		  "-A FORWARD -s 10.0.0.0/8\nCOMMIT\n",
			NULL, NULL, &ret);
	assert_int_equal(ret, 0);
	send(a, 3);
	/* one of two that are alike goes, one is changed, one is new and stands in front */
	b = build("*filter\n:FORWARD ACCEPT\n-A FORWARD -d 10.0.0.0/8\n-A FORWARD -p udp\n"
		  "-A FORWARD -s 10.0.0.0/9\nCOMMIT\n",
			a, NULL, &ret);
	assert_int_equal(ret, 0);
	send(a, 1); /* while the new one was being built */
	sl_firewall_carry(b, a);
	sl_firewall_free(a);
	send(b, 2);
	assert_text(b,
			HEAD ":FORWARD ACCEPT [6:168]\n:OUTPUT ACCEPT [0:0]\n"
			     "[2:56] -A FORWARD -d 10.0.0.0/8\n[6:168] -A FORWARD -p udp\n"
			     "[2:56] -A FORWARD -s 10.0.0.0/9\nCOMMIT\n");
	assert_int_equal(sl_firewall_zero(b, IPT_V4, "mangle"), -ENOENT);
	assert_int_equal(sl_firewall_zero(b, IPT_V4, "filter"), 0);
	send(b, 1);
	assert_text(b,
			HEAD ":FORWARD ACCEPT [1:28]\n:OUTPUT ACCEPT [0:0]\n"
			     "[1:28] -A FORWARD -d 10.0.0.0/8\n[1:28] -A FORWARD -p udp\n"
			     "[1:28] -A FORWARD -s 10.0.0.0/9\nCOMMIT\n");
	sl_firewall_free(b);
}

static void test_policy_when_it_changes_counts_anew(void **state)
{
	struct sl_firewall *a, *b;
	int ret;

	(void)state;
	a = build("*filter\n:FORWARD DROP\nCOMMIT\n", NULL, NULL, &ret);
	assert_int_equal(ret, 0);
	send(a, 3);
	b = build("*filter\n:FORWARD ACCEPT\n-A FORWARD -j RETURN\nCOMMIT\n", a, NULL, &ret);
	assert_int_equal(ret, 0);
	sl_firewall_carry(b, a);
	sl_firewall_free(a);
	send(b, 1);
	assert_text(b,
			HEAD ":FORWARD ACCEPT [1:28]\n:OUTPUT ACCEPT [0:0]\n"
			     "[1:28] -A FORWARD -j RETURN\nCOMMIT\n");
	sl_firewall_free(b);
}

static void test_file_when_a_line_is_refused_names_it(void **state)
{
	static const struct {
		const char *text, *error;
	} bad[] = {
		{ "*filter\n-A FORWARD -j NOPE\nCOMMIT\n", ":2: " },
		{ "*filter\n-A FORWARD -j DROP\n", ":3: " },
		{ "*nat\n-A PREROUTING -j SNAT --to-source 192.0.2.1\nCOMMIT\n", ":2: " },
		{ "*nat\n-A PREROUTING -j DROP\nCOMMIT\n", ":2: " },
		{ "*filter\n-A FORWARD -m owner --uid-owner 0\nCOMMIT\n", ":2: " },
	};
	char place[128];
	int ret;

	(void)state;
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		assert_null(build(bad[i].text, NULL, NULL, &ret));
		assert_int_equal(ret, -EINVAL);
		snprintf(place, sizeof(place), "%s%s", path, bad[i].error);
		if (strncmp(err, place, strlen(place)) != 0)
			fail_msg("'%s', expected '%s'", err, place);
	}
}

static void test_report_when_asked_has_every_rule_line(void **state)
{
	char *text = NULL, expected[1024];
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	int ret;

	(void)state;
	assert_non_null(f);
	assert_null(build("*filter\n-A OUTPUT -j NFQUEUE\nCOMMIT\n# a remark\n*filter\n"
			  "-A FORWARD -p udp -j DROP\nCOMMIT\n",
			NULL, f, &ret));
	fclose(f);
	assert_int_equal(ret, -EINVAL);
	snprintf(expected, sizeof(expected),
			"%s:2: refused: target \"NFQUEUE\" is not built into this sluice: -A OUTPUT "
			"-j NFQUEUE\n%s:6: exact: -A FORWARD -p udp -j DROP\n"
			"%s: 2 rule lines, 1 lines refused\n",
			path, path, path);
	assert_string_equal(text, expected);
	free(text);
}

static unsigned int no_process(__rte_unused struct sl_worker *w, __rte_unused void *priv,
		__rte_unused struct rte_mbuf **pkts, unsigned int n)
{
	return n;
}

static void assert_stages(const char *rules, const struct sl_stage_spec *user, const char *expected)
{
	struct sl_stage_spec *specs;
	char found[512] = "";
	size_t n = 0;
	unsigned int n_specs;
	struct sl_firewall *fw;
	int ret;

	fw = build(rules, NULL, NULL, &ret);
	assert_int_equal(ret, 0);
	assert_int_equal(sl_firewall_specs(fw, user, user != NULL, &specs, &n_specs), 0);
	for (unsigned int i = 0; i < n_specs; i++)
		n += (size_t)snprintf(found + n, sizeof(found) - n, "%s %s %d\n",
				sl_hook_name(specs[i].hook), specs[i].ops->name, specs[i].order);
	assert_string_equal(found, expected);
	free(specs);
	sl_firewall_free(fw);
}

static void test_stages_when_chains_do_nothing_only_count(void **state)
{
	static const struct sl_stage_ops acl = { .name = "acl", .process = no_process };
	const struct sl_stage_spec user = { .ops = &acl, .hook = SL_HOOK_FORWARD, .order = -10 };

	(void)state;
	assert_stages("*filter\n:FORWARD ACCEPT\nCOMMIT\n", NULL,
			"input policy 0\nforward policy 0\noutput policy 0\n");
	assert_stages("*filter\n:FORWARD DROP\nCOMMIT\n", NULL,
			"input policy 0\nforward filter 0\noutput policy 0\n");
	assert_stages("*mangle\nCOMMIT\n*filter\n-A INPUT -j DROP\nCOMMIT\n", NULL,
			"prerouting policy -150\ninput policy -150\ninput filter 0\n"
			"forward policy -150\noutput policy -150\npostrouting policy -150\n");
	/* what passes mangle is not what passes filter */
	assert_stages("*mangle\nCOMMIT\n*filter\nCOMMIT\n", &user,
			"prerouting policy -150\ninput policy -150\nforward policy -150\n"
			"forward policy 0\noutput policy -150\npostrouting policy -150\n"
			"forward acl -10\n");
	assert_stages("*nat\nCOMMIT\n", NULL, "");
}

static int start(void **state)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return -1;
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
		cmocka_unit_test(test_counters_when_reloaded_stay_with_unchanged_rules),
		cmocka_unit_test(test_policy_when_it_changes_counts_anew),
		cmocka_unit_test(test_file_when_a_line_is_refused_names_it),
		cmocka_unit_test(test_report_when_asked_has_every_rule_line),
		cmocka_unit_test(test_stages_when_chains_do_nothing_only_count),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
