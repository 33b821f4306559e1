/* SPDX-License-Identifier: BSD-3-Clause */
/* The connections of our side. */
#pragma once

#include <stdint.h>

struct sl_router;

/* -1: no rule asks for tracking, so nobody tracks */
int64_t router_conntrack_count(const struct sl_router *r);

/* all of them are forgotten, and their memory is free, before the next packet */
void router_conntrack_flush(struct sl_router *r);
