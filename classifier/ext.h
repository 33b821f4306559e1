/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Match and target extensions as code. One const struct of callbacks each, at the bottom of its
 * file; app/ holds the one table that names them all, since those on connections live in
 * conntrack/. What has no line in that table is refused by name when rules are loaded.
 */
#pragma once

#include "classifier/ipt_match.h"
#include "classifier/ipt_rule.h"
#include "classifier/ipt_target.h"
#include "lib/pkt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ipt_patterns;
struct ipt_sets;
struct sl_router;
struct sl_worker;

/* one packet at one rule [worker] */
struct ipt_ctx {
	struct sl_worker *w;
	struct rte_mbuf *
			m; /* the target that replaces it (never one that only changes it) sets m */
	struct sl_pkt *p; /* of m */
	struct ipt_sets *sets; /* ipset's sets; NULL if there are none */
	uint8_t family; /* enum ipt_family */
	uint8_t table; /* enum ipt_table_id */
	uint8_t hook; /* enum ipt_hook */
	uint16_t in; /* port as the rule sees it; SL_PORT_NONE where the hook has none */
	uint16_t out;
	/*
	 * Where the transport header is, as xt_action_param.thoff and fragoff: IPv4 always; IPv6 only
	 * behind a rule's -p, and not of a later fragment: else it is the IP header, as in the kernel.
	 */
	uint16_t thoff; /* from the start of the frame */
	uint16_t fragoff; /* in units of 8 bytes, not 0: a later fragment */
	bool hotdrop; /* a match sets it: the packet is dropped at once */
	const struct ipt_rule *rule; /* for LOG, TRACE and errors */
	uint32_t chain; /* its chain in the table */
	const struct ipt_patterns *patterns; /* of the table; NULL: there are none */
	uint64_t *found; /* which of them the packet has, see classifier/patterns.h; NULL: not asked */
};

/* what create() may use [control] */
struct ipt_env {
	struct sl_router *r;
	struct ipt_sets *sets;
	const struct ipt_ruleset *rs;
	const struct ipt_table *table;
	const struct ipt_rule *rule;
	uint32_t ct_max; /* connections that may be tracked */
	/*
	 * State of the same match of an equal rule (same text, same place among its equals) in the
	 * ruleset that is in force, or NULL. create() may take a reference to it, so that tokens,
	 * quotas and lists live through a reload as they do through iptables-restore --noflush of
	 * unchanged rules; the kernel itself starts anew, so NULL may be assumed.
	 */
	void *prev;
	char *err; /* what was found, what was expected; without file and line */
	size_t err_size;
};

/* what an extension needs of the pipeline, as bits; see ipt_prog_needs() */
enum {
	IPT_NEEDS_CT = 1 << 0, /* connection tracking of its family */
	IPT_NEEDS_CT_ACCT = 1 << 1, /* that counts packets and bytes */
};

struct ipt_match_ops {
	enum ipt_match_kind kind;
	/*
	 * Takes tokens, counts, or writes anything: is asked once for each packet for which
	 * everything before it held, in the order of the rules. Others may be asked at any time and
	 * any number of times.
	 */
	bool stateful;
	/* [control] the same where it is not of all of its kind; NULL: see stateful */
	bool (*is_stateful)(const void *state);
	uint8_t needs; /* IPT_NEEDS_* */
	/* [control] NULL: no state. Return: 0 or -errno with env->err */
	int (*create)(struct ipt_env *env, const struct ipt_match *match, void **state);
	void (*destroy)(void *state); /* [control] after a grace period; NULL: nothing to do */
	/* [worker] whether the match holds, its own `!` already applied */
	bool (*match)(struct ipt_ctx *c, const struct ipt_match *match, void *state);
};

struct ipt_target_ops {
	enum ipt_target_kind kind;
	uint8_t needs; /* IPT_NEEDS_* */
	/* [control] the same where it is not of all of its kind; NULL: see needs */
	uint8_t (*needs_of)(const struct ipt_target *target);
	int (*create)(struct ipt_env *env, const struct ipt_target *target, void **state);
	void (*destroy)(void *state);
	/*
	 * [worker] IPT_CONTINUE: on to the next rule. IPT_ACCEPT: end of the table. IPT_DROP: the
	 * caller drops the packet (as rule_drop; a target with a better reason drops it itself and
	 * returns IPT_STOLEN).
	 */
	int (*run)(struct ipt_ctx *c, const struct ipt_target *target, void *state);
	/*
	 * [worker] the same for @n (1..SL_BURST) packets at once; NULL: there is none. Only for what
	 * always says IPT_CONTINUE, looks at nothing but the packet, and leaves the buffer in place.
	 */
	void (*run_bulk)(struct rte_mbuf *const *pkts, unsigned int n,
			const struct ipt_target *target, void *state);
};

/* beside enum ipt_verdict: the packet is gone */
#define IPT_STOLEN (-1)

/* all extensions of a program; by kind, NULL where there is none */
struct ipt_exts {
	const struct ipt_match_ops *match[IPT_M_NB];
	const struct ipt_target_ops *target[IPT_T_NB];
};
