/* SPDX-License-Identifier: BSD-3-Clause */
/* What fragmentation of both families shares: copies that may be chains, and the balance. */
#pragma once

#include "lib/worker.h"

/**
 * fragment_append() - copy bytes of a packet behind another's
 * @off: from the start of the data of @from
 *
 * A fragment may be larger than a buffer: it becomes a chain then. Return: false without buffer.
 */
bool fragment_append(struct sl_worker *w, struct rte_mbuf *m, const struct rte_mbuf *from,
		uint32_t off, uint32_t len);

/**
 * fragment_parts() - can a joined packet go on in the very fragments in which it came
 * @hdr_len: bytes of the first segment in front of the data
 * @room:    most data in a fragment
 *
 * The kernel keeps the fragments of what it passes on chained, and cuts anew only where one of them
 * no longer fits.
 */
bool fragment_parts(const struct rte_mbuf *m, uint32_t hdr_len, uint32_t room);

/* the first fragment stands for the packet; the others are the router's own */
void fragment_account(struct sl_worker *w, struct rte_mbuf **out, unsigned int n);
