/* SPDX-License-Identifier: BSD-3-Clause */
/* connmark, and CONNMARK, which copies between the mark of a packet and that of its connection. */
#include "conntrack/events.h"
#include "conntrack/ext.h"

static bool connmark_match(
		struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ct_entry *e = ct_ext_entry(c->p);
	const struct ipt_m_mark *m = match->data;

	if (e == NULL)
		return false;
	return ((e->mark & m->mark.mask) == m->mark.value) != (match->inv != 0);
}

static uint32_t shift(const struct ipt_target *target, uint32_t mark)
{
	const struct ipt_t_connmark *t = target->data;

	if (target->set & IPT_CONNMARK_LEFT)
		return mark << t->shift_bits;
	return target->set & IPT_CONNMARK_RIGHT ? mark >> t->shift_bits : mark;
}

static int connmark_run(
		struct ipt_ctx *c, const struct ipt_target *target, __rte_unused void *state)
{
	const struct ipt_t_connmark *t = target->data;
	const struct ct_entry *seen = ct_ext_entry(c->p);
	struct ct_entry *e = ct_of(c->p);
	uint32_t mark;

	if (seen == NULL)
		return IPT_CONTINUE;
	if (target->set & IPT_CONNMARK_RESTORE) {
		mark = shift(target, seen->mark & t->xmark.mask);
		c->p->mark = (c->p->mark & ~t->nfmask) ^ mark;
		return IPT_CONTINUE;
	}
	/* what a CT target asked for is shared by all its packets: it has no mark of its own */
	if (e == NULL)
		return IPT_CONTINUE;
	if (target->set & IPT_CONNMARK_SAVE)
		mark = (e->mark & ~t->xmark.mask) ^ shift(target, c->p->mark & t->nfmask);
	else
		mark = shift(target, (e->mark & ~t->xmark.mask) ^ t->xmark.value);
	if (e->mark == mark)
		return IPT_CONTINUE;
	e->mark = mark;
	if (e->status & CT_CONFIRMED)
		ct_event(ct_ext_shard(c), e, CT_EVENT_MARK);
	return IPT_CONTINUE;
}

const struct ipt_match_ops ipt_match_connmark_ops = {
	.kind = IPT_M_CONNMARK,
	.needs = IPT_NEEDS_CT,
	.match = connmark_match,
};
const struct ipt_target_ops ipt_target_connmark_ops = {
	.kind = IPT_T_CONNMARK,
	.needs = IPT_NEEDS_CT,
	.run = connmark_run,
};
