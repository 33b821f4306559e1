/* SPDX-License-Identifier: BSD-3-Clause */
/* Two answers of a router, and the rates between them. */
#pragma once

#include <jansson.h>

/**
 * top_rates() - what went on between two samples
 * @was, @now: objects with the answers to "status", "ports", "stages", "drops" and "conntrack"
 * @s:         seconds from one to the other
 *
 * A counter that is new counts from 0; one that went back, as after a reload, has the rate 0.
 * Return: {"version", "pid", "uptime_s", "config", "buffers", "buffers_in_use", "workers": [{"worker",
 * "cpu", "busy"}], "ports": [...], "stages": [...], "drops": [...], "connections": {...}}; rates are
 * reals, a second.
 */
json_t *top_rates(const json_t *was, const json_t *now, double s);
