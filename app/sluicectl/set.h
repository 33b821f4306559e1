/* SPDX-License-Identifier: BSD-3-Clause */
/* sluicectl set: words of a command line into requests. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/**
 * set_request() - of `set WORD...`
 * @argv: behind "set"
 *
 * Return: NULL if they mean nothing.
 */
json_t *set_request(int argc, char **argv, bool exist);

/**
 * set_restore() - lines of standard input, many to a request
 *
 * Return: as client_ask(); @result holds what went wrong.
 */
int set_restore(int fd, bool exist, json_t **result);

/* Return: whether one word of a result says that something is not in a set */
bool set_is_missing(const json_t *result);
