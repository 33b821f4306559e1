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

/* the first fragment stands for the packet; the others are the router's own */
void fragment_account(struct sl_worker *w, struct rte_mbuf **out, unsigned int n);
