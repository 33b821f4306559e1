/* SPDX-License-Identifier: BSD-3-Clause */
/* Scenarios of a suite, measured one after the other. */
#pragma once

#include "app/bench/options.h"
#include "app/bench/result.h"
#include "app/bench/suite.h"

/**
 * suite_run() - measure all of @suite into @r, which gets the machine too
 *
 * What it does is shown on a terminal as it goes. Return: false without memory.
 */
bool suite_run(const struct suite *suite, const struct options *o, struct result *r);
