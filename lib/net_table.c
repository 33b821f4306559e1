/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Route tables. The kernel asks the local table first, then others by rule. Every table's look-up
 * structure therefore holds the local table's routes too, and none of its own that they cover: one
 * look-up gives what two would.
 */
#include "lib/net_priv.h"

#include <errno.h>
#include <stdlib.h>

static int compare(const void *va, const void *vb)
{
	const struct net_route *a = va;
	const struct net_route *b = vb;
	int d;

	if (a->to.family != b->to.family)
		return a->to.family < b->to.family ? -1 : 1;
	if (a->table != b->table)
		return a->table < b->table ? -1 : 1;
	d = memcmp(a->to.addr.b, b->to.addr.b, sizeof(a->to.addr.b));
	if (d != 0)
		return d;
	if (a->to.len != b->to.len)
		return (int)a->to.len - (int)b->to.len;
	if (a->metric != b->metric)
		return a->metric < b->metric ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* destinations that no table may answer for: net_policy.c treats them */
static const struct sl_prefix special[] = {
	{ .family = SL_AF_INET, .len = 32 }, /* 0.0.0.0 */
	{ .family = SL_AF_INET, .len = 4, .addr = { .b = { 224 } } },
	{ .family = SL_AF_INET, .len = 32, .addr = { .b = { 255, 255, 255, 255 } } },
	{ .family = SL_AF_INET6, .len = 128 }, /* :: */
	{ .family = SL_AF_INET6, .len = 10, .addr = { .b = { 0xfe, 0x80 } } },
	{ .family = SL_AF_INET6, .len = 8, .addr = { .b = { 0xff } } },
};

static bool is_special(const struct sl_prefix *p)
{
	for (unsigned int i = 0; i < RTE_DIM(special); i++) {
		if (special[i].family == p->family && special[i].len <= p->len
				&& sl_prefix_contains(&special[i], &p->addr))
			return true;
	}
	return false;
}

/* whether a route of the local table holds all of @p */
static bool is_covered(const struct net_table *local, const struct sl_prefix *p)
{
	if (sl_fib_lookup(local->fib, &p->addr) == SL_FIB_MISS)
		return false;
	/* it holds the first address of @p; that happens a few times in a table */
	for (unsigned int i = 0; i < local->n_routes; i++) {
		const struct sl_prefix *q = &local->routes[i].to;

		if (q->len <= p->len && sl_prefix_contains(q, &p->addr))
			return true;
	}
	return false;
}

/*
 * Whether the rule that asks this table does not want the route. Routes to nowhere are errors to the
 * kernel, which it does not suppress.
 */
static bool is_suppressed(const struct net_table *t, const struct net_route *r)
{
	return r->to.len < t->min_len
			&& (r->type == SL_ROUTE_UNICAST || r->type == SL_ROUTE_LOCAL
					|| r->type == SL_ROUTE_BROADCAST);
}

static int build_fib(struct net_build *b, struct net_table *t, const struct net_table *local)
{
	struct sl_fib_route *routes;
	unsigned int n = 0;
	int ret;

	routes = malloc((RTE_DIM(special) + local->n_routes + t->n_routes) * sizeof(*routes));
	if (routes == NULL)
		return net_no_memory(b);
	for (unsigned int i = 0; i < RTE_DIM(special); i++) {
		if (special[i].family == t->family)
			routes[n++] = (struct sl_fib_route){ .prefix = special[i] };
	}
	for (unsigned int i = 0; i < local->n_routes; i++) {
		const struct net_route *r = &local->routes[i];

		if (!is_special(&r->to))
			routes[n++] = (struct sl_fib_route){ .prefix = r->to, .value = r->nh };
	}
	for (unsigned int i = 0; i < t->n_routes && t != local; i++) {
		const struct net_route *r = &t->routes[i];

		/* a suppressed route hides shorter ones as it did */
		if (!is_special(&r->to) && !is_covered(local, &r->to))
			routes[n++] = (struct sl_fib_route){ .prefix = r->to,
				.value = is_suppressed(t, r) ? SL_FIB_MISS : r->nh };
	}
	ret = sl_fib_build(t->family, SL_FIB_TRIE, routes, n, &t->fib);
	free(routes);
	return ret < 0 ? net_no_memory(b) : 0;
}

/* same prefix, table and metric twice: only addresses may say the same thing again */
static int check_doubles(struct net_build *b)
{
	const struct net_priv *priv = b->priv;

	for (unsigned int i = 1; i < priv->n_routes; i++) {
		const struct net_route *r = &priv->routes[i - 1], *s = &priv->routes[i];
		char text[SL_ADDR_STRLEN];

		if (r->table != s->table || r->metric != s->metric || r->to.len != s->to.len
				|| r->to.family != s->to.family
				|| !sl_addr_eq(&r->to.addr, &s->to.addr)
				|| (r->of_address && s->of_address))
			continue;
		if (s->of_address || (!r->of_address && r->order > s->order))
			RTE_SWAP(r, s);
		return net_error(b, s->at,
				"overlapping routes: %s in table %u is there already (%sline %u), "
				"expected another metric, or one route with several `via`",
				sl_prefix_str(&s->to, text), s->table,
				r->of_address ? "of an address, " : "", r->at.line);
	}
	return 0;
}

/* tables are runs of the sorted routes; main and local are there even if they are empty */
static void cut_tables(struct net_priv *priv)
{
	static const struct net_table fixed[] = {
		{ .id = NET_TABLE_LOCAL, .family = SL_AF_INET },
		{ .id = NET_TABLE_LOCAL, .family = SL_AF_INET6 },
		{ .id = SL_TABLE_MAIN, .family = SL_AF_INET },
		{ .id = SL_TABLE_MAIN, .family = SL_AF_INET6 },
	};

	memcpy(priv->tables, fixed, sizeof(fixed));
	priv->n_tables = RTE_DIM(fixed);
	for (unsigned int i = 0, end; i < priv->n_routes; i = end) {
		const struct net_route *r = &priv->routes[i];
		unsigned int t = 0;

		for (end = i + 1; end < priv->n_routes && priv->routes[end].table == r->table
				&& priv->routes[end].to.family == r->to.family;)
			end++;
		while (t < RTE_DIM(fixed)
				&& (fixed[t].id != r->table || fixed[t].family != r->to.family))
			t++;
		if (t == RTE_DIM(fixed))
			t = priv->n_tables++;
		priv->tables[t] = (struct net_table){
			.id = r->table, .family = r->to.family, .n_routes = end - i, .routes = r
		};
	}
	priv->local4 = &priv->tables[0];
	priv->local6 = &priv->tables[1];
	priv->main4 = &priv->tables[2];
	priv->main6 = &priv->tables[3];
}

int net_build_tables(struct net_build *b)
{
	struct net_priv *priv = b->priv;
	unsigned int max = 4 + 1;
	int ret;

	for (unsigned int i = 0; i < priv->n_routes; i++)
		priv->routes[i].order = i;
	qsort(priv->routes, priv->n_routes, sizeof(*priv->routes), compare);
	ret = check_doubles(b);
	if (ret < 0)
		return ret;
	for (unsigned int i = 1; i < priv->n_routes; i++)
		max += priv->routes[i].table != priv->routes[i - 1].table
				|| priv->routes[i].to.family != priv->routes[i - 1].to.family;
	/* rules may want tables of their own for each family, see net_suppress_table() */
	priv->tables = calloc(max + 2 * b->conf->n_policy, sizeof(*priv->tables));
	if (priv->tables == NULL)
		return net_no_memory(b);
	cut_tables(priv);
	/* local ones come first: the others ask them */
	for (unsigned int i = 0; i < priv->n_tables && ret == 0; i++) {
		struct net_table *t = &priv->tables[i];

		ret = build_fib(b, t, t->family == SL_AF_INET ? priv->local4 : priv->local6);
	}
	return ret;
}

static const struct net_table *find_table(const struct net_priv *priv, enum sl_family family,
		uint32_t id, unsigned int min_len)
{
	for (unsigned int i = 0; i < priv->n_tables; i++) {
		const struct net_table *t = &priv->tables[i];

		if (t->id == id && t->family == family && t->min_len == min_len)
			return t;
	}
	return NULL;
}

const struct net_table *net_find_table(
		const struct net_priv *priv, enum sl_family family, uint32_t id)
{
	return find_table(priv, family, id, 0);
}

/* number of the first route that is not below (addr, len) */
static unsigned int lower_bound(
		const struct net_table *t, const struct sl_addr *addr, unsigned int len)
{
	unsigned int lo = 0, hi = t->n_routes;

	while (lo < hi) {
		unsigned int mid = lo + (hi - lo) / 2;
		const struct sl_prefix *p = &t->routes[mid].to;
		int d = memcmp(p->addr.b, addr->b, sizeof(addr->b));

		if (d < 0 || (d == 0 && p->len < len))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct net_route *net_find_route(const struct sl_net *net, const struct net_route *r)
{
	const struct net_table *t =
			net_find_table(net->priv, (enum sl_family)r->to.family, r->table);

	for (unsigned int i = t == NULL ? 0 : lower_bound(t, &r->to.addr, r->to.len);
			t != NULL && i < t->n_routes; i++) {
		const struct net_route *o = &t->routes[i];

		if (o->to.len != r->to.len || !sl_addr_eq(&o->to.addr, &r->to.addr))
			return NULL;
		if (o->metric == r->metric)
			return o;
	}
	return NULL;
}

int net_suppress_table(struct net_build *b, const struct net_table *t, unsigned int min_len,
		const struct net_table **out)
{
	struct net_priv *priv = b->priv;
	struct net_table *derived;
	int ret;

	*out = t;
	if (t == NULL || min_len == 0)
		return 0;
	*out = find_table(priv, (enum sl_family)t->family, t->id, min_len);
	if (*out != NULL)
		return 0;
	derived = &priv->tables[priv->n_tables];
	*derived = *t;
	derived->min_len = (uint8_t)min_len;
	derived->fib = NULL;
	ret = build_fib(b, derived, t->family == SL_AF_INET ? priv->local4 : priv->local6);
	if (ret < 0)
		return ret;
	priv->n_tables++;
	*out = derived;
	return 0;
}

static const struct sl_nexthop *path_by_port(
		const struct sl_net *net, const struct net_route *r, uint16_t port, uint32_t hash)
{
	const struct sl_nexthop *nh = &net->nexthops[r->nh];
	const struct sl_nexthop *chosen = sl_net_path(nh, hash);

	/* blackhole and its like have no port and always count */
	if (port == SL_PORT_HOST || chosen->port == port || chosen->port == SL_PORT_HOST)
		return chosen;
	for (unsigned int i = 0; i < r->n_paths; i++) {
		if (nh[i].port == port)
			return &nh[i];
	}
	return NULL;
}

const struct sl_nexthop *net_table_search(const struct sl_net *net, const struct net_table *t,
		const struct sl_addr *dst, uint16_t port, uint32_t hash)
{
	for (int len = (int)sl_addr_bits(t->family); len >= 0; len--) {
		struct sl_addr addr = sl_addr_mask(dst, t->family, (unsigned int)len);
		unsigned int i = lower_bound(t, &addr, (unsigned int)len);

		for (; i < t->n_routes && t->routes[i].to.len == len
				&& sl_addr_eq(&t->routes[i].to.addr, &addr);
				i++) {
			const struct sl_nexthop *nh = path_by_port(net, &t->routes[i], port, hash);

			if (nh != NULL)
				return is_suppressed(t, &t->routes[i]) ? NULL : nh;
		}
	}
	return NULL;
}
