/* SPDX-License-Identifier: BSD-3-Clause */
/* What `sluice-bench run` was asked for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct options {
	const char *const *names; /* of scenarios, NULL at the end */
	unsigned int rounds;
	double seconds; /* of one side of one scenario */
	const char *json, *html; /* files; NULL: not wanted */
	unsigned int core;
	uint32_t flows; /* 0: the scenario's */
	uint16_t size; /* 0: the scenario's */
	bool kernel_only;
};

/* -1: go on, or the status to exit with */
int options_read(int argc, char **argv, struct options *o);

/* the last CPU that this process may use: the first ones have most of the interrupts */
unsigned int options_default_core(void);
