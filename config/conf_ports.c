/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/conf_parts.h"

static bool port_name(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_port_conf *port = object;
	const char *expected = "a port name of 1 to 15 characters without '/' or blanks";
	const char *name = yaml_text(c, node, expected);

	if (name == NULL)
		return false;
	if (strlen(name) >= SL_PORT_NAME_MAX || strpbrk(name, "/ \t\n") != NULL
			|| strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return yaml_error(c, node, "found '%s', expected %s", name, expected);
	/* net.ipv4.conf.all must not mean a port */
	if (strcmp(name, "all") == 0 || strcmp(name, "default") == 0)
		return yaml_error(c, node, "a port cannot be called '%s': switches use that name",
				name);
	port->name = yaml_dup_text(c, name);
	return true;
}

static bool port_device(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(c, node, &((struct sl_port_conf *)object)->device,
			"a DPDK device, as net_af_packet0,iface=eth1");
}

static bool port_parent(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(
			c, node, &((struct sl_port_conf *)object)->parent, "the name of a port");
}

static bool port_address(struct yaml_ctx *c, const yaml_node_t *node, struct sl_prefix *out)
{
	static const uint8_t loopback6[16] = { [15] = 1 };
	static const uint8_t any6[16] = { 0 };
	struct sl_prefix p;
	bool bad;

	if (!yaml_prefix(c, node, &p))
		return false;
	if (p.family == SL_AF_INET)
		bad = p.addr.b[0] == 0 || p.addr.b[0] == 127 || p.addr.b[0] >= 224;
	else
		bad = p.addr.b[0] == 0xff || memcmp(p.addr.b, loopback6, 16) == 0
				|| memcmp(p.addr.b, any6, 16) == 0;
	if (bad || p.len == 0)
		return yaml_error(c, node,
				"found '%s', expected a unicast address that a port can have",
				(const char *)node->data.scalar.value);
	*out = p;
	return true;
}

static bool port_addresses(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_port_conf *port = object;
	size_t n;

	if (!yaml_seq(c, node, "addresses", &n))
		return false;
	port->addresses = yaml_alloc(c, n, sizeof(*port->addresses));
	port->addresses_at = yaml_alloc(c, n, sizeof(*port->addresses_at));
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_item(c, node, i);

		if (!port_address(c, item, &port->addresses[i]))
			return false;
		port->addresses_at[i] = yaml_mark(item);
	}
	port->n_addresses = (unsigned int)n;
	return true;
}

static bool port_mtu(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t mtu;

	if (!yaml_uint(c, node, 68, 9600, &mtu))
		return false;
	((struct sl_port_conf *)object)->mtu = (uint16_t)mtu;
	return true;
}

static bool port_vlan(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t vlan;

	if (!yaml_uint(c, node, 1, 4094, &vlan))
		return false;
	((struct sl_port_conf *)object)->vlan = (uint16_t)vlan;
	return true;
}

static bool port_mac(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_port_conf *port = object;

	port->has_mac = true;
	return yaml_mac(c, node, &port->mac);
}

static const struct yaml_key port_keys[] = {
	{ "name", port_name, true },
	{ "device", port_device, false },
	{ "parent", port_parent, false },
	{ "addresses", port_addresses, false },
	{ "mtu", port_mtu, false },
	{ "vlan", port_vlan, false },
	{ "mac", port_mac, false },
	{ NULL, NULL, false },
};

bool conf_ports(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_conf *conf = object;
	size_t n;

	if (!yaml_seq(c, node, "ports", &n))
		return false;
	if (n == 0 || n >= SL_PORTS_MAX)
		return yaml_error(
				c, node, "found %zu ports, expected 1 to %d", n, SL_PORTS_MAX - 1);
	conf->ports = yaml_alloc(c, n, sizeof(*conf->ports));
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_item(c, node, i);
		struct sl_port_conf *port = &conf->ports[i];

		port->at = yaml_mark(item);
		port->mtu = 1500;
		if (!yaml_map(c, item, "port", port_keys, port, NULL))
			return false;
		conf->n_ports++;
	}
	return true;
}
