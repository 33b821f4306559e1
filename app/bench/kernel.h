/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's side: live frames through a namespace that routes. */
#pragma once

#include "app/bench/side.h"

extern const struct side_ops kernel_side;

/* NULL, or why this build has no kernel's side */
const char *kernel_missing(void);
