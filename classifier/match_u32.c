/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/match_ext.h"

/* 32 bits at @off from the IP header; false if they are not all there */
static bool read_word(const struct ipt_ctx *c, uint64_t off, uint32_t *value)
{
	rte_be32_t be;

	off += c->p->l3_off;
	if (off > UINT32_MAX || !sl_pkt_copy(c->m, (uint32_t)off, sizeof(be), &be))
		return false;
	*value = rte_be_to_cpu_32(be);
	return true;
}

/* the value that one test is about; false if it lies outside of the packet */
static bool compute(const struct ipt_ctx *c, const struct ipt_u32_test *test, uint32_t *value)
{
	uint64_t base = 0;

	if (!read_word(c, test->steps[0].number, value))
		return false;
	for (unsigned int i = 1; i < test->n_steps; i++) {
		uint32_t number = test->steps[i].number;

		switch ((enum ipt_u32_op)test->steps[i].op) {
		case IPT_U32_AND:
			*value &= number;
			break;
		case IPT_U32_LEFT: /* by 32 and more: as x86 shifts */
			*value <<= number & 31;
			break;
		case IPT_U32_RIGHT:
			*value >>= number & 31;
			break;
		case IPT_U32_AT: /* both fit into 64 bits: ten steps of 32 */
			base += *value;
			if (!read_word(c, base + number, value))
				return false;
			break;
		}
	}
	return true;
}

static bool test_holds(const struct ipt_ctx *c, const struct ipt_u32_test *test)
{
	uint32_t value;

	if (!compute(c, test, &value))
		return false;
	for (unsigned int i = 0; i < test->n_ranges; i++) {
		if (value >= test->ranges[i].lo && value <= test->ranges[i].hi)
			return true;
	}
	return false;
}

static bool u32_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_u32 *u = match->data;
	bool inv = match->inv & IPT_U32_U32;

	for (unsigned int i = 0; i < u->n_tests; i++) {
		if (!test_holds(c, &u->tests[i]))
			return inv;
	}
	return !inv;
}

const struct ipt_match_ops ipt_match_u32_ops = { .kind = IPT_M_U32, .match = u32_match };
