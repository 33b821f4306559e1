/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections of a configuration file, one function each; see config/yaml.c for their keys. */
#pragma once

#include "config/yaml_node.h"

bool conf_ports(struct yaml_ctx *c, const yaml_node_t *node, void *conf);
bool conf_routes(struct yaml_ctx *c, const yaml_node_t *node, void *conf);
bool conf_neighbours(struct yaml_ctx *c, const yaml_node_t *node, void *conf);
bool conf_policy(struct yaml_ctx *c, const yaml_node_t *node, void *conf);
bool conf_sysctl(struct yaml_ctx *c, const yaml_node_t *node, void *conf);
bool conf_pipeline(struct yaml_ctx *c, const yaml_node_t *node, void *conf);
bool conf_metrics(struct yaml_ctx *c, const yaml_node_t *node, void *conf);
bool conf_firewall(struct yaml_ctx *c, const yaml_node_t *node, void *conf);
/* shared objects, which are loaded here and now; and then whether the engine is there */
bool conf_plugins(struct yaml_ctx *c, const yaml_node_t *node, void *conf);
bool conf_check_engine(struct yaml_ctx *c);

/* a path, relative to the directory of the configuration */
bool conf_path(struct yaml_ctx *c, const yaml_node_t *node, const char **out);

/* what needs the whole file: references between sections, duplicates, overlaps */
bool conf_check(struct yaml_ctx *c);
