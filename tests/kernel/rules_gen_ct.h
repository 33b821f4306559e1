/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the tables in rules_gen_match.c: what looks at connections. */
#pragma once

#include "rules_gen.h"

void ct_put_state(struct rules_ctx *c);
void ct_put_conntrack(struct rules_ctx *c);
void ct_put_connmark(struct rules_ctx *c);
void ct_put_connbytes(struct rules_ctx *c);
void ct_put_connlabel(struct rules_ctx *c);
void ct_put_cluster(struct rules_ctx *c);
void ct_put_helper(struct rules_ctx *c);

bool ct_put_set_connmark(struct rules_ctx *c);
bool ct_put_ct(struct rules_ctx *c);
bool ct_put_notrack(struct rules_ctx *c);
