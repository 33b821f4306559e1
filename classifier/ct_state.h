/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of a packet as rules name it. It stands in the packet alone, so that engines need not
 * know what a connection is.
 */
#pragma once

#include "classifier/ipt_match_ct.h"
#include "lib/pkt.h"

/* one bit of IPT_CT_* */
static inline uint8_t ipt_ct_state(const struct sl_pkt *p)
{
	unsigned int info = p->ct_info;

	static_assert(IPT_CT_ESTABLISHED == 2 << SL_CT_ESTABLISHED
					&& IPT_CT_RELATED == 2 << SL_CT_RELATED
					&& IPT_CT_NEW == 2 << SL_CT_NEW,
			"states are bits in the order of enum sl_ct_info");
	if (p->ct == NULL)
		return p->flags & SL_PKT_UNTRACKED ? IPT_CT_UNTRACKED : IPT_CT_INVALID;
	/* what a CT target asked for looks like a connection that nobody has answered */
	if (p->flags & SL_PKT_CT_TEMPLATE)
		return IPT_CT_NEW;
	return (uint8_t)(2U << (info < SL_CT_ESTABLISHED_REPLY ? info
							       : info - SL_CT_ESTABLISHED_REPLY));
}
