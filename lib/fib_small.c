/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A compressed trie for longest-prefix match, both families.
 *
 * Problem: a table of a few routes must cost far less than DIR24-8's 64 MB, and a look-up must
 * touch few cache lines.
 *
 * Idea: the first 16 bits index a plain array. Behind it, one node per byte of the address. A node
 * maps 256 slots to values or children, but neighbouring slots mostly say the same, so it keeps one
 * entry for each run of equal slots: a 256-bit map marks where runs start, and the number of marks
 * up to a slot is the entry's place (popcount, with the sums of the four words at hand). A node is
 * one cache line and has room for five entries itself; longer lists lie in the same array of words.
 *
 * Example: 0.0.0.0/0 = 1 and 10.1.2.0/24 = 2. root[10.1] is a node; runs start at slots 0, 2 and
 * 3, entries 1, 2, 1. For 10.1.2.9: byte 2, marks at 0..2 are two, so entry number 1: value 2.
 *
 * Cost: two lines for a prefix of up to /24, three for longer ones; IPv6 one line for each byte
 * behind the second. 256 KB of root and about 64 bytes for each route that stands alone.
 *
 * The run-compressed array is Lulea's (Degermark et al., SIGCOMM 1997), the popcount Poptrie's
 * (Asai and Ohara, SIGCOMM 2015).
 */
#include "lib/fib.h"
#include "lib/pkt.h"

#include <rte_branch_prediction.h>
#include <rte_prefetch.h>

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ROOT_BITS 16
#define ROOT_SIZE (1U << ROOT_BITS)
#define ENTRY_NODE 0x80000000U /* the entry is the number of a node, else a value */
#define NODE_WORDS 16U
#define NODE_INLINE 5U

struct node {
	uint64_t start[4]; /* bit s: a run starts at slot s; bit 0 is always set */
	uint16_t before[4]; /* runs that start in the words before, less one */
	uint32_t base; /* word where the entries are */
	uint32_t entry[NODE_INLINE];
};
static_assert(sizeof(struct node) == NODE_WORDS * 4, "a node is one cache line");

struct sl_fib_small {
	uint32_t *word; /* nodes (at multiples of NODE_WORDS) and lists of entries */
	size_t mapped; /* bytes of the mapping */
	uint32_t root[ROOT_SIZE] __rte_aligned(64);
};

/* words while they are being made */
struct builder {
	const struct sl_fib_route *routes;
	uint32_t *word;
	size_t n, size;
	bool failed;
};

/* room for @n words at a multiple of @align; the number of the first one */
static size_t reserve(struct builder *b, size_t n, size_t align)
{
	size_t at = (b->n + align - 1) / align * align;
	size_t end = at + n;

	if (end > b->size) {
		size_t size = end + b->size + 1024;
		uint32_t *word;

		/* an entry has 31 bits for nodes of 16 words: words fit 32 bits */
		word = size > UINT32_MAX ? NULL : realloc(b->word, size * sizeof(*word));
		if (word == NULL) {
			b->failed = true;
			return 0;
		}
		b->word = word;
		b->size = size;
	}
	memset(b->word + b->n, 0, (end - b->n) * sizeof(*b->word));
	b->n = end;
	return at;
}

/* 256 slots as a node; its entry */
static uint32_t emit_node(struct builder *b, const uint32_t *slot)
{
	uint32_t run[256];
	unsigned int n = 0;
	struct node node = { .base = 0 };
	size_t at, list;

	for (unsigned int s = 0; s < 256; s++) {
		if (s % 64 == 0)
			node.before[s / 64] = (uint16_t)(n - 1);
		if (s > 0 && slot[s] == slot[s - 1])
			continue;
		node.start[s / 64] |= 1ULL << (s % 64);
		run[n++] = slot[s];
	}
	if (n > NODE_INLINE) {
		list = reserve(b, n, 1);
		at = reserve(b, NODE_WORDS, NODE_WORDS);
	} else {
		at = reserve(b, NODE_WORDS, NODE_WORDS);
		list = at + offsetof(struct node, entry) / sizeof(uint32_t);
	}
	if (b->failed)
		return SL_FIB_MISS;
	node.base = (uint32_t)list;
	memcpy(b->word + at, &node, sizeof(node));
	memcpy(b->word + list, run, n * sizeof(*run));
	return ENTRY_NODE | (uint32_t)(at / NODE_WORDS);
}

