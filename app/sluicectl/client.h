/* SPDX-License-Identifier: BSD-3-Clause */
/* One question to a running sluice over its control socket. */
#pragma once

#include <jansson.h>

/* connected socket, or -errno */
int client_connect(const char *path);

/**
 * client_ask() - send a request, collect every page of the answer
 * @request: taken
 * @result:  the whole result
 *
 * Return: 0; -EREMOTEIO: sluice said no, and why in @result (a string); -EPIPE: it went away;
 * -EPROTO: it speaks another language.
 */
int client_ask(int fd, json_t *request, json_t **result);

/**
 * client_begin() - a request whose answer is followed by a stream on @fd
 * @request: taken
 * @result:  the answer, or why not
 *
 * Return: as client_ask().
 */
int client_begin(int fd, json_t *request, json_t **result);
