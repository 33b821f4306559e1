/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a packet goes. The whole batch is looked up at once. A packet whose way is plain (one
 * next hop on another port, a source that needs no question, no options) is decided here; everything
 * else goes to the IP layer, which knows all of the kernel's reasons.
 */
#include "lib/builtin.h"
#include "lib/ip.h"
#include "lib/net_priv.h"
#include "lib/worker.h"

#include <emmintrin.h>

/* packets with one of these are none of the straight path's */
#define SLOW_FLAGS                                                                  \
	(SL_PKT_LINK_BCAST | SL_PKT_LINK_MCAST | SL_PKT_LINK_OTHER | SL_PKT_OPTIONS \
			| SL_PKT_OPT_RR | SL_PKT_OPT_TS | SL_PKT_OPT_SR)

/* sources that the IP layer has to look at; may say true without need */
static inline bool is_odd_source4(const struct net_priv *priv, rte_be32_t addr_be)
{
	uint32_t top = rte_be_to_cpu_32(addr_be) >> 24;

	return top - 1 >= 223 || top == 127 || net_maybe_own4(priv, addr_be);
}

/* ::/8 holds the unspecified, loopback and mapped addresses, fc00::/6 and up link-local, groups */
static inline bool is_odd_source6(const struct sl_addr *addr)
{
	return addr->b[0] == 0 || addr->b[0] >= 0xfe;
}

/* rp_filter, as far as it is easy to say yes; @back: the source's own route */
static inline bool is_way_back(
		const struct net_priv *priv, const struct sl_pkt *p, const struct sl_nexthop *back)
{
	uint8_t want = priv->reverse4[p->in_port];

	return want == NET_REVERSE_NONE
			|| (back->type == SL_ROUTE_UNICAST
					&& (want == NET_REVERSE_ANY || back->port == p->in_port));
}

static inline bool is_straight(const struct net_priv *priv, const struct sl_pkt *p,
		const struct sl_nexthop *nh, const struct sl_nexthop *back, bool v4)
{
	if (unlikely(nh->type != SL_ROUTE_UNICAST || (p->flags & SLOW_FLAGS) != 0
			    || nh->port == p->in_port))
		return false;
	if (v4)
		return priv->straight4[p->in_port] && !is_odd_source4(priv, p->src.v4)
				&& (back == NULL || is_way_back(priv, p, back));
	return priv->straight6[p->in_port] && !is_odd_source6(&p->src);
}

static struct sl_route_key key_of(const struct sl_net *net, const struct sl_pkt *p)
{
	struct sl_route_key key = {
		.family = p->family,
		.proto = p->proto,
		.in_port = p->in_port,
		.out_port = SL_PORT_NONE,
		.mark = p->mark,
		.dst = p->dst,
		.src = p->src,
	};

	net_fill_key(net->priv, p, &key);
	return key;
}

/* the route of a destination that no table answers for; groups have none: they are joined */
static const struct sl_nexthop *route_special(const struct sl_net *net, const struct sl_pkt *p)
{
	struct sl_route_key key = key_of(net, p);

	if (p->family == SL_AF_INET ? p->dst.v4 == UINT32_MAX : p->dst.b[0] == 0xfe)
		return sl_net_route(net, &key);
	return NULL;
}

/* a packet that is not straight; true: it goes on */
static __rte_noinline bool route_slowly(
		struct sl_worker *w, struct rte_mbuf *m, const struct sl_nexthop *nh)
{
	struct sl_pkt *p = sl_pkt(m);

	if (nh->type >= SL_ROUTE_THROW)
		nh = route_special(w->net, p);
	return p->family == SL_AF_INET ? sl_ip4_input(w, m, nh) : sl_ip6_input(w, m, nh);
}

/* one of several equal-cost paths */
static __rte_noinline const struct sl_nexthop *choose_path(
		struct sl_worker *w, const struct sl_pkt *p, const struct sl_nexthop *nh)
{
	const struct net_priv *priv = w->net->priv;
	uint32_t hash = sl_net_flow_hash(w->net, p);

