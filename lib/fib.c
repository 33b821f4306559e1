/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/fib.h"

#include "lib/pkt.h"

#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_lcore.h>

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define TBL24_BYTES (4U << 24)
#define TBL8_BYTES (4U << 8)

struct sl_fib {
	struct sl_fib_small *small; /* NULL: dir24 */
	struct rte_fib *dir24;
	size_t dir24_bytes;
};

static int compare(const void *va, const void *vb)
{
	const struct sl_fib_route *a = va;
	const struct sl_fib_route *b = vb;
	uint64_t ah = rte_be_to_cpu_64(a->prefix.addr.q[0]);
	uint64_t bh = rte_be_to_cpu_64(b->prefix.addr.q[0]);
	uint64_t al = rte_be_to_cpu_64(a->prefix.addr.q[1]);
	uint64_t bl = rte_be_to_cpu_64(b->prefix.addr.q[1]);

	if (ah != bh)
		return ah < bh ? -1 : 1;
	if (al != bl)
		return al < bl ? -1 : 1;
	return (int)a->prefix.len - (int)b->prefix.len;
}

static bool is_sorted(const struct sl_fib_route *r, unsigned int n)
{
	for (unsigned int i = 1; i < n; i++) {
		if (compare(&r[i - 1], &r[i]) > 0)
			return false;
	}
	return true;
}

/* merge sort: stable, so that of equal prefixes the first one stays first */
static int sort(struct sl_fib_route *r, unsigned int n)
{
	struct sl_fib_route *from = r, *to, *spare;

	if (is_sorted(r, n))
		return 0;
	spare = malloc((size_t)n * sizeof(*spare));
	if (spare == NULL)
		return -ENOMEM;
	to = spare;
	for (size_t width = 1; width < n; width *= 2) {
		struct sl_fib_route *swap = from;

		for (size_t lo = 0; lo < n; lo += 2 * width) {
			size_t mid = RTE_MIN(lo + width, (size_t)n);
			size_t hi = RTE_MIN(lo + 2 * width, (size_t)n);
			size_t i = lo, j = mid;

			for (size_t k = lo; k < hi; k++) {
				bool left = i < mid
						&& (j == hi || compare(&from[i], &from[j]) <= 0);

				to[k] = left ? from[i++] : from[j++];
			}
		}
		from = to;
		to = swap;
	}
	if (from != r)
		memcpy(r, from, (size_t)n * sizeof(*r));
	free(spare);
	return 0;
}

static unsigned int drop_doubles(struct sl_fib_route *r, unsigned int n)
{
	unsigned int k = 0;

	for (unsigned int i = 0; i < n; i++) {
		if (k == 0 || compare(&r[k - 1], &r[i]) != 0)
			r[k++] = r[i];
	}
	return k;
}

/* DIR24-8 needs a group of 256 for each /24 that has longer prefixes in it */
static unsigned int count_groups(const struct sl_fib_route *r, unsigned int n)
{
	uint32_t last = 0;
	unsigned int groups = 0;

	for (unsigned int i = 0; i < n; i++) {
		uint32_t top = rte_be_to_cpu_32(r[i].prefix.addr.v4) >> 8;

		if (r[i].prefix.len > 24 && (groups == 0 || top != last)) {
			last = top;
			groups++;
		}
	}
	return groups;
}

static int dir24_build(const struct sl_fib_route *r, unsigned int n, struct sl_fib *fib)
{
	static atomic_uint serial; /* names of fibs are global in the EAL */
	unsigned int groups = count_groups(r, n) + 1;
	struct rte_fib_conf conf = {
		.type = RTE_FIB_DIR24_8,
		.default_nh = SL_FIB_MISS,
		.max_routes = (int)n + 1,
		.dir24_8 = { .nh_sz = RTE_FIB_DIR24_8_4B, .num_tbl8 = groups },
	};
	char name[32];
	int ret;

	snprintf(name, sizeof(name), "sl_fib_%u", atomic_fetch_add(&serial, 1));
	fib->dir24 = rte_fib_create(name, SOCKET_ID_ANY, &conf);
	if (fib->dir24 == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++) {
		ret = rte_fib_add(fib->dir24, rte_be_to_cpu_32(r[i].prefix.addr.v4),
				r[i].prefix.len, r[i].value);
		if (ret < 0) {
			rte_fib_free(fib->dir24);
			fib->dir24 = NULL;
			return ret;
		}
	}
	fib->dir24_bytes = TBL24_BYTES + (size_t)groups * TBL8_BYTES;
	return 0;
}

