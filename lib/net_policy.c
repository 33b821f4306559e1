/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which table a packet is routed by, as `ip rule`: local at priority 0, the configured rules, main
 * at 32766, default at 32767. A table that has no answer, or says throw, leaves it to the next rule.
 */
#include "lib/ip6.h"
#include "lib/net_priv.h"

/* IPv4 compares the bits that were once the type of service, IPv6 the whole field */
#define TOS4_MASK 0x1c
#define TOS6_MASK 0xfc

static bool port_fits(const struct sl_policy_ports *range, rte_be16_t port_be)
{
	uint16_t port = rte_be_to_cpu_16(port_be);

	return range->max == 0 || (port >= range->min && port <= range->max);
}

static bool prefix_fits(const struct sl_prefix *p, const struct sl_addr *addr)
{
	return p->family == SL_AF_NONE || sl_prefix_contains(p, addr);
}

static bool matches(const struct net_rule *r, const struct sl_route_key *key)
{
	uint8_t tos_mask = key->family == SL_AF_INET ? TOS4_MASK : TOS6_MASK;
	uint16_t out = key->out_port == SL_PORT_HOST ? SL_PORT_NONE : key->out_port;
	bool fits;

	fits = ((key->mark ^ r->mark) & r->mask) == 0
			&& (r->iif == SL_PORT_NONE || r->iif == key->in_port)
			&& (r->oif == SL_PORT_NONE || r->oif == out)
			&& prefix_fits(&r->from, &key->src) && prefix_fits(&r->to, &key->dst)
			&& (r->tos == 0 || r->tos == (key->tos & tos_mask))
			&& (r->proto == 0 || r->proto == key->proto)
			&& port_fits(&r->sport, key->sport_be)
			&& port_fits(&r->dport, key->dport_be);
	return fits != r->invert;
}

/* the first rule at or behind @from that matches and ends there, or has a table to be asked */
static unsigned int first_match(
		const struct net_rules *rules, const struct sl_route_key *key, unsigned int from)
{
	unsigned int i = from;

	while (i < rules->n) {
		const struct net_rule *r = &rules->v[i++];

		if (r->type == SL_POLICY_NOP || (r->type == SL_POLICY_TABLE && r->table == NULL)
				|| !matches(r, key))
			continue;
		if (r->type != SL_POLICY_GOTO)
			return i - 1;
		i = r->target;
	}
	return rules->n;
}

/* what the flow dissector makes of the packet: no ports in fragments, SPIs as ports */
static void fill_flow(const struct sl_pkt *p, struct sl_route_key *key)
{
	const struct rte_mbuf *m = (const struct rte_mbuf *)(const void *)p - 1;
	struct ip6_chain c = { .off = p->l4_off, .proto = p->proto };
	rte_be16_t ports[2];

	if (p->family == SL_AF_INET6) {
		struct rte_ipv6_hdr ip;

		if (!sl_pkt_copy(m, p->l3_off, sizeof(ip), &ip))
			return;
		c.off = p->l3_off + IP6_HDR_LEN;
		c.proto = ip.proto;
		c.stop_at_ah = true;
		/* a chain that is cut: as far as it goes */
		ip6_walk(m, &c);
	}
	key->proto = c.proto;
	if (p->flags & (SL_PKT_FRAG | SL_PKT_FRAG_HDR))
		return;
	if (p->flags & SL_PKT_PORTS && c.proto == p->proto) {
		key->sport_be = p->sport_be;
		key->dport_be = p->dport_be;
	} else if ((c.proto == IPPROTO_ESP || c.proto == IPPROTO_AH)
			&& sl_pkt_copy(m, c.off + (c.proto == IPPROTO_AH ? 4 : 0), sizeof(ports),
					ports)) {
		key->sport_be = ports[0];
		key->dport_be = ports[1];
	}
}

static uint8_t tos_of(const struct sl_pkt *p)
{
	const struct rte_mbuf *m = (const struct rte_mbuf *)(const void *)p - 1;
	uint8_t b[2];

	if (!sl_pkt_copy(m, p->l3_off, sizeof(b), b))
		return 0;
	return p->family == SL_AF_INET ? b[1] : (uint8_t)(b[0] << 4 | b[1] >> 4);
}

void net_fill_key(const struct net_priv *priv, const struct sl_pkt *p, struct sl_route_key *key)
{
	unsigned int needs = net_rules_of(priv, p->family)->needs;

	if (needs & NET_NEEDS_FLOW)
		fill_flow(p, key);
	if (needs & NET_NEEDS_TOS)
		key->tos = tos_of(p);
}

/* Return: an answer, or SL_FIB_MISS and *end unless the next rule is to be asked */
static uint32_t ask_rule(const struct sl_net *net, const struct net_rule *r,
		const struct sl_route_key *key, bool *end)
{
	const struct net_priv *priv = net->priv;
	uint32_t value;

	if (r->type == SL_POLICY_TABLE) {
		value = sl_fib_lookup(r->table->fib, &key->dst);
		*end = value != SL_FIB_MISS && net->nexthops[value].type != SL_ROUTE_THROW;
		return *end ? value : SL_FIB_MISS;
	}
	/* the local table was asked before */
	*end = true;
	value = sl_fib_lookup(key->family == SL_AF_INET ? priv->local4->fib : priv->local6->fib,
			&key->dst);
	return value != SL_FIB_MISS ? value : r->value;
}

