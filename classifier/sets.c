/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All sets by name, from a file and from control.
 *
 * A reload makes a new collection beside the one in force. Names whose text has not changed share
 * their slot, so that what was added since lives on and no packet misses it; the others get a new one.
 * A list lives on only if all of its members do.
 */
#include "classifier/set_priv.h"
#include "lib/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- slots ---- */

struct set_slot *set_slot_find(const struct ipt_sets *sets, const char *name)
{
	for (uint32_t i = 0; sets != NULL && i < sets->n; i++)
		if (strcmp(sets->v[i]->name, name) == 0)
			return sets->v[i];
	return NULL;
}

static struct sl_set *set_of(const struct set_slot *slot)
{
	return atomic_load_explicit(&slot->set, memory_order_acquire);
}

static bool is_list(const struct set_slot *slot)
{
	return set_of(slot)->def.type == IPSET_LIST_SET;
}

static int hold(struct ipt_sets *sets, struct set_slot *slot)
{
	uint32_t room = 2 * sets->room + 8, at = sets->n;
	struct set_slot **v;

	if (sets->n == sets->room) {
		v = realloc(sets->v, room * sizeof(struct set_slot *));
		if (v == NULL)
			return -ENOMEM;
		sets->v = v;
		sets->room = room;
	}
	/* lists come last, so that text reads back */
	while (!is_list(slot) && at > 0 && is_list(sets->v[at - 1]))
		at--;
	memmove(&sets->v[at + 1], &sets->v[at], (sets->n - at) * sizeof(struct set_slot *));
	sets->v[at] = slot;
	sets->n++;
	slot->holders++;
	return 0;
}

static void release(struct set_slot *slot)
{
	if (--slot->holders > 0)
		return;
	set_free(set_of(slot));
	free(slot);
}

static struct set_slot *slot_new(struct sl_router *r, const struct ipset *def)
{
	struct set_slot *slot = calloc(1, sizeof(*slot));
	struct sl_set *s = set_new(r, def);

	if (slot == NULL || s == NULL) {
		set_free(s);
		free(slot);
		return NULL;
	}
	snprintf(slot->name, sizeof(slot->name), "%s", def->name);
	s->def.name = slot->name;
	atomic_init(&slot->set, s);
	return slot;
}

static int slot_make(struct ipt_sets *sets, const struct ipset *def, struct set_slot **out)
{
	struct set_slot *slot = slot_new(sets->r, def);
	int ret;

	if (slot == NULL)
		return -ENOMEM;
	ret = hold(sets, slot);
	if (ret < 0) {
		set_free(set_of(slot));
		free(slot);
		return ret;
	}
	*out = slot;
	return 0;
}

/* ---- members ---- */

static int value_of(const struct ipset_member *m, struct set_value *v)
{
	bool mark = (m->skb & IPSET_SKB_MARK) != 0;

	*v = (struct set_value){
		.timeout_s = m->timeout_s,
		.nomatch = m->nomatch,
		.has_mac = m->has_mac,
		.count = (m->counters.packets | m->counters.bytes) != 0,
		.packets = m->counters.packets,
		.bytes = m->counters.bytes,
		.skb = m->skb,
		.skb_mark = mark ? m->skb_mark : 0,
		.skb_mask = mark ? m->skb_mask : 0,
		.skb_prio = m->skb & IPSET_SKB_PRIO ? m->skb_prio : 0,
		.skb_queue = m->skb & IPSET_SKB_QUEUE ? m->skb_queue : 0,
	};
	memcpy(v->mac, m->key.mac, sizeof(v->mac));
	if (m->comment == NULL)
		return 0;
	v->comment = strdup(m->comment);
	return v->comment == NULL ? -ENOMEM : 0;
}

static bool in_range(const struct sl_set *s, const struct ipset_member *m)
{
	if (s->def.type == IPSET_BITMAP_PORT)
		return m->key.port >= s->def.ports.lo && m->key.port <= s->def.ports.hi;
	return !s->type->bitmap
			|| (m->key.addr.w[0] >= s->def.lo.w[0]
					&& m->key.addr.w[0] <= s->def.hi.w[0]);
}

