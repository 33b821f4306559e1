/* SPDX-License-Identifier: BSD-3-Clause */
/* What a figure depends on besides the program: machine, kernel, versions, switches. */
#pragma once

#include <jansson.h>

/* an object of texts and numbers, "mitigations" an object of texts; @core: the one under test */
json_t *machine_describe(unsigned int core);

/* ticks of the TSC in a nanosecond, 0 if unknown */
double machine_tsc_ghz(void);
