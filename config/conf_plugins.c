/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/plugin.h"
#include "config/conf_parts.h"

#include <string.h>

static bool load(struct yaml_ctx *c, const yaml_node_t *node, struct sl_conf *conf)
{
	char err[512];
	const char *path;

	if (!conf_path(c, node, &path))
		return false;
	if (sl_plugin_load(path, err, sizeof(err)) < 0)
		return yaml_error(c, node, "%s", err);
	conf->plugins[conf->n_plugins++] = path;
	return true;
}

bool conf_plugins(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_conf *conf = object;
	size_t n;

	if (!yaml_seq(c, node, "plugins", &n))
		return false;
	conf->plugins = yaml_alloc(c, n + 1, sizeof(*conf->plugins));
	for (size_t i = 0; i < n; i++)
		if (!load(c, yaml_item(c, node, i), conf))
			return false;
	return true;
}

static void list(char *names, size_t size)
{
	size_t n = (size_t)snprintf(names, size, "auto");

	for (unsigned int i = 0; sl_cls_engines[i] != NULL && n < size; i++)
		n += (size_t)snprintf(names + n, size - n, ", %s", sl_cls_engines[i]->name);
	for (unsigned int i = 0; sl_plugin_at(i) != NULL; i++) {
		const struct sl_cls_ops *const *e = sl_plugin_at(i)->engines;

		for (; e != NULL && *e != NULL && n < size; e++)
			n += (size_t)snprintf(names + n, size - n, ", %s", (*e)->name);
	}
}

bool conf_check_engine(struct yaml_ctx *c)
{
	struct sl_firewall_conf *f = &c->conf->firewall;
	char names[512];

	if (f->engine == NULL || strcmp(f->engine, "auto") == 0 || sl_cls_find(f->engine) != NULL)
		return true;
	list(names, sizeof(names));
	return yaml_error_at(c, f->engine_at, "found '%s', expected one of %s", f->engine, names);
}