	if (nh->group != NULL)
		nh = net_group_path(nh, hash, w->id, w->now_ns);
	else
		nh = sl_net_path(nh, hash);
	if (priv->count[w->id] != NULL)
		priv->count[w->id][priv->first_path + nh->id]++;
	return nh;
}

/*
 * Packets of one family, with what the look-up gave, and what it gave for their sources (NULL: not
 * asked). Return: a bit for each place of a survivor.
 */
static inline uint64_t decide(struct sl_worker *w, struct rte_mbuf **pkts, const uint8_t *index,
		const uint32_t *value, const uint32_t *reverse, unsigned int n, bool v4)
{
	const struct sl_net *net = w->net;
	const struct net_priv *priv = net->priv;
	uint64_t keep = 0;

	for (unsigned int k = 0; k < n; k++) {
		struct sl_pkt *p = sl_pkt(pkts[index[k]]);
		const struct sl_nexthop *nh = &net->nexthops[value[k]];
		const struct sl_nexthop *back = reverse == NULL ? NULL : &net->nexthops[reverse[k]];

		if (unlikely(nh->n_paths > 1))
			nh = choose_path(w, p, nh);
		if (likely(is_straight(priv, p, nh, back, v4))) {
			p->nh = nh;
			p->out_port = nh->port;
			p->via = nh->family == SL_AF_NONE ? p->dst : nh->gateway;
			keep |= 1ULL << index[k];
		} else if (route_slowly(w, pkts[index[k]], nh)) {
			keep |= 1ULL << index[k];
		}
	}
	return keep;
}

/* the rules' answer from rule @nth on */
static __rte_noinline uint32_t lookup_from(struct sl_worker *w, const struct net_rules *rules,
		const struct sl_pkt *p, unsigned int nth)
{
	struct sl_route_key key = key_of(w->net, p);
	uint64_t *count = w->net->priv->count[w->id];
	uint32_t value = net_lookup_from(w->net, &key, &nth);

	if (count != NULL && nth < rules->n)
		count[rules->first_count + nth]++;
	return value;
}

/* the first rule that matches, where marks alone tell; there is always one */
static inline unsigned int rule_of_mark(const struct net_rules *rules, uint32_t mark)
{
	const __m128i want = _mm_set1_epi32((int)mark), none = _mm_setzero_si128();

	for (unsigned int i = 0;; i += 8) {
		const __m128i *value = (const void *)&rules->mark[i];
		const __m128i *mask = (const void *)&rules->mask[i];
		__m128i lo = _mm_and_si128(_mm_xor_si128(value[0], want), mask[0]);
		__m128i hi = _mm_and_si128(_mm_xor_si128(value[1], want), mask[1]);
		__m128i fits = _mm_packs_epi32(
				_mm_cmpeq_epi32(lo, none), _mm_cmpeq_epi32(hi, none));
		unsigned int bits =
				(unsigned int)_mm_movemask_epi8(_mm_packs_epi16(fits, fits)) & 0xff;

		if (likely(bits != 0))
			return i + (unsigned int)__builtin_ctz(bits);
	}
}

/* rules choose a table for each packet: all by their marks, where that is all that rules ask */
static __rte_always_inline void lookup_by_rules(struct sl_worker *w, const struct net_rules *rules,
		struct rte_mbuf **pkts, const uint8_t *index, uint32_t *value, unsigned int n,
		bool v4)
{
	uint64_t *count = w->net->priv->count[w->id];
	const struct sl_nexthop *nexthops = w->net->nexthops;
	const struct sl_fib *fib[SL_BURST];
	const struct sl_addr *addr6[SL_BURST];
	uint32_t addr4[SL_BURST];
	uint16_t nth[SL_BURST];
	unsigned int i = 0;

	if (unlikely(rules->n_marks == 0 || count == NULL)) {
		for (unsigned int k = 0; k < n; k++)
			value[k] = lookup_from(w, rules, sl_pkt(pkts[index[k]]), 0);
		return;
	}
	do {
		const struct sl_pkt *p = sl_pkt(pkts[index[i]]);
		unsigned int rule = rule_of_mark(rules, p->mark);

		fib[i] = rules->fib[rule];
		nth[i] = rules->nth[rule];
		if (v4)
			addr4[i] = rte_be_to_cpu_32(p->dst.v4);
		else
			addr6[i] = &p->dst;
	} while (++i < n);
	if (v4)
		sl_fib_lookup4_each(fib, addr4, value, n);
	else
		sl_fib_lookup6_each(fib, addr6, value, n);
	count += rules->first_count;
	for (unsigned int k = 0; k < n; k++) {
		if (likely(nexthops[value[k]].type < SL_ROUTE_THROW))
			count[nth[k]]++;
		else
			value[k] = lookup_from(w, rules, sl_pkt(pkts[index[k]]), nth[k] + 1U);
	}
}

