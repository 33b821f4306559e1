/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets find or make their connection, as nf_conntrack_in(). The batch is looked up at once; what
 * one packet changes (a connection made, killed, made anew) the next ones see, as if they had come
 * one by one.
 */
#include "conntrack/events.h"
#include "conntrack/expect.h"
#include "conntrack/nat.h"
#include "conntrack/related.h"
#include "conntrack/stage.h"
#include "lib/pktlog.h"
#include "lib/worker.h"

#include <errno.h>
#include <stdlib.h>

struct tracker {
	struct ct_table *table;
	struct ct_conf conf;
	bool family[IPT_FAMILY_NB];
	bool verify;
};

/* the packets of a batch that are to be looked up */
struct batch {
	struct ct_pkt c; /* what is the same for all of them */
	struct ct_tuple t[SL_BURST];
	struct ct_found found[SL_BURST];
	uint8_t at[SL_BURST]; /* index of the packet */
	unsigned int n;
};

static int tracker_create(struct sl_router *r, const struct sl_stage_conf *conf, void **priv)
{
	const struct ct_stage_conf *c = (const void *)conf;
	struct tracker *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return -ENOMEM;
	t->table = ct_table_get(r, &c->ct);
	if (t->table == NULL || (c->ct.log_invalid != 0 && sl_pktlog_enable(r) < 0)) {
		free(t);
		return -ENOMEM;
	}
	t->conf = c->ct;
	memcpy(t->family, c->family, sizeof(t->family));
	/* what the router itself sends is right */
	t->verify = c->ct.checksum != 0 && conf->hook == SL_HOOK_PREROUTING;
	*priv = t;
	return 0;
}

static void tracker_destroy(void *priv)
{
	free(priv);
}

static bool has_family(const struct tracker *t, const struct sl_pkt *p)
{
	return t->family[p->family == SL_AF_INET ? IPT_V4 : IPT_V6];
}

static void zones_of(const struct sl_pkt *p, uint16_t zone[CT_DIR_NB])
{
	const struct ct_template *tmpl = ct_template_of(p);
	uint16_t id;

	zone[CT_ORIGINAL] = 0;
	zone[CT_REPLY] = 0;
	if (likely(tmpl == NULL))
		return;
	id = tmpl->zone_mark ? (uint16_t)p->mark : tmpl->zone;
	for (unsigned int d = 0; d < CT_DIR_NB; d++)
		if (tmpl->zone_dirs >> d & 1)
			zone[d] = id;
}

/* no connection: INVALID, unless it is marked untracked */
static void forget(struct sl_pkt *p)
{
	p->ct = NULL;
	p->flags &= ~SL_PKT_CT_TEMPLATE;
}

static void invalid(struct ct_pkt *c)
{
	forget(c->p);
	c->s->stats.invalid++;
}

/* Return: whether the packet is to be looked up by its tuple; else all is said */
static bool prepare(struct ct_pkt *c, struct ct_tuple *t)
{
	uint16_t zone[CT_DIR_NB];

	if (unlikely(c->p->flags & SL_PKT_UNTRACKED)
			|| (c->p->ct != NULL && (c->p->flags & SL_PKT_CT_TEMPLATE) == 0))
		return false;
	if (unlikely((c->p->flags & (SL_PKT_L4 | SL_PKT_FRAG_LATER)) != SL_PKT_L4
			    || !ct_proto_check(c))) {
		invalid(c);
		return false;
	}
	zones_of(c->p, zone);
	if (unlikely(ct_is_icmp(c->p))) {
		switch (ct_icmp_class(c, zone)) {
		case CT_ICMP_ORDINARY:
			break;
		case CT_ICMP_RELATED:
			c->p->flags &= ~SL_PKT_CT_TEMPLATE;
			return false;
		case CT_ICMP_INVALID:
			invalid(c);
			return false;
		case CT_ICMP_UNTRACKED:
			forget(c->p);
			c->p->flags |= SL_PKT_UNTRACKED;
			return false;
		}
	}
	if (likely(c->p->proto == IPPROTO_TCP || c->p->proto == IPPROTO_UDP)
			&& likely(c->p->flags & SL_PKT_PORTS)) {
		t->src = c->p->src;
		t->dst = c->p->dst;
		t->sport_be = c->p->sport_be;
		t->dport_be = c->p->dport_be;
		t->family = c->p->family;
		t->proto = c->p->proto;
		t->zone = zone[CT_ORIGINAL];
		return true;
	}
	if (unlikely(!ct_tuple_get(c->m, zone[CT_ORIGINAL], t))) {
		invalid(c);
		return false;
	}
	return true;
}

