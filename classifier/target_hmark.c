/* SPDX-License-Identifier: BSD-3-Clause */
/* HMARK; the hash itself is in lib/hmark.c */
#include "classifier/match_ext.h"
#include "lib/hmark.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int hmark_create(struct ipt_env *env, const struct ipt_target *target, void **state)
{
	const struct ipt_t_hmark *t = target->data;
	bool v6 = env->rs->family == IPT_V6;
	enum sl_family family = v6 ? SL_AF_INET6 : SL_AF_INET;
	struct sl_hmark *h;

	if (target->set & IPT_HMARK_CT) {
		snprintf(env->err, env->err_size, "HMARK: tuple ct: connections are not tracked");
		return -EOPNOTSUPP;
	}
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

static int hmark_run(struct ipt_ctx *c, __rte_unused const struct ipt_target *target, void *state)
{
	sl_hmark(state, c->m, &c->p->mark);
	return IPT_CONTINUE;
}

const struct ipt_target_ops ipt_target_hmark_ops = {
	.kind = IPT_T_HMARK,
	.create = hmark_create,
	.destroy = free,
	.run = hmark_run,
};