int sl_fib_build(enum sl_family family, enum sl_fib_kind kind, struct sl_fib_route *routes,
		unsigned int n, struct sl_fib **out)
{
	struct sl_fib *fib;
	int ret;

	if (kind == SL_FIB_DIR24 && family != SL_AF_INET)
		return -EINVAL;
	ret = sort(routes, n);
	if (ret < 0)
		return ret;
	n = drop_doubles(routes, n);
	fib = calloc(1, sizeof(*fib));
	if (fib == NULL)
		return -ENOMEM;
	if (kind == SL_FIB_DIR24)
		ret = dir24_build(routes, n, fib);
	else
		ret = sl_fib_small_build(routes, n, &fib->small);
	if (ret < 0) {
		free(fib);
		return ret;
	}
	*out = fib;
	return 0;
}

void sl_fib_free(struct sl_fib *fib)
{
	if (fib == NULL)
		return;
	sl_fib_small_free(fib->small);
	rte_fib_free(fib->dir24);
	free(fib);
}

uint32_t sl_fib_lookup(const struct sl_fib *fib, const struct sl_addr *addr)
{
	uint32_t addr_host, value;

	if (fib->small != NULL)
		return sl_fib_small_lookup(fib->small, addr);
	addr_host = rte_be_to_cpu_32(addr->v4);
	sl_fib_lookup4(fib, &addr_host, &value, 1);
	return value;
}

void sl_fib_lookup4(const struct sl_fib *fib, const uint32_t *addr, uint32_t *value, unsigned int n)
{
	uint64_t wide[SL_BURST];
	uint32_t ips[SL_BURST];

	if (likely(fib->small != NULL)) {
		sl_fib_small_lookup4(fib->small, addr, value, n);
		return;
	}
	memcpy(ips, addr, n * sizeof(*ips)); /* the library wants them writable */
	rte_fib_lookup_bulk(fib->dir24, ips, wide, (int)n);
	for (unsigned int i = 0; i < n; i++)
		value[i] = (uint32_t)wide[i];
}

void sl_fib_lookup6(const struct sl_fib *fib, const struct sl_addr *const *addr, uint32_t *value,
		unsigned int n)
{
	sl_fib_small_lookup6(fib->small, addr, value, n);
}

/* what stands behind the tables of a batch */
static void tries(
		const struct sl_fib *const *fib, const struct sl_fib_small **small, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		small[i] = fib[i]->small;
}

void sl_fib_lookup4_each(const struct sl_fib *const *fib, const uint32_t *addr, uint32_t *value,
		unsigned int n)
{
	const struct sl_fib_small *small[SL_BURST];

	tries(fib, small, n);
	sl_fib_small_lookup4_each(small, addr, value, n);
}

void sl_fib_lookup6_each(const struct sl_fib *const *fib, const struct sl_addr *const *addr,
		uint32_t *value, unsigned int n)
{
	const struct sl_fib_small *small[SL_BURST];

	tries(fib, small, n);
	sl_fib_small_lookup6_each(small, addr, value, n);
}

size_t sl_fib_memory(const struct sl_fib *fib)
{
	if (fib->small != NULL)
		return sizeof(*fib) + sl_fib_small_memory(fib->small);
	return sizeof(*fib) + fib->dir24_bytes;
}

const char *sl_fib_kind_name(const struct sl_fib *fib)
{
	return fib->small != NULL ? "trie" : "dir24-8";
}