static int add_member(
		struct sl_set *s, const struct ipset_member *m, struct set_value *v, bool exist)
{
	union set_key key;
	int ret;

	if (!in_range(s, m))
		return -ERANGE;
	set_key_of_member(s, m, &key);
	if (m->wildcard)
		key.flags |= SET_KEY_WILD;
	ret = set_prepare(s);
	if (ret == 0)
		ret = set_add(s, &key, v, exist, set_now(s->r));
	if (ret == -EAGAIN) {
		sl_router_synchronize(s->r);
		ret = set_add(s, &key, v, exist, set_now(s->r));
	}
	for (unsigned int i = 0; ret == -EOVERFLOW && i < 8; i++) {
		ret = set_reserve(s, 4 * (atomic_load(&s->t.index)->mask + 1));
		if (ret == 0)
			ret = set_add(s, &key, v, exist, set_now(s->r));
	}
	return ret;
}

static int slot_add(struct ipt_sets *sets, struct set_slot *slot, const struct ipset_member *m,
		const char *member, bool exist)
{
	struct sl_set *s = set_of(slot);
	struct set_slot *of;
	struct set_value v;
	int ret = value_of(m, &v);

	if (ret < 0)
		return ret;
	if (s->def.type == IPSET_LIST_SET) {
		of = member == NULL ? NULL : set_slot_find(sets, member);
		if (of == NULL)
			ret = -ENOENT;
		else if (is_list(of))
			ret = -ELOOP;
		else if (slot->adders > 0)
			ret = set_reserve(set_of(of), set_of(of)->def.maxelem);
		if (ret == 0)
			ret = set_list_add(s, of, &v, exist);
	} else {
		ret = add_member(s, m, &v, exist);
	}
	free(v.comment);
	return ret;
}

/* ---- collections ---- */

static bool keeps_members(const struct ipt_sets *sets, const struct set_slot *slot)
{
	const struct set_list *l = is_list(slot) ? atomic_load(&set_of(slot)->list) : NULL;

	for (uint32_t i = 0; l != NULL && i < l->n; i++)
		if (set_slot_find(sets, l->v[i]->slot->name) != l->v[i]->slot)
			return false;
	return true;
}

static int take_set(struct ipt_sets *sets, const struct ipset_file *file, const struct ipset *def,
		const struct ipt_sets *prev)
{
	uint64_t digest = set_digest(file, def);
	struct set_slot *slot = set_slot_find(prev, def->name);
	int ret;

	if (slot != NULL && slot->digest == digest && keeps_members(sets, slot))
		return hold(sets, slot);
	ret = slot_make(sets, def, &slot);
	if (ret < 0)
		return ret;
	slot->digest = digest;
	for (uint32_t i = 0; ret == 0 && i < def->n_members; i++) {
		const struct ipset_member *m = &def->members[i];
		const char *member =
				def->type == IPSET_LIST_SET ? file->sets[m->key.set].name : NULL;

		ret = slot_add(sets, slot, m, member, false);
	}
	return ret;
}

static int take_all(struct ipt_sets *sets, const struct ipset_file *file,
		const struct ipt_sets *prev, bool lists)
{
	int ret = 0;

	for (uint32_t i = 0; ret == 0 && file != NULL && i < file->n_sets; i++)
		if ((file->sets[i].type == IPSET_LIST_SET) == lists)
			ret = take_set(sets, file, &file->sets[i], prev);
	for (uint32_t i = 0; ret == 0 && prev != NULL && i < prev->n; i++) {
		struct set_slot *slot = prev->v[i];

		if (slot->digest == 0 && is_list(slot) == lists && keeps_members(sets, slot)
				&& set_slot_find(sets, slot->name) == NULL)
			ret = hold(sets, slot);
	}
	return ret;
}

