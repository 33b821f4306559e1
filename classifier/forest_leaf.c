/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Leaves of the forest: four rules a block, tested at once. Ranges of ports, protocol and aux are the
 * same in many rules, so a leaf names them by a number in the table of services, which stays in the
 * first-level cache.
 */
#include "classifier/forest.h"
#include "classifier/rule.h"

#include <errno.h>
#include <string.h>

uint32_t forest_leaf_blocks(uint32_t n)
{
	uint32_t blocks = n == 0 ? 1 : (n + 3) / 4;

	return blocks < FOREST_LONG ? blocks : n / 4 + 1;
}

void *forest_leaf_at(const struct forest *f, uint64_t e)
{
	return f->elem + FOREST_BASE(e);
}

uint64_t forest_leaf_elem(const struct forest *f, uint32_t unit, uint32_t n, uint32_t label)
{
	uint64_t min = n == 0 ? FOREST_EMPTY : label >> f->label_shift;

	return min << 48 | (uint64_t)RTE_MIN(forest_leaf_blocks(n), FOREST_LONG) << 32 | FOREST_LEAF
			| (uint64_t)unit * 8;
}

/* bits that a mask leaves open, of @bits; those behind the first hole included */
static uint8_t wild_bits(uint64_t mask, unsigned int bits)
{
	uint64_t holes = ~mask << (64 - bits);

	return holes == 0 ? 0 : (uint8_t)(bits - (unsigned int)__builtin_clzll(holes));
}

static void set_line(const struct forest *f, struct forest_line *l, uint32_t j, uint32_t slot)
{
	const struct sl_cls_rule *r = &f->rules[slot];
	uint32_t src_wild = wild_bits(r->src_mask.lo, 32), dst_wild = wild_bits(r->dst_mask.lo, 32);

	l->src[j] = (uint32_t)r->src.lo;
	l->dst[j] = (uint32_t)r->dst.lo;
	l->meta[j] = src_wild | dst_wild << 8 | (uint32_t)f->slot_service[slot] << 16;
	l->label[j] = r->label;
}

/* the low half counts only behind a full high half: the prefix that encloses */
static uint8_t low_wild(const struct sl_cls_addr *mask)
{
	return mask->hi == UINT64_MAX ? wild_bits(mask->lo, 64) : 64;
}

static void set_block(const struct forest *f, struct forest_block *b, uint32_t j, uint32_t slot)
{
	const struct sl_cls_rule *r = &f->rules[slot];

	b->src_hi[j] = r->src.hi;
	b->dst_hi[j] = r->dst.hi;
	b->src_lo[j] = r->src.lo;
	b->dst_lo[j] = r->dst.lo;
	b->src_hi_wild[j] = wild_bits(r->src_mask.hi, 64);
	b->dst_hi_wild[j] = wild_bits(r->dst_mask.hi, 64);
	b->src_lo_wild[j] = low_wild(&r->src_mask);
	b->dst_lo_wild[j] = low_wild(&r->dst_mask);
	if (b->src_lo_wild[j] < 64 || b->dst_lo_wild[j] < 64)
		b->low |= 1U << j;
	b->service[j] = f->slot_service[slot];
	b->label[j] = r->label;
}

void forest_leaf_set(const struct forest *f, void *leaf, uint32_t i, uint32_t slot)
{
	if (f->cls.family == SL_AF_INET)
		set_line(f, (struct forest_line *)leaf + i / 4, i % 4, slot);
	else
		set_block(f, (struct forest_block *)leaf + i / 4, i % 4, slot);
}

void forest_leaf_pad(const struct forest *f, void *leaf, uint32_t i)
{
	uint32_t j = i % 4;

	if (f->cls.family == SL_AF_INET) {
		struct forest_line *l = (struct forest_line *)leaf + i / 4;

		l->src[j] = l->dst[j] = 0;
		l->meta[j] = 32 | 32 << 8 | FOREST_SERVICE_NEVER << 16;
		l->label[j] = SL_CLS_MISS;
	} else {
		struct forest_block *b = (struct forest_block *)leaf + i / 4;

		b->src_hi[j] = b->dst_hi[j] = b->src_lo[j] = b->dst_lo[j] = 0;
		b->src_hi_wild[j] = b->dst_hi_wild[j] = 64;
		b->src_lo_wild[j] = b->dst_lo_wild[j] = 64;
		b->service[j] = FOREST_SERVICE_NEVER;
		b->label[j] = SL_CLS_MISS;
	}
}

static void copy_block(
		struct forest_block *to, uint32_t i, const struct forest_block *from, uint32_t j)
{
	to->src_hi[i] = from->src_hi[j];
	to->dst_hi[i] = from->dst_hi[j];
	to->src_lo[i] = from->src_lo[j];
	to->dst_lo[i] = from->dst_lo[j];
	to->src_hi_wild[i] = from->src_hi_wild[j];
	to->dst_hi_wild[i] = from->dst_hi_wild[j];
	to->src_lo_wild[i] = from->src_lo_wild[j];
	to->dst_lo_wild[i] = from->dst_lo_wild[j];
	to->low |= (from->low >> j & 1) << i;
	to->service[i] = from->service[j];
	to->label[i] = from->label[j];
}

