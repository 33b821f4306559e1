/* SPDX-License-Identifier: BSD-3-Clause */
/* A scenario as a configuration of the router. */
#pragma once

#include "app/bench/side.h"

struct sl_firewall;
struct sl_router;

/**
 * router_configure() - addresses, routes and neighbours as the kernel's lab, rules, engine
 * @r: with its two ports
 *
 * Return: 0, or -ENOTSUP and the reason in @why: rules that cannot be honoured.
 */
int router_configure(struct sl_router *r, const struct side_setup *setup, struct sl_firewall **fw,
		char *why);