int sl_sets_create(struct sl_router *r, const struct ipset_file *file, const struct ipt_sets *prev,
		struct ipt_sets **out)
{
	struct ipt_sets *sets = calloc(1, sizeof(*sets));
	int ret = -ENOMEM;

	if (sets == NULL)
		return ret;
	sets->r = r;
	ret = take_all(sets, file, prev, false);
	if (ret == 0)
		ret = take_all(sets, file, prev, true);
	if (ret < 0) {
		sl_sets_free(sets);
		return ret;
	}
	*out = sets;
	return 0;
}

void sl_sets_free(struct ipt_sets *sets)
{
	if (sets == NULL)
		return;
	/* lists, which refer to the others, come last */
	for (uint32_t i = sets->n; i > 0; i--)
		release(sets->v[i - 1]);
	free(sets->v);
	free(sets);
}

int sl_sets_has(void *arg, const char *name, enum ipt_family family)
{
	const struct set_slot *slot = set_slot_find(arg, name);
	const struct ipset *def;
	bool any;

	if (slot == NULL)
		return -ENOENT;
	def = &set_of(slot)->def;
	any = !def->has_family && def->type != IPSET_BITMAP_IP && def->type != IPSET_BITMAP_IP_MAC;
	return any || def->family == family ? 0 : -EAFNOSUPPORT;
}

unsigned int sl_sets_count(const struct ipt_sets *sets)
{
	return sets == NULL ? 0 : sets->n;
}

const char *sl_sets_name(const struct ipt_sets *sets, unsigned int i)
{
	return sets->v[i]->name;
}

const struct ipset *sl_set_def(const struct ipt_sets *sets, const char *name)
{
	const struct set_slot *slot = set_slot_find(sets, name);

	return slot == NULL ? NULL : &set_of(slot)->def;
}

/* ---- sets in and out ---- */

int sl_set_create(struct ipt_sets *sets, const struct ipset *def)
{
	struct set_slot *slot;

	if (set_slot_find(sets, def->name) != NULL)
		return -EEXIST;
	return slot_make(sets, def, &slot);
}

int sl_set_destroy(struct ipt_sets *sets, const char *name)
{
	for (uint32_t i = 0; i < sets->n; i++) {
		struct set_slot *slot = sets->v[i];

		if (strcmp(slot->name, name) != 0)
			continue;
		if (slot->users > 0)
			return -EBUSY;
		memmove(&sets->v[i], &sets->v[i + 1],
				(sets->n - i - 1) * sizeof(struct set_slot *));
		sets->n--;
		sl_router_synchronize(sets->r);
		release(slot);
		return 0;
	}
	return -ENOENT;
}

int sl_set_flush(struct ipt_sets *sets, const char *name)
{
	struct set_slot *slot = set_slot_find(sets, name);
	struct sl_set *old, *new;
	int ret = 0;

	if (slot == NULL)
		return -ENOENT;
	old = set_of(slot);
	new = set_new(sets->r, &old->def);
	if (new == NULL)
		return -ENOMEM;
	new->def.name = slot->name;
	if (slot->adders > 0 && !is_list(slot))
		ret = set_reserve(new, new->def.maxelem);
	if (ret < 0) {
		set_free(new);
		return ret;
	}
	atomic_store_explicit(&slot->set, new, memory_order_release);
	sl_router_synchronize(sets->r);
	set_free(old);
	return 0;
}

static int reserve(struct set_slot *slot)
{
	const struct set_list *l;
	int ret = 0;

	if (!is_list(slot))
		return set_reserve(set_of(slot), set_of(slot)->def.maxelem);
	l = atomic_load(&set_of(slot)->list);
	for (uint32_t i = 0; ret == 0 && l != NULL && i < l->n; i++)
		ret = reserve(l->v[i]->slot);
	return ret;
}

