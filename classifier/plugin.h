/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plug-ins: shared objects that bring stages (lib/stage.h) and classifier engines
 * (classifier/classifier.h). One defines
 *
 *   const struct sl_plugin sl_plugin = { SL_PLUGIN_HEADER, .name = "mine", .stages = my_stages };
 *
 * and is named under `plugins:` in the configuration. It stays loaded until the program ends.
 */
#pragma once

#include "classifier/classifier.h"
#include "lib/stage.h"

#include <stddef.h>
#include <stdint.h>

#define SL_PLUGIN_API_VERSION 1

struct sl_plugin {
	/* what it was built against: SL_PLUGIN_HEADER */
	uint32_t api_version;
	uint32_t stage_api_version;
	uint32_t engine_api_version;
	const char *name;
	const struct sl_stage_ops *const *stages; /* NULL at the end; NULL: none */
	const struct sl_cls_ops *const *engines; /* likewise */
};

#define SL_PLUGIN_HEADER                                                                 \
	.api_version = SL_PLUGIN_API_VERSION, .stage_api_version = SL_STAGE_API_VERSION, \
	.engine_api_version = SL_CLS_API_VERSION

/* the symbol that a plug-in defines */
#define SL_PLUGIN_SYMBOL "sl_plugin"
extern const struct sl_plugin sl_plugin;

/**
 * sl_plugin_load() - [control] a shared object
 * @path: with a slash in it
 *
 * One that is loaded already is not loaded again. Return: 0; or -errno, and one line in @err that says
 * what was found and what was expected, beginning with @path.
 */
int sl_plugin_load(const char *path, char *err, size_t size);

/* [control] what is loaded, in order; NULL behind the last */
const struct sl_plugin *sl_plugin_at(unsigned int i);

/* [control] Return: the stage or engine of that name that a plug-in has brought, or NULL */
const struct sl_stage_ops *sl_plugin_stage(const char *name);
const struct sl_cls_ops *sl_plugin_engine(const char *name);
