/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table in a file, from one run of the program to the next. Time goes on in between: what has
 * ended meanwhile is left out. A connection comes back to the worker that had it, if there are as
 * many as before (a device that spreads flows then spreads them alike), else to the owner that its
 * addresses and ports say. Expectations are not kept.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ct_table;

/* what became of the connections of a file */
struct ct_state_report {
	uint64_t n; /* in the file */
	uint64_t taken;
	uint64_t ended; /* their time was over */
	uint64_t full; /* the table has no place for them */
};

/**
 * ct_state_save() - write all confirmed connections to a file, which is replaced whole
 *
 * Context: control, workers stopped. Return: how many, or -errno and a line in @err.
 */
int64_t ct_state_save(const struct ct_table *t, const char *path, char *err, size_t err_size);

/**
 * ct_state_load() - make the connections of a file
 *
 * Context: control, before workers start. Return: 0; -ENOENT: there is no such file; -EINVAL, -errno:
 * none was made, and @err says why.
 */
int ct_state_load(struct ct_table *t, const char *path, struct ct_state_report *report, char *err,
		size_t err_size);
