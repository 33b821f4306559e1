/* SPDX-License-Identifier: BSD-3-Clause */
/* The router's own stages, which every pipeline holds, and the two paths beside them. */
#pragma once

#include "lib/stage.h"

extern const struct sl_stage_ops sl_stage_parse; /* lib/stage_parse.c */
extern const struct sl_stage_ops sl_stage_handoff; /* lib/stage_handoff.c */
extern const struct sl_stage_ops sl_stage_reassembly; /* lib/stage_reassembly.c */
extern const struct sl_stage_ops sl_stage_route; /* lib/stage_route.c */
extern const struct sl_stage_ops sl_stage_forward; /* lib/stage_forward.c */
extern const struct sl_stage_ops sl_stage_host; /* lib/stage_host.c */
extern const struct sl_stage_ops sl_stage_neighbour; /* lib/stage_neighbour.c */
