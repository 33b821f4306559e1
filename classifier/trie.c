/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Trie: librte_acl, DPDK's multi-bit tries, behind the interface of the others.
 *
 * librte_acl answers with the best rule of all, so the answer also settles "first at or behind" when it
 * lies there, and a miss is a miss from anywhere. Where it lies before the start, or is not confirmed
 * by verification, the linear engine goes on behind it: this engine is for sets whose first match
 * ends the search.
 *
 * Its build takes memory and time that nobody can tell beforehand. So there is a bound on both, and who
 * is over it is answered by linear alone; that is logged and stands in the set's note.
 *
 * Example. A rule 10.1.0.0/16 to any, tcp, is the fields (6/0xff, 10.1.0.0/16, 0.0.0.0/0, 0-65535,
 * 0-65535, 0-65535), the order of the bytes in the key. Rule i of n has priority n - i and says i + 1.
 */
#include "classifier/linear.h"
#include "classifier/rule.h"
#include "lib/log.h"

#include <rte_acl.h>
#include <rte_byteorder.h>
#include <rte_common.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SL_LOG_TYPE("classifier");

#define FIELDS_MAX 13
/* rules from where on a build may take many seconds and gigabytes */
#define RULES_MAX 12000U
/* what the tries may take */
#define MEMORY_MAX ((size_t)256 << 20)

RTE_ACL_RULE_DEF(trie_rule, FIELDS_MAX);

/* a key as librte_acl reads it: network order, the first field one byte */
struct trie_key {
	uint8_t proto;
	uint8_t unused[3];
	rte_be32_t word[8]; /* IPv4: source, destination; IPv6: four words each */
	rte_be16_t lane[4]; /* IPv4: behind word 1; ports, aux, nothing */
};

struct trie {
	struct sl_cls cls;
	struct rte_acl_ctx *acl; /* NULL: linear answers */
	struct sl_cls *linear;
	struct sl_cls_rule *rules;
	uint8_t *flagged; /* by rule: the tries do not decide */
	unsigned int words;
};

static unsigned int define_fields(unsigned int words, struct rte_acl_field_def *def)
{
	unsigned int n = 0, offset = offsetof(struct trie_key, word);

	def[n++] = (struct rte_acl_field_def){ RTE_ACL_FIELD_TYPE_BITMASK, 1, 0, 0, 0 };
	for (unsigned int w = 0; w < words; w++, offset += 4, n++)
		def[n] = (struct rte_acl_field_def){ RTE_ACL_FIELD_TYPE_MASK, 4, (uint8_t)n,
			(uint8_t)n, offset };
	/* four lanes are two groups of four bytes */
	for (unsigned int l = 0; l < 4; l++, offset += 2, n++)
		def[n] = (struct rte_acl_field_def){ RTE_ACL_FIELD_TYPE_RANGE, 2, (uint8_t)n,
			(uint8_t)(words + 1 + l / 2), offset };
	return n;
}

static void addr_fields(enum sl_family family, const struct sl_cls_addr *value,
		const struct sl_cls_addr *mask, struct rte_acl_field *field)
{
	unsigned int len = cls_prefix_len(family, mask), words = sl_addr_bits(family) / 32;

	for (unsigned int w = 0; w < words; w++) {
		uint64_t half = w < 2 && words == 4 ? value->hi : value->lo;

		field[w].value.u32 = (uint32_t)(w % 2 == 0 && words == 4 ? half >> 32 : half);
		field[w].mask_range.u32 = len < 32 * w ? 0 : RTE_MIN(len - 32 * w, 32U);
	}
}

static void range_field(struct rte_acl_field *field, uint16_t lo, uint16_t hi)
{
	field->value.u16 = lo;
	field->mask_range.u16 = hi;
}

