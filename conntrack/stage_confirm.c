/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last thing in INPUT and POSTROUTING: a packet that made a connection has passed all rules, so
 * the connection stays. What was dropped on the way leaves nothing behind (ct_tick).
 */
#include "conntrack/stage.h"
#include "conntrack/table.h"
#include "lib/worker.h"

#include <errno.h>
#include <stdlib.h>

struct confirm {
	struct ct_table *table;
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
	*priv = s;
	return 0;
}

static void confirm_destroy(void *priv)
{
	free(priv);
}

static unsigned int confirm_process(
		struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n)
{
	const struct confirm *c = priv;
	struct ct_shard *s = c->table->shard[w->id];

	for (unsigned int i = 0; i < n; i++) {
		const struct sl_pkt *p = sl_pkt(pkts[i]);
		struct ct_entry *e = ct_of(p);

		if (e == NULL || likely(e->status & CT_CONFIRMED)
				|| ct_info_dir(p->ct_info) != CT_ORIGINAL || e->status & CT_UNFOUND)
			continue;
		ct_confirm(s, e);
	}
	return n;
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
