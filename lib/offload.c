/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A veth or tap peer with offloads on leaves TCP and UDP checksums to hardware: the field then holds
 * the folded sum of the pseudo header, not inverted. Nothing marks such a frame, so the value itself
 * is the mark. A right checksum that happens to look like one is computed again to the same value;
 * a wrong one that looks like one (1 in 65536) is repaired.
 */
#include "lib/ip.h"

#include <netinet/in.h>

void sl_offload_complete(struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	uint32_t len = p->l3_len - (uint32_t)(p->l4_off - p->l3_off);
	uint16_t csum, *field;

	if (!(p->flags & SL_PKT_L4) || p->flags & SL_PKT_FRAG)
		return;
	if (p->proto == IPPROTO_TCP && len >= 20)
		field = sl_pkt_at(m, p->l4_off + 16U, sizeof(*field));
	else if (p->proto == IPPROTO_UDP && len >= 8)
		field = sl_pkt_at(m, p->l4_off + 6U, sizeof(*field));
	else
		return;
	if (field == NULL || *field != sl_csum_pseudo(p, p->proto, len))
		return;
	/* the field is part of the sum, so the pseudo header is already in it */
	csum = (uint16_t)~sl_csum_bytes(m, p->l4_off, len);
	*field = csum == 0 && p->proto == IPPROTO_UDP ? 0xffff : csum;
}
