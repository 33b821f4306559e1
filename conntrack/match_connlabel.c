/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/events.h"
#include "conntrack/ext.h"

static bool connlabel_match(
		struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_connlabel *m = match->data;
	struct ct_entry *e = ct_of(c->p);
	const uint8_t bit = (uint8_t)(1U << (m->bit & 7));
	bool inv = (match->inv & IPT_CONNLABEL_LABEL) != 0;
	struct ct_shard *s;

	if (e == NULL)
		return inv;
	s = ct_ext_shard(c);
	if (ct_cold_peek(s, e)->labels[m->bit / 8] & bit)
		return !inv;
	if ((match->set & IPT_CONNLABEL_SET) == 0)
		return inv;
	ct_cold(s, e)->labels[m->bit / 8] |= bit;
	if (e->status & CT_CONFIRMED)
		ct_event(s, e, CT_EVENT_LABEL);
	return !inv;
}

const struct ipt_match_ops ipt_match_connlabel_ops = {
	.kind = IPT_M_CONNLABEL,
	.stateful = true, /* of a connection: its next packet is to see what this one set */
	.needs = IPT_NEEDS_CT,
	.match = connlabel_match,
};
