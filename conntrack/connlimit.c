/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash of networks, each with a list of its connections. A connection is a reference to an entry
 * of some worker. Nobody tells the list when an entry dies: whoever counts looks at the entries and
 * forgets those that are gone or closed. Reading an entry of another worker is a race without harm:
 * its memory stays, its number tells whether it is still the same, and a count that is one connection
 * late is what the kernel gives as well.
 *
 * As in the kernel (nf_conncount), in this order:
 * - a packet of an assured connection adds none;
 * - a packet of a new connection is added without a look, if the list was looked through in the
 *   same jiffy and has not grown by more than COLLECT_MAX since;
 * - else the list is looked through from the youngest on, until the packet's own connection is
 *   found, or more than COLLECT_MAX were forgotten; then it is added, unless it was found.
 *
 * Networks that have lost all connections are freed a few at a time when others come.
 */
#include "conntrack/connlimit.h"

#include <rte_jhash.h>
#include <rte_spinlock.h>

#include <netinet/in.h>
#include <stdlib.h>

#define COLLECT_MAX 64
#define STRIPES 256U
/* buckets that are looked at for each new network, and connections of each network there */
#define SWEEP 4
#define SWEEP_CONNS 16

struct conn {
	struct ct_ref ref;
	uint32_t next; /* of a network or of free ones; 0: the end */
};

struct network {
	struct sl_addr net;
	uint32_t first, count;
	uint32_t last_gc, last_gc_count;
	uint32_t next; /* of a bucket or of free ones */
	uint16_t zone;
};

struct stripe {
	rte_spinlock_t lock;
	uint32_t hand; /* bucket that is swept next, in units of STRIPES */
} __rte_cache_aligned;

/* number 0 of both is never used */
struct pool {
	rte_spinlock_t lock;
	uint32_t free; /* list */
	uint32_t high; /* numbers ever used */
	uint32_t room;
};

struct connlimit {
	unsigned int refs; /* [control] */
	uint32_t secret;
	struct stripe stripes[STRIPES];
	uint32_t n_buckets; /* a power of two, STRIPES or more */
	uint32_t *buckets; /* first network */
	struct pool networks_pool, conns_pool;
	struct network *networks; /* pages are taken when first written */
	struct conn *conns;
};

struct connlimit *connlimit_create(uint32_t max, uint32_t secret)
{
	struct connlimit *cl = aligned_alloc(RTE_CACHE_LINE_SIZE, sizeof(*cl));
	/* what was dropped before it was confirmed stays for a while */
	uint32_t room = max + max / 2 + 4096;

	if (cl == NULL)
		return NULL;
	*cl = (struct connlimit){ .refs = 1, .secret = secret };
	cl->networks_pool.room = room;
	cl->conns_pool.room = room;
	cl->n_buckets = RTE_MAX(rte_align32pow2(room / 4), STRIPES);
	cl->buckets = calloc(cl->n_buckets, sizeof(*cl->buckets));
	cl->networks = calloc(room + 1, sizeof(*cl->networks));
	cl->conns = calloc(room + 1, sizeof(*cl->conns));
	if (cl->buckets != NULL && cl->networks != NULL && cl->conns != NULL)
		return cl;
	connlimit_put(cl);
	return NULL;
}

struct connlimit *connlimit_hold(struct connlimit *cl)
{
	cl->refs++;
	return cl;
}

void connlimit_put(struct connlimit *cl)
{
	if (--cl->refs > 0)
		return;
	free(cl->buckets);
	free(cl->networks);
	free(cl->conns);
	free(cl);
}

static uint32_t conn_alloc(struct connlimit *cl)
{
	struct pool *p = &cl->conns_pool;
	uint32_t at;

	rte_spinlock_lock(&p->lock);
	at = p->free;
	if (at != 0)
		p->free = cl->conns[at].next;
	else if (p->high < p->room)
		at = ++p->high;
	rte_spinlock_unlock(&p->lock);
	return at;
}

static void conn_free(struct connlimit *cl, uint32_t at)
{
	rte_spinlock_lock(&cl->conns_pool.lock);
	cl->conns[at].next = cl->conns_pool.free;
	cl->conns_pool.free = at;
	rte_spinlock_unlock(&cl->conns_pool.lock);
}

static uint32_t network_alloc(struct connlimit *cl)
{
	struct pool *p = &cl->networks_pool;
	uint32_t at;

	rte_spinlock_lock(&p->lock);
	at = p->free;
	if (at != 0)
		p->free = cl->networks[at].next;
	else if (p->high < p->room)
		at = ++p->high;
	rte_spinlock_unlock(&p->lock);
	return at;
}

static void network_free(struct connlimit *cl, uint32_t at)
{
	rte_spinlock_lock(&cl->networks_pool.lock);
	cl->networks[at].next = cl->networks_pool.free;
	cl->networks_pool.free = at;
	rte_spinlock_unlock(&cl->networks_pool.lock);
}

/* whether a connection is gone, or closed so that it counts no more */
static bool is_over(const struct connlimit_pkt *p, const struct ct_ref *ref)
{
	const struct ct_entry *e;
	uint32_t status;

	if (ref->id == 0)
		return true;
	e = &p->table->shard[ref->worker]->entries[ref->at];
	status = __atomic_load_n(&e->status, __ATOMIC_RELAXED);
	if (__atomic_load_n(&e->id, __ATOMIC_RELAXED) != ref->id
			|| status & (CT_UNFOUND | CT_DYING))
		return true;
	/* what is not confirmed yet may be still, until its packet's turn is over */
	if ((status & CT_CONFIRMED) == 0)
		return (status & CT_FRESH) == 0;
	if (ct_is_expired(e, p->now_ms))
		return true;
	return e->orig.proto == IPPROTO_TCP
			&& (e->tcp.state == CT_TCP_TIME_WAIT || e->tcp.state == CT_TCP_CLOSE);
}

