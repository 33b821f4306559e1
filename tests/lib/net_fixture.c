/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/lib/net_fixture.h"

#include "lib/ip.h"
#include "lib/neigh.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

int fixture_pinned;

/* the edges of lib/net*.c: ports by name and neighbours */
uint16_t sl_router_port(const struct sl_router *r, const char *name)
{
	for (unsigned int i = 1; i <= r->n_ports; i++) {
		if (strcmp(r->ports[i].name, name) == 0)
			return (uint16_t)i;
	}
	return 0;
}

struct sl_neigh *sl_neigh_pin(struct sl_router *r, uint16_t port, enum sl_family family,
		const struct sl_addr *addr)
{
	struct sl_neigh *n = calloc(1, sizeof(*n));

	(void)r;
	assert(n != NULL);
	n->port = port;
	n->family = (uint8_t)family;
	n->addr = *addr;
	fixture_pinned++;
	return n;
}

void sl_neigh_unpin(struct sl_router *r, struct sl_neigh *n)
{
	(void)r;
	fixture_pinned--;
	free(n);
}

void fixture_init(struct net_fixture *f)
{
	static const char *const names[] = { "wan", "lan", "dmz" };

	memset(f, 0, sizeof(*f));
	f->r.n_ports = 3;
	for (unsigned int i = 0; i < 3; i++) {
		struct sl_port *p = &f->r.ports[i + 1];

		p->id = (uint16_t)(i + 1);
		snprintf(p->name, sizeof(p->name), "%s", names[i]);
		p->mtu = 1500;
		/* EUI-64 of 02:00:00:00:00:01, 02 and 03 */
		memcpy(p->v6_token, (uint8_t[8]){ 0, 0, 0, 0xff, 0xfe, 0, 0, (uint8_t)(i + 1) }, 8);
		f->ports[i].name = names[i];
		f->ports[i].at = (struct sl_mark){ 2 + i, 5 };
		f->ports[i].addresses = f->addresses[i];
	}
	f->conf.path = "test.yaml";
	f->conf.ports = f->ports;
	f->conf.n_ports = 3;
	f->conf.routes = f->routes;
	f->conf.policy = f->policy;
	f->conf.sysctls = f->sysctls;
}

struct sl_addr addr_of(const char *text)
{
	struct sl_addr a;
	enum sl_family family = sl_addr_parse(text, &a);

	assert(family != SL_AF_NONE);
	(void)family;
	return a;
}

void fixture_address(struct net_fixture *f, unsigned int port, const char *text)
{
	struct sl_port_conf *c = &f->ports[port - 1];
	int ret = sl_prefix_parse(text, &c->addresses[c->n_addresses++]);

	assert(ret == 0);
	(void)ret;
}

static void parse_via(struct sl_via_conf *via, char *text)
{
	char *weight = strchr(text, '*');
	char *port = strchr(text, '%');

	via->weight = weight == NULL ? 1 : (uint32_t)strtoul(weight + 1, NULL, 10);
	if (weight != NULL)
		*weight = '\0';
	if (port != NULL) {
		*port = '\0';
		via->port = strcmp(port + 1, "wan") == 0       ? "wan"
				: strcmp(port + 1, "lan") == 0 ? "lan"
							       : "dmz";
	}
	via->has_gateway = text[0] != '\0';
	if (via->has_gateway)
		via->gateway = addr_of(text);
}

struct sl_route_conf *fixture_route(struct net_fixture *f, const char *to, const char *via)
{
	struct sl_route_conf *c = &f->routes[f->conf.n_routes];
	char text[256], *save, *word;
	int ret = sl_prefix_parse(to, &c->to);

	assert(ret == 0);
	(void)ret;
	c->at = (struct sl_mark){ 10 + f->conf.n_routes, 5 };
	c->table = SL_TABLE_MAIN;
	c->via = f->via[f->conf.n_routes++];
	snprintf(text, sizeof(text), "%s", via == NULL ? "" : via);
	for (word = strtok_r(text, ",", &save); word != NULL; word = strtok_r(NULL, ",", &save))
		parse_via(&c->via[c->n_via++], word);
	return c;
}

struct sl_policy_conf *fixture_policy(struct net_fixture *f, uint32_t priority, uint32_t table)
{
	struct sl_policy_conf *c = &f->policy[f->conf.n_policy++];

	c->priority = priority;
	c->table = table;
	c->at = (struct sl_mark){ 80 + f->conf.n_policy, 5 };
	return c;
}

void fixture_sysctl(struct net_fixture *f, const char *name, long value)
{
	f->sysctls[f->conf.n_sysctls] = (struct sl_sysctl_conf){
		.at = { 90 + f->conf.n_sysctls, 5 }, .name = name, .value = value
	};
	f->conf.n_sysctls++;
}

int fixture_build(struct net_fixture *f)
{
	return sl_net_build(&f->r, &f->conf, &f->net, f->err, sizeof(f->err));
}

void fixture_free(struct net_fixture *f)
{
	sl_net_free(&f->r, f->net);
	f->net = NULL;
}

const struct sl_nexthop *fixture_look_up(
		const struct net_fixture *f, const char *dst, uint16_t port)
{
	struct sl_route_key key = { .in_port = port, .out_port = SL_PORT_NONE };

	key.family = (uint8_t)sl_addr_parse(dst, &key.dst);
	return sl_net_route(f->net, &key);
}
