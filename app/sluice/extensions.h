/* SPDX-License-Identifier: BSD-3-Clause */
/* The matches and targets of this program. */
#pragma once

struct ipt_exts;

/* all of them, by kind; what is not there is refused by name when rules are read */
extern const struct ipt_exts sl_extensions;
