/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets as rules ask them: by the packet, through the name that the rule gave. */
#include "classifier/ext.h"
#include "classifier/set_priv.h"
#include "lib/worker.h"

#include <errno.h>

static struct sl_set *set_of(const struct set_slot *slot)
{
	return atomic_load_explicit(&slot->set, memory_order_acquire);
}

/* a rule with too few dimensions, or of the other family, finds nothing */
static bool fits(const struct sl_set *s, const struct ipt_ctx *c, const struct sl_set_ask *ask)
{
	bool any = s->def.type == IPSET_BITMAP_PORT || s->def.type == IPSET_LIST_SET
			|| s->def.type == IPSET_HASH_MAC || s->def.type == IPSET_HASH_MARK;

	return ask->n >= s->type->dim && (any || s->def.family == c->family);
}

static struct set_value value_of(
		const struct sl_set *s, const struct ipt_ctx *c, const struct sl_set_ask *ask)
{
	return (struct set_value){
		.timeout_s = ask->flags & SL_SET_TIMEOUT ? ask->timeout_s : s->def.timeout_s,
		.by_packet = true,
		.count = true,
		.packets = 1,
		.bytes = c->m->pkt_len - c->p->l3_off,
	};
}

/*
 * The prefix length that a packet adds and deletes with is the longest that a member has, whatever
 * nets the other members are.
 */
static bool cut_nets(const struct sl_set *s, union set_key *key)
{
	int first = set_len_below(s, 0, 129), second = set_len_below(s, 1, 129);

	if (first == 0 && s->type->nets == 1)
		return false;
	if (s->type->nets & 1 && first >= 0) {
		key->a = set_mask_addr(s, &key->a, (unsigned int)first);
		key->len[0] = (uint8_t)first;
	}
	if (s->type->nets & 2 && second >= 0) {
		key->b = set_mask_addr(s, &key->b, (unsigned int)second);
		key->len[1] = (uint8_t)second;
	}
	return true;
}

static int add_key(struct sl_set *s, struct ipt_ctx *c, const struct sl_set_ask *ask,
		const union set_key *key, const uint8_t mac[6])
{
	struct set_value v = value_of(s, c, ask);

	if (s->def.type == IPSET_BITMAP_IP_MAC) {
		v.has_mac = true;
		memcpy(v.mac, mac, sizeof(v.mac));
	}
	return set_add(s, key, &v, ask->flags & SL_SET_EXIST, c->w->now_ns);
}

int set_slot_add(struct set_slot *slot, struct ipt_ctx *c, const struct sl_set_ask *ask)
{
	struct sl_set *s = set_of(slot);
	union set_key key;
	uint8_t mac[6];

	if (!fits(s, c, ask))
		return -EPROTOTYPE;
	if (s->def.type == IPSET_LIST_SET) {
		set_list_each(s, c, ask, true);
		return 0;
	}
	if (!set_key_of_packet(s, c, ask, &key, mac) || !cut_nets(s, &key))
		return -EINVAL;
	return add_key(s, c, ask, &key, mac);
}

int set_slot_del(struct set_slot *slot, struct ipt_ctx *c, const struct sl_set_ask *ask)
{
	struct sl_set *s = set_of(slot);
	union set_key key;
	uint8_t mac[6];

	if (!fits(s, c, ask))
		return -EPROTOTYPE;
	if (s->def.type == IPSET_LIST_SET) {
		set_list_each(s, c, ask, false);
		return 0;
	}
	if (!set_key_of_packet(s, c, ask, &key, mac) || !cut_nets(s, &key))
		return -EINVAL;
	return set_del(s, &key, c->w->now_ns);
}

/* Return: whether the packet is in; @ret of the look-up */
static int conclude(struct sl_set *s, struct ipt_ctx *c, const struct set_query *q, int ret,
		const union set_key *key, const uint8_t mac[6])
{
	if (ret == SET_WANTS_MAC) {
		add_key(s, c, q->ask, key, mac);
		return 1;
	}
	if (q->flags & SL_SET_RETURN_NOMATCH && s->type->nets != 0)
		return ret == SET_IS_NOMATCH;
	return ret == 1;
}

int set_slot_test(struct set_slot *slot, struct ipt_ctx *c, struct set_query *q)
{
	struct sl_set *s = set_of(slot);
	union set_key key;
	uint8_t mac[6];

	if (!fits(s, c, q->ask))
		return 0;
	if (s->def.type == IPSET_LIST_SET)
		return set_list_test(s, c, q);
	if (!set_key_of_packet(s, c, q->ask, &key, mac)
			|| (s->type->nets == 1 && set_len_below(s, 0, 129) == 0))
		return 0;
	return conclude(s, c, q, set_test(s, &key, mac, true, q), &key, mac);
}

static struct set_query query_of(const struct ipt_ctx *c, const struct sl_set_ask *ask)
{
	return (struct set_query){
		.ask = ask,
		.flags = ask->flags,
		.now_ns = c->w->now_ns,
		.bytes = c->m->pkt_len - c->p->l3_off,
	};
}

bool sl_set_match(struct set_slot *slot, struct ipt_ctx *c, const struct sl_set_ask *ask,
		struct sl_set_skb *skb)
{
	struct set_query q = query_of(c, ask);

	q.skb = skb;
	return set_slot_test(slot, c, &q) == 1;
}

uint64_t sl_set_test_bulk(struct set_slot *slot, struct ipt_ctx *c, struct rte_mbuf **pkts,
		unsigned int n, const struct sl_set_ask *ask)
{
	struct sl_set *s = set_of(slot);
	union set_key keys[SL_BURST];
	uint64_t in = 0, have = 0;
	bool simple = fits(s, c, ask) && s->type->nets == 0 && s->def.type != IPSET_LIST_SET
			&& s->def.type != IPSET_BITMAP_IP_MAC;

	for (unsigned int i = 0; simple && i < n; i++) {
		c->m = pkts[i];
		c->p = sl_pkt(pkts[i]);
		if (!set_key_of_packet(s, c, ask, &keys[i], NULL))
			continue;
		have |= UINT64_C(1) << i;
		set_table_prefetch(&s->t, &keys[i]);
	}
	for (unsigned int i = 0; i < n; i++) {
		struct set_query q;

		c->m = pkts[i];
		c->p = sl_pkt(pkts[i]);
		q = query_of(c, ask);
		if (!simple)
			in |= (uint64_t)(set_slot_test(slot, c, &q) == 1) << i;
		else if (have >> i & 1)
			in |= (uint64_t)(set_test(s, &keys[i], NULL, false, &q) == 1) << i;
	}
	return in;
}

void sl_set_add_packet(struct set_slot *slot, struct ipt_ctx *c, const struct sl_set_ask *ask)
{
	set_slot_add(slot, c, ask);
}

void sl_set_del_packet(struct set_slot *slot, struct ipt_ctx *c, const struct sl_set_ask *ask)
{
	set_slot_del(slot, c, ask);
}
