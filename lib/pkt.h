/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What sluice knows of a packet. The struct lies in the private area of the first mbuf of a packet,
 * right behind struct rte_mbuf. parse fills it once; from then on stages read headers through it
 * and keep it true when they change a packet (sl_pkt_reparse after anything larger than a field).
 *
 * Bytes are read through sl_pkt_at() and sl_pkt_pull() only: both check against what is there.
 */
#pragma once

#include "lib/addr.h"

#include <rte_mbuf.h>

#include <assert.h>

struct ct_entry;
struct sl_nexthop;

/* packets that move together; the size of every packet array on the packet path */
#define SL_BURST 64

/* in_port of packets that the router itself made */
#define SL_PORT_HOST 0
/* no port (yet) */
#define SL_PORT_NONE UINT16_MAX

/* flags of struct sl_pkt */
#define SL_PKT_LINK_BCAST (1U << 0) /* destination MAC is ff:ff:ff:ff:ff:ff */
#define SL_PKT_LINK_MCAST (1U << 1) /* destination MAC is another group address */
#define SL_PKT_LINK_OTHER (1U << 2) /* destination MAC is unicast and not the port's */
#define SL_PKT_FRAG (1U << 3) /* a fragment; IPv6: has a fragment header that is not atomic */
#define SL_PKT_FRAG_LATER (1U << 4) /* a fragment with offset > 0: no L4 header */
#define SL_PKT_FRAG_HDR (1U << 5) /* IPv6: a fragment header is there, atomic or not */
#define SL_PKT_L4 (1U << 6) /* proto and l4_off are known (the extension chain was whole) */
#define SL_PKT_PORTS (1U << 7) /* sport_be and dport_be were read */
#define SL_PKT_OPTIONS (1U << 8) /* IPv4 options or an IPv6 hop-by-hop header are there */
#define SL_PKT_ORIGIN (1U << 9) /* made by the router itself */
#define SL_PKT_HANDED (1U << 10) /* came from another worker; do not hand over again */
#define SL_PKT_DF (1U << 11) /* IPv4 don't-fragment bit */
#define SL_PKT_REDIRECT (1U << 12) /* forward: leaves by its input port, a redirect may be due */
#define SL_PKT_OPT_RR (1U << 13) /* IPv4 record route: a slot waits for the output address */
#define SL_PKT_OPT_TS (1U << 14) /* IPv4 timestamp: a slot waits for address and/or time */
#define SL_PKT_OPT_SR (1U << 15) /* IPv4 source route: next hop is taken from the option */
#define SL_PKT_UNTRACKED (1U << 16) /* NOTRACK: conntrack leaves it alone */
#define SL_PKT_TRACE (1U << 17) /* TRACE target: show the way through the rules */
#define SL_PKT_OPT_CHANGED \
	(1U << 18) /* IPv4 options were changed, the checksum follows in forward */

#define SL_PKT_FRAG_PARTS (1U << 20) /* each segment is the data of one fragment that came */
#define SL_PKT_CT_TEMPLATE (1U << 19) /* ct is what a CT target asked for (struct ct_template) */
#define SL_PKT_ABOUT_COPY (1U << 23) /* answers a copy of TEE: is not copied either */
#define SL_PKT_COPY (1U << 21) /* made by TEE: is not copied again, nor fragmented */
#define SL_PKT_SUMMED (1U << 22) /* UDP over IPv6: conntrack has tested the checksum */

#define SL_PKT_WATCHED (1U << 24) /* somebody follows it, see lib/watch.h */

/* how a packet belongs to its connection; the kernel's numbers */
enum sl_ct_info {
	SL_CT_ESTABLISHED,
	SL_CT_RELATED,
	SL_CT_NEW,
	SL_CT_ESTABLISHED_REPLY,
	SL_CT_RELATED_REPLY,
};

/* why a packet lies in a ring between workers; see lib/handoff.h */
enum sl_handoff {
	SL_HANDOFF_FLOW, /* to its owner: goes on at prerouting */
	SL_HANDOFF_ARP, /* to the host worker: an ARP frame */
	SL_HANDOFF_ND, /* to the host worker: a neighbour discovery packet for the router */
	SL_HANDOFF_RESOLVE, /* to the host worker: wait for a neighbour, then send */
	SL_HANDOFF_UNREACH, /* back from the host worker: resolution failed, answer and drop */
	SL_HANDOFF_TX, /* to the worker that may send on the output port */
	SL_HANDOFF_NB,
};

