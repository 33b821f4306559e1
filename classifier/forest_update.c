/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules in and out of a forest that is being read: slots, labels, the choice between tree and overlay.
 *
 * A box that lies across very many windows, or in a very long leaf, is not worth changing the tree
 * (forest_change.c) for: it goes to the overlay, a linear list of 64, until the owner builds a new set.
 * So does a removal, as a label that does not count any more.
 */
#include "classifier/forest_build.h"
#include "classifier/forest_change.h"
#include "classifier/rule.h"

#include <rte_rcu_qsbr.h>

#include <errno.h>
#include <string.h>

int forest_slot_take(struct forest *f, const struct sl_cls_rule *r, uint32_t *slot)
{
	uint32_t s;

	if (r->label >= f->label_limit)
		return -ENOSPC;
	if (f->slot_free != 0) {
		s = f->slot_free - 1;
		f->slot_free = f->next[s];
	} else if (f->slots_used < f->slots) {
		s = f->slots_used++;
	} else {
		return -ENOSPC;
	}
	f->rules[s] = *r;
	f->next[s] = f->slot_of[r->label];
	f->slot_service[s] = forest_service_id(f, r);
	f->slot_where[s] = 0;
	__atomic_store_n(&f->slot_of[r->label], s + 1, __ATOMIC_RELEASE);
	*slot = s;
	return 0;
}

/* takes a slot that was just taken back out of its label's chain; no leaf names it yet */
static void slot_untake(struct forest *f, uint32_t slot)
{
	uint32_t label = f->rules[slot].label;

	__atomic_store_n(&f->slot_of[label], f->next[slot], __ATOMIC_RELEASE);
	forest_retire(f, (struct forest_retired){ .slot = slot });
}

/* readers that began before must not meet a mark that they do not look at */
static void announce_verify(struct forest *f)
{
	if (f->verify)
		return;
	__atomic_store_n(&f->verify, true, __ATOMIC_RELEASE);
	if (f->qsv != NULL)
		rte_rcu_qsbr_synchronize(f->qsv, RTE_QSBR_THRID_INVALID);
}

static int prepare(struct forest *f)
{
	/* updates that are faster than the readers wait for them when something runs out */
	forest_reclaim(f,
			forest_pool_room(&f->pool) < 2 * FOREST_RESERVE
					|| (f->slot_free == 0 && f->slots_used == f->slots));
	if (f->scratch == NULL)
		f->scratch = forest_builder_create(f, FOREST_LEAF_MAX, false);
	if (f->scratch == NULL)
		return -ENOMEM;
	return forest_retire_reserve(f, 1024);
}

static bool in_dead(const struct forest *f, uint32_t label)
{
	for (uint32_t i = 0; i < f->n_dead; i++)
		if (f->dead[i] == label)
			return true;
	return false;
}

static int add_to_overlay(struct forest *f, uint32_t slot)
{
	uint32_t i = f->n_added;
	int ret;

	/* in the order of labels, for the linear engine */
	while (i > 0 && f->rules[f->added[i - 1]].label > f->rules[slot].label)
		i--;
	memmove(&f->added[i + 1], &f->added[i], (f->n_added - i) * sizeof(*f->added));
	f->added[i] = slot;
	f->n_added++;
	ret = forest_overlay_publish(f);
	if (ret < 0) {
		f->n_added--;
		memmove(&f->added[i], &f->added[i + 1], (f->n_added - i) * sizeof(*f->added));
		return ret;
	}
	f->slot_where[slot] |= FOREST_IN_OVERLAY;
	return 0;
}

static bool same_box(const struct sl_cls_rule *a, const struct sl_cls_rule *b)
{
	/* addresses, masks and ranges lie without gaps up to here */
	return memcmp(a, b, offsetof(struct sl_cls_rule, proto)) == 0 && a->proto == b->proto
			&& a->proto_mask == b->proto_mask && a->verify == b->verify;
}

static uint32_t count_boxes(const struct forest *f, uint32_t label)
{
	uint32_t n = 0;

	for (uint32_t s = f->slot_of[label]; s != 0; s = f->next[s - 1])
		n++;
	return n;
}

/* A label that is dead because the trees did not let it go lives again, if its one box is the same.
 * Return: 0, -ENOSPC, -ENOMEM. */
static int revive(struct forest *f, const struct sl_cls_rule *rule)
{
	uint32_t i = 0, last, slot = f->slot_of[rule->label] - 1;
	int ret;

	if (count_boxes(f, rule->label) != 1 || f->slot_where[slot] != FOREST_IN_TREE
			|| !same_box(&f->rules[slot], rule))
		return -ENOSPC;
	while (f->dead[i] != rule->label)
		i++;
	last = f->dead[--f->n_dead];
	f->dead[i] = last;
	ret = forest_overlay_publish(f);
	if (ret < 0) {
		f->dead[f->n_dead++] = last;
		f->dead[i] = rule->label;
	} else {
		f->cls.n++;
	}
	return ret;
}

