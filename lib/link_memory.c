/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/link_memory.h"

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>
#include <rte_memcpy.h>

struct memory_queue {
	struct sl_memory_source source; /* [const] */
	uint32_t next; /* [worker] frame */
	uint64_t sent; /* [worker] */
} __rte_cache_aligned;

struct memory_link {
	struct sl_link link; /* first */
	struct rte_mempool *pool;
	struct memory_queue queues[];
};

/*
 * As a driver's rx path: buffers in the pool have no next segment and one reference, so the second
 * line of the mbuf is not touched.
 */
static inline void rearm(struct rte_mbuf *m, uint64_t word, uint32_t len)
{
	memcpy(&m->rearm_data, &word, sizeof(word));
	m->ol_flags = 0;
	m->packet_type = 0;
	m->pkt_len = len;
	m->data_len = (uint16_t)len;
}

/* data_off, refcnt, nb_segs and port of a fresh buffer */
static uint64_t rearm_word(void)
{
	struct rte_mbuf m = {
		.data_off = RTE_PKTMBUF_HEADROOM, .nb_segs = 1, .port = RTE_MBUF_PORT_INVALID
	};
	uint64_t word;

	rte_mbuf_refcnt_set(&m, 1);
	memcpy(&word, &m.rearm_data, sizeof(word));
	return word;
}

static void write_flow(uint8_t *frame, const struct sl_memory_flow *f)
{
	struct rte_ipv4_hdr *ip = (void *)(frame + RTE_ETHER_HDR_LEN);

	ip->src_addr = f->src_be;
	ip->dst_addr = f->dst_be;
	ip->hdr_checksum = f->csum_be;
	memcpy(ip + 1, &f->sport_be, sizeof(f->sport_be) + sizeof(f->dport_be));
}

static uint16_t memory_rx(struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct memory_link *l = (struct memory_link *)(void *)link;
	struct memory_queue *q = &l->queues[queue];
	uint32_t n_items = q->source.flows != NULL ? q->source.n_flows : q->source.n_frames;
	uint32_t len = q->source.frame_len;
	uint64_t fresh = rearm_word();

	if (q->source.n_frames == 0 || rte_mempool_get_bulk(l->pool, (void **)pkts, n) != 0)
		return 0;
	for (uint16_t i = 0; i < n; i++) {
		uint8_t *frame = rte_pktmbuf_mtod(pkts[i], uint8_t *);
		uint32_t k = q->next;

		q->next = k + 1 == n_items ? 0 : k + 1;
		if (q->source.lens != NULL) {
			rearm(pkts[i], fresh, q->source.lens[k]);
			rte_memcpy(frame, q->source.frames + (size_t)k * len, q->source.lens[k]);
			continue;
		}
		rearm(pkts[i], fresh, len);
		if (q->source.flows != NULL) {
			rte_memcpy(frame, q->source.frames, len);
			write_flow(frame, &q->source.flows[k]);
		} else {
			rte_memcpy(frame, q->source.frames + (size_t)k * len, len);
		}
	}
	return n;
}

static uint16_t memory_tx(struct sl_link *link, uint16_t queue, struct rte_mbuf **pkts, uint16_t n)
{
	struct memory_link *l = (struct memory_link *)(void *)link;

	void *plain[2 * SL_BURST];
	unsigned int n_plain = 0;

	/* what a driver does with fast free, where it may */
	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = pkts[i];

		if (likely(m->nb_segs == 1 && rte_mbuf_refcnt_read(m) == 1 && RTE_MBUF_DIRECT(m)
				    && m->pool == l->pool && n_plain < RTE_DIM(plain)))
			plain[n_plain++] = m;
		else
			rte_pktmbuf_free(m);
	}
	rte_mempool_put_bulk(l->pool, plain, n_plain);
	l->queues[queue].sent += n;
	return n;
}

static void memory_close(struct sl_link *link)
{
	rte_free(link);
}

static const struct sl_link_ops memory_ops = {
	.kind = "memory",
	.rx = memory_rx,
	.tx = memory_tx,
	.close = memory_close,
};

struct sl_link *sl_link_memory(
		struct rte_mempool *pool, const struct sl_memory_source *sources, uint16_t n_queues)
{
	struct memory_link *l = rte_zmalloc("memory link",
			sizeof(*l) + n_queues * sizeof(l->queues[0]), RTE_CACHE_LINE_SIZE);

	if (l == NULL)
		return NULL;
	l->link.ops = &memory_ops;
	l->link.n_rxq = n_queues;
	l->link.n_txq = n_queues;
	l->link.spreads = true; /* the caller puts each flow's frames into one queue */
	l->pool = pool;
	for (uint16_t i = 0; i < n_queues; i++)
		l->queues[i].source = sources[i];
	atomic_store(&l->link.up, true);
	return &l->link;
}

void sl_link_memory_feed(
		struct sl_link *link, uint16_t queue, const struct sl_memory_source *source)
{
	struct memory_link *l = (struct memory_link *)(void *)link;

	l->queues[queue].source = *source;
	l->queues[queue].next = 0;
}

uint64_t sl_link_memory_sent(const struct sl_link *link, uint16_t queue)
{
	const struct memory_link *l = (const struct memory_link *)(const void *)link;

	return l->queues[queue].sent;
}
