/* SPDX-License-Identifier: BSD-3-Clause */
/* What create() of a stage does with its entry under `pipeline:`: reads values, names what is wrong. */
#pragma once

#include "lib/conf.h"

#include <stdbool.h>

struct sl_router;

/* one key that a stage knows; @read gets the value's text and the object under construction */
struct sl_stage_key {
	const char *name;
	int (*read)(struct sl_router *r, const struct sl_stage_conf *conf, unsigned int arg,
			void *object);
	bool required;
};

/**
 * sl_stage_read() - every key of the entry, each once
 * @keys: up to an entry without name; a key of the file that is not there is an error
 *
 * Return: 0, or -EINVAL after sl_stage_error().
 */
int sl_stage_read(struct sl_router *r, const struct sl_stage_conf *conf,
		const struct sl_stage_key *keys, void *object);

/* the value of args[@arg] as a number. Return: 0, or -EINVAL after sl_stage_error() */
int sl_stage_uint(struct sl_router *r, const struct sl_stage_conf *conf, unsigned int arg,
		uint64_t min, uint64_t max, uint64_t *out);

/* a line "path:line:column: ..." for whoever applies the configuration. Return: -EINVAL */
int sl_stage_error(struct sl_router *r, const struct sl_stage_conf *conf, struct sl_mark at,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));
