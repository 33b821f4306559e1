/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reassembly of both families, one set of datagrams for each worker, with the kernel's rules
 * (ip_frag_queue(), ip6_frag_queue()): any order, any number of fragments, exact duplicates ignored,
 * overlaps end the datagram, 4 MiB of fragments for each family, IPv4 datagrams start over when more
 * than ipfrag_max_dist fragments of the same source came in between.
 *
 * Why not librte_ip_frag: it takes at most RTE_LIBRTE_IP_FRAG_MAX_FRAG (8) fragments of a datagram,
 * does not see overlaps (their bytes would be joined one behind the other), frees what timed out
 * without telling (nothing could be answered or counted), keeps neither the size of the largest
 * fragment nor ECN, and bounds datagrams, not bytes.
 *
 * A datagram is found by hash; its fragments are in a tree by offset (lib/reasm_queue.c); when the
 * last byte is there, buffers are chained (lib/reasm_join.c). Of all fragments but the first one the
 * headers are cut off at once. Datagrams of one family wait equally long, so the oldest is always
 * the first of a list. Everything is allocated at the start.
 */
#include "lib/ip4.h"
#include "lib/reasm_priv.h"
#include "lib/router.h"

#include <rte_cycles.h>
#include <rte_jhash.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

/* net.ipv4.ipfrag_high_thresh and its IPv6 twin; here for each worker */
#define BYTES_MAX (4U << 20)
/* of the buffers of the pool, both families of all workers together hold one in */
#define POOL_SHARE 2U
/* datagrams that one tick ends at most, for each family */
#define EXPIRE_BURST 64U

static uint32_t buffer_bytes(const struct rte_mbuf *seg)
{
	return (uint32_t)sizeof(*seg) + seg->priv_size + seg->buf_len;
}

static uint64_t held_bytes(const struct rte_mbuf *m)
{
	uint64_t bytes = 0;

	for (; m != NULL; m = m->next)
		bytes += buffer_bytes(m);
	return bytes;
}

int sl_reasm_create(struct sl_worker *w, struct sl_reasm **out)
{
	const struct rte_mempool *pool = w->r->pool;
	uint32_t unit = pool->elt_size;
	uint64_t share =
			(uint64_t)pool->size * unit / POOL_SHARE / 2 / RTE_MAX(w->r->n_workers, 1U);
	struct sl_reasm *q = calloc(1, sizeof(*q));
	struct reasm_datagram *d;
	struct reasm_frag *f;
	struct reasm_peer *peer;
	size_t n;

	if (q == NULL)
		return -ENOMEM;
	q->unit = unit;
	q->bytes_max = RTE_MIN(share, (uint64_t)BYTES_MAX);
	/* both families, and the one of each that goes over the limit */
	n = 2 * (q->bytes_max / unit + 2);
	q->memory = calloc(n, sizeof(*d) + sizeof(*f) + sizeof(*peer));
	if (q->memory == NULL || getrandom(&q->seed, sizeof(q->seed), 0) != sizeof(q->seed)) {
		free(q->memory);
		free(q);
		return -ENOMEM;
	}
	d = q->memory;
	f = (void *)(d + n);
	peer = (void *)(f + n);
	for (size_t i = 0; i < n; i++) {
		d[i].next = i + 1 < n ? &d[i + 1] : NULL;
		f[i].next = i + 1 < n ? &f[i + 1] : NULL;
		peer[i].next = i + 1 < n ? &peer[i + 1] : NULL;
	}
	q->free_datagrams = d;
	q->free_frags = f;
	q->free_peers = peer;
	TAILQ_INIT(&q->inet.by_age);
	TAILQ_INIT(&q->inet6.by_age);
	*out = q;
	return 0;
}

void sl_reasm_set_time6(struct sl_reasm *q, uint32_t seconds)
{
	q->time6_s = seconds;
}

void sl_reasm_set_transit(struct sl_reasm *q)
{
	q->transit = true;
}

static struct reasm_family *reasm_family(struct sl_reasm *q, uint8_t family)
{
	return family == SL_AF_INET ? &q->inet : &q->inet6;
}

/* ---- datagrams -------------------------------------------------------------------------------- */

static struct reasm_datagram **place_of(struct sl_reasm *q, const struct reasm_key *key)
{
	uint32_t hash = rte_jhash_32b((const uint32_t *)key, sizeof(*key) / 4, q->seed);
	struct reasm_datagram **at = &q->datagrams[hash % REASM_BUCKETS];

	while (*at != NULL && memcmp(&(*at)->key, key, sizeof(*key)) != 0)
		at = &(*at)->next;
	return at;
}

struct reasm_datagram *reasm_find(
		struct sl_worker *w, struct sl_reasm *q, const struct reasm_key *key)
{
	struct reasm_family *fam = reasm_family(q, key->family);
	struct reasm_datagram **at = place_of(q, key), *d;

