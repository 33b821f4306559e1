/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What only the whole file tells. Next hops are checked against connected routes later, where
 * network state is built from the configuration.
 */
#include "config/conf_parts.h"
#include "lib/sysctl.h"

static const struct sl_port_conf *find_port(const struct sl_conf *conf, const char *name)
{
	for (unsigned int i = 0; i < conf->n_ports; i++)
		if (strcmp(conf->ports[i].name, name) == 0)
			return &conf->ports[i];
	return NULL;
}

/* an error if @name, used at @at, is no port */
static bool port_exists(struct yaml_ctx *c, struct sl_mark at, const char *name)
{
	char known[256] = "";
	size_t n = 0;

	if (name == NULL || find_port(c->conf, name) != NULL)
		return true;
	for (unsigned int i = 0; i < c->conf->n_ports && n < sizeof(known); i++)
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", i > 0 ? ", " : "",
				c->conf->ports[i].name);
	return yaml_error_at(c, at, "found port '%s', expected one of %s", name, known);
}

/* the port whose device a port uses */
static const struct sl_port_conf *owner_of(
		const struct sl_conf *conf, const struct sl_port_conf *port)
{
	const struct sl_port_conf *parent =
			port->parent == NULL ? NULL : find_port(conf, port->parent);

	return parent == NULL ? port : parent;
}

/* the kernel interface that a device stands on: the value of "iface=", of @len characters; or NULL */
static const char *iface_of(const char *device, size_t *len)
{
	static const char key[] = ",iface=";
	const char *at = strstr(device, key);

	if (at == NULL)
		return NULL;
	at += strlen(key);
	*len = strcspn(at, ",");
	return at;
}

static bool same_device(const struct sl_port_conf *a, const struct sl_port_conf *b)
{
	const char *iface_a, *iface_b;
	size_t len_a, len_b;

	if (a->device == NULL || b->device == NULL)
		return false;
	if (strcmp(a->device, b->device) == 0)
		return true;
	/* two names for one interface: each port would take every frame */
	iface_a = iface_of(a->device, &len_a);
	iface_b = iface_of(b->device, &len_b);
	return iface_a != NULL && iface_b != NULL && len_a == len_b
			&& memcmp(iface_a, iface_b, len_a) == 0;
}

static bool check_link(struct yaml_ctx *c, const struct sl_port_conf *port)
{
	const struct sl_port_conf *parent;

	if ((port->device == NULL) == (port->parent == NULL))
		return yaml_error_at(c, port->at, "port '%s' with %s, expected one of both",
				port->name,
				port->device == NULL ? "neither 'device' nor 'parent'"
						     : "'device' and 'parent'");
	if (port->parent == NULL)
		return true;
	if (port->vlan == 0)
		return yaml_error_at(c, port->at, "port '%s' with 'parent' but without 'vlan'",
				port->name);
	if (!port_exists(c, port->at, port->parent))
		return false;
	parent = owner_of(c->conf, port);
	if (parent->parent != NULL)
		return yaml_error_at(c, port->at,
				"port '%s' has a parent that has a parent itself, expected a port "
				"with a device",
				port->name);
	return true;
}

static bool check_ports(struct yaml_ctx *c)
{
	const struct sl_conf *conf = c->conf;

	for (unsigned int i = 0; i < conf->n_ports; i++) {
		const struct sl_port_conf *port = &conf->ports[i];
		const struct sl_port_conf *first = find_port(conf, port->name);

		if (first != NULL && first != port)
			return yaml_error_at(c, port->at, "duplicate port '%s', first in line %u",
					port->name, first->at.line);
		if (!check_link(c, port))
			return false;
	}
	for (unsigned int i = 0; i < conf->n_ports; i++) {
		const struct sl_port_conf *a = &conf->ports[i];

		for (unsigned int j = 0; j < i; j++) {
			const struct sl_port_conf *b = &conf->ports[j];

			if (!same_device(owner_of(conf, a), owner_of(conf, b)))
				continue;
			if (a->parent == NULL && b->parent == NULL)
				return yaml_error_at(c, a->at,
						"port '%s' has the device of port '%s'; VLAN ports "
						"share one by 'parent'",
						a->name, b->name);
			if (a->vlan == b->vlan)
				return yaml_error_at(c, a->at,
						"port '%s' has VLAN %u of port '%s' on one device",
						a->name, a->vlan, b->name);
		}
	}
	return true;
}

