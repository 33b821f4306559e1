/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pass of Hyperscan over a packet, and what follows from it for each rule.
 *
 * Hyperscan says where occurrences end. A pattern that may lie anywhere from the start of the pass on
 * is reported once, where it ends first: if that is too late for its rule, so are all others. One
 * that has to lie further behind is reported each time, and bytes can be chosen so that this is at
 * every byte. So a pass that brings more reports than FLOOD above its patterns is given up, and what
 * the packet is asked for after that is searched one by one.
 */
#include "classifier/chain.h"
#include "classifier/patterns_build.h"
#include "lib/worker.h"

#define FLOOD 256

struct pass {
	const struct ipt_patterns *p;
	uint32_t from;
	uint32_t left; /* reports before it is given up */
	uint64_t *found;
};

static int report(unsigned int bit, __rte_unused unsigned long long start, unsigned long long stop,
		__rte_unused unsigned int flags, void *arg)
{
	struct pass *pass = arg;
	const struct needle *n = &pass->p->needles[bit - PATTERNS_FIRST_BIT];
	uint32_t end = pass->from + (uint32_t)stop;

	if (n->len == 0 || (end - n->len >= n->from && end <= n->to))
		pass->found[bit / 64] |= UINT64_C(1) << bit % 64;
	return --pass->left == 0;
}

/* bytes of a frame in a row; NULL: they are not there */
static const void *text_of(
		const struct pattern_worker *w, struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	const void *text = sl_pkt_at(m, off, len);

	if (text != NULL)
		return text;
	return sl_pkt_copy(m, off, len, w->copy) ? w->copy : NULL;
}

/* Return: whether it came to its end */
static bool make_pass(const struct ipt_ctx *c, const struct pattern_pass *of, struct pass *pass)
{
	const struct pattern_worker *w = &c->patterns->worker[c->w->id];
	uint32_t off, len = ipt_patterns_window(c, of->from, of->to, &off);
	const void *text;

	if (len == 0)
		return true;
	text = text_of(w, c->m, off, len);
	return text != NULL
			&& hs_scan(of->db, text, len, 0, w->scratch, report, pass) == HS_SUCCESS;
}

void ipt_patterns_search(const struct ipt_ctx *c, const struct ipt_pattern *pattern)
{
	const struct ipt_patterns *p = c->patterns;
	const struct pattern_pass *of = &p->passes[pattern->pass];
	struct pass pass = { p, of->from, of->n + FLOOD, c->found };

	if (c->found[0] == 0)
		memset(c->found, 0, p->words * sizeof(*c->found));
	if (make_pass(c, of, &pass))
		c->found[0] |= UINT64_C(1) << pattern->pass;
	else
		c->found[0] |= UINT64_C(1) << (pattern->pass + IPT_PASSES_MAX);
}

/* the first occurrence is enough */
static int stop(__rte_unused unsigned int id, __rte_unused unsigned long long start,
		__rte_unused unsigned long long end, __rte_unused unsigned int flags,
		__rte_unused void *arg)
{
	return 1;
}

bool ipt_patterns_scan(
		const struct ipt_ctx *c, const struct hs_database *db, uint32_t off, uint32_t len)
{
	const struct pattern_worker *w = &c->patterns->worker[c->w->id];
	const void *text = text_of(w, c->m, off, len);

	return text != NULL
			&& hs_scan(db, text, len, 0, w->scratch, stop, NULL) == HS_SCAN_TERMINATED;
}

uint64_t *ipt_patterns_begin(
		const struct ipt_patterns *p, uint32_t worker, unsigned int n, uint32_t *stride)
{
	uint64_t *found = p->worker[worker].found;

	for (unsigned int i = 0; i < n; i++)
		found[i * p->words] = 0;
	*stride = p->words;
	return found;
}

uint32_t ipt_patterns_next(
		const struct ipt_patterns *p, const uint64_t *found, const struct chain_rule *r)
{
	uint32_t behind = p->needles[r->needle - PATTERNS_FIRST_BIT].pos + 1;
	uint32_t word = r->needle / 64;
	uint64_t left = found[word] >> r->needle % 64 << r->needle % 64;

	while (left == 0) {
		if (++word == p->words || word * 64 >= r->run_bits)
			return r->run_end;
		left = found[word];
	}
	word = word * 64 + (uint32_t)__builtin_ctzll(left);
	if (word >= r->run_bits)
		return r->run_end;
	/* it may be another pattern of the same rule */
	return RTE_MAX(p->needles[word - PATTERNS_FIRST_BIT].pos, behind);
}
