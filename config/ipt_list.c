/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_list.c - the one list of all matches and targets that the reader knows */
#include "config/ipt_list.h"

#define X(ext) &ext,
const struct ipt_ext *const ipt_matches[] = { IPT_MATCH_EXTS(X) NULL };
const struct ipt_ext *const ipt_targets[] = { IPT_TARGET_EXTS(X) NULL };
#undef X
