/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tracked connection: three cache lines. The first two are what a packet of an established
 * connection without NAT touches. [worker] throughout: only the owner of the flow reads or writes.
 */
#pragma once

#include "conntrack/tuple.h"

/* status; the kernel's bits */
#define CT_EXPECTED (1U << 0)
#define CT_SEEN_REPLY (1U << 1)
#define CT_ASSURED (1U << 2)
#define CT_CONFIRMED (1U << 3)
#define CT_SRC_NAT (1U << 4)
#define CT_DST_NAT (1U << 5)
#define CT_NAT_MASK (CT_SRC_NAT | CT_DST_NAT)
#define CT_SEQ_ADJUST (1U << 6)
#define CT_SRC_NAT_DONE (1U << 7)
#define CT_DST_NAT_DONE (1U << 8)
#define CT_DYING (1U << 9)
#define CT_FIXED_TIMEOUT (1U << 10)
#define CT_HELPER (1U << 13) /* the helper was assigned by a rule */
/* not the kernel's */
#define CT_MASQUERADED (1U << 22) /* nat_port is set */
#define CT_REPLY_HELD (1U << 23) /* not found by its replies yet: NAT is still at work */
#define CT_TWO_TUPLES (1U << 24) /* reply is not original turned round: found by both */
#define CT_UNFOUND (1U << 25) /* out of the index; memory is kept to the end of the burst */
#define CT_REPLY_ONLY (1U << 26) /* clash resolved: found by its reply alone */
#define CT_FRESH (1U << 27) /* made since the last tick */
#define CT_COLD (1U << 28) /* struct ct_cold of this memory was written */
#define CT_IN_SOURCES (1U << 29) /* in the list of its source */
#define CT_NAT_PENDING (1U << 30) /* a packet of the batch at hand is to ask nat for it */
#define CT_CLAIMED (1U << 31) /* replies come to this worker by a claim */

enum ct_tcp_state {
	CT_TCP_NONE,
	CT_TCP_SYN_SENT,
	CT_TCP_SYN_RECV,
	CT_TCP_ESTABLISHED,
	CT_TCP_FIN_WAIT,
	CT_TCP_CLOSE_WAIT,
	CT_TCP_LAST_ACK,
	CT_TCP_TIME_WAIT,
	CT_TCP_CLOSE,
	CT_TCP_SYN_SENT2,
	CT_TCP_STATES,
	CT_TCP_IGNORE = CT_TCP_STATES, /* in tables only, as the next */
	CT_TCP_INVALID,
	CT_TCP_RETRANS = CT_TCP_STATES, /* as a timeout, as the next */
	CT_TCP_UNACK,
	CT_TCP_TIMEOUTS,
};

struct ct_tcp_side {
	uint32_t end; /* highest sequence number sent, plus length */
	uint32_t maxend; /* right edge of the other side's window */
	uint32_t maxwin; /* largest window seen, scaled */
	uint32_t maxack; /* highest acknowledgement sent */
	uint8_t scale;
	uint8_t flags; /* CT_TCP_* of proto_tcp.c */
	uint16_t pad;
};

struct ct_tcp {
	struct ct_tcp_side side[CT_DIR_NB];
	uint8_t state; /* enum ct_tcp_state */
	uint8_t last_dir;
	uint8_t last_index; /* kind of the last packet */
	uint8_t retrans;
	uint32_t last_seq, last_ack, last_end;
	uint16_t last_win;
	uint8_t last_wscale;
	uint8_t last_flags;
};

struct ct_gre {
	uint32_t stream_s, timeout_s;
};

struct ct_sctp {
	uint32_t vtag[CT_DIR_NB];
	uint32_t init[CT_DIR_NB];
	uint8_t state; /* enum ct_sctp_state of proto_sctp.c */
	uint8_t last_dir;
	uint8_t flags;
};

#define CT_NONE UINT32_MAX

/* an entry of any worker, which may be gone */
struct ct_ref {
	uint32_t id; /* of the entry when the reference was made; 0: none */
	uint32_t at; /* index in the shard */
	uint16_t worker;
};

struct ct_entry {
	/* line 0 */
	struct ct_tuple orig;
	uint32_t status; /* CT_* */
	uint32_t expires_ms; /* of ct_now(); compare by difference */
	uint32_t mark;
	uint32_t id; /* never 0, changes whenever the memory is used anew */
	uint16_t helper; /* enum ct_helper of conntrack/helper.h, 0: none */
	uint16_t slot; /* of the wheel, plus 1; 0: in none. Outlives the connection */
	uint32_t created_ms;

	/* line 1: of the protocol; UDP has nothing there, so that its packets need not wait for it */
	union {
		struct ct_tcp tcp;
		struct ct_gre gre;
		struct ct_sctp sctp;
		uint8_t proto_data[64];
	};

	/* line 2: NAT, lists */
	struct ct_tuple reply;
	uint32_t next; /* in the list of fresh or of dying ones */
	uint32_t master_id; /* 0: none */
	uint32_t master_at;
	uint16_t master_worker;
	uint16_t nat_port; /* MASQUERADE: logical port by which it left, 0: none */
	uint16_t events_off; /* CT_EVENT_*: that a CT target wants to be left untold */
	uint16_t pad;
	uint32_t by_source; /* NAT: link of the list of connections from one source */
} __rte_aligned(64);
static_assert(sizeof(struct ct_entry) == 192, "three lines");
static_assert(offsetof(struct ct_entry, tcp) == 64, "the protocol's line");
static_assert(offsetof(struct ct_entry, reply) == 128, "NAT's line");

/*
 * What few connections need: an array beside the entries, pages are taken when first written.
 * Zeroed when an entry is made if it was ever written (CT_COLD).
 */
struct ct_cold {
	uint64_t packets[CT_DIR_NB], bytes[CT_DIR_NB]; /* nf_conntrack_acct */
	uint64_t start_ns; /* wall clock, nf_conntrack_timestamp */
	uint8_t labels[16]; /* connlabel: bit n of 128 */
	struct {
		uint32_t pos; /* sequence number of the last correction */
		int32_t before, after; /* what is added in front of it and behind it */
	} seqadj[CT_DIR_NB];
	uint8_t help[40]; /* of the helper */
} __rte_aligned(64);
static_assert(sizeof(struct ct_cold) <= 192, "cold lines");

static inline enum ct_dir ct_info_dir(uint8_t info)
{
	return info >= SL_CT_ESTABLISHED_REPLY ? CT_REPLY : CT_ORIGINAL;
}

/* the connection of a packet, NULL: none (then SL_PKT_UNTRACKED, or it is INVALID) */
static inline struct ct_entry *ct_of(const struct sl_pkt *p)
{
	return p->flags & SL_PKT_CT_TEMPLATE ? NULL : p->ct;
}

static inline const struct ct_tuple *ct_tuple_of(const struct ct_entry *e, enum ct_dir dir)
{
	return dir == CT_ORIGINAL ? &e->orig : &e->reply;
}

/* what a CT target asks of the connection that is about to be made [const] */
struct ct_template {
	uint16_t zone;
	bool zone_mark; /* the zone is the packet's mark */
	uint8_t zone_dirs; /* bit ct_dir: the zone counts in that direction */
	uint16_t helper;
	bool has_events;
	uint32_t events, exp_events; /* bits of what is told */
};

static inline const struct ct_template *ct_template_of(const struct sl_pkt *p)
{
	return p->flags & SL_PKT_CT_TEMPLATE ? (const struct ct_template *)(const void *)p->ct
					     : NULL;
}
