/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration file. libyaml reads the text; the keys are tables of our own, since libcyaml
 * can neither take a scalar or a list for one key (workers, via) nor name the column of an error.
 */
#pragma once

#include "lib/conf.h"

#include <stdio.h>

/**
 * sl_conf_read() - read a configuration file whole
 * @err: gets one line `FILE:LINE:COLUMN: what was found, what was expected` on failure
 *
 * Checks everything that can be checked without devices: types, ranges, duplicate names and
 * addresses, references to ports, names of switches.
 * Return: 0 and *out (free with sl_conf_free()), -EINVAL, -ENOMEM, or -errno of opening the file.
 */
int sl_conf_read(const char *path, struct sl_conf **out, FILE *err);
void sl_conf_free(struct sl_conf *conf);
