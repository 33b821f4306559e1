/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Real traffic needs three hosts: a client, a router and a server in namespaces without names, joined
 * by veth pairs without offloads, so that every router gets the same packets.
 *
 *   client 10.1.0.2 c0 --- in 10.1.0.1  router  out 10.2.0.1 --- s0 10.2.0.2 server
 *
 * They belong to processes of their own and go away with this one.
 */
#pragma once

#include "app/bench/ruleset.h"

#include <stddef.h>
#include <sys/types.h>

#define WIRE_SERVER "10.2.0.2"

enum wire_host {
	WIRE_CLIENT,
	WIRE_ROUTER,
	WIRE_SERVER_HOST,
	WIRE_HOST_NB,
};

/* who routes */
enum wire_router {
	WIRE_KERNEL,
	WIRE_AF_XDP,
	WIRE_AF_PACKET,
	WIRE_ROUTER_NB,
};

extern const char *const wire_router_names[];

struct wire_net {
	int home; /* namespace from which the program came */
	int ns[WIRE_HOST_NB];
	pid_t holder[WIRE_HOST_NB];
	pid_t sluice; /* 0: none runs */
};

/* once: a mount namespace with a /run of its own, where files end with the process; -ENOTSUP */
int wire_prepare(char *why);

/**
 * wire_create() - hosts, links, addresses, and a router that routes by @rules
 *
 * Return: 0 (call wire_destroy()), -ENOTSUP and a line in @why (SIDE_TEXT_MAX).
 */
int wire_create(struct wire_net *n, enum wire_router router, const struct ruleset *rules,
		char *why);
void wire_destroy(struct wire_net *n);

/* this process, and what it starts, is on @host from now on; and no longer */
void wire_enter(const struct wire_net *n, enum wire_host host);
void wire_leave(const struct wire_net *n);
