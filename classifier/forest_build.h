/* SPDX-License-Identifier: BSD-3-Clause */
/* What building a tree needs besides the forest: parameters, budget, scratch. [control] */
#pragma once

#include "classifier/forest.h"

/* rules that a choice of the window looks at */
#define FOREST_SAMPLE 512

struct forest_builder {
	struct forest *f;
	/* parameters of this try */
	float lambda; /* cycles for each doubling of memory */
	float progress; /* largest share of the rules that a packet may still meet below a cut */
	uint64_t budget; /* entries in leaves */
	uint64_t entries;
	bool over; /* budget spent */
	int err;

	/* leaves made in this build, to share equal ones; NULL while updating */
	struct forest_seen *seen;
	uint32_t seen_mask, seen_n;

	float *cost; /* cycles of a leaf or subtree of n rules */
	uint32_t cost_n;
	float recip[1 << FOREST_WIDTH_MAX]; /* 1 / (span + 1) */
	struct forest_span sample[FOREST_FIELDS_MAX][FOREST_SAMPLE];
	int32_t count[(1 << FOREST_WIDTH_MAX) + 2];
	float share[(1 << FOREST_WIDTH_MAX) + 2];
};

/* Return: a builder for up to @n rules a node, NULL without memory. */
struct forest_builder *forest_builder_create(struct forest *f, uint32_t n, bool share);
void forest_builder_free(struct forest_builder *b);

/**
 * forest_build_tree() - subtree of the slots @ids (labels ascending) in @region
 *
 * Return: its element, not yet counted as a reference. On an error @b->err says which, on a spent
 * budget @b->over is set; the element then is good for nothing but to be thrown away.
 */
uint64_t forest_build_tree(struct forest_builder *b, const uint32_t *ids, uint32_t n,
		const struct forest_region *region, unsigned int depth);

/* Return: whether a cut is worth more than a leaf of these rules. */
bool forest_cut_choose(struct forest_builder *b, const uint32_t *ids, uint32_t n,
		const struct forest_region *region, struct forest_cut *cut);

/* all trees, from the rules in the slots; 0 or -errno */
int forest_build_all(struct forest *f);
