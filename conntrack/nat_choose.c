/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which address and port a connection gets, as get_unique_tuple() and what it calls. Tuples here are
 * as the packet leaves: their answer is what has to be unique.
 */
#include "conntrack/claims.h"
#include "conntrack/expect.h"
#include "conntrack/nat.h"
#include "lib/worker.h"

#include <rte_jhash.h>

#include <netinet/in.h>

/* a search is given up after so many tries, and starts at another place with half as many */
#define TRIES_MAX 128U
#define TRIES_MIN 16U
/* so near the end a closed connection gives its port to a newer one */
#define TRIES_HARDER 32U

#define BOTH_DONE (CT_SRC_NAT_DONE | CT_DST_NAT_DONE)

/* a connection that is being set up */
struct choice {
	struct sl_worker *w;
	struct ct_shard *s;
	struct ct_entry *e;
	const struct ct_nat_range *range;
	enum ct_manip manip;
};

static bool has_ports(uint8_t proto)
{
	return proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_UDPLITE
			|| proto == IPPROTO_SCTP;
}

static bool is_icmp(const struct ct_tuple *t)
{
	return t->proto == (t->family == SL_AF_INET ? IPPROTO_ICMP : IPPROTO_ICMPV6);
}

/* the part of the protocol that may be changed; ICMP has one id for both sides */
static rte_be16_t *part(struct ct_tuple *t, enum ct_manip manip)
{
	return manip == CT_MANIP_SRC || is_icmp(t) ? &t->sport_be : &t->dport_be;
}

static bool is_used(const struct choice *c, const struct ct_tuple *t)
{
	struct ct_tuple answer;

	if (!ct_tuple_invert(t, &answer))
		return false;
	answer.zone = c->e->reply.zone;
	if (ct_is_used(c->s, &answer, c->e))
		return true;
	return c->s->table->claims != NULL && ct_claimed(c->s->table, &answer) >= 0;
}

/* a connection in TIME_WAIT or CLOSE goes, if the sequence numbers of the new one are beyond its own */
static bool is_used_harder(
		const struct choice *c, const struct ct_tuple *t, unsigned int tries_left)
{
	struct ct_tuple answer;
	struct ct_found f;

	if (tries_left > TRIES_HARDER || t->proto != IPPROTO_TCP
			|| c->e->tcp.state != CT_TCP_SYN_SENT || !ct_tuple_invert(t, &answer))
		return is_used(c, t);
	answer.zone = c->e->reply.zone;
	f = ct_find(c->s, &answer);
	if (f.e == NULL || f.e == c->e)
		return is_used(c, t);
	if (f.dir == CT_ORIGINAL || (f.e->status & CT_SRC_NAT) == 0
			|| f.e->status & (CT_FIXED_TIMEOUT | CT_DYING)
			|| (f.e->tcp.state != CT_TCP_TIME_WAIT && f.e->tcp.state != CT_TCP_CLOSE)
			|| (int32_t)(f.e->tcp.side[CT_ORIGINAL].end
					   - c->e->tcp.side[CT_ORIGINAL].end)
					>= 0)
		return true;
	ct_kill(c->s, f.e);
	return is_used(c, t);
}

/* -1, 0 or 1 by the order of addresses as numbers */
static int compare(const struct sl_addr *a, const struct sl_addr *b)
{
	return memcmp(a->b, b->b, sizeof(a->b));
}

static bool addr_in_range(const struct choice *c, const struct ct_tuple *t)
{
	const struct sl_addr *a = c->manip == CT_MANIP_SRC ? &t->src : &t->dst;

	return (c->range->flags & CT_NAT_ADDRS) == 0
			|| (compare(a, &c->range->lo) >= 0 && compare(a, &c->range->hi) <= 0);
}

