/* SPDX-License-Identifier: BSD-3-Clause */
/* The answers of each command as text for people. */
#pragma once

#include <jansson.h>

/* prints @result of @command to stdout */
void show(const char *command, const json_t *result);
