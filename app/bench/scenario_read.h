/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of a scenario's file, each of which takes one mapping. */
#pragma once

#include "app/bench/scenario.h"
#include "config/yaml_node.h"

bool scenario_read_traffic(struct yaml_ctx *c, const yaml_node_t *node, void *scenario);
bool scenario_read_rules(struct yaml_ctx *c, const yaml_node_t *node, void *scenario);

/* a file's path relative to the scenario's own directory */
void scenario_beside(const struct yaml_ctx *c, const char *name, char *path, size_t size);