/*
 * Routes from..to - 1, all longer than the first @depth bytes and equal in them. Sorted by address,
 * then length, so a prefix comes before those inside of it: painting in order leaves the longest.
 */
static uint32_t build_node(struct builder *b, unsigned int from, unsigned int to,
		unsigned int depth, uint32_t inherited)
{
	unsigned int bits = (depth + 1) * 8;
	uint32_t slot[256];

	for (unsigned int s = 0; s < 256; s++)
		slot[s] = inherited;
	while (from < to && !b->failed) {
		const struct sl_fib_route *r = &b->routes[from];
		unsigned int s = r->prefix.addr.b[depth];
		unsigned int end = from + 1;

		if (r->prefix.len <= bits) {
			for (unsigned int i = 0; i < 1U << (bits - r->prefix.len); i++)
				slot[s + i] = r->value;
		} else {
			while (end < to && b->routes[end].prefix.addr.b[depth] == s)
				end++;
			slot[s] = build_node(b, from, end, depth + 1, slot[s]);
		}
		from = end;
	}
	return b->failed ? SL_FIB_MISS : emit_node(b, slot);
}

static unsigned int root_slot(const struct sl_fib_route *r)
{
	return (unsigned int)r->prefix.addr.b[0] << 8 | r->prefix.addr.b[1];
}

static void build_root(struct builder *b, unsigned int n, uint32_t *root)
{
	unsigned int from = 0;

	while (from < n && !b->failed) {
		const struct sl_fib_route *r = &b->routes[from];
		unsigned int s = root_slot(r);
		unsigned int end = from + 1;

		if (r->prefix.len <= ROOT_BITS) {
			for (unsigned int i = 0; i < 1U << (ROOT_BITS - r->prefix.len); i++)
				root[s + i] = r->value;
		} else {
			while (end < n && root_slot(&b->routes[end]) == s)
				end++;
			root[s] = build_node(b, from, end, ROOT_BITS / 8, root[s]);
		}
		from = end;
	}
}

/* memory on huge pages where the system gives them */
static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

int sl_fib_small_build(const struct sl_fib_route *routes, unsigned int n, struct sl_fib_small **out)
{
	struct builder b = { .routes = routes };
	struct sl_fib_small *t;

	t = aligned_alloc(64, (sizeof(*t) + 63) / 64 * 64);
	if (t == NULL)
		return -ENOMEM;
	memset(t, 0, sizeof(*t));
	build_root(&b, n, t->root);
	if (b.failed)
		goto err_free;
	if (b.n > 0) {
		t->mapped = b.n * sizeof(*b.word);
		t->word = map(t->mapped);
		if (t->word == NULL)
			goto err_free;
		memcpy(t->word, b.word, t->mapped);
	}
	free(b.word);
	*out = t;
	return 0;

err_free:
	free(b.word);
	free(t);
	return -ENOMEM;
}

void sl_fib_small_free(struct sl_fib_small *t)
{
	if (t == NULL)
		return;
	if (t->word != NULL)
		munmap(t->word, t->mapped);
	free(t);
}

size_t sl_fib_small_memory(const struct sl_fib_small *t)
{
	return sizeof(*t) + t->mapped;
}

static inline const struct node *node_of(const uint32_t *word, uint32_t entry)
{
	return (const struct node *)(const void *)(word
			+ (size_t)(entry & ~ENTRY_NODE) * NODE_WORDS);
}

