/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/conf_parts.h"

#include <stdlib.h>

/* VALUE or VALUE/MASK, as ip rule takes it */
static bool policy_fwmark(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_policy_conf *p = object;
	const char *expected = "a mark, as 0x64 or 0x64/0xff";
	const char *text = yaml_text(c, node, expected);
	unsigned long long mark, mask = UINT32_MAX;
	char *end;

	if (text == NULL)
		return false;
	mark = strtoull(text, &end, 0);
	if (*end == '/')
		mask = strtoull(end + 1, &end, 0);
	if (*end != '\0' || text[0] < '0' || text[0] > '9' || mark > UINT32_MAX || mask == 0
			|| mask > UINT32_MAX)
		return yaml_error(c, node, "found '%s', expected %s", text, expected);
	p->fwmark = (uint32_t)mark;
	p->fwmask = (uint32_t)mask;
	return true;
}

static bool policy_from(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_prefix(c, node, &((struct sl_policy_conf *)object)->from);
}

static bool policy_to(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_prefix(c, node, &((struct sl_policy_conf *)object)->to);
}

static bool policy_iif(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(
			c, node, &((struct sl_policy_conf *)object)->iif, "the name of a port");
}

static bool policy_table(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t table;

	if (!yaml_uint(c, node, 1, UINT32_MAX, &table))
		return false;
	((struct sl_policy_conf *)object)->table = (uint32_t)table;
	return true;
}

/* 0 is the local table's, as in the kernel */
static bool policy_priority(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t priority;

	if (!yaml_uint(c, node, 1, UINT32_MAX, &priority))
		return false;
	((struct sl_policy_conf *)object)->priority = (uint32_t)priority;
	return true;
}

static const struct yaml_key policy_keys[] = {
	{ "fwmark", policy_fwmark, false },
	{ "from", policy_from, false },
	{ "to", policy_to, false },
	{ "iif", policy_iif, false },
	{ "table", policy_table, true },
	{ "priority", policy_priority, false },
	{ NULL, NULL, false },
};

bool conf_policy(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_conf *conf = object;
	size_t n;

	if (!yaml_seq(c, node, "policy rules", &n))
		return false;
	conf->policy = yaml_alloc(c, n, sizeof(*conf->policy));
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_item(c, node, i);
		struct sl_policy_conf *p = &conf->policy[i];

		p->at = yaml_mark(item);
		/* between local (0) and main (32766), in the order of the file */
		p->priority = 1000 + (uint32_t)i;
		if (!yaml_map(c, item, "policy rule", policy_keys, p, NULL))
			return false;
		if (p->from.family != SL_AF_NONE && p->to.family != SL_AF_NONE
				&& p->from.family != p->to.family)
			return yaml_error(c, item, "'from' and 'to' of different families");
		conf->n_policy++;
	}
	return true;
}
