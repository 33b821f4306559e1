/* SPDX-License-Identifier: BSD-3-Clause */
/* Lays rules out as the arrays that linear_avx2.c scans, and chooses what each chunk looks at first. */
#include "classifier/linear_pack.h"

#include "classifier/linear.h"
#include "classifier/rule.h"

#include <rte_common.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void addr_words(const struct sl_cls_addr *a, uint32_t *w)
{
	w[0] = (uint32_t)(a->hi >> 32);
	w[1] = (uint32_t)a->hi;
	w[2] = (uint32_t)(a->lo >> 32);
	w[3] = (uint32_t)a->lo;
}

void linear_words(enum sl_family family, const struct sl_cls_addr *src,
		const struct sl_cls_addr *dst, uint32_t *w)
{
	if (family == SL_AF_INET) {
		w[0] = (uint32_t)src->lo;
		w[1] = (uint32_t)dst->lo;
		return;
	}
	addr_words(src, w);
	addr_words(dst, w + 4);
}

static void set_lane(
		struct linear_arrays *v, uint32_t i, unsigned int lane, uint16_t lo, uint16_t hi)
{
	v->lo[lane][i] = lo;
	v->span[lane][i] = (uint16_t)(hi - lo);
	if (lo != 0 || hi != UINT16_MAX)
		v->group[i / LINEAR_GROUP].fields |= (uint16_t)(1U << (LINEAR_WORDS + lane));
}

static void place(struct linear_arrays *v, uint32_t i, const struct sl_cls_rule *r)
{
	uint32_t value[LINEAR_WORDS], mask[LINEAR_WORDS];
	uint8_t prefix = (uint8_t)(0xff00U >> cls_proto_len(r));
	uint8_t wild = (uint8_t)(0xffU >> cls_proto_len(r));
	struct linear_group *g = &v->group[i / LINEAR_GROUP];

	linear_words(v->cls.family, &r->src, &r->dst, value);
	linear_words(v->cls.family, &r->src_mask, &r->dst_mask, mask);
	for (unsigned int w = 0; w < v->words; w++) {
		v->value[w][i] = value[w] & mask[w];
		v->mask[w][i] = mask[w];
		if (mask[w] != 0)
			g->fields |= (uint16_t)(1U << w);
	}
	set_lane(v, i, LINEAR_SPORT, r->sport_lo, r->sport_hi);
	set_lane(v, i, LINEAR_DPORT, r->dport_lo, r->dport_hi);
	set_lane(v, i, LINEAR_AUX, r->aux_lo, r->aux_hi);
	if (r->proto_mask == 0)
		set_lane(v, i, LINEAR_PROTO, 0, UINT16_MAX);
	else
		set_lane(v, i, LINEAR_PROTO, r->proto & prefix, r->proto | wild);
	/* holes in an address mask are no matter here, holes in the protocol's are */
	if (r->verify || prefix != r->proto_mask)
		g->flagged |= (uint16_t)(1U << (i % LINEAR_GROUP));
	v->label[i] = r->label;
	v->dense &= r->label == i;
}

/* a rule that no key matches: protocols end at 255 */
static void place_padding(struct linear_arrays *v, uint32_t i)
{
	for (unsigned int l = 0; l < LINEAR_LANES; l++)
		set_lane(v, i, l, l == LINEAR_PROTO ? UINT16_MAX : 0, UINT16_MAX);
	v->label[i] = SL_CLS_MISS;
}

static bool field_matches(
		const struct linear_arrays *v, unsigned int field, uint32_t i, uint32_t key)
{
	if (field < LINEAR_WORDS)
		return (key & v->mask[field][i]) == v->value[field][i];
	field -= LINEAR_WORDS;
	return (uint16_t)(key - v->lo[field][i]) <= v->span[field][i];
}

static uint32_t field_corner(const struct linear_arrays *v, unsigned int field, uint32_t i)
{
	return field < LINEAR_WORDS ? v->value[field][i] : v->lo[field - LINEAR_WORDS][i];
}

/* steps of [first, end) that a key in a corner of a sampled rule would have to test in full */
static unsigned int candidates(const struct linear_arrays *v, unsigned int field, uint32_t first,
		uint32_t end, uint32_t sample)
{
	uint32_t key = field_corner(v, field, sample);
	unsigned int steps = 0;

	for (uint32_t i = first; i < end; i += LINEAR_STEP) {
		for (uint32_t j = i; j < i + LINEAR_STEP; j++) {
			if (field_matches(v, field, j, key)) {
				steps++;
				break;
			}
		}
	}
	return steps;
}

/* The field whose first look is cheapest over all, in half cycles; measured on the rules themselves,
 * since neither prefixes nor ports are spread evenly. */
