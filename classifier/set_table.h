/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The members of one set: a hash table that workers read without a lock while one writer at a time
 * changes it. What a member means is set.c's business.
 */
#pragma once

#include "classifier/arena.h"
#include "lib/addr.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sl_router;

#define SET_SLOTS 8 /* of a bucket */
#define SET_NONE UINT32_MAX

/* flags of struct set_key */
#define SET_KEY_PHYSDEV (1U << 0)
#define SET_KEY_WILD (1U << 1) /* the interface name is a prefix */

/* what makes two members the same; parts that the type has not got are 0 */
union set_key {
	struct {
		uint16_t port;
		uint8_t proto;
		uint8_t len[2]; /* prefix lengths of nets */
		uint8_t flags; /* SET_KEY_* */
		uint16_t pad;
		struct sl_addr a;
		union {
			struct sl_addr b;
			uint8_t mac[6];
			uint32_t mark;
			char iface[16];
		};
	};
	uint64_t q[5];
};

/* flags of struct set_entry */
#define SET_NOMATCH (1U << 0)
#define SET_HAS_MAC (1U << 1)
#define SET_UNCOMMENTED (1U << 2) /* the comment is no longer the member's */

struct set_entry {
	union set_key key; /* [const] from when it is found until a grace period after */
	_Atomic uint64_t expires_ns; /* 0: never; of one that is gone: the token of its end */
	union {
		uint32_t next; /* of those that are free or gone */
		uint32_t timeout_s; /* bitmap:ip,mac, until the MAC is known */
		uint32_t members; /* of a net of hash:net,iface */
	};
	_Atomic uint8_t flags;
	uint8_t mac[6]; /* bitmap:ip,mac: not part of the key */
	bool used; /* as next: whoever has the lock */
} __rte_aligned(64);
static_assert(sizeof(struct set_entry) == 64, "a hit reads one line of the member");

/* what only some sets keep about a member */
struct set_extra {
	_Atomic uint64_t packets, bytes; /* any worker adds */
	char *comment; /* [control] */
	uint32_t skb_mark, skb_mask, skb_prio;
	uint16_t skb_queue;
	uint8_t skb; /* IPSET_SKB_* */
} __rte_aligned(64);

struct set_bucket {
	uint16_t sig[SET_SLOTS]; /* 0: free */
	uint32_t at[SET_SLOTS]; /* number of the entry */
	uint32_t spilled; /* members whose first bucket this is and that lie in their second */
	uint32_t pad[3];
} __rte_aligned(64);
static_assert(sizeof(struct set_bucket) == 64, "a miss reads one line");

/* the buckets, replaced whole when they grow */
struct set_index {
	uint64_t seed[5];
	uint32_t mask;
	struct cls_arena arena;
	struct set_bucket *b;
};

struct set_table {
	_Atomic(struct set_index *) index; /* [rcu] */
	struct set_entry *entries; /* [const] the place; they never move */
	struct set_extra *extras; /* [const] by number of the entry, or NULL */
	bool wide; /* [const] keys use all words, not only the first two */
	uint32_t room; /* [const] entries */
	uint32_t high; /* entries ever used: [0, high) */
	uint32_t n; /* members */
	uint32_t free; /* list of entries */
	uint32_t gone_first, gone_last; /* list of entries that a reader may still look at */
	struct sl_router *r; /* [const] whose readers are waited for; NULL: nobody reads */
	struct cls_arena entry_arena, extra_arena;
};

/**
 * set_table_create() - an empty table
 * @room:   most members
 * @extras: keep a struct set_extra for each member
 *
 * Return: 0, -ENOMEM.
 */
int set_table_create(
		struct set_table *t, struct sl_router *r, uint32_t room, bool wide, bool extras);
/* after a grace period */
void set_table_destroy(struct set_table *t);

/* the member, or NULL */
struct set_entry *set_table_find(const struct set_table *t, const union set_key *key);

/* fetches what set_table_find() will read first */
void set_table_prefetch(const struct set_table *t, const union set_key *key);

/**
 * set_table_take() - memory for a new member
 *
 * Its flags, extra and expires_ns are 0. Return: NULL if no entry is free (yet).
 */
struct set_entry *set_table_take(struct set_table *t);

/**
 * set_table_insert() - let readers find an entry, filled in, that is not there yet
 *
 * Return: 0; -EAGAIN if both buckets are full: the buckets must grow, the entry is given back.
 */
int set_table_insert(struct set_table *t, struct set_entry *e);

/* out of sight; its memory is used again after a grace period */
void set_table_remove(struct set_table *t, struct set_entry *e);

/* whether the next member should find a larger index */
bool set_table_is_dense(const struct set_table *t);

/**
 * set_table_grow() - an index for at least @n members beside the one in use
 * @old: out: to be freed by set_index_free() after a grace period
 *
 * Return: 0, -ENOMEM.
 */
int set_table_grow(struct set_table *t, uint32_t n, struct set_index **old);
void set_index_free(struct set_index *x);

static inline struct set_extra *set_extra(const struct set_table *t, const struct set_entry *e)
{
	return t->extras == NULL ? NULL : &t->extras[e - t->entries];
}
