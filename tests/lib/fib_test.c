/* SPDX-License-Identifier: BSD-3-Clause */
/* Longest-prefix match against a list that is searched from end to end. */
#include "lib/fib.h"
#include "lib/pkt.h"

#include <rte_eal.h>
#include <rte_random.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define SEED 20240607
#define ROUTES_MAX 3000
#define LOOKUPS 4096

static uint8_t random_byte(void)
{
	return (uint8_t)rte_rand();
}

/* few distinct bytes, so that prefixes nest, overlap and meet at their ends */
static struct sl_prefix random_prefix(enum sl_family family)
{
	static const uint8_t bytes[] = { 0, 1, 2, 63, 64, 127, 128, 254, 255 };
	struct sl_prefix p = { .family = (uint8_t)family };

	p.len = (uint8_t)(rte_rand() % (sl_addr_bits(family) + 1));
	for (unsigned int i = 0; i < sl_addr_bits(family) / 8; i++)
		p.addr.b[i] = rte_rand() % 4 == 0 ? random_byte() : bytes[rte_rand() % 9];
	p.addr = sl_addr_mask(&p.addr, family, p.len);
	return p;
}

static uint32_t naive(const struct sl_fib_route *r, unsigned int n, const struct sl_addr *addr)
{
	uint32_t value = SL_FIB_MISS;
	int best = -1;

	for (unsigned int i = 0; i < n; i++) {
		if (r[i].prefix.len > best && sl_prefix_contains(&r[i].prefix, addr)) {
			best = r[i].prefix.len;
			value = r[i].value;
		}
	}
	return value;
}

/* inside of some prefix, at its first or last address, or one beside it */
static struct sl_addr probe(enum sl_family family, const struct sl_fib_route *r, unsigned int n)
{
	struct sl_prefix p = random_prefix(family);
	struct sl_addr a = p.addr;
	unsigned int last = sl_addr_bits(family) / 8 - 1;

	if (n > 0 && rte_rand() % 8 != 0) {
		p = r[rte_rand() % n].prefix;
		a = p.addr;
		for (unsigned int bit = p.len; bit < sl_addr_bits(family); bit++) {
			if (rte_rand() % 2)
				a.b[bit / 8] |= (uint8_t)(0x80 >> (bit % 8));
		}
	}
	switch (rte_rand() % 4) {
	case 0:
		for (unsigned int bit = p.len; bit < sl_addr_bits(family); bit++)
			a.b[bit / 8] |= (uint8_t)(0x80 >> (bit % 8));
		break;
	case 1:
		a.b[last]++;
		break;
	case 2:
		a.b[last]--;
		break;
	}
	return a;
}

static void check_batch(const struct sl_fib *fib, enum sl_family family, const struct sl_addr *addr,
		const uint32_t *want, unsigned int n)
{
	const struct sl_addr *ptr[SL_BURST];
	uint32_t host[SL_BURST], got[SL_BURST];

	for (unsigned int i = 0; i < n; i++) {
		ptr[i] = &addr[i];
		host[i] = rte_be_to_cpu_32(addr[i].v4);
	}
	if (family == SL_AF_INET)
		sl_fib_lookup4(fib, host, got, n);
	else
		sl_fib_lookup6(fib, ptr, got, n);
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(got[i], want[i]);
		assert_int_equal(sl_fib_lookup(fib, &addr[i]), want[i]);
	}
}

static void against_naive(enum sl_family family, enum sl_fib_kind kind, unsigned int n)
{
	struct sl_fib_route *routes = calloc(n + 1, sizeof(*routes));
	struct sl_fib_route *sorted = calloc(n + 1, sizeof(*sorted));
	struct sl_fib *fib;

	for (unsigned int i = 0; i < n; i++)
		routes[i] = (struct sl_fib_route){ random_prefix(family),
			(uint32_t)rte_rand() >> 1 };
	memcpy(sorted, routes, n * sizeof(*routes));
	assert_int_equal(sl_fib_build(family, kind, sorted, n, &fib), 0);
	for (unsigned int done = 0; done < LOOKUPS;) {
		struct sl_addr addr[SL_BURST];
		uint32_t want[SL_BURST];
		unsigned int burst = 1 + (unsigned int)(rte_rand() % SL_BURST);

		for (unsigned int i = 0; i < burst; i++) {
			addr[i] = probe(family, routes, n);
			want[i] = naive(routes, n, &addr[i]);
		}
		check_batch(fib, family, addr, want, burst);
		done += burst;
	}
	sl_fib_free(fib);
	free(routes);
	free(sorted);
}

