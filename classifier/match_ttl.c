/* SPDX-License-Identifier: BSD-3-Clause */
/* ttl and hl */
#include "classifier/ip_field.h"
#include "classifier/match_ext.h"

static bool ttl_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_ttl *t = match->data;
	uint8_t ttl = ipt_ttl(c->m);

	if (match->set & IPT_TTL_LT)
		return ttl < t->ttl;
	if (match->set & IPT_TTL_GT)
		return ttl > t->ttl;
	return (ttl == t->ttl) != !!(match->inv & IPT_TTL_EQ);
}

const struct ipt_match_ops ipt_match_ttl_ops = { .kind = IPT_M_TTL, .match = ttl_match };
const struct ipt_match_ops ipt_match_hl_ops = { .kind = IPT_M_HL, .match = ttl_match };
