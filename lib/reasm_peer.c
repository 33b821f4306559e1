/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources of IPv4 fragments, by address. They are there while a datagram of theirs is, so there are
 * never more of them than of datagrams.
 */
#include "lib/reasm_priv.h"

#include <rte_jhash.h>

static struct reasm_peer **place_of(struct sl_reasm *q, const struct sl_addr *addr)
{
	struct reasm_peer **at = &q->peers[rte_jhash(addr, sizeof(*addr), q->seed) % REASM_BUCKETS];

	while (*at != NULL && !sl_addr_eq(&(*at)->addr, addr))
		at = &(*at)->next;
	return at;
}

struct reasm_peer *reasm_peer_get(struct sl_reasm *q, const struct sl_addr *addr)
{
	struct reasm_peer **at = place_of(q, addr), *peer = *at;

	if (peer == NULL) {
		peer = q->free_peers;
		q->free_peers = peer->next;
		*peer = (struct reasm_peer){ .addr = *addr };
		*at = peer;
	}
	peer->users++;
	return peer;
}

void reasm_peer_put(struct sl_reasm *q, struct reasm_peer *peer)
{
	struct reasm_peer **at;

	if (peer == NULL || --peer->users > 0)
		return;
	at = place_of(q, &peer->addr);
	*at = peer->next;
	peer->next = q->free_peers;
	q->free_peers = peer;
}
