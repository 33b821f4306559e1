/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread: signals, the control socket, link states. */
#pragma once

#include <stddef.h>

struct app;
struct control;

/* block the signals that control takes; before any other thread is made */
void control_block_signals(void);

/**
 * control_open() - everything that can fail before devices are touched
 * @app: its configuration names the control socket and who may ask for metrics; nothing else of it
 *       is looked at before control_run()
 *
 * Return: 0, or -errno with one line in @err.
 */
int control_open(struct app *app, struct control **out, char *err, size_t err_size);
void control_close(struct control *c);

/* serve until somebody says stop */
void control_run(struct control *c, struct app *app);
