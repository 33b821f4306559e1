/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/wheel.h"

#include "conntrack/index.h"
#include "conntrack/life.h"
#include "conntrack/table.h"

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include <errno.h>
#include <stdlib.h>

#define HUGE_MIN ((size_t)2 << 20)
/*
 * Looks a millisecond: a table that ends all at once takes seconds to go, rather than time from
 * packets. Two thirds of them are spent within 32 calls of that millisecond's.
 */
#define LOOKS_PER_MS 256
#define LOOKS_PER_CALL 32
#define LOOKS_AT_REST 256 /* a call when time has gone by since the last */

int ct_wheel_create(uint32_t room, bool huge, struct ct_wheel **out)
{
	struct ct_wheel *w = calloc(1, sizeof(*w));
	size_t size;

	if (w == NULL)
		return -ENOMEM;
	/* every entry once, and a quarter of them once more */
	w->twice_max = room / 4;
	size = ((room + w->twice_max) / CT_CHUNK + CT_WHEEL_SLOTS + 1) * sizeof(*w->chunks);
	if (cls_arena_create(&w->mem, size, huge && size >= HUGE_MIN) < 0) {
		free(w);
		return -ENOMEM;
	}
	w->chunks = cls_arena_take(&w->mem, size);
	w->free = CT_NONE;
	for (unsigned int i = 0; i < CT_WHEEL_SLOTS; i++)
		w->head[i] = CT_NONE;
	*out = w;
	return 0;
}

void ct_wheel_free(struct ct_wheel *w)
{
	if (w == NULL)
		return;
	cls_arena_destroy(&w->mem);
	free(w);
}

static void push(struct ct_wheel *w, unsigned int slot, uint32_t at)
{
	struct ct_chunk *c;

	if (unlikely(w->head[slot] == CT_NONE || w->fill[slot] == CT_CHUNK)) {
		uint32_t new = w->free;

		if (new != CT_NONE)
			w->free = w->chunks[new].next;
		else
			new = w->high++;
		w->chunks[new].next = w->head[slot];
		w->head[slot] = new;
		w->fill[slot] = 0;
	}
	c = &w->chunks[w->head[slot]];
	c->at[w->fill[slot]++] = at;
	w->refs++;
}

void ct_wheel_arm(struct ct_shard *s, struct ct_entry *e)
{
	struct ct_wheel *w = s->wheel;
	int32_t left = (int32_t)(e->expires_ms - (w->hand << CT_WHEEL_SHIFT));
	uint32_t ahead = left <= 0 ? 1 : ((uint32_t)left >> CT_WHEEL_SHIFT) + 1;
	unsigned int slot;

	ahead = RTE_MIN(ahead, CT_WHEEL_SLOTS - 1U);
	if (e->slot != 0) {
		uint32_t present = (e->slot - 1U - w->hand) & (CT_WHEEL_SLOTS - 1);

		/* soon enough (0: it is firing), or no room to stand there twice */
		if (present <= ahead || w->twice == w->twice_max)
			return;
		w->twice++;
	}
	slot = (w->hand + ahead) & (CT_WHEEL_SLOTS - 1);
	push(w, slot, ct_index_of(s, e));
	e->slot = (uint16_t)(slot + 1);
}

/* the next chunk of what is due, fetched. Return: false: nothing is */
static bool fetch(struct ct_shard *s)
{
	struct ct_wheel *w = s->wheel;
	uint32_t now = s->now_ms >> CT_WHEEL_SHIFT;
	unsigned int slot;
	struct ct_chunk *c;
	uint32_t at;

	for (;;) {
		int32_t behind = (int32_t)((now - w->hand) << CT_WHEEL_SHIFT);

		slot = w->hand & (CT_WHEEL_SLOTS - 1);
		if (behind < 0)
			return false;
		if (w->head[slot] != CT_NONE)
			break;
		if (behind == 0)
			return false;
		/* after a long time without a call only whole turns are left out */
		if (behind >> CT_WHEEL_SHIFT > 2 * CT_WHEEL_SLOTS)
			w->hand += ((uint32_t)behind >> CT_WHEEL_SHIFT) / CT_WHEEL_SLOTS
							* CT_WHEEL_SLOTS
					- CT_WHEEL_SLOTS;
		w->hand++;
	}
	at = w->head[slot];
	c = &w->chunks[at];
	w->n_due = w->fill[slot];
	w->due_slot = (uint16_t)(slot + 1);
	for (unsigned int i = 0; i < w->n_due; i++) {
		w->due[i] = c->at[i];
		rte_prefetch1(&s->entries[c->at[i]]);
	}
	w->refs -= w->n_due;
	w->head[slot] = c->next;
	w->fill[slot] = CT_CHUNK;
	c->next = w->free;
	w->free = at;
	if (w->head[slot] != CT_NONE)
		rte_prefetch1(&w->chunks[w->head[slot]]);
	return true;
}

/* those that were fetched: later, or over */
static void look(struct ct_shard *s)
{
	struct ct_wheel *w = s->wheel;
	struct ct_entry *over[CT_DUE_MAX];
	uint64_t hash[CT_DUE_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->n_due; i++) {
		struct ct_entry *e = &s->entries[w->due[i]];

		if (e->slot != w->due_slot) { /* another slot counts */
			w->twice--;
			continue;
		}
		e->slot = 0;
		if ((e->status & (CT_CONFIRMED | CT_DYING)) != CT_CONFIRMED)
			continue;
		if (!ct_is_expired(e, s->now_ms)) {
			ct_wheel_arm(s, e);
			continue;
		}
		hash[n] = ct_hash(&s->index->key, &e->orig);
		rte_prefetch1(&s->index->buckets[ct_where(s->index, (uint32_t)hash[n])]);
		rte_prefetch1(&e->next);
		over[n++] = e;
	}
	w->n_due = 0;
	for (unsigned int i = 0; i < n; i++)
		ct_expire(s, over[i], hash[i]);
}

void ct_wheel_tick(struct ct_shard *s, uint32_t more)
{
	struct ct_wheel *w = s->wheel;
	uint32_t ms = s->now_ms - w->last_ms;
	uint32_t budget = ms > 1 ? LOOKS_AT_REST : LOOKS_PER_CALL;
	uint32_t per_ms = LOOKS_PER_MS + s->high / 8192;

	w->last_ms = s->now_ms;
	w->credit = (uint32_t)RTE_MIN(w->credit + (uint64_t)ms * per_ms, 2ULL * per_ms) + more;
	if (w->refs + w->n_due == 0) {
		w->hand = s->now_ms >> CT_WHEEL_SHIFT;
		return;
	}
	budget = RTE_MIN(budget + more, w->credit);
	while (w->n_due <= budget) {
		budget -= w->n_due;
		w->credit -= w->n_due;
		look(s);
		if (!fetch(s))
			break;
	}
}
