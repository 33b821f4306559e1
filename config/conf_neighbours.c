/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/conf_parts.h"

static bool neigh_ip(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_neigh_conf *n = object;

	return yaml_addr(c, node, &n->family, &n->ip);
}

static bool neigh_mac(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_mac(c, node, &((struct sl_neigh_conf *)object)->mac);
}

static bool neigh_port(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(
			c, node, &((struct sl_neigh_conf *)object)->port, "the name of a port");
}

static const struct yaml_key neigh_keys[] = {
	{ "ip", neigh_ip, true },
	{ "mac", neigh_mac, true },
	{ "port", neigh_port, true },
	{ NULL, NULL, false },
};

bool conf_neighbours(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_conf *conf = object;
	size_t n;

	if (!yaml_seq(c, node, "neighbours", &n))
		return false;
	conf->neighbours = yaml_alloc(c, n, sizeof(*conf->neighbours));
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_item(c, node, i);

		conf->neighbours[i].at = yaml_mark(item);
		if (!yaml_map(c, item, "neighbour", neigh_keys, &conf->neighbours[i], NULL))
			return false;
		conf->n_neighbours++;
	}
	return true;
}
