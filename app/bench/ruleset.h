/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules of a scenario: a text of the user's, or one that is made here. */
#pragma once

#include <stdint.h>

enum rules_kind {
	RULES_NONE,
	RULES_TEXT, /* iptables-save format */
	RULES_LINEAR, /* n rules in FORWARD, none of which matches */
	RULES_SET, /* n addresses in a set and a rule that drops what is in it */
	RULES_CHAINS, /* n chains, each of which jumps to the next */
	RULES_KIND_NB,
};

struct ruleset {
	enum rules_kind kind;
	uint32_t count;
	const char *text; /* RULES_TEXT */
};

/* what loads rules into the kernel */
enum backend {
	BACKEND_PLAIN, /* nothing is loaded */
	BACKEND_LEGACY, /* iptables-legacy */
	BACKEND_NFT, /* iptables-nft */
	BACKEND_IPSET, /* ipset and iptables-legacy */
	BACKEND_NFT_SET, /* nft, with a set of its own kind */
	BACKEND_NB,
};

/* names in their order, NULL at the end */
extern const char *const rules_kind_names[];
extern const char *const backend_names[];

/* the text for iptables-restore; to be freed, NULL without memory */
char *ruleset_iptables(const struct ruleset *r);
/* the text for `ipset restore` (RULES_SET only) */
char *ruleset_ipset(const struct ruleset *r);
/* the text for `nft -f` (RULES_SET only) */
char *ruleset_nft(const struct ruleset *r);

/**
 * ruleset_hash() - rules in iptables-save's format, as one number
 * @n: gets the number of rules, and of chains whose policy is not ACCEPT
 *
 * Of the order and the text of rules and such policies by table; counters, comments and empty
 * chains do not matter. So the same rules read back from two back ends have the same number.
 */
uint64_t ruleset_hash(const char *text, uint32_t *n);
