/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/netdev.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static int interface_ioctl(const char *name, unsigned long request, struct ifreq *ifr)
{
	int ret = 0;
	int fd;

	if (strlen(name) >= sizeof(ifr->ifr_name))
		return -ENODEV;
	strcpy(ifr->ifr_name, name);
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (ioctl(fd, request, ifr) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static int ethtool(const char *name, void *command)
{
	struct ifreq ifr = { .ifr_data = command };

	return interface_ioctl(name, SIOCETHTOOL, &ifr);
}

unsigned int netdev_index(const char *name)
{
	return if_nametoindex(name);
}

const char *netdev_names(char *buf, size_t size)
{
	struct if_nameindex *list = if_nameindex();
	size_t n = 0;

	snprintf(buf, size, "none");
	for (unsigned int i = 0; list != NULL && list[i].if_index != 0; i++) {
		int len;

		if (strcmp(list[i].if_name, "lo") == 0)
			continue;
		len = snprintf(buf + n, size - n, "%s%s", n == 0 ? "" : ", ", list[i].if_name);
		if (len < 0 || (size_t)len >= size - n)
			break;
		n += (size_t)len;
	}
	if (list != NULL)
		if_freenameindex(list);
	return buf;
}

static bool has_flags(const char *name, short flags)
{
	struct ifreq ifr = { .ifr_flags = 0 };

	if (interface_ioctl(name, SIOCGIFFLAGS, &ifr) < 0)
		return false;
	return (ifr.ifr_flags & flags) == flags;
}

bool netdev_is_set_up(const char *name)
{
	return has_flags(name, IFF_UP);
}

bool netdev_is_up(const char *name)
{
	return has_flags(name, IFF_UP | IFF_RUNNING);
}

int netdev_set_up(const char *name)
{
	struct ifreq ifr = { .ifr_flags = 0 };
	int ret;

	ret = interface_ioctl(name, SIOCGIFFLAGS, &ifr);
	if (ret < 0 || (ifr.ifr_flags & IFF_UP) != 0)
		return ret;
	ifr.ifr_flags |= IFF_UP;
	return interface_ioctl(name, SIOCSIFFLAGS, &ifr);
}

int netdev_mtu(const char *name, unsigned int *mtu)
{
	struct ifreq ifr = { .ifr_mtu = 0 };
	int ret;

	ret = interface_ioctl(name, SIOCGIFMTU, &ifr);
	if (ret == 0)
		*mtu = (unsigned int)ifr.ifr_mtu;
	return ret;
}

int netdev_set_mtu(const char *name, unsigned int mtu)
{
	struct ifreq ifr = { .ifr_mtu = (int)mtu };

	return interface_ioctl(name, SIOCSIFMTU, &ifr);
}

int netdev_mac(const char *name, struct rte_ether_addr *mac)
{
	struct ifreq ifr = { .ifr_flags = 0 };
	int ret;

	ret = interface_ioctl(name, SIOCGIFHWADDR, &ifr);
	if (ret == 0)
		memcpy(mac, ifr.ifr_hwaddr.sa_data, sizeof(*mac));
	return ret;
}

void netdev_driver(const char *name, char *buf, size_t size)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };

	if (ethtool(name, &info) < 0)
		info.driver[0] = '\0';
	snprintf(buf, size, "%s", info.driver);
}

bool netdev_offload(const char *name, enum netdev_offload which)
{
	struct ethtool_value value = { .cmd = which == NETDEV_GRO ? ETHTOOL_GGRO : ETHTOOL_GFLAGS };
	uint32_t bit = 1;

	if (ethtool(name, &value) < 0)
		return false;
	if (which == NETDEV_LRO)
		bit = ETH_FLAG_LRO;
	else if (which == NETDEV_RXVLAN)
		bit = ETH_FLAG_RXVLAN;
	return (value.data & bit) != 0;
}

const char *netdev_address4(const char *name, char *buf, size_t size)
{
	const char *found = NULL;
	struct ifaddrs *list;

	if (getifaddrs(&list) < 0)
		return NULL;
	for (const struct ifaddrs *a = list; a != NULL && found == NULL; a = a->ifa_next) {
		const struct sockaddr_in *sin = (const void *)a->ifa_addr;

		if (sin != NULL && sin->sin_family == AF_INET && strcmp(a->ifa_name, name) == 0)
			found = inet_ntop(AF_INET, &sin->sin_addr, buf, (socklen_t)size);
	}
	freeifaddrs(list);
	return found;
}

static int join(int fd, unsigned int index, uint16_t type, const struct rte_ether_addr *mac)
{
	struct packet_mreq mreq = { .mr_ifindex = (int)index, .mr_type = type };

	if (mac != NULL) {
		mreq.mr_alen = sizeof(*mac);
		memcpy(mreq.mr_address, mac, sizeof(*mac));
	}
	if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &mreq, sizeof(mreq)) < 0)
		return -errno;
	return 0;
}

int netdev_join(const char *name, const struct rte_ether_addr *mac, bool promisc)
{
	unsigned int index = if_nametoindex(name);
	int ret;
	int fd;

	/* protocol 0: the socket itself receives nothing */
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	ret = join(fd, index, PACKET_MR_ALLMULTI, NULL);
	if (ret == 0 && mac != NULL)
		ret = join(fd, index, PACKET_MR_UNICAST, mac);
	if (ret == 0 && promisc)
		ret = join(fd, index, PACKET_MR_PROMISC, NULL);
	if (ret < 0) {
		close(fd);
		return ret;
	}
	return fd;
}

int netdev_watch_open(void)
{
	struct sockaddr_nl addr = { .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK };
	int fd;

	fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
	if (fd < 0)
		return -errno;
	if (bind(fd, (const void *)&addr, sizeof(addr)) < 0) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	return fd;
}

void netdev_watch_drain(int fd)
{
	char buf[8192];
	ssize_t n;

	do {
		errno = 0;
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
		/* ENOBUFS says that messages were lost: the caller looks at everything anyway */
	} while (n > 0 || errno == ENOBUFS || errno == EINTR);
}
