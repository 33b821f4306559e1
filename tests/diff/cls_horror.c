/* SPDX-License-Identifier: BSD-3-Clause */
/* Rule sets that hurt: boxes that overlap, nest, repeat, or lie at the ends of their fields. */
#include "tests/diff/cls_gen.h"

static void set_prefix(enum sl_family family, uint64_t hi, uint64_t lo, unsigned int len,
		struct sl_cls_addr *value, struct sl_cls_addr *mask)
{
	*mask = sl_cls_mask(family, len);
	*value = (struct sl_cls_addr){ hi & mask->hi, lo & mask->lo };
}

/* an address of few distinct bits: a base that all share, and one of its bits turned over */
static void few_bits(enum sl_family family, struct gen_rng *rng, struct sl_cls_addr *a)
{
	uint64_t flip = 1ULL << gen_below(rng, 64);

	*a = (struct sl_cls_addr){ 0x20010db855aa0000, 0x00000000c0a80155 };
	if (gen_one_in(rng, 3))
		a->lo ^= flip;
	if (gen_one_in(rng, 3))
		a->hi ^= flip;
	if (family == SL_AF_INET)
		*a = sl_cls_addr4((uint32_t)a->lo ^ (uint32_t)(flip >> 32));
}

static void random_range(struct gen_rng *rng, uint32_t max, uint16_t *lo, uint16_t *hi)
{
	uint32_t a = gen_below(rng, max + 1), b = gen_below(rng, max + 1);

	*lo = (uint16_t)(a < b ? a : b);
	*hi = (uint16_t)(a < b ? b : a);
}

static void random_rule(enum sl_family family, struct gen_rng *rng, struct sl_cls_rule *r)
{
	unsigned int bits = sl_addr_bits(family);
	struct sl_cls_addr a;

	few_bits(family, rng, &a);
	set_prefix(family, a.hi, a.lo, gen_below(rng, bits + 1), &r->src, &r->src_mask);
	few_bits(family, rng, &a);
	set_prefix(family, a.hi, a.lo, gen_below(rng, bits + 1), &r->dst, &r->dst_mask);
	if (gen_one_in(rng, 3))
		random_range(rng, 40, &r->sport_lo, &r->sport_hi);
	if (gen_one_in(rng, 3))
		random_range(rng, UINT16_MAX, &r->dport_lo, &r->dport_hi);
	if (gen_one_in(rng, 4))
		random_range(rng, 8, &r->aux_lo, &r->aux_hi);
	if (gen_one_in(rng, 2)) {
		r->proto = gen_one_in(rng, 2) ? 6 : 17;
		r->proto_mask = 0xff;
	}
}

static void edge_rule(enum sl_family family, struct gen_rng *rng, struct sl_cls_rule *r)
{
	static const uint8_t lens4[] = { 0, 1, 2, 8, 16, 24, 31, 32 };
	static const uint8_t lens6[] = { 0, 1, 32, 63, 64, 65, 127, 128 };
	static const uint16_t ports[] = { 0, 1, 0x7fff, 0x8000, 0xfffe, 0xffff };
	const uint8_t *lens = family == SL_AF_INET ? lens4 : lens6;
	struct sl_cls_addr ones = sl_cls_mask(family, sl_addr_bits(family));
	uint16_t a = ports[gen_below(rng, 6)], b = ports[gen_below(rng, 6)];

	if (gen_one_in(rng, 2))
		r->src = ones;
	if (gen_one_in(rng, 2))
		r->dst = ones;
	r->src_mask = sl_cls_mask(family, lens[gen_below(rng, 8)]);
	r->dst_mask = sl_cls_mask(family, lens[gen_below(rng, 8)]);
	r->sport_lo = a < b ? a : b;
	r->sport_hi = a < b ? b : a;
	r->dport_lo = r->dport_hi = ports[gen_below(rng, 6)];
	r->aux_lo = gen_one_in(rng, 2) ? UINT16_MAX : 0;
	r->proto = gen_one_in(rng, 2) ? 255 : 0;
	r->proto_mask = gen_one_in(rng, 2) ? 255 : 0;
}

