/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/link.h"
#include "app/sluice/pci.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

int link_ethdev_open(
		const struct link_want *want, struct port_link **out, char *err, size_t err_size)
{
	(void)want;
	(void)out;
	snprintf(err, err_size, "ethdev");
	return -1;
}

int link_packet_open(
		const struct link_want *want, struct port_link **out, char *err, size_t err_size)
{
	(void)want;
	(void)out;
	snprintf(err, err_size, "packet");
	return -1;
}

static void test_link_device_arg_finds_whole_keys(void **state __rte_unused)
{
	const char *device = "net_x0,xiface=no,iface=eth1,empty=,last=7";
	char buf[8];

	assert_true(link_device_arg(device, "iface", buf, sizeof(buf)));
	assert_string_equal(buf, "eth1");
	assert_true(link_device_arg(device, "last", buf, sizeof(buf)));
	assert_string_equal(buf, "7");
	assert_true(link_device_arg(device, "empty", buf, sizeof(buf)));
	assert_string_equal(buf, "");
	assert_false(link_device_arg(device, "face", buf, sizeof(buf)));
	assert_false(link_device_arg("iface=eth1", "iface", buf, sizeof(buf)));
}

static void test_link_device_arg_when_too_long_is_no_value(void **state __rte_unused)
{
	char buf[4];

	assert_false(link_device_arg("net_x,iface=eth1", "iface", buf, sizeof(buf)));
	assert_true(link_device_arg("net_x,iface=eth", "iface", buf, sizeof(buf)));
}

static void test_link_open_chooses_by_driver(void **state __rte_unused)
{
	static const struct {
		const char *device;
		const char *kind;
	} cases[] = {
		{ "net_af_packet0,iface=a", "packet" },
		{ "net_af_packet,iface=a", "packet" },
		{ "eth_af_packet12", "packet" },
		{ "net_af_packets0", "ethdev" },
		{ "net_af_xdp0,iface=net_af_packet0", "ethdev" },
		{ "0000:03:00.0", "ethdev" },
		{ "", "ethdev" },
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		struct link_want want = { .device = cases[i].device };
		struct port_link *l;
		char err[16];

		link_open(&want, &l, err, sizeof(err));
		assert_string_equal(err, cases[i].kind);
	}
}

static void test_pci_is_address_knows_both_forms(void **state __rte_unused)
{
	assert_true(pci_is_address("0000:03:00.0"));
	assert_true(pci_is_address("03:00.0"));
	assert_true(pci_is_address("0000:03:00.0,arg=1"));
	assert_true(pci_is_address("ffff:1f:1f.7"));
	assert_false(pci_is_address("net_af_xdp0,iface=03:00.0"));
	assert_false(pci_is_address("eth0"));
	assert_false(pci_is_address(""));
	assert_false(pci_is_address("03:00"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_link_device_arg_finds_whole_keys),
		cmocka_unit_test(test_link_device_arg_when_too_long_is_no_value),
		cmocka_unit_test(test_link_open_chooses_by_driver),
		cmocka_unit_test(test_pci_is_address_knows_both_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
