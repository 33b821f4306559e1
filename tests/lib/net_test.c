/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses, routes, policy: what a configuration makes, and what it is refused for. */
#include "tests/lib/net_fixture.h"

#include <errno.h>
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

/* the first thing wrong with the world that @spoil made is named with its place */
static void refused(void (*spoil)(struct net_fixture *f), const char *want)
{
	struct net_fixture f;

	lan_and_wan(&f);
	fixture_route(&f, "0.0.0.0/0", "192.0.2.1");
	spoil(&f);
	assert_int_equal(fixture_build(&f), -EINVAL);
	assert_string_equal(f.err, want);
	assert_null(f.net);
	assert_int_equal(fixture_pinned, 0);
}

static void gateway_nowhere(struct net_fixture *f)
{
	fixture_route(f, "10.8.0.0/16", "172.16.0.1");
}

static void gateway_own(struct net_fixture *f)
{
	fixture_route(f, "10.8.0.0/16", "10.0.0.1");
}

static void gateway_broadcast(struct net_fixture *f)
{
	fixture_route(f, "10.8.0.0/16", "10.0.0.255");
}

static void gateway_multicast(struct net_fixture *f)
{
	fixture_route(f, "10.8.0.0/16", "224.0.0.5%lan");
}

static void gateway_link_local(struct net_fixture *f)
{
	fixture_route(f, "2001:db8:8::/48", "fe80::1");
}

static void host_bits(struct net_fixture *f)
{
	fixture_route(f, "10.8.0.1/16", "10.0.0.2");
}

static void no_via(struct net_fixture *f)
{
	fixture_route(f, "10.8.0.0/16", NULL);
}

static void route_twice(struct net_fixture *f)
{
	fixture_route(f, "0.0.0.0/0", "10.0.0.9");
}

static void route_as_connected(struct net_fixture *f)
{
	fixture_route(f, "10.0.0.0/24", "192.0.2.1");
}

static void address_twice(struct net_fixture *f)
{
	fixture_address(f, DMZ, "10.0.0.1/32");
}

static void subnet_twice(struct net_fixture *f)
{
	fixture_address(f, DMZ, "10.0.0.7/24");
}

static void address_multicast(struct net_fixture *f)
{
	fixture_address(f, DMZ, "224.0.0.1/24");
}

static void policy_port(struct net_fixture *f)
{
	fixture_policy(f, 5, 7)->iif = "eth9";
}

static void sysctl_unknown(struct net_fixture *f)
{
	fixture_sysctl(f, "net.ipv4.conf.wan.rp_filtre", 1);
}

static void sysctl_range(struct net_fixture *f)
{
	fixture_sysctl(f, "net.ipv4.conf.wan.rp_filter", 3);
}

static void sysctl_port(struct net_fixture *f)
{
	fixture_sysctl(f, "net.ipv4.conf.eth9.rp_filter", 1);
}

static void test_net_build_when_wrong_then_place_and_reason(void **state)
{
	(void)state;
	refused(gateway_nowhere,
			"test.yaml:11:5: route to 10.8.0.0/16 via 172.16.0.1, which is on no "
			"connected network, expected a gateway on the network of a port, or "
			"a `port` with it");
	refused(gateway_own,
			"test.yaml:11:5: route to 10.8.0.0/16 via 10.0.0.1, which is the "
			"router's own or a broadcast address, expected another host's");
	refused(gateway_broadcast,
			"test.yaml:11:5: route to 10.8.0.0/16 via 10.0.0.255, which is the "
			"router's own or a broadcast address, expected another host's");
	refused(gateway_multicast,
			"test.yaml:11:5: route to 10.8.0.0/16 via 224.0.0.5, expected the "
			"address of one host");
	refused(gateway_link_local,
			"test.yaml:11:5: route to 2001:db8:8::/48 via the link-local "
			"address fe80::1, expected a `port` with it");
	refused(host_bits,
			"test.yaml:11:5: route to 10.8.0.1/16 has host bits set, expected "
			"10.8.0.0/16");
	refused(no_via, "test.yaml:11:5: route to 10.8.0.0/16 has 0 paths, expected 1 to 256");
	refused(route_twice,
			"test.yaml:11:5: overlapping routes: 0.0.0.0/0 in table 254 is there "
			"already (line 10), expected another metric, or one route with several "
			"`via`");
	refused(route_as_connected,
			"test.yaml:11:5: overlapping routes: 10.0.0.0/24 in table 254 is "
			"there already (of an address, line 3), expected another metric, "
			"or one route with several `via`");
	refused(address_twice,
			"test.yaml:4:5: address 10.0.0.1/32 overlaps with 10.0.0.1/24 of port "
			"lan, expected another subnet");
	refused(subnet_twice,
			"test.yaml:4:5: address 10.0.0.7/24 overlaps with 10.0.0.1/24 of port "
			"lan, expected another subnet");
	refused(address_multicast,
			"test.yaml:4:5: address 224.0.0.1/24 is a multicast address, "
			"expected an address for one host");
	refused(policy_port,
			"test.yaml:81:5: policy for packets from port eth9, expected one of "
			"`ports:`");
	refused(sysctl_unknown,
			"test.yaml:90:5: unknown switch net.ipv4.conf.wan.rp_filtre, expected "
			"a name that the kernel has and sluice honours");
	refused(sysctl_range, "test.yaml:90:5: net.ipv4.conf.wan.rp_filter is 3, expected 0 to 2");
	refused(sysctl_port,
			"test.yaml:90:5: net.ipv4.conf.eth9.rp_filter names port eth9, expected "
			"one of `ports:`");
}

