/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fragmentation as the kernel's ip_do_fragment: data in multiples of 8 bytes, id kept, DF cleared,
 * options without the copied bit only in the first fragment of a datagram. A packet that was put
 * together from fragments goes on in the same ones, without DF; if one of them no longer fits it is
 * cut to the size of the largest, with DF if that one had it.
 *
 * Example: 1500 bytes to an MTU of 1400 give 1396 = 20 + 1376 and 124 = 20 + 104; 1380 bytes of data
 * would fit, 1376 is the multiple of 8 below.
 */
#include "lib/fragment.h"
#include "lib/ip4.h"
#include "lib/router.h"
#include "lib/worker.h"

#define L3_OFF sizeof(struct rte_ether_hdr)

/* everything that all fragments have in common */
struct cutter {
	struct rte_mbuf *from;
	struct rte_ipv4_hdr *hdr; /* to copy; options are changed behind the first one */
	unsigned int hdr_len;
	uint16_t frag; /* of the packet: MF and offset in units of 8 */
	bool df;
};

static struct rte_mbuf *cut(
		struct sl_worker *w, const struct cutter *c, uint32_t off, uint32_t len, bool last)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w->r->pool);
	struct rte_ipv4_hdr *ip;
	uint8_t *frame;
	uint16_t frag;

	if (m == NULL)
		return NULL;
	frame = (uint8_t *)(void *)rte_pktmbuf_append(m, (uint16_t)(L3_OFF + c->hdr_len));
	if (frame == NULL
			|| !fragment_append(w, m, c->from,
					sl_pkt(c->from)->l3_off + c->hdr_len + off, len)) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	memcpy(frame, rte_pktmbuf_mtod(c->from, const uint8_t *), L3_OFF);
	memcpy(frame + L3_OFF, c->hdr, c->hdr_len);
	ip = (void *)(frame + L3_OFF);
	frag = (uint16_t)((c->frag & RTE_IPV4_HDR_OFFSET_MASK) + off / RTE_IPV4_HDR_OFFSET_UNITS);
	if (!last || c->frag & RTE_IPV4_HDR_MF_FLAG)
		frag |= RTE_IPV4_HDR_MF_FLAG;
	if (c->df)
		frag |= RTE_IPV4_HDR_DF_FLAG;
	ip->fragment_offset = rte_cpu_to_be_16(frag);
	ip->total_length = rte_cpu_to_be_16((uint16_t)(c->hdr_len + len));
	ip->hdr_checksum = ip4_hdr_csum(ip);
	*sl_pkt(m) = *sl_pkt(c->from);
	sl_pkt_parse_ip(m, L3_OFF);
	return m;
}

unsigned int sl_ip4_fragment(struct sl_worker *w, struct rte_mbuf *m, uint16_t mtu,
		struct rte_mbuf **out, unsigned int max)
{
	const struct sl_pkt *p = sl_pkt(m);
	struct cutter c = { .from = m, .hdr = ip4_hdr(m) };
	const struct rte_mbuf *part = NULL;
	uint32_t left, step, off = 0;
	unsigned int n = 0;

	if (p->frag_max != 0 && p->frag_max < mtu)
		mtu = p->frag_max;
	if (c.hdr == NULL)
		goto failed;
	c.hdr_len = ip4_hdr_len(c.hdr);
	c.frag = rte_be_to_cpu_16(c.hdr->fragment_offset);
	left = m->pkt_len - p->l3_off - c.hdr_len;
	if (mtu < c.hdr_len + RTE_IPV4_HDR_OFFSET_UNITS)
		goto failed;
	step = mtu - c.hdr_len;
	if (fragment_parts(m, p->l3_off + c.hdr_len, step))
		part = m;
	else if (p->frag_max != 0 && p->flags & SL_PKT_DF)
		c.df = true;
	if (left > step)
		step = RTE_ALIGN_FLOOR(step, (uint32_t)RTE_IPV4_HDR_OFFSET_UNITS);
	while (left > 0) {
		/* the last one may use what the alignment of the others left free */
		uint32_t len = left <= mtu - c.hdr_len ? left : step;

		if (part != NULL) {
			len = part->data_len - (part == m ? p->l3_off + c.hdr_len : 0);
			part = part->next;
		}
		if (n == max)
			goto failed;
		out[n] = cut(w, &c, off, len, len == left);
		if (out[n] == NULL)
			goto failed;
		n++;
		if (off == 0 && p->frag_off == 0)
			ip4_options_fragment(c.hdr);
		off += len;
		left -= len;
	}
	fragment_account(w, out, n);
	rte_pktmbuf_free(m);
	return n;

failed:
	for (unsigned int i = 0; i < n; i++)
		rte_pktmbuf_free(out[i]);
	sl_drop(w, m, SL_DROP_FRAG_FAILED);
	return 0;
}