/* one address twice, or one subnet on two ports, is never meant */
static bool clash(const struct sl_prefix *a, const struct sl_prefix *b, bool same_port)
{
	bool link_local = a->family == SL_AF_INET6 && a->addr.b[0] == 0xfe
			&& (a->addr.b[1] & 0xc0) == 0x80;

	if (a->family != b->family || (link_local && !same_port))
		return false;
	if (sl_addr_eq(&a->addr, &b->addr))
		return true;
	return !same_port && a->len == b->len && sl_prefix_contains(a, &b->addr);
}

static bool check_address(struct yaml_ctx *c, unsigned int port, unsigned int index)
{
	const struct sl_port_conf *pc = &c->conf->ports[port];
	const struct sl_prefix *a = &pc->addresses[index];
	char text[SL_ADDR_STRLEN], other[SL_ADDR_STRLEN];

	if (a->family == SL_AF_INET6 && pc->mtu < 1280)
		return yaml_error_at(c, pc->addresses_at[index],
				"port '%s' has an IPv6 address and an MTU of %u, expected at least "
				"1280",
				pc->name, pc->mtu);
	for (unsigned int i = 0; i <= port; i++) {
		const struct sl_port_conf *qc = &c->conf->ports[i];
		unsigned int n = i == port ? index : qc->n_addresses;

		for (unsigned int j = 0; j < n; j++)
			if (clash(a, &qc->addresses[j], i == port))
				return yaml_error_at(c, pc->addresses_at[index],
						"address %s of port '%s' overlaps %s of port '%s' "
						"in line %u",
						sl_prefix_str(a, text), pc->name,
						sl_prefix_str(&qc->addresses[j], other), qc->name,
						qc->addresses_at[j].line);
	}
	return true;
}

static bool check_neighbours(struct yaml_ctx *c)
{
	const struct sl_conf *conf = c->conf;
	char text[SL_ADDR_STRLEN];

	for (unsigned int i = 0; i < conf->n_neighbours; i++) {
		const struct sl_neigh_conf *a = &conf->neighbours[i];

		if (!port_exists(c, a->at, a->port))
			return false;
		for (unsigned int j = 0; j < i; j++) {
			const struct sl_neigh_conf *b = &conf->neighbours[j];

			if (a->family == b->family && sl_addr_eq(&a->ip, &b->ip)
					&& strcmp(a->port, b->port) == 0)
				return yaml_error_at(c, a->at,
						"duplicate neighbour %s on port '%s', first in "
						"line %u",
						sl_addr_str((enum sl_family)a->family, &a->ip,
								text),
						a->port, b->at.line);
		}
	}
	return true;
}

static bool check_switches(struct yaml_ctx *c)
{
	char port[SL_PORT_NAME_MAX];
	long min, max;

	for (unsigned int i = 0; i < c->conf->n_sysctls; i++) {
		const struct sl_sysctl_conf *s = &c->conf->sysctls[i];

		sl_sysctl_check(s->name, s->value, port, &min, &max);
		if (port[0] != '\0' && !port_exists(c, s->at, port))
			return false;
	}
	return true;
}

/* `lo` stands for the router's own packets */
static bool policy_port_exists(struct yaml_ctx *c, const struct sl_policy_conf *p, const char *name)
{
	return (name != NULL && strcmp(name, "lo") == 0) || port_exists(c, p->at, name);
}

bool conf_check(struct yaml_ctx *c)
{
	const struct sl_conf *conf = c->conf;

	if (!check_ports(c))
		return false;
	for (unsigned int i = 0; i < conf->n_ports; i++)
		for (unsigned int j = 0; j < conf->ports[i].n_addresses; j++)
			if (!check_address(c, i, j))
				return false;
	for (unsigned int i = 0; i < conf->n_routes; i++)
		for (unsigned int j = 0; j < conf->routes[i].n_via; j++)
			if (!port_exists(c, conf->routes[i].at, conf->routes[i].via[j].port))
				return false;
	for (unsigned int i = 0; i < conf->n_policy; i++)
		if (!policy_port_exists(c, &conf->policy[i], conf->policy[i].iif)
				|| !policy_port_exists(c, &conf->policy[i], conf->policy[i].oif))
			return false;
	return check_neighbours(c) && check_switches(c) && conf_check_engine(c);
}