	if (*at != NULL)
		return *at;
	d = q->free_datagrams;
	if (d == NULL)
		return NULL;
	q->free_datagrams = d->next;
	*d = (struct reasm_datagram){ .key = *key, .since_ns = w->now_ns };
	if (key->family == SL_AF_INET)
		d->peer = reasm_peer_get(q, &key->src);
	*at = d;
	TAILQ_INSERT_TAIL(&fam->by_age, d, by_age);
	fam->bytes += q->unit;
	return d;
}

static void forget(struct sl_reasm *q, struct reasm_datagram *d)
{
	struct reasm_family *fam = reasm_family(q, d->key.family);
	struct reasm_datagram **at = place_of(q, &d->key);

	if (d->have == 0)
		fam->bytes -= q->unit;
	*at = d->next;
	TAILQ_REMOVE(&fam->by_age, d, by_age);
	reasm_peer_put(q, d->peer);
	d->next = q->free_datagrams;
	q->free_datagrams = d;
}

/* one fragment leaves: its buffers are no longer held. Return: the one behind it */
static struct reasm_frag *release(struct sl_worker *w, struct sl_reasm *q, struct reasm_family *fam,
		struct reasm_frag *f)
{
	struct reasm_frag *next = f->next;

	fam->bytes -= held_bytes(f->m);
	w->held[sl_pkt(f->m)->in_port]--;
	f->next = q->free_frags;
	q->free_frags = f;
	return next;
}

static void drop_frags(struct sl_worker *w, struct sl_reasm *q, struct reasm_family *fam,
		struct reasm_frag *f, enum sl_drop_reason reason)
{
	while (f != NULL) {
		struct rte_mbuf *m = f->m;

		f = release(w, q, fam, f);
		sl_drop(w, m, reason);
	}
}

static void kill(struct sl_worker *w, struct sl_reasm *q, struct reasm_datagram *d,
		enum sl_drop_reason reason)
{
	struct reasm_family *fam = reasm_family(q, d->key.family);

	drop_frags(w, q, fam, reasm_flatten(&d->frags), reason);
	forget(q, d);
}

/* ip_frag_too_far(): IPv4 ids come round quickly, so what is old belongs to something else */
void reasm_kill(struct sl_worker *w, struct sl_reasm *q, struct reasm_datagram *d)
{
	kill(w, q, d, SL_DROP_REASM);
}

static void start_over_if_far(struct sl_worker *w, struct sl_reasm *q, struct reasm_datagram *d)
{
	uint32_t max = (uint32_t)w->net->sysctl.ipfrag4_max_dist, before = d->peer_seen;

	if (d->peer == NULL || max == 0)
		return;
	d->peer_seen = ++d->peer->fragments;
	if (d->frags.root == NULL || d->peer_seen - before <= max)
		return;
	drop_frags(w, q, &q->inet, reasm_flatten(&d->frags), SL_DROP_REASM);
	q->inet.bytes += q->unit;
	d->len = 0;
	d->have = 0;
	d->ecn = 0;
	d->has_first = false;
	d->has_last = false;
	d->since_ns = w->now_ns;
	TAILQ_REMOVE(&q->inet.by_age, d, by_age);
	TAILQ_INSERT_TAIL(&q->inet.by_age, d, by_age);
}

/* Return: false if the fragment contradicts what is there */
static bool take_end(struct reasm_datagram *d, const struct reasm_part *part)
{
	if (!part->more) {
		if (part->end < d->len || (d->has_last && part->end != d->len))
			return false;
		d->has_last = true;
		d->len = part->end;
	} else if (part->end > d->len) {
		if (d->has_last)
			return false;
		d->len = part->end;
	}
	return part->end != part->off;
}

static void note(struct reasm_datagram *d, const struct reasm_part *part)
{
	uint32_t size = part->end - part->off + part->hdr_len;

	d->have += part->end - part->off;
	d->ecn |= part->ecn;
	d->max_size = RTE_MAX(d->max_size, size);
	if (part->df)
		d->max_df_size = RTE_MAX(d->max_df_size, size);
	if (part->off == 0) {
		d->has_first = true;
		d->hdr_len = part->hdr_len;
		d->nhoff = part->nhoff;
	}
}