/* some port has rp_filter: the sources are looked up too */
static __rte_noinline uint64_t decide_reverse(struct sl_worker *w, struct rte_mbuf **pkts,
		const uint8_t *index, const uint32_t *value, unsigned int n)
{
	uint32_t addr[SL_BURST], reverse[SL_BURST];
	unsigned int k = 0;

	do
		addr[k] = rte_be_to_cpu_32(sl_pkt(pkts[index[k]])->src.v4);
	while (++k < n);
	sl_fib_lookup4(w->net->priv->main4->fib, addr, reverse, n);
	return decide(w, pkts, index, value, reverse, n, true);
}

static uint64_t route4(
		struct sl_worker *w, struct rte_mbuf **pkts, const uint8_t *index, unsigned int n)
{
	const struct net_priv *priv = w->net->priv;
	uint32_t addr[SL_BURST], value[SL_BURST];
	unsigned int k = 0;

	if (unlikely(priv->rules[0].decide)) {
		lookup_by_rules(w, &priv->rules[0], pkts, index, value, n, true);
	} else {
		do
			addr[k] = rte_be_to_cpu_32(sl_pkt(pkts[index[k]])->dst.v4);
		while (++k < n);
		sl_fib_lookup4(priv->main4->fib, addr, value, n);
		if (unlikely(priv->any_reverse4))
			return decide_reverse(w, pkts, index, value, n);
	}
	return decide(w, pkts, index, value, NULL, n, true);
}

static uint64_t route6(
		struct sl_worker *w, struct rte_mbuf **pkts, const uint8_t *index, unsigned int n)
{
	const struct net_priv *priv = w->net->priv;
	const struct sl_addr *addr[SL_BURST];
	uint32_t value[SL_BURST];
	unsigned int k = 0;

	if (unlikely(priv->rules[1].decide)) {
		lookup_by_rules(w, &priv->rules[1], pkts, index, value, n, false);
	} else {
		do
			addr[k] = &sl_pkt(pkts[index[k]])->dst;
		while (++k < n);
		sl_fib_lookup6(priv->main6->fib, addr, value, n);
	}
	return decide(w, pkts, index, value, NULL, n, false);
}

static unsigned int route_process(
		struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n)
{
	uint8_t index4[SL_BURST], index6[SL_BURST];
	unsigned int n4 = 0, n6 = 0, left = 0;
	uint64_t keep = 0;

	(void)priv;
	for (unsigned int i = 0; i < n; i++) {
		bool v4 = sl_pkt(pkts[i])->family == SL_AF_INET;

		index4[n4] = (uint8_t)i;
		index6[n6] = (uint8_t)i;
		n4 += v4;
		n6 += !v4;
	}
	if (n4 > 0)
		keep = route4(w, pkts, index4, n4);
	if (n6 > 0)
		keep |= route6(w, pkts, index6, n6);
	if (likely(keep == (n == 64 ? UINT64_MAX : (1ULL << n) - 1)))
		return n;
	for (unsigned int i = 0; i < n; i++) {
		if ((keep >> i) & 1)
			pkts[left++] = pkts[i];
	}
	return left;
}

const struct sl_stage_ops sl_stage_route = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "route",
	.help = "policy, route tables, source validation; sorts what is for the router itself",
	.hooks = SL_HOOK_BIT(SL_HOOK_PREROUTING),
	.order = SL_ORDER_LAST,
	.process = route_process,
};
