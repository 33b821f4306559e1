/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct sl_conf;
struct sl_firewall;
struct sl_router;

/**
 * apply_conf() - network state, rules and pipeline of a configuration into a router
 * @fw:     in: the firewall in force, NULL if there is none; out: the new one
 * @report: see struct sl_firewall_args
 *
 * Return: 0; or -errno with the reason in @err, and nothing has changed.
 */
int apply_conf(struct sl_router *r, const struct sl_conf *conf, struct sl_firewall **fw,
		FILE *report, char *err, size_t err_size);
