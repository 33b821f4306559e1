/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/jiffies.h"
#include "conntrack/connlimit.h"
#include "conntrack/ext.h"
#include "lib/router.h"

#include <errno.h>

#define MAX_DEFAULT 262144

static int connlimit_match_create(
		struct ipt_env *env, __rte_unused const struct ipt_match *match, void **state)
{
	struct connlimit *cl = env->prev;

	/* the same rule as before: it has counted connections that are still there */
	if (cl != NULL)
		cl = connlimit_hold(cl);
	else
		cl = connlimit_create(env->ct_max == 0 ? MAX_DEFAULT : env->ct_max, env->r->secret);
	if (cl == NULL)
		return -ENOMEM;
	*state = cl;
	return 0;
}

static void connlimit_match_destroy(void *state)
{
	connlimit_put(state);
}

/* the connection that the packet counts as. Return: false if its header is cut */
static bool find_conn(struct ipt_ctx *c, struct connlimit_pkt *p)
{
	struct ct_shard *s = ct_ext_shard(c);
	const struct ct_entry *e = ct_of(c->p);
	struct ct_tuple t;

	if (e == NULL && c->p->ct == NULL) {
		/* INVALID or untracked: by what it looks like */
		if (!ct_tuple_get(c->m, 0, &t))
			return false;
		e = ct_find(s, &t).e;
	}
	if (e == NULL)
		return true;
	p->ref = ct_ref(s, e);
	p->status = e->status;
	p->zone = e->orig.zone != 0 ? e->orig.zone : e->reply.zone;
	return true;
}

static bool connlimit_match(struct ipt_ctx *c, const struct ipt_match *match, void *state)
{
	const struct ipt_m_connlimit *m = match->data;
	struct connlimit_pkt p = {
		.table = ct_table_of(c->w->r),
		.net = sl_addr_mask(match->set & IPT_CONNLIMIT_DADDR ? &c->p->dst : &c->p->src,
				(enum sl_family)c->p->family, m->prefix_len),
		.now_ms = ct_now(c->w->now_ns),
		.jiffies = (uint32_t)ipt_jiffies(c->w),
	};
	uint32_t n;

	if (!find_conn(c, &p) || !connlimit_count(state, &p, &n)) {
		c->hotdrop = true;
		return false;
	}
	return (n > m->limit) == ((match->set & IPT_CONNLIMIT_ABOVE) != 0);
}

const struct ipt_match_ops ipt_match_connlimit_ops = {
	.kind = IPT_M_CONNLIMIT,
	.stateful = true,
	.needs = IPT_NEEDS_CT,
	.create = connlimit_match_create,
	.destroy = connlimit_match_destroy,
	.match = connlimit_match,
};
