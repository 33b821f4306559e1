/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table of lists of entry numbers; the links are in the entries. One for each shard: with
 * several workers a source keeps its mapping among the connections of one worker.
 */
#include "classifier/arena.h"
#include "conntrack/claims.h"
#include "conntrack/nat.h"

#include <rte_jhash.h>

#include <errno.h>
#include <stdlib.h>

struct ct_sources {
	struct cls_arena arena;
	uint32_t *first; /* number of the entry + 1, 0: none */
	uint32_t mask;
	uint32_t seed;
};

static uint32_t *bucket(const struct ct_sources *x, const struct ct_tuple *t)
{
	uint32_t words[5];

	memcpy(words, t->src.w, sizeof(t->src.w));
	words[4] = (uint32_t)t->sport_be << 16 | t->proto;
	return &x->first[rte_jhash_32b(words, RTE_DIM(words), x->seed) & x->mask];
}

int ct_sources_create(struct ct_shard *s)
{
	struct ct_sources *x = calloc(1, sizeof(*x));
	size_t size;

	if (x == NULL)
		return -ENOMEM;
	x->mask = rte_align32pow2(s->room) - 1;
	x->seed = s->table->secret[0];
	size = (x->mask + (size_t)1) * sizeof(*x->first);
	if (cls_arena_create(&x->arena, size, size >= 2U << 20) < 0) {
		free(x);
		return -ENOMEM;
	}
	x->first = cls_arena_take(&x->arena, size);
	cls_arena_populate(&x->arena, 0, size); /* not when the first packet comes */
	s->sources = x;
	return 0;
}

void ct_nat_forget(struct ct_shard *s, struct ct_entry *e)
{
	ct_source_remove(s, e);
	if (e->status & CT_CLAIMED)
		ct_unclaim(s->table, &e->reply, s->worker);
	e->status &= ~CT_CLAIMED;
}

int ct_nat_prepare(struct ct_table *t)
{
	if (t->n_shards > 1 && t->claims == NULL && ct_claims_create(t) < 0)
		return -ENOMEM;
	for (unsigned int i = 0; i < t->n_shards; i++) {
		int ret = t->shard[i]->sources == NULL ? ct_sources_create(t->shard[i]) : 0;

		if (ret < 0)
			return ret;
	}
	ct_claims_steer(t);
	return 0;
}

void ct_sources_free(struct ct_shard *s)
{
	if (s->sources == NULL)
		return;
	cls_arena_destroy(&s->sources->arena);
	free(s->sources);
	s->sources = NULL;
}

void ct_source_add(struct ct_shard *s, struct ct_entry *e)
{
	uint32_t *first = bucket(s->sources, &e->orig);

	e->by_source = *first;
	*first = ct_index_of(s, e) + 1;
	e->status |= CT_IN_SOURCES;
}

void ct_source_remove(struct ct_shard *s, struct ct_entry *e)
{
	uint32_t at = ct_index_of(s, e) + 1;
	uint32_t *link;

	if ((e->status & CT_IN_SOURCES) == 0)
		return;
	for (link = bucket(s->sources, &e->orig); *link != at;
			link = &s->entries[*link - 1].by_source)
		;
	*link = e->by_source;
	e->status &= ~CT_IN_SOURCES;
}

/* ICMP: the id is where ports have the source's */
static bool same_source(const struct ct_tuple *a, const struct ct_tuple *b)
{
	return a->family == b->family && sl_addr_eq(&a->src, &b->src) && a->sport_be == b->sport_be
			&& a->proto == b->proto && a->zone == b->zone;
}

struct ct_entry *ct_source_next(
		struct ct_shard *s, const struct ct_tuple *t, const struct ct_entry *prev)
{
	uint32_t at;

	if (s->sources == NULL)
		return NULL;
	at = prev == NULL ? *bucket(s->sources, t) : prev->by_source;
	for (; at != 0; at = s->entries[at - 1].by_source)
		if (same_source(&s->entries[at - 1].orig, t))
			return &s->entries[at - 1];
	return NULL;
}
