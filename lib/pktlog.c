/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pktlog.h"

#include "lib/pkt.h"
#include "lib/router.h"

#include <rte_malloc.h>

#include <errno.h>

int sl_pktlog_enable(struct sl_router *r)
{
	if (r->pktlog_groups == NULL)
		r->pktlog_groups = rte_zmalloc("packet log groups", SL_PKTLOG_GROUPS, 0);
	if (r->pktlog_groups == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < r->n_workers; i++) {
		struct sl_worker *w = r->workers[i];

		if (w->pktlog != NULL)
			continue;
		/* seen by the worker with the rules that use it, which are published later */
		w->pktlog = rte_zmalloc("packet log", sizeof(*w->pktlog), RTE_CACHE_LINE_SIZE);
		if (w->pktlog == NULL)
			return -ENOMEM;
	}
	return 0;
}

void sl_pktlog_free(struct sl_router *r)
{
	for (unsigned int i = 0; i < r->n_workers; i++) {
		rte_free(r->workers[i]->pktlog);
		r->workers[i]->pktlog = NULL;
	}
	rte_free(r->pktlog_groups);
	r->pktlog_groups = NULL;
}

void sl_pktlog_subscribe(struct sl_router *r, uint16_t group, bool on)
{
	if (r->pktlog_groups != NULL)
		atomic_store_explicit(&r->pktlog_groups[group], on, memory_order_relaxed);
}

static void count(_Atomic uint64_t *counter)
{
	/* one writer: no locked instruction */
	atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
			memory_order_relaxed);
}

/* @size bytes in one piece; NULL: no room */
static struct sl_pktlog_rec *reserve(struct sl_pktlog *l, uint32_t size, uint64_t *head)
{
	uint64_t tail = atomic_load_explicit(&l->tail, memory_order_acquire);
	uint32_t at, rest;

	*head = atomic_load_explicit(&l->head, memory_order_relaxed);
	at = (uint32_t)(*head % SL_PKTLOG_RING);
	rest = SL_PKTLOG_RING - at;
	if (size > rest) {
		if (*head + rest + size - tail > SL_PKTLOG_RING)
			return NULL;
		/* a record is a multiple of 8 bytes, so what is left has room for size and kind */
		((struct sl_pktlog_rec *)(void *)&l->data[at])->size = rest;
		((struct sl_pktlog_rec *)(void *)&l->data[at])->kind = SL_PKTLOG_PAD;
		*head += rest;
		at = 0;
	}
	if (*head + size - tail > SL_PKTLOG_RING)
		return NULL;
	return (void *)&l->data[at];
}

static void fill(const struct sl_worker *w, struct rte_mbuf *m, struct sl_pktlog_rec *rec)
{
	const struct sl_pkt *p = sl_pkt(m);
	const uint8_t *mac = NULL;

	/* the header of the link that it came from: sent packets get theirs behind all rules */
	if (rec->in != SL_PORT_NONE && !(p->flags & SL_PKT_ORIGIN)
			&& p->l3_off >= RTE_ETHER_HDR_LEN)
		mac = sl_pkt_at(m, p->l3_off - RTE_ETHER_HDR_LEN, sizeof(rec->mac));
	rec->has_mac = mac != NULL;
	if (mac != NULL)
		memcpy(rec->mac, mac, sizeof(rec->mac));
	rec->wall_ns = w->wall_ns;
	rec->family = p->family;
	rec->mark = p->mark;
}

void sl_pktlog_write(struct sl_worker *w, struct rte_mbuf *m, const struct sl_pktlog_rec *head,
		uint32_t capture)
{
	const struct sl_pkt *p = sl_pkt(m);
	uint32_t len = m->pkt_len - p->l3_off;
	uint32_t captured = RTE_MIN(len, capture);
	uint32_t size = (uint32_t)RTE_ALIGN_CEIL(sizeof(*head) + captured, 8U);
	struct sl_pktlog *l = w->pktlog;
	struct sl_pktlog_rec *rec;
	uint64_t end;

	if (head->kind == SL_PKTLOG_GROUP
			&& !atomic_load_explicit(
					&w->r->pktlog_groups[head->group], memory_order_relaxed)) {
		count(&l->unread);
		return;
	}
	rec = reserve(l, size, &end);
	if (rec == NULL) {
		count(&l->lost);
		return;
	}
	*rec = *head;
	fill(w, m, rec);
	rec->size = size;
	rec->len = len;
	rec->captured = captured;
	sl_pkt_copy(m, p->l3_off, captured, rec->data);
	atomic_store_explicit(&l->head, end + size, memory_order_release);
}

const struct sl_pktlog_rec *sl_pktlog_peek(struct sl_worker *w)
{
	struct sl_pktlog *l = w->pktlog;
	const struct sl_pktlog_rec *rec;
	uint64_t tail;

	if (l == NULL)
		return NULL;
	tail = atomic_load_explicit(&l->tail, memory_order_relaxed);
	if (tail == atomic_load_explicit(&l->head, memory_order_acquire))
		return NULL;
	rec = (const void *)&l->data[tail % SL_PKTLOG_RING];
	if (rec->kind != SL_PKTLOG_PAD)
		return rec;
	/* a pad is published with the record behind it */
	return (const void *)l->data;
}

void sl_pktlog_pop(struct sl_worker *w, const struct sl_pktlog_rec *rec)
{
	struct sl_pktlog *l = w->pktlog;
	uint64_t tail = atomic_load_explicit(&l->tail, memory_order_relaxed);
	uint32_t at = (uint32_t)(tail % SL_PKTLOG_RING);

	if ((const uint8_t *)rec != &l->data[at])
		tail += SL_PKTLOG_RING - at;
	atomic_store_explicit(&l->tail, tail + rec->size, memory_order_release);
}

uint64_t sl_pktlog_lost(const struct sl_router *r)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < r->n_workers; i++)
		if (r->workers[i]->pktlog != NULL)
			sum += atomic_load_explicit(
					&r->workers[i]->pktlog->lost, memory_order_relaxed);
	return sum;
}

uint64_t sl_pktlog_unread(const struct sl_router *r)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < r->n_workers; i++)
		if (r->workers[i]->pktlog != NULL)
			sum += atomic_load_explicit(
					&r->workers[i]->pktlog->unread, memory_order_relaxed);
	return sum;
}
