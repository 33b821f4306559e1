/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's limit of connections, which is the whole machine's: raised while a scenario needs it,
 * and put back afterwards by a process of its own, which does so as well if this one is killed.
 */
#pragma once

#include "app/bench/traffic.h"

#include <sys/types.h>

struct kernel_limit {
	pid_t keeper; /* 0: nothing was raised */
	int fd; /* whose end tells the keeper */
};

/**
 * kernel_limit_raise() - room for the connections of @t
 *
 * Return: 0, -ENOTSUP and the reason in @why (SIDE_TEXT_MAX).
 */
int kernel_limit_raise(struct kernel_limit *l, const struct traffic *t, char *why);
void kernel_limit_restore(struct kernel_limit *l);
