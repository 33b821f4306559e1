/* SPDX-License-Identifier: BSD-3-Clause */
/* cpu: the number of the worker. owner: no packet of a router belongs to a socket of a user. */
#include "classifier/match_ext.h"
#include "lib/worker.h"

static bool cpu_match(struct ipt_ctx *c, const struct ipt_match *match, __rte_unused void *state)
{
	const struct ipt_m_cpu *m = match->data;

	return (c->w->id == m->cpu) != !!(match->inv & IPT_CPU_CPU);
}

/* without a socket every option is false, and true behind `!` */
static bool owner_match(__rte_unused struct ipt_ctx *c, const struct ipt_match *match,
		__rte_unused void *state)
{
	uint32_t tests = IPT_OWNER_SOCKET | IPT_OWNER_UID | IPT_OWNER_GID;

	return (match->set & tests & ~match->inv) == 0;
}

const struct ipt_match_ops ipt_match_cpu_ops = { .kind = IPT_M_CPU, .match = cpu_match };
const struct ipt_match_ops ipt_match_owner_ops = { .kind = IPT_M_OWNER, .match = owner_match };
