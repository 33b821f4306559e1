/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk along IPv6 extension headers. It looks at the bytes that are there and no further: each step
 * reads at most four bytes and moves on by at least eight, so a packet of n bytes takes at most n / 8
 * steps. Linux 6.18 does not count the headers of a chain either: a host answers behind forty of them.
 */
#include "lib/ip6.h"

#include <errno.h>

int ip6_walk(const struct rte_mbuf *m, struct ip6_chain *c)
{
	while (ip6_is_extension(c->proto) && c->proto != IPPROTO_NONE) {
		uint8_t h[4]; /* next header, length, fragment offset and flags */
		uint32_t start = c->off, field;

		if (!sl_pkt_copy(m, start, 2, h))
			return -EBADMSG;
		if (c->proto == IPPROTO_AH && c->stop_at_ah)
			return 0;
		if (c->proto == IPPROTO_FRAGMENT) {
			if (!sl_pkt_copy(m, start, 4, h))
				return -EBADMSG;
			field = (uint32_t)h[2] << 8 | h[3];
			c->frag_hdr = true;
			c->frag = c->frag || (field & 0xfff9) != 0;
			c->frag_off = field & 0xfff8;
			c->off += IP6_FRAG_HDR_LEN;
		} else if (c->proto == IPPROTO_ROUTING && !c->skip_routing
				&& !sl_pkt_copy(m, start, 4, h)) {
			/* its fixed part is looked at as a whole */
			return -EBADMSG;
		} else if (c->proto == IPPROTO_AH) {
			c->off += (h[1] + 2U) * 4;
		} else {
			c->off += (h[1] + 1U) * 8;
		}
		c->proto = h[0];
		if (c->frag_off != 0)
			return ip6_is_extension(h[0]) && h[0] != IPPROTO_NONE ? -EBADMSG : 0;
	}
	return 0;
}

int sl_ip6_find_upper(const struct rte_mbuf *m, uint32_t *off, uint8_t *proto, uint16_t *frag_off,
		bool *has_frag)
{
	/* as ipv6_skip_exthdr(), by which what an error quotes is read */
	struct ip6_chain c = { .off = *off, .proto = *proto, .skip_routing = true };
	int ret = ip6_walk(m, &c);

	*frag_off = c.frag_off;
	*has_frag = c.frag_hdr;
	if (ret < 0)
		return ret;
	*off = c.off;
	*proto = c.proto;
	return 0;
}
