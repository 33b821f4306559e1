/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragments by offset. They come mostly in order, so a fragment is first held against the end of the
 * last run; only others go down the tree. The tree is a treap: a search tree by offset, a heap by
 * random priorities, so whoever chooses the order of fragments does not choose its shape (Seidel and
 * Aragon, Randomized search trees, 1996).
 *
 * What is a duplicate follows the kernel (net/ipv4/inet_fragment.c): a fragment that lies wholly in a
 * run of fragments is ignored, any other overlap ends the datagram (RFC 5722). A run grows only at
 * the end of the last one; fragments that fill a gap are runs of their own, even when they touch.
 */
#include "lib/reasm_queue.h"

/* all of @t below and above @off */
static void split(struct reasm_frag *t, uint32_t off, struct reasm_frag **below,
		struct reasm_frag **above)
{
	while (t != NULL) {
		if (t->off < off) {
			*below = t;
			below = &t->right;
			t = t->right;
		} else {
			*above = t;
			above = &t->left;
			t = t->left;
		}
	}
	*below = NULL;
	*above = NULL;
}

static void add_run(struct reasm_frags *q, struct reasm_frag *f, uint32_t end, uint32_t priority)
{
	struct reasm_frag **place = &q->root;

	f->end = end;
	f->priority = priority;
	f->last = f;
	while (*place != NULL && (*place)->priority >= priority)
		place = f->off < (*place)->off ? &(*place)->left : &(*place)->right;
	split(*place, f->off, &f->left, &f->right);
	*place = f;
}

static enum reasm_insert find_gap(const struct reasm_frags *q, uint32_t off, uint32_t end)
{
	const struct reasm_frag *t = q->root;

	while (t != NULL) {
		if (end <= t->off)
			t = t->left;
		else if (off >= t->end)
			t = t->right;
		else
			return off >= t->off && end <= t->end ? REASM_DUPLICATE : REASM_OVERLAP;
	}
	return REASM_INSERTED;
}

enum reasm_insert reasm_insert(
		struct reasm_frags *q, struct reasm_frag *f, uint32_t end, uint32_t priority)
{
	struct reasm_frag *run = q->last_run;
	enum reasm_insert ret;

	f->next = NULL;
	if (run != NULL && end > run->end) {
		if (f->off < run->end)
			return REASM_OVERLAP;
		if (f->off == run->end) {
			run->last->next = f;
			run->last = f;
			run->end = end;
			return REASM_INSERTED;
		}
	} else if (run != NULL) {
		ret = find_gap(q, f->off, end);
		if (ret != REASM_INSERTED)
			return ret;
	}
	add_run(q, f, end, priority);
	if (run == NULL || f->off > run->off)
		q->last_run = f;
	return REASM_INSERTED;
}

struct reasm_frag *reasm_flatten(struct reasm_frags *q)
{
	struct reasm_frag *t = q->root, *first = NULL, **link = &first;

	while (t != NULL) {
		struct reasm_frag *left = t->left;

		if (left != NULL) {
			/* rotate right until nothing is in front of t */
			t->left = left->right;
			left->right = t;
			t = left;
			continue;
		}
		*link = t;
		link = &t->last->next;
		t = t->right;
	}
	*link = NULL;
	q->root = NULL;
	q->last_run = NULL;
	return first;
}
