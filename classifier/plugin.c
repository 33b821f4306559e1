/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLUGINS_MAX 64

static struct {
	void *handle;
	const struct sl_plugin *plugin;
} loaded[PLUGINS_MAX];
static unsigned int n_loaded;

__attribute__((format(printf, 4, 5))) static int refuse(
		const char *path, char *err, size_t size, const char *format, ...)
{
	va_list args;
	int n = snprintf(err, size, "%s: ", path);

	va_start(args, format);
	if (n >= 0 && (size_t)n < size)
		vsnprintf(err + n, size - (size_t)n, format, args);
	va_end(args);
	return -EINVAL;
}

static bool is_name(const char *name)
{
	return name != NULL && name[0] != '\0'
			&& strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") == strlen(name);
}

static int check_stage(const char *path, const struct sl_stage_ops *s, char *err, size_t size)
{
	if (s->api_version != SL_STAGE_API_VERSION)
		return refuse(path, err, size, "found a stage of API version %u, expected %u",
				s->api_version, SL_STAGE_API_VERSION);
	if (!is_name(s->name))
		return refuse(path, err, size, "found a stage named '%s', expected [a-z0-9_-]",
				s->name == NULL ? "" : s->name);
	if (sl_plugin_stage(s->name) != NULL)
		return refuse(path, err, size, "stage '%s' is there already", s->name);
	if (s->process == NULL || s->hooks == 0 || s->hooks >= SL_HOOK_BIT(SL_HOOK_NB))
		return refuse(path, err, size, "stage '%s': expected process and hooks", s->name);
	return 0;
}

static int check_engine(const char *path, const struct sl_cls_ops *e, char *err, size_t size)
{
	if (!is_name(e->name) || strcmp(e->name, "auto") == 0 || strcmp(e->name, "plain") == 0)
		return refuse(path, err, size,
				"found an engine named '%s', expected [a-z0-9_-], not auto or plain",
				e->name == NULL ? "" : e->name);
	if (sl_cls_find(e->name) != NULL)
		return refuse(path, err, size, "engine '%s' is there already", e->name);
	if (e->estimate == NULL || e->build == NULL || e->lookup == NULL || e->free == NULL
			|| e->memory == NULL)
		return refuse(path, err, size,
				"engine '%s': expected estimate, build, lookup, free and memory",
				e->name);
	return 0;
}

static int check(const char *path, const struct sl_plugin *p, char *err, size_t size)
{
	int ret = 0;

	if (p->api_version != SL_PLUGIN_API_VERSION || p->stage_api_version != SL_STAGE_API_VERSION
			|| p->engine_api_version != SL_CLS_API_VERSION)
		return refuse(path, err, size,
				"found API versions %u, %u, %u (plug-in, stage, engine), expected %u, "
				"%u, %u: build it against the headers of this sluice",
				p->api_version, p->stage_api_version, p->engine_api_version,
				SL_PLUGIN_API_VERSION, SL_STAGE_API_VERSION, SL_CLS_API_VERSION);
	if (p->name == NULL)
		return refuse(path, err, size, "found no name in sl_plugin, expected one");
	for (unsigned int i = 0; ret == 0 && p->stages != NULL && p->stages[i] != NULL; i++)
		ret = check_stage(path, p->stages[i], err, size);
	for (unsigned int i = 0; ret == 0 && p->engines != NULL && p->engines[i] != NULL; i++)
		ret = check_engine(path, p->engines[i], err, size);
	return ret;
}

int sl_plugin_load(const char *path, char *err, size_t size)
{
	const struct sl_plugin *p;
	void *handle;
	int ret;

	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		const char *why = dlerror();
		size_t n = strlen(path);

		/* the loader names the file by itself, mostly */
		if (why != NULL && strncmp(why, path, n) == 0)
			snprintf(err, size, "%s, expected a plug-in", why);
		else
			refuse(path, err, size, "%s, expected a plug-in", why == NULL ? "?" : why);
		return -EINVAL;
	}
	for (unsigned int i = 0; i < n_loaded; i++)
		if (loaded[i].handle == handle) {
			dlclose(handle);
			return 0;
		}
	p = dlsym(handle, SL_PLUGIN_SYMBOL);
	if (p == NULL)
		ret = refuse(path, err, size, "found no symbol " SL_PLUGIN_SYMBOL ", expected one");
	else if (n_loaded == PLUGINS_MAX)
		ret = refuse(path, err, size, "expected at most %d plug-ins", PLUGINS_MAX);
	else
		ret = check(path, p, err, size);
	if (ret < 0) {
		dlclose(handle);
		return ret;
	}
	loaded[n_loaded].handle = handle;
	loaded[n_loaded++].plugin = p;
	return 0;
}

const struct sl_plugin *sl_plugin_at(unsigned int i)
{
	return i < n_loaded ? loaded[i].plugin : NULL;
}

const struct sl_stage_ops *sl_plugin_stage(const char *name)
{
	for (unsigned int i = 0; i < n_loaded; i++) {
		const struct sl_stage_ops *const *s = loaded[i].plugin->stages;

		for (; s != NULL && *s != NULL; s++)
			if (strcmp((*s)->name, name) == 0)
				return *s;
	}
	return NULL;
}

const struct sl_cls_ops *sl_plugin_engine(const char *name)
{
	for (unsigned int i = 0; i < n_loaded; i++) {
		const struct sl_cls_ops *const *e = loaded[i].plugin->engines;

		for (; e != NULL && *e != NULL; e++)
			if (strcmp((*e)->name, name) == 0)
				return *e;
	}
	return NULL;
}
