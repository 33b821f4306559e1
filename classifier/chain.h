/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ruleset made ready for packets: what chain*.c compile and eval*.c run.
 *
 * Every rule keeps its full test (struct chain_rule). A chain of more than a few rules also has its
 * rules as boxes in a classifier engine, each box holding what the rule says before its first
 * stateful match. There are two sets of boxes: one for packets whose transport header is whole, and
 * one for all others (later fragments, cut headers, broken extension chains), for which ports mean
 * nothing and matches may drop the packet on the spot; its boxes hold only what the IP header and
 * the ports of the router decide.
 */
#pragma once

#include "classifier/classifier.h"
#include "classifier/eval.h"
#include "classifier/ext.h"
#include "classifier/patterns.h"
#include "lib/port.h"

/* most boxes of one rule; what would take more is left to the test behind the look-up */
#define CHAIN_BOXES_MAX 32
/* up to so many rules are tested one by one: a look-up would cost as much */
#define CHAIN_WALK_MAX 4
/* distinct interface tests of a table that can be told apart in the engine's lane */
#define CHAIN_IFACE_TESTS 64

struct chain_match {
	const struct ipt_match_ops *ops;
	const struct ipt_match *match;
	void *state;
};

/* flags of struct chain_rule */
#define CHAIN_EXACT (1U << 0) /* the box says it all, for whole packets */
#define CHAIN_EXACT_ODD (1U << 1) /* likewise for all others */
#define CHAIN_OPEN (1U << 2) /* the box holds everything: test at once, do not look up */
#define CHAIN_ORDERED (1U << 3) /* not before earlier packets of the batch have their verdict */
#define CHAIN_REWRITES (1U << 4) /* the target may write bytes of the packet */

struct chain_rule {
	/* the core options as masks; an interface test is a set of ports, bit 0: no device */
	struct sl_addr src, src_mask;
	struct sl_addr dst, dst_mask;
	uint64_t in, out;
	bool src_inv, dst_inv, proto_inv;
	bool walk; /* IPv6: -p was given, so the extension headers are walked */
	uint8_t proto; /* 0: any */
	uint8_t frag; /* enum ipt_frag */
	uint8_t flags; /* CHAIN_* */
	uint8_t verdict; /* enum ipt_verdict */
	uint16_t n_matches;
	uint16_t n_lead; /* matches without state or hotdrop, in front of all others */
	uint32_t chain; /* of a jump or goto */
	uint32_t index; /* of its counters */
	/* the lead holds only if this pattern of the table is in the packet, see patterns.h; 0: none */
	uint32_t needle, needle_pass;
	uint32_t run_end, run_bits; /* behind rules in a row that have one, and behind their bits */
	struct chain_match *matches;
	const struct ipt_target_ops *target;
	void *target_state;
	const struct ipt_rule *rule;
};

/* a rule that looks at nothing but ports and the state of the connection, see chain_front.c */
struct chain_front {
	uint64_t in, out; /* as in struct chain_rule */
	uint8_t states; /* IPT_CT_*: one of them */
	uint8_t verdict; /* IPT_ACCEPT, IPT_DROP, or IPT_TARGET with run_bulk */
};

struct chain {
	const struct ipt_chain *text;
	struct chain_rule *rules;
	uint32_t n;
	uint32_t n_front; /* rules of a base chain that stand in front of the engines */
	struct chain_front *front;
	uint32_t policy_index; /* of its counters */
	struct sl_cls *cls; /* whole packets; NULL: the rules are walked */
	struct sl_cls *cls_odd; /* all others; may be the same set */
};

/* ports in and out to the lane of the engines: pairs that no rule tells apart share a class */
struct chain_ifaces {
	unsigned int n_tests; /* 0: no rule looks at interfaces, the lane is not used */
	uint64_t in[CHAIN_IFACE_TESTS], out[CHAIN_IFACE_TESTS];
	unsigned int n_classes;
	uint64_t *holds; /* by class: bit t: test t holds */
	uint16_t class[SL_PORTS_MAX][SL_PORTS_MAX]; /* [in][out], 0: no device */
};

struct eval_scratch;

struct chain_table {
	const struct ipt_table *text; /* NULL: not loaded */
	const char *path; /* of the file that it was read from */
	struct chain *chains;
	struct chain_ifaces *ifaces;
	uint32_t depth; /* most calls within calls */
	bool serial; /* a target writes what matches read: one packet after the other */
	bool traces; /* a rule starts a trace */
	struct ipt_patterns *patterns; /* NULL: there are none */
	struct eval_scratch *scratch[SL_WORKERS_MAX]; /* [worker] */
};

struct ipt_prog {
	struct sl_router *r;
	struct ipt_sets *sets;
	const struct ipt_ruleset *rs;
	uint8_t family; /* enum ipt_family */
	bool traces; /* some table does */
	struct chain_table tables[IPT_TABLE_NB]; /* by enum ipt_table_id */
	struct chain_rule *rules; /* of all tables, by index */
	uint32_t n_counters; /* rules, then policies */
	struct ipt_counters *counters[SL_WORKERS_MAX]; /* [worker] */
	struct ipt_counters *base; /* [control] added to the sum over workers */
};

static inline uint32_t chain_policy_counter(const struct ipt_prog *prog, const struct ipt_chain *c)
{
	return prog->rs->n_rules + c->policy_index;
}

/* chain_iface.c */
int chain_ifaces_build(struct sl_router *r, const struct chain_rule *rules, uint32_t n,
		struct chain_ifaces **out);
void chain_ifaces_free(struct chain_ifaces *ifaces);
uint64_t chain_iface_mask(const struct sl_router *r, const struct ipt_iface *iface);

/* chain_box.c */
struct chain_boxes {
	unsigned int n; /* 0: no packet of this kind can match */
	bool verify; /* the rule says more than its boxes */
	bool l4; /* some box looks at the transport header */
	struct sl_cls_rule v[CHAIN_BOXES_MAX];
};

/* what the rule says up to its first stateful match; @odd: for packets without a whole L4 header */
void chain_boxes(const struct chain_ifaces *ifaces, enum ipt_family family,
		const struct chain_rule *rule, bool odd, struct chain_boxes *out);

/**
 * chain_front() - the leading rules of a base chain that need no look-up
 *
 * Return: 0, -ENOMEM.
 */
int chain_front(struct chain *c);

/* chain_lead.c: how far a rule can be looked up */
void chain_lead(struct chain_rule *rule);

/* chain_engine.c */
/**
 * chain_index() - the sets of boxes of a chain
 * @engine: NULL: the best one for these rules
 *
 * Return: 0, -ENOMEM.
 */
int chain_index(const struct ipt_prog *prog, const struct chain_table *t, struct chain *c,
		const struct sl_cls_ops *engine);

/* eval.c */
struct eval_scratch *eval_scratch_create(uint32_t depth);
void eval_scratch_free(struct eval_scratch *s);

extern const char *const chain_table_names[IPT_TABLE_NB]; /* trace.c */

/* trace.c: a record about the packet of @c at a rule, or (@pos is their number) behind the last one;
 * nothing if the packet is not traced */
void chain_trace(
		const struct chain_table *t, const struct ipt_ctx *c, uint32_t chain, uint32_t pos);

/* counters.c */
static inline void chain_count(struct ipt_counters *counters, uint32_t index, uint32_t bytes)
{
	counters[index].packets++;
	counters[index].bytes += bytes;
}
