/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the sets share. */
#pragma once

#include "classifier/set.h"
#include "classifier/set_table.h"

#include <rte_spinlock.h>

#define SET_LEN_WORDS 3 /* lengths 0 to 128, a bit each */
#define SET_PARTS_MAX 3

enum set_part {
	SET_END,
	SET_IP,
	SET_PORT,
	SET_IP2,
	SET_NET,
	SET_NET2,
	SET_MAC,
	SET_IFACE,
	SET_MARK,
	SET_SET,
};

/* one part for each dimension */
struct set_type {
	const char *name;
	uint8_t parts[SET_PARTS_MAX + 1];
	uint8_t dim;
	uint8_t nets; /* bit 0: the first address is a net, bit 1: the second */
	bool bitmap;
	uint32_t parts_bits; /* what sets must have in common to be swapped */
};
const struct set_type *set_type(enum ipset_type type);

/* one member of list:set */
struct set_link {
	struct set_slot *slot;
	_Atomic uint64_t expires_ns;
	struct set_extra extra;
};

/* members of list:set, replaced whole */
struct set_list {
	uint32_t n;
	struct set_link *v[];
};

struct sl_set {
	struct ipset def; /* [const] without name and members */
	const struct set_type *type;
	struct sl_router *r;
	rte_spinlock_t lock; /* of writers; nobody waits for a grace period in it */
	struct set_table t;
	struct set_table nets; /* of hash:net,iface: nets that have members */
	_Atomic(struct set_list *) list; /* [rcu] of list:set */
	/* [rcu] prefix lengths that members have, by dimension */
	_Atomic uint64_t lens[2][SET_LEN_WORDS];
	_Atomic uint32_t wild; /* [rcu] lengths of interface prefixes */
	uint32_t n_len[2][129], n_wild[IPT_IFNAME_LEN];
	uint64_t soonest_ns; /* nothing expires before */
	uint32_t cursor; /* of the search for what has expired */
};

/* a name. Rules and lists hold it, so that what it stands for can be swapped below them. */
struct set_slot {
	char name[SL_SET_NAME_MAX];
	_Atomic(struct sl_set *) set; /* [rcu] */
	uint32_t users; /* [control] rules and lists */
	uint32_t adders; /* [control] users that add by packets */
	uint32_t holders; /* [control] collections */
	uint64_t digest; /* of what the file says; 0: made by control */
};

struct ipt_sets {
	struct sl_router *r;
	uint32_t n, room;
	struct set_slot **v;
};

/* results of a test beside 0 and 1 */
#define SET_IS_NOMATCH (-1) /* the member is an exception */
#define SET_WANTS_MAC (-2) /* bitmap:ip,mac: the member has no MAC yet */
#define SET_NO_KEY (-3) /* the packet has not got what the set is asked for */

/* one look-up or change */
struct set_query {
	const struct sl_set_ask *ask;
	uint32_t flags; /* of the ask, changed by lists */
	uint64_t now_ns;
	uint32_t bytes; /* of the packet; 0: control asks */
	struct sl_set_skb *skb; /* or NULL */
};

/* what is stored with a member beside its key */
struct set_value {
	uint32_t timeout_s;
	bool nomatch;
	bool has_mac;
	bool count; /* counters are given */
	bool by_packet;
	uint8_t mac[6];
	uint8_t skb;
	uint16_t skb_queue;
	uint32_t skb_mark, skb_mask, skb_prio;
	uint64_t packets, bytes;
	char *comment; /* malloc(), taken over; or NULL */
};

/* set_member.c */
uint64_t set_now(const struct sl_router *r);
static inline bool set_expired(uint64_t expires_ns, uint64_t now_ns)
{
	return expires_ns != 0 && expires_ns < now_ns;
}
static inline uint64_t set_expiry(uint32_t timeout_s, uint64_t now_ns)
{
	return timeout_s == 0 ? 0 : now_ns + timeout_s * UINT64_C(1000000000);
}

/* set_pkt.c */
/* Return: whether the packet has all that the key needs; *mac: for bitmap:ip,mac */
bool set_key_of_packet(const struct sl_set *s, const struct ipt_ctx *c,
		const struct sl_set_ask *ask, union set_key *key, uint8_t mac[6]);

/* set_member.c: all types but list:set */
struct sl_set *set_new(struct sl_router *r, const struct ipset *def);
void set_free(struct sl_set *s);
int set_test(struct sl_set *s, const union set_key *key, const uint8_t *mac, bool any_len,
		const struct set_query *q);
/* whether value, counters and time of a member let it match */
bool set_extra_holds(const struct sl_set *s, struct set_extra *extra, uint64_t expires_ns,
		const struct set_query *q);
void set_key_of_member(const struct sl_set *s, const struct ipset_member *m, union set_key *key);
/* the longest prefix length below @below that a member has; -1: none */
int set_len_below(const struct sl_set *s, unsigned int dim, int below);
struct sl_addr set_mask_addr(const struct sl_set *s, const struct sl_addr *a, unsigned int len);

/* set_change.c */
/* beside those of set.h: -EAGAIN wait for a grace period, -EOVERFLOW reserve more buckets */
int set_add(struct sl_set *s, const union set_key *key, struct set_value *v, bool exist,
		uint64_t now_ns);
int set_del(struct sl_set *s, const union set_key *key, uint64_t now_ns);
/* the member that counts as the same one, or NULL */
struct set_entry *set_find_same(const struct sl_set *s, const union set_key *key);
/* [control] buckets for @n members, so that no packet has to wait for them */
int set_reserve(struct sl_set *s, uint32_t n);
/* [control] makes room and buckets before an add */
int set_prepare(struct sl_set *s);
void set_extra_store(struct set_extra *extra, const struct sl_set *s, const struct set_value *v);

/* set_list.c */
int set_list_test(struct sl_set *s, struct ipt_ctx *c, struct set_query *q);
void set_list_each(struct sl_set *s, struct ipt_ctx *c, const struct sl_set_ask *ask, bool add);
int set_list_add(struct sl_set *s, struct set_slot *slot, struct set_value *v, bool exist);
int set_list_del(struct sl_set *s, struct set_slot *slot);
bool set_list_has(struct sl_set *s, const struct set_slot *slot);
/* after a grace period */
void set_list_clear(struct sl_set *s);

/* set_rule.c */
int set_slot_test(struct set_slot *slot, struct ipt_ctx *c, struct set_query *q);
int set_slot_add(struct set_slot *slot, struct ipt_ctx *c, const struct sl_set_ask *ask);
int set_slot_del(struct set_slot *slot, struct ipt_ctx *c, const struct sl_set_ask *ask);

/* sets.c */
struct set_slot *set_slot_find(const struct ipt_sets *sets, const char *name);
/* sets_text.c */
uint64_t set_digest(const struct ipset_file *file, const struct ipset *def);
