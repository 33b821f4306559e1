/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stddef.h>

struct app;

/**
 * reload() - read the configuration file again and take over what changed
 *
 * Devices, ports and workers stay as they were at start: a file that wants others is refused by
 * name. Return: 0, or -errno and the reason in @err; nothing has changed then.
 */
int reload(struct app *app, char *err, size_t err_size);
