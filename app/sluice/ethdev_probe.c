/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/eal.h"
#include "app/sluice/ethdev.h"
#include "app/sluice/netdev.h"
#include "app/sluice/pci.h"

#include <rte_dev.h>
#include <rte_ethdev.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* the device that a probe made: the first that no link has yet */
static bool find_device(const bool *taken, uint16_t *dev)
{
	uint16_t id;

	RTE_ETH_FOREACH_DEV (id) {
		if (!taken[id]) {
			*dev = id;
			return true;
		}
	}
	return false;
}

/* an error if another port has opened a device of this name */
static int check_name(const struct link_want *want, char *err, size_t err_size)
{
	char name[RTE_ETH_NAME_MAX_LEN];
	uint16_t id;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(want->device, ","), want->device);
	if (rte_eth_dev_get_port_by_name(name, &id) != 0)
		return 0;
	snprintf(err, err_size, "device %s: another port has a device %s, expected another number",
			want->device, name);
	return -EEXIST;
}

/* what stands in the way before DPDK is asked, whose own message says little */
static int check_device(const struct link_want *want, char *err, size_t err_size)
{
	size_t len = link_driver_len(want->device);
	char iface[IF_NAMESIZE] = "";
	char names[256];

	if (pci_is_address(want->device))
		return pci_check(want->device, err, err_size);
	if (len != strlen("net_af_xdp") || strncmp(want->device, "net_af_xdp", len) != 0)
		return 0;
	if (!link_device_arg(want->device, "iface", iface, sizeof(iface))
			|| netdev_index(iface) == 0) {
		snprintf(err, err_size, "device %s: no interface '%s' here; there are: %s",
				want->device, iface, netdev_names(names, sizeof(names)));
		return -ENODEV;
	}
	if (want->has_vlans && netdev_offload(iface, NETDEV_RXVLAN)) {
		snprintf(err, err_size,
				"device %s: %s takes VLAN tags off before AF_XDP sees them: "
				"ethtool -K %s rxvlan off (a veth also needs txvlan off on its peer)",
				want->device, iface, iface);
		return -EINVAL;
	}
	return 0;
}

int ethdev_probe(const struct link_want *want, uint16_t *dev, char *err, size_t err_size)
{
	bool taken[RTE_MAX_ETHPORTS] = { false };
	uint16_t id;
	int ret;

	ret = check_device(want, err, err_size);
	if (ret == 0)
		ret = check_name(want, err, err_size);
	if (ret < 0)
		return ret;
	RTE_ETH_FOREACH_DEV (id)
		taken[id] = true;
	eal_clear_errors();
	ret = rte_dev_probe(want->device);
	if (ret == 0 && !find_device(taken, dev))
		ret = -ENODEV;
	if (ret < 0)
		snprintf(err, err_size,
				"device %s: %s%s%s (possible are a PCI address, net_af_xdp, "
				"net_af_packet, net_tap, net_memif, net_pcap, net_ring and the other "
				"drivers of DPDK)",
				want->device, strerror(-ret), eal_errors()[0] == '\0' ? "" : ": ",
				eal_errors());
	return ret;
}
