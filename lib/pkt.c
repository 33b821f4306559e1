/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pkt.h"

uint8_t *sl_pkt_pull(struct rte_mbuf *m, uint32_t len)
{
	struct rte_mbuf *seg;
	uint32_t need;

	if (likely(len <= m->data_len))
		return rte_pktmbuf_mtod(m, uint8_t *);
	if (len > m->pkt_len)
		return NULL;
	need = len - m->data_len;
	if (need > rte_pktmbuf_tailroom(m))
		return NULL;
	/* a tail segment may be shared with a clone: bytes are copied out of it, never moved inside */
	while (need > 0) {
		uint32_t n;

		seg = m->next;
		n = RTE_MIN(need, (uint32_t)seg->data_len);
		memcpy(rte_pktmbuf_mtod_offset(m, uint8_t *, m->data_len),
				rte_pktmbuf_mtod(seg, const uint8_t *), n);
		m->data_len += n;
		seg->data_off += n;
		seg->data_len -= n;
		need -= n;
		if (seg->data_len == 0) {
			m->next = seg->next;
			m->nb_segs--;
			seg->next = NULL;
			seg->nb_segs = 1;
			rte_pktmbuf_free_seg(seg);
		}
	}
	return rte_pktmbuf_mtod(m, uint8_t *);
}

bool sl_pkt_copy(const struct rte_mbuf *m, uint32_t off, uint32_t len, void *buf)
{
	uint8_t *to = buf;

	if ((uint64_t)off + len > m->pkt_len)
		return false;
	while (len > 0) {
		uint32_t n;

		while (off >= m->data_len) {
			off -= m->data_len;
			m = m->next;
		}
		n = RTE_MIN(len, m->data_len - off);
		memcpy(to, rte_pktmbuf_mtod_offset(m, const uint8_t *, off), n);
		to += n;
		off += n;
		len -= n;
	}
	return true;
}

void sl_pkt_trim(struct rte_mbuf *m, uint32_t len)
{
	struct rte_mbuf *seg = m;
	uint32_t left = len;

	if (likely(m->next == NULL)) {
		m->data_len = (uint16_t)len;
		m->pkt_len = len;
		return;
	}
	m->nb_segs = 1;
	while (left > seg->data_len) {
		left -= seg->data_len;
		seg = seg->next;
		m->nb_segs++;
	}
	seg->data_len = (uint16_t)left;
	rte_pktmbuf_free(seg->next);
	seg->next = NULL;
	m->pkt_len = len;
}
