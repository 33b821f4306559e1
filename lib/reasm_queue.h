/* SPDX-License-Identifier: BSD-3-Clause */
/* The fragments of one datagram, in the order of their offsets; lib/reasm_queue.c. */
#pragma once

#include "lib/pkt.h"

/*
 * One fragment. Fragments that came in order and touch make a run, which is one node of the tree;
 * fields below "run" count in its first fragment only. All offsets are bytes of fragment data.
 */
struct reasm_frag {
	struct rte_mbuf *m; /* headers in front only if off is 0 */
	struct reasm_frag *next; /* in the run; in the pool of free ones */
	uint32_t off;
	/* run */
	uint32_t end;
	uint32_t priority; /* of the treap: larger ones are nearer to the root */
	struct reasm_frag *left, *right;
	struct reasm_frag *last;
};

struct reasm_frags {
	struct reasm_frag *root;
	struct reasm_frag *last_run; /* with the highest offset */
};

enum reasm_insert {
	REASM_INSERTED,
	REASM_DUPLICATE, /* lies wholly in one run */
	REASM_OVERLAP,
};

/**
 * reasm_insert() - put @f at f->off .. @end where the kernel's inet_frag_queue_insert() would
 * @priority: random
 *
 * Only if inserted, @f belongs to the tree. Cost: one step for fragments in order, else about
 * 2 log2(runs).
 */
enum reasm_insert reasm_insert(
		struct reasm_frags *q, struct reasm_frag *f, uint32_t end, uint32_t priority);

/* takes the tree apart: all fragments by offset, linked by next */
struct reasm_frag *reasm_flatten(struct reasm_frags *q);