struct sl_pkt {
	/* line 0: what look-ups read */
	struct sl_addr src; /* IPv4: first 4 bytes, rest zero */
	struct sl_addr dst;
	rte_be16_t sport_be; /* TCP UDP UDP-Lite SCTP DCCP; 0 unless SL_PKT_PORTS */
	rte_be16_t dport_be;
	uint32_t flags; /* SL_PKT_* */
	uint8_t family; /* enum sl_family; SL_AF_NONE: not IP */
	uint8_t proto; /* IPv4: the header's; IPv6: behind the extension headers (valid with SL_PKT_L4) */
	uint16_t l3_off; /* bytes from the start of the frame to the IP header */
	uint16_t l4_off; /* to the transport header, 0 unless SL_PKT_L4 and not SL_PKT_FRAG_LATER */
	uint16_t in_port; /* logical port, SL_PORT_HOST for own packets */
	uint16_t out_port; /* SL_PORT_NONE until routed */
	uint16_t frag_off; /* bytes */
	uint32_t l3_len; /* bytes: IPv4 total length, IPv6 40 + payload length */
	uint32_t mark;
	uint32_t trace_id; /* with SL_PKT_WATCHED */

	/* line 1 */
	union {
		const struct sl_nexthop
				*nh; /* [rcu] set by route; valid until the end of the burst */
		struct rte_mbuf *held_next; /* while the packet waits at a neighbour */
	};
	struct ct_entry *ct; /* NULL: none; see SL_PKT_CT_TEMPLATE */
	uint8_t ct_info; /* enum sl_ct_info, where ct is an entry */
	uint8_t handoff; /* enum sl_handoff, while in a ring */
	uint16_t owner; /* worker that owns the flow */
	uint16_t vlan_tci; /* tag that the frame came with, host order, 0 = none */
	uint16_t frag_max; /* size of the largest fragment it was reassembled from, 0 = was whole */
	uint32_t priority; /* as skb->priority: TOS class, CLASSIFY */
	union {
		uint16_t opt_off; /* IPv4, SL_PKT_OPT_SR: offset in the frame of the next hop's address */
		uint16_t hdr_sum; /* IPv6, SL_PKT_SUMMED: what rules have added to the header since */
	};
	uint16_t zone; /* conntrack zone */
	uint64_t rx_ns; /* arrival by the worker's clock */
	struct sl_addr via; /* next hop address on the link (gateway or destination) */
	uint64_t user; /* for a plug-in stage; nobody else touches it; 0 at rx */
} __rte_aligned(64);

static_assert(sizeof(struct sl_pkt) == 128, "private area of an mbuf: two lines");

#define SL_PKT_PRIV_SIZE sizeof(struct sl_pkt)

static inline struct sl_pkt *sl_pkt(struct rte_mbuf *m)
{
	return (struct sl_pkt *)(void *)(m + 1);
}

/* @answer is about @p and belongs to its connection, the other way round (nf_ct_attach) */
static inline void sl_pkt_attach(struct sl_pkt *answer, const struct sl_pkt *p)
{
	if (p->flags & SL_PKT_COPY)
		answer->flags |= SL_PKT_ABOUT_COPY;
	if (p->ct == NULL || p->flags & SL_PKT_CT_TEMPLATE)
		return;
	answer->ct = p->ct;
	answer->ct_info =
			p->ct_info < SL_CT_ESTABLISHED_REPLY ? SL_CT_RELATED_REPLY : SL_CT_RELATED;
}

/**
 * sl_pkt_pull() - make the first @len bytes of a frame contiguous
 *
 * As the kernel's pskb_may_pull: bytes of later segments move into the first one.
 *
 * Return: the start of the frame, or NULL if the frame is shorter than @len bytes, or the first
 * segment has not got the room (headers of more than about 2 kB).
 */
uint8_t *sl_pkt_pull(struct rte_mbuf *m, uint32_t len);

/**
 * sl_pkt_at() - @len bytes at @off from the start of the frame, contiguous
 *
 * Return: a pointer into the first segment, or NULL if the bytes are not there or not in the first
 * segment (use sl_pkt_pull() first, or sl_pkt_copy()).
 */
static inline void *sl_pkt_at(struct rte_mbuf *m, uint32_t off, uint32_t len)
{
	if (unlikely((uint64_t)off + len > m->data_len))
		return NULL;
	return rte_pktmbuf_mtod_offset(m, uint8_t *, off);
}

/**
 * sl_pkt_copy() - copy @len bytes at @off of a frame to @buf, over segments
 *
 * Return: true, or false and nothing copied if the frame is shorter.
 */
bool sl_pkt_copy(const struct rte_mbuf *m, uint32_t off, uint32_t len, void *buf);

/* cut a frame to @len bytes, over segments; @len <= pkt_len */
void sl_pkt_trim(struct rte_mbuf *m, uint32_t len);