/* everything is there: fragments but the last one to come are counted as joined to it */
static struct rte_mbuf *complete(struct sl_worker *w, struct sl_reasm *q, struct reasm_datagram *d,
		const struct rte_mbuf *last)
{
	struct reasm_family *fam = reasm_family(q, d->key.family);
	struct sl_pkt last_pkt = *sl_pkt((struct rte_mbuf *)(uintptr_t)last);
	struct reasm_frag *head;
	struct rte_mbuf *m;

	if (!reasm_joinable(d)) {
		kill(w, q, d, SL_DROP_REASM);
		return NULL;
	}
	head = reasm_flatten(&d->frags);
	for (const struct reasm_frag *f = head; f != NULL; f = f->next) {
		uint16_t port = sl_pkt(f->m)->in_port;

		fam->bytes -= held_bytes(f->m);
		w->held[port]--;
		w->delivered[port]++;
	}
	w->delivered[last_pkt.in_port]--;
	m = reasm_join(d, head, &last_pkt);
	while (head != NULL) {
		struct reasm_frag *next = head->next;

		head->next = q->free_frags;
		q->free_frags = head;
		head = next;
	}
	forget(q, d);
	return m;
}

struct rte_mbuf *reasm_add(struct sl_worker *w, struct sl_reasm *q, struct reasm_datagram *d,
		struct rte_mbuf *m, const struct reasm_part *part)
{
	struct reasm_family *fam = reasm_family(q, d->key.family);
	uint32_t l3_off = sl_pkt(m)->l3_off;
	struct reasm_frag *f;

	start_over_if_far(w, q, d);
	if (!take_end(d, part)) {
		kill(w, q, d, SL_DROP_REASM);
		goto drop;
	}
	f = q->free_frags;
	if (f == NULL)
		goto drop;
	q->free_frags = f->next;
	f->m = m;
	f->off = part->off;
	switch (reasm_insert(&d->frags, f, part->end, sl_worker_random(w))) {
	case REASM_INSERTED:
		break;
	case REASM_OVERLAP:
		kill(w, q, d, SL_DROP_REASM);
		/* fallthrough */
	case REASM_DUPLICATE:
		f->next = q->free_frags;
		q->free_frags = f;
		goto drop;
	}
	sl_pkt_trim(m, l3_off + part->hdr_len + part->end - part->off);
	if (part->off != 0)
		rte_pktmbuf_adj(m, (uint16_t)(l3_off + part->hdr_len));
	if (d->have == 0)
		fam->bytes -= q->unit;
	fam->bytes += held_bytes(m);
	w->held[sl_pkt(m)->in_port]++;
	note(d, part);
	if (d->has_first && d->has_last && d->have == d->len)
		return complete(w, q, d, m);
	return NULL;

drop:
	sl_drop(w, m, SL_DROP_REASM);
	return NULL;
}

/* ---- time ------------------------------------------------------------------------------------- */

/* RFC 792, RFC 4443 3.3: said to the sender if the part with its ports is there */
static void answer(struct sl_worker *w, const struct sl_reasm *q, const struct reasm_datagram *d)
{
	const struct reasm_frag *f = d->frags.root;

	if (!d->has_first)
		return;
	while (f->left != NULL)
		f = f->left;
	if (d->key.family == SL_AF_INET && q->transit
			&& ip4_classify(w, sl_pkt(f->m)) != IP4_DST_LOCAL)
		return;
	if (d->key.family == SL_AF_INET)
		sl_icmp4_error(w, f->m, 11, 1, 0);
	else
		sl_icmp6_error(w, f->m, ICMP6_TIME, ICMP6_TIME_REASM, 0);
}

static void expire(struct sl_worker *w, struct sl_reasm *q, struct reasm_family *fam, int time_s,
		bool with_answer)
{
	uint64_t wait_ns = (uint64_t)time_s * NS_PER_S;

	for (unsigned int i = 0; i < EXPIRE_BURST; i++) {
		struct reasm_datagram *d = TAILQ_FIRST(&fam->by_age);

		if (d == NULL || w->now_ns - d->since_ns < wait_ns)
			return;
		if (with_answer)
			answer(w, q, d);
		kill(w, q, d, SL_DROP_REASM_TIMEOUT);
	}
}

void sl_reasm_tick(struct sl_worker *w, struct sl_reasm *q, bool with_answer)
{
	expire(w, q, &q->inet, w->net->sysctl.ipfrag4_time_s, with_answer);
	expire(w, q, &q->inet6, q->time6_s != 0 ? (int)q->time6_s : w->net->sysctl.ipfrag6_time_s,
			with_answer);
}

void sl_reasm_flush(struct sl_worker *w, struct sl_reasm *q)
{
	struct reasm_datagram *d;

	while ((d = TAILQ_FIRST(&q->inet.by_age)) != NULL)
		kill(w, q, d, SL_DROP_SHUTDOWN);
	while ((d = TAILQ_FIRST(&q->inet6.by_age)) != NULL)
		kill(w, q, d, SL_DROP_SHUTDOWN);
}

void sl_reasm_fix(struct sl_reasm *q)
{
	q->seed = 0;
}

void sl_reasm_free(struct sl_worker *w, struct sl_reasm *q)
{
	if (q == NULL)
		return;
	sl_reasm_flush(w, q);
	free(q->memory);
	free(q);
}
