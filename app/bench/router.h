/* SPDX-License-Identifier: BSD-3-Clause */
/* Our side: the router's library from memory to a sink that frees. */
#pragma once

#include "app/bench/side.h"

extern const struct side_ops router_side;
