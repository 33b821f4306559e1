/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/conf_parts.h"

static bool stage_hook(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	const char *words[SL_HOOK_NB + 1] = { NULL };
	int hook;

	for (int i = 0; i < SL_HOOK_NB; i++)
		words[i] = sl_hook_name((enum sl_hook)i);
	if (!yaml_word(c, node, words, &hook))
		return false;
	((struct sl_stage_conf *)object)->hook = (enum sl_hook)hook;
	return true;
}

static bool stage_name(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(
			c, node, &((struct sl_stage_conf *)object)->stage, "the name of a stage");
}

static bool stage_order(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_stage_conf *s = object;
	long order;

	if (!yaml_long(c, node, &order))
		return false;
	if (order <= SL_ORDER_FIRST || order >= SL_ORDER_LAST)
		return yaml_error(c, node, "found order %ld, expected %d to %d", order,
				SL_ORDER_FIRST + 1, SL_ORDER_LAST - 1);
	s->has_order = true;
	s->order = (int)order;
	return true;
}

/* "a,b,c" of a list of scalars */
static char *join(struct yaml_ctx *c, const yaml_node_t *seq, size_t n)
{
	size_t size = 1, used = 0;
	char *text;

	for (size_t i = 0; i < n; i++) {
		const char *item = yaml_text(c, yaml_item(c, seq, i), "a list of single values");

		if (item == NULL)
			return NULL;
		size += strlen(item) + 1;
	}
	text = yaml_alloc(c, size, 1);
	for (size_t i = 0; i < n; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? "," : "",
				(const char *)yaml_item(c, seq, i)->data.scalar.value);
	return text;
}

/* what the stage itself reads */
static bool stage_arg(
		struct yaml_ctx *c, const yaml_node_t *key, const yaml_node_t *value, void *object)
{
	struct sl_stage_conf *s = object;
	const char *text;
	size_t n;

	if (value->type == YAML_SEQUENCE_NODE) {
		yaml_seq(c, value, "values", &n);
		text = join(c, value, n);
	} else {
		text = yaml_text(c, value, "a value or a list of values");
	}
	if (text == NULL)
		return false;
	s->args[s->n_args].key = yaml_dup_text(c, (const char *)key->data.scalar.value);
	s->args[s->n_args].value = yaml_dup_text(c, text);
	s->args[s->n_args].at = yaml_mark(value);
	s->n_args++;
	return true;
}

static const struct yaml_key stage_keys[] = {
	{ "hook", stage_hook, true },
	{ "stage", stage_name, true },
	{ "order", stage_order, false },
	{ NULL, NULL, false },
};

bool conf_pipeline(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct sl_conf *conf = object;
	size_t n, pairs;

	if (!yaml_seq(c, node, "stages", &n))
		return false;
	conf->stages = yaml_alloc(c, n, sizeof(*conf->stages));
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_item(c, node, i);
		struct sl_stage_conf *s = &conf->stages[i];

		s->at = yaml_mark(item);
		s->path = conf->path;
		pairs = item->type != YAML_MAPPING_NODE
				? 0
				: (size_t)(item->data.mapping.pairs.top
						- item->data.mapping.pairs.start);
		s->args = yaml_alloc(c, pairs, sizeof(*s->args));
		if (!yaml_map(c, item, "stage", stage_keys, s, stage_arg))
			return false;
		conf->n_stages++;
	}
	return true;
}