uint32_t net_lookup_from(
		const struct sl_net *net, const struct sl_route_key *key, unsigned int *nth)
{
	const struct net_rules *rules = net_rules_of(net->priv, key->family);
	unsigned int i = first_match(rules, key, *nth);
	uint32_t value = SL_FIB_MISS;
	bool end = false;

	while (i < rules->n) {
		value = ask_rule(net, &rules->v[i], key, &end);
		if (end)
			break;
		i = first_match(rules, key, i + 1);
	}
	*nth = i;
	return value;
}

const struct sl_nexthop *net_lookup(const struct sl_net *net, const struct sl_route_key *key)
{
	const struct net_priv *priv = net->priv;
	bool v4 = key->family == SL_AF_INET;
	unsigned int nth = 0;
	uint32_t value;

	if (net_rules_of(priv, key->family)->decide) {
		value = net_lookup_from(net, key, &nth);
	} else {
		value = sl_fib_lookup(v4 ? priv->main4->fib : priv->main6->fib, &key->dst);
		if (net->nexthops[value].type == SL_ROUTE_THROW)
			value = SL_FIB_MISS;
	}
	return value == SL_FIB_MISS ? NULL : &net->nexthops[value];
}

const struct sl_nexthop *net_search(
		const struct sl_net *net, const struct sl_route_key *key, uint16_t port)
{
	const struct net_priv *priv = net->priv;
	const struct net_rules *rules = net_rules_of(priv, key->family);
	bool v4 = key->family == SL_AF_INET;
	const struct sl_nexthop *nh;

	nh = net_table_search(net, v4 ? priv->local4 : priv->local6, &key->dst, port, key->hash);
	if (nh != NULL)
		return nh;
	for (unsigned int i = first_match(rules, key, 0); i < rules->n;
			i = first_match(rules, key, i + 1)) {
		const struct net_rule *r = &rules->v[i];

		if (r->type != SL_POLICY_TABLE)
			return r->value == SL_FIB_MISS ? NULL : &net->nexthops[r->value];
		nh = net_table_search(net, r->table, &key->dst, port, key->hash);
		if (nh != NULL && nh->type != SL_ROUTE_THROW)
			return nh;
	}
	return NULL;
}

/* a destination that means something only together with a link */
static bool is_scoped6(const struct sl_addr *a)
{
	return a->b[0] == 0xff || (a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80);
}

static const struct sl_nexthop *scoped6(
		const struct sl_net *net, const struct sl_route_key *key, uint16_t port)
{
	const struct net_priv *priv = net->priv;
	const struct sl_net_port *np = &net->ports[port];
	bool on_link = key->dst.b[0] == 0xff;

	for (unsigned int i = 0; i < np->n_addr6; i++) {
		const struct sl_prefix *p = &np->addr6[i];
		struct sl_addr anycast = sl_addr_mask(&p->addr, SL_AF_INET6, p->len);

		if (sl_addr_eq(&p->addr, &key->dst))
			return &net->nexthops[priv->own[port]];
		if (priv->anycast[port] != 0 && p->len < 127 && sl_addr_eq(&anycast, &key->dst))
			return &net->nexthops[priv->anycast[port]];
		if (sl_prefix_contains(p, &key->dst))
			on_link = true;
	}
	return on_link ? &net->nexthops[priv->link[port]] : net_search(net, key, port);
}

const struct sl_nexthop *sl_net_route(const struct sl_net *net, const struct sl_route_key *key)
{
	const struct net_priv *priv = net->priv;
	uint16_t port = key->out_port == SL_PORT_NONE ? SL_PORT_HOST : key->out_port;
	const struct sl_nexthop *nh;

	if (key->family == SL_AF_INET6 && is_scoped6(&key->dst)) {
		if (port == SL_PORT_HOST)
			port = key->in_port;
		return port == SL_PORT_HOST ? NULL : scoped6(net, key, port);
	}
	if (key->family == SL_AF_INET && key->dst.v4 == UINT32_MAX)
		return &net->nexthops[priv->broadcast];
	if (key->family == SL_AF_INET && (key->dst.b[0] & 0xf0) == 224) {
		if (port != SL_PORT_HOST)
			return &net->nexthops[priv->link[port]];
		return net_search(net, key, SL_PORT_HOST);
	}
	if (port != SL_PORT_HOST) {
		nh = net_search(net, key, port);
		return nh != NULL ? nh : &net->nexthops[priv->link[port]];
	}
	nh = net_lookup(net, key);
	return nh == NULL ? NULL : sl_net_path(nh, key->hash);
}

const struct sl_nexthop *sl_net_group(const struct sl_net *net, const struct sl_route_key *key)
{
	if (key->family == SL_AF_INET6 && is_scoped6(&key->dst))
		return sl_net_route(net, key);
	if (key->out_port != SL_PORT_NONE && key->out_port != SL_PORT_HOST)
		return net_search(net, key, key->out_port);
	if (key->family == SL_AF_INET6)
		return net_lookup(net, key);
	if (key->dst.v4 == 0 || key->dst.v4 == UINT32_MAX || (key->dst.b[0] & 0xf0) == 224)
		return net_search(net, key, SL_PORT_HOST);
	return net_lookup(net, key);
}

const struct sl_nexthop *sl_net_local_route(
		const struct sl_net *net, enum sl_family family, const struct sl_addr *addr)
{
	const struct net_priv *priv = net->priv;
	const struct net_table *t = family == SL_AF_INET ? priv->local4 : priv->local6;
	uint32_t value = sl_fib_lookup(t->fib, addr);

	return value == SL_FIB_MISS ? NULL : &net->nexthops[value];
}
