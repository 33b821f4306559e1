/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linear search: one rule after the other, in order. Nothing here is clever, so that it can be read
 * in one go and every other engine can be held against it. linear_avx2.c does the same eight to
 * sixteen rules at a time.
 */
#include "classifier/linear.h"

#include "classifier/rule.h"

#include <rte_common.h>
#include <rte_cpuflags.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct linear {
	struct sl_cls cls;
	struct sl_cls_rule rules[]; /* [const] */
};

static size_t plain_estimate(const struct sl_cls_spec *spec)
{
	return sizeof(struct linear) + spec->n * sizeof(struct sl_cls_rule);
}

static int plain_build(const struct sl_cls_spec *spec, struct sl_cls **cls)
{
	struct linear *l;
	int ret;

	ret = cls_spec_check(spec);
	if (ret < 0)
		return ret;
	l = calloc(1, plain_estimate(spec));
	if (l == NULL)
		return -ENOMEM;
	l->cls.ops = &cls_linear_plain;
	l->cls.family = spec->family;
	l->cls.n = spec->n;
	if (spec->n > 0)
		memcpy(l->rules, spec->rules, spec->n * sizeof(*spec->rules));
	*cls = &l->cls;
	return 0;
}

static uint32_t first_match(const struct linear *l, const void *keys, unsigned int i, uint32_t from,
		const struct sl_cls_verify *verify)
{
	for (uint32_t j = 0; j < l->cls.n; j++) {
		const struct sl_cls_rule *r = &l->rules[j];

		if (r->label >= from && cls_rule_match(l->cls.family, r, keys, i)
				&& cls_verified(r, verify, i))
			return r->label;
	}
	return SL_CLS_MISS;
}

static void plain_lookup(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out)
{
	const struct linear *l = (const struct linear *)cls;

	for (unsigned int i = 0; i < n; i++)
		out[i] = first_match(l, keys, i, from == NULL ? 0 : from[i], verify);
}

static void plain_free(struct sl_cls *cls)
{
	free(cls);
}

static size_t plain_memory(const struct sl_cls *cls)
{
	return sizeof(struct linear) + cls->n * sizeof(struct sl_cls_rule);
}

const struct sl_cls_ops cls_linear_plain = {
	.name = "linear",
	.estimate = plain_estimate,
	.build = plain_build,
	.lookup = plain_lookup,
	.free = plain_free,
	.memory = plain_memory,
};

bool cls_have_avx2(void)
{
	return rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0
			&& rte_cpu_get_flag_enabled(RTE_CPUFLAG_BMI1) > 0
			&& rte_cpu_get_flag_enabled(RTE_CPUFLAG_BMI2) > 0;
}

static const struct sl_cls_ops *form(void)
{
	return cls_have_avx2() ? &cls_linear_avx2 : &cls_linear_plain;
}

static size_t linear_estimate(const struct sl_cls_spec *spec)
{
	return form()->estimate(spec);
}

static int linear_build(const struct sl_cls_spec *spec, struct sl_cls **cls)
{
	return form()->build(spec, cls);
}

static void linear_lookup(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out)
{
	cls->ops->lookup(cls, keys, n, from, verify, out);
}

static void linear_free(struct sl_cls *cls)
{
	cls->ops->free(cls);
}

static size_t linear_memory(const struct sl_cls *cls)
{
	return cls->ops->memory(cls);
}

const struct sl_cls_ops sl_cls_linear = {
	.name = "linear",
	.estimate = linear_estimate,
	.build = linear_build, /* the set's own ops are those of the form chosen */
	.lookup = linear_lookup,
	.free = linear_free,
	.memory = linear_memory,
};
