/* SPDX-License-Identifier: BSD-3-Clause */
/* The arrays of the linear engine's AVX2 form: what linear_pack.c lays out and linear_avx2.c reads. */
#pragma once

#include "classifier/classifier.h"

#define LINEAR_CHUNK 512U /* rules that all open keys pass over in turn */
#define LINEAR_STEP 32U /* rules whose lead is looked at in one go */
#define LINEAR_GROUP 16U /* rules that are tested in full in one go */
#define LINEAR_WORDS 8U
#define LINEAR_LANES 4U
#define LINEAR_LEAD_NONE UINT8_MAX

/* lanes, and bits of struct linear_group behind the words */
enum {
	LINEAR_SPORT,
	LINEAR_DPORT,
	LINEAR_PROTO,
	LINEAR_AUX,
};

/* what a group of rules asks for */
struct linear_group {
	uint16_t fields; /* bit w: word w has a mask; bit 8 + l: lane l is no full range */
	uint16_t flagged; /* bit i: rule i is not decided by its box */
};

struct linear_chunk {
	uint8_t lead; /* word 0..7, 8 + lane, or LINEAR_LEAD_NONE */
	bool exact; /* a word whose masks are all ones */
};

struct linear_arrays {
	struct sl_cls cls;
	uint32_t padded; /* rules with the padding, whole steps */
	unsigned int words;
	bool dense; /* label i is i */
	uint32_t *value[LINEAR_WORDS], *mask[LINEAR_WORDS];
	uint16_t *lo[LINEAR_LANES], *span[LINEAR_LANES];
	uint32_t *label;
	struct linear_group *group;
	struct linear_chunk *chunk;
	struct sl_cls_rule *rules;
	size_t bytes;
};

/* the words of an address pair; IPv4 fills two, IPv6 eight */
void linear_words(enum sl_family family, const struct sl_cls_addr *src,
		const struct sl_cls_addr *dst, uint32_t *words);

/* build(), free() and so on of the form; only the look-up needs AVX2 */
size_t linear_arrays_estimate(const struct sl_cls_spec *spec);
int linear_arrays_build(const struct sl_cls_spec *spec, struct sl_cls **cls);
void linear_arrays_free(struct sl_cls *cls);
size_t linear_arrays_memory(const struct sl_cls *cls);
void linear_arrays_lookup(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out);