static bool port_in_range(const struct choice *c, struct ct_tuple *t)
{
	uint16_t port;

	if ((c->range->flags & CT_NAT_PORTS) == 0)
		return true;
	if (!is_icmp(t) && !has_ports(t->proto) && t->proto != IPPROTO_GRE)
		return true;
	port = rte_be_to_cpu_16(*part(t, c->manip));
	return port >= c->range->port_lo && port <= c->range->port_hi;
}

/* another connection from the same source has a mapping that would do */
static bool reuse_source(const struct choice *c, const struct ct_tuple *cur, struct ct_tuple *t)
{
	const struct ct_entry *other = NULL;

	while ((other = ct_source_next(c->s, cur, other)) != NULL) {
		if (!ct_tuple_invert(&other->reply, t))
			continue;
		t->dst = cur->dst;
		t->zone = cur->zone;
		if (is_icmp(cur)) {
			t->type = cur->type;
			t->code = cur->code;
		} else {
			t->dport_be = cur->dport_be;
		}
		if (addr_in_range(c, t) && port_in_range(c, t))
			return true;
	}
	return false;
}

/* an address of the range by hash, a word at a time: below the last address all of a word are good */
static void choose_addr(const struct choice *c, struct ct_tuple *t)
{
	const struct ct_nat_range *range = c->range;
	struct sl_addr *a = c->manip == CT_MANIP_SRC ? &t->src : &t->dst;
	struct sl_addr dst = t->dst;
	unsigned int last = t->family == SL_AF_INET ? 0 : 3;
	bool persistent = range->flags & CT_NAT_PERSISTENT;
	bool full = false;
	uint32_t j;

	if ((range->flags & CT_NAT_ADDRS) == 0)
		return;
	if (sl_addr_eq(&range->lo, &range->hi)) {
		*a = range->lo;
		return;
	}
	j = rte_jhash_32b(t->src.w, 4, persistent ? 0 : dst.w[last] ^ c->e->orig.zone);
	for (unsigned int i = 0; i <= last; i++) {
		uint32_t lo = 0, dist = UINT32_MAX;

		if (!full) {
			lo = rte_be_to_cpu_32(range->lo.w[i]);
			dist = rte_be_to_cpu_32(range->hi.w[i]) - lo + 1;
		}
		a->w[i] = rte_cpu_to_be_32(lo + (uint32_t)((uint64_t)j * dist >> 32));
		if (a->w[i] != range->hi.w[i])
			full = true;
		if (!persistent)
			j ^= c->manip == CT_MANIP_DST ? a->w[i] : dst.w[i];
	}
}

struct ports {
	uint16_t min;
	uint32_t n;
};

/* where a port may be searched; false: nowhere, it stays */
static bool bounds(const struct choice *c, struct ct_tuple *t, struct ports *b)
{
	const struct ct_nat_range *range = c->range;
	bool given = range->flags & CT_NAT_PORTS;
	uint16_t port = rte_be_to_cpu_16(*part(t, c->manip));

	if (is_icmp(t)) {
		*b = (struct ports){ 0, 65536 };
		if (given)
			*b = (struct ports){ range->port_lo,
				(uint32_t)(range->port_hi - range->port_lo) + 1 };
		return true;
	}
	/* a call's key belongs to its control connection */
	if (t->proto == IPPROTO_GRE) {
		if (c->e->master_id == 0)
			return false;
		*b = (struct ports){ 1, 65535 };
	} else if (!has_ports(t->proto)) {
		return false;
	} else if (!given && c->manip == CT_MANIP_DST) {
		return false;
	} else if (port < 512) {
		*b = (struct ports){ 1, 511 };
	} else if (port < 1024) {
		*b = (struct ports){ 600, 424 };
	} else {
		*b = (struct ports){ 1024, 64512 };
	}
	if (given) {
		b->min = RTE_MIN(range->port_lo, range->port_hi);
		b->n = (uint32_t)(RTE_MAX(range->port_lo, range->port_hi) - b->min) + 1;
	}
	return true;
}

#define PROBES 16

