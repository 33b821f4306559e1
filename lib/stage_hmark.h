/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "lib/stage.h"

extern const struct sl_stage_ops sl_stage_hmark;
