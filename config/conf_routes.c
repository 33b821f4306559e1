/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/conf_parts.h"

static const char *const type_words[] = {
	[SL_ROUTE_UNICAST] = "unicast",
	[SL_ROUTE_LOCAL] = "local",
	[SL_ROUTE_BROADCAST] = "broadcast",
	[SL_ROUTE_BLACKHOLE] = "blackhole",
	[SL_ROUTE_UNREACHABLE] = "unreachable",
	[SL_ROUTE_PROHIBIT] = "prohibit",
	[SL_ROUTE_THROW] = "throw",
	NULL,
};

/* a route in the making: the family of `default` is known only at the end */
struct draft {
	struct sl_route_conf *route;
	const yaml_node_t *to, *resilient;
	const char *port;
	uint8_t via_family;
};

static bool route_to(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct draft *d = object;
	struct sl_prefix *p = &d->route->to;
	const char *text = yaml_text(c, node, "a prefix or 'default'");
	struct sl_addr masked;
	char buf[SL_ADDR_STRLEN];

	if (text == NULL)
		return false;
	d->to = node;
	if (strcmp(text, "default") == 0)
		return true;
	if (!yaml_prefix(c, node, p))
		return false;
	masked = sl_addr_mask(&p->addr, p->family, p->len);
	if (!sl_addr_eq(&masked, &p->addr)) {
		p->addr = masked;
		return yaml_error(c, node, "found '%s' with bits behind its prefix, expected %s",
				text, sl_prefix_str(p, buf));
	}
	return true;
}

/* one path and the family of its gateway */
struct path {
	struct sl_via_conf *via;
	uint8_t family;
};

static bool via_weight(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t weight;

	if (!yaml_uint(c, node, 1, 256, &weight))
		return false;
	((struct path *)object)->via->weight = (uint32_t)weight;
	return true;
}

static bool via_port(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(c, node, &((struct path *)object)->via->port, "the name of a port");
}

static bool via_gateway(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct path *path = object;

	path->via->has_gateway = true;
	return yaml_addr(c, node, &path->family, &path->via->gateway);
}

static const struct yaml_key via_keys[] = {
	{ "gateway", via_gateway, false },
	{ "port", via_port, false },
	{ "weight", via_weight, false },
	{ NULL, NULL, false },
};

/* one path: an address, or a mapping of gateway, port and weight */
static bool via_item(struct yaml_ctx *c, const yaml_node_t *node, struct draft *d,
		struct sl_via_conf *via)
{
	struct path path = { .via = via, .family = SL_AF_NONE };

	via->weight = 1;
	if (node->type != YAML_MAPPING_NODE) {
		if (!via_gateway(c, node, &path))
			return false;
	} else {
		if (!yaml_map(c, node, "path", via_keys, &path, NULL))
			return false;
		if (!via->has_gateway && via->port == NULL)
			return yaml_error(c, node, "path without 'gateway' or 'port'");
	}
	if (path.family == SL_AF_NONE)
		return true;
	if (d->via_family != SL_AF_NONE && path.family != d->via_family)
		return yaml_error(c, node, "paths of both families in one route, expected one");
	d->via_family = path.family;
	return true;
}

static bool route_via(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct draft *d = object;
	size_t n = 1;

	if (node->type == YAML_SEQUENCE_NODE) {
		yaml_seq(c, node, "paths", &n);
		if (n == 0 || n > 64)
			return yaml_error(c, node, "found %zu paths, expected 1 to 64", n);
	}
	d->route->via = yaml_alloc(c, n, sizeof(*d->route->via));
	d->route->n_via = (unsigned int)n;
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item =
				node->type == YAML_SEQUENCE_NODE ? yaml_item(c, node, i) : node;

		if (!via_item(c, item, d, &d->route->via[i]))
			return false;
	}
	return true;
}

static bool route_port(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(c, node, &((struct draft *)object)->port, "the name of a port");
}

static bool route_type(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	int type;

	if (!yaml_word(c, node, type_words, &type))
		return false;
	((struct draft *)object)->route->type = (enum sl_route_type)type;
	return true;
}

static bool route_table(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t table;

	if (!yaml_uint(c, node, 1, UINT32_MAX, &table))
		return false;
	((struct draft *)object)->route->table = (uint32_t)table;
	return true;
}

