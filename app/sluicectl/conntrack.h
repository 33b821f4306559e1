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

void conntrack_show(const json_t *result);
