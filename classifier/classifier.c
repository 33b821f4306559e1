/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of engines, and the choice among them. */
#include "classifier/classifier.h"

#include "classifier/checked.h"
#include "classifier/plugin.h"

#include <string.h>

const struct sl_cls_ops *const sl_cls_engines[] = {
	&sl_cls_linear,
	&sl_cls_hashed,
	&sl_cls_forest,
	&sl_cls_trie,
	NULL,
};

const struct sl_cls_ops *sl_cls_find(const char *name)
{
	for (unsigned int i = 0; sl_cls_engines[i] != NULL; i++)
		if (strcmp(sl_cls_engines[i]->name, name) == 0)
			return sl_cls_engines[i];
	if (strcmp(name, CLS_CHECKED_NAME) == 0)
		return cls_checked_engine();
	return sl_plugin_engine(name);
}

/* Cycles of linear and forest, keys in corners of rules: on Zen 4 30 and 18-39 at 16 rules, 52 and 16-42
 * at 32, 75 and 19-51 at 64; on Zen 1 37 and 84 at 20 rules, 63 and 50-85 at 64. */
#define LINEAR_RULES 32U
/* the most that auto spends on a set */
#define MEMORY_MAX ((size_t)1 << 30)

const struct sl_cls_ops *sl_cls_auto(const struct sl_cls_spec *spec, const char **why)
{
	const struct sl_cls_ops *ops = &sl_cls_forest;
	const char *reason = "more than 32 rules: trees";
	size_t bytes = sl_cls_forest.estimate(spec);

	if (spec->n <= LINEAR_RULES) {
		ops = &sl_cls_linear;
		reason = "at most 32 rules: a scan is as fast as a tree";
	} else if (bytes == 0 || bytes > MEMORY_MAX) {
		ops = &sl_cls_linear;
		reason = "trees of more than 1 GB: a scan";
	}
	if (why != NULL)
		*why = reason;
	return ops;
}
