/* SPDX-License-Identifier: BSD-3-Clause */
/* Own addresses: what is one, which one an own packet takes, which a foreign packet may not have. */
#include "lib/net_priv.h"

static bool is_link_local6(const struct sl_addr *a)
{
	return a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0x80;
}

/* what the local table says of an address that has no scope; NULL: nothing */
static const struct sl_nexthop *local_route(
		const struct sl_net *net, enum sl_family family, const struct sl_addr *addr)
{
	const struct net_table *t = family == SL_AF_INET ? net->priv->local4 : net->priv->local6;
	uint32_t value = sl_fib_lookup(t->fib, addr);

	return value == SL_FIB_MISS ? NULL : &net->nexthops[value];
}

bool sl_net_is_local(const struct sl_net *net, enum sl_family family, const struct sl_addr *addr,
		uint16_t port)
{
	const struct sl_nexthop *nh;

	if (family == SL_AF_INET6 && is_link_local6(addr)) {
		const struct sl_net_port *np = &net->ports[port < SL_PORTS_MAX ? port : 0];

		for (unsigned int i = 0; i < np->n_addr6; i++) {
			if (sl_addr_eq(&np->addr6[i].addr, addr))
				return true;
		}
		return false;
	}
	nh = local_route(net, family, addr);
	return nh != NULL && nh->type == SL_ROUTE_LOCAL && !(nh->flags & SL_NEXTHOP_ANYCAST);
}

bool sl_net_is_broadcast4(const struct sl_net *net, rte_be32_t addr_be)
{
	struct sl_addr addr = sl_addr_v4(addr_be);
	const struct sl_nexthop *nh;

	if (!net_maybe_own4(net->priv, addr_be))
		return false;
	nh = local_route(net, SL_AF_INET, &addr);
	return nh != NULL && nh->type == SL_ROUTE_BROADCAST;
}

/* an earlier address of the port in the same subnet is its primary one */
static bool is_secondary(const struct sl_net_port *np, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (np->addr4[i].len == np->addr4[n].len
				&& sl_prefix_contains(&np->addr4[i], &np->addr4[n].addr))
			return true;
	}
	return false;
}

/* inet_select_addr(): the first primary address with @to in its subnet, else the first */
static bool port_source4(
		const struct sl_net_port *np, const struct sl_addr *to, struct sl_addr *src)
{
	if (np->n_addr4 == 0)
		return false;
	*src = np->addr4[0].addr;
	for (unsigned int i = 0; to != NULL && i < np->n_addr4; i++) {
		if (!is_secondary(np, i) && sl_prefix_contains(&np->addr4[i], to)) {
			*src = np->addr4[i].addr;
			break;
		}
	}
	return true;
}

static bool source4(const struct sl_net *net, const struct sl_nexthop *nh,
		const struct sl_addr *dst, struct sl_addr *src)
{
	if (nh->type == SL_ROUTE_LOCAL) {
		*src = *dst;
		return true;
	}
	if (nh->source4_be != 0) {
		*src = sl_addr_v4(nh->source4_be);
		return true;
	}
	if (port_source4(&net->ports[nh->port], nh->family == SL_AF_INET ? &nh->gateway : NULL,
			    src))
		return true;
	for (unsigned int i = 1; i < SL_PORTS_MAX; i++) {
		if (port_source4(&net->ports[i], NULL, src))
			return true;
	}
	return false;
}

/* RFC 4291 scopes of unicast and multicast addresses */
static int scope6(const struct sl_addr *a)
{
	if (a->b[0] == 0xff)
		return a->b[1] & 0x0f;
	if (is_link_local6(a) || (a->q[0] == 0 && a->q[1] == rte_cpu_to_be_64(1)))
		return 2;
	if (a->b[0] == 0xfe && (a->b[1] & 0xc0) == 0xc0)
		return 5;
	return 14;
}

/* the kernel's default table of labels (RFC 6724 with RFC 5180's and Teredo's) */
static int label6(const struct sl_addr *a)
{
	static const struct {
		struct sl_prefix prefix;
		int label;
	} labels[] = {
		{ { .len = 128, .addr = { .b = { [15] = 1 } } }, 0 },
		{ { .len = 96, .addr = { .b = { [10] = 0xff, [11] = 0xff } } }, 4 },
		{ { .len = 96 }, 3 },
		{ { .len = 32, .addr = { .b = { 0x20, 0x01 } } }, 6 },
		{ { .len = 28, .addr = { .b = { 0x20, 0x01, 0x00, 0x10 } } }, 7 },
		{ { .len = 16, .addr = { .b = { 0x20, 0x02 } } }, 2 },
		{ { .len = 7, .addr = { .b = { 0xfc } } }, 5 },
	};

	for (unsigned int i = 0; i < RTE_DIM(labels); i++) {
		struct sl_prefix p = labels[i].prefix;

		p.family = SL_AF_INET6;
		if (sl_prefix_contains(&p, a))
			return labels[i].label;
	}
	return 1;
}

static unsigned int common_bits(const struct sl_addr *a, const struct sl_addr *b, unsigned int max)
{
	unsigned int n = 0;

	while (n < max && ((a->b[n / 8] ^ b->b[n / 8]) & (0x80 >> (n % 8))) == 0)
		n++;
	return n;
}

/*
 * RFC 6724's rules, most important first, as one number: same address, appropriate scope, outgoing
 * port, label, longest common prefix. A scope of at least the destination's is the better the
 * smaller it is; below that, the larger.
 */
static uint64_t score6(const struct sl_prefix *p, bool out_port, const struct sl_addr *dst)
{
	int scope = scope6(&p->addr), want = scope6(dst);
	uint64_t s = sl_addr_eq(&p->addr, dst);

	s = s << 8 | (uint64_t)(scope >= want ? 128 - scope : scope);
	s = s << 1 | out_port;
	s = s << 1 | (label6(&p->addr) == label6(dst));
	return s << 8 | common_bits(&p->addr, dst, p->len);
}

static bool source6(const struct sl_net *net, const struct sl_nexthop *nh,
		const struct sl_addr *dst, struct sl_addr *src)
{
	bool only_port = dst->b[0] == 0xff || scope6(dst) <= 2;
	const struct sl_prefix *best = NULL;
	uint64_t best_score = 0;

	if (nh->type == SL_ROUTE_LOCAL && !(nh->flags & SL_NEXTHOP_ANYCAST)) {
		*src = *dst;
		return true;
	}
	for (unsigned int i = 1; i < SL_PORTS_MAX; i++) {
		const struct sl_net_port *np = &net->ports[i];

		if (only_port && i != nh->port)
			continue;
		/* the kernel keeps the youngest first, and a tie goes to the first */
		for (unsigned int k = np->n_addr6; k-- > 0;) {
			uint64_t s = score6(&np->addr6[k], i == nh->port, dst);

			if (best == NULL || s > best_score) {
				best = &np->addr6[k];
				best_score = s;
			}
		}
	}
	if (best == NULL)
		return false;
	*src = best->addr;
	return true;
}

bool sl_net_source(const struct sl_net *net, enum sl_family family, const struct sl_nexthop *nh,
		const struct sl_addr *dst, struct sl_addr *src)
{
	return family == SL_AF_INET ? source4(net, nh, dst, src) : source6(net, nh, dst, src);
}
