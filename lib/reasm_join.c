/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One packet out of the fragments of a datagram: buffers are chained, no data is copied. The header
 * is the first fragment's, put right as ip_frag_reasm() and ip6_frag_reasm() do.
 */
#include "lib/reasm_priv.h"

#define NOT_ECT (1U << 0)
#define CE (1U << 3)
#define DIFFERS 0xff

/* RFC 3168 5.3: ECN bits to set in the whole, by the codepoints of its fragments */
static uint8_t join_ecn(uint8_t seen)
{
	if (seen & NOT_ECT)
		return seen == NOT_ECT ? 0 : DIFFERS;
	return seen & CE && seen != CE ? 3 : 0;
}

/* Return: whether each segment is now one fragment */
static bool chain(struct rte_mbuf *m, const struct reasm_frag *rest)
{
	struct rte_mbuf *tail = rte_pktmbuf_lastseg(m);
	bool parts = tail == m;

	for (const struct reasm_frag *f = rest; f != NULL; f = f->next) {
		struct rte_mbuf *seg = f->m;

		m->pkt_len += seg->pkt_len;
		parts = parts && seg->next == NULL && seg->data_len > 0;
		while (seg != NULL) {
			struct rte_mbuf *next = seg->next;

			if (seg->data_len == 0) {
				/* its bytes were all header */
				seg->next = NULL;
				seg->nb_segs = 1;
				rte_pktmbuf_free_seg(seg);
			} else {
				tail->next = seg;
				tail = seg;
				m->nb_segs++;
			}
			seg = next;
		}
	}
	tail->next = NULL;
	return parts;
}

static void finish4(struct rte_mbuf *m, const struct reasm_datagram *d, uint32_t len, uint8_t ecn)
{
	struct rte_ipv4_hdr *ip =
			rte_pktmbuf_mtod_offset(m, struct rte_ipv4_hdr *, sl_pkt(m)->l3_off);

	ip->total_length = rte_cpu_to_be_16((uint16_t)len);
	ip->type_of_service |= ecn;
	/* DF goes on if the largest fragment had it: then it must not be cut smaller either */
	ip->fragment_offset = d->max_df_size == d->max_size ? RTE_BE16(RTE_IPV4_HDR_DF_FLAG) : 0;
	ip->hdr_checksum = 0;
	ip->hdr_checksum = (uint16_t)~rte_raw_cksum(ip, (ip->version_ihl & 0xfU) * 4);
}

/* everything in front of the fragment header moves over it */
static void finish6(struct rte_mbuf *m, const struct reasm_datagram *d, uint32_t hdr_len,
		uint32_t len, uint8_t ecn)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint32_t l3_off = sl_pkt(m)->l3_off, front = l3_off + hdr_len - IP6_FRAG_HDR_LEN;
	struct rte_ipv6_hdr *ip;

	frame[l3_off + d->nhoff] = frame[front];
	memmove(frame + IP6_FRAG_HDR_LEN, frame, front);
	frame = (uint8_t *)(void *)rte_pktmbuf_adj(m, IP6_FRAG_HDR_LEN);
	ip = (void *)(frame + l3_off);
	ip->payload_len = rte_cpu_to_be_16((uint16_t)(len - IP6_HDR_LEN));
	ip->vtc_flow |= rte_cpu_to_be_32((uint32_t)ecn << 20);
}

/* of the joined packet; the fragment header goes */
static uint32_t joined_len(const struct reasm_datagram *d)
{
	return d->hdr_len - (d->key.family == SL_AF_INET ? 0 : IP6_FRAG_HDR_LEN) + d->len;
}

bool reasm_joinable(const struct reasm_datagram *d)
{
	uint32_t max = IP6_PLEN_MAX + (d->key.family == SL_AF_INET ? 0 : IP6_HDR_LEN);

	return join_ecn(d->ecn) != DIFFERS && joined_len(d) <= max;
}

struct rte_mbuf *reasm_join(const struct reasm_datagram *d, const struct reasm_frag *head,
		const struct sl_pkt *last)
{
	struct rte_mbuf *m = head->m;
	struct sl_pkt *p = sl_pkt(m);
	uint16_t l3_off = p->l3_off;
	uint32_t len = joined_len(d);
	bool parts;

	*p = *last;
	p->l3_off = l3_off;
	p->frag_max = (uint16_t)RTE_MIN(RTE_MAX(d->max_size, d->max_df_size), IP6_PLEN_MAX);
	parts = chain(m, head->next);
	if (d->key.family == SL_AF_INET)
		finish4(m, d, len, join_ecn(d->ecn));
	else
		finish6(m, d, d->hdr_len, len, join_ecn(d->ecn));
	sl_pkt_parse_ip(m, l3_off);
	if (parts)
		p->flags |= SL_PKT_FRAG_PARTS;
	return m;
}