static void test_net_route_when_metrics_then_lowest(void **state)
{
	struct net_fixture f;

	(void)state;
	lan_and_wan(&f);
	fixture_route(&f, "10.8.0.0/16", "192.0.2.1")->metric = 20;
	fixture_route(&f, "10.8.0.0/16", "10.0.0.9")->metric = 10;
	fixture_route(&f, "10.0.0.0/24", "192.0.2.1")->metric = 1; /* behind the connected one */
	fixture_route(&f, "2001:db8::/64", "2001:db8:1::9")->metric = 255; /* before it (256) */
	assert_int_equal(fixture_build(&f), 0);
	assert_int_equal(fixture_look_up(&f, "10.8.1.1", WAN)->port, LAN);
	assert_int_equal(fixture_look_up(&f, "10.0.0.7", WAN)->port, LAN);
	assert_int_equal(fixture_look_up(&f, "2001:db8::7", LAN)->port, LAN);
	fixture_free(&f);
}

static void test_net_route_when_own_address_inside_route_then_local(void **state)
{
	struct net_fixture f;

	(void)state;
	lan_and_wan(&f);
	/* the local table is asked first, whatever the length */
	fixture_route(&f, "10.0.0.1/32", "192.0.2.1");
	fixture_route(&f, "127.5.0.0/16", "192.0.2.1");
	fixture_route(&f, "2001:db8::2/128", "2001:db8:1::9");
	assert_int_equal(fixture_build(&f), 0);
	assert_type(&f, "10.0.0.1", SL_ROUTE_LOCAL, LAN);
	assert_type(&f, "127.5.1.1", SL_ROUTE_LOCAL, 0);
	assert_type(&f, "2001:db8::2", SL_ROUTE_LOCAL, WAN);
	fixture_free(&f);
}

static void test_net_path_when_weights_then_spread(void **state)
{
	const struct sl_nexthop *group;
	unsigned int wan = 0;
	struct net_fixture f;

	(void)state;
	lan_and_wan(&f);
	fixture_route(&f, "10.8.0.0/16", "192.0.2.1*1,10.0.0.9*3");
	assert_int_equal(fixture_build(&f), 0);
	group = fixture_look_up(&f, "10.8.0.1", DMZ);
	assert_int_equal(group->n_paths, 2);
	for (unsigned int i = 0; i < 4096; i++) {
		struct sl_pkt p = { .family = SL_AF_INET, .src = addr_of("10.0.0.5") };

		p.dst.v4 = rte_cpu_to_be_32(0x0a080000 + i);
		wan += sl_net_path(group, sl_net_flow_hash(f.net, &p))->port == WAN;
	}
	assert_in_range(wan, 4096 / 4 - 150, 4096 / 4 + 150);
	assert_int_equal(sl_net_path(group, 0)->port, WAN);
	assert_int_equal(sl_net_path(group, UINT32_MAX / 4 - 1)->port, WAN);
	assert_int_equal(sl_net_path(group, UINT32_MAX / 4 + 2)->port, LAN);
	assert_int_equal(sl_net_path(group, UINT32_MAX)->port, LAN);
	fixture_free(&f);
}

static void test_net_flow_hash_when_policy_then_fields(void **state)
{
	struct sl_pkt p = { .family = SL_AF_INET, .proto = 17, .flags = SL_PKT_L4 | SL_PKT_PORTS };
	struct net_fixture f;
	uint32_t h;

	(void)state;
	p.src = addr_of("10.0.0.5");
	p.dst = addr_of("8.8.8.8");
	for (int policy = 0; policy <= 1; policy++) {
		lan_and_wan(&f);
		fixture_sysctl(&f, "net.ipv4.fib_multipath_hash_policy", policy);
		assert_int_equal(fixture_build(&f), 0);
		p.sport_be = 1;
		p.proto = 17;
		h = sl_net_flow_hash(f.net, &p);
		p.sport_be = 2;
		assert_int_equal(sl_net_flow_hash(f.net, &p) == h, policy == 0);
		p.sport_be = 1;
		p.proto = 6;
		assert_int_equal(sl_net_flow_hash(f.net, &p) == h, policy == 0);
		p.src.b[3]++;
		assert_int_not_equal(sl_net_flow_hash(f.net, &p), h);
		p.src.b[3]--;
		fixture_free(&f);
	}
}

