/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The devices that a port can stand on. `net_af_packet` strings are served by link_packet.c, all
 * others by DPDK's drivers through link_ethdev.c; both hand out a struct port_link.
 */
#pragma once

#include "lib/port.h"

#include <net/if.h>
#include <stddef.h>

struct rte_mempool;

/* what the configuration wants of a link */
struct link_want {
	const char *port; /* name of the first port on it, for messages */
	const char *device; /* DPDK device string */
	uint16_t mtu; /* largest of its ports */
	bool has_mac;
	bool has_vlans; /* some port on it has a VID */
	struct rte_ether_addr mac; /* with has_mac */
	unsigned int n_workers;
	struct rte_mempool *pool;
};

/* counters of the device, where it has them */
struct link_device_stats {
	uint64_t missed; /* received, but nobody fetched them in time */
	uint64_t rx_errors;
	uint64_t rx_no_buffer;
	uint64_t tx_errors;
};

struct port_link {
	struct sl_link link; /* first: what the router sees */
	char driver[32]; /* "net_af_xdp" */
	char iface[IF_NAMESIZE]; /* kernel interface under it; "": none */
	unsigned int ifindex; /* of it at start, 0: none */
	bool set_down; /* [control] the interface was set down, or is gone */
	bool may_move; /* a tap: somebody may have put it into another namespace */
	int membership_fd; /* socket that holds our multicast and MAC memberships, or -1 */
	struct rte_ether_addr mac;
	/* [control] whether the device says that its link is up; only without a kernel interface */
	bool (*is_up)(struct port_link *l);
	/* [control] */
	void (*device_stats)(struct port_link *l, struct link_device_stats *out);
};

/**
 * link_open() - open and start the device of a port
 *
 * Return: 0 and *out, which the router closes; or -errno and in @err what was found and what is
 * possible.
 */
int link_open(const struct link_want *want, struct port_link **out, char *err, size_t err_size);

/* by kind; link_open() chooses */
int link_ethdev_open(
		const struct link_want *want, struct port_link **out, char *err, size_t err_size);
int link_packet_open(
		const struct link_want *want, struct port_link **out, char *err, size_t err_size);

/* value of "key=" in a device string to @buf; false if it is not there or does not fit */
bool link_device_arg(const char *device, const char *key, char *buf, size_t size);

/* bytes that a device string's driver name has: "net_af_xdp0,iface=x" -> 10 */
size_t link_driver_len(const char *device);
