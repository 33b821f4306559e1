/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The front of a base chain: leading rules that accept, drop or have a target for whole batches, by
 * the state of the connection and by the ports alone. Most rulesets begin so,
 *
 *   -i lo -j ACCEPT
 *   -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
 *   -m conntrack --ctstate INVALID -j DROP
 *
 * and most packets go no further. Such a rule is three masks. A whole batch is put through them
 * before anything else is known of it; engines hold the rules behind them.
 */
#include "classifier/chain.h"
#include "classifier/ipt_match_ct.h"

#include <errno.h>
#include <stdlib.h>

#define FRONT_MAX 8

static bool is_any(const struct sl_addr *mask, bool inv)
{
	return (mask->q[0] | mask->q[1]) == 0 && !inv;
}

static bool core_is_ports_alone(const struct chain_rule *r)
{
	return is_any(&r->src_mask, r->src_inv) && is_any(&r->dst_mask, r->dst_inv) && r->proto == 0
			&& !r->walk && r->frag == IPT_FRAG_ANY;
}

/* Return: whether the match is a set of states, which is taken out of @states */
static bool take_states(const struct ipt_match *m, uint8_t *states)
{
	const struct ipt_m_conntrack *ct = m->data;
	const struct ipt_m_state *st = m->data;
	uint8_t is;

	if (m->kind == IPT_M_COMMENT)
		return true;
	if (m->kind == IPT_M_STATE)
		is = st->states;
	else if (m->kind == IPT_M_CONNTRACK && m->set == IPT_CONNTRACK_STATE)
		is = ct->states;
	else
		return false;
	if (is & (IPT_CT_SNAT | IPT_CT_DNAT))
		return false;
	*states &= m->inv != 0 ? (uint8_t)~is : is;
	return true;
}

static bool fill(const struct chain_rule *r, struct chain_front *f)
{
	*f = (struct chain_front){ .in = r->in, .out = r->out, .states = UINT8_MAX };
	f->verdict = r->verdict;
	if (r->verdict == IPT_TARGET ? r->target->run_bulk == NULL
				     : r->verdict != IPT_ACCEPT && r->verdict != IPT_DROP)
		return false;
	if (!core_is_ports_alone(r))
		return false;
	for (uint16_t i = 0; i < r->n_matches; i++)
		if (!take_states(r->matches[i].match, &f->states))
			return false;
	return true;
}

int chain_front(struct chain *c)
{
	c->front = calloc(FRONT_MAX, sizeof(*c->front));
	if (c->front == NULL)
		return -ENOMEM;
	while (c->n_front < RTE_MIN(c->n, (uint32_t)FRONT_MAX)
			&& fill(&c->rules[c->n_front], &c->front[c->n_front]))
		c->n_front++;
	return 0;
}
