/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernel interfaces under AF_XDP, AF_PACKET and tap ports: state, offloads, addresses. */
#pragma once

#include <rte_ether.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* index by name, 0 if there is no such interface */
unsigned int netdev_index(const char *name);

/* names of the interfaces there are, "eth0, eth1", for messages */
const char *netdev_names(char *buf, size_t size);

/* administratively up, whatever its carrier */
bool netdev_is_set_up(const char *name);

/* administratively up and with carrier */
bool netdev_is_up(const char *name);

/* each 0 or -errno */
int netdev_set_up(const char *name);
int netdev_mtu(const char *name, unsigned int *mtu);
int netdev_set_mtu(const char *name, unsigned int mtu);
int netdev_mac(const char *name, struct rte_ether_addr *mac);

/* the kernel's driver ("veth"); "" if it does not say */
void netdev_driver(const char *name, char *buf, size_t size);

enum netdev_offload {
	NETDEV_GRO, /* packets of a flow are joined before we see them */
	NETDEV_LRO,
	NETDEV_RXVLAN, /* the tag is taken off into a field beside the packet */
};
bool netdev_offload(const char *name, enum netdev_offload which);

/* an IPv4 address that the kernel holds on @name, as text, or NULL */
const char *netdev_address4(const char *name, char *buf, size_t size);

/**
 * netdev_join() - receive all multicast on @name, and frames to @mac
 * @mac:     extra unicast address, or NULL
 * @promisc: everything, for VLAN tags that a filter would keep back
 *
 * The memberships belong to the returned socket and end with it, however the program ends.
 * Return: the socket, or -errno.
 */
int netdev_join(const char *name, const struct rte_ether_addr *mac, bool promisc);

/* a socket that becomes readable when some interface changes, or -errno */
int netdev_watch_open(void);

/* read what is there; the caller looks at its interfaces afterwards */
void netdev_watch_drain(int fd);
