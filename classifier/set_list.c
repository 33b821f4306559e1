/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * list:set: a packet is in it if it is in one of its sets, which are asked in turn. Members are
 * names: a set that is swapped is seen by the lists too.
 */
#include "classifier/ext.h"
#include "classifier/set_priv.h"
#include "lib/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct set_list *list_of(const struct sl_set *s)
{
	return atomic_load_explicit(&s->list, memory_order_acquire);
}

static uint32_t count_of(const struct set_list *l)
{
	return l == NULL ? 0 : l->n;
}

/* ---- packets ---- */

int set_list_test(struct sl_set *s, struct ipt_ctx *c, struct set_query *q)
{
	const struct set_list *l = list_of(s);
	struct set_query sub = *q;

	sub.flags |= SL_SET_SUB;
	if (q->flags & SL_SET_NO_SUBCOUNTERS)
		sub.flags |= SL_SET_NO_COUNTERS;
	for (uint32_t i = 0; i < count_of(l); i++) {
		if (set_slot_test(l->v[i]->slot, c, &sub) != 1)
			continue;
		if (set_extra_holds(s, &l->v[i]->extra, atomic_load(&l->v[i]->expires_ns), q))
			return 1;
	}
	return 0;
}

void set_list_each(struct sl_set *s, struct ipt_ctx *c, const struct sl_set_ask *ask, bool add)
{
	const struct set_list *l = list_of(s);

	for (uint32_t i = 0; i < count_of(l); i++) {
		struct set_slot *slot = l->v[i]->slot;

		if (set_expired(atomic_load(&l->v[i]->expires_ns), c->w->now_ns))
			continue;
		/* the first set that takes it, or that had it */
		if ((add ? set_slot_add(slot, c, ask) : set_slot_del(slot, c, ask)) == 0)
			return;
	}
}

/* ---- control ---- */

static struct set_link *find(const struct set_list *l, const struct set_slot *slot)
{
	for (uint32_t i = 0; i < count_of(l); i++)
		if (l->v[i]->slot == slot)
			return l->v[i];
	return NULL;
}

static void link_free(struct set_link *link)
{
	link->slot->users--;
	free(link->extra.comment);
	free(link);
}

/* the list without @out and with @in at its end, either of which may be NULL */
static int replace(struct sl_set *s, struct set_link *out, struct set_link *in)
{
	struct set_list *old = list_of(s), *new;

	new = calloc(1, sizeof(*new) + (count_of(old) + 1) * sizeof(new->v[0]));
	if (new == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < count_of(old); i++)
		if (old->v[i] != out)
			new->v[new->n++] = old->v[i];
	if (in != NULL)
		new->v[new->n++] = in;
	atomic_store_explicit(&s->list, new, memory_order_release);
	sl_router_synchronize(s->r);
	free(old);
	if (out != NULL)
		link_free(out);
	return 0;
}

static void store(struct sl_set *s, struct set_link *link, struct set_value *v)
{
	uint64_t expires_ns = s->def.timeout ? set_expiry(v->timeout_s, set_now(s->r)) : 0;

	set_extra_store(&link->extra, s, v);
	if (s->def.comment) {
		free(link->extra.comment);
		link->extra.comment = v->comment;
		v->comment = NULL;
	}
	atomic_store(&link->expires_ns, expires_ns);
}

static int drop_expired(struct sl_set *s)
{
	uint64_t now_ns = set_now(s->r);
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && i < count_of(list_of(s));) {
		struct set_link *link = list_of(s)->v[i];

		if (set_expired(atomic_load(&link->expires_ns), now_ns))
			ret = replace(s, link, NULL);
		else
			i++;
	}
	return ret;
}

int set_list_add(struct sl_set *s, struct set_slot *slot, struct set_value *v, bool exist)
{
	struct set_link *link;
	int ret;

	ret = drop_expired(s);
	if (ret < 0)
		return ret;
	link = find(list_of(s), slot);
	if (link != NULL && !exist)
		return -EEXIST;
	if (link != NULL) {
		store(s, link, v);
		return 0;
	}
	link = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*link));
	if (link == NULL)
		return -ENOMEM;
	memset(link, 0, sizeof(*link));
	link->slot = slot;
	store(s, link, v);
	ret = replace(s, NULL, link);
	if (ret < 0) {
		free(link->extra.comment);
		free(link);
		return ret;
	}
	slot->users++;
	return 0;
}

int set_list_del(struct sl_set *s, struct set_slot *slot)
{
	int ret = drop_expired(s);
	struct set_link *link = find(list_of(s), slot);

	if (ret < 0)
		return ret;
	return link == NULL ? -ENOMSG : replace(s, link, NULL);
}

bool set_list_has(struct sl_set *s, const struct set_slot *slot)
{
	const struct set_link *link = find(list_of(s), slot);

	return link != NULL && !set_expired(atomic_load(&link->expires_ns), set_now(s->r));
}

void set_list_clear(struct sl_set *s)
{
	struct set_list *old = atomic_exchange(&s->list, NULL);

	if (old == NULL)
		return;
	for (uint32_t i = 0; i < old->n; i++)
		link_free(old->v[i]);
	free(old);
}
