/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices under the ports: opening them all, and their state while the program runs. */
#pragma once

#include <stddef.h>

struct app;

/**
 * links_open() - open every device of app->conf and add its ports to the router
 *
 * What was opened before a failure belongs to the router. Return: 0 or -errno; @err names the port.
 */
int links_open(struct app *app, char *err, size_t err_size);

/* look whether links went up or down; tells the host worker. Context: control */
void links_refresh(struct app *app);