int forest_insert(struct sl_cls *cls, const struct sl_cls_rule *rule)
{
	struct forest *f = (struct forest *)cls;
	struct forest_change c = { .f = f, .rule = rule, .add = true };
	size_t mark;
	bool takes;
	int ret;

	ret = cls_rule_check(rule);
	if (ret < 0)
		return ret;
	ret = prepare(f);
	if (ret < 0)
		return ret;
	mark = f->retired_tail;
	if (rule->label < f->label_limit && in_dead(f, rule->label)) {
		ret = revive(f, rule);
		forest_retire_seal(f, mark);
		return ret;
	}
	/* the last place is for a change that stops half way */
	takes = forest_change_fits(f, rule);
	if (f->n_added + !takes >= FOREST_OVERLAY_MAX)
		return -ENOSPC;
	ret = forest_slot_take(f, rule, &c.slot);
	if (ret < 0)
		return ret;
	if (f->slot_service[c.slot] & FOREST_VERIFY)
		announce_verify(f);
	if (takes) {
		/* if it stops half way the slot stays, and so the rule can be removed */
		f->slot_where[c.slot] = FOREST_IN_TREE;
		ret = forest_change_tree(&c);
		if (ret < 0)
			ret = add_to_overlay(f, c.slot);
	} else {
		ret = add_to_overlay(f, c.slot);
	}
	if (ret == 0)
		f->cls.n++;
	else if (f->slot_where[c.slot] == 0)
		slot_untake(f, c.slot);
	forest_retire_seal(f, mark);
	return ret;
}

/* whether the trees let the label's boxes go; a box that they do not makes the label dead */
static bool trees_let_go(const struct forest *f, uint32_t label)
{
	for (uint32_t s = f->slot_of[label]; s != 0; s = f->next[s - 1])
		if ((f->slot_where[s - 1] & FOREST_IN_TREE) != 0
				&& !forest_change_fits(f, &f->rules[s - 1]))
			return false;
	return true;
}

static int remove_from_trees(struct forest *f, uint32_t label)
{
	int ret = 0;

	for (uint32_t s = f->slot_of[label]; s != 0 && ret == 0; s = f->next[s - 1]) {
		struct forest_change c = { .f = f, .rule = &f->rules[s - 1], .slot = s - 1 };

		if ((f->slot_where[s - 1] & FOREST_IN_TREE) != 0)
			ret = forest_change_tree(&c);
	}
	return ret;
}

/* without the label's boxes in the overlay, and perhaps with one dead label more */
static int shrink_overlay(struct forest *f, uint32_t label, bool dead)
{
	uint32_t before[FOREST_OVERLAY_MAX], n = f->n_added, left = 0;
	int ret;

	memcpy(before, f->added, sizeof(before));
	for (uint32_t i = 0; i < n; i++)
		if (f->rules[before[i]].label != label)
			f->added[left++] = before[i];
	if (left == n && !dead)
		return 0;
	f->n_added = left;
	if (dead)
		f->dead[f->n_dead++] = label;
	ret = forest_overlay_publish(f);
	if (ret < 0) {
		memcpy(f->added, before, sizeof(before));
		f->n_added = n;
		f->n_dead -= dead;
	}
	return ret;
}

static void drop_slots(struct forest *f, uint32_t label)
{
	uint32_t s = f->slot_of[label];

	__atomic_store_n(&f->slot_of[label], 0, __ATOMIC_RELEASE);
	while (s != 0) {
		uint32_t next = f->next[s - 1];

		f->slot_where[s - 1] = 0;
		forest_retire(f, (struct forest_retired){ .slot = s - 1 });
		s = next;
	}
}

int forest_remove(struct sl_cls *cls, uint32_t label)
{
	struct forest *f = (struct forest *)cls;
	size_t mark;
	bool dead;
	int ret;

	if (label >= f->label_limit || f->slot_of[label] == 0 || in_dead(f, label))
		return -ENOENT;
	ret = prepare(f);
	if (ret < 0)
		return ret;
	/* the last place is for a change that stops half way */
	dead = !trees_let_go(f, label);
	if (f->n_dead + dead >= FOREST_OVERLAY_MAX)
		return -ENOSPC;
	mark = f->retired_tail;
	if (!dead && remove_from_trees(f, label) < 0)
		dead = true;
	ret = shrink_overlay(f, label, dead);
	if (ret == 0) {
		f->cls.n -= count_boxes(f, label);
		if (!dead)
			drop_slots(f, label);
	}
	forest_retire_seal(f, mark);
	return ret;
}
