/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * UDP and UDP-Lite. An answer alone makes no stream: a question to a name server is answered within
 * moments and never heard of again. Who still talks two seconds after the beginning goes on.
 */
#include "conntrack/proto_priv.h"

#include <rte_udp.h>

#include <netinet/in.h>

#define STREAM_MS 2000

bool ct_udp_check(const struct ct_pkt *c)
{
	uint32_t there = ct_l4_len(c);
	const struct rte_udp_hdr *udp;
	struct rte_udp_hdr buf;
	uint16_t len;

	udp = ct_l4_at(c, 0, sizeof(*udp), &buf);
	if (unlikely(udp == NULL))
		return ct_is_invalid(c, CT_INVALID_SHORT);
	len = rte_be_to_cpu_16(udp->dgram_len);
	if (unlikely(len < sizeof(*udp) || len > there))
		return ct_is_invalid(c, CT_INVALID_LENGTH);
	/* the sum runs to the end of the packet, whatever the length says */
	if (udp->dgram_cksum != 0 && unlikely(!ct_csum_is_right(c, IPPROTO_UDP, there, there)))
		return ct_is_invalid(c, CT_INVALID_CHECKSUM);
	if (c->verify && c->p->family == SL_AF_INET6)
		c->p->flags |= SL_PKT_SUMMED;
	return true;
}

enum ct_verdict ct_udp_packet(const struct ct_pkt *c, struct ct_entry *e)
{
	uint32_t status = e->status;

	if ((status & CT_SEEN_REPLY) == 0) {
		ct_refresh(c->s, e, c->conf->udp_s);
		return CT_PASS;
	}
	/* who has become a stream stays one: the clock wraps some day */
	if (likely(status & CT_ASSURED)) {
		ct_refresh(c->s, e, c->conf->udp_stream_s);
		return CT_PASS;
	}
	if (c->s->now_ms - e->created_ms <= STREAM_MS) {
		ct_refresh(c->s, e, c->conf->udp_s);
		return CT_PASS;
	}
	ct_refresh(c->s, e, c->conf->udp_stream_s);
	if ((status & CT_REPLY_ONLY) == 0)
		e->status |= CT_ASSURED;
	return CT_PASS;
}

bool ct_udplite_check(const struct ct_pkt *c)
{
	uint32_t there = ct_l4_len(c), covered, pseudo_len;
	const struct rte_udp_hdr *udp; /* the length is the checksum's coverage */
	struct rte_udp_hdr buf;

	udp = ct_l4_at(c, 0, sizeof(*udp), &buf);
	if (unlikely(udp == NULL))
		return ct_is_invalid(c, CT_INVALID_SHORT);
	covered = rte_be_to_cpu_16(udp->dgram_len);
	if (covered == 0)
		covered = there;
	if (unlikely(covered < sizeof(*udp) || covered > there || udp->dgram_cksum == 0))
		return ct_is_invalid(c, CT_INVALID_UDPLITE_COVERAGE);
	/*
	 * The kernel puts UDP's number into the pseudo header, and over IPv4 only the lowest byte of the
	 * length. A right sum differs from that, so UDP-Lite is INVALID wherever checksums are verified,
	 * but for a sum that is wrong in this very way.
	 */
	pseudo_len = c->p->family == SL_AF_INET ? there & 0xff : there;
	if (unlikely(!ct_csum_is_right(c, IPPROTO_UDP, covered, pseudo_len)))
		return ct_is_invalid(c, CT_INVALID_CHECKSUM);
	return true;
}

enum ct_verdict ct_udplite_packet(const struct ct_pkt *c, struct ct_entry *e)
{
	if ((e->status & CT_SEEN_REPLY) == 0) {
		ct_refresh(c->s, e, c->conf->udp_s);
		return CT_PASS;
	}
	ct_refresh(c->s, e, c->conf->udp_stream_s);
	if ((e->status & CT_REPLY_ONLY) == 0)
		e->status |= CT_ASSURED;
	return CT_PASS;
}
