/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's clock of 4 ms. Rates are exact only if they are counted as it counts them.
 */
#pragma once

#include "lib/worker.h"

#define IPT_HZ 250U
#define IPT_JIFFY_NS (1000000000U / IPT_HZ)

static inline uint64_t ipt_jiffies(const struct sl_worker *w)
{
	return w->now_ns / IPT_JIFFY_NS;
}