static bool same_conn(const struct ct_ref *a, const struct ct_ref *b)
{
	return a->id != 0 && a->id == b->id && a->at == b->at && a->worker == b->worker;
}

/*
 * Forgets what is over. @own: stop where this connection is; NULL: go through all.
 * Return: whether @own was found.
 */
static bool look_through(struct connlimit *cl, struct network *net, const struct connlimit_pkt *p,
		const struct ct_ref *own)
{
	uint32_t *link = &net->first;
	unsigned int forgotten = 0;

	while (*link != 0 && forgotten <= COLLECT_MAX) {
		struct conn *conn = &cl->conns[*link];
		uint32_t at = *link;

		if (own != NULL && same_conn(&conn->ref, own))
			return true;
		if (!is_over(p, &conn->ref)) {
			link = &conn->next;
			continue;
		}
		*link = conn->next;
		conn_free(cl, at);
		net->count--;
		forgotten++;
	}
	net->last_gc = p->jiffies;
	net->last_gc_count = net->count;
	return false;
}

static bool add(struct connlimit *cl, struct network *net, const struct ct_ref *ref)
{
	uint32_t at = conn_alloc(cl);

	if (at == 0)
		return false;
	cl->conns[at] = (struct conn){ *ref, net->first };
	net->first = at;
	net->count++;
	return true;
}

static bool count_known(struct connlimit *cl, struct network *net, const struct connlimit_pkt *p)
{
	if (p->ref.id != 0 && p->status & CT_ASSURED) {
		if (net->last_gc != p->jiffies)
			look_through(cl, net, p, NULL);
		return true;
	}
	if ((p->status & CT_CONFIRMED) == 0 && net->last_gc == p->jiffies
			&& net->count - net->last_gc_count < COLLECT_MAX)
		return add(cl, net, &p->ref);
	return look_through(cl, net, p, &p->ref) || add(cl, net, &p->ref);
}

/*
 * Whether the network has lost all its connections. One that is looked at in this jiffy is left as it
 * is: its count is to depend on its own packets alone.
 */
static bool is_empty(struct connlimit *cl, struct network *net, const struct connlimit_pkt *p)
{
	if (net->last_gc == p->jiffies)
		return false;
	for (unsigned int i = 0; net->first != 0 && i < SWEEP_CONNS; i++) {
		uint32_t at = net->first;

		if (!is_over(p, &cl->conns[at].ref))
			return false;
		net->first = cl->conns[at].next;
		net->count--;
		conn_free(cl, at);
	}
	return net->first == 0;
}

/* some buckets of the stripe: networks that are empty are freed */
static void sweep(struct connlimit *cl, uint32_t stripe, const struct connlimit_pkt *p)
{
	struct stripe *s = &cl->stripes[stripe];

	for (unsigned int i = 0; i < SWEEP; i++) {
		uint32_t *link = &cl->buckets[s->hand * STRIPES + stripe];

		s->hand = (s->hand + 1) % (cl->n_buckets / STRIPES);
		while (*link != 0) {
			uint32_t at = *link;
			struct network *net = &cl->networks[at];

			if (!is_empty(cl, net, p)) {
				link = &net->next;
				continue;
			}
			*link = net->next;
			network_free(cl, at);
		}
	}
}

static uint32_t bucket_of(const struct connlimit *cl, const struct connlimit_pkt *p)
{
	return rte_jhash_32b(p->net.w, RTE_DIM(p->net.w), cl->secret ^ p->zone)
			& (cl->n_buckets - 1);
}

static struct network *find(struct connlimit *cl, uint32_t bucket, const struct connlimit_pkt *p)
{
	for (uint32_t at = cl->buckets[bucket]; at != 0; at = cl->networks[at].next) {
		struct network *net = &cl->networks[at];

		if (sl_addr_eq(&net->net, &p->net) && net->zone == p->zone)
			return net;
	}
	return NULL;
}

/* a network with its first connection; NULL: no room */
static struct network *make(struct connlimit *cl, uint32_t bucket, const struct connlimit_pkt *p)
{
	struct network *net;
	uint32_t at;

	sweep(cl, bucket % STRIPES, p);
	at = network_alloc(cl);
	if (at == 0)
		return NULL;
	net = &cl->networks[at];
	*net = (struct network){ .net = p->net, .zone = p->zone, .last_gc = p->jiffies };
	if (!add(cl, net, &p->ref)) {
		network_free(cl, at);
		return NULL;
	}
	net->next = cl->buckets[bucket];
	cl->buckets[bucket] = at;
	return net;
}

bool connlimit_count(struct connlimit *cl, const struct connlimit_pkt *p, uint32_t *n)
{
	uint32_t bucket = bucket_of(cl, p);
	struct stripe *s = &cl->stripes[bucket % STRIPES];
	struct network *net;
	bool ok = true;

	rte_spinlock_lock(&s->lock);
	net = find(cl, bucket, p);
	if (net != NULL)
		ok = count_known(cl, net, p);
	else
		net = make(cl, bucket, p);
	if (net == NULL)
		ok = false;
	else
		*n = net->count;
	rte_spinlock_unlock(&s->lock);
	return ok;
}
