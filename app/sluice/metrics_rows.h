/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists that metrics_text() writes, from a running router. */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct app;

/* what takes a while to gather is not gathered for each scrape anew */
struct metrics_cache {
	json_t *nat;
	uint64_t nat_ns; /* when, by the monotonic clock */
};

/* Context: control. Workers are asked for NAT alone, a few entries at a time */
json_t *metrics_rows(struct app *app, struct metrics_cache *cache);
void metrics_cache_free(struct metrics_cache *cache);