static void odd_rule(enum sl_family family, struct gen_rng *rng, struct sl_cls_rule *r)
{
	random_rule(family, rng, r);
	if (gen_one_in(rng, 2))
		r->src_mask.lo &= ~(1ULL << gen_below(rng, 32));
	if (gen_one_in(rng, 4))
		r->src_mask.lo &= 0xff;
	if (gen_one_in(rng, 3))
		r->dst_mask.lo &= 0xff00ff;
	if (gen_one_in(rng, 3) && family == SL_AF_INET6)
		r->dst_mask.hi &= 0xffff0000ffff0000;
	if (gen_one_in(rng, 3))
		r->proto_mask = (uint8_t)gen_u32(rng);
	/* values keep bits outside their masks here: they do not count */
}

static const char *const horror_names[GEN_HORROR_NB] = {
	[GEN_RANDOM] = "random",
	[GEN_NESTED] = "nested prefixes",
	[GEN_RANGES] = "any-any with port ranges",
	[GEN_SAME_PAIR] = "one pair, port ranges",
	[GEN_IDENTICAL] = "identical boxes",
	[GEN_CROSSED] = "source-only and destination-only",
	[GEN_ODD] = "masks with holes",
	[GEN_SHARED_LABELS] = "several boxes a label",
	[GEN_EDGES] = "edges",
};

const char *gen_horror_name(enum gen_horror horror)
{
	return horror_names[horror];
}

static void horrible_rule(enum sl_family family, enum gen_horror horror, struct gen_rng *rng,
		uint32_t i, struct sl_cls_rule *r)
{
	const uint64_t hi = family == SL_AF_INET ? 0 : 0x20010db800000000, lo = 0x0a010203;
	unsigned int bits = sl_addr_bits(family);
	uint64_t spread = gen_u64(rng);

	switch (horror) {
	case GEN_RANDOM:
		random_rule(family, rng, r);
		break;
	case GEN_SHARED_LABELS:
		random_rule(family, rng, r);
		r->label = i / 3 * 16;
		break;
	case GEN_NESTED:
		set_prefix(family, hi, lo, bits - i % (bits + 1), &r->src, &r->src_mask);
		set_prefix(family, hi, lo, gen_below(rng, bits + 1), &r->dst, &r->dst_mask);
		break;
	case GEN_RANGES:
		random_range(rng, UINT16_MAX, &r->sport_lo, &r->sport_hi);
		random_range(rng, UINT16_MAX, &r->dport_lo, &r->dport_hi);
		break;
	case GEN_SAME_PAIR:
		set_prefix(family, hi, lo, bits, &r->src, &r->src_mask);
		set_prefix(family, hi, lo + 1, bits, &r->dst, &r->dst_mask);
		random_range(rng, UINT16_MAX, &r->sport_lo, &r->sport_hi);
		random_range(rng, 2000, &r->dport_lo, &r->dport_hi);
		break;
	case GEN_IDENTICAL:
		set_prefix(family, hi, lo, bits - 8, &r->src, &r->src_mask);
		r->dport_lo = r->dport_hi = (uint16_t)(80 + i % 2);
		break;
	case GEN_CROSSED:
		if (family == SL_AF_INET)
			spread = (uint32_t)spread;
		if (i % 2 == 0)
			set_prefix(family, hi, spread, bits - 8 * gen_below(rng, 4), &r->src,
					&r->src_mask);
		else
			set_prefix(family, hi, spread, bits - 8 * gen_below(rng, 4), &r->dst,
					&r->dst_mask);
		break;
	case GEN_ODD:
		odd_rule(family, rng, r);
		break;
	case GEN_EDGES:
		edge_rule(family, rng, r);
		break;
	case GEN_HORROR_NB:
		break;
	}
}

void gen_horrible(struct gen_set *set, enum sl_family family, enum gen_horror horror, uint32_t n,
		struct gen_rng *rng)
{
	gen_start(set, family, n, horror_names[horror]);
	for (uint32_t i = 0; i < n; i++)
		horrible_rule(family, horror, rng, i, &set->rules[i]);
}
