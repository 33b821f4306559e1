/* SPDX-License-Identifier: BSD-3-Clause */
/* The first stage of every received packet: headers are read here, once. */
#include "lib/builtin.h"
#include "lib/ip.h"

static unsigned int parse_process(struct sl_worker *w, __rte_unused void *priv,
		struct rte_mbuf **pkts, unsigned int n)
{
	return sl_parse_batch(w, pkts, n);
}

const struct sl_stage_ops sl_stage_parse = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "parse",
	.help = "link and IP headers, with the kernel's checks",
	.hooks = SL_HOOK_BIT(SL_HOOK_INGRESS),
	.order = SL_ORDER_FIRST,
	.process = parse_process,
};
