/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_check.h - what is checked at COMMIT, when all chains of a table are known */
#pragma once

#include "config/ipt_ext.h"

/* Sets chain.hooks. Errors are reported against the rules' own lines. Return: 0, -EINVAL, -ENOMEM. */
int ipt_check_table(struct ipt_ctx *cx, struct ipt_table *t);
