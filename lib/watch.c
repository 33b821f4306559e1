/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/watch.h"

#include "lib/ip.h"
#include "lib/router.h"

#include <stdio.h>
#include <string.h>

/* enough of a header for TTL and TOS of both families */
#define HEAD_LEN 20

/* @size bytes in one piece, to be published as *end; NULL: no room */
static struct sl_watch_rec *reserve(struct sl_watch_ring *ring, uint32_t size, uint64_t *end)
{
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
	uint32_t at = (uint32_t)(head % SL_WATCH_RING);
	uint32_t rest = SL_WATCH_RING - at;

	if (size > rest) {
		struct sl_watch_rec *pad = (void *)&ring->data[at];

		if (head + rest + size - tail > SL_WATCH_RING)
			return NULL;
		/* sizes are multiples of 8: there is room for size and place */
		pad->size = rest;
		pad->at = SL_WATCH_PAD;
		head += rest;
		at = 0;
	}
	if (head + size - tail > SL_WATCH_RING)
		return NULL;
	*end = head + size;
	return (void *)&ring->data[at];
}

static void fill_state(struct rte_mbuf *m, struct sl_watch_state *s)
{
	const struct sl_pkt *p = sl_pkt(m);
	const uint8_t *ip = p->family == SL_AF_NONE ? NULL : sl_pkt_at(m, p->l3_off, HEAD_LEN);

	*s = (struct sl_watch_state){
		.src = p->src,
		.dst = p->dst,
		.sport_be = p->sport_be,
		.dport_be = p->dport_be,
		.flags = p->flags,
		.mark = p->mark,
		.priority = p->priority,
		.in = p->in_port,
		.out = p->out_port,
		.zone = p->zone,
		.family = p->family,
		.proto = p->proto,
		.ct_info = p->ct_info,
		.has_ct = p->ct != NULL && !(p->flags & SL_PKT_CT_TEMPLATE),
	};
	if (ip == NULL)
		return;
	s->ttl = p->family == SL_AF_INET ? ip[8] : ip[7];
	s->tos = p->family == SL_AF_INET ? ip[1] : (uint8_t)(ip[0] << 4 | ip[1] >> 4);
}

/* what a record says beside the packet */
struct note {
	enum sl_watch_at at;
	unsigned int hook;
	enum sl_drop_reason reason;
	const char *stage; /* NULL: none */
	const char *text; /* NULL: none */
};

static void record(struct sl_worker *w, const struct sl_watch *watch, struct rte_mbuf *m,
		const struct note *note)
{
	const struct sl_pkt *p = sl_pkt(m);
	uint16_t port = note->at == SL_WATCH_TX ? p->out_port : p->in_port;
	struct sl_watch_ring *ring = watch->rings[w->id];
	uint32_t captured = watch->trace ? 0 : m->pkt_len;
	uint32_t text_len = note->text == NULL ? 0 : (uint32_t)strlen(note->text);
	uint32_t size = (uint32_t)RTE_ALIGN_CEIL(
			sizeof(struct sl_watch_rec) + captured + text_len, 8U);
	struct sl_watch_rec *rec;
	uint64_t end;

	rec = reserve(ring, size, &end);
	if (rec == NULL) {
		/* one writer: no locked instruction */
		atomic_store_explicit(&ring->missed[port],
				atomic_load_explicit(&ring->missed[port], memory_order_relaxed) + 1,
				memory_order_relaxed);
		return;
	}
	*rec = (struct sl_watch_rec){
		.size = size,
		.at = (uint8_t)note->at,
		.hook = (uint8_t)note->hook,
		.reason = (uint16_t)note->reason,
		.id = p->trace_id,
		.len = m->pkt_len,
		.captured = captured,
		.text_len = text_len,
		.wall_ns = w->wall_ns,
	};
	if (note->stage != NULL)
		snprintf(rec->stage, sizeof(rec->stage), "%s", note->stage);
	fill_state(m, &rec->state);
	sl_pkt_copy(m, 0, captured, rec->data);
	if (text_len > 0)
		memcpy(rec->data + captured, note->text, text_len);
	atomic_store_explicit(&ring->head, end, memory_order_release);
}

static bool wants(const struct sl_watch *watch, struct rte_mbuf *m, uint16_t port)
{
	if (watch->port != SL_PORT_NONE && watch->port != port)
		return false;
	return watch->match == NULL || watch->match(watch->match_arg, m);
}

/* parse clears all flags, and nobody clears the number in packets of the router's own */
static bool is_followed(const struct sl_pkt *p)
{
	return p->trace_id != 0 && (p->flags & (SL_PKT_WATCHED | SL_PKT_ORIGIN)) != SL_PKT_ORIGIN;
}

/* tells the trace of a packet that it follows */
static void follow(struct sl_worker *w, struct rte_mbuf *m, const struct note *note)
{
	if (w->watch->trace != NULL && is_followed(sl_pkt(m)))
		record(w, w->watch->trace, m, note);
}

