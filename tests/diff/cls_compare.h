/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines held against each other: every engine that can hold a set is built beside the plain linear
 * one and asked about the same keys, with and without `from`, with and without verification.
 */
#pragma once

#include "tests/diff/cls_gen.h"

/* an engine in one of its forms; name NULL at the end */
struct cmp_engine {
	const char *name;
	const struct sl_cls_ops *ops;
	bool need_avx2;
	const struct sl_cls_ops *twin; /* reads the same set by AVX2; NULL: none */
	uint32_t rules_max; /* larger sets take it too long to build; 0: none do */
};
extern const struct cmp_engine cmp_engines[];

/* whether it can be compared on @set here; the trie needs an EAL */
bool cmp_runnable(const struct cmp_engine *e, const struct gen_set *set);
extern bool cmp_have_eal;

/* a verification that depends on label and key alone, true for one in two */
struct cmp_verify_arg {
	const void *keys;
	size_t key_size;
};
bool cmp_verify(void *arg, uint32_t label, unsigned int i);

/* size of a key of the family */
size_t cmp_key_size(enum sl_family family);

/**
 * cmp_lookups() - @batches look-ups by @ops in @cls, all equal to those in @oracle
 *
 * Prints the first difference with @seed. Return: number of differing answers.
 */
unsigned int cmp_lookups(const struct gen_set *set, const struct sl_cls *oracle,
		const struct sl_cls *cls, const struct sl_cls_ops *ops, const char *name,
		unsigned int batches, uint64_t seed);

/**
 * cmp_all() - every engine against plain linear on one set
 *
 * Return: number of differing answers.
 */
unsigned int cmp_all(const struct gen_set *set, unsigned int batches, uint64_t seed);
