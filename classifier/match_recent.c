/* SPDX-License-Identifier: BSD-3-Clause */
/* recent: --set, --rcheck, --update and --remove on lists by name (recent.c). */
#include "classifier/jiffies.h"
#include "classifier/match_ext.h"
#include "classifier/recent.h"

#include <rte_ip.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAMPS_DEFAULT 32 /* of a list whose rules count no hits */

struct state {
	struct recent_list *list;
	uint32_t stamps;
};

static uint32_t stamps_of(const struct ipt_match *match)
{
	const struct ipt_m_recent *m = match->data;

	return match->set & IPT_RECENT_HITCOUNT && m->hitcount > 0 ? rte_align32pow2(m->hitcount)
								   : STAMPS_DEFAULT;
}

/* the kernel makes room as its rules come; ours is for all rules that name the list */
static uint32_t stamps_for(const struct ipt_ruleset *rs, const char *name)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < rs->n_tables; i++)
		for (uint32_t j = 0; j < rs->tables[i].n_chains; j++)
			for (uint32_t k = 0; k < rs->tables[i].chains[j].n_rules; k++) {
				const struct ipt_rule *rule = &rs->tables[i].chains[j].rules[k];

				for (uint32_t m = 0; m < rule->n_matches; m++) {
					const struct ipt_match *match = &rule->matches[m];
					const struct ipt_m_recent *o = match->data;

					if (match->kind == IPT_M_RECENT
							&& strcmp(o->name, name) == 0)
						most = RTE_MAX(most, stamps_of(match));
				}
			}
	return most;
}

/* a mask of IPv4 leaves the other 96 bits alone if it is that of a host, as iptables writes it */
static struct sl_addr mask_of(const struct ipt_env *env, const struct ipt_m_recent *m)
{
	bool host4 = env->rs->family == IPT_V4 && m->mask.w[0] == UINT32_MAX;
	struct sl_addr mask;

	for (unsigned int i = 0; i < RTE_DIM(mask.w); i++)
		mask.w[i] = host4 ? UINT32_MAX : rte_cpu_to_be_32(m->mask.w[i]);
	return mask;
}

static int recent_create(struct ipt_env *env, const struct ipt_match *match, void **state)
{
	const struct ipt_m_recent *m = match->data;
	struct sl_addr mask = mask_of(env, m);
	struct state *s = calloc(1, sizeof(*s));
	int ret;

	if (s == NULL)
		return -ENOMEM;
	s->stamps = stamps_for(env->rs, m->name);
	ret = recent_hold(env->r, m->name, &mask, s->stamps, &s->list);
	if (ret < 0) {
		free(s);
		return ret;
	}
	*state = s;
	return 0;
}

static void recent_destroy(void *state)
{
	struct state *s = state;

	recent_release(s->list);
	free(s);
}

/* as it came in: where a packet has an output port, the router has taken one already */
static uint8_t ttl_of(const struct ipt_ctx *c)
{
	const uint8_t *ip = sl_pkt_at(c->m, c->p->l3_off, sizeof(struct rte_ipv4_hdr));
	uint8_t ttl;

	if (ip == NULL)
		return 0;
	ttl = ip[c->family == IPT_V4 ? offsetof(struct rte_ipv4_hdr, time_to_live)
				     : offsetof(struct rte_ipv6_hdr, hop_limits)];
	return c->out != SL_PORT_NONE && !(c->p->flags & SL_PKT_ORIGIN) ? ttl + 1 : ttl;
}

static bool recent_match(struct ipt_ctx *c, const struct ipt_match *match, void *state)
{
	const struct state *s = state;
	const struct recent_ask ask = {
		.addr = match->set & IPT_RECENT_RDEST ? c->p->dst : c->p->src,
		.family = c->family,
		.ttl = ttl_of(c),
		.now = ipt_jiffies(c->w),
		.stamps = s->stamps,
		.opts = match->data,
		.set = match->set,
		.inv = match->inv != 0,
	};

	return recent_ask(s->list, &ask);
}

const struct ipt_match_ops ipt_match_recent_ops = {
	.kind = IPT_M_RECENT,
	.stateful = true,
	.create = recent_create,
	.destroy = recent_destroy,
	.match = recent_match,
};
