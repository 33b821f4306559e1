/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Resilient groups, as the kernel's `nexthop ... type resilient`: flows hash into buckets, and each
 * bucket belongs to a path. When a path goes, only its buckets find another; when one comes, it gets
 * buckets that no flow has used for a while. All other flows stay where they are.
 *
 *   128 buckets, paths A and B: 64 each. C comes: each should have 42 or 43. A and B have 21 or 22 too
 *   many, of which those pass to C that were idle for `idle_timer` seconds, now or later. If flows hold
 *   the rest for `unbalanced_timer` seconds, it passes too.
 *
 * Workers note in arrays of their own when they used a bucket. One worker moves buckets, once a second;
 * the others see the old path or the new one. A new configuration takes buckets over from the route
 * of the same prefix, table and metric.
 */
#include "lib/net_priv.h"
#include "lib/router.h"

#include <errno.h>
#include <stdlib.h>

#define SECOND_NS UINT64_C(1000000000)

int net_group_create(struct net_build *b, const struct sl_route_conf *c, struct net_group **out)
{
	struct net_group *g = calloc(1, sizeof(*g));
	unsigned int n_workers = RTE_MAX(b->r->n_workers, 1U), i;

	if (g == NULL)
		return net_no_memory(b);
	g->n = c->buckets;
	g->n_paths = (uint16_t)c->n_via;
	g->idle_ns = c->idle_timer * SECOND_NS;
	g->unbalanced_ns = c->unbalanced_timer * SECOND_NS;
	g->path = calloc(g->n, sizeof(*g->path));
	for (i = 0; i < n_workers; i++) {
		g->used[i] = calloc(g->n, sizeof(*g->used[i]));
		if (g->used[i] == NULL)
			break;
	}
	/* in the list from here on, which frees it */
	g->next = b->priv->groups;
	b->priv->groups = g;
	if (g->path == NULL || i < n_workers)
		return net_no_memory(b);
	for (i = 0; i < g->n; i++)
		atomic_store_explicit(&g->path[i], NET_NO_PATH, memory_order_relaxed);
	*out = g;
	return 0;
}

void net_free_groups(struct net_priv *priv)
{
	while (priv->groups != NULL) {
		struct net_group *g = priv->groups;

		priv->groups = g->next;
		for (unsigned int i = 0; i < SL_WORKERS_MAX; i++)
			free(g->used[i]);
		free(g->path);
		free(g);
	}
}

/* how many buckets path @i should have: its share, rounded so that the sum is right */
static unsigned int wanted(
		const struct sl_nexthop *paths, const struct net_group *g, unsigned int i)
{
	uint64_t upto = paths[i].weight + UINT64_C(1);
	uint64_t before = i == 0 ? 0 : paths[i - 1].weight + UINT64_C(1);

	return (unsigned int)(((upto * g->n + (1U << 31)) >> 32)
			- ((before * g->n + (1U << 31)) >> 32));
}

static uint32_t last_used(const struct net_group *g, unsigned int bucket)
{
	uint32_t last = 0;

	for (unsigned int i = 0; i < SL_WORKERS_MAX && g->used[i] != NULL; i++) {
		uint32_t t = __atomic_load_n(&g->used[i][bucket], __ATOMIC_RELAXED);

		last = RTE_MAX(last, t);
	}
	return last;
}

static bool is_idle(const struct net_group *g, unsigned int bucket, uint64_t now_ns)
{
	uint32_t last = last_used(g, bucket);

	return last == 0 || NET_BUCKET_TIME(now_ns) - last >= NET_BUCKET_TIME(g->idle_ns);
}

