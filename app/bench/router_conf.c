/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/router_conf.h"

#include "app/bench/engine_check.h"
#include "app/sluice/apply.h"
#include "lib/conf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CONNECTIONS 262144U /* room for as many at least, as the program's default */

/* a text as a file without a name, whose @path can be opened; "" of no text */
static bool as_file(char *text, const char *name, char path[32])
{
	size_t left = text == NULL ? 0 : strlen(text);
	bool none = text != NULL && left == 0;
	int fd = text == NULL || none ? -1 : memfd_create(name, MFD_CLOEXEC);

	path[0] = '\0';
	if (fd >= 0)
		snprintf(path, 32, "/proc/self/fd/%d", fd);
	for (const char *at = text; fd >= 0 && left > 0;) {
		ssize_t n = write(fd, at, left);

		if (n < 0)
			break;
		at += n;
		left -= (size_t)n;
	}
	free(text);
	return none || (fd >= 0 && left == 0);
}

static void add_neighbour(struct sl_conf *conf, const char *ip, const char *mac, const char *port)
{
	struct sl_neigh_conf *n = &conf->neighbours[conf->n_neighbours++];

	n->family = (uint8_t)sl_addr_parse(ip, &n->ip);
	rte_ether_unformat_addr(mac, &n->mac);
	n->port = port;
}

/* room for all: two hosts behind the router, and the sources, to whom answers go */
static bool add_neighbours(struct sl_conf *conf, const struct traffic *t)
{
	uint32_t sources = t->state == TRAFFIC_ESTABLISHED ? traffic_sources(t) : 0;
	char addr[64];

	conf->neighbours = calloc(sources + 2, sizeof(*conf->neighbours));
	if (conf->neighbours == NULL)
		return false;
	add_neighbour(conf, t->v6 ? TRAFFIC_SINK_V6 : TRAFFIC_SINK_V4, TRAFFIC_SINK_MAC, "out");
	add_neighbour(conf, t->v6 ? TRAFFIC_OTHER_V6 : TRAFFIC_OTHER_V4, TRAFFIC_SINK_MAC, "out");
	for (uint32_t i = 0; i < sources; i++) {
		traffic_source(t, i, addr, sizeof(addr));
		add_neighbour(conf, addr, TRAFFIC_SOURCE_MAC, "in");
	}
	return true;
}

/* files have no names that would mean something: "rules:3: ..." */
static void rename_file(char *why, const char *path, const char *name)
{
	if (path[0] == '\0' || strncmp(why, path, strlen(path)) != 0)
		return;
	memmove(why + strlen(name), why + strlen(path), strlen(why + strlen(path)) + 1);
	memcpy(why, name, strlen(name));
}

int router_configure(struct sl_router *r, const struct side_setup *setup, struct sl_firewall **fw,
		char *why)
{
	const struct traffic *t = &setup->traffic;
	struct sl_prefix in, out;
	struct sl_mark at = { 0, 0 };
	struct sl_port_conf ports[] = {
		{ .name = "in",
				.addresses = &in,
				.addresses_at = &at,
				.n_addresses = 1,
				.mtu = 1500 },
		{ .name = "out",
				.addresses = &out,
				.addresses_at = &at,
				.n_addresses = 1,
				.mtu = 1500 },
	};
	struct sl_via_conf gateway = { .has_gateway = true, .weight = 1 };
	struct sl_route_conf route = { .table = SL_TABLE_MAIN, .via = &gateway, .n_via = 1 };
	struct sl_conf conf = { .path = "sluice-bench",
		.n_workers = 1,
		.ports = ports,
		.n_ports = 2,
		.routes = &route,
		.n_routes = t->addresses == TRAFFIC_NEAR ? 0 : 1,
		.conntrack_max = t->flows < CONNECTIONS / 2 ? CONNECTIONS : 2 * t->flows };
	char rules[32], sets[32];
	int ret;

	sl_prefix_parse(t->v6 ? TRAFFIC_IN_V6 : TRAFFIC_IN_V4, &in);
	sl_prefix_parse(t->v6 ? TRAFFIC_OUT_V6 : TRAFFIC_OUT_V4, &out);
	sl_prefix_parse(t->v6 ? "::/0" : "0.0.0.0/0", &route.to);
	sl_addr_parse(t->v6 ? TRAFFIC_SINK_V6 : TRAFFIC_SINK_V4, &gateway.gateway);
	if (!as_file(ruleset_iptables(&setup->rules), "rules", rules)
			|| !as_file(ruleset_ipset(&setup->rules), "sets", sets)
			|| !add_neighbours(&conf, t))
		return side_fail(why, -ENOMEM, "no memory for rules");
	if (rules[0] != '\0' && t->v6)
		conf.firewall.ip6tables = rules;
	else if (rules[0] != '\0')
		conf.firewall.iptables = rules;
	if (sets[0] != '\0')
		conf.firewall.ipset = sets;
	conf.firewall.engine =
			strcmp(setup->name, "plain") == 0 ? NULL : engine_check_subject(setup);
	ret = apply_conf(r, &conf, fw, NULL, why, SIDE_TEXT_MAX);
	free(conf.neighbours);
	if (ret == 0)
		return 0;
	rename_file(why, rules, "rules");
	rename_file(why, sets, "sets");
	return -ENOTSUP;
}
