/* SPDX-License-Identifier: BSD-3-Clause */
/* Prometheus asks here: HTTP on the address of `metrics: {listen: ...}`, served by control. */
#pragma once

#include <stddef.h>

struct app;
struct metrics;

/**
 * metrics_open() - listen, and have @epoll_fd watch it; nobody is answered before metrics_run()
 *
 * Return: 0, with *out NULL if the configuration asks for none; or -errno with one line in @err.
 */
int metrics_open(struct app *app, int epoll_fd, struct metrics **out, char *err, size_t err_size);
void metrics_close(struct metrics *m);

/* whether an event of @fd is for us */
int metrics_has(const struct metrics *m, int fd);

/* after an event, and now and then for connections that are silent for too long. NULL: nothing */
void metrics_run(struct metrics *m);
