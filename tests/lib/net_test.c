/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses, routes, policy: what a configuration makes, and what it is refused for. */
#include "tests/lib/net_fixture.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void lan_and_wan(struct net_fixture *f)
{
	fixture_init(f);
	fixture_address(f, WAN, "192.0.2.2/24");
	fixture_address(f, WAN, "2001:db8::2/64");
	fixture_address(f, LAN, "10.0.0.1/24");
	fixture_address(f, LAN, "2001:db8:1::1/64");
}

static void assert_type(const struct net_fixture *f, const char *dst, enum sl_route_type type,
		uint16_t port)
{
	const struct sl_nexthop *nh = fixture_look_up(f, dst, WAN);

	print_message("%s\n", dst);
	assert_non_null(nh);
	assert_int_equal(nh->type, type);
	assert_int_equal(nh->port, port);
}

static void test_net_route_when_addresses_then_kernel_routes(void **state)
{
	struct net_fixture f;

	(void)state;
	lan_and_wan(&f);
	assert_int_equal(fixture_build(&f), 0);
	assert_type(&f, "192.0.2.2", SL_ROUTE_LOCAL, WAN);
	assert_type(&f, "192.0.2.255", SL_ROUTE_BROADCAST, WAN);
	assert_type(&f, "192.0.2.0", SL_ROUTE_UNICAST, WAN);
	assert_type(&f, "192.0.2.77", SL_ROUTE_UNICAST, WAN);
	assert_type(&f, "10.0.0.77", SL_ROUTE_UNICAST, LAN);
	assert_type(&f, "127.9.9.9", SL_ROUTE_LOCAL, 0);
	assert_type(&f, "255.255.255.255", SL_ROUTE_BROADCAST, 0);
	assert_type(&f, "2001:db8::2", SL_ROUTE_LOCAL, WAN);
	assert_type(&f, "2001:db8:1::", SL_ROUTE_LOCAL, LAN);
	assert_type(&f, "2001:db8:1::77", SL_ROUTE_UNICAST, LAN);
	assert_type(&f, "fe80::ff:fe00:1", SL_ROUTE_LOCAL, WAN);
	assert_type(&f, "fe80::ff:fe00:2", SL_ROUTE_UNICAST, WAN);
	assert_type(&f, "ff02::1", SL_ROUTE_UNICAST, WAN);
	assert_null(fixture_look_up(&f, "8.8.8.8", WAN));
	assert_null(fixture_look_up(&f, "2001:4860::1", WAN));
	fixture_free(&f);
}

static void test_net_route_when_gateways_then_pinned_and_shared(void **state)
{
	const struct sl_nexthop *a, *b;
	struct net_fixture f;

	(void)state;
	lan_and_wan(&f);
	fixture_route(&f, "0.0.0.0/0", "192.0.2.1");
	fixture_route(&f, "10.8.0.0/16", "192.0.2.1");
	fixture_route(&f, "10.9.0.0/16", "172.16.0.1%lan");
	fixture_route(&f, "::/0", "fe80::1%wan");
	assert_int_equal(fixture_build(&f), 0);
	a = fixture_look_up(&f, "8.8.8.8", LAN);
	b = fixture_look_up(&f, "10.8.1.1", LAN);
	assert_ptr_equal(a, b);
	assert_int_equal(a->port, WAN);
	assert_int_equal(a->family, SL_AF_INET);
	assert_non_null(a->neigh);
	assert_int_equal(fixture_look_up(&f, "10.9.1.1", WAN)->port, LAN);
	assert_int_equal(fixture_look_up(&f, "2001:4860::1", LAN)->port, WAN);
	assert_int_equal(fixture_pinned, 3);
	fixture_free(&f);
	assert_int_equal(fixture_pinned, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_net_route_when_addresses_then_kernel_routes),
		cmocka_unit_test(test_net_route_when_gateways_then_pinned_and_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