static inline uint32_t step(const uint32_t *word, uint32_t entry, uint8_t slot)
{
	const struct node *node = node_of(word, entry);
	uint64_t upto = node->start[slot / 64] & (~0ULL >> (63 - slot % 64));
	uint16_t nth = (uint16_t)(node->before[slot / 64] + __builtin_popcountll(upto));

	return word[node->base + nth];
}

uint32_t sl_fib_small_lookup(const struct sl_fib_small *t, const struct sl_addr *addr)
{
	uint32_t e = t->root[(unsigned int)addr->b[0] << 8 | addr->b[1]];

	for (unsigned int i = 2; e & ENTRY_NODE; i++)
		e = step(t->word, e, addr->b[i]);
	return e;
}

/*
 * A batch goes down in lock step: todo holds the numbers of the look-ups that stand at a node, whose
 * lines were asked for a whole step before they are read.
 */
static inline unsigned int note(
		const uint32_t *word, uint32_t entry, unsigned int i, uint8_t *todo, unsigned int n)
{
	/* of a value too, where nothing is read: cheaper than a branch that guesses wrong */
	rte_prefetch0((const void *)((uintptr_t)word + (size_t)entry * sizeof(struct node)));
	todo[n] = (uint8_t)i;
	return n + (entry >> 31);
}

/* @each: t[i] is the table of look-up i, else t[0] is that of all */
static __rte_always_inline void lookup4(const struct sl_fib_small *const *t, bool each,
		const uint32_t *addr, uint32_t *value, unsigned int n)
{
	const struct sl_fib_small *common = t[0];
	const uint32_t *shared = common->word;
	uint8_t todo[SL_BURST];
	unsigned int k = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct sl_fib_small *table = each ? t[i] : common;

		value[i] = table->root[addr[i] >> 16];
		k = note(table->word, value[i], i, todo, k);
	}
	for (int shift = 8; k > 0; shift -= 8) {
		unsigned int left = 0;

		for (unsigned int j = 0; j < k; j++) {
			unsigned int i = todo[j];
			const uint32_t *word = each ? t[i]->word : shared;

			value[i] = step(word, value[i], (uint8_t)(addr[i] >> shift));
			left = note(word, value[i], i, todo, left);
		}
		k = left;
	}
}

static __rte_always_inline void lookup6(const struct sl_fib_small *const *t, bool each,
		const struct sl_addr *const *addr, uint32_t *value, unsigned int n)
{
	const struct sl_fib_small *common = t[0];
	const uint32_t *shared = common->word;
	uint8_t todo[SL_BURST];
	unsigned int k = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct sl_fib_small *table = each ? t[i] : common;

		value[i] = table->root[(unsigned int)addr[i]->b[0] << 8 | addr[i]->b[1]];
		k = note(table->word, value[i], i, todo, k);
	}
	for (unsigned int byte = 2; k > 0; byte++) {
		unsigned int left = 0;

		for (unsigned int j = 0; j < k; j++) {
			unsigned int i = todo[j];
			const uint32_t *word = each ? t[i]->word : shared;

			value[i] = step(word, value[i], addr[i]->b[byte]);
			left = note(word, value[i], i, todo, left);
		}
		k = left;
	}
}

void sl_fib_small_lookup4(
		const struct sl_fib_small *t, const uint32_t *addr, uint32_t *value, unsigned int n)
{
	lookup4(&t, false, addr, value, n);
}

void sl_fib_small_lookup6(const struct sl_fib_small *t, const struct sl_addr *const *addr,
		uint32_t *value, unsigned int n)
{
	lookup6(&t, false, addr, value, n);
}

void sl_fib_small_lookup4_each(const struct sl_fib_small *const *t, const uint32_t *addr,
		uint32_t *value, unsigned int n)
{
	lookup4(t, true, addr, value, n);
}

void sl_fib_small_lookup6_each(const struct sl_fib_small *const *t,
		const struct sl_addr *const *addr, uint32_t *value, unsigned int n)
{
	lookup6(t, true, addr, value, n);
}
