/* SPDX-License-Identifier: BSD-3-Clause */
/* Configurations that must be refused, and the one line that says why. */
#pragma once

struct bad_conf {
	const char *name;
	const char *text;
	const char *error; /* what stands behind the name of the file */
};

/* ends with a row without a name */
extern const struct bad_conf bad_confs[];
