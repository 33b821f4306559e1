/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/conf_parts.h"

#include <libgen.h>
#include <limits.h>

/* relative to the directory of the configuration */
static bool path_into(struct yaml_ctx *c, const yaml_node_t *node, const char **out)
{
	const char *text = yaml_text(c, node, "a path");
	char dir[PATH_MAX], joined[2 * PATH_MAX];

	if (text == NULL)
		return false;
	snprintf(dir, sizeof(dir), "%s", c->path);
	if (text[0] == '/')
		snprintf(joined, sizeof(joined), "%s", text);
	else
		snprintf(joined, sizeof(joined), "%s/%s", dirname(dir), text);
	*out = yaml_dup_text(c, joined);
	return true;
}

static bool firewall_iptables(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return path_into(c, node, &((struct sl_firewall_conf *)object)->iptables);
}

static bool firewall_ip6tables(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return path_into(c, node, &((struct sl_firewall_conf *)object)->ip6tables);
}

static bool firewall_ipset(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return path_into(c, node, &((struct sl_firewall_conf *)object)->ipset);
}

static bool firewall_engine(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const char *const engines[] = { "auto", "linear", "hashed", "forest", "trie", NULL };
	int engine;

	if (!yaml_word(c, node, engines, &engine))
		return false;
	((struct sl_firewall_conf *)object)->engine = engines[engine];
	return true;
}

static const struct yaml_key firewall_keys[] = {
	{ "iptables", firewall_iptables, false },
	{ "ip6tables", firewall_ip6tables, false },
	{ "ipset", firewall_ipset, false },
	{ "engine", firewall_engine, false },
	{ NULL, NULL, false },
};

bool conf_firewall(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_conf *conf = object;

	conf->firewall.at = yaml_mark(node);
	return yaml_map(c, node, "firewall", firewall_keys, &conf->firewall, NULL);
}
