/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel does to a packet that it forwards, before the FORWARD chains: TTL, MTU, options. */
#include "lib/builtin.h"
#include "lib/ip.h"

static unsigned int forward_process(struct sl_worker *w, __rte_unused void *priv,
		struct rte_mbuf **pkts, unsigned int n)
{
	return sl_forward_batch(w, pkts, n);
}

const struct sl_stage_ops sl_stage_forward = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "forward",
	.help = "TTL, MTU, IP options, redirects",
	.hooks = SL_HOOK_BIT(SL_HOOK_FORWARD),
	.order = SL_ORDER_FIRST,
	.process = forward_process,
};
