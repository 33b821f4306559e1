/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_gen.h - random legal rules for every option of every match and target */
#pragma once

#include "config/ipt.h"

#include <stdint.h>
#include <stdio.h>

/**
 * ipt_gen() - write rule lines "-A gen ..." that iptables-restore takes
 * @seed: the same seed gives the same rules
 * @per_template: rules for each template
 *
 * Sets that the rules name: gen4 (hash:ip), gen6 (hash:ip, inet6). Return: number of rules.
 */
unsigned int ipt_gen(FILE *f, enum ipt_family family, enum ipt_table_id table, uint32_t seed,
		unsigned int per_template);
