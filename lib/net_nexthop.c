/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Next hops: hundreds of thousands of routes lead to a few places, so equal ones are kept once and
 * stay in the cache. Groups of equal-cost paths, and the hash that chooses among them.
 */
#include "lib/neigh.h"
#include "lib/net_priv.h"
#include "lib/router.h"

#include <rte_jhash.h>

#include <errno.h>
#include <stdlib.h>

static uint32_t hash_paths(const struct sl_nexthop *paths, unsigned int n)
{
	uint32_t h = n;

	for (unsigned int i = 0; i < n; i++) {
		const struct sl_nexthop *nh = &paths[i];

		h = rte_jhash_3words(
				(uint32_t)nh->type << 24 | (uint32_t)nh->family << 16 | nh->port,
				(uint32_t)nh->mtu << 16 | nh->flags, nh->weight, h);
		h = rte_jhash(&nh->gateway, sizeof(nh->gateway), h ^ nh->source4_be);
	}
	return h;
}

static bool same_paths(const struct sl_nexthop *a, const struct sl_nexthop *b, unsigned int n)
{
	if (a->n_paths != b->n_paths || a->group != b->group)
		return false;
	for (unsigned int i = 0; i < n; i++) {
		if (a[i].type != b[i].type || a[i].family != b[i].family || a[i].port != b[i].port
				|| a[i].mtu != b[i].mtu || a[i].flags != b[i].flags
				|| a[i].weight != b[i].weight || a[i].source4_be != b[i].source4_be
				|| !sl_addr_eq(&a[i].gateway, &b[i].gateway))
			return false;
	}
	return true;
}

static int grow_nexthops(struct net_build *b, unsigned int n)
{
	unsigned int need = b->net->n_nexthops + n;
	unsigned int cap = 2 * need + 32;
	struct sl_nexthop *nexthops;

	if (need <= b->cap_nexthops)
		return 0;
	nexthops = aligned_alloc(64, cap * sizeof(*nexthops));
	if (nexthops == NULL)
		return net_no_memory(b);
	if (b->net->n_nexthops > 0)
		memcpy(nexthops, b->net->nexthops, b->net->n_nexthops * sizeof(*nexthops));
	free(b->net->nexthops);
	b->net->nexthops = nexthops;
	b->cap_nexthops = cap;
	return 0;
}

/* half full at most; only the first path of a group is in it */
static int grow_hash(struct net_build *b)
{
	unsigned int size = b->nh_hash_size == 0 ? 256 : 2 * b->nh_hash_size;
	const struct sl_nexthop *nh = b->net->nexthops;
	uint32_t *hash;

	if (2 * b->net->n_nexthops < b->nh_hash_size)
		return 0;
	while (size <= 2 * b->net->n_nexthops)
		size *= 2;
	hash = calloc(size, sizeof(*hash));
	if (hash == NULL)
		return net_no_memory(b);
	for (unsigned int i = 1; i < b->net->n_nexthops; i += nh[i].n_paths) {
		unsigned int at = hash_paths(&nh[i], nh[i].n_paths) & (size - 1);

		while (hash[at] != 0)
			at = (at + 1) & (size - 1);
		hash[at] = i;
	}
	free(b->nh_hash);
	b->nh_hash = hash;
	b->nh_hash_size = size;
	return 0;
}

/* index 0 is "no route": its type is no type, so that no look-up takes it for one */
static int add_none(struct net_build *b)
{
	struct sl_nexthop *none;
	int ret;

	ret = grow_nexthops(b, 1);
	if (ret < 0)
		return ret;
	none = &b->net->nexthops[0];
	memset(none, 0, sizeof(*none));
	none->type = SL_ROUTE_TYPE_NB;
	none->n_paths = 1;
	none->weight = UINT32_MAX;
	b->net->n_nexthops = 1;
	return 0;
}

int net_add_nexthops(struct net_build *b, const struct sl_nexthop *paths, unsigned int n,
		uint32_t *index)
{
	struct sl_nexthop *to;
	unsigned int at;
	int ret = 0;

	if (b->net->n_nexthops == 0)
		ret = add_none(b);
	if (ret == 0)
		ret = grow_hash(b);
	if (ret < 0)
		return ret;
	at = hash_paths(paths, n) & (b->nh_hash_size - 1);
	for (; b->nh_hash[at] != 0; at = (at + 1) & (b->nh_hash_size - 1)) {
		if (same_paths(&b->net->nexthops[b->nh_hash[at]], paths, n)) {
			*index = b->nh_hash[at];
			return 0;
		}
	}
	ret = grow_nexthops(b, n);
	if (ret < 0)
		return ret;
	to = &b->net->nexthops[b->net->n_nexthops];
	for (unsigned int i = 0; i < n; i++) {
		to[i] = paths[i];
		to[i].id = b->net->n_nexthops + i;
	}
	*index = b->net->n_nexthops;
	b->nh_hash[at] = *index;
	b->net->n_nexthops += n;
	return 0;
}

int net_pin_gateways(struct net_build *b)
{
	for (unsigned int i = 1; i < b->net->n_nexthops; i++) {
		struct sl_nexthop *nh = &b->net->nexthops[i];

		if (nh->family == SL_AF_NONE)
			continue;
		nh->neigh = sl_neigh_pin(b->r, nh->port, nh->family, &nh->gateway);
		if (nh->neigh == NULL)
			return net_no_memory(b);
	}
	return 0;
}

void net_unpin_gateways(struct sl_router *r, struct sl_net *net)
{
	for (unsigned int i = 1; i < net->n_nexthops; i++) {
		if (net->nexthops[i].neigh != NULL)
			sl_neigh_unpin(r, net->nexthops[i].neigh);
	}
}

const struct sl_nexthop *sl_net_path(const struct sl_nexthop *nh, uint32_t hash)
{
	const struct sl_nexthop *end = nh + nh->n_paths;

	if (nh->n_paths <= 1)
		return nh;
	if (nh->group != NULL)
		return nh
				+ atomic_load_explicit(&nh->group->path[hash % nh->group->n],
						memory_order_relaxed);
	while (nh < end - 1 && hash > nh->weight)
		nh++;
	return nh;
}