static void test_fib_lookup_when_random_then_as_naive(void **state)
{
	static const unsigned int sizes[] = { 0, 1, 2, 10, 100, 1000, ROUTES_MAX };

	(void)state;
	for (unsigned int i = 0; i < RTE_DIM(sizes); i++) {
		against_naive(SL_AF_INET, SL_FIB_TRIE, sizes[i]);
		against_naive(SL_AF_INET6, SL_FIB_TRIE, sizes[i]);
	}
}

static void test_fib_lookup_when_dir24_then_as_naive(void **state)
{
	(void)state;
	against_naive(SL_AF_INET, SL_FIB_DIR24, 1);
	against_naive(SL_AF_INET, SL_FIB_DIR24, 1000);
}

static void test_fib_lookup_when_ends_of_space_then_right(void **state)
{
	struct sl_fib_route r[] = {
		{ { .family = SL_AF_INET, .len = 0 }, 1 },
		{ { .family = SL_AF_INET, .len = 32 }, 2 },
		{ { .family = SL_AF_INET, .len = 32, .addr = { .b = { 255, 255, 255, 255 } } }, 3 },
		{ { .family = SL_AF_INET, .len = 16, .addr = { .b = { 255, 255 } } }, 4 },
		{ { .family = SL_AF_INET, .len = 16, .addr = { .b = { 255, 255 } } }, 5 },
	};
	static const uint32_t addr[] = { 0, 1, 0xffffffff, 0xfffffffe, 0xffff0000, 0xfffeffff };
	static const uint32_t want[] = { 2, 1, 3, 4, 4, 1 };
	uint32_t got[RTE_DIM(addr)];
	struct sl_fib *fib;

	(void)state;
	assert_int_equal(sl_fib_build(SL_AF_INET, SL_FIB_TRIE, r, RTE_DIM(r), &fib), 0);
	sl_fib_lookup4(fib, addr, got, RTE_DIM(addr));
	assert_memory_equal(got, want, sizeof(want));
	assert_string_equal(sl_fib_kind_name(fib), "trie");
	sl_fib_free(fib);
}

static void test_fib_build_when_thousand_routes_then_below_a_megabyte(void **state)
{
	struct sl_fib_route r[1000];
	struct sl_fib *fib;

	(void)state;
	for (int family = SL_AF_INET; family <= SL_AF_INET6; family += 2) {
		for (unsigned int i = 0; i < RTE_DIM(r); i++) {
			r[i].prefix = random_prefix((enum sl_family)family);
			for (unsigned int k = 0; k < 16; k++)
				r[i].prefix.addr.b[k] =
						family == SL_AF_INET && k > 3 ? 0 : random_byte();
			r[i].prefix.len = family == SL_AF_INET ? 24 : 48;
			r[i].prefix.addr = sl_addr_mask(
					&r[i].prefix.addr, (enum sl_family)family, r[i].prefix.len);
			r[i].value = i + 1;
		}
		assert_int_equal(sl_fib_build((enum sl_family)family, SL_FIB_TRIE, r, RTE_DIM(r),
						 &fib),
				0);
		assert_in_range(sl_fib_memory(fib), 1, 1000000);
		sl_fib_free(fib);
	}
}

static void test_fib_build_when_dir24_for_ip6_then_einval(void **state)
{
	struct sl_fib_route r = { { .family = SL_AF_INET6, .len = 0 }, 1 };
	struct sl_fib *fib;

	(void)state;
	assert_int_equal(sl_fib_build(SL_AF_INET6, SL_FIB_DIR24, &r, 1, &fib), -EINVAL);
}

int main(void)
{
	char *eal[] = { (char[]){ "fib_test" }, (char[]){ "--no-huge" }, (char[]){ "--no-shconf" },
		(char[]){ "--no-pci" }, (char[]){ "--no-telemetry" }, (char[]){ "-m" },
		(char[]){ "128" }, (char[]){ "--log-level=4" }, NULL };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fib_lookup_when_random_then_as_naive),
		cmocka_unit_test(test_fib_lookup_when_dir24_then_as_naive),
		cmocka_unit_test(test_fib_lookup_when_ends_of_space_then_right),
		cmocka_unit_test(test_fib_build_when_thousand_routes_then_below_a_megabyte),
		cmocka_unit_test(test_fib_build_when_dir24_for_ip6_then_einval),
	};

	if (rte_eal_init(RTE_DIM(eal) - 1, eal) < 0)
		return 1;
	rte_srand(SEED);
	print_message("seed %u\n", SEED);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
