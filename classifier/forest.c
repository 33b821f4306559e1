/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forest: at most three decision trees over windows of key bits, walked by a whole batch at once.
 *
 * Problem: the first of up to 100,000 boxes that holds a key, in tens of cycles, with rules going in
 * and out meanwhile. One tree copies every rule that is wild in the field it cuts; lists and hashes
 * touch ten tables a packet.
 *
 * Idea.
 * - Rules are parted by what separates them: destination long, else source long, the rest. Each part
 *   has a tree of its own, so wild rules are not copied all over the trees of the narrow ones.
 * - A node cuts a window of up to 12 bits of one field. The element that points to a node describes
 *   its cut, so a level costs one load. A batch goes down in lock step: the loads of one level are
 *   under way together.
 * - An element also has the lowest label below it; a key that has a better one leaves the tree. So
 *   the second and third tree mostly cost a compare.
 * - Leaves hold four rules a block, tested at once, in the order of their labels.
 * - No rule is left out because another covers it, so "first at or behind" needs only a compare.
 * - What a box cannot say carries a mark in the leaf; forest_confirm() then looks at the rule.
 *
 * Example. Ten rules: 0 10.1.1.0/24 to 10.9.0.1 tcp 80; 1 10.1.2.0/24 to 10.9.0.1 tcp 443; 2 any to
 * 10.9.0.1 tcp 22; 3 any to 10.9.1.0/24 udp; 4 10.1.0.0/16 to 10.9.2.0/24; 5 any to 10.9.3.0/24 udp;
 * 6 10.2.0.0/16 to any; 7 10.3.0.0/16 to any; 8 any to 10.9.4.0/24; 9 any icmp. Trees: {0-5, 8}, {6, 7},
 * {9}. The first tree cuts bits 8 to 10 of the destination: child 0 is the leaf {0, 1, 2}, children 1
 * to 4 are {3}, {4}, {5}, {8}, the others are empty. Packet 10.1.2.7 to 10.9.0.1 tcp 443: window
 * value 0, leaf {0, 1, 2}, only 1 passes. The roots of the other trees say "lowest label 6" and
 * "lowest label 9": not walked. With from = 2 rule 1 does not count, and the others are walked in vain.
 *
 * Cost: a level 6 to 12 cycles, a leaf 20, a further block 8; 2 to 6 levels. Building is near linear.
 *
 * Updates replace leaves and store one element a slot, new memory first, so readers need no lock;
 * see forest_update.c and forest_change.c. Files: forest_cut.c chooses windows, forest_build.c builds, forest_leaf.c lays
 * out leaves, forest_pool.c owns the memory, forest_walk.h with forest_lookup*.c looks up.
 *
 * Sources: cutting as in HiCuts (Gupta and McKeown, 1999) and HyperCuts (Singh et al., SIGCOMM 2003);
 * parting by wild fields as in EffiCuts (Vamanan et al., SIGCOMM 2010). Batches in lock step, elements
 * that carry the cut and the lowest label, and shared services are ours.
 */
#include "classifier/forest.h"

#include "classifier/forest_build.h"
#include "classifier/linear.h"
#include "classifier/rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct forest_field forest_fields4[] = {
	{ 0, 0, 32 }, /* source */
	{ 0, 32, 32 }, /* destination */
	{ 1, 0, 16 }, /* source port */
	{ 1, 16, 16 }, /* destination port */
	{ 1, 32, 16 }, /* protocol */
	{ 1, 48, 16 }, /* aux */
};

const struct forest_field forest_fields6[] = {
	{ 0, 0, 64 }, /* source, high half */
	{ 1, 0, 64 }, /* low half */
	{ 2, 0, 64 }, /* destination */
	{ 3, 0, 64 },
	{ 4, 0, 16 }, /* lanes as above */
	{ 4, 16, 16 },
	{ 4, 32, 16 },
	{ 4, 48, 16 },
};

static uint64_t ones(unsigned int n)
{
	return n >= 64 ? UINT64_MAX : (1ULL << n) - 1;
}

/* the prefix that encloses value and mask in a field of @bits */
static struct forest_span prefix_span(uint64_t value, uint64_t mask, unsigned int bits)
{
	uint64_t holes = ~mask & ones(bits), wild;

