/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipt_rule.h - a firewall as data: what an iptables-save text says, parsed and typed
 *
 * The reader in config/ fills these structures, the evaluator and the printer read them. There is
 * no packet code here. Every number is in host order, also ports, addresses and marks. All of one
 * load (strings too) lives in one arena and is freed by ipt_ruleset_free(); nothing is changed after
 * the load except the counters.
 *
 * A match or target carries the options that the text gave as a set of bits: `set` says which are
 * there, `inv` which of them stand behind a `!`. Bits are those of the enum beside its struct. An
 * option that changes nothing is not in `set`, so that the set bits are also what is printed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IPT_IFNAME_LEN 16 /* with the NUL */
#define IPT_CHAIN_LEN 29 /* longest name 28, with the NUL */
#define IPT_COMMENT_LEN 256

/* An address or a mask. IPv4: w[0], the rest 0. IPv6: w[0] holds the first four bytes. */
struct ipt_addr {
	uint32_t w[4];
};

struct ipt_range16 {
	uint16_t lo;
	uint16_t hi;
};

struct ipt_range32 {
	uint32_t lo;
	uint32_t hi;
};

struct ipt_counters {
	uint64_t packets;
	uint64_t bytes;
};

enum ipt_family {
	IPT_V4,
	IPT_V6,
	IPT_FAMILY_NB,
};

/* In the order in which the kernel numbers them. */
enum ipt_hook {
	IPT_PREROUTING,
	IPT_INPUT,
	IPT_FORWARD,
	IPT_OUTPUT,
	IPT_POSTROUTING,
	IPT_HOOK_NB,
};

/* In the order in which a hook runs them; nat comes before or after filter by hook. */
enum ipt_table_id {
	IPT_RAW,
	IPT_MANGLE,
	IPT_NAT,
	IPT_FILTER,
	IPT_SECURITY,
	IPT_TABLE_NB,
};

enum ipt_verdict {
	IPT_CONTINUE, /* no target: only counts */
	IPT_ACCEPT,
	IPT_DROP,
	IPT_QUEUE,
	IPT_RETURN,
	IPT_JUMP, /* to a chain of the same table */
	IPT_GOTO,
	IPT_TARGET, /* an extension, see target.kind */
};

/* An interface test. Compare the first `len` bytes, or for !wild also the end. len 0: any name. */
struct ipt_iface {
	char name[IPT_IFNAME_LEN]; /* without the '+' */
	uint8_t len;
	bool wild;
	bool inv;
	bool given; /* `-i +` is given, and tests nothing; `! -i +` never matches */
};

struct ipt_net {
	struct ipt_addr addr; /* host bits are 0 */
	struct ipt_addr mask; /* need not be contiguous */
	bool inv;
};

enum ipt_frag {
	IPT_FRAG_ANY,
	IPT_FRAG_LATER, /* -f: offset above 0 */
	IPT_FRAG_NOT_LATER, /* ! -f */
};

struct ipt_match;
struct ipt_chain;

/* What stands behind -j, by verdict: nothing, a chain, or a target extension with its options. */
struct ipt_target {
	uint16_t verdict; /* enum ipt_verdict */
	uint16_t kind; /* enum ipt_target_kind, for IPT_TARGET */
	uint32_t set; /* bits: options given */
	uint32_t chain; /* for IPT_JUMP and IPT_GOTO: index into table.chains */
	const void *data; /* struct ipt_t_KIND of ipt_target.h, or NULL where there is none */
};

struct ipt_rule {
	/* the core options, tested in this order */
	struct ipt_net src;
	struct ipt_net dst;
	struct ipt_iface in;
	struct ipt_iface out;
	uint16_t proto; /* 0: any */
	bool proto_inv;
	bool proto_walk; /* IPv6: -p was given, `-p 0` too: the extension headers have to be whole */
	uint8_t frag; /* enum ipt_frag */

	uint32_t n_matches;
	const struct ipt_match *matches; /* tested in file order, all have to hold */
	struct ipt_target target;

	struct ipt_counters counters; /* as read; the printer writes what it finds here */
	uint32_t index; /* of the rule in the ruleset: 0.. in file order of its chains */
	uint32_t line; /* in the file */
	const char *text; /* the line as it was written */
};

struct ipt_chain {
	const char *name;
	bool builtin;
	uint8_t hook; /* enum ipt_hook, for a built-in chain */
	uint8_t policy; /* IPT_ACCEPT or IPT_DROP, for a built-in chain */
	uint8_t hooks; /* bits: from which hooks the chain can be reached */
	uint32_t index; /* in table.chains */
	uint32_t policy_index; /* of the policy in the ruleset, for a built-in chain: 0.. */
	uint32_t line; /* of its declaration, 0 if there was none */
	struct ipt_counters counters; /* of the policy */
	uint32_t n_rules;
	struct ipt_rule *rules;
};

struct ipt_table {
	uint8_t id; /* enum ipt_table_id */
	uint32_t n_chains;
	struct ipt_chain *chains; /* built-in ones by hook, then user chains by name */
	uint32_t n_rules;
};

struct ipt_ruleset {
	uint8_t family; /* enum ipt_family */
	uint32_t n_tables;
	struct ipt_table tables[IPT_TABLE_NB]; /* in the order of the file, each at most once */
	uint32_t n_rules;
	uint32_t n_policies;
	const char *path;
	void *arena; /* owns all of the above */
};

/* The table with that id, NULL if the file has none. */
static inline const struct ipt_table *ipt_ruleset_table(
		const struct ipt_ruleset *rs, enum ipt_table_id id)
{
	for (uint32_t i = 0; i < rs->n_tables; i++)
		if (rs->tables[i].id == id)
			return &rs->tables[i];
	return NULL;
}
