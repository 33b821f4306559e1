/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens now: rates of ports, workers, stages, drops and connections, again each second. */
#pragma once

#include <stdbool.h>

/**
 * top() - frames until `q` or a signal; one, if @once or stdout is no terminal
 * @fd:   of client_connect()
 * @json: one frame as JSON
 *
 * Return: 0 or -errno of the connection.
 */
int top(int fd, bool once, bool json);
