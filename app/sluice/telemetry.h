/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

struct app;

/* offer the commands that read counters as /sluice/NAME to DPDK's telemetry; once */
void telemetry_offer(struct app *app);

/* until then they answer; afterwards with an error */
void telemetry_end(void);
