/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Behind ingress: every packet goes to the worker that owns its flow, unless the device has spread
 * the flows itself.
 */
#include "lib/builtin.h"
#include "lib/owner.h"
#include "lib/router.h"

static unsigned int handoff_process(struct sl_worker *w, __rte_unused void *priv,
		struct rte_mbuf **pkts, unsigned int n)
{
	unsigned int n_workers = w->r->n_workers;
	sl_steer_fn steer = atomic_load_explicit(&w->r->steer, memory_order_acquire);
	unsigned int survivors = 0;

	if (n_workers == 1)
		return n;
	for (unsigned int i = 0; i < n; i++) {
		struct sl_pkt *p = sl_pkt(pkts[i]);
		uint16_t owner = w->id;

		/* a device's hash knows nothing of quotes, and of fragments it may know ports */
		if (!w->r->ports[p->in_port].link->spreads || (p->flags & SL_PKT_PORTS) == 0
				|| (p->flags & SL_PKT_FRAG) != 0)
			owner = sl_owner(pkts[i], n_workers);
		if (unlikely(steer != NULL))
			owner = steer(w->r, pkts[i], owner);
		if (owner == w->id)
			pkts[survivors++] = pkts[i];
		else
			sl_handoff(w, pkts[i], owner, SL_HANDOFF_FLOW);
	}
	return survivors;
}

const struct sl_stage_ops sl_stage_handoff = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "handoff",
	.help = "flows to the workers that own them",
	.hooks = SL_HOOK_BIT(SL_HOOK_INGRESS),
	.order = SL_ORDER_LAST,
	.process = handoff_process,
};
