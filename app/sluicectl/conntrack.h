/* SPDX-License-Identifier: BSD-3-Clause */
/* sluicectl conntrack: words of a command line into requests, and answers into text. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/**
 * conntrack_request() - of `conntrack [WHAT] [NAME=VALUE...]`
 * @argv:   behind "conntrack"
 * @family: 4 or 6, 0: both
 * @json:   whether entries are wanted as objects, not as lines
 */
json_t *conntrack_request(int argc, char **argv, int family, bool json);

/* whether the answers to a request never end */
bool conntrack_follows(const json_t *request);

/**
 * conntrack_follow() - prints events until sluice is gone or nobody reads
 *
 * Return: as client_ask()
 */
int conntrack_follow(int fd, json_t *request, json_t **result);

void conntrack_show(const json_t *result);
