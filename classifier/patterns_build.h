/* SPDX-License-Identifier: BSD-3-Clause */
/* What patterns_build.c makes and patterns.c runs. */
#pragma once

#include "classifier/patterns.h"
#include "lib/port.h"

#include <hs.h>

/* the first word of a set is about passes */
#define PATTERNS_FIRST_BIT 64

struct needle {
	uint32_t from, to; /* an occurrence of @len bytes that ends in it has to lie in it */
	uint32_t len; /* 0: any occurrence will do */
	uint32_t pos; /* of its rule in the chain */
};

struct pattern_pass {
	uint32_t from, to;
	uint32_t n; /* patterns */
	hs_database_t *db; /* NULL: none could be held */
};

/* match_regex.c: [control] the expression's own database; @state belongs to its match */
const hs_database_t *ipt_regex_db(const struct ipt_pattern *state);

/* [worker] */
struct pattern_worker {
	hs_scratch_t *scratch; /* for any of the databases */
	uint64_t *found; /* SL_BURST sets */
	uint8_t *copy; /* of packets that lie in several buffers */
};

struct ipt_patterns {
	uint32_t n_passes;
	struct pattern_pass passes[IPT_PASSES_MAX];
	struct needle *needles; /* by bit, less PATTERNS_FIRST_BIT */
	uint32_t words; /* of a set */
	struct pattern_worker worker[SL_WORKERS_MAX];
};
