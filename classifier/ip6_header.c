/* SPDX-License-Identifier: BSD-3-Clause */
#include "classifier/ip6_header.h"

#include "lib/ip6.h"

bool ip6_header_read(struct ipt_ctx *c, uint32_t off, uint32_t len, void *buf)
{
	if (sl_pkt_copy(c->m, off, len, buf))
		return true;
	c->hotdrop = true;
	return false;
}

bool ip6_header_find(struct ipt_ctx *c, uint8_t kind, uint32_t *off)
{
	uint32_t at = c->p->l3_off + IP6_HDR_LEN;
	uint8_t next, h[4];

	if (!ip6_header_read(c, c->p->l3_off + offsetof(struct rte_ipv6_hdr, proto), 1, &next))
		return false;
	while (ip6_is_extension(next) && next != IPPROTO_NONE) {
		/* of routing and fragment headers the fixed part is looked at as a whole */
		bool four = next == IPPROTO_ROUTING || next == IPPROTO_FRAGMENT;

		if (!ip6_header_read(c, at, four ? 4 : 2, h))
			return false;
		if (next == kind) {
			*off = at;
			return true;
		}
		if (next == IPPROTO_FRAGMENT && (h[2] != 0 || (h[3] & 0xf8) != 0))
			return false;
		if (next == IPPROTO_FRAGMENT)
			at += IP6_FRAG_HDR_LEN;
		else
			at += next == IPPROTO_AH ? (h[1] + 2U) * 4 : ip6_header_len(h);
		next = h[0];
	}
	return false;
}