struct seen {
	unsigned int n, local, defaults;
};

static void see(const struct sl_route_conf *route, const struct sl_nexthop *paths,
		unsigned int n_paths, void *arg)
{
	struct seen *seen = arg;

	assert_int_equal(route->type, paths->type);
	assert_int_equal(n_paths, paths->n_paths);
	seen->n++;
	seen->local += route->table == 255;
	seen->defaults += route->to.len == 0;
}

static void test_net_walk_when_built_then_every_route(void **state)
{
	struct seen seen = { .n = 0 };
	struct net_fixture f;

	(void)state;
	lan_and_wan(&f);
	fixture_route(&f, "0.0.0.0/0", "192.0.2.1,10.0.0.9");
	fixture_route(&f, "::/0", "2001:db8::1")->table = 9;
	assert_int_equal(fixture_build(&f), 0);
	/* 127/8: 3, ::1; each port: link-local 3; two with IPv4: 3 and IPv6: 3; two defaults */
	assert_int_equal(sl_net_walk(f.net, see, &seen), 4 + 3 * 3 + 2 * 3 + 2 * 3 + 2);
	assert_int_equal(seen.n, 27);
	assert_int_equal(seen.local, 4 + 3 * 2 + 2 * 2 + 2 * 2);
	assert_int_equal(seen.defaults, 2);
	fixture_free(&f);
}

static void test_net_validate_when_leaves_by_input_port_then_onlink_or_not(void **state)
{
	struct sl_pkt p = { .family = SL_AF_INET, .in_port = LAN };
	const struct sl_nexthop *nh;
	struct net_fixture f;
	bool onlink;

	(void)state;
	lan_and_wan(&f);
	fixture_route(&f, "0.0.0.0/0", "10.0.0.9");
	fixture_route(&f, "10.0.0.64/26", "192.0.2.1");
	assert_int_equal(fixture_build(&f), 0);
	p.dst = addr_of("8.8.8.8");
	nh = fixture_look_up(&f, "8.8.8.8", LAN);
	p.src = addr_of("10.0.0.5");
	assert_int_equal(sl_net_validate_source4(f.net, &p, nh, &onlink), SL_SOURCE_OK);
	assert_true(onlink);
	p.src = addr_of("10.7.0.5");
	assert_int_equal(sl_net_validate_source4(f.net, &p, nh, &onlink), SL_SOURCE_OK);
	assert_false(onlink);
	/* the way back is by another port, but by this one the source is on the link */
	p.src = addr_of("10.0.0.65");
	assert_int_equal(sl_net_validate_source4(f.net, &p, nh, &onlink), SL_SOURCE_OK);
	assert_true(onlink);
	fixture_free(&f);
}

static void test_net_is_local_when_addresses_then_own_only(void **state)
{
	struct net_fixture f;

	(void)state;
	lan_and_wan(&f);
	assert_int_equal(fixture_build(&f), 0);
#define LOCAL(family, text, port) \
	sl_net_is_local(f.net, family, &(struct sl_addr[]){ addr_of(text) }[0], port)
	assert_true(LOCAL(SL_AF_INET, "10.0.0.1", WAN));
	assert_true(LOCAL(SL_AF_INET, "127.0.0.1", WAN));
	assert_false(LOCAL(SL_AF_INET, "10.0.0.255", WAN));
	assert_false(LOCAL(SL_AF_INET, "10.0.0.2", WAN));
	assert_true(LOCAL(SL_AF_INET6, "2001:db8::2", LAN));
	assert_false(LOCAL(SL_AF_INET6, "2001:db8::", WAN));
	assert_true(LOCAL(SL_AF_INET6, "fe80::ff:fe00:1", WAN));
	assert_false(LOCAL(SL_AF_INET6, "fe80::ff:fe00:1", LAN));
#undef LOCAL
	assert_true(sl_net_is_broadcast4(f.net, addr_of("10.0.0.255").v4));
	assert_false(sl_net_is_broadcast4(f.net, addr_of("10.0.0.1").v4));
	assert_false(sl_net_is_broadcast4(f.net, UINT32_MAX));
	fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_net_route_when_addresses_then_kernel_routes),
		cmocka_unit_test(test_net_route_when_gateways_then_pinned_and_shared),
		cmocka_unit_test(test_net_build_when_wrong_then_place_and_reason),
		cmocka_unit_test(test_net_route_when_metrics_then_lowest),
		cmocka_unit_test(test_net_route_when_own_address_inside_route_then_local),
		cmocka_unit_test(test_net_path_when_weights_then_spread),
		cmocka_unit_test(test_net_flow_hash_when_policy_then_fields),
		cmocka_unit_test(test_net_walk_when_built_then_every_route),
		cmocka_unit_test(test_net_validate_when_leaves_by_input_port_then_onlink_or_not),
		cmocka_unit_test(test_net_is_local_when_addresses_then_own_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
