/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbours, private part: what lib/neigh*.c, lib/arp.c, lib/nd.c and lib/stage_neighbour.c share.
 *
 * Entries hang in the chains of a hash table that workers walk without a lock. The host worker
 * alone links and unlinks; an unlinked entry is used again after a grace period. Timers stand in a
 * binary heap, so a clock that jumps (replay) costs no more than the timers that are due.
 *
 * An entry that a route pins has a struct also while the kernel would have none; it is "live" from
 * the moment that the kernel would make one until the kernel would forget it.
 */
#pragma once

#include "lib/neigh.h"
#include "lib/net.h"
#include "lib/worker.h"

#include <rte_ether.h>

#include <stddef.h>
#include <sys/queue.h>

#define NEIGH_NS_PER_MS 1000000ULL
#define NEIGH_NS_PER_S 1000000000ULL
#define NEIGH_NO_TIMER UINT32_MAX

#define NEIGH_BIT(state) (1U << (state))
/* a link address is known; packets go out */
#define NEIGH_VALID                                                                                \
	(NEIGH_BIT(SL_NEIGH_PERMANENT) | NEIGH_BIT(SL_NEIGH_REACHABLE) | NEIGH_BIT(SL_NEIGH_STALE) \
			| NEIGH_BIT(SL_NEIGH_DELAY) | NEIGH_BIT(SL_NEIGH_PROBE))
/* and it is believed without asking */
#define NEIGH_CONNECTED (NEIGH_BIT(SL_NEIGH_PERMANENT) | NEIGH_BIT(SL_NEIGH_REACHABLE))

/* what an ARP or ND message may change; the kernel's NEIGH_UPDATE_F_* */
#define NEIGH_OVERRIDE (1U << 0) /* another link address than the known one is taken */
#define NEIGH_WEAK_OVERRIDE (1U << 1) /* ... or at least makes the known one suspect */
#define NEIGH_SET_ROUTER (1U << 2) /* the router flag is set to that of NEIGH_ROUTER */
#define NEIGH_ROUTER (1U << 3)

enum neigh_list {
	NEIGH_LIST_NONE,
	NEIGH_LIST_IDLE,
	NEIGH_LIST_FAILED,
};

struct neigh_entry {
	/* line 0: what workers read */
	struct sl_neigh n;
	_Atomic(struct neigh_entry *) next; /* [rcu] in the bucket; of dead ones kept for readers */
	_Atomic(struct neigh_entry *) woken_next;
	uint32_t hash;
	_Atomic uint8_t woken; /* stands in the table's woken list */

	/* the host worker's */
	uint8_t state __rte_aligned(64); /* enum sl_neigh_state */
	uint8_t list; /* enum neigh_list */
	bool live;
	bool router;
	bool wanted; /* while static entries are applied */
	uint32_t pins;
	uint32_t probes;
	uint32_t heap_pos; /* NEIGH_NO_TIMER: not armed */
	uint64_t due_ns;
	uint64_t due_seq; /* among equal times, first armed first */
	uint64_t used_ns; /* last packet that found it other than connected */
	uint64_t confirmed_ns;
	uint64_t updated_ns;
	struct rte_mbuf *queue_head; /* by sl_pkt()->held_next */
	struct rte_mbuf *queue_tail;
	uint32_t n_queued;
	TAILQ_ENTRY(neigh_entry) all;
	union {
		TAILQ_ENTRY(neigh_entry) idle; /* in idle or failed */
		struct {
			STAILQ_ENTRY(neigh_entry) dead; /* unlinked, or free */
			uint64_t rcu_token;
		};
	};
} __rte_aligned(64);

static_assert(offsetof(struct neigh_entry, state) == 64, "workers' fields fill line 0");

TAILQ_HEAD(neigh_tailq, neigh_entry);
STAILQ_HEAD(neigh_stailq, neigh_entry);

struct neigh_buckets {
	uint32_t mask;
	uint64_t rcu_token; /* once it was replaced */
	_Atomic(struct neigh_entry *) head[];
};

/* what is kept for each family, as the kernel's arp_tbl and nd_tbl */
struct neigh_family {
	uint32_t count; /* live entries that are not permanent */
	bool parked; /* some idle entries have no timer */
	uint64_t last_gc_ns; /* of the last forced collection */
	uint64_t reachable_ns; /* 0.5 to 1.5 of reachable_base_ns, drawn anew every 300 s */
	uint64_t reachable_base_ns;
	uint64_t drawn_ns;
	struct neigh_tailq idle; /* NONE and STALE, by updated_ns */
	struct neigh_tailq failed;
};

struct sl_neigh_table {
	/* workers read */
	_Atomic(struct neigh_buckets *) buckets; /* [rcu] */
	uint32_t seed; /* [const] */
	/* workers push, the host worker takes all: stale entries that packets were sent to */
	_Atomic(struct neigh_entry *) woken __rte_aligned(64);

	/* the host worker's */
	struct sl_router *r __rte_aligned(64);
	struct neigh_entry **heap;
	uint32_t n_heap;
	uint64_t next_seq;
	uint32_t n_entries; /* linked ones */
	uint32_t n_slots; /* entries ever allocated; size of the heap */
	uint32_t n_free;
	struct neigh_slab *slabs;
	struct neigh_buckets *old_buckets; /* waits for its grace period */
	struct neigh_tailq all; /* linked ones, in the order in which they were made */
	struct neigh_stailq dead; /* unlinked, readers may still be there */
	struct neigh_stailq free;
	struct neigh_family family[2]; /* IPv4, IPv6 */
	struct sl_nexthop
			direct[SL_PORTS_MAX]; /* the way of own ND packets: straight to the link */
};

