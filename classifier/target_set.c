/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * -j SET: the packet's key into and out of sets, or what a member says onto the packet. What is added
 * is there for the next packet, whichever worker has it.
 */
#include "classifier/match_set.h"
#include "classifier/set.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct set_state {
	struct set_slot *add, *del, *map; /* NULL: not asked for */
	struct sl_set_ask add_ask, del_ask, map_ask;
};

static void target_destroy(void *state)
{
	struct set_state *s = state;

	if (s->add != NULL)
		sl_set_put(s->add, true);
	if (s->del != NULL)
		sl_set_put(s->del, false);
	if (s->map != NULL)
		sl_set_put(s->map, false);
	free(s);
}

static int take(struct ipt_env *env, const struct ipt_set_ref *ref, bool adds,
		struct set_slot **slot, struct sl_set_ask *ask)
{
	*slot = sl_set_slot(env->sets, ref->name, adds);
	if (*slot == NULL) {
		snprintf(env->err, env->err_size, "there is no set %s", ref->name);
		return -ENOENT;
	}
	ask->n = ref->n;
	ask->src = ref->src;
	return 0;
}

static int target_create(struct ipt_env *env, const struct ipt_target *target, void **state)
{
	const struct ipt_t_set *t = target->data;
	struct set_state *s = calloc(1, sizeof(*s));
	int ret = 0;

	if (s == NULL)
		return -ENOMEM;
	if (target->set & IPT_SETT_ADD)
		ret = take(env, &t->add, true, &s->add, &s->add_ask);
	if (ret == 0 && target->set & IPT_SETT_DEL)
		ret = take(env, &t->del, false, &s->del, &s->del_ask);
	if (ret == 0 && target->set & IPT_SETT_MAP)
		ret = take(env, &t->map, false, &s->map, &s->map_ask);
	if (ret < 0) {
		target_destroy(s);
		return ret;
	}
	s->add_ask.flags = (target->set & IPT_SETT_EXIST ? SL_SET_EXIST : 0)
			| (target->set & IPT_SETT_TIMEOUT ? SL_SET_TIMEOUT : 0);
	s->add_ask.timeout_s = t->timeout_s;
	*state = s;
	return 0;
}

static int target_run(struct ipt_ctx *c, const struct ipt_target *target, void *state)
{
	struct set_state *s = state;
	struct sl_set_skb skb = { 0 };

	if (s->add != NULL)
		sl_set_add_packet(s->add, c, &s->add_ask);
	if (s->del != NULL)
		sl_set_del_packet(s->del, c, &s->del_ask);
	if (s->map == NULL || !sl_set_match(s->map, c, &s->map_ask, &skb))
		return IPT_CONTINUE;
	if (target->set & IPT_SETT_MAP_MARK)
		c->p->mark = (c->p->mark & ~skb.mask) ^ skb.mark;
	if (target->set & IPT_SETT_MAP_PRIO)
		c->p->priority = skb.prio;
	/* a queue says nothing here: a worker has one on each device */
	return IPT_CONTINUE;
}

const struct ipt_target_ops ipt_target_set_ops = {
	.kind = IPT_T_SET,
	.create = target_create,
	.destroy = target_destroy,
	.run = target_run,
};