int sl_set_swap(struct ipt_sets *sets, const char *a, const char *b)
{
	struct set_slot *x = set_slot_find(sets, a), *y = set_slot_find(sets, b);
	struct sl_set *of_x, *of_y;
	int ret = 0;

	if (x == NULL || y == NULL)
		return -ENOENT;
	of_x = set_of(x);
	of_y = set_of(y);
	if (of_x->type->parts_bits != of_y->type->parts_bits
			|| of_x->def.family != of_y->def.family)
		return -EPROTOTYPE;
	/* rules were compiled for a set that counts, or that does not */
	if (of_x->def.counters != of_y->def.counters && x->users + y->users > 0)
		return -EBUSY;
	if (x->adders + y->adders > 0) {
		ret = reserve(x);
		ret = ret == 0 ? reserve(y) : ret;
	}
	if (ret < 0)
		return ret;
	of_x->def.name = y->name;
	of_y->def.name = x->name;
	atomic_store_explicit(&x->set, of_y, memory_order_release);
	atomic_store_explicit(&y->set, of_x, memory_order_release);
	return 0;
}

/* ---- members by name ---- */

int sl_set_add(struct ipt_sets *sets, const char *name, const struct ipset_member *m,
		const char *member, bool exist)
{
	struct set_slot *slot = set_slot_find(sets, name);

	return slot == NULL ? -ENOENT : slot_add(sets, slot, m, member, exist);
}

int sl_set_del(struct ipt_sets *sets, const char *name, const struct ipset_member *m,
		const char *member)
{
	struct set_slot *slot = set_slot_find(sets, name), *of;
	union set_key key;

	if (slot == NULL)
		return -ENOENT;
	if (is_list(slot)) {
		of = member == NULL ? NULL : set_slot_find(sets, member);
		return of == NULL ? -ENOENT : set_list_del(set_of(slot), of);
	}
	if (!in_range(set_of(slot), m))
		return -ERANGE;
	set_key_of_member(set_of(slot), m, &key);
	return set_del(set_of(slot), &key, set_now(sets->r));
}

static bool is_address(const struct sl_set *s, const union set_key *key)
{
	uint8_t bits = s->def.family == IPT_V4 ? 32 : 128;

	return (!(s->type->nets & 1) || key->len[0] == bits)
			&& (!(s->type->nets & 2) || key->len[1] == bits);
}

int sl_set_test(struct ipt_sets *sets, const char *name, const struct ipset_member *m,
		const char *member)
{
	struct set_slot *slot = set_slot_find(sets, name), *of;
	struct set_query q = { .now_ns = set_now(sets->r) };
	struct sl_set *s;
	union set_key key;
	int ret;

	if (slot == NULL)
		return -ENOENT;
	s = set_of(slot);
	if (is_list(slot)) {
		of = member == NULL ? NULL : set_slot_find(sets, member);
		return of == NULL ? -ENOENT : set_list_has(s, of);
	}
	if (!in_range(s, m))
		return 0;
	set_key_of_member(s, m, &key);
	ret = set_test(s, &key, m->has_mac ? m->key.mac : NULL, is_address(s, &key), &q);
	if (ret == SET_WANTS_MAC)
		return 1;
	return m->nomatch ? ret == SET_IS_NOMATCH : ret == 1;
}

/* ---- rules ---- */

struct set_slot *sl_set_slot(struct ipt_sets *sets, const char *name, bool adds)
{
	struct set_slot *slot = set_slot_find(sets, name);

	if (slot == NULL || (adds && reserve(slot) < 0))
		return NULL;
	slot->users++;
	slot->adders += adds;
	return slot;
}

void sl_set_put(struct set_slot *slot, bool adds)
{
	slot->users--;
	slot->adders -= adds;
}

bool sl_set_is_stateful(const struct set_slot *slot)
{
	const struct ipset *def = &set_of(slot)->def;

	/* sets of a list may come and go */
	return def->counters || def->type == IPSET_LIST_SET || def->type == IPSET_BITMAP_IP_MAC;
}