static void choose(struct sl_worker *w, struct rte_mbuf *m)
{
	uint32_t last_id = w->watch->trace->last_id;
	struct sl_pkt *p = sl_pkt(m);
	uint32_t id = atomic_load_explicit(&w->r->trace_id, memory_order_relaxed);

	if (last_id != 0 && id >= last_id)
		return;
	/* two workers may pass the test at once */
	id = atomic_fetch_add_explicit(&w->r->trace_id, 1, memory_order_relaxed) + 1;
	if (last_id != 0 && id > last_id)
		return;
	p->flags |= SL_PKT_WATCHED;
	p->trace_id = id;
	follow(w, m, &(struct note){ .at = SL_WATCH_RX, .hook = SL_HOOK_NB });
}

static bool traces(const struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_watch *trace = w->watch->trace;

	return trace != NULL && !trace->marked && wants(trace, m, sl_pkt(m)->in_port);
}

void sl_watch_choose(struct sl_worker *w, struct rte_mbuf *m)
{
	if (w->watch->trace != NULL && !(sl_pkt(m)->flags & SL_PKT_WATCHED))
		choose(w, m);
}

void sl_watch_rx(struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n)
{
	const struct note note = { .at = SL_WATCH_RX, .hook = SL_HOOK_NB };

	for (unsigned int i = 0; w->watch->rx && i < n; i++)
		for (unsigned int k = 0; k < w->watch->n; k++) {
			const struct sl_watch *watch = w->watch->v[k];

			if (watch->rx && wants(watch, pkts[i], sl_pkt(pkts[i])->in_port))
				record(w, watch, pkts[i], &note);
		}
	for (unsigned int i = 0; w->watch->trace != NULL && i < n; i++)
		if (traces(w, pkts[i]))
			choose(w, pkts[i]);
}

void sl_watch_own(struct sl_worker *w, struct rte_mbuf *m)
{
	const struct sl_pkt *p = sl_pkt(m);
	uint8_t *link = p->l3_off < RTE_ETHER_HDR_LEN
			? NULL
			: sl_pkt_at(m, p->l3_off - RTE_ETHER_HDR_LEN, RTE_ETHER_HDR_LEN);

	/* the link header follows behind all hooks; filters need its type before */
	if (link != NULL) {
		memset(link, 0, RTE_ETHER_HDR_LEN);
		link[12] = p->family == SL_AF_INET ? 0x08 : 0x86;
		link[13] = p->family == SL_AF_INET ? 0x00 : 0xdd;
	}
	if (traces(w, m))
		choose(w, m);
}

void sl_watch_hook(struct sl_worker *w, enum sl_hook hook, struct rte_mbuf **pkts, unsigned int n)
{
	const struct note note = { .at = SL_WATCH_HOOK, .hook = hook };

	if (!(w->watch->hooks & SL_HOOK_BIT(hook)))
		return;
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < w->watch->n; k++) {
			const struct sl_watch *watch = w->watch->v[k];

			if (watch->hooks & SL_HOOK_BIT(hook)
					&& wants(watch, pkts[i], sl_pkt(pkts[i])->in_port))
				record(w, watch, pkts[i], &note);
		}
}

void sl_watch_stage(struct sl_worker *w, const struct sl_stage_inst *s, struct rte_mbuf **pkts,
		unsigned int n)
{
	const struct note note = { .at = SL_WATCH_STAGE, .hook = s->hook, .stage = s->ops->name };

	if (w->watch->trace == NULL)
		return;
	for (unsigned int i = 0; i < n; i++) {
		struct sl_pkt *p = sl_pkt(pkts[i]);

		if (!is_followed(p))
			continue;
		p->flags |= SL_PKT_WATCHED;
		follow(w, pkts[i], &note);
	}
}

void sl_watch_drop(struct sl_worker *w, struct rte_mbuf *m, enum sl_drop_reason reason)
{
	const struct sl_stage_inst *s = w->watch_stage;
	const struct note note = {
		.at = SL_WATCH_DROP,
		.hook = s == NULL ? SL_HOOK_NB : s->hook,
		.reason = reason,
		.stage = s == NULL ? NULL : s->ops->name,
	};

	for (unsigned int k = 0; k < w->watch->n; k++) {
		const struct sl_watch *watch = w->watch->v[k];

		if (watch->trace || !(watch->drop_hooks >> note.hook & 1))
			continue;
		if (wants(watch, m, sl_pkt(m)->in_port))
			record(w, watch, m, &note);
	}
	follow(w, m, &note);
}

void sl_watch_delivered(struct sl_worker *w, struct rte_mbuf *m)
{
	follow(w, m, &(struct note){ .at = SL_WATCH_DELIVERED, .hook = SL_HOOK_NB });
}

void sl_watch_tx(struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n)
{
	const struct note note = { .at = SL_WATCH_TX, .hook = SL_HOOK_NB };

	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int k = 0; w->watch->tx && k < w->watch->n; k++) {
			const struct sl_watch *watch = w->watch->v[k];

			if (watch->tx && wants(watch, pkts[i], sl_pkt(pkts[i])->out_port))
				record(w, watch, pkts[i], &note);
		}
		follow(w, pkts[i], &note);
	}
}

void sl_watch_rule(struct sl_worker *w, struct rte_mbuf *m, enum sl_hook hook, const char *text)
{
	follow(w, m, &(struct note){ .at = SL_WATCH_RULE, .hook = hook, .text = text });
}
