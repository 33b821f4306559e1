/* SPDX-License-Identifier: BSD-3-Clause */
/* -m set --match-set NAME src,dst, with --return-nomatch and the tests of counters. */
#include "classifier/match_set.h"

#include "classifier/set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct set_state {
	struct set_slot *slot;
	struct sl_set_ask ask;
	bool inv;
};

static enum sl_set_op op_of(
		const struct ipt_match *match, uint32_t eq, uint32_t less, uint32_t greater)
{
	if (match->set & eq)
		return match->inv & eq ? SL_SET_OP_NE : SL_SET_OP_EQ;
	if (match->set & less)
		return SL_SET_OP_LT;
	return match->set & greater ? SL_SET_OP_GT : SL_SET_OP_NONE;
}

static uint32_t flags_of(const struct ipt_match *match)
{
	return (match->set & IPT_SET_RETURN_NOMATCH ? SL_SET_RETURN_NOMATCH : 0)
			| (match->set & IPT_SET_UPDATE_COUNTERS ? SL_SET_NO_COUNTERS : 0)
			| (match->set & IPT_SET_UPDATE_SUBCOUNTERS ? SL_SET_NO_SUBCOUNTERS : 0);
}

static int set_create(struct ipt_env *env, const struct ipt_match *match, void **state)
{
	const struct ipt_m_set *m = match->data;
	struct set_state *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	s->slot = sl_set_slot(env->sets, m->ref.name, false);
	if (s->slot == NULL) {
		snprintf(env->err, env->err_size, "there is no set %s", m->ref.name);
		free(s);
		return -ENOENT;
	}
	s->ask = (struct sl_set_ask){
		.n = m->ref.n,
		.src = m->ref.src,
		.flags = flags_of(match),
		.packets = m->packets,
		.bytes = m->bytes,
		.packets_op = (uint8_t)op_of(
				match, IPT_SET_PACKETS_EQ, IPT_SET_PACKETS_LT, IPT_SET_PACKETS_GT),
		.bytes_op = (uint8_t)op_of(
				match, IPT_SET_BYTES_EQ, IPT_SET_BYTES_LT, IPT_SET_BYTES_GT),
	};
	s->inv = (match->inv & IPT_SET_MATCH_SET) != 0;
	*state = s;
	return 0;
}

static void set_destroy(void *state)
{
	struct set_state *s = state;

	sl_set_put(s->slot, false);
	free(s);
}

static bool set_is_stateful(const void *state)
{
	return sl_set_is_stateful(((const struct set_state *)state)->slot);
}

static bool set_match(struct ipt_ctx *c, __rte_unused const struct ipt_match *match, void *state)
{
	const struct set_state *s = state;

	return sl_set_match(s->slot, c, &s->ask, NULL) != s->inv;
}

const struct ipt_match_ops ipt_match_set_ops = {
	.kind = IPT_M_SET,
	.create = set_create,
	.destroy = set_destroy,
	.is_stateful = set_is_stateful,
	.match = set_match,
};
