/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/early_drop.h"

#include "conntrack/index.h"
#include "conntrack/proto.h"

#include <rte_branch_prediction.h>

#define BUCKETS 8
#define SWEEP_PART 64 /* entries a turn */
#define SWEEP_REST_MS 1000 /* from the beginning of one to that of the next */

/* those of a bucket, which are fetched together */
static unsigned int drop_of_bucket(struct ct_shard *s, const struct ct_bucket *b)
{
	unsigned int dropped = 0;

	for (unsigned int i = 0; i < CT_WAYS; i++)
		if (b->tag[i] != 0)
			rte_prefetch0(&s->entries[b->ref[i] >> 2]);
	for (unsigned int i = 0; i < CT_WAYS; i++) {
		struct ct_entry *e = &s->entries[b->ref[i] >> 2];

		/* an entry that is not confirmed belongs to a packet under way */
		if (b->tag[i] == 0 || (e->status & CT_CONFIRMED) == 0)
			continue;
		if (ct_is_expired(e, s->now_ms))
			s->stats.expired++;
		else if ((e->status & CT_ASSURED) == 0)
			s->stats.early_drop++;
		else
			continue;
		ct_kill(s, e);
		dropped++;
	}
	return dropped;
}

bool ct_early_drop(struct ct_shard *s, uint64_t hash)
{
	const struct ct_index *x = s->index;
	uint32_t at = ct_where(x, (uint32_t)hash);

	for (unsigned int i = 0; i < BUCKETS; i++) {
		if (drop_of_bucket(s, &x->buckets[at]) > 0)
			return true;
		at = at + 1 == x->n ? 0 : at + 1;
	}
	if (s->sweep_at == CT_NONE && (int32_t)(s->now_ms - s->sweep_ms) >= 0) {
		s->sweep_ms = s->now_ms + SWEEP_REST_MS;
		atomic_fetch_add_explicit(&s->table->sweeps, 1, memory_order_relaxed);
	}
	return false;
}

static bool sweep_one(struct ct_shard *s, struct ct_entry *e)
{
	if ((e->status & (CT_CONFIRMED | CT_DYING)) != CT_CONFIRMED)
		return false;
	if (ct_is_expired(e, s->now_ms))
		s->stats.expired++;
	else if ((e->status & CT_ASSURED) == 0 || ct_proto_can_early_drop(e))
		s->stats.early_drop++;
	else
		return false;
	ct_kill(s, e);
	return true;
}

void ct_early_sweep(struct ct_shard *s)
{
	uint32_t sweeps = atomic_load_explicit(&s->table->sweeps, memory_order_relaxed);
	uint32_t count, most, end;

	if (likely(s->sweep_at == CT_NONE)) {
		if (likely(sweeps == s->sweep_seen))
			return;
		s->sweep_at = 0;
	}
	s->sweep_seen = sweeps;
	count = ct_table_count(s->table);
	most = s->max / 100 * 95; /* the kernel's arithmetic: below 100 there is no sweep */
	if (most == 0 || count < most) {
		s->sweep_at = CT_NONE;
		return;
	}
	end = RTE_MIN(s->sweep_at + SWEEP_PART, s->high);
	for (; s->sweep_at < end && count >= most; s->sweep_at++)
		count -= sweep_one(s, &s->entries[s->sweep_at]);
	if (s->sweep_at == s->high)
		s->sweep_at = CT_NONE;
}