/* whether somebody has announced the connection; else it has the helper that a rule gave it. Return:
 * false: the announcer's NAT has no place for it */
static bool relate(const struct ct_pkt *c, struct ct_entry *e, const struct ct_template *tmpl)
{
	struct ct_expect expect;

	if (likely(!ct_expect_take(c->s, &e->orig, &expect))) {
		if (unlikely(tmpl != NULL) && tmpl->helper != 0) {
			e->helper = tmpl->helper;
			e->status |= CT_HELPER;
		}
		return true;
	}
	ct_expect_bind(c->s, e, &expect);
	return !expect.follows || ct_nat_follow(c->w, c->s, e, &expect);
}

static struct ct_entry *make(struct ct_pkt *c, struct ct_tuple *t, const uint16_t zone[CT_DIR_NB],
		enum ct_verdict *verdict)
{
	const struct ct_template *tmpl = ct_template_of(c->p);
	struct ct_tuple reply;
	struct ct_entry *e;

	*verdict = CT_INVALID;
	t->zone = zone[CT_ORIGINAL];
	if (!ct_tuple_invert(t, &reply))
		return NULL;
	reply.zone = zone[CT_REPLY];
	e = ct_create(c->s, t, &reply);
	if (e == NULL) {
		*verdict = CT_DROP;
		return NULL;
	}
	c->is_new = true;
	if (unlikely(tmpl != NULL && tmpl->has_events))
		e->events_off = (uint16_t)~tmpl->events;
	if (!ct_proto_new(c, e)) {
		ct_kill(c->s, e);
		return NULL;
	}
	if (unlikely(!relate(c, e, tmpl))) {
		ct_kill(c->s, e);
		*verdict = CT_DROP;
		return NULL;
	}
	return e;
}

static enum sl_ct_info info_of(const struct ct_entry *e, enum ct_dir dir)
{
	if (dir == CT_REPLY)
		return SL_CT_ESTABLISHED_REPLY;
	if (e->status & CT_SEEN_REPLY)
		return SL_CT_ESTABLISHED;
	return e->status & CT_EXPECTED ? SL_CT_RELATED : SL_CT_NEW;
}

static void count(const struct ct_pkt *c, struct ct_entry *e)
{
	struct ct_cold *cold = ct_cold(c->s, e);

	cold->packets[c->dir]++;
	cold->bytes[c->dir] += c->p->l3_len;
}

/* what a packet changed of a connection that listeners know */
static __rte_noinline void tell(
		const struct ct_pkt *c, const struct ct_entry *e, uint32_t was, uint8_t was_state)
{
	uint32_t new = e->status & ~was, what = 0;

	if ((was & CT_CONFIRMED) == 0)
		return;
	if (new &CT_SEEN_REPLY)
		what |= CT_EVENT_REPLY;
	if (new &CT_ASSURED)
		what |= CT_EVENT_ASSURED;
	if (e->orig.proto == IPPROTO_TCP && e->tcp.state != was_state)
		what |= CT_EVENT_PROTOINFO;
	if (what != 0)
		ct_event(c->s, e, what);
}

/* a packet and the entry of its connection. Return: CT_PASS, CT_INVALID, CT_DROP, CT_REPEAT */
static enum ct_verdict handle(struct ct_pkt *c, struct ct_entry *e)
{
	uint32_t was = e->status;
	/* read only if somebody asks: UDP has not fetched that line */
	uint8_t was_state = unlikely(c->s->events != NULL) ? e->tcp.state : 0;
	enum ct_verdict verdict;

	c->p->ct = e;
	c->p->ct_info = info_of(e, c->dir);
	c->p->flags &= ~SL_PKT_CT_TEMPLATE;
	verdict = ct_proto_packet(c, e);
	if (likely(verdict <= CT_PASS_KILLED)) {
		if (unlikely(c->dir == CT_REPLY && (e->status & CT_SEEN_REPLY) == 0))
			e->status |= CT_SEEN_REPLY;
		if (unlikely(c->conf->acct) && verdict != CT_PASS_IGNORED)
			count(c, e);
		if (unlikely(c->s->events != NULL))
			tell(c, e, was, was_state);
		if (unlikely(verdict == CT_PASS_KILLED))
			ct_kill(c->s, e);
		return CT_PASS;
	}
	if (c->is_new && verdict != CT_REPEAT)
		ct_kill(c->s, e);
	return verdict;
}