static void make_rule(const struct trie *t, uint32_t i, struct trie_rule *r)
{
	const struct sl_cls_rule *rule = &t->rules[i];
	struct rte_acl_field *lane = &r->field[1 + t->words];

	memset(r, 0, sizeof(*r));
	r->data.category_mask = 1;
	r->data.priority = (int32_t)(t->cls.n - i);
	r->data.userdata = i + 1;
	r->field[0].value.u8 = rule->proto & rule->proto_mask;
	r->field[0].mask_range.u8 = rule->proto_mask;
	addr_fields(t->cls.family, &rule->src, &rule->src_mask, &r->field[1]);
	addr_fields(t->cls.family, &rule->dst, &rule->dst_mask, &r->field[1 + t->words / 2]);
	range_field(&lane[0], rule->sport_lo, rule->sport_hi);
	range_field(&lane[1], rule->dport_lo, rule->dport_hi);
	range_field(&lane[2], rule->aux_lo, rule->aux_hi);
	range_field(&lane[3], 0, UINT16_MAX);
}

static int add_rules(struct trie *t)
{
	for (uint32_t i = 0; i < t->cls.n; i++) {
		struct trie_rule r;
		int ret;

		make_rule(t, i, &r);
		ret = rte_acl_add_rules(t->acl, (const void *)&r, 1);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Return: 0, or why there are no tries. */
static int build_tries(struct trie *t)
{
	char name[RTE_ACL_NAMESIZE];
	struct rte_acl_param param = { .name = name,
		.socket_id = SOCKET_ID_ANY,
		.rule_size = RTE_ACL_RULE_SZ(FIELDS_MAX),
		.max_rule_num = t->cls.n };
	struct rte_acl_config config = { .num_categories = 1, .max_size = MEMORY_MAX };
	int ret;

	if (t->cls.n > RULES_MAX)
		return -E2BIG;
	/* an address is a name that no other set has */
	snprintf(name, sizeof(name), "cls%p", (void *)t);
	t->acl = rte_acl_create(&param);
	if (t->acl == NULL)
		return -ENOMEM;
	config.num_fields = define_fields(t->words, config.defs);
	ret = add_rules(t);
	if (ret == 0)
		ret = rte_acl_build(t->acl, &config);
	if (ret < 0) {
		rte_acl_free(t->acl);
		t->acl = NULL;
	}
	return ret;
}

static void say_fallback(struct trie *t, int reason)
{
	if (reason == -E2BIG)
		snprintf(t->cls.note, sizeof(t->cls.note),
				"trie: %u rules, more than %u take too long: linear answers",
				t->cls.n, RULES_MAX);
	else
		snprintf(t->cls.note, sizeof(t->cls.note),
				"trie: %u rules do not fit into %zu MB (%s): linear answers",
				t->cls.n, MEMORY_MAX >> 20, strerror(-reason));
	SL_LOG(WARNING, "%s", t->cls.note);
}

static void trie_free(struct sl_cls *cls)
{
	struct trie *t = (struct trie *)cls;

	if (t->acl != NULL)
		rte_acl_free(t->acl);
	if (t->linear != NULL)
		t->linear->ops->free(t->linear);
	free(t->rules);
	free(t->flagged);
	free(t);
}

static int trie_build(const struct sl_cls_spec *spec, struct sl_cls **cls)
{
	struct trie *t;
	int ret;

	ret = cls_spec_check(spec);
	if (ret < 0)
		return ret;
	t = calloc(1, sizeof(*t));
	if (t == NULL)
		return -ENOMEM;
	t->cls = (struct sl_cls){ .ops = &sl_cls_trie, .family = spec->family, .n = spec->n };
	t->words = sl_addr_bits(spec->family) / 32 * 2;
	t->rules = calloc(spec->n + 1, sizeof(*t->rules));
	t->flagged = calloc(spec->n + 1, sizeof(*t->flagged));
	ret = sl_cls_linear.build(spec, &t->linear);
	if (ret < 0 || t->rules == NULL || t->flagged == NULL) {
		trie_free(&t->cls);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < spec->n; i++) {
		t->rules[i] = spec->rules[i];
		t->flagged[i] = spec->rules[i].verify
				|| cls_rule_is_odd(spec->family, &spec->rules[i]);
	}
	if (spec->n > 0) {
		ret = build_tries(t);
		if (ret < 0)
			say_fallback(t, ret);
	}
	*cls = &t->cls;
	return 0;
}

static void fill_key(const struct trie *t, const void *keys, unsigned int i, struct trie_key *key)
{
	const struct sl_cls_key4 *k4 = (const struct sl_cls_key4 *)keys + i;
	const struct sl_cls_key6 *k6 = (const struct sl_cls_key6 *)keys + i;
	bool v6 = t->cls.family == SL_AF_INET6;
	const uint16_t *lane = v6 ? &k6->sport : &k4->sport;
	rte_be16_t lanes[4];

	key->proto = (uint8_t)lane[2];
	lanes[0] = rte_cpu_to_be_16(lane[0]);
	lanes[1] = rte_cpu_to_be_16(lane[1]);
	lanes[2] = rte_cpu_to_be_16(lane[3]);
	lanes[3] = 0;
	if (v6) {
		uint64_t addr[4] = { rte_cpu_to_be_64(k6->src.hi), rte_cpu_to_be_64(k6->src.lo),
			rte_cpu_to_be_64(k6->dst.hi), rte_cpu_to_be_64(k6->dst.lo) };

		memcpy(key->word, addr, sizeof(addr));
	} else {
		key->word[0] = rte_cpu_to_be_32(k4->src);
		key->word[1] = rte_cpu_to_be_32(k4->dst);
	}
	memcpy(&key->word[t->words], lanes, sizeof(lanes));
}

/* Return: whether the tries' answer is the answer; if not, *from is where to go on. */
static bool settle(const struct trie *t, uint32_t answer, const void *keys, unsigned int i,
		const struct sl_cls_verify *verify, uint32_t *from, uint32_t *out)
{
	const struct sl_cls_rule *r;

	*out = SL_CLS_MISS;
	if (answer == 0)
		return true;
	r = &t->rules[answer - 1];
	if (r->label < *from)
		return false;
	if (t->flagged[answer - 1]
			&& !(cls_rule_match(t->cls.family, r, keys, i)
					&& cls_verified(r, verify, i))) {
		/* another box may have the same label */
		*from = r->label;
		return false;
	}
	*out = r->label;
	return true;
}

static void trie_lookup(const struct sl_cls *cls, const void *keys, unsigned int n,
		const uint32_t *from, const struct sl_cls_verify *verify, uint32_t *out)
{
	const struct trie *t = (const struct trie *)cls;
	struct trie_key key[SL_CLS_BURST];
	const uint8_t *data[SL_CLS_BURST];
	uint32_t answer[SL_CLS_BURST], start[SL_CLS_BURST], behind[SL_CLS_BURST];
	bool again = false;

	if (t->acl == NULL) {
		sl_cls_linear.lookup(t->linear, keys, n, from, verify, out);
		return;
	}
	for (unsigned int i = 0; i < n; i++) {
		fill_key(t, keys, i, &key[i]);
		data[i] = &key[i].proto;
	}
	rte_acl_classify(t->acl, data, answer, n, 1);
	for (unsigned int i = 0; i < n; i++) {
		start[i] = from == NULL ? 0 : from[i];
		if (settle(t, answer[i], keys, i, verify, &start[i], &out[i])) {
			start[i] = SL_CLS_MISS;
			continue;
		}
		again = true;
	}
	if (!again)
		return;
	sl_cls_linear.lookup(t->linear, keys, n, start, verify, behind);
	for (unsigned int i = 0; i < n; i++)
		out[i] = RTE_MIN(out[i], behind[i]);
}

static size_t trie_estimate(const struct sl_cls_spec *spec)
{
	return sl_cls_linear.estimate(spec) + (size_t)spec->n * 2048;
}

static size_t trie_memory(const struct sl_cls *cls)
{
	const struct trie *t = (const struct trie *)cls;

	/* librte_acl does not say what its tries take; its rules are the least */
	return sizeof(*t) + sl_cls_linear.memory(t->linear)
			+ cls->n
			* (sizeof(*t->rules) + 1 + (t->acl == NULL ? 0 : sizeof(struct trie_rule)));
}

const struct sl_cls_ops sl_cls_trie = {
	.name = "trie",
	.estimate = trie_estimate,
	.build = trie_build,
	.lookup = trie_lookup,
	.free = trie_free,
	.memory = trie_memory,
};
