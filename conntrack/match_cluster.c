/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cluster: which of n nodes a connection belongs to, by its original source. An expected one goes
 * where its master is.
 */
#include "conntrack/ext.h"

#include <rte_jhash.h>

/*
 * A word as it lies in memory, since all nodes have to agree. Of an IPv6 address the kernel takes the
 * first word alone.
 */
static uint32_t hash_of(const struct ct_tuple *t, uint32_t seed)
{
	return rte_jhash_32b(t->src.w, 1, seed);
}

static bool cluster_match(
		struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_cluster *m = match->data;
	const struct ct_entry *e = ct_of(c->p), *master;
	uint32_t node;

	if (e == NULL)
		return false;
	master = ct_ext_master(c, e);
	if (master != NULL)
		e = master;
	node = (uint32_t)((uint64_t)hash_of(&e->orig, m->hash_seed) * m->total_nodes >> 32);
	return ((m->node_mask >> node & 1) != 0) != ((match->inv & IPT_CLUSTER_NODEMASK) != 0);
}

const struct ipt_match_ops ipt_match_cluster_ops = {
	.kind = IPT_M_CLUSTER,
	.needs = IPT_NEEDS_CT,
	.match = cluster_match,
};
