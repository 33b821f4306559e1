/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/conf_parts.h"
#include "conntrack/conf.h"
#include "lib/sysctl.h"

#include <errno.h>

static bool sysctl_entry(
		struct yaml_ctx *c, const yaml_node_t *key, const yaml_node_t *value, void *object)
{
	struct sl_conf *conf = object;
	struct sl_sysctl_conf *s = &conf->sysctls[conf->n_sysctls];
	const char *name = (const char *)key->data.scalar.value;
	char port[SL_PORT_NAME_MAX];
	long min, max;
	int ret;

	if (!yaml_long(c, value, &s->value))
		return false;
	ret = sl_sysctl_check(name, s->value, port, &min, &max);
	if (ret == -ENOENT)
		ret = ct_sysctl_check(name, s->value, &min, &max);
	if (ret == -ENOENT)
		return yaml_error(c, key,
				"unknown switch '%s'; docs/config.md lists those that "
				"are honoured",
				name);
	if (ret == -ERANGE)
		return yaml_error(c, value, "found %ld for %s, expected %ld to %ld", s->value, name,
				min, max);
	s->at = yaml_mark(key);
	s->name = yaml_dup_text(c, name);
	conf->n_sysctls++;
	return true;
}

bool conf_sysctl(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const struct yaml_key none[] = { { NULL, NULL, false } };
	struct sl_conf *conf = object;
	size_t n = 0;

	if (node->type == YAML_MAPPING_NODE)
		n = (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
	conf->sysctls = yaml_alloc(c, n, sizeof(*conf->sysctls));
	return yaml_map(c, node, "sysctl", none, conf, sysctl_entry);
}
