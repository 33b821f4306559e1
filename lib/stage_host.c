/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of the input hook: the router as a host, with nothing listening. */
#include "lib/builtin.h"
#include "lib/ip.h"

static unsigned int host_process(struct sl_worker *w, __rte_unused void *priv,
		struct rte_mbuf **pkts, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (sl_pkt(pkts[i])->family == SL_AF_INET)
			sl_host4_rx(w, pkts[i]);
		else
			sl_host6_rx(w, pkts[i]);
	}
	return 0;
}

const struct sl_stage_ops sl_stage_host = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "host",
	.help = "packets to the router's own addresses: echo, errors, resets",
	.hooks = SL_HOOK_BIT(SL_HOOK_INPUT),
	.order = SL_ORDER_LAST,
	.process = host_process,
};