/* the long way: what the look-up of the batch did not find, or finds no more */
static __rte_noinline enum ct_verdict resolve(struct ct_pkt *c, struct ct_tuple *t)
{
	const struct sl_pkt before = *c->p;
	enum ct_verdict verdict = CT_REPEAT;
	uint16_t zone[CT_DIR_NB];

	zones_of(c->p, zone);
	/* a repeat kills what it found, so there is no third time; the bound is against ourselves */
	for (unsigned int i = 0; i < 3 && verdict == CT_REPEAT; i++) {
		struct ct_found f = ct_find_zoned(c->s, t, zone);

		c->is_new = false;
		c->dir = f.dir;
		c->p->ct = before.ct;
		c->p->flags = before.flags;
		if (f.e == NULL) {
			c->dir = CT_ORIGINAL;
			f.e = make(c, t, zone, &verdict);
		}
		if (f.e == NULL)
			return verdict;
		verdict = handle(c, f.e);
	}
	return verdict;
}

static void look_up(struct batch *b, struct ct_shard *s)
{
	if (likely(b->n > 0))
		ct_find_bulk(s, b->t, b->n, b->found);
}

/* Return: whether the packet goes on */
static inline bool track_one(struct batch *b, unsigned int k)
{
	struct ct_pkt *c = &b->c;
	struct ct_found f = b->found[k];
	enum ct_verdict verdict;

	if (likely(f.e != NULL && (f.e->status & CT_UNFOUND) == 0
			    && (c->p->flags & SL_PKT_CT_TEMPLATE) == 0)) {
		c->is_new = false;
		c->dir = f.dir;
		verdict = handle(c, f.e);
		if (unlikely(verdict == CT_REPEAT))
			verdict = resolve(c, &b->t[k]);
	} else {
		verdict = resolve(c, &b->t[k]);
	}
	if (likely(verdict == CT_PASS))
		return true;
	if (verdict == CT_DROP) {
		sl_drop(c->w, c->m, SL_DROP_CONNTRACK);
		return false;
	}
	invalid(c);
	return true;
}

static unsigned int tracker_process(
		struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n)
{
	struct tracker *t = priv;
	struct ct_shard *s = t->table->shard[w->id];
	unsigned int survivors = 0, k = 0;
	struct batch b;

	b.c = (struct ct_pkt){ .w = w, .s = s, .conf = &t->conf, .verify = t->verify };
	b.n = 0;
	s->conf = &t->conf;
	s->now_ms = ct_now(w->now_ns);
	for (unsigned int i = 0; i < n; i++) {
		b.c.m = pkts[i];
		b.c.p = sl_pkt(pkts[i]);
		if (unlikely(!has_family(t, b.c.p)) || !prepare(&b.c, &b.t[b.n]))
			continue;
		b.at[b.n++] = (uint8_t)i;
	}
	look_up(&b, s);
	for (unsigned int i = 0; i < n; i++) {
		bool on = true;

		b.c.m = pkts[i];
		b.c.p = sl_pkt(pkts[i]);
		if (k < b.n && b.at[k] == i)
			on = track_one(&b, k++);
		pkts[survivors] = pkts[i];
		survivors += on;
	}
	return survivors;
}

static void tracker_tick(struct sl_worker *w, void *priv)
{
	struct tracker *t = priv;
	struct ct_shard *s = t->table->shard[w->id];

	s->conf = &t->conf;
	ct_tick(s, ct_now(w->now_ns));
	ct_expects_tick(s);
}

const struct sl_stage_ops sl_stage_conntrack = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "conntrack",
	.help = "packets find or make their connection",
	.hooks = SL_HOOK_BIT(SL_HOOK_PREROUTING) | SL_HOOK_BIT(SL_HOOK_OUTPUT),
	.order = SL_ORDER_CONNTRACK,
	.create = tracker_create,
	.process = tracker_process,
	.tick = tracker_tick,
	.destroy = tracker_destroy,
};
