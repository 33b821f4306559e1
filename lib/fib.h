/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Longest-prefix match: one route table of one family, built whole, immutable, any number of
 * readers. Two structures can stand behind it:
 *
 *   cycles a look-up (bytes, load)  trie (fib_small.c)         DIR24-8 (librte_fib)
 *   IPv4 1k routes                  10 (0.3 MB, 1 ms)          6.6 (67 MB, 40 ms)
 *   IPv4 100k                       15 (4 MB, 27 ms)           14 (80 MB, 67 ms)
 *   IPv4 500k                       18 (10 MB, 0.11 s)         25 (131 MB, 0.3 to 0.8 s)
 *   IPv6 1k, 64k                    36, 46 (0.5, 14 MB)
 *
 * (tests/bench_routes, Zen 1 at 2 GHz, random destinations, quiet machine.) The router takes the
 * trie: it is never far behind and leaves the caches to the other stages. DIR24-8 is the second
 * opinion of the tests.
 */
#pragma once

#include "lib/addr.h"

#include <stddef.h>

/* what a look-up gives where no route is */
#define SL_FIB_MISS 0U
/* values have 31 bits */
#define SL_FIB_VALUE_MAX 0x7fffffffU

struct sl_fib;
struct sl_fib_small;

struct sl_fib_route {
	struct sl_prefix prefix; /* host bits are zero */
	uint32_t value; /* SL_FIB_MISS: hides what shorter prefixes say */
};

enum sl_fib_kind {
	SL_FIB_TRIE,
	SL_FIB_DIR24, /* IPv4 only, in the EAL's memory */
};

/**
 * sl_fib_build() - a table of @n routes
 * @routes: sorted here in place by address and length; of equal prefixes the first one counts
 *
 * Return: 0, -ENOMEM, -EINVAL (DIR24 asked for IPv6).
 */
int sl_fib_build(enum sl_family family, enum sl_fib_kind kind, struct sl_fib_route *routes,
		unsigned int n, struct sl_fib **out);
void sl_fib_free(struct sl_fib *fib);

uint32_t sl_fib_lookup(const struct sl_fib *fib, const struct sl_addr *addr);

/**
 * sl_fib_lookup4(), sl_fib_lookup6() - look up a batch, memory fetched ahead over the batch
 * @n: up to SL_BURST
 *
 * Context: worker. Addresses of lookup4 are in host order.
 */
void sl_fib_lookup4(
		const struct sl_fib *fib, const uint32_t *addr, uint32_t *value, unsigned int n);
void sl_fib_lookup6(const struct sl_fib *fib, const struct sl_addr *const *addr, uint32_t *value,
		unsigned int n);

/* the same, each address in a table of its own; all of them tries */
void sl_fib_lookup4_each(const struct sl_fib *const *fib, const uint32_t *addr, uint32_t *value,
		unsigned int n);
void sl_fib_lookup6_each(const struct sl_fib *const *fib, const struct sl_addr *const *addr,
		uint32_t *value, unsigned int n);

/* bytes that the table takes, and what it is made of, for people */
size_t sl_fib_memory(const struct sl_fib *fib);
const char *sl_fib_kind_name(const struct sl_fib *fib);

/* fib_small.c; routes sorted and without doubles */
int sl_fib_small_build(
		const struct sl_fib_route *routes, unsigned int n, struct sl_fib_small **out);
void sl_fib_small_free(struct sl_fib_small *t);
uint32_t sl_fib_small_lookup(const struct sl_fib_small *t, const struct sl_addr *addr);
void sl_fib_small_lookup4(const struct sl_fib_small *t, const uint32_t *addr, uint32_t *value,
		unsigned int n);
void sl_fib_small_lookup6(const struct sl_fib_small *t, const struct sl_addr *const *addr,
		uint32_t *value, unsigned int n);
void sl_fib_small_lookup4_each(const struct sl_fib_small *const *t, const uint32_t *addr,
		uint32_t *value, unsigned int n);
void sl_fib_small_lookup6_each(const struct sl_fib_small *const *t,
		const struct sl_addr *const *addr, uint32_t *value, unsigned int n);
size_t sl_fib_small_memory(const struct sl_fib_small *t);
