/* SPDX-License-Identifier: BSD-3-Clause */
/* What LOG and TRACE take of a packet. */
#pragma once

#include "lib/pkt.h"
#include "lib/pktlog.h"

#include <netinet/in.h>

/* "warning": where a rule does not say */
#define LOG_RECORD_LEVEL 4

/* bytes of the IP packet that its line can show something of */
static inline uint32_t log_record_wants(const struct sl_pkt *p)
{
	/* a broken or unfinished chain of headers: as far as one may be */
	if (!(p->flags & SL_PKT_L4) || p->l4_off < p->l3_off)
		return 4096;
	/* a quoted packet may have such a chain */
	if (p->proto == IPPROTO_ICMP || p->proto == IPPROTO_ICMPV6)
		return p->l4_off - p->l3_off + 1500U;
	/* ESP and AH behind other headers count as upper ones */
	return p->l4_off - p->l3_off + 128U;
}