/* buckets of paths that have too many, or of none, to those that have too few. Return: whether any has */
static bool balance(
		const struct sl_nexthop *paths, struct net_group *g, uint64_t now_ns, bool force)
{
	int spare[NET_PATHS_MAX]; /* what each path has too many */
	unsigned int taker = 0;
	bool left = false;

	for (unsigned int i = 0; i < g->n_paths; i++)
		spare[i] = -(int)wanted(paths, g, i);
	for (unsigned int i = 0; i < g->n; i++) {
		uint16_t path = atomic_load_explicit(&g->path[i], memory_order_relaxed);

		if (path != NET_NO_PATH)
			spare[path]++;
	}
	for (unsigned int i = 0; i < g->n; i++) {
		uint16_t path = atomic_load_explicit(&g->path[i], memory_order_relaxed);

		if (path != NET_NO_PATH && spare[path] <= 0)
			continue;
		if (path != NET_NO_PATH && !force && !is_idle(g, i, now_ns)) {
			left = true;
			continue;
		}
		while (taker < g->n_paths && spare[taker] >= 0)
			taker++;
		if (taker == g->n_paths)
			break;
		if (path != NET_NO_PATH)
			spare[path]--;
		spare[taker]++;
		atomic_store_explicit(&g->path[i], (uint16_t)taker, memory_order_relaxed);
	}
	return left;
}

static bool same_gateway(const struct sl_nexthop *a, const struct sl_nexthop *b)
{
	return a->port == b->port && a->family == b->family && sl_addr_eq(&a->gateway, &b->gateway);
}

/* what the same route had before, as far as the paths are still there */
static void inherit(const struct sl_nexthop *paths, const struct sl_nexthop *old_paths)
{
	const struct net_group *old = old_paths->group;
	struct net_group *g = paths->group;

	for (unsigned int i = 0; i < RTE_MIN(g->n, old->n); i++) {
		uint16_t was = atomic_load_explicit(&old->path[i], memory_order_relaxed);
		unsigned int k = 0;

		while (k < g->n_paths && !same_gateway(&paths[k], &old_paths[was]))
			k++;
		if (k < g->n_paths)
			atomic_store_explicit(&g->path[i], (uint16_t)k, memory_order_relaxed);
		g->used[0][i] = last_used(old, i);
	}
}

int net_build_groups(struct net_build *b)
{
	struct net_priv *priv = b->priv;
	uint64_t now_ns = b->r->workers[0] == NULL ? 0 : b->r->workers[0]->now_ns;

	for (unsigned int i = 0; i < priv->n_routes && priv->groups != NULL; i++) {
		const struct net_route *r = &priv->routes[i];
		const struct sl_nexthop *paths = &b->net->nexthops[r->nh];
		const struct net_route *old;

		if (paths->group == NULL)
			continue;
		old = b->prev == NULL ? NULL : net_find_route(b->prev, r);
		if (old != NULL && b->prev->nexthops[old->nh].group != NULL)
			inherit(paths, &b->prev->nexthops[old->nh]);
		paths->group->paths = r->nh;
		balance(paths, paths->group, now_ns, false);
	}
	return 0;
}

void sl_net_tick(struct sl_worker *w)
{
	const struct sl_net *net = w->net;

	if (likely(net->priv->groups == NULL))
		return;
	for (struct net_group *g = net->priv->groups; g != NULL; g = g->next) {
		bool left;

		if (w->now_ns < g->next_ns)
			continue;
		g->next_ns = w->now_ns + SECOND_NS;
		left = balance(&net->nexthops[g->paths], g, w->now_ns,
				g->unbalanced_ns != 0 && g->unbalanced_since_ns != 0
						&& w->now_ns - g->unbalanced_since_ns
								>= g->unbalanced_ns);
		if (!left)
			g->unbalanced_since_ns = 0;
		else if (g->unbalanced_since_ns == 0)
			g->unbalanced_since_ns = w->now_ns;
	}
}

const struct sl_nexthop *net_group_path(
		const struct sl_nexthop *first, uint32_t hash, unsigned int worker, uint64_t now_ns)
{
	const struct net_group *g = first->group;
	unsigned int bucket = hash % g->n;
	uint32_t *used = &g->used[worker][bucket];
	uint32_t now = NET_BUCKET_TIME(now_ns);

	if (*used != now)
		__atomic_store_n(used, now, __ATOMIC_RELAXED);
	return first + atomic_load_explicit(&g->path[bucket], memory_order_relaxed);
}

unsigned int sl_net_path_buckets(const struct sl_nexthop *first, unsigned int path)
{
	const struct net_group *g = first->group;
	unsigned int n = 0;

	for (unsigned int i = 0; g != NULL && i < g->n; i++)
		n += atomic_load_explicit(&g->path[i], memory_order_relaxed) == path;
	return n;
}