void forest_leaf_copy(const struct forest *f, void *to, uint32_t i, const void *from, uint32_t j)
{
	if (f->cls.family == SL_AF_INET) {
		struct forest_line *t = (struct forest_line *)to + i / 4;
		const struct forest_line *s = (const struct forest_line *)from + j / 4;

		t->src[i % 4] = s->src[j % 4];
		t->dst[i % 4] = s->dst[j % 4];
		t->meta[i % 4] = s->meta[j % 4];
		t->label[i % 4] = s->label[j % 4];
	} else {
		copy_block((struct forest_block *)to + i / 4, i % 4,
				(const struct forest_block *)from + j / 4, j % 4);
	}
}

uint32_t forest_leaf_label(const struct forest *f, const void *leaf, uint32_t i)
{
	if (f->cls.family == SL_AF_INET)
		return ((const struct forest_line *)leaf + i / 4)->label[i % 4];
	return ((const struct forest_block *)leaf + i / 4)->label[i % 4];
}

uint32_t forest_leaf_count(const struct forest *f, uint64_t e)
{
	const void *leaf = forest_leaf_at(f, e);
	uint32_t blocks = FOREST_BLOCKS(e), n = 0;

	while ((blocks == FOREST_LONG || n < blocks * 4)
			&& forest_leaf_label(f, leaf, n) != SL_CLS_MISS)
		n++;
	return n;
}

static void make_service(const struct sl_cls_rule *r, struct forest_service *s)
{
	unsigned int len = cls_proto_len(r);
	uint8_t prefix = (uint8_t)(0xff00U >> len), wild = (uint8_t)(0xffU >> len);

	*s = (struct forest_service){
		{ r->sport_lo, r->dport_lo, r->proto & prefix, r->aux_lo },
		{ r->sport_hi - r->sport_lo, r->dport_hi - r->dport_lo, wild,
				r->aux_hi - r->aux_lo },
	};
	if (len == 0)
		s->span[2] = UINT16_MAX;
}

static uint32_t hash_service(const struct forest_service *s)
{
	uint64_t q[2];

	memcpy(q, s, sizeof(q));
	return (uint32_t)((q[0] * 0x9e3779b97f4a7c15 ^ (q[1] + 77) * 0xc2b2ae3d27d4eb4f) >> 40);
}

/* Return: the id of an equal service, a new one, or FOREST_SERVICE_NEVER when the table is full. */
static uint32_t find_service(struct forest *f, const struct forest_service *s)
{
	uint32_t h = hash_service(s) & f->service_hash_mask;

	while (f->service_hash[h] != 0) {
		if (memcmp(&f->service[f->service_hash[h]], s, sizeof(*s)) == 0)
			return f->service_hash[h];
		h = (h + 1) & f->service_hash_mask;
	}
	if (f->services == f->services_cap)
		return FOREST_SERVICE_NEVER;
	f->service[f->services] = *s;
	f->service_hash[h] = (uint16_t)f->services;
	return f->services++;
}

uint16_t forest_service_id(struct forest *f, const struct sl_cls_rule *r)
{
	bool odd = r->verify || cls_rule_is_odd(f->cls.family, r);
	struct forest_service s;
	uint32_t id;

	make_service(r, &s);
	id = find_service(f, &s);
	if (id == FOREST_SERVICE_NEVER) {
		/* table full: the leaf lets all through, forest_confirm() looks at the rule */
		id = FOREST_SERVICE_ANY;
		odd = true;
	}
	return (uint16_t)(id | (odd ? FOREST_VERIFY : 0));
}

int forest_services_create(struct forest *f, uint32_t rules)
{
	static const struct forest_service never = { { 1, 1, UINT16_MAX, 1 }, { 0, 0, 0, 0 } };
	static const struct sl_cls_rule any = { SL_CLS_RULE_ANY };
	uint32_t cap = RTE_MIN(rules + rules / 4 + 1024, FOREST_SERVICES_MAX);
	uint32_t buckets = rte_align32pow2(cap * 2);

	f->service = cls_arena_take(&f->tables, cap * sizeof(*f->service));
	f->service_hash = cls_arena_take(&f->tables, buckets * sizeof(*f->service_hash));
	if (f->service == NULL || f->service_hash == NULL)
		return -ENOMEM;
	f->services_cap = cap;
	f->service_hash_mask = buckets - 1;
	f->service[FOREST_SERVICE_NEVER] = never;
	f->services = 1;
	return forest_service_id(f, &any) == FOREST_SERVICE_ANY ? 0 : -EINVAL;
}
