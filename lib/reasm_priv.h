/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of reassembly share. */
#pragma once

#include "lib/ip6.h"
#include "lib/reasm_queue.h"

#include <sys/queue.h>

#define REASM_BUCKETS 1024U

/* what tells datagrams apart; no padding, compared whole */
struct reasm_key {
	struct sl_addr src, dst;
	uint32_t id; /* network order, IPv4: 16 bits of it */
	uint16_t port; /* IPv6: input port of link-local and group destinations, else 0 */
	uint8_t family;
	uint8_t proto; /* IPv4 only */
};
static_assert(sizeof(struct reasm_key) == 40, "no padding in it");

/* fragments of one source, over all of its datagrams; ipfrag_max_dist counts by it */
struct reasm_peer {
	struct reasm_peer *next; /* in the hash chain; in the pool of free ones */
	struct sl_addr addr;
	uint32_t fragments;
	uint32_t users; /* datagrams */
};

/* a datagram of which something is there */
struct reasm_datagram {
	TAILQ_ENTRY(reasm_datagram) by_age;
	struct reasm_datagram *next; /* in the hash chain; in the pool of free ones */
	struct reasm_key key;
	struct reasm_frags frags;
	struct reasm_peer *peer; /* IPv4 */
	uint64_t since_ns;
	uint32_t peer_seen; /* peer->fragments when the last fragment came */
	uint32_t len; /* of the data: highest end so far */
	uint32_t hdr_len; /* of the first fragment, as in struct reasm_part */
	uint32_t have; /* bytes */
	uint32_t max_size, max_df_size; /* of fragments with header; with DF */
	uint16_t nhoff; /* IPv6, of the first fragment, from the IPv6 header */
	uint8_t ecn; /* a bit for each codepoint that was seen */
	bool has_first, has_last;
};

TAILQ_HEAD(reasm_datagrams, reasm_datagram);

struct reasm_family {
	struct reasm_datagrams by_age;
	uint64_t bytes; /* of buffers that fragments hold; a datagram without any counts as one */
};

struct sl_reasm {
	struct reasm_family inet, inet6;
	uint64_t bytes_max; /* [const] for each family */
	uint32_t unit; /* [const] bytes of a buffer */
	uint32_t seed; /* [const] */
	bool transit; /* [const] of what is only passed on; see sl_reasm_set_transit() */
	uint32_t time6_s; /* 0: the sysctl */
	struct reasm_datagram *datagrams[REASM_BUCKETS];
	struct reasm_peer *peers[REASM_BUCKETS];
	/* pools, linked by next; as many of each as there may be fragments */
	struct reasm_frag *free_frags;
	struct reasm_datagram *free_datagrams;
	struct reasm_peer *free_peers;
	void *memory;
};

/* where the data of one fragment is */
struct reasm_part {
	uint32_t hdr_len; /* of everything in front of it, from the IP header */
	uint32_t off, end; /* in the datagram's data */
	uint16_t nhoff; /* IPv6: of the byte that names the fragment header */
	bool more;
	bool df;
	uint8_t ecn;
};

/* the entry of a source for one more of its datagrams, which puts it back when it goes */
struct reasm_peer *reasm_peer_get(struct sl_reasm *q, const struct sl_addr *addr);
void reasm_peer_put(struct sl_reasm *q, struct reasm_peer *peer);

/* whether the ECN bits of the fragments agree and the whole is no larger than IP allows */
bool reasm_joinable(const struct reasm_datagram *d);

/**
 * reasm_join() - a whole datagram from its fragments
 * @head: by offset, complete and joinable; the mbuf of the first one has its headers
 * @last: the fragment that came last: port, mark and link flags of the whole are its
 */
struct rte_mbuf *reasm_join(const struct reasm_datagram *d, const struct reasm_frag *head,
		const struct sl_pkt *last);

/* the datagram of a key, made if it is not there; NULL if there are too many */
struct reasm_datagram *reasm_find(
		struct sl_worker *w, struct sl_reasm *q, const struct reasm_key *key);

/* the fragments that came of it are dropped */
void reasm_kill(struct sl_worker *w, struct sl_reasm *q, struct reasm_datagram *d);

/* one more fragment. Takes @m; returns the datagram if that makes it whole, else NULL */
struct rte_mbuf *reasm_add(struct sl_worker *w, struct sl_reasm *q, struct reasm_datagram *d,
		struct rte_mbuf *m, const struct reasm_part *part);