/* a family's switches in nanoseconds */
struct neigh_parms {
	uint64_t base_reachable_ns;
	uint64_t retrans_ns;
	uint64_t delay_ns;
	uint64_t stale_ns;
	uint32_t mcast_solicit;
	uint32_t ucast_solicit;
	uint32_t max;
	uint32_t queue;
};

static inline struct neigh_family *neigh_family(struct sl_neigh_table *t, uint8_t family)
{
	return &t->family[family == SL_AF_INET6];
}

static inline bool neigh_is(const struct neigh_entry *e, uint32_t states)
{
	return (NEIGH_BIT(e->state) & states) != 0;
}

static inline uint64_t neigh_link_of(const struct rte_ether_addr *mac)
{
	uint64_t link = 0;

	memcpy(&link, mac, sizeof(*mac));
	return rte_le_to_cpu_64(link);
}

static inline void neigh_mac_of(uint64_t link, struct rte_ether_addr *mac)
{
	link = rte_cpu_to_le_64(link);
	memcpy(mac, &link, sizeof(*mac));
}

/* lib/neigh_table.c --------------------------------------------------------------------------- */

/* entry, live or only pinned; NULL: none */
struct neigh_entry *neigh_lookup(const struct sl_neigh_table *t, uint16_t port, uint8_t family,
		const struct sl_addr *addr);
/* one that the kernel would have too */
struct neigh_entry *neigh_lookup_live(const struct sl_neigh_table *t, uint16_t port, uint8_t family,
		const struct sl_addr *addr);
/* linked, not live; NULL: no memory */
struct neigh_entry *neigh_insert(struct sl_neigh_table *t, uint16_t port, uint8_t family,
		const struct sl_addr *addr);
/* room for @n more entries: 0, -ENOMEM */
int neigh_reserve(struct sl_neigh_table *t, uint32_t n);

/* unlink, and free after a grace period */
void neigh_remove(struct sl_neigh_table *t, struct neigh_entry *e);
/* memory of entries whose grace period is over */
void neigh_reclaim(struct sl_neigh_table *t);

/* lib/neigh_gc.c ------------------------------------------------------------------------------ */

void neigh_parms_get(const struct sl_worker *w, uint8_t family, struct neigh_parms *out);
/* live entry, made if need be; NULL: the table is full */
struct neigh_entry *neigh_lookup_make(
		struct sl_worker *w, uint16_t port, uint8_t family, const struct sl_addr *addr);
/* state, and with it the bit that lets workers send, the lists and the timer of idle ones; the
 * timers of the other states are the caller's */
void neigh_set_state(struct sl_worker *w, struct neigh_entry *e, enum sl_neigh_state state);
/* forget what is known; unlinks and frees it unless it is pinned. The queue must be empty. */
void neigh_forget(struct sl_neigh_table *t, struct neigh_entry *e);
/* the timer of an idle or failed entry ran out */
void neigh_collect(struct sl_worker *w, struct neigh_entry *e);

/* lib/neigh_timer.c --------------------------------------------------------------------------- */

void neigh_timer_arm(struct sl_neigh_table *t, struct neigh_entry *e, uint64_t due_ns);
void neigh_timer_cancel(struct sl_neigh_table *t, struct neigh_entry *e);
/* entry whose timer is first, if it is due; disarmed */
struct neigh_entry *neigh_timer_take(struct sl_neigh_table *t, uint64_t now_ns);

/* lib/neigh_queue.c --------------------------------------------------------------------------- */

/* counts the packet as held */
void neigh_queue_push(struct sl_worker *w, struct neigh_entry *e, struct rte_mbuf *m);
/* the oldest, no longer held; NULL: none */
struct rte_mbuf *neigh_queue_pop(struct sl_worker *w, struct neigh_entry *e);
/* nobody answered: every packet back to its owner, who tells its sender */
void neigh_queue_fail(struct sl_worker *w, struct neigh_entry *e);
/* drop what waits there */
void neigh_purge(struct sl_worker *w, struct neigh_entry *e, enum sl_drop_reason reason);
/* a frame of the router's own out of @port, @len bytes of zero; NULL and counted if there is none */
struct rte_mbuf *neigh_own_frame(struct sl_worker *w, uint16_t port, uint16_t len);

/* lib/neigh.c --------------------------------------------------------------------------------- */

/**
 * neigh_update() - what a message says of a neighbour, as the kernel's neigh_update()
 * @mac:   link address that was told, NULL: none
 * @state: REACHABLE if it answered us, else STALE
 * @flags: NEIGH_*
 */
void neigh_update(struct sl_worker *w, struct neigh_entry *e, const struct rte_ether_addr *mac,
		enum sl_neigh_state state, uint32_t flags);
/* permanent entry; sends what waits. [host worker] */
void neigh_set_permanent(
		struct sl_worker *w, struct neigh_entry *e, const struct rte_ether_addr *mac);

/* lib/arp.c, lib/nd.c ------------------------------------------------------------------------- */

/**
 * arp_solicit(), nd_solicit() - ask for the link address of @e
 * @trigger: a packet that waits for it, or NULL
 * @mac:     who is asked, NULL: everybody
 */
void arp_solicit(struct sl_worker *w, const struct neigh_entry *e, const struct sl_pkt *trigger,
		const struct rte_ether_addr *mac);
void nd_solicit(struct sl_worker *w, const struct neigh_entry *e, const struct sl_pkt *trigger,
		bool unicast);
