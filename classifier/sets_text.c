/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets and members back into the form of the reader, and what tells two texts of a set apart. */
#include "classifier/set_priv.h"
#include "lib/router.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- digest ---- */

static uint64_t mix(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		h = (h ^ p[i]) * UINT64_C(1099511628211); /* FNV-1a */
	return h;
}

static uint64_t mix_word(uint64_t h, uint64_t word)
{
	return mix(h, &word, sizeof(word));
}

static uint64_t mix_member(uint64_t h, const struct ipset_file *file, const struct ipset *def,
		const struct ipset_member *m)
{
	struct ipset_key key = m->key;

	if (def->type == IPSET_LIST_SET) {
		const char *name = file->sets[m->key.set].name;

		h = mix(h, name, strlen(name) + 1);
		key.set = 0;
	}
	h = mix(h, &key, sizeof(key)); /* the reader compares keys as bytes, too */
	h = mix_word(h, (uint64_t)m->has_mac << 2 | (uint64_t)m->nomatch << 1 | m->wildcard);
	h = mix_word(h, m->timeout_s);
	h = mix_word(h, m->counters.packets);
	h = mix_word(h, m->counters.bytes);
	h = mix_word(h, (uint64_t)m->skb_mark << 32 | m->skb_mask);
	h = mix_word(h, (uint64_t)m->skb_prio << 32 | (uint32_t)m->skb_queue << 8 | m->skb);
	return m->comment == NULL ? h : mix(h, m->comment, strlen(m->comment));
}

uint64_t set_digest(const struct ipset_file *file, const struct ipset *def)
{
	uint64_t h = mix(UINT64_C(14695981039346656037), def->name, strlen(def->name) + 1);

	h = mix_word(h, (uint64_t)def->type << 8 | def->family);
	h = mix_word(h,
			(uint64_t)def->timeout << 4 | (uint64_t)def->counters << 3
					| (uint64_t)def->comment << 2 | (uint64_t)def->skbinfo << 1
					| def->forceadd);
	h = mix_word(h, (uint64_t)def->netmask << 32 | def->markmask);
	h = mix_word(h, (uint64_t)def->timeout_s << 32 | def->maxelem);
	h = mix_word(h, (uint64_t)def->lo.w[0] << 32 | def->hi.w[0]);
	h = mix_word(h, (uint64_t)def->ports.lo << 16 | def->ports.hi);
	for (uint32_t i = 0; i < def->n_members; i++)
		h = mix_member(h, file, def, &def->members[i]);
	return h == 0 ? 1 : h;
}

/* ---- members ---- */

static struct ipt_addr host_addr(const struct sl_addr *a)
{
	struct ipt_addr out;

	for (unsigned int i = 0; i < RTE_DIM(out.w); i++)
		out.w[i] = rte_be_to_cpu_32(a->w[i]);
	return out;
}

static void fill_part(const struct sl_set *s, enum set_part part, const struct set_entry *e,
		struct ipset_member *m)
{
	const union set_key *key = &e->key;

	switch (part) {
	case SET_NET:
	case SET_IP:
		m->key.addr = host_addr(&key->a);
		m->key.len = key->len[0];
		break;
	case SET_NET2:
	case SET_IP2:
		m->key.addr2 = host_addr(&key->b);
		m->key.len2 = key->len[1];
		break;
	case SET_PORT:
		m->key.port = key->port;
		m->key.proto = key->proto;
		break;
	case SET_MAC:
		m->has_mac = !s->type->bitmap || (atomic_load(&e->flags) & SET_HAS_MAC) != 0;
		memcpy(m->key.mac, s->type->bitmap ? e->mac : key->mac, sizeof(m->key.mac));
		break;
	case SET_IFACE:
		memcpy(m->key.iface, key->iface, sizeof(m->key.iface));
		m->key.physdev = (key->flags & SET_KEY_PHYSDEV) != 0;
		m->wildcard = (key->flags & SET_KEY_WILD) != 0;
		break;
	case SET_MARK:
		m->key.mark = key->mark;
		break;
	case SET_SET:
	case SET_END:
		break;
	}
}