/* @n ports at random, looked up at once. Return: whether nobody uses one, which is then in @t */
static bool probe(const struct choice *c, struct ct_tuple *t, const struct ports *b, unsigned int n)
{
	rte_be16_t *at = part(t, c->manip), port_be[PROBES];
	struct ct_found found[PROBES];
	struct ct_tuple answer[PROBES];

	for (unsigned int i = 0; i < n; i++) {
		uint32_t off = sl_worker_random(c->w) & UINT16_MAX;

		port_be[i] = *at = rte_cpu_to_be_16((uint16_t)(b->min + off % b->n));
		if (!ct_tuple_invert(t, &answer[i]))
			return false;
		answer[i].zone = c->e->reply.zone;
	}
	ct_find_bulk(c->s, answer, n, found);
	for (unsigned int i = 0; i < n; i++) {
		if (found[i].e == NULL
				&& (c->s->table->claims == NULL
						|| ct_claimed(c->s->table, &answer[i]) < 0)) {
			*at = port_be[i];
			return true;
		}
		c->s->stats.found += found[i].e != NULL;
	}
	return false;
}

/*
 * Where the kernel begins at random and goes on by one, each try is at random here: ports that are taken
 * lie in rows, the longer the fuller the range is, and behind a taken port the next one most likely is
 * taken, too. And what is in memory far away is waited for once for all tries of a probe.
 */
static bool scatter(const struct choice *c, struct ct_tuple *t, const struct ports *b)
{
	/* most ranges are all but empty */
	unsigned int n = 1;

	for (unsigned int left = TRIES_MAX - TRIES_HARDER; left > 0; left -= n) {
		n = RTE_MIN(n, left);
		if (probe(c, t, b, n))
			return true;
		n = RTE_MIN(2 * n, (unsigned int)PROBES);
	}
	return false;
}

/* Return: whether one was found that nobody uses; else @t has the last that was tried */
static bool search_port(const struct choice *c, struct ct_tuple *t)
{
	rte_be16_t *at = part(t, c->manip);
	unsigned int tries;
	struct ports b;
	uint32_t off = 0;

	if (!bounds(c, t, &b))
		return false;
	if (c->range->flags & CT_NAT_BASE) {
		off = (uint16_t)(rte_be_to_cpu_16(*at) - c->range->base);
	} else if (c->range->flags & CT_NAT_RANDOM || c->manip == CT_MANIP_SRC) {
		if (b.n > TRIES_MAX && scatter(c, t, &b))
			return true;
		off = sl_worker_random(c->w) & UINT16_MAX;
	}
	for (tries = RTE_MIN(b.n, TRIES_MAX);; tries /= 2) {
		for (unsigned int i = 0; i < tries; i++, off = (uint16_t)(off + 1)) {
			*at = rte_cpu_to_be_16((uint16_t)(b.min + off % b.n));
			if (!is_used_harder(c, t, tries - i))
				return true;
		}
		if (tries >= b.n || tries < TRIES_MIN)
			return false;
		off = sl_worker_random(c->w) & UINT16_MAX;
	}
}

/* Return: whether it is known that nobody uses it */
static bool choose(const struct choice *c, const struct ct_tuple *cur, struct ct_tuple *t)
{
	const struct ct_nat_range *range = c->range;
	bool random = range->flags & CT_NAT_RANDOM;

	*t = *cur;
	if (c->manip == CT_MANIP_SRC && !random) {
		if (addr_in_range(c, t) && port_in_range(c, t)) {
			if (!is_used(c, t))
				return true;
		} else if (reuse_source(c, cur, t) && !is_used(c, t)) {
			return true;
		}
		*t = *cur;
	}
	choose_addr(c, t);
	if (!random) {
		if ((range->flags & CT_NAT_PORTS) == 0) {
			if (!is_used(c, t))
				return true;
		} else if ((range->flags & CT_NAT_BASE) == 0 && port_in_range(c, t)) {
			if (range->port_lo == range->port_hi)
				return false;
			if (!is_used(c, t))
				return true;
		}
	}
	return search_port(c, t);
}

