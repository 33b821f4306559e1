/* SPDX-License-Identifier: BSD-3-Clause */
/* Curves of the HTML page: what a packet costs against the number of rules, and of flows. */
#pragma once

#include "app/bench/result.h"

#include <stdio.h>

/* nothing where no scenario has a sibling with another number */
void report_plots(const struct result *r, FILE *out);
