/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/sluice/stages.h"

#include "classifier/plugin.h"
#include "lib/conf.h"
#include "lib/stage_hmark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct sl_stage_ops *const sl_stages[] = {
	&sl_stage_hmark,
	NULL,
};

static const struct sl_stage_ops *find(const char *name)
{
	for (unsigned int i = 0; sl_stages[i] != NULL; i++) {
		if (strcmp(sl_stages[i]->name, name) == 0)
			return sl_stages[i];
	}
	return sl_plugin_stage(name);
}

static void list_names(char *buf, size_t size)
{
	size_t n = 0;

	snprintf(buf, size, "none");
	for (unsigned int i = 0; sl_stages[i] != NULL && n < size; i++)
		n += (size_t)snprintf(
				buf + n, size - n, "%s%s", i == 0 ? "" : ", ", sl_stages[i]->name);
	for (unsigned int i = 0; sl_plugin_at(i) != NULL; i++) {
		const struct sl_stage_ops *const *s = sl_plugin_at(i)->stages;

		for (; s != NULL && *s != NULL && n < size; s++)
			n += (size_t)snprintf(buf + n, size - n, ", %s", (*s)->name);
	}
}

int sl_stages_from_conf(const struct sl_conf *conf, struct sl_stage_spec **specs,
		unsigned int *n_specs, char *err, size_t err_size)
{
	struct sl_stage_spec *s = calloc(conf->n_stages + 1, sizeof(*s));
	char names[256];

	if (s == NULL) {
		snprintf(err, err_size, "%s: out of memory", conf->path);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < conf->n_stages; i++) {
		const struct sl_stage_conf *c = &conf->stages[i];
		const struct sl_stage_ops *ops = find(c->stage);

		if (ops == NULL || (ops->hooks & SL_HOOK_BIT(c->hook)) == 0) {
			list_names(names, sizeof(names));
			snprintf(err, err_size, "%s:%u:%u: %s '%s'%s%s (stages: %s)", conf->path,
					c->at.line, c->at.column,
					ops == NULL ? "no stage" : "stage", c->stage,
					ops == NULL ? "" : " may not stand in hook ",
					ops == NULL ? "" : sl_hook_name(c->hook), names);
			free(s);
			return -EINVAL;
		}
		s[i] = (struct sl_stage_spec){
			.ops = ops,
			.conf = c,
			.hook = c->hook,
			.order = c->has_order ? c->order : ops->order,
		};
	}
	*specs = s;
	*n_specs = conf->n_stages;
	return 0;
}