static struct linear_chunk choose_lead(
		const struct linear_arrays *v, uint32_t first, uint32_t end, uint32_t n)
{
	enum {
		SAMPLES = 8,
		LOOK = 4,
		MASKED = 2,
		FULL = 40
	};
	struct linear_chunk best = { LINEAR_LEAD_NONE, false };
	unsigned int steps = (end - first) / LINEAR_STEP, cost = SAMPLES * steps * FULL;

	for (unsigned int field = 0; field < LINEAR_WORDS + LINEAR_LANES; field++) {
		unsigned int c = SAMPLES * steps * LOOK;
		bool exact = field < LINEAR_WORDS;

		if (field < LINEAR_WORDS && field >= v->words)
			continue;
		for (uint32_t i = first; exact && i < n; i++)
			exact = v->mask[field][i] == UINT32_MAX;
		if (!exact)
			c += SAMPLES * steps * MASKED;
		for (uint32_t s = 0; s < SAMPLES; s++)
			c += FULL
					* candidates(v, field, first, end,
							first + s * (n - first) / SAMPLES);
		if (c < cost) {
			cost = c;
			best = (struct linear_chunk){ (uint8_t)field, exact };
		}
	}
	return best;
}

/* the padding of an exact chunk may be a candidate, the full test refuses it by its protocol */
static void choose_leads(struct linear_arrays *v)
{
	for (uint32_t i = 0; i < v->padded; i += LINEAR_CHUNK)
		v->chunk[i / LINEAR_CHUNK] = choose_lead(v, i, RTE_MIN(i + LINEAR_CHUNK, v->padded),
				RTE_MIN(i + LINEAR_CHUNK, v->cls.n));
}

/* Lays out the arrays behind the struct, or only adds up their sizes where @base is NULL. */
static size_t lay_out(struct linear_arrays *v, uint8_t *base, uint32_t n)
{
	size_t off = RTE_ALIGN_CEIL(sizeof(*v), 64);

#define TAKE(field, count)                                                     \
	do {                                                                   \
		if (base != NULL)                                              \
			(field) = (void *)(base + off);                        \
		off += RTE_ALIGN_CEIL((size_t)(count) * sizeof(*(field)), 64); \
	} while (0)
	for (unsigned int w = 0; w < v->words; w++) {
		TAKE(v->value[w], v->padded);
		TAKE(v->mask[w], v->padded);
	}
	for (unsigned int l = 0; l < LINEAR_LANES; l++) {
		TAKE(v->lo[l], v->padded);
		TAKE(v->span[l], v->padded);
	}
	TAKE(v->label, v->padded);
	TAKE(v->group, v->padded / LINEAR_GROUP);
	TAKE(v->chunk, v->padded / LINEAR_CHUNK + 1);
	TAKE(v->rules, n);
#undef TAKE
	return off;
}

static struct linear_arrays shape(const struct sl_cls_spec *spec)
{
	return (struct linear_arrays){
		.cls = { .ops = &cls_linear_avx2, .family = spec->family, .n = spec->n },
		.padded = RTE_ALIGN_CEIL(spec->n, LINEAR_STEP),
		.words = spec->family == SL_AF_INET ? 2 : LINEAR_WORDS,
		.dense = true,
	};
}

size_t linear_arrays_estimate(const struct sl_cls_spec *spec)
{
	struct linear_arrays v = shape(spec);

	return lay_out(&v, NULL, spec->n);
}

int linear_arrays_build(const struct sl_cls_spec *spec, struct sl_cls **cls)
{
	struct linear_arrays *v;
	size_t bytes;
	int ret;

	ret = cls_spec_check(spec);
	if (ret < 0)
		return ret;
	bytes = linear_arrays_estimate(spec);
	v = aligned_alloc(64, bytes);
	if (v == NULL)
		return -ENOMEM;
	memset(v, 0, bytes);
	*v = shape(spec);
	v->bytes = lay_out(v, (uint8_t *)v, spec->n);
	for (uint32_t i = 0; i < spec->n; i++) {
		v->rules[i] = spec->rules[i];
		place(v, i, &spec->rules[i]);
	}
	for (uint32_t i = spec->n; i < v->padded; i++)
		place_padding(v, i);
	choose_leads(v);
	*cls = &v->cls;
	return 0;
}

void linear_arrays_free(struct sl_cls *cls)
{
	free(cls);
}

size_t linear_arrays_memory(const struct sl_cls *cls)
{
	return ((const struct linear_arrays *)cls)->bytes;
}

const struct sl_cls_ops cls_linear_avx2 = {
	.name = "linear",
	.estimate = linear_arrays_estimate,
	.build = linear_arrays_build,
	.lookup = linear_arrays_lookup,
	.free = linear_arrays_free,
	.memory = linear_arrays_memory,
};
