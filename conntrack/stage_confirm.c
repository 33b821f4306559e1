/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last thing in INPUT and POSTROUTING: a packet that made a connection has passed all rules, so
 * the connection stays. What was dropped on the way leaves nothing behind (ct_tick). Before that
 * helpers read what it says, and sequence numbers follow what they have written.
 */
#include "conntrack/help.h"
#include "conntrack/related.h"
#include "conntrack/seqadj.h"
#include "conntrack/stage.h"
#include "lib/worker.h"

#include <errno.h>
#include <stdlib.h>

struct confirm {
	struct ct_table *table;
	struct ct_conf conf;
};

static int confirm_create(struct sl_router *r, const struct sl_stage_conf *conf, void **priv)
{
	const struct ct_stage_conf *c = (const void *)conf;
	struct confirm *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	s->table = ct_table_get(r, &c->ct);
	if (s->table == NULL) {
		free(s);
		return -ENOMEM;
	}
	s->conf = c->ct;
	*priv = s;
	return 0;
}

static void confirm_destroy(void *priv)
{
	free(priv);
}

/* Return: whether the packet goes on */
static bool help(struct ct_pkt *c, struct ct_entry *e)
{
	/* what was NATed before goes on to be, whatever its connection's helper says now */
	bool adjusted = e->status & CT_SEQ_ADJUST;

	if (ct_is_icmp(c->p) && e->orig.proto != c->p->proto)
		return true;
	if (e->helper != 0 && !ct_help(c, e))
		return false;
	return !adjusted || ct_seqadj_packet(c, e);
}

/* Return: whether the packet goes on: not if another connection has what would be the reply */
static bool confirm_unique(struct ct_shard *s, struct sl_pkt *p, struct ct_entry *e)
{
	if (!ct_reply_clashes(s, e)) {
		ct_confirm(s, e);
		return true;
	}
	p->ct = NULL;
	ct_kill(s, e);
	s->stats.insert_failed++;
	s->stats.drop++;
	return false;
}

static unsigned int confirm_process(
		struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n)
{
	const struct confirm *c = priv;
	struct ct_shard *s = c->table->shard[w->id];
	unsigned int survivors = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct sl_pkt *p = sl_pkt(pkts[i]);
		struct ct_entry *e = ct_of(p);

		pkts[survivors++] = pkts[i];
		if (e == NULL)
			continue;
		if (unlikely(e->helper != 0 || e->status & CT_SEQ_ADJUST)) {
			struct ct_pkt pkt = {
				.w = w, .s = s, .conf = &c->conf, .m = pkts[i], .p = sl_pkt(pkts[i])
			};

			if (!help(&pkt, e)) {
				sl_drop(w, pkts[i], SL_DROP_CONNTRACK);
				survivors--;
				continue;
			}
		}
		if (likely(e->status & CT_CONFIRMED) || ct_info_dir(p->ct_info) != CT_ORIGINAL
				|| e->status & CT_UNFOUND)
			continue;
		if (likely(!s->split_zones)) {
			ct_confirm(s, e);
		} else if (!confirm_unique(s, p, e)) {
			sl_drop(w, pkts[i], SL_DROP_CONNTRACK);
			survivors--;
		}
	}
	return survivors;
}

const struct sl_stage_ops sl_stage_confirm = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "confirm",
	.help = "connections whose first packet has passed all rules stay",
	.hooks = SL_HOOK_BIT(SL_HOOK_INPUT) | SL_HOOK_BIT(SL_HOOK_POSTROUTING),
	.order = SL_ORDER_CONFIRM,
	.create = confirm_create,
	.process = confirm_process,
	.destroy = confirm_destroy,
};
