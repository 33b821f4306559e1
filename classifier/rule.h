/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the engines share about rules: whether a set may be built, the plain test of one rule against
 * one key, and the prefix that encloses a mask.
 */
#pragma once

#include "classifier/classifier.h"

/* Return: 0, -EINVAL; see build() of struct sl_cls_ops. */
int cls_rule_check(const struct sl_cls_rule *rule);
int cls_spec_check(const struct sl_cls_spec *spec);

static inline bool cls_addr_match(const struct sl_cls_addr *key, const struct sl_cls_addr *value,
		const struct sl_cls_addr *mask)
{
	return (((key->hi ^ value->hi) & mask->hi) | ((key->lo ^ value->lo) & mask->lo)) == 0;
}

/* the part of the box that both families have */
static inline bool cls_service_match(const struct sl_cls_rule *r, uint16_t sport, uint16_t dport,
		uint16_t proto, uint16_t aux)
{
	return sport >= r->sport_lo && sport <= r->sport_hi && dport >= r->dport_lo
			&& dport <= r->dport_hi && aux >= r->aux_lo && aux <= r->aux_hi
			&& ((proto ^ r->proto) & r->proto_mask) == 0;
}

static inline bool cls_rule_match4(const struct sl_cls_rule *r, const struct sl_cls_key4 *k)
{
	return ((k->src ^ r->src.lo) & r->src_mask.lo) == 0
			&& ((k->dst ^ r->dst.lo) & r->dst_mask.lo) == 0
			&& cls_service_match(r, k->sport, k->dport, k->proto, k->aux);
}

static inline bool cls_rule_match6(const struct sl_cls_rule *r, const struct sl_cls_key6 *k)
{
	return cls_addr_match(&k->src, &r->src, &r->src_mask)
			&& cls_addr_match(&k->dst, &r->dst, &r->dst_mask)
			&& cls_service_match(r, k->sport, k->dport, k->proto, k->aux);
}

/* key @i of an array whose family only the set knows */
static inline bool cls_rule_match(enum sl_family family, const struct sl_cls_rule *r,
		const void *keys, unsigned int i)
{
	if (family == SL_AF_INET)
		return cls_rule_match4(r, (const struct sl_cls_key4 *)keys + i);
	return cls_rule_match6(r, (const struct sl_cls_key6 *)keys + i);
}

/* the caller's word on a rule whose box matched */
static inline bool cls_verified(
		const struct sl_cls_rule *r, const struct sl_cls_verify *verify, unsigned int i)
{
	return !r->verify || verify == NULL || verify->match(verify->arg, r->label, i);
}

/* length of the longest prefix that holds all that (value, mask) matches: the mask's leading ones */
unsigned int cls_prefix_len(enum sl_family family, const struct sl_cls_addr *mask);

/* whether the box of prefixes and ranges around the rule holds more than the rule */
bool cls_rule_is_odd(enum sl_family family, const struct sl_cls_rule *r);

static inline unsigned int cls_proto_len(const struct sl_cls_rule *r)
{
	uint8_t holes = ~r->proto_mask;

	return holes == 0 ? 8 : (unsigned int)__builtin_clz((unsigned int)holes) - 24;
}