/* what is left, in seconds; never 0, which would mean for ever */
static uint32_t left(uint64_t expires_ns, uint64_t now_ns)
{
	uint64_t s = expires_ns > now_ns ? (expires_ns - now_ns) / 1000000000 : 0;

	return s == 0 ? 1 : (uint32_t)s;
}

static void fill_extra(struct set_extra *extra, bool commented, struct ipset_member *m)
{
	m->counters.packets = atomic_load(&extra->packets);
	m->counters.bytes = atomic_load(&extra->bytes);
	m->skb = extra->skb;
	m->skb_mark = extra->skb_mark;
	m->skb_mask = extra->skb_mask;
	m->skb_prio = extra->skb_prio;
	m->skb_queue = extra->skb_queue;
	if (commented && extra->comment != NULL)
		m->comment = strdup(extra->comment);
}

static void fill(const struct sl_set *s, struct set_entry *e, uint64_t now_ns,
		struct ipset_member *m)
{
	uint64_t expires_ns = atomic_load(&e->expires_ns);
	struct set_extra *extra = set_extra(&s->t, e);

	*m = (struct ipset_member){ 0 };
	for (unsigned int i = 0; i < s->type->dim; i++)
		fill_part(s, (enum set_part)s->type->parts[i], e, m);
	m->nomatch = (atomic_load(&e->flags) & SET_NOMATCH) != 0;
	if (expires_ns != 0)
		m->timeout_s = left(expires_ns, now_ns);
	else if (s->def.timeout && s->def.type == IPSET_BITMAP_IP_MAC && !m->has_mac)
		m->timeout_s = e->timeout_s;
	if (extra != NULL)
		fill_extra(extra, !(atomic_load(&e->flags) & SET_UNCOMMENTED), m);
}

static int64_t list_links(const struct ipt_sets *sets, const struct sl_set *s, uint32_t from,
		struct ipset_member *out, uint32_t *n)
{
	const struct set_list *l = atomic_load(&s->list);
	uint64_t now_ns = set_now(s->r);
	uint32_t room = *n, i = from;

	*n = 0;
	for (; l != NULL && i < l->n && *n < room; i++) {
		struct ipset_member *m = &out[*n];
		uint64_t expires_ns = atomic_load(&l->v[i]->expires_ns);

		if (set_expired(expires_ns, now_ns))
			continue;
		*m = (struct ipset_member){ 0 };
		while (sets->v[m->key.set] != l->v[i]->slot)
			m->key.set++;
		m->timeout_s = expires_ns == 0 ? 0 : left(expires_ns, now_ns);
		fill_extra(&l->v[i]->extra, true, m);
		(*n)++;
	}
	return l == NULL || i >= l->n ? 0 : i;
}

int64_t sl_set_list(struct ipt_sets *sets, const char *name, uint32_t from,
		struct ipset_member *out, uint32_t *n)
{
	const struct set_slot *slot = set_slot_find(sets, name);
	uint32_t room = *n, i = from;
	uint64_t now_ns = set_now(sets->r);
	struct sl_set *s;
	int64_t next;

	if (slot == NULL)
		return -ENOENT;
	s = atomic_load(&slot->set);
	if (s->def.type == IPSET_LIST_SET)
		return list_links(sets, s, from, out, n);
	*n = 0;
	rte_spinlock_lock(&s->lock);
	for (; i < s->t.high && *n < room; i++) {
		struct set_entry *e = &s->t.entries[i];

		if (!e->used || set_expired(atomic_load(&e->expires_ns), now_ns))
			continue;
		fill(s, e, now_ns, &out[(*n)++]);
	}
	next = i < s->t.high ? i : 0;
	rte_spinlock_unlock(&s->lock);
	return next;
}
