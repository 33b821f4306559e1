/* SPDX-License-Identifier: BSD-3-Clause */
#include "conntrack/ext.h"

#include "lib/worker.h"

const struct ct_entry ct_ext_template = { .status = CT_CONFIRMED };

struct ct_shard *ct_ext_shard(const struct ipt_ctx *c)
{
	/* it was attached before the pipeline that made the connection was */
	return ct_table_of(c->w->r)->shard[c->w->id];
}

/*
 * On another worker it may be freed and used anew while we look. Its memory stays, and an entry that
 * is used anew has another id.
 */
const struct ct_entry *ct_ext_master(const struct ipt_ctx *c, const struct ct_entry *e)
{
	const struct ct_entry *master;

	if (likely(e->master_id == 0))
		return NULL;
	master = &ct_table_of(c->w->r)->shard[e->master_worker]->entries[e->master_at];
	return __atomic_load_n(&master->id, __ATOMIC_RELAXED) == e->master_id ? master : NULL;
}