	wild = holes == 0 ? 0 : ones(64 - (unsigned int)__builtin_clzll(holes));
	value &= ones(bits);
	return (struct forest_span){ value & ~wild, value | wild };
}

static struct forest_span addr_span(const struct forest *f, const struct sl_cls_addr *value,
		const struct sl_cls_addr *mask, bool low)
{
	if (f->cls.family == SL_AF_INET)
		return prefix_span(value->lo, mask->lo, 32);
	if (!low)
		return prefix_span(value->hi, mask->hi, 64);
	/* behind a hole in the high half the low half is open */
	return prefix_span(value->lo, mask->hi == UINT64_MAX ? mask->lo : 0, 64);
}

struct forest_span forest_span(
		const struct forest *f, const struct sl_cls_rule *r, unsigned int field)
{
	unsigned int halves = f->addr_fields / 2;

	if (field < halves)
		return addr_span(f, &r->src, &r->src_mask, field > 0);
	if (field < f->addr_fields)
		return addr_span(f, &r->dst, &r->dst_mask, field > halves);
	switch (field - f->addr_fields) {
	case 0:
		return (struct forest_span){ r->sport_lo, r->sport_hi };
	case 1:
		return (struct forest_span){ r->dport_lo, r->dport_hi };
	case 2:
		if (r->proto_mask == 0 || cls_proto_len(r) == 0)
			return (struct forest_span){ 0, UINT16_MAX };
		return prefix_span(r->proto, r->proto_mask, 8);
	default:
		return (struct forest_span){ r->aux_lo, r->aux_hi };
	}
}

void forest_region_all(const struct forest *f, struct forest_region *region)
{
	memset(region, 0, sizeof(*region));
	for (unsigned int i = 0; i < f->fields; i++)
		region->hi[i] = ones(forest_fields(f)[i].bits);
}

struct forest_cut forest_cut_of(const struct forest *f, uint64_t e)
{
	unsigned int half = (unsigned int)(e >> FOREST_HALF_SHIFT) & 7, start = FOREST_START(e);
	unsigned int i = f->fields - 1;

	while (forest_fields(f)[i].half != half || forest_fields(f)[i].start > start)
		i--;
	return (struct forest_cut){ i, start - forest_fields(f)[i].start, FOREST_WIDTH(e) };
}

unsigned int forest_group(const struct forest *f, const struct sl_cls_rule *r)
{
	if (cls_prefix_len(f->cls.family, &r->dst_mask) >= f->long_prefix)
		return 0;
	return cls_prefix_len(f->cls.family, &r->src_mask) >= f->long_prefix ? 1 : 2;
}

/* rules, maps and services; sizes that an update cannot outgrow */
static int create_tables(struct forest *f, const struct sl_cls_spec *spec)
{
	uint32_t last = spec->n == 0 ? 0 : spec->rules[spec->n - 1].label;
	size_t bytes;

	f->label_limit = RTE_MIN(last * 2 + 4096, SL_CLS_LABEL_MAX + 1);
	while (f->label_limit >> f->label_shift > 0xfffd)
		f->label_shift++;
	f->slots = spec->n + spec->n / 4 + 1024;
	bytes = f->slots * (sizeof(*f->rules) + sizeof(*f->next) + sizeof(*f->slot_service) + 1)
			+ f->label_limit * sizeof(*f->slot_of)
			+ FOREST_SERVICES_MAX * (sizeof(*f->service) + 4) + 1024;
	if (cls_arena_create(&f->tables, bytes, false) < 0)
		return -ENOMEM;
	f->rules = cls_arena_take(&f->tables, f->slots * sizeof(*f->rules));
	f->next = cls_arena_take(&f->tables, f->slots * sizeof(*f->next));
	f->slot_service = cls_arena_take(&f->tables, f->slots * sizeof(*f->slot_service));
	f->slot_where = cls_arena_take(&f->tables, f->slots);
	f->slot_of = cls_arena_take(&f->tables, f->label_limit * sizeof(*f->slot_of));
	return forest_services_create(f, spec->n);
}

