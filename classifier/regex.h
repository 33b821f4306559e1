/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/**
 * ipt_regex_check() - [control] whether an expression can be searched for at all
 * @err: what was found, what was expected
 *
 * Return: 0, -EINVAL.
 */
int ipt_regex_check(const char *pattern, bool icase, char *err, size_t err_size);
