/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * IPv4 fragments for the router itself are joined before its input rules see them, as
 * ip_local_deliver() does. IPv6 fragments are joined behind them (lib/host6.c): there the kernel
 * treats the fragment header as one of the protocols that a host receives.
 */
#include "lib/builtin.h"
#include "lib/ip.h"
#include "lib/worker.h"

static unsigned int reassembly_process(struct sl_worker *w, __rte_unused void *priv,
		struct rte_mbuf **pkts, unsigned int n)
{
	unsigned int survivors = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		const struct sl_pkt *p = sl_pkt(m);

		if (unlikely(p->flags & SL_PKT_FRAG && p->family == SL_AF_INET))
			m = sl_reasm_rx(w, w->reasm, m);
		if (likely(m != NULL))
			pkts[survivors++] = m;
	}
	return survivors;
}

const struct sl_stage_ops sl_stage_reassembly = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "reassembly",
	.help = "joins IPv4 fragments for the router itself",
	.hooks = SL_HOOK_BIT(SL_HOOK_INPUT),
	.order = SL_ORDER_FIRST,
	.process = reassembly_process,
};
