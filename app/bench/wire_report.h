/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "app/bench/wire.h"

#include <jansson.h>
#include <stdio.h>

/* @results: WIRE_ROUTER_NB, in the order of enum wire_router */
void wire_report_text(const struct wire_result *results, FILE *out);
json_t *wire_report_json(const struct wire_result *results);
