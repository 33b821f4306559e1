/* SPDX-License-Identifier: BSD-3-Clause */
/* Another program, run to its end. It dies with its parent. */
#pragma once

#include <stddef.h>

/**
 * exec_run() - run @argv[0] from the path, in this process's namespaces
 * @input:  what it reads, NULL: nothing
 * @output: what it wrote, to be freed; NULL: not wanted
 * @why:    on failure its complaint as one line, behind the program's name
 *
 * Return: 0, -ENOENT (no such program), -EIO (it failed), or another -errno.
 */
int exec_run(const char *const *argv, const char *input, char **output, char *why, size_t size);

/**
 * exec_start() - run @argv[0] beside this program, until this one ends
 * @ready: what it writes when it is, on stdout or stderr; waits for it
 *
 * Return: its process id; -ENOENT, -EIO, or another -errno with a line in @why.
 */
int exec_start(const char *const *argv, const char *ready, char *why, size_t size);
