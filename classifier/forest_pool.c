/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of the forest's nodes and leaves, and the queue of what readers may still look at. Every
 * piece knows how many elements point at it (the counts lie apart, look-ups never see them); with the
 * last one gone it is retired, and given back when all readers have been quiet once.
 */
#include "classifier/forest.h"

#include <rte_rcu_qsbr.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

/* as much as 28 bits of 8-byte units can name */
#define POOL_MAX ((size_t)1 << 31)
#define UNIT 64U

int forest_pool_create(struct forest_pool *p, uint32_t rules)
{
	/* address space; build gives back what it did not need */
	size_t size = RTE_MIN(((size_t)8 << 20) + (size_t)rules * 16384, POOL_MAX);
	int ret;

	ret = cls_arena_create(&p->arena, size, rules > 2000);
	if (ret < 0)
		return ret;
	p->refs_bytes = p->arena.size / UNIT * sizeof(*p->refs);
	p->refs = mmap(NULL, p->refs_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p->refs == MAP_FAILED) {
		p->refs = NULL;
		cls_arena_destroy(&p->arena);
		return -ENOMEM;
	}
	return 0;
}

void forest_pool_destroy(struct forest_pool *p)
{
	cls_arena_destroy(&p->arena);
	if (p->refs != NULL)
		munmap(p->refs, p->refs_bytes);
	p->refs = NULL;
}

static uint32_t pop(struct forest_pool *p, uint32_t units)
{
	uint32_t unit = p->free[units];

	p->free[units] = p->refs[unit];
	p->refs[unit] = 0;
	p->free_units -= units;
	return unit;
}

uint32_t forest_pool_take(struct forest_pool *p, uint32_t units)
{
	uint8_t *piece;

	if (units < RTE_DIM(p->free) && p->free[units] != 0)
		return pop(p, units);
	piece = cls_arena_take(&p->arena, (size_t)units * UNIT);
	if (piece != NULL)
		return (uint32_t)((piece - p->arena.base) / UNIT);
	/* the end is reached: cut up a larger one */
	for (uint32_t larger = units + 1; larger < RTE_DIM(p->free); larger++) {
		if (p->free[larger] != 0) {
			uint32_t unit = pop(p, larger);

			forest_pool_give(p, unit + units, larger - units);
			return unit;
		}
	}
	return 0;
}

void forest_pool_give(struct forest_pool *p, uint32_t unit, uint32_t units)
{
	/* larger ones are long leaves, which no update touches */
	if (units >= RTE_DIM(p->free))
		return;
	p->refs[unit] = p->free[units];
	p->free[units] = unit;
	p->free_units += units;
}

size_t forest_pool_room(const struct forest_pool *p)
{
	return p->arena.size - p->arena.used + (size_t)p->free_units * UNIT;
}

uint32_t forest_piece_units(const struct forest *f, uint64_t e)
{
	if (e & FOREST_LEAF)
		return FOREST_BLOCKS(e) * (uint32_t)(forest_block_size(f) / UNIT);
	return RTE_MAX((8U << FOREST_WIDTH(e)) / UNIT, 1U);
}

/* One level of the tree a call: at most its depth. */
void forest_unref(struct forest *f, uint64_t e, uint32_t n)
{
	uint32_t unit = FOREST_BASE(e) / 8;

	f->pool.refs[unit] -= n;
	if (f->pool.refs[unit] > 0 || unit == 0)
		return;
	if ((e & FOREST_LEAF) == 0) {
		const uint64_t *slot = f->elem + FOREST_BASE(e);

		for (uint32_t i = 0; i < 1U << FOREST_WIDTH(e); i++)
			forest_unref(f, slot[i], 1);
	}
	forest_retire(f,
			(struct forest_retired){ .unit = unit, .units = forest_piece_units(f, e) });
}

/* Makes sure that the next @n forest_retire() find room. Return: 0, -ENOMEM. */
int forest_retire_reserve(struct forest *f, size_t n)
{
	size_t waiting = f->retired_tail - f->retired_head, cap = f->retired_cap;
	struct forest_retired *q;

	if (f->retired_head > 0) {
		for (size_t i = 0; i < waiting; i++)
			f->retired[i] = f->retired[f->retired_head + i];
		f->retired_head = 0;
		f->retired_tail = waiting;
	}
	if (waiting + n <= cap)
		return 0;
	cap = RTE_MAX(cap * 2, waiting + n);
	q = realloc(f->retired, cap * sizeof(*q));
	if (q == NULL)
		return -ENOMEM;
	f->retired = q;
	f->retired_cap = cap;
	return 0;
}

/* Without room the piece is lost until the next build, which is better than given back too early. */
void forest_retire(struct forest *f, struct forest_retired what)
{
	if (f->retired_tail == f->retired_cap && forest_retire_reserve(f, 256) < 0)
		return;
	f->retired[f->retired_tail++] = what;
}

void forest_retire_seal(struct forest *f, size_t mark)
{
	uint64_t token;

	if (f->qsv == NULL || mark == f->retired_tail)
		return;
	token = rte_rcu_qsbr_start(f->qsv);
	for (size_t i = mark; i < f->retired_tail; i++)
		f->retired[i].token = token;
}

static void give_back(struct forest *f, const struct forest_retired *r)
{
	if (r->overlay != NULL) {
		forest_overlay_free(r->overlay);
	} else if (r->units > 0) {
		forest_pool_give(&f->pool, r->unit, r->units);
	} else {
		f->next[r->slot] = f->slot_free;
		f->slot_free = r->slot + 1;
	}
}

void forest_reclaim(struct forest *f, bool wait)
{
	if (wait && f->qsv != NULL && f->retired_head < f->retired_tail)
		(void)rte_rcu_qsbr_check(f->qsv, f->retired[f->retired_tail - 1].token, true);
	while (f->retired_head < f->retired_tail) {
		const struct forest_retired *r = &f->retired[f->retired_head];

		if (f->qsv != NULL && rte_rcu_qsbr_check(f->qsv, r->token, false) != 1)
			break;
		give_back(f, r);
		f->retired_head++;
	}
}
