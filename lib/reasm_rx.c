/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the data of a fragment is, and which datagram it belongs to: the part that reads headers. */
#include "lib/reasm_priv.h"
#include "lib/worker.h"

/* what is only passed on goes on as it is: its receiver will answer (nf_ct_frag6_gather()) */
static struct rte_mbuf *refuse(struct sl_worker *w, const struct sl_reasm *q, struct rte_mbuf *m,
		uint8_t code, uint32_t pointer)
{
	if (q->transit)
		return m;
	sl_icmp6_error(w, m, ICMP6_PARAM, code, pointer);
	sl_drop(w, m, SL_DROP_REASM);
	return NULL;
}

/* RFC 8200 4.5: the first fragment must go up to the upper layer header */
static bool is_incomplete(const struct rte_mbuf *m, const struct sl_pkt *p)
{
	uint32_t need = 1;

	if (!(p->flags & SL_PKT_L4) || p->flags & SL_PKT_FRAG_LATER || p->proto == IPPROTO_NONE)
		return false;
	if (p->proto == IPPROTO_TCP)
		need = 20;
	else if (p->proto == IPPROTO_UDP || p->proto == IPPROTO_ICMPV6)
		need = 8;
	return p->l4_off + need > m->pkt_len;
}

enum find6 {
	FOUND,
	NO_FRAGMENT,
	CUT, /* there is one, but not all of it */
};

/* the headers up to the first fragment header made contiguous */
static bool is_fragment(const struct rte_mbuf *m, uint32_t nhoff)
{
	uint8_t proto;

	return sl_pkt_copy(m, sl_pkt((struct rte_mbuf *)(uintptr_t)m)->l3_off + nhoff, 1, &proto)
			&& proto == IPPROTO_FRAGMENT;
}

static enum find6 find6(struct rte_mbuf *m, struct reasm_part *part, uint32_t *id)
{
	uint32_t l3_off = sl_pkt(m)->l3_off, off = IP6_HDR_LEN, field;
	uint32_t nhoff = offsetof(struct rte_ipv6_hdr, proto);
	const uint8_t *ip;

	for (;;) {
		const uint8_t *frame = sl_pkt_pull(m, l3_off + off + IP6_FRAG_HDR_LEN);
		uint8_t proto;

		/* one case of each was seen: without another header in front it went on, behind one not */
		if (frame == NULL && off > IP6_HDR_LEN && is_fragment(m, nhoff))
			return CUT;
		if (frame == NULL)
			return NO_FRAGMENT;
		ip = frame + l3_off;
		proto = ip[nhoff];
		if (proto == IPPROTO_FRAGMENT)
			break;
		if (!ip6_is_extension(proto) || proto == IPPROTO_NONE)
			return NO_FRAGMENT;
		nhoff = off;
		off += proto == IPPROTO_AH ? (ip[off + 1] + 2U) * 4 : (ip[off + 1] + 1U) * 8;
	}
	field = (uint32_t)ip[off + 2] << 8 | ip[off + 3];
	memcpy(id, &ip[off + 4], sizeof(*id));
	part->hdr_len = off + IP6_FRAG_HDR_LEN;
	part->off = field & 0xfff8;
	part->end = part->off + (m->pkt_len - l3_off - part->hdr_len);
	part->nhoff = (uint16_t)nhoff;
	part->more = field & 1;
	part->ecn = (uint8_t)(1U << (ip[1] >> 4 & 3));
	return FOUND;
}

static struct rte_mbuf *rx6(struct sl_worker *w, struct sl_reasm *q, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	struct reasm_key key = { .src = p->src, .dst = p->dst, .family = SL_AF_INET6 };
	struct reasm_part part = { .off = 0 };
	struct reasm_datagram *d;

	switch (find6(m, &part, &key.id)) {
	case NO_FRAGMENT:
		return m;
	case CUT:
		sl_drop(w, m, SL_DROP_REASM);
		return NULL;
	case FOUND:
		break;
	}
	/* the kernel joins nothing to it, and lets it go on by itself where it is not the receiver */
	if (part.off == 0 && is_incomplete(m, p))
		return q->transit ? m : refuse(w, q, m, ICMP6_PARAM_INCOMPLETE, 0);
	if (ip6_is_multicast(&p->dst) || ip6_is_link_local(&p->dst))
		key.port = p->in_port;
	d = q->inet6.bytes > q->bytes_max || q->free_frags == NULL ? NULL : reasm_find(w, q, &key);
	if (d == NULL) {
		sl_drop(w, m, SL_DROP_REASM_FULL);
		return NULL;
	}
	if (part.end > IP6_PLEN_MAX || (part.more && part.end % 8 != 0)) {
		/* the offset field, or the payload length */
		uint32_t pointer = part.end > IP6_PLEN_MAX
				? part.hdr_len - IP6_FRAG_HDR_LEN + 2
				: (uint32_t)offsetof(struct rte_ipv6_hdr, payload_len);

		if (q->transit && part.end > IP6_PLEN_MAX) {
			sl_drop(w, m, SL_DROP_REASM);
			return NULL;
		}
		if (q->transit)
			reasm_kill(w, q, d);
		/* else the datagram stays, and if this is how it began, its time runs from here */
		return refuse(w, q, m, ICMP6_PARAM_FIELD, pointer);
	}
	return reasm_add(w, q, d, m, &part);
}

static struct rte_mbuf *rx4(struct sl_worker *w, struct sl_reasm *q, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	const uint8_t *frame = sl_pkt_pull(m, p->l3_off + (uint32_t)sizeof(struct rte_ipv4_hdr));
	const struct rte_ipv4_hdr *ip;
	struct reasm_key key = {
		.src = p->src, .dst = p->dst, .family = SL_AF_INET, .proto = p->proto
	};
	struct reasm_part part = { .off = p->frag_off, .df = p->flags & SL_PKT_DF };
	struct reasm_datagram *d;

	if (frame == NULL) {
		sl_drop(w, m, SL_DROP_REASM);
		return NULL;
	}
	ip = (const void *)(frame + p->l3_off);
	part.hdr_len = (ip->version_ihl & 0xfU) * 4;
	if (sl_pkt_pull(m, p->l3_off + part.hdr_len) == NULL) {
		sl_drop(w, m, SL_DROP_REASM);
		return NULL;
	}
	key.id = ip->packet_id;
	part.more = (ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_MF_FLAG)) != 0;
	part.ecn = (uint8_t)(1U << (ip->type_of_service & 3));
	part.end = part.off + (m->pkt_len - p->l3_off - part.hdr_len);
	if (part.more)
		part.end &= ~7U;
	d = q->inet.bytes > q->bytes_max || q->free_frags == NULL ? NULL : reasm_find(w, q, &key);
	if (d == NULL) {
		sl_drop(w, m, SL_DROP_REASM_FULL);
		return NULL;
	}
	return reasm_add(w, q, d, m, &part);
}

struct rte_mbuf *sl_reasm_rx(struct sl_worker *w, struct sl_reasm *q, struct rte_mbuf *m)
{
	/* the kernel joins even what is whole (RFC 6946) where connections are tracked */
	uint32_t flags = q->transit ? SL_PKT_FRAG | SL_PKT_FRAG_HDR : SL_PKT_FRAG;

	if (!(sl_pkt(m)->flags & flags))
		return m;
	return sl_pkt(m)->family == SL_AF_INET ? rx4(w, q, m) : rx6(w, q, m);
}
