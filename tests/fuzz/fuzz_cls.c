/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes to rules and keys: every engine gives linear's answer, and the forest still does after rules
 * have gone and come back.
 *
 * Input: a byte of flags (1: IPv6, 2: labels are shared), then 12 bytes a rule. Addresses and ports come
 * from few values, so that boxes meet. Keys are corners of the rules and what the input's hash makes.
 */
#include "classifier/forest.h"
#include "classifier/linear.h"
#include "tests/diff/cls_compare.h"

#include <errno.h>
#include <stdlib.h>

#define RULE_BYTES 12
#define RULES_MAX 64
#define BATCHES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void make_addr(enum sl_family family, uint8_t value, uint8_t len, bool hole,
		struct sl_cls_addr *addr, struct sl_cls_addr *mask)
{
	uint64_t bits = (uint64_t)(value & 15) << (value >> 4) * 4;

	*addr = (struct sl_cls_addr){ 0x20010db8ULL << 32 | (value & 3), 0x0a000000ULL ^ bits };
	*mask = sl_cls_mask(family, len % (sl_addr_bits(family) + 1));
	if (family == SL_AF_INET)
		*addr = sl_cls_addr4((uint32_t)addr->lo ^ (uint32_t)(bits >> 32));
	if (hole)
		mask->lo &= ~0x110ULL;
}

static void make_range(uint8_t byte, uint16_t *lo, uint16_t *hi)
{
	static const uint16_t edge[] = { 0, 1, 2, 53, 1023, 1024, 0x8000, 0xffff };
	uint16_t a = edge[byte & 7], b = edge[byte >> 3 & 7];

	if (byte & 0x80)
		return;
	*lo = a < b ? a : b;
	*hi = a < b ? b : a;
}

static void make_rule(const uint8_t *d, enum sl_family family, struct sl_cls_rule *r)
{
	*r = (struct sl_cls_rule){ SL_CLS_RULE_ANY };
	make_addr(family, d[0], d[1], d[11] & 1, &r->src, &r->src_mask);
	make_addr(family, d[2], d[3], d[11] & 2, &r->dst, &r->dst_mask);
	make_range(d[4], &r->sport_lo, &r->sport_hi);
	make_range(d[5], &r->dport_lo, &r->dport_hi);
	make_range(d[6], &r->aux_lo, &r->aux_hi);
	r->proto = d[7] & 0x80 ? d[7] : 6;
	r->proto_mask = d[8] & 0x80 ? d[8] : (d[8] & 1 ? 0xff : 0);
	r->verify = d[11] & 4;
}

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* rules of @set whose label is not one of every third */
static struct gen_set without_thirds(const struct gen_set *set)
{
	struct gen_set left = *set;

	left.rules = calloc(set->n + 1, sizeof(*left.rules));
	require(left.rules != NULL);
	left.n = 0;
	for (uint32_t i = 0; i < set->n; i++)
		if (set->rules[i].label % 3 != 0)
			left.rules[left.n++] = set->rules[i];
	return left;
}

static void check_updates(const struct gen_set *set, uint64_t seed)
{
	struct sl_cls_spec spec = gen_spec(set), spec_left;
	struct gen_set left = without_thirds(set);
	struct sl_cls *forest, *oracle, *whole;
	uint32_t last = SL_CLS_MISS;

	spec_left = gen_spec(&left);
	require(sl_cls_forest.build(&spec, &forest) == 0);
	require(cls_linear_plain.build(&spec_left, &oracle) == 0);
	require(cls_linear_plain.build(&spec, &whole) == 0);
	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t label = set->rules[i].label;

		if (label % 3 == 0 && label != last)
			require(forest->ops->remove(forest, label) == 0);
		last = label;
	}
	require(cmp_lookups(set, oracle, forest, forest->ops, "forest, removed", BATCHES, seed)
			== 0);
	for (uint32_t i = 0; i < set->n; i++) {
		int ret;

		if (set->rules[i].label % 3 != 0)
			continue;
		ret = forest->ops->insert(forest, &set->rules[i]);
		/* a dead label of several boxes asks for a new build */
		if (ret == -ENOSPC)
			goto out;
		require(ret == 0);
	}
	require(cmp_lookups(set, whole, forest, forest->ops, "forest, back", BATCHES, seed) == 0);
out:
	forest->ops->free(forest);
	oracle->ops->free(oracle);
	whole->ops->free(whole);
	gen_free(&left);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sl_cls_rule rules[RULES_MAX];
	struct gen_set set = { .rules = rules, .name = "fuzz" };
	uint64_t seed = 1469598103934665603ULL;
	uint8_t flags;

	if (size < 1)
		return 0;
	flags = *data++;
	size--;
	for (size_t i = 0; i < size; i++)
		seed = (seed ^ data[i]) * 1099511628211ULL;
	set.family = flags & 1 ? SL_AF_INET6 : SL_AF_INET;
	for (; set.n < RULES_MAX && size >= RULE_BYTES; size -= RULE_BYTES, data += RULE_BYTES) {
		make_rule(data, set.family, &rules[set.n]);
		rules[set.n].label = flags & 2 ? set.n / 3 : set.n * 5;
		set.n++;
	}
	require(cmp_all(&set, BATCHES, seed) == 0);
	check_updates(&set, seed);
	return 0;
}
