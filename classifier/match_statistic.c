/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/match_ext.h"
#include "lib/worker.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

struct nth {
	_Atomic uint32_t count; /* packets since the last one that was counted out, below every */
};

static int statistic_create(
		__rte_unused struct ipt_env *env, const struct ipt_match *match, void **state)
{
	const struct ipt_m_statistic *s = match->data;
	struct nth *n;

	if (!s->nth)
		return 0;
	n = calloc(1, sizeof(*n));
	if (n == NULL)
		return -ENOMEM;
	atomic_init(&n->count, s->every - 1 - s->packet);
	*state = n;
	return 0;
}

static bool is_nth(struct nth *n, uint32_t every)
{
	uint32_t was = atomic_load_explicit(&n->count, memory_order_relaxed), will;

	do {
		will = was == every - 1 ? 0 : was + 1;
	} while (!atomic_compare_exchange_weak_explicit(
			&n->count, &was, will, memory_order_relaxed, memory_order_relaxed));
	return will == 0;
}

static bool statistic_match(struct ipt_ctx *c, const struct ipt_match *match, void *state)
{
	const struct ipt_m_statistic *s = match->data;
	bool hit = s->nth ? is_nth(state, s->every)
			  : (sl_worker_random(c->w) & INT32_MAX) < s->probability;

	return hit != (match->inv != 0);
}

const struct ipt_match_ops ipt_match_statistic_ops = {
	.kind = IPT_M_STATISTIC,
	.stateful = true,
	.create = statistic_create,
	.destroy = free,
	.match = statistic_match,
};
