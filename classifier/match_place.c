/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cpu: the number of the worker. owner: no packet of a router belongs to a socket of a user. realm and
 * devgroup: routes have no realms and ports no groups, so both are 0, as on a Linux box that has not
 * set any. A rule that names another number counts on some that are set: it is refused.
 */
#include "classifier/match_ext.h"
#include "lib/worker.h"

#include <errno.h>
#include <stdio.h>

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

static int realm_create(
		struct ipt_env *env, const struct ipt_match *match, __rte_unused void **state)
{
	const struct ipt_m_realm *m = match->data;

	if (m->realm.value == 0)
		return 0;
	snprintf(env->err, env->err_size,
			"realm 0x%x: routes have no realms here, only 0 can be asked for",
			m->realm.value);
	return -EOPNOTSUPP;
}

static bool realm_match(__rte_unused struct ipt_ctx *c, const struct ipt_match *match,
		__rte_unused void *state)
{
	return !(match->inv & IPT_REALM_REALM);
}

static uint32_t group_asked(const struct ipt_match *match, uint32_t bit, struct ipt_mark group)
{
	return match->set & bit ? group.value & group.mask : 0;
}

static int devgroup_create(
		struct ipt_env *env, const struct ipt_match *match, __rte_unused void **state)
{
	const struct ipt_m_devgroup *m = match->data;
	uint32_t group = group_asked(match, IPT_DEVGROUP_SRC, m->src)
			| group_asked(match, IPT_DEVGROUP_DST, m->dst);

	if (group == 0)
		return 0;
	snprintf(env->err, env->err_size,
			"devgroup 0x%x: ports have no groups here, only 0 can be asked for", group);
	return -EOPNOTSUPP;
}

static bool devgroup_match(__rte_unused struct ipt_ctx *c, const struct ipt_match *match,
		__rte_unused void *state)
{
	return (match->inv & (IPT_DEVGROUP_SRC | IPT_DEVGROUP_DST)) == 0;
}

const struct ipt_match_ops ipt_match_cpu_ops = { .kind = IPT_M_CPU, .match = cpu_match };
const struct ipt_match_ops ipt_match_devgroup_ops = {
	.kind = IPT_M_DEVGROUP,
	.create = devgroup_create,
	.match = devgroup_match,
};
const struct ipt_match_ops ipt_match_owner_ops = { .kind = IPT_M_OWNER, .match = owner_match };
const struct ipt_match_ops ipt_match_realm_ops = {
	.kind = IPT_M_REALM,
	.create = realm_create,
	.match = realm_match,
};
