/* SPDX-License-Identifier: BSD-3-Clause */
/* What is right is read right: every field of struct sl_conf, said or not. */
#include "config/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define PORTS                                                                      \
	"ports:\n"                                                                 \
	"  - {name: wan, device: d0, addresses: [192.0.2.1/24, \"fd00::1/64\"]}\n" \
	"  - {name: lan, device: d1, addresses: [10.0.0.1/24]}\n"

static char path[64];

static struct sl_conf *read_conf(const char *text)
{
	struct sl_conf *conf = NULL;
	char *err = NULL;
	size_t err_size;
	FILE *f, *e = open_memstream(&err, &err_size);
	int fd, ret;

	snprintf(path, sizeof(path), "/tmp/sluice-conf.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	ret = sl_conf_read(path, &conf, e);
	fclose(e);
	unlink(path);
	assert_string_equal(err, "");
	free(err);
	assert_int_equal(ret, 0);
	return conf;
}

static void assert_prefix(const struct sl_prefix *p, const char *text)
{
	char buf[SL_ADDR_STRLEN];

	assert_string_equal(sl_prefix_str(p, buf), text);
}

static void assert_addr(uint8_t family, const struct sl_addr *a, const char *text)
{
	char buf[SL_ADDR_STRLEN];

	assert_string_equal(sl_addr_str((enum sl_family)family, a, buf), text);
}

static void test_conf_read_when_only_ports_then_defaults(void **state)
{
	struct sl_conf *c = read_conf("ports: [{name: wan, device: \"net_null0\"}]\n");

	(void)state;
	assert_string_equal(c->path, path);
	assert_int_equal(c->n_workers, 1);
	assert_null(c->lcores);
	assert_int_equal(c->hugepages, SL_HUGEPAGES_AUTO);
	assert_int_equal(c->n_ports, 1);
	assert_string_equal(c->ports[0].name, "wan");
	assert_string_equal(c->ports[0].device, "net_null0");
	assert_null(c->ports[0].parent);
	assert_int_equal(c->ports[0].n_addresses, 0);
	assert_int_equal(c->ports[0].mtu, 1500);
	assert_int_equal(c->ports[0].vlan, 0);
	assert_false(c->ports[0].has_mac);
	assert_int_equal(c->n_routes + c->n_neighbours + c->n_policy + c->n_sysctls + c->n_stages,
			0);
	assert_null(c->firewall.iptables);
	assert_null(c->firewall.engine);
	assert_null(c->firewall.log.file);
	assert_int_equal(c->firewall.log.rate, SL_LOG_RATE);
	assert_int_equal(c->firewall.log.burst, SL_LOG_BURST);
	assert_int_equal(c->firewall.n_nflog, 0);
	assert_int_equal(c->conntrack_max, 262144);
	assert_string_equal(c->control_socket, "/run/sluice/control.sock");
	assert_null(c->metrics.listen);
	sl_conf_free(c);
}

static void test_conf_read_when_numbers_then_any_base(void **state)
{
	struct sl_conf *c = read_conf(PORTS "workers: 0x10\nconntrack: {max: 010}\n");

	(void)state;
	assert_int_equal(c->n_workers, 16);
	assert_int_equal(c->conntrack_max, 8);
	sl_conf_free(c);
}

static void test_conf_read_when_workers_is_list_then_cpus(void **state)
{
	struct sl_conf *c = read_conf(PORTS "workers: [7, 3]\nhugepages: off\n");

	(void)state;
	assert_int_equal(c->n_workers, 2);
	assert_int_equal(c->lcores[0], 7);
	assert_int_equal(c->lcores[1], 3);
	assert_int_equal(c->hugepages, SL_HUGEPAGES_OFF);
	sl_conf_free(c);
}

static void test_conf_read_ports(void **state)
{
	static const struct rte_ether_addr mac = { { 2, 0, 0, 0, 0xab, 9 } };
	struct sl_conf *c = read_conf(PORTS
			"  - {name: v7, parent: wan, vlan: 7, mtu: 1280, addresses: [\"fd07::1/64\"]}\n"
			"  - {name: nic, device: \"0000:03:00.0\", mac: 02:00:00:00:AB:09, mtu: 9600}\n");

	(void)state;
	assert_int_equal(c->n_ports, 4);
	assert_int_equal(c->ports[0].n_addresses, 2);
	assert_prefix(&c->ports[0].addresses[0], "192.0.2.1/24");
	assert_prefix(&c->ports[0].addresses[1], "fd00::1/64");
	assert_int_equal(c->ports[0].at.line, 2);
	assert_int_equal(c->ports[0].at.column, 5);
	assert_null(c->ports[2].device);
	assert_string_equal(c->ports[2].parent, "wan");
	assert_int_equal(c->ports[2].vlan, 7);
	assert_int_equal(c->ports[2].mtu, 1280);
	assert_true(c->ports[3].has_mac);
	assert_memory_equal(&c->ports[3].mac, &mac, sizeof(mac));
	assert_int_equal(c->ports[3].mtu, 9600);
	sl_conf_free(c);
}

static void test_conf_read_routes(void **state)
{
	struct sl_conf *c = read_conf(PORTS
			"routes:\n"
			"  - {to: default, via: 192.0.2.2}\n"
			"  - {to: default, via: \"fd00::2\", port: wan}\n"
			"  - {to: 10.9.0.0/16, port: lan, table: 7, metric: 3, mtu: 1400}\n"
			"  - {to: 10.8.0.0/16, via: [{gateway: 192.0.2.2, weight: 256}, 10.0.0.2]}\n"
			"  - {to: 10.7.0.0/16, type: blackhole}\n"
			"  - {to: \"fd09::/16\", type: throw}\n");
	const struct sl_route_conf *r = c->routes;

	(void)state;
	assert_int_equal(c->n_routes, 6);
	assert_prefix(&r[0].to, "0.0.0.0/0");
	assert_int_equal(r[0].type, SL_ROUTE_UNICAST);
	assert_int_equal(r[0].table, SL_TABLE_MAIN);
	assert_int_equal(r[0].n_via, 1);
	assert_true(r[0].via[0].has_gateway);
	assert_null(r[0].via[0].port);
	assert_addr(SL_AF_INET, &r[0].via[0].gateway, "192.0.2.2");
	assert_prefix(&r[1].to, "::/0");
	assert_string_equal(r[1].via[0].port, "wan");
	assert_false(r[2].via[0].has_gateway);
	assert_string_equal(r[2].via[0].port, "lan");
	assert_int_equal(r[2].table, 7);
	assert_int_equal(r[2].metric, 3);
	assert_int_equal(r[2].mtu, 1400);
	assert_int_equal(r[3].n_via, 2);
	assert_int_equal(r[3].via[0].weight, 256);
	assert_int_equal(r[3].via[1].weight, 1);
	assert_int_equal(r[4].type, SL_ROUTE_BLACKHOLE);
	assert_int_equal(r[4].n_via, 0);
	assert_int_equal(r[5].type, SL_ROUTE_THROW);
	sl_conf_free(c);
}

static void test_conf_read_neighbours_and_policy(void **state)
{
	struct sl_conf *c = read_conf(PORTS
			"neighbours: [{ip: \"fd00::9\", mac: \"02:00:00:00:00:09\", port: wan}]\n"
			"policy:\n"
			"  - {fwmark: 0x64/0xff, table: 100}\n"
			"  - {fwmark: 5, from: 10.0.0.0/8, to: 192.0.2.0/24, iif: lan, table: 7}\n"
			"  - {to: \"fd09::/16\", table: 8, priority: 5}\n");

	(void)state;
	assert_int_equal(c->n_neighbours, 1);
	assert_addr(c->neighbours[0].family, &c->neighbours[0].ip, "fd00::9");
	assert_int_equal(c->neighbours[0].mac.addr_bytes[5], 9);
	assert_string_equal(c->neighbours[0].port, "wan");
	assert_int_equal(c->n_policy, 3);
	assert_int_equal(c->policy[0].fwmark, 0x64);
	assert_int_equal(c->policy[0].fwmask, 0xff);
	assert_int_equal(c->policy[0].from.family, SL_AF_NONE);
	assert_int_equal(c->policy[1].fwmask, UINT32_MAX);
	assert_prefix(&c->policy[1].from, "10.0.0.0/8");
	assert_string_equal(c->policy[1].iif, "lan");
	assert_true(c->policy[0].priority < c->policy[1].priority);
	assert_int_equal(c->policy[2].priority, 5);
	assert_int_equal(c->policy[2].fwmask, 0);
	sl_conf_free(c);
}

static void test_conf_read_every_selector_of_policy(void **state)
{
	struct sl_conf *c = read_conf(PORTS
			"policy:\n"
			"  - {not: true, ipproto: udp, sport: 53, dport: 1000-2000, tos: 0x10, iif: lo,\n"
			"     family: ipv4, table: 254, suppress_prefixlength: 0}\n"
			"  - {ipproto: 89, oif: lan, tos: 0xb8, family: ipv6, goto: 9000}\n"
			"  - {priority: 9000, type: prohibit}\n");

	(void)state;
	assert_true(c->policy[0].invert);
	assert_int_equal(c->policy[0].ipproto, 17);
	assert_int_equal(c->policy[0].sport.min, 53);
	assert_int_equal(c->policy[0].sport.max, 53);
	assert_int_equal(c->policy[0].dport.min, 1000);
	assert_int_equal(c->policy[0].dport.max, 2000);
	assert_int_equal(c->policy[0].tos, 0x10);
	assert_string_equal(c->policy[0].iif, "lo");
	assert_int_equal(c->policy[0].family, SL_AF_INET);
	assert_int_equal(c->policy[0].type, SL_POLICY_TABLE);
	assert_int_equal(c->policy[0].min_len, 1);
	assert_int_equal(c->policy[1].ipproto, 89);
	assert_string_equal(c->policy[1].oif, "lan");
	assert_int_equal(c->policy[1].type, SL_POLICY_GOTO);
	assert_int_equal(c->policy[1].target, 9000);
	assert_int_equal(c->policy[2].type, SL_POLICY_PROHIBIT);
	sl_conf_free(c);
}

static void test_conf_read_the_rest(void **state)
{
	struct sl_conf *c = read_conf(PORTS
			"firewall: {iptables: rules.v4, ip6tables: /etc/rules.v6, engine: forest}\n"
			"sysctl: {net.ipv4.conf.wan.rp_filter: 2, net/ipv4/ip_forward: 0}\n"
			"pipeline:\n"
			"  - {hook: prerouting, stage: hmark, order: -50, tuple: [src, dst], mod: 2}\n"
			"control: {socket: /tmp/s}\n"
			"metrics: {listen: \"[fd00::1]:9477\"}\n");

	(void)state;
	assert_string_equal(c->firewall.iptables, "/tmp/rules.v4");
	assert_string_equal(c->firewall.ip6tables, "/etc/rules.v6");
	assert_null(c->firewall.ipset);
	assert_string_equal(c->firewall.engine, "forest");
	assert_int_equal(c->n_sysctls, 2);
	assert_string_equal(c->sysctls[0].name, "net.ipv4.conf.wan.rp_filter");
	assert_int_equal(c->sysctls[0].value, 2);
	assert_int_equal(c->n_stages, 1);
	assert_int_equal(c->stages[0].hook, SL_HOOK_PREROUTING);
	assert_true(c->stages[0].has_order);
	assert_int_equal(c->stages[0].order, -50);
	assert_int_equal(c->stages[0].n_args, 2);
	assert_string_equal(c->stages[0].args[0].key, "tuple");
	assert_string_equal(c->stages[0].args[0].value, "src,dst");
	assert_string_equal(c->stages[0].args[1].value, "2");
	assert_string_equal(c->control_socket, "/tmp/s");
	assert_string_equal(c->metrics.listen, "[fd00::1]:9477");
	assert_addr(c->metrics.family, &c->metrics.addr, "fd00::1");
	assert_int_equal(c->metrics.port, 9477);
	sl_conf_free(c);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conf_read_when_only_ports_then_defaults),
		cmocka_unit_test(test_conf_read_when_numbers_then_any_base),
		cmocka_unit_test(test_conf_read_when_workers_is_list_then_cpus),
		cmocka_unit_test(test_conf_read_ports),
		cmocka_unit_test(test_conf_read_routes),
		cmocka_unit_test(test_conf_read_neighbours_and_policy),
		cmocka_unit_test(test_conf_read_every_selector_of_policy),
		cmocka_unit_test(test_conf_read_the_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
