/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The forest's data, shared by the files that build, read and change it. forest.c opens with the
 * theory; what is [control] is never read by a look-up.
 */
#pragma once

#include "classifier/arena.h"
#include "classifier/classifier.h"

#include <rte_common.h>

/* the three trees: destination long; else source long; the rest */
#define FOREST_GROUPS 3
/* fields of a box: IPv4 two addresses, IPv6 four halves of addresses, then the lanes */
#define FOREST_FIELDS_MAX 8
#define FOREST_LANES 4
#define FOREST_WIDTH_MAX 12
/* min of an element with no rule below */
#define FOREST_EMPTY 0xffffU
/* lines of a leaf that has more than an element can say: it ends with a pad */
#define FOREST_LONG 255U
/* service ids: the top bit of the 16 says that the box does not decide */
#define FOREST_VERIFY 0x8000U
#define FOREST_SERVICES_MAX 0x8000U
#define FOREST_SERVICE_NEVER 0U
#define FOREST_SERVICE_ANY 1U

/*
 * An element is 8 bytes and describes the cut of the node that it points to, so a level is one load.
 *   bits  0..27  base of the node's array, or of the leaf's lines, in 8-byte units from the pool
 *   bits 28..30  half of the key that the window is in
 *   bit  31      leaf
 *   bits 32..39  first bit of the window in the half; in a leaf the number of blocks
 *   bits 40..47  width of the window; 0 in a leaf (32..47 is what BEXTR takes)
 *   bits 48..63  lowest label below, >> label_shift
 */
#define FOREST_BASE(e) ((uint32_t)(e)&0xfffffff)
#define FOREST_LEAF (1ULL << 31)
#define FOREST_HALF_SHIFT 28
#define FOREST_START(e) ((uint32_t)((e) >> 32) & 0xff)
#define FOREST_BLOCKS(e) FOREST_START(e)
#define FOREST_WIDTH(e) ((uint32_t)((e) >> 40) & 0xff)
#define FOREST_MIN(e) ((uint32_t)((e) >> 48))

static inline uint64_t forest_with_min(uint64_t e, uint32_t min)
{
	return (e & ~(0xffffULL << 48)) | (uint64_t)min << 48;
}

/* four rules of a leaf, IPv4: one cache line */
struct forest_line {
	uint32_t src[4], dst[4];
	uint32_t meta[4]; /* wildcard bits of src, of dst << 8, service id << 16 */
	uint32_t label[4]; /* ascending; SL_CLS_MISS pads */
} __rte_aligned(64);
static_assert(sizeof(struct forest_line) == 64, "one line");

/* four rules of a leaf, IPv6: the third line is read only for prefixes longer than 64 */
struct forest_block {
	uint64_t src_hi[4], dst_hi[4];
	uint8_t src_hi_wild[4], dst_hi_wild[4], src_lo_wild[4], dst_lo_wild[4];
	uint32_t label[4];
	uint16_t service[4];
	uint32_t low; /* bit i: rule i says something about a low half */
	uint32_t unused[5];
	uint64_t src_lo[4], dst_lo[4];
} __rte_aligned(64);
static_assert(sizeof(struct forest_block) == 192, "three lines");
static_assert(offsetof(struct forest_block, src_lo) == 128, "low halves in the third");
static_assert(offsetof(struct forest_block, label) % 16 == 0, "one aligned load");

/* a distinct combination of ranges */
struct forest_service {
	uint16_t lo[FOREST_LANES], span[FOREST_LANES];
};
static_assert(sizeof(struct forest_service) == 16, "one load");

/* nodes and leaves, in units of 64 bytes; unit 0 is the empty leaf, which is never freed */
struct forest_pool {
	struct cls_arena arena;
	uint32_t *refs; /* [control] by unit: elements that point at the piece; next of a free one */
	size_t refs_bytes;
	uint32_t free[513]; /* [control] by size in units: first free piece, 0 = none */
	uint32_t free_units; /* [control] all of them */
};

/* what waits for a grace period */
struct forest_retired {
	uint64_t token;
	struct forest_overlay *overlay; /* or NULL: */
	uint32_t unit, units; /* a piece, or with units 0: */
	uint32_t slot;
};

