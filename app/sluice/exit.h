/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* exit statuses of every program of sluice */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1, /* while running */
	EXIT_INPUT = 2, /* wrong use or wrong input */
};
