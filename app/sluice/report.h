/* SPDX-License-Identifier: BSD-3-Clause */
/* What a router has counted, at the end of a replay: tables for people, JSON for programs. */
#pragma once

#include "lib/router.h"

#include <stdbool.h>
#include <stdio.h>

/* ports, drops by reason, stages */
void report_print(const struct sl_router *r, FILE *out);

/**
 * report_json() - {"ports": {NAME: {"rx", "tx", ...}}, "drops": {REASON: n}, "stages": [...]}
 *
 * Return: false and errno if @path could not be written.
 */
bool report_json(const struct sl_router *r, const char *path);

/* prints the balance of every port; false if one does not hold */
bool report_balance(const struct sl_router *r, FILE *out);
