/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is counted, as Prometheus reads it (text format 0.0.4): one table of metrics, each a column
 * of a list of rows. Knows JSON and no router, so that a test can have it alone.
 */
#pragma once

#include <jansson.h>
#include <stdio.h>

/**
 * metrics_text() - every metric with its rows
 * @rows: by name of a list (see metrics_text.c): an array of objects, or one object. A list that is
 *        not there, and a row without the field, give no line.
 */
void metrics_text(const json_t *rows, FILE *out);