/* rules that the trees did not take, until the next build; replaced whole */
#define FOREST_OVERLAY_MAX 64
struct forest_overlay {
	struct sl_cls *linear; /* NULL: none added */
	uint32_t n_dead;
	uint32_t dead[FOREST_OVERLAY_MAX]; /* labels removed, but still in the trees */
};

struct forest {
	struct sl_cls cls;
	/* what look-ups read */
	uint64_t *elem; /* [const] the pool; its words change under readers */
	struct forest_service *service; /* [const] grows in place */
	uint64_t root[FOREST_GROUPS]; /* [rcu] */
	struct forest_overlay *overlay; /* [rcu] NULL: nothing there */
	uint32_t label_shift; /* [const] */
	bool verify; /* [rcu] some rule in the trees is not decided by its box */
	struct sl_cls_rule *rules; /* [rcu] by slot */
	uint32_t *next; /* [rcu] by slot: another box of the label, + 1; 0 = none */
	uint32_t *slot_of; /* [rcu] by label: a slot + 1; 0 = none */

	/* the rest is [control] */
	unsigned int fields, addr_fields;
	unsigned int long_prefix; /* bits of a prefix that is long */
	uint32_t label_limit; /* labels beyond ask for a new build */
	uint32_t slots, slots_used, slot_free; /* capacity; ever used; free list + 1 through next */
	uint16_t *slot_service; /* by slot: service id and FOREST_VERIFY */
	uint8_t *slot_where; /* by slot: FOREST_IN_* */
	uint32_t services, services_cap;
	uint16_t *service_hash; /* ids, open addressing */
	uint32_t service_hash_mask;
	struct forest_pool pool;
	struct forest_builder *scratch; /* for updates, made on the first */
	uint32_t added[FOREST_OVERLAY_MAX], n_added; /* slots in the overlay */
	uint32_t dead[FOREST_OVERLAY_MAX], n_dead;
	struct rte_rcu_qsbr *qsv;
	struct forest_retired *retired; /* queue: [retired_head, retired_tail) */
	size_t retired_head, retired_tail, retired_cap;
	struct cls_arena tables; /* rules, next, slot_of, services... */
};

/* where a slot's box is; both, where a change of the trees stopped half way */
#define FOREST_IN_TREE 1U
#define FOREST_IN_OVERLAY 2U

/* where a field lies in the key */
struct forest_field {
	uint8_t half, start, bits;
};
extern const struct forest_field forest_fields4[], forest_fields6[];

static inline const struct forest_field *forest_fields(const struct forest *f)
{
	return f->cls.family == SL_AF_INET ? forest_fields4 : forest_fields6;
}

/* a rule in one field, both ends in */
struct forest_span {
	uint64_t lo, hi;
};
struct forest_span forest_span(
		const struct forest *f, const struct sl_cls_rule *r, unsigned int field);

/* what of the key space reaches a node: hull of every field, and bits that were cut already */
struct forest_region {
	uint64_t lo[FOREST_FIELDS_MAX], hi[FOREST_FIELDS_MAX], used[FOREST_FIELDS_MAX];
};
void forest_region_all(const struct forest *f, struct forest_region *region);

/* span cut to the region; lo > hi where they do not meet */
static inline struct forest_span forest_clip(
		struct forest_span s, const struct forest_region *region, unsigned int field)
{
	return (struct forest_span){ RTE_MAX(s.lo, region->lo[field]),
		RTE_MIN(s.hi, region->hi[field]) };
}

struct forest_cut {
	unsigned int field, start, width;
};

/* Slots of a cut that the span is in: n of them from the first on, round the end of the array.
 * Return: false if it is in all of them. */
static inline bool forest_cut_slots(
		const struct forest_cut *cut, struct forest_span s, uint32_t *first, uint32_t *n)
{
	uint64_t a = s.lo >> cut->start, b = s.hi >> cut->start;
	uint32_t mask = (1U << cut->width) - 1;

	if (b - a >= mask)
		return false;
	*first = (uint32_t)a & mask;
	*n = (uint32_t)(b - a) + 1;
	return true;
}

/* forest_cut.c narrows @region to slots [first, last] of the cut, where that can be said as a range */
void forest_region_narrow(struct forest_region *region, const struct forest_cut *cut,
		uint32_t first, uint32_t last);

