/* SPDX-License-Identifier: BSD-3-Clause */
/* One box in or out of one tree of a forest that is being read. [control] */
#pragma once

#include "classifier/forest.h"

/* memory that must be free before a change begins: it then runs through */
#define FOREST_RESERVE ((size_t)1 << 20)
/* most rules of a leaf that is changed in place */
#define FOREST_LEAF_MAX (FOREST_LONG * 4)

struct forest_change {
	struct forest *f;
	const struct sl_cls_rule *rule; /* the box */
	uint32_t slot; /* its slot; its label is rule->label */
	bool add;
	int err;
};

/* whether the tree is to be changed for this box: it does not lie across too much of it */
bool forest_change_fits(const struct forest *f, const struct sl_cls_rule *r);

/**
 * forest_change_tree() - make the change wherever the box is
 *
 * f->scratch is there. Return: 0, or what kept the change from being made everywhere.
 */
int forest_change_tree(struct forest_change *c);
