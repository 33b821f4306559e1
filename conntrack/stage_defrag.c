/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragments become datagrams before any rule sees them. The neighbour stage cuts them again, to the
 * fragments that came in. Fragments come to the worker of their addresses; with its ports known the
 * datagram goes to its owner.
 */
#include "conntrack/stage.h"
#include "lib/ip.h"
#include "lib/owner.h"
#include "lib/router.h"

#include <errno.h>
#include <stdlib.h>

struct defrag {
	bool family[IPT_FAMILY_NB];
	uint32_t time6_s;
};

static int defrag_create(struct sl_router *r, const struct sl_stage_conf *conf, void **priv)
{
	const struct ct_stage_conf *c = (const void *)conf;
	struct defrag *s;
	int ret = sl_router_join_transit(r);

	if (ret < 0)
		return ret;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return -ENOMEM;
	memcpy(s->family, c->family, sizeof(s->family));
	s->time6_s = c->ct.frag6_s;
	*priv = s;
	return 0;
}

static void defrag_destroy(void *priv)
{
	free(priv);
}

/* Return: the datagram, if it is whole and this worker's */
static struct rte_mbuf *join(struct sl_worker *w, const struct defrag *s, struct rte_mbuf *m)
{
	struct sl_reasm *q = atomic_load_explicit(&w->transit, memory_order_relaxed);
	sl_steer_fn steer;
	uint16_t owner;

	sl_reasm_set_time6(q, s->time6_s);
	m = sl_reasm_rx(w, q, m);
	if (m == NULL || w->r->n_workers == 1)
		return m;
	owner = sl_owner(m, w->r->n_workers);
	steer = atomic_load_explicit(&w->r->steer, memory_order_acquire);
	if (steer != NULL)
		owner = steer(w->r, m, owner);
	if (owner == w->id)
		return m;
	sl_handoff(w, m, owner, SL_HANDOFF_FLOW);
	return NULL;
}

static unsigned int defrag_process(
		struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n)
{
	const struct defrag *s = priv;
	unsigned int survivors = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];
		const struct sl_pkt *p = sl_pkt(m);

		if (unlikely(p->flags & (SL_PKT_FRAG | SL_PKT_FRAG_HDR))
				&& s->family[p->family == SL_AF_INET ? IPT_V4 : IPT_V6])
			m = join(w, s, m);
		if (likely(m != NULL))
			pkts[survivors++] = m;
	}
	return survivors;
}

const struct sl_stage_ops sl_stage_defrag = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "defrag",
	.help = "joins fragments of all that is tracked",
	.hooks = SL_HOOK_BIT(SL_HOOK_PREROUTING),
	.order = SL_ORDER_REASSEMBLY,
	.create = defrag_create,
	.process = defrag_process,
	.destroy = defrag_destroy,
};