/* the field and bits that an element cuts */
struct forest_cut forest_cut_of(const struct forest *f, uint64_t e);

/* the tree that a rule is in: 0..FOREST_GROUPS - 1 */
unsigned int forest_group(const struct forest *f, const struct sl_cls_rule *r);

/* pool: pieces of memory */
int forest_pool_create(struct forest_pool *p, uint32_t rules);
void forest_pool_destroy(struct forest_pool *p);
/* Return: the first unit, 0 when full. */
uint32_t forest_pool_take(struct forest_pool *p, uint32_t units);
void forest_pool_give(struct forest_pool *p, uint32_t unit, uint32_t units);
/* bytes that are free, in pieces of any size */
size_t forest_pool_room(const struct forest_pool *p);
/* units of what an element points to */
uint32_t forest_piece_units(const struct forest *f, uint64_t e);
static inline void forest_ref(struct forest *f, uint64_t e, uint32_t n)
{
	f->pool.refs[FOREST_BASE(e) / 8] += n;
}
/* @n elements less point at the piece; retires it, and what hangs below, with the last one */
void forest_unref(struct forest *f, uint64_t e, uint32_t n);

/* retired: what readers may still look at */
int forest_retire_reserve(struct forest *f, size_t n);
void forest_retire(struct forest *f, struct forest_retired what);
/* the update that began with the queue at @mark is done: its pieces wait for all readers of now */
void forest_retire_seal(struct forest *f, size_t mark);
/* frees what no reader can hold any more; @wait: all of it, when the readers have been quiet */
void forest_reclaim(struct forest *f, bool wait);

/* leaves and services */
int forest_services_create(struct forest *f, uint32_t rules);
/* service id of a rule, with FOREST_VERIFY where the box does not decide */
uint16_t forest_service_id(struct forest *f, const struct sl_cls_rule *r);
static inline size_t forest_block_size(const struct forest *f)
{
	return f->cls.family == SL_AF_INET ? sizeof(struct forest_line)
					   : sizeof(struct forest_block);
}
void *forest_leaf_at(const struct forest *f, uint64_t e);
/* the element of a leaf of @n entries at @unit, lowest label @label */
uint64_t forest_leaf_elem(const struct forest *f, uint32_t unit, uint32_t n, uint32_t label);
/* blocks that a leaf of @n entries takes, its ending pad included */
uint32_t forest_leaf_blocks(uint32_t n);
void forest_leaf_set(const struct forest *f, void *leaf, uint32_t i, uint32_t slot);
void forest_leaf_pad(const struct forest *f, void *leaf, uint32_t i);
void forest_leaf_copy(const struct forest *f, void *to, uint32_t i, const void *from, uint32_t j);
uint32_t forest_leaf_label(const struct forest *f, const void *leaf, uint32_t i);
/* entries before the padding */
uint32_t forest_leaf_count(const struct forest *f, uint64_t e);

/* look-ups */
void forest_lookup_plain(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out);
void forest_lookup_avx2(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out);
/* whether key @i matches one of the label's boxes beyond what the leaf could say */
bool forest_confirm(const struct forest *f, uint32_t label, const void *keys, unsigned int i,
		const struct sl_cls_verify *verify);
/* the same two, as sets of their own for tests; sl_cls_forest takes the faster one */
extern const struct sl_cls_ops cls_forest_plain;
extern const struct sl_cls_ops cls_forest_avx2; /* needs cls_have_avx2() */

typedef void forest_lookup_fn(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out);
/* takes the overlay into account; @walk looks into the trees alone */
void forest_overlay_lookup(const struct forest *f, const struct forest_overlay *o,
		forest_lookup_fn *walk, const void *keys, unsigned int n, const uint32_t *from,
		const struct sl_cls_verify *verify, uint32_t *out);

/* overlay and updates, [control] */
int forest_overlay_publish(struct forest *f);
void forest_overlay_free(struct forest_overlay *o);
int forest_slot_take(struct forest *f, const struct sl_cls_rule *r, uint32_t *slot);
int forest_insert(struct sl_cls *cls, const struct sl_cls_rule *rule);
int forest_remove(struct sl_cls *cls, uint32_t label);
