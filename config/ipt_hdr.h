/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_hdr.h - words that a match and the target of the same field share */
#pragma once

#include "config/ipt_ext.h"

/* value[/mask], or one of the symbolic names, which stand for mask 0x3f */
int ipt_parse_tos(struct ipt_ctx *cx, const struct ipt_opt *o, const char *arg, uint8_t *value,
		uint8_t *mask);

extern const struct ipt_type ipt_t_dscp_class; /* BE, EF, AFxx, CSx: uint8_t; not printed */

/* a set's name and its directions: struct ipt_set_ref */
extern const struct ipt_type ipt_t_set_ref;
