/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hashed: tuple space search with merged tuples.
 *
 * Problem: rules with like prefix lengths can be found by one exact look-up of the masked key, but a
 * real set has hundreds of pairs of lengths, and a look-up each.
 *
 * Idea.
 * - Lengths are rounded down to a grid (4 bits in IPv4, 16 in IPv6) and a pair takes in those up to
 *   two steps finer, so that some ten to thirty tables remain. What a table's mask does not say is
 *   verified on the rule, ranges and odd masks with it.
 * - Where more than 8 rules share a masked address pair, those with one destination port (else one
 *   source port) go to a table that hashes the port too.
 * - Tables are ordered by their best rule: a key that has a better one leaves out the rest. A filter
 *   by the first bits of both addresses says which tables can match at all.
 * - A bucket is a cache line of eight 16-bit signatures, compared at once, and eight rule numbers in
 *   the order of labels. The whole batch probes one table while the lines of the next are fetched.
 * - The hash is keyed with a random seed, chains end after 16 buckets: rules that find theirs full,
 *   and those of tables beyond the 64th, are on a linear list.
 *
 * Example. Rules 0 "10.1.1.0/24 to 10.9.0.1/32", 1 "10.1.2.0/25 to 10.9.0.0/28", 2 "any to
 * 10.9.0.1/32". Rounded down: (24,32), (24,28), (0,32). (24,28) takes in (24,32): two tables, the first
 * masks /24 and /28. Key 10.1.2.7 to 10.9.0.5: the masked pair is that of rule 1, whose bucket names it,
 * the rule matches; the other table's best rule is 2: not looked at.
 *
 * Cost: 20 to 40 cycles a table that is not ruled out. No updates: built whole.
 *
 * Sources: Srinivasan, Suri and Varghese, Packet Classification using Tuple Space Search, SIGCOMM 1999;
 * Daly and Torng, TupleMerge, ICCCN 2017. Unlike TupleMerge we merge once over the counts of the whole
 * set instead of rule by rule, split an overfull key by a port instead of by longer masks, and bound
 * chains by a list instead of a collision limit that makes more tables.
 */
#include "classifier/hashed.h"

#include "classifier/rule.h"

#include <rte_branch_prediction.h>
#include <rte_common.h>
#include <rte_prefetch.h>

#include <emmintrin.h>

/* keys that probe one table */
struct probes {
	unsigned int n;
	uint8_t key[SL_CLS_BURST];
	uint64_t hash[SL_CLS_BURST];
};

struct query {
	const struct hashed *h;
	const void *keys;
	unsigned int n;
	const uint32_t *from; /* NULL: all count */
	const struct sl_cls_verify *verify;
	uint32_t *out;
	uint64_t live[SL_CLS_BURST]; /* tables left by the filter */
};

static __rte_always_inline const uint64_t *halves(const struct query *q, unsigned int i, bool v6)
{
	if (v6)
		return ((const struct sl_cls_key6 *)q->keys)[i].half;
	return ((const struct sl_cls_key4 *)q->keys)[i].half;
}

/* picks the keys that table @t may help, and fetches their buckets */
static __rte_always_inline void prepare(
		const struct query *q, unsigned int t, struct probes *p, bool v6)
{
	const struct hashed_table *table = &q->h->table[t];

	p->n = 0;
	if (t == q->h->tables)
		return;
	for (unsigned int i = 0; i < q->n; i++) {
		uint64_t hash;

		if ((q->live[i] >> t & 1) == 0 || q->out[i] <= table->min_label)
			continue;
		hash = hashed_hash(halves(q, i, v6), table->mask, q->h->seed, v6);
		rte_prefetch0(&table->bucket[hash & table->bucket_mask]);
		p->key[p->n] = (uint8_t)i;
		p->hash[p->n++] = hash;
	}
}

/* first rule of the chain that matches and is better than @best; @best: none */
static __rte_always_inline uint32_t probe(const struct query *q, const struct hashed_table *table,
		uint64_t hash, unsigned int i, uint32_t best, bool v6)
{
	const struct hashed_bucket *b = &table->bucket[hash & table->bucket_mask];
	const __m128i tag = _mm_set1_epi16((short)hashed_tag(hash));
	uint32_t from = q->from == NULL ? 0 : q->from[i];

	for (;;) {
		__m128i tags = _mm_load_si128((const void *)b->tag);
		uint32_t m = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi16(tags, tag)) & 0x5555;

		for (; m != 0; m &= m - 1) {
			const struct sl_cls_rule *r = &q->h->rules[b->rule[__builtin_ctz(m) / 2]];

			if (r->label >= best)
				return best;
			if (r->label >= from
					&& cls_rule_match(v6 ? SL_AF_INET6 : SL_AF_INET, r, q->keys,
							i)
					&& cls_verified(r, q->verify, i))
				return r->label;
		}
		if (b->next == 0)
			return best;
		b = &q->h->overflow[b->next];
	}
}

static __rte_always_inline void search_tables(struct query *q, bool v6)
{
	struct probes probes[2];

	for (unsigned int i = 0; i < q->n; i++) {
		const uint64_t *half = halves(q, i, v6);

		q->live[i] = q->h->filter[0][hashed_filter_at(q->h, half, false, v6)]
				& q->h->filter[1][hashed_filter_at(q->h, half, true, v6)];
		q->out[i] = SL_CLS_MISS;
	}
	prepare(q, 0, &probes[0], v6);
	for (unsigned int t = 0; t < q->h->tables; t++) {
		const struct probes *p = &probes[t & 1];

		prepare(q, t + 1, &probes[(t + 1) & 1], v6);
		for (unsigned int j = 0; j < p->n; j++) {
			unsigned int i = p->key[j];

			q->out[i] = probe(q, &q->h->table[t], p->hash[j], i, q->out[i], v6);
		}
	}
}

/* the rules that fit no table, for keys that one of them could still help */
static void search_list(const struct query *q)
{
	uint32_t from[SL_CLS_BURST], found[SL_CLS_BURST];
	bool any = false;

	for (unsigned int i = 0; i < q->n; i++) {
		bool open = q->out[i] > q->h->list_min;

		from[i] = !open ? SL_CLS_MISS : q->from == NULL ? 0 : q->from[i];
		any |= open;
	}
	if (!any)
		return;
	sl_cls_linear.lookup(q->h->list, q->keys, q->n, from, q->verify, found);
	for (unsigned int i = 0; i < q->n; i++)
		q->out[i] = RTE_MIN(q->out[i], found[i]);
}

static void hashed_lookup(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out)
{
	struct query q;

	q.h = (const struct hashed *)cls;
	q.keys = keys;
	q.n = n;
	q.from = from;
	q.verify = verify;
	q.out = out;
	if (cls->family == SL_AF_INET)
		search_tables(&q, false);
	else
		search_tables(&q, true);
	if (q.h->list != NULL)
		search_list(&q);
}

static size_t hashed_estimate(const struct sl_cls_spec *spec)
{
	/* rule, half a line of a bucket, filters */
	return ((size_t)1 << 20) + (size_t)spec->n * (sizeof(struct sl_cls_rule) + 48);
}

static size_t hashed_memory(const struct sl_cls *cls)
{
	const struct hashed *h = (const struct hashed *)cls;

	return sizeof(*h) + h->arena.used + (h->list == NULL ? 0 : sl_cls_linear.memory(h->list));
}

const struct sl_cls_ops sl_cls_hashed = {
	.name = "hashed",
	.estimate = hashed_estimate,
	.build = hashed_build,
	.lookup = hashed_lookup,
	.free = hashed_free,
	.memory = hashed_memory,
};
