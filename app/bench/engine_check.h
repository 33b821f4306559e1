/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A plug-in's classifier engines: none is measured before its every answer was compared with linear's,
 * on random rules and on the packets and rules of each scenario.
 */
#pragma once

#include "app/bench/side.h"

/* loads the plug-in and tries its engines on random rules. Return: false after a line on stderr */
bool engine_check_load(const char *path);

/* the engines of the plug-in, NULL behind the last */
const char *engine_check_name(unsigned int i);

/**
 * engine_check_scenario() - all packets of @setup through its engine under observation
 * @setup: as for measuring it
 *
 * In a process of its own. Return: whether all was right; else why has the first answer that was not.
 */
bool engine_check_scenario(const struct side_setup *setup, char why[SIDE_TEXT_MAX]);

/* in the side's process: @setup's engine is observed if it is to be. Return: the engine's name */
const char *engine_check_subject(const struct side_setup *setup);
