/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/diff/cls_compare.h"

#include "classifier/forest.h"
#include "classifier/linear.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool cmp_have_eal;

const struct cmp_engine cmp_engines[] = {
	{ .name = "linear avx2", .ops = &cls_linear_avx2, .need_avx2 = true },
	{ .name = "linear", .ops = &sl_cls_linear },
	{ .name = "hashed", .ops = &sl_cls_hashed },
	{ .name = "forest", .ops = &cls_forest_plain, .twin = &cls_forest_avx2 },
	{ .name = "trie", .ops = &sl_cls_trie, .rules_max = 1500 },
	{ .name = NULL },
};

bool cmp_runnable(const struct cmp_engine *e, const struct gen_set *set)
{
	if (e->ops == &sl_cls_trie && !cmp_have_eal)
		return false;
	if (e->rules_max != 0 && set->n > e->rules_max && getenv("SLUICE_TEST_LONG") == NULL)
		return false;
	return !e->need_avx2 || cls_have_avx2();
}

size_t cmp_key_size(enum sl_family family)
{
	return family == SL_AF_INET ? sizeof(struct sl_cls_key4) : sizeof(struct sl_cls_key6);
}

bool cmp_verify(void *arg, uint32_t label, unsigned int i)
{
	const struct cmp_verify_arg *a = arg;
	const uint8_t *key = (const uint8_t *)a->keys + i * a->key_size;
	uint32_t h = label * 0x9e3779b1;

	for (size_t j = 0; j < a->key_size; j++)
		h = (h ^ key[j]) * 0x01000193;
	return h >> 31;
}

static void print_key(enum sl_family family, const void *keys, unsigned int i)
{
	const struct sl_cls_key6 *k6 = (const struct sl_cls_key6 *)keys + i;
	const struct sl_cls_key4 *k4 = (const struct sl_cls_key4 *)keys + i;

	if (family == SL_AF_INET)
		printf("%08x %08x %u %u proto %u aux %u\n", k4->src, k4->dst, k4->sport, k4->dport,
				k4->proto, k4->aux);
	else
		printf("%016" PRIx64 ":%016" PRIx64 " %016" PRIx64 ":%016" PRIx64
		       " %u %u proto %u aux %u\n",
				k6->src.hi, k6->src.lo, k6->dst.hi, k6->dst.lo, k6->sport,
				k6->dport, k6->proto, k6->aux);
}

/* where to start: anywhere, at the first match, right behind it */
static uint32_t pick_from(const struct gen_set *set, uint32_t match, struct gen_rng *rng)
{
	uint32_t last = set->n == 0 ? 0 : set->rules[set->n - 1].label;

	switch (gen_below(rng, 4)) {
	case 0:
		return gen_below(rng, last + 3);
	case 1:
		return 0;
	case 2:
		return match == SL_CLS_MISS ? last : match;
	default:
		return match == SL_CLS_MISS ? SL_CLS_MISS : match + 1;
	}
}

unsigned int cmp_lookups(const struct gen_set *set, const struct sl_cls *oracle,
		const struct sl_cls *cls, const struct sl_cls_ops *ops, const char *name,
		unsigned int batches, uint64_t seed)
{
	struct gen_rng rng = { seed };
	union gen_any_key keys[SL_CLS_BURST];
	struct cmp_verify_arg arg = { keys, cmp_key_size(set->family) };
	const struct sl_cls_verify verify = { cmp_verify, &arg };
	uint32_t want[SL_CLS_BURST], got[SL_CLS_BURST], from[SL_CLS_BURST];
	unsigned int bad = 0;

	for (unsigned int b = 0; b < batches; b++) {
		unsigned int n = b % 4 == 3 ? gen_below(&rng, SL_CLS_BURST + 1) : SL_CLS_BURST;
		const struct sl_cls_verify *v = b % 8 == 5 ? NULL : &verify;
		const uint32_t *f = b % 2 == 0 ? NULL : from;

		for (unsigned int i = 0; i < n; i++)
			gen_key(set, gen_below(&rng, GEN_KEY_NB), &rng, keys, i);
		oracle->ops->lookup(oracle, keys, n, NULL, v, want);
		if (f != NULL) {
			for (unsigned int i = 0; i < n; i++)
				from[i] = pick_from(set, want[i], &rng);
			oracle->ops->lookup(oracle, keys, n, from, v, want);
		}
		ops->lookup(cls, keys, n, f, v, got);
		for (unsigned int i = 0; i < n; i++) {
			if (want[i] == got[i] || bad++ > 0)
				continue;
			printf("%s, %s, %u rules, seed %" PRIu64
			       ", batch %u key %u from %u: got %d, "
			       "want %d: ",
					name, set->name, set->n, seed, b, i,
					f == NULL ? 0 : from[i], (int)got[i], (int)want[i]);
			print_key(set->family, keys, i);
		}
	}
	return bad;
}

unsigned int cmp_all(const struct gen_set *set, unsigned int batches, uint64_t seed)
{
	struct sl_cls_spec spec = gen_spec(set);
	struct sl_cls *oracle, *cls;
	unsigned int bad = 0;
	int ret;

	ret = cls_linear_plain.build(&spec, &oracle);
	assert(ret == 0);
	for (const struct cmp_engine *e = cmp_engines; e->name != NULL; e++) {
		if (!cmp_runnable(e, set))
			continue;
		ret = e->ops->build(&spec, &cls);
		if (ret == -E2BIG && e->ops->estimate(&spec) == 0)
			continue;
		if (ret < 0) {
			printf("%s, %s, %u rules, seed %" PRIu64 ": build: %s\n", e->name,
					set->name, set->n, seed, strerror(-ret));
			bad++;
			continue;
		}
		bad += cmp_lookups(set, oracle, cls, cls->ops, e->name, batches, seed);
		if (e->twin != NULL && cls_have_avx2())
			bad += cmp_lookups(set, oracle, cls, e->twin, e->name, batches, seed);
		cls->ops->free(cls);
	}
	oracle->ops->free(oracle);
	return bad;
}
