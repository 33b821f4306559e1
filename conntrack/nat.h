/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NAT: the mapping of a connection is chosen with its first packet and held by its two tuples; each
 * packet is then rewritten from them. [worker]
 */
#pragma once

#include "conntrack/table.h"

struct ct_expect;

/* what of a packet a hook rewrites: PREROUTING and OUTPUT the destination, the others the source */
enum ct_manip {
	CT_MANIP_SRC,
	CT_MANIP_DST,
};

/* flags of struct ct_nat_range */
#define CT_NAT_ADDRS (1U << 0) /* lo and hi are given */
#define CT_NAT_PORTS (1U << 1) /* port_lo and port_hi are given */
#define CT_NAT_RANDOM (1U << 2) /* --random and --random-fully, which are the same */
#define CT_NAT_PERSISTENT (1U << 3) /* the address does not depend on the destination */
#define CT_NAT_BASE (1U << 4) /* port = port_lo + (port - base) */

struct ct_nat_range {
	uint32_t flags;
	struct sl_addr lo, hi;
	uint16_t port_lo, port_hi, base; /* ports, or ICMP ids */
};

static inline bool ct_nat_is_done(const struct ct_entry *e, enum ct_manip manip)
{
	return e->status & (manip == CT_MANIP_SRC ? CT_SRC_NAT_DONE : CT_DST_NAT_DONE);
}

/**
 * ct_nat_setup() - choose the mapping of a connection for one side, and bind it
 *
 * As nf_nat_setup_info(): address by hash of the pair, port kept where it can be, else searched in
 * the range. Without a free port the last one tried is taken, and confirmation fails.
 * Return: false if the packet is to be dropped.
 */
bool ct_nat_setup(struct sl_worker *w, struct ct_shard *s, struct ct_entry *e,
		const struct ct_nat_range *range, enum ct_manip manip);

/* no rule wanted anything: the address stays, the port only changes if the replies would clash */
bool ct_nat_setup_null(
		struct sl_worker *w, struct ct_shard *s, struct ct_entry *e, enum ct_manip manip);

/**
 * ct_nat_follow() - a connection that a translated one has announced is translated alike
 *
 * Before any rule, so that none is asked. Return: as ct_nat_setup().
 */
bool ct_nat_follow(struct sl_worker *w, struct ct_shard *s, struct ct_entry *e,
		const struct ct_expect *x);

/**
 * ct_nat_rewrite() - the packet's source or destination becomes @to's
 * @to: a tuple as the packet should have it
 *
 * Checksums follow by difference: what was wrong stays wrong. Return: false if the header is not
 * there to be written; the packet is to be dropped.
 */
bool ct_nat_rewrite(struct rte_mbuf *m, const struct ct_tuple *to, enum ct_manip manip);

/**
 * ct_nat_packet() - what the bindings of its connection ask of a packet at a hook
 *
 * Return: as ct_nat_rewrite().
 */
bool ct_nat_packet(struct rte_mbuf *m, const struct ct_entry *e, enum ct_manip manip);

/**
 * ct_nat_icmp() - the same of an ICMP or ICMPv6 error, with what it quotes
 *
 * Return: false if the packet is to be dropped (bad checksum, redirect of a translated connection).
 */
bool ct_nat_icmp(struct rte_mbuf *m, const struct ct_entry *e, enum ct_manip manip);

/*
 * Connections by the source that they came from, so that one source keeps its mapping for other
 * destinations. Entries are in it from when their source side is set up.
 */
/* a connection goes: what is kept about it here goes too */
void ct_nat_forget(struct ct_shard *s, struct ct_entry *e);

/* [control] memory for all shards in every shard. Return: 0, -ENOMEM */
int ct_nat_prepare(struct ct_table *t);

struct ct_sources;
int ct_sources_create(struct ct_shard *s);
void ct_sources_free(struct ct_shard *s);
void ct_source_add(struct ct_shard *s, struct ct_entry *e);
void ct_source_remove(struct ct_shard *s, struct ct_entry *e);
/* newest first: the next connection behind @prev (NULL: the first) that came from @t's source */
struct ct_entry *ct_source_next(
		struct ct_shard *s, const struct ct_tuple *t, const struct ct_entry *prev);