static int take_rules(struct forest *f, const struct sl_cls_spec *spec)
{
	for (uint32_t i = 0; i < spec->n; i++) {
		uint32_t slot;
		int ret = forest_slot_take(f, &spec->rules[i], &slot);

		if (ret < 0)
			return ret;
		f->slot_where[slot] = FOREST_IN_TREE;
		if (f->slot_service[slot] & FOREST_VERIFY)
			f->verify = true;
	}
	return 0;
}

static void forest_free(struct sl_cls *cls)
{
	struct forest *f = (struct forest *)cls;

	for (size_t i = f->retired_head; i < f->retired_tail; i++)
		if (f->retired[i].overlay != NULL)
			forest_overlay_free(f->retired[i].overlay);
	free(f->retired);
	if (f->overlay != NULL)
		forest_overlay_free(f->overlay);
	forest_builder_free(f->scratch);
	forest_pool_destroy(&f->pool);
	cls_arena_destroy(&f->tables);
	free(f);
}

static int build_form(
		const struct sl_cls_spec *spec, const struct sl_cls_ops *ops, struct sl_cls **cls)
{
	struct forest *f;
	int ret;

	ret = cls_spec_check(spec);
	if (ret < 0)
		return ret;
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		return -ENOMEM;
	f->cls = (struct sl_cls){ .ops = ops, .family = spec->family, .n = spec->n };
	f->qsv = spec->qsv;
	f->addr_fields = spec->family == SL_AF_INET ? 2 : 4;
	f->fields = f->addr_fields + FOREST_LANES;
	ret = create_tables(f, spec);
	if (ret < 0)
		goto err;
	ret = take_rules(f, spec);
	if (ret < 0)
		goto err;
	ret = forest_build_all(f);
	if (ret < 0)
		goto err;
	/* room for updates, the rest of the address space goes back */
	cls_arena_trim(&f->pool.arena, f->pool.arena.used * 2 + ((size_t)4 << 20));
	*cls = &f->cls;
	return 0;

err:
	forest_free(&f->cls);
	return ret == -ENOSPC ? -ENOMEM : ret;
}

static size_t forest_estimate(const struct sl_cls_spec *spec)
{
	/* measured on sets of ClassBench's shapes: pool and tables */
	return 65536 + (size_t)spec->n * (spec->family == SL_AF_INET ? 300 : 600);
}

static size_t forest_memory(const struct sl_cls *cls)
{
	const struct forest *f = (const struct forest *)cls;
	size_t bytes = sizeof(*f) + f->pool.arena.used + f->pool.arena.used / 64 * sizeof(uint32_t);

	bytes += f->slots_used
			* (sizeof(*f->rules) + sizeof(*f->next) + sizeof(*f->slot_service) + 1);
	bytes += (f->label_limit / 2) * sizeof(*f->slot_of);
	bytes += f->services * sizeof(*f->service)
			+ (f->service_hash_mask + 1) * sizeof(*f->service_hash);
	if (f->overlay != NULL && f->overlay->linear != NULL)
		bytes += sl_cls_linear.memory(f->overlay->linear);
	return bytes;
}

static int build_plain(const struct sl_cls_spec *spec, struct sl_cls **cls)
{
	return build_form(spec, &cls_forest_plain, cls);
}

static int build_avx2(const struct sl_cls_spec *spec, struct sl_cls **cls)
{
	return build_form(spec, &cls_forest_avx2, cls);
}

static int build(const struct sl_cls_spec *spec, struct sl_cls **cls)
{
	return cls_have_avx2() ? build_avx2(spec, cls) : build_plain(spec, cls);
}

static void lookup(const struct sl_cls *cls, const void *keys, unsigned int n, const uint32_t *from,
		const struct sl_cls_verify *verify, uint32_t *out)
{
	cls->ops->lookup(cls, keys, n, from, verify, out);
}

#define FOREST_OPS(build_fn, lookup_fn)                                                        \
	.name = "forest", .estimate = forest_estimate, .build = build_fn, .lookup = lookup_fn, \
	.free = forest_free, .memory = forest_memory, .insert = forest_insert,                 \
	.remove = forest_remove

const struct sl_cls_ops cls_forest_plain = { FOREST_OPS(build_plain, forest_lookup_plain) };
const struct sl_cls_ops cls_forest_avx2 = { FOREST_OPS(build_avx2, forest_lookup_avx2) };
const struct sl_cls_ops sl_cls_forest = { FOREST_OPS(build, lookup) };
