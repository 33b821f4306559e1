/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of a scenario: a text of the user's, or one that is made here. */
#pragma once

#include "app/bench/acl.h"

#include <stdbool.h>
#include <stdint.h>

enum rules_kind {
	RULES_NONE,
	RULES_TEXT, /* iptables-save format */
	RULES_CLASSBENCH, /* of a file */
	/* generated: n ... */
	RULES_LINEAR, /* rules in FORWARD, none of which matches */
	RULES_SET, /* addresses in a set and a rule that drops what is in it */
	RULES_NETSET, /* networks in a set */
	RULES_PORTSET, /* pairs of address and port in a set */
	RULES_CHAINS, /* chains, each of which jumps to the next */
	RULES_STRING, /* rules that look for texts which are in no packet */
	RULES_ACL, /* rules on five fields which accept, as acl.h */
	RULES_FW,
	RULES_IPC,
	RULES_KIND_NB,
};

struct ruleset {
	enum rules_kind kind;
	bool v6;
	uint32_t count;
	/* RULES_TEXT: for iptables-restore; for `ipset restore` before it; for `nft -f` instead */
	const char *text, *ipset, *nft;
	struct acl acl; /* RULES_CLASSBENCH, RULES_ACL, ... */
};

/* what loads rules into the kernel */
enum backend {
	BACKEND_PLAIN, /* nothing is loaded */
	BACKEND_LEGACY, /* iptables-legacy */
	BACKEND_NFT, /* iptables-nft */
	BACKEND_IPSET, /* ipset and iptables-legacy */
	BACKEND_NATIVE, /* nft, in its own language, with sets of its own kind */
	BACKEND_NB,
};

/* names in their order, NULL at the end */
extern const char *const rules_kind_names[];
extern const char *const backend_names[];

bool ruleset_is_generated(const struct ruleset *r);
bool ruleset_is_acl(const struct ruleset *r);
bool ruleset_has_sets(const struct ruleset *r);
bool ruleset_has_native(const struct ruleset *r);

/* number of rules, of members where they are in a set; 0 of a text */
uint32_t ruleset_size(const struct ruleset *r);

/* the text for iptables-restore; to be freed, NULL without memory */
char *ruleset_iptables(const struct ruleset *r);
/* the text for `ipset restore` ("" without sets), the same way */
char *ruleset_ipset(const struct ruleset *r);
/* the text for `nft -f`, the same way */
char *ruleset_nft(const struct ruleset *r);

/**
 * ruleset_hash() - rules in iptables-save's format, as one number
 * @n: gets the number of rules, and of chains whose policy is not ACCEPT
 *
 * Of the order and the text of rules and such policies by table; counters, comments and empty
 * chains do not matter. So the same rules read back from two back ends have the same number.
 */
uint64_t ruleset_hash(const char *text, uint32_t *n);

/* the counters of a text with counters, in the same manner: which rules matched how often */
uint64_t ruleset_hash_counters(const char *text);
