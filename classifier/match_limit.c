/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * limit: one bucket of credit for each rule, filled by 128 credits a jiffy.
 *
 * `--limit 10/s --limit-burst 5`: avg is 1000 (of 1/10000 s), a packet costs 1000 * 250 * 128 / 10000
 * = 3200 credits, which 25 jiffies bring; the bucket holds 16000 and is full at the start.
 *
 * Credit and the jiffy of the last packet lie in one word, so that any number of workers share a
 * bucket by compare and swap. Clocks of workers may be some jiffies apart; who is behind brings no
 * credit. The jiffy has 32 bits, as the kernel's increase has: after 2^32 jiffies (199 days) without
 * a packet it starts anew.
 */
#include "classifier/jiffies.h"
#include "classifier/match_ext.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define SCALE 10000U /* of avg, in a second */
#define CREDITS_PER_JIFFY 128U

struct bucket {
	uint32_t cost; /* [const] */
	uint32_t cap; /* [const] */
	_Atomic uint64_t fill; /* credit << 32 | jiffy */
};

static uint32_t to_credits(uint32_t avg)
{
	/* divide first where the product does not fit, as the kernel does */
	if (avg > UINT32_MAX / (IPT_HZ * CREDITS_PER_JIFFY))
		return avg / SCALE * IPT_HZ * CREDITS_PER_JIFFY;
	return avg * IPT_HZ * CREDITS_PER_JIFFY / SCALE;
}

static int limit_create(struct ipt_env *env, const struct ipt_match *match, void **state)
{
	const struct ipt_m_limit *l = match->data;
	struct bucket *b;

	if (l->burst == 0 || to_credits(l->avg * l->burst) < to_credits(l->avg)) {
		snprintf(env->err, env->err_size, "limit: this rate and burst overflow, try lower");
		return -ERANGE;
	}
	b = calloc(1, sizeof(*b));
	if (b == NULL)
		return -ENOMEM;
	b->cost = to_credits(l->avg);
	b->cap = to_credits(l->avg * l->burst);
	atomic_init(&b->fill, (uint64_t)b->cap << 32);
	*state = b;
	return 0;
}

/* credits since @then; less than a second in the future is a clock behind another */
static uint64_t earned(uint32_t now, uint32_t then)
{
	uint32_t delta = now - then;

	return delta > UINT32_MAX - IPT_HZ ? 0 : (uint64_t)delta * CREDITS_PER_JIFFY;
}

static bool limit_match(struct ipt_ctx *c, __rte_unused const struct ipt_match *match, void *state)
{
	struct bucket *b = state;
	uint32_t now = (uint32_t)ipt_jiffies(c->w);
	uint64_t was = atomic_load_explicit(&b->fill, memory_order_relaxed);
	uint64_t credit, will;
	bool holds;

	do {
		uint64_t more = earned(now, (uint32_t)was);

		credit = RTE_MIN((was >> 32) + more, (uint64_t)b->cap);
		holds = credit >= b->cost;
		if (holds)
			credit -= b->cost;
		will = credit << 32 | (more == 0 ? (uint32_t)was : now);
		if (will == was)
			break;
	} while (!atomic_compare_exchange_weak_explicit(
			&b->fill, &was, will, memory_order_relaxed, memory_order_relaxed));
	return holds;
}

const struct ipt_match_ops ipt_match_limit_ops = {
	.kind = IPT_M_LIMIT,
	.stateful = true,
	.create = limit_create,
	.destroy = free,
	.match = limit_match,
};
