/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/rule.h"

#include <errno.h>

struct sl_cls_addr sl_cls_mask(enum sl_family family, unsigned int len)
{
	if (family == SL_AF_INET)
		return (struct sl_cls_addr){ 0,
			len == 0 ? 0 : (uint32_t)(UINT32_MAX << (32 - len)) };
	return (struct sl_cls_addr){
		.hi = len == 0              ? 0
				: len >= 64 ? UINT64_MAX
					    : UINT64_MAX << (64 - len),
		.lo = len <= 64 ? 0 : UINT64_MAX << (128 - len),
	};
}

int cls_rule_check(const struct sl_cls_rule *r)
{
	if (r->label > SL_CLS_LABEL_MAX)
		return -EINVAL;
	if (r->sport_lo > r->sport_hi || r->dport_lo > r->dport_hi || r->aux_lo > r->aux_hi)
		return -EINVAL;
	return 0;
}

int cls_spec_check(const struct sl_cls_spec *spec)
{
	uint32_t label = 0;

	if (spec->family != SL_AF_INET && spec->family != SL_AF_INET6)
		return -EINVAL;
	for (uint32_t i = 0; i < spec->n; i++) {
		if (spec->rules[i].label < label || cls_rule_check(&spec->rules[i]) < 0)
			return -EINVAL;
		label = spec->rules[i].label;
	}
	return 0;
}

static unsigned int leading_ones(uint64_t mask)
{
	return ~mask == 0 ? 64 : (unsigned int)__builtin_clzll(~mask);
}

unsigned int cls_prefix_len(enum sl_family family, const struct sl_cls_addr *mask)
{
	unsigned int len;

	if (family == SL_AF_INET)
		return leading_ones(mask->lo << 32);
	len = leading_ones(mask->hi);
	return len < 64 ? len : 64 + leading_ones(mask->lo);
}

static bool has_holes(enum sl_family family, const struct sl_cls_addr *mask)
{
	struct sl_cls_addr prefix = sl_cls_mask(family, cls_prefix_len(family, mask));

	if (family == SL_AF_INET)
		return (uint32_t)prefix.lo != (uint32_t)mask->lo;
	return prefix.hi != mask->hi || prefix.lo != mask->lo;
}

bool cls_rule_is_odd(enum sl_family family, const struct sl_cls_rule *r)
{
	uint8_t prefix = (uint8_t)(0xff00U >> cls_proto_len(r));

	return has_holes(family, &r->src_mask) || has_holes(family, &r->dst_mask)
			|| prefix != r->proto_mask;
}
