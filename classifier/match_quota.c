/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/match_ext.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct quota {
	_Atomic uint64_t bytes; /* that are left */
};

static int quota_create(
		__rte_unused struct ipt_env *env, const struct ipt_match *match, void **state)
{
	const struct ipt_m_quota *q = match->data;
	struct quota *left = calloc(1, sizeof(*left));

	if (left == NULL)
		return -ENOMEM;
	atomic_init(&left->bytes, q->bytes);
	*state = left;
	return 0;
}

static bool quota_match(struct ipt_ctx *c, const struct ipt_match *match, void *state)
{
	struct quota *left = state;
	uint64_t was = atomic_load_explicit(&left->bytes, memory_order_relaxed), will;
	uint64_t len = c->m->pkt_len - c->p->l3_off;

	/* what does not fit ends the quota: nothing smaller slips through behind it */
	do {
		will = was >= len ? was - len : 0;
	} while (will != was
			&& !atomic_compare_exchange_weak_explicit(&left->bytes, &was, will,
					memory_order_relaxed, memory_order_relaxed));
	return (was >= len) != (match->inv != 0);
}

const struct ipt_match_ops ipt_match_quota_ops = {
	.kind = IPT_M_QUOTA,
	.stateful = true,
	.create = quota_create,
	.destroy = free,
	.match = quota_match,
};
