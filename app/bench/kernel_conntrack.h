/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's table of connections, in the calling process's network namespace. */
#pragma once

#include <stdint.h>

/* how many connections there are; -1: nobody tracks any */
int64_t kernel_conntrack_count(void);

/* forgets all of them; -errno and a line in @why (SIDE_TEXT_MAX) */
int kernel_conntrack_flush(char *why);
