/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/stage_conf.h"

#include "lib/router.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int sl_stage_error(struct sl_router *r, const struct sl_stage_conf *conf, struct sl_mark at,
		const char *fmt, ...)
{
	va_list ap;
	int n;

	n = snprintf(r->err, r->err_size, "%s:%u:%u: stage %s: ", conf->path, at.line, at.column,
			conf->stage);
	if (n < 0 || (size_t)n >= r->err_size)
		return -EINVAL;
	va_start(ap, fmt);
	vsnprintf(r->err + n, r->err_size - (size_t)n, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int unknown_key(struct sl_router *r, const struct sl_stage_conf *conf, unsigned int arg,
		const struct sl_stage_key *keys)
{
	char names[256] = "none";
	size_t n = 0;

	for (; keys->name != NULL && n < sizeof(names); keys++)
		n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", n == 0 ? "" : ", ",
				keys->name);
	return sl_stage_error(r, conf, conf->args[arg].at, "unknown key '%s', expected one of %s",
			conf->args[arg].key, names);
}

int sl_stage_read(struct sl_router *r, const struct sl_stage_conf *conf,
		const struct sl_stage_key *keys, void *object)
{
	for (unsigned int i = 0; i < conf->n_args; i++) {
		const struct sl_stage_key *k = keys;
		int ret;

		while (k->name != NULL && strcmp(k->name, conf->args[i].key) != 0)
			k++;
		if (k->name == NULL)
			return unknown_key(r, conf, i, keys);
		ret = k->read(r, conf, i, object);
		if (ret < 0)
			return ret;
	}
	for (; keys->name != NULL; keys++) {
		unsigned int i = 0;

		while (i < conf->n_args && strcmp(keys->name, conf->args[i].key) != 0)
			i++;
		if (keys->required && i == conf->n_args)
			return sl_stage_error(r, conf, conf->at, "'%s' was expected", keys->name);
	}
	return 0;
}

int sl_stage_uint(struct sl_router *r, const struct sl_stage_conf *conf, unsigned int arg,
		uint64_t min, uint64_t max, uint64_t *out)
{
	const char *text = conf->args[arg].value;
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || v < min || v > max)
		return sl_stage_error(r, conf, conf->args[arg].at,
				"%s: found '%s', expected a number from %" PRIu64 " to %" PRIu64,
				conf->args[arg].key, text, min, max);
	*out = v;
	return 0;
}
