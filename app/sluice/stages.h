/* SPDX-License-Identifier: BSD-3-Clause */
/* The stages that a configuration can name under `pipeline:`. */
#pragma once

#include "lib/pipeline.h"

#include <stddef.h>

struct sl_conf;

/* every stage of this program, NULL at the end */
extern const struct sl_stage_ops *const sl_stages[];

/**
 * sl_stages_from_conf() - what the pipeline of a configuration holds on top of the router's own
 * @specs: array for free()
 *
 * Return: 0; -EINVAL and one line in @err that names the place; -ENOMEM.
 */
int sl_stages_from_conf(const struct sl_conf *conf, struct sl_stage_spec **specs,
		unsigned int *n_specs, char *err, size_t err_size);
