/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/fragment.h"

#include "lib/router.h"

bool fragment_append(struct sl_worker *w, struct rte_mbuf *m, const struct rte_mbuf *from,
		uint32_t off, uint32_t len)
{
	struct rte_mbuf *tail = m;

	while (len > 0) {
		uint32_t n = RTE_MIN(len, (uint32_t)rte_pktmbuf_tailroom(tail));

		if (n > 0) {
			sl_pkt_copy(from, off, n,
					rte_pktmbuf_mtod_offset(tail, uint8_t *, tail->data_len));
			tail->data_len = (uint16_t)(tail->data_len + n);
			m->pkt_len += n;
			off += n;
			len -= n;
			continue;
		}
		tail->next = rte_pktmbuf_alloc(w->r->pool);
		if (tail->next == NULL)
			return false;
		tail = tail->next;
		tail->data_off = 0;
		m->nb_segs++;
	}
	return true;
}

bool fragment_parts(const struct rte_mbuf *m, uint32_t hdr_len, uint32_t room)
{
	const struct sl_pkt *p = sl_pkt((struct rte_mbuf *)(uintptr_t)m);

	if ((p->flags & SL_PKT_FRAG_PARTS) == 0 || m->data_len <= hdr_len)
		return false;
	for (const struct rte_mbuf *seg = m; seg != NULL; seg = seg->next) {
		uint32_t len = seg->data_len - (seg == m ? hdr_len : 0);

		if (len > room || len == 0 || (len % 8 != 0 && seg->next != NULL))
			return false;
	}
	return true;
}

void fragment_account(struct sl_worker *w, struct rte_mbuf **out, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++) {
		sl_pkt(out[i])->in_port = SL_PORT_HOST;
		w->rx[SL_PORT_HOST]++;
		w->rx_bytes[SL_PORT_HOST] += out[i]->pkt_len;
	}
}
