/* SPDX-License-Identifier: BSD-3-Clause */
/* The router without devices, hugepages or root: what replay and check have in common. */
#pragma once

#include "lib/router.h"

#include <stdbool.h>

struct sl_conf;

/* DPDK with anonymous memory and nothing probed; false after a line on stderr */
bool offline_start(void);

/* a router with a clock that the caller turns; NULL after a line on stderr */
struct sl_router *offline_router(unsigned int n_workers);

/* MAC that a port has where there is no device: its own or 02:00:00:00:00:NN by its place */
struct rte_ether_addr offline_mac(const struct sl_conf *conf, unsigned int port);

/**
 * offline_ports() - the ports of a configuration on links without devices
 * @make: a new link for the port with this index
 *
 * Return: false after a line on stderr.
 */
bool offline_ports(struct sl_router *r, const struct sl_conf *conf,
		struct sl_link *(*make)(unsigned int port, void *arg), void *arg);
