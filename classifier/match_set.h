/* SPDX-License-Identifier: BSD-3-Clause */
/* -m set and -j SET; app/sluice/extensions.c lists them. */
#pragma once

#include "classifier/ext.h"

extern const struct ipt_match_ops ipt_match_set_ops;
extern const struct ipt_target_ops ipt_target_set_ops;
