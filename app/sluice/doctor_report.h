/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of `sluice doctor`, one a check. */
#pragma once

#include <jansson.h>

enum finding {
	FINDING_OK,
	FINDING_WARN, /* it runs without, slower or not with every device */
	FINDING_FAIL, /* it does not run */
};

/**
 * doctor_found() - add a finding to @report, an array
 * @mend:   what to do, a command where there is one; NULL if nothing
 * @format: what was found
 */
void doctor_found(json_t *report, enum finding status, const char *check, const char *mend,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* processors, memory, privileges, devices and modules of this machine */
void doctor_machine(json_t *report);
void doctor_devices(json_t *report);

/* a configuration, and the devices, CPUs and memory that it asks for */
void doctor_conf(json_t *report, const char *path);
