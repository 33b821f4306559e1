/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/sysctl.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static int check(const char *name, long value, char *port)
{
	long min, max;

	return sl_sysctl_check(name, value, port, &min, &max);
}

static void test_sysctl_check_when_names_then_known_or_not(void **state)
{
	char port[SL_PORT_NAME_MAX];
	long min, max;

	(void)state;
	assert_int_equal(check("net.ipv4.ip_forward", 1, port), 0);
	assert_string_equal(port, "");
	assert_int_equal(check("net/ipv4/ip_forward", 0, port), 0);
	assert_int_equal(check("net.ipv4.conf.all.rp_filter", 2, port), 0);
	assert_string_equal(port, "");
	assert_int_equal(check("net.ipv4.conf.wan.rp_filter", 2, port), 0);
	assert_string_equal(port, "wan");
	assert_int_equal(check("net/ipv4/conf/eth0.5/rp_filter", 2, port), 0);
	assert_string_equal(port, "eth0.5");
	assert_int_equal(check("net.ipv4.conf.eth0/5.rp_filter", 2, port), 0);
	assert_string_equal(port, "eth0.5");
	assert_int_equal(check("net.ipv4.conf.eth0.5.rp_filter", 2, port), 0);
	assert_string_equal(port, "eth0.5");
	assert_int_equal(check("net.ipv6.conf.default.hop_limit", 3, port), 0);
	assert_int_equal(check("net.ipv6.conf.wan.rp_filter", 0, port), -ENOENT);
	assert_int_equal(check("net.ipv4.conf..rp_filter", 0, port), -ENOENT);
	assert_int_equal(check("net.ipv4.conf.rp_filter", 0, port), -ENOENT);
	assert_int_equal(check("net.ipv4.conf.wan", 0, port), -ENOENT);
	assert_int_equal(check("net.ipv4.conf.a-port-name-of-16.rp_filter", 0, port), -ENOENT);
	assert_int_equal(check("net.netfilter.nf_conntrack_max", 0, port), -ENOENT);
	assert_int_equal(check("", 0, port), -ENOENT);
	assert_int_equal(sl_sysctl_check("net.ipv4.conf.wan.rp_filter", 3, port, &min, &max),
			-ERANGE);
	assert_int_equal(min, 0);
	assert_int_equal(max, 2);
}

static void test_sysctl_combine_when_all_and_port_then_kernel_rule(void **state)
{
	struct sl_sysctl_set set;
	struct sl_sysctl_port out;

	(void)state;
	sl_sysctl_init(&set);
	sl_sysctl_store(&set, "net.ipv4.conf.default.rp_filter", 1, 0);
	sl_sysctl_store(&set, "net.ipv4.conf.wan.accept_source_route", 1, 1);
	sl_sysctl_store(&set, "net.ipv4.conf.wan.accept_local", 1, 1);
	sl_sysctl_store(&set, "net.ipv4.conf.wan.arp_ignore", 2, 1);
	sl_sysctl_store(&set, "net.ipv4.conf.all.arp_ignore", 1, 0);
	sl_sysctl_store(&set, "net.ipv6.conf.wan.accept_source_route", -1, 1);
	sl_sysctl_store(&set, "net.ipv6.conf.default.hop_limit", 9, 0);
	sl_sysctl_combine(&set, 1, &out);
	assert_int_equal(out.rp_filter, 1);
	assert_int_equal(out.accept_source_route4, 0);
	assert_int_equal(out.accept_local, 1);
	assert_int_equal(out.arp_ignore, 2);
	assert_int_equal(out.accept_source_route6, -1);
	assert_int_equal(out.hop_limit, 9);
	assert_int_equal(out.send_redirects4, 1);
	assert_int_equal(set.global.ip6_default_hop_limit, 9);
	sl_sysctl_store(&set, "net.ipv4.conf.all.accept_source_route", 1, 0);
	sl_sysctl_store(&set, "net.ipv4.conf.wan.rp_filter", 0, 1);
	sl_sysctl_combine(&set, 1, &out);
	assert_int_equal(out.accept_source_route4, 1);
	assert_int_equal(out.rp_filter, 0);
	sl_sysctl_combine(&set, 2, &out);
	assert_int_equal(out.rp_filter, 1);
	assert_int_equal(out.accept_local, 0);
	assert_int_equal(out.arp_ignore, 1);
}

static void test_sysctl_store_when_forwarding_then_written_through(void **state)
{
	struct sl_sysctl_set set;
	struct sl_sysctl_port out;

	(void)state;
	sl_sysctl_init(&set);
	sl_sysctl_store(&set, "net.ipv4.conf.wan.forwarding", 1, 1);
	sl_sysctl_store(&set, "net.ipv4.ip_forward", 0, 0);
	sl_sysctl_store(&set, "net.ipv4.conf.lan.forwarding", 1, 2);
	sl_sysctl_combine(&set, 1, &out);
	assert_int_equal(out.forwarding4, 0);
	assert_int_equal(out.forwarding6, 1);
	sl_sysctl_combine(&set, 2, &out);
	assert_int_equal(out.forwarding4, 1);
	assert_int_equal(set.global.ip4_forward, 0);
	sl_sysctl_store(&set, "net.ipv6.conf.all.forwarding", 0, 0);
	sl_sysctl_combine(&set, 2, &out);
	assert_int_equal(out.forwarding6, 0);
	assert_int_equal(set.global.ip6_forward, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sysctl_check_when_names_then_known_or_not),
		cmocka_unit_test(test_sysctl_combine_when_all_and_port_then_kernel_rule),
		cmocka_unit_test(test_sysctl_store_when_forwarding_then_written_through),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
