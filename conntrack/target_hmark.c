/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HMARK; the hash itself is in lib/hmark.c. With `ct` in its tuple it is of the connection: where that
 * came from and where it went after NAT; so replies, and errors about it, have the same mark. A packet
 * without a connection keeps the mark it has.
 */
#include "conntrack/ext.h"
#include "lib/hmark.h"

#include <errno.h>
#include <stdlib.h>

static int hmark_create(struct ipt_env *env, const struct ipt_target *target, void **state)
{
	const struct ipt_t_hmark *t = target->data;
	bool v6 = env->rs->family == IPT_V6;
	enum sl_family family = v6 ? SL_AF_INET6 : SL_AF_INET;
	struct sl_hmark *h;

	h = calloc(1, sizeof(*h));
	if (h == NULL)
		return -ENOMEM;
	h->src_mask[v6] = sl_hmark_prefix(family, t->src_len);
	h->dst_mask[v6] = sl_hmark_prefix(family, t->dst_len);
	h->port_mask = ((uint32_t)t->sport_mask << 16 | t->dport_mask) | t->spi_mask;
	h->port_set = ((uint32_t)t->sport << 16 | t->dport) | t->spi;
	h->proto_mask = t->proto_mask;
	h->rnd = t->rnd;
	h->mod = t->mod;
	h->offset = t->offset;
	*state = h;
	return 0;
}

static void mark_connection(const struct sl_hmark *h, const struct ct_entry *e, uint32_t *mark)
{
	const struct ct_tuple *from = &e->orig, *to = &e->reply;
	const struct sl_hmark_flow flow = {
		.family = from->family,
		.proto = from->proto,
		.src = from->src,
		.dst = to->src,
		.sport_be = from->sport_be,
		.dport_be = to->sport_be,
	};

	*mark = sl_hmark_of_flow(h, &flow);
}

static int hmark_run(struct ipt_ctx *c, const struct ipt_target *target, void *state)
{
	const struct ct_entry *e;

	if (likely(!(target->set & IPT_HMARK_CT))) {
		sl_hmark(state, c->m, &c->p->mark);
		return IPT_CONTINUE;
	}
	e = ct_ext_entry(c->p);
	if (e != NULL)
		mark_connection(state, e, &c->p->mark);
	return IPT_CONTINUE;
}

static void hmark_run_bulk(struct rte_mbuf *const *pkts, unsigned int n,
		const struct ipt_target *target, void *state)
{
	if (likely(!(target->set & IPT_HMARK_CT))) {
		sl_hmark_bulk(state, pkts, n);
		return;
	}
	for (unsigned int i = 0; i < n; i++) {
		struct sl_pkt *p = sl_pkt(pkts[i]);
		const struct ct_entry *e = ct_ext_entry(p);

		if (e != NULL)
			mark_connection(state, e, &p->mark);
	}
}

static uint8_t hmark_needs(const struct ipt_target *target)
{
	return target->set & IPT_HMARK_CT ? IPT_NEEDS_CT : 0;
}

const struct ipt_target_ops ipt_target_hmark_ops = {
	.kind = IPT_T_HMARK,
	.needs_of = hmark_needs,
	.create = hmark_create,
	.destroy = free,
	.run = hmark_run,
	.run_bulk = hmark_run_bulk,
};
