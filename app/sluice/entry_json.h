/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection as JSON. */
#pragma once

#include <jansson.h>

struct ct_view;

/* an object */
json_t *entry_json(const struct ct_view *v);
/* a string: the line of /proc/net/nf_conntrack */
json_t *entry_line(const struct ct_view *v);
