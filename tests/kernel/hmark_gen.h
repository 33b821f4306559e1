/* SPDX-License-Identifier: BSD-3-Clause */
/* hmark_gen: options of HMARK and packets that it has to read, drawn by seed and index. */
#pragma once

#include "frames_priv.h"

#include <stdio.h>

/* one rule's target, as a user writes it: whole tuples or prefixes and masks */
void hmark_options(uint64_t seed, unsigned int index, bool v6, FILE *out);

/* a frame for the router at pa: the kernel takes it as far as PREROUTING */
void hmark_frame(uint64_t seed, unsigned int index, bool v6, struct buf *frame);