static bool route_metric(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t metric;

	if (!yaml_uint(c, node, 0, UINT32_MAX, &metric))
		return false;
	((struct draft *)object)->route->metric = (uint32_t)metric;
	return true;
}

static bool route_mtu(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t mtu;

	if (!yaml_uint(c, node, 68, 9600, &mtu))
		return false;
	((struct draft *)object)->route->mtu = (uint16_t)mtu;
	return true;
}

static bool resilient_buckets(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t buckets;

	if (!yaml_uint(c, node, 1, 65535, &buckets))
		return false;
	((struct draft *)object)->route->buckets = (uint32_t)buckets;
	return true;
}

static bool resilient_idle(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t seconds;

	if (!yaml_uint(c, node, 1, 86400, &seconds))
		return false;
	((struct draft *)object)->route->idle_timer = (uint32_t)seconds;
	return true;
}

static bool resilient_unbalanced(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t seconds;

	if (!yaml_uint(c, node, 0, 86400, &seconds))
		return false;
	((struct draft *)object)->route->unbalanced_timer = (uint32_t)seconds;
	return true;
}

static const struct yaml_key resilient_keys[] = {
	{ "buckets", resilient_buckets, true },
	{ "idle_timer", resilient_idle, false },
	{ "unbalanced_timer", resilient_unbalanced, false },
	{ NULL, NULL, false },
};

static bool route_resilient(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	((struct draft *)object)->resilient = node;
	return yaml_map(c, node, "resilient group", resilient_keys, object, NULL);
}

static const struct yaml_key route_keys[] = {
	{ "to", route_to, true },
	{ "via", route_via, false },
	{ "port", route_port, false },
	{ "type", route_type, false },
	{ "table", route_table, false },
	{ "metric", route_metric, false },
	{ "mtu", route_mtu, false },
	{ "resilient", route_resilient, false },
	{ NULL, NULL, false },
};

/* a route with `port` and without `via` is on the link; with one it says where the gateway is */
static bool settle_paths(struct yaml_ctx *c, const yaml_node_t *node, struct draft *d)
{
	struct sl_route_conf *r = d->route;

	if (r->type != SL_ROUTE_UNICAST && r->type != SL_ROUTE_LOCAL
			&& r->type != SL_ROUTE_BROADCAST && (r->n_via > 0 || d->port != NULL))
		return yaml_error(c, node, "a route of type %s leads nowhere: no 'via' or 'port'",
				type_words[r->type]);
	if (r->type == SL_ROUTE_UNICAST && r->n_via == 0 && d->port == NULL)
		return yaml_error(c, node, "route without 'via', 'port' or another 'type'");
	if (r->n_via == 0 && d->port != NULL) {
		r->via = yaml_alloc(c, 1, sizeof(*r->via));
		r->via->weight = 1;
		r->n_via = 1;
	}
	if (r->buckets > 0 && (r->n_via < 2 || r->n_via > r->buckets))
		return yaml_error(c, d->resilient,
				"%u buckets for %u paths, expected several paths and a bucket for each",
				r->buckets, r->n_via);
	for (unsigned int i = 0; i < r->n_via; i++)
		if (r->via[i].port == NULL)
			r->via[i].port = d->port;
	return true;
}

static bool settle(struct yaml_ctx *c, const yaml_node_t *node, struct draft *d)
{
	struct sl_route_conf *r = d->route;

	if (r->to.family == SL_AF_NONE) {
		if (d->via_family == SL_AF_NONE)
			return yaml_error(c, d->to,
					"found 'default' without a gateway to tell the family, "
					"expected 0.0.0.0/0 or ::/0");
		r->to.family = d->via_family;
	}
	if (d->via_family != SL_AF_NONE && d->via_family != r->to.family)
		return yaml_error(c, node, "an IPv%u route with an IPv%u gateway", r->to.family,
				d->via_family);
	return settle_paths(c, node, d);
}

bool conf_routes(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_conf *conf = object;
	size_t n;

	if (!yaml_seq(c, node, "routes", &n))
		return false;
	conf->routes = yaml_alloc(c, n, sizeof(*conf->routes));
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_item(c, node, i);
		struct draft d = { .route = &conf->routes[i] };

		d.route->at = yaml_mark(item);
		d.route->table = SL_TABLE_MAIN;
		d.route->idle_timer = 120;
		if (!yaml_map(c, item, "route", route_keys, &d, NULL) || !settle(c, item, &d))
			return false;
		conf->n_routes++;
	}
	return true;
}
