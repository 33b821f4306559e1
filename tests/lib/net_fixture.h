/* SPDX-License-Identifier: BSD-3-Clause */
/* A router with three ports and a configuration to be filled, without links and neighbours. */
#pragma once

#include "lib/net.h"
#include "lib/router.h"

#define FIXTURE_ROUTES 64
#define FIXTURE_ADDRESSES 16

struct net_fixture {
	struct sl_router r;
	struct sl_conf conf;
	struct sl_port_conf ports[3]; /* "wan", "lan", "dmz": ids 1, 2, 3 */
	struct sl_prefix addresses[3][FIXTURE_ADDRESSES];
	struct sl_route_conf routes[FIXTURE_ROUTES];
	struct sl_via_conf via[FIXTURE_ROUTES][4];
	struct sl_policy_conf policy[8];
	struct sl_sysctl_conf sysctls[16];
	struct sl_net *net;
	char err[256];
};

enum {
	WAN = 1,
	LAN = 2,
	DMZ = 3
};

/* neighbours that are pinned at the moment, over all fixtures */
extern int fixture_pinned;

void fixture_init(struct net_fixture *f);
void fixture_address(struct net_fixture *f, unsigned int port, const char *text);
/* @via: "ADDR", "ADDR%PORT", "%PORT", several with ',' and "*WEIGHT" behind; NULL: none */
struct sl_route_conf *fixture_route(struct net_fixture *f, const char *to, const char *via);
struct sl_policy_conf *fixture_policy(struct net_fixture *f, uint32_t priority, uint32_t table);
void fixture_sysctl(struct net_fixture *f, const char *name, long value);
int fixture_build(struct net_fixture *f);
void fixture_free(struct net_fixture *f);

struct sl_addr addr_of(const char *text);
/* look up as a packet from @port; hash 0, mark 0 */
const struct sl_nexthop *fixture_look_up(
		const struct net_fixture *f, const char *dst, uint16_t port);