/* both sides are done: from now on the connection is found by its replies, which come here */
static bool settle(
		struct ct_shard *s, struct ct_entry *e, const struct ct_tuple *reply, bool unused)
{
	struct ct_table *t = s->table;

	if ((unused ? ct_set_unused_reply(s, e, reply) : ct_set_reply(s, e, reply)) < 0)
		return false;
	if (!ct_claim_is_due(t, reply, s->worker))
		return true;
	if (ct_claim(t, reply, s->worker) < 0)
		return false;
	e->status |= CT_CLAIMED;
	return true;
}

/* the kernel finds out when it confirms the connection. Return: false */
static bool clashes(struct ct_shard *s)
{
	s->stats.insert_failed++;
	s->stats.drop++;
	return false;
}

/* whether another port can be chosen where one is taken */
static bool has_search(const struct ct_entry *e)
{
	return is_icmp(&e->orig) || has_ports(e->orig.proto)
			|| (e->orig.proto == IPPROTO_GRE && e->master_id != 0);
}

bool ct_nat_setup(struct sl_worker *w, struct ct_shard *s, struct ct_entry *e,
		const struct ct_nat_range *range, enum ct_manip manip)
{
	const struct choice c = { .w = w, .s = s, .e = e, .range = range, .manip = manip };
	struct ct_tuple cur, t, answer;
	bool unused;

	/* too late: its packets have been passed on as they were */
	if (e->status & CT_CONFIRMED)
		return true;
	if (ct_nat_is_done(e, manip) || !ct_tuple_invert(&e->reply, &cur))
		return false;
	unused = choose(&c, &cur, &t);
	if (!ct_tuple_invert(&t, &answer))
		return false;
	answer.zone = e->reply.zone;
	if (!ct_tuple_eq(&t, &cur))
		e->status |= manip == CT_MANIP_SRC ? CT_SRC_NAT : CT_DST_NAT;
	e->status |= manip == CT_MANIP_SRC ? CT_SRC_NAT_DONE : CT_DST_NAT_DONE;
	if (e->status & CT_NAT_MASK) {
		/* whether replies can be told apart shows when both sides are done */
		if ((e->status & BOTH_DONE) != BOTH_DONE) {
			ct_hold_reply(s, e, &answer);
		} else if (!settle(s, e, &answer, unused)) {
			s->nat_exhausted++;
			return clashes(s);
		}
	} else if ((e->status & BOTH_DONE) == BOTH_DONE && unlikely(!has_search(e))
			&& ct_reply_clashes(s, e)) {
		/* nothing to choose by which replies could be told from another connection's packets */
		return clashes(s);
	}
	if (manip == CT_MANIP_SRC)
		ct_source_add(s, e);
	return true;
}

bool ct_nat_follow(struct sl_worker *w, struct ct_shard *s, struct ct_entry *e,
		const struct ct_expect *x)
{
	const struct ct_nat_range src = { .flags = CT_NAT_ADDRS, .lo = x->to_src, .hi = x->to_src };
	const struct ct_nat_range dst = {
		.flags = CT_NAT_ADDRS | CT_NAT_PORTS,
		.lo = x->to_dst,
		.hi = x->to_dst,
		.port_lo = rte_be_to_cpu_16(x->to_port_be),
		.port_hi = rte_be_to_cpu_16(x->to_port_be),
	};

	return ct_nat_setup(w, s, e, &src, CT_MANIP_SRC)
			&& ct_nat_setup(w, s, e, &dst, CT_MANIP_DST);
}

bool ct_nat_setup_null(
		struct sl_worker *w, struct ct_shard *s, struct ct_entry *e, enum ct_manip manip)
{
	const struct sl_addr *a = manip == CT_MANIP_SRC ? &e->reply.dst : &e->reply.src;
	const struct ct_nat_range range = { .flags = CT_NAT_ADDRS, .lo = *a, .hi = *a };

	return ct_nat_setup(w, s, e, &range, manip);
}
