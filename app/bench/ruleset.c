/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/ruleset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FNV_START 0xcbf29ce484222325ULL
#define FNV_PRIME 0x100000001b3ULL

const char *const rules_kind_names[] = {
	[RULES_NONE] = "none",
	[RULES_TEXT] = "text",
	[RULES_CLASSBENCH] = "classbench",
	[RULES_LINEAR] = "linear",
	[RULES_SET] = "set",
	[RULES_NETSET] = "netset",
	[RULES_PORTSET] = "portset",
	[RULES_CHAINS] = "chains",
	[RULES_STRING] = "string",
	[RULES_ACL] = "acl",
	[RULES_FW] = "fw",
	[RULES_IPC] = "ipc",
	[RULES_KIND_NB] = NULL,
};

const char *const backend_names[] = {
	[BACKEND_PLAIN] = "plain",
	[BACKEND_LEGACY] = "legacy",
	[BACKEND_NFT] = "nft",
	[BACKEND_IPSET] = "ipset",
	[BACKEND_NATIVE] = "native",
	[BACKEND_NB] = NULL,
};

/* a generated set: how ipset and nft call its type, how rules ask it */
struct set_kind {
	const char *ipset, *nft_type, *nft_flags, *nft_key4, *nft_key6, *direction;
};

static const struct set_kind set_kinds[RULES_KIND_NB] = {
	[RULES_SET] = { "hash:ip", "", "", "ip saddr", "ip6 saddr", "src" },
	[RULES_NETSET] = { "hash:net", "", "\t\tflags interval\n", "ip saddr", "ip6 saddr", "src" },
	[RULES_PORTSET] = { "hash:ip,port", " . inet_service", "", "ip saddr . udp dport",
			"ip6 saddr . udp dport", "src,dst" },
};

bool ruleset_is_generated(const struct ruleset *r)
{
	return r->kind >= RULES_LINEAR;
}

bool ruleset_is_acl(const struct ruleset *r)
{
	return r->acl.n > 0;
}

bool ruleset_has_sets(const struct ruleset *r)
{
	return r->ipset != NULL || set_kinds[r->kind].ipset != NULL;
}

bool ruleset_has_native(const struct ruleset *r)
{
	return r->nft != NULL || set_kinds[r->kind].ipset != NULL;
}

uint32_t ruleset_size(const struct ruleset *r)
{
	return r->kind == RULES_CLASSBENCH ? r->acl.n : r->count;
}

/* addresses of strangers: no packet of ours comes from 20.0.0.0 and up, or fd20:: */
static void put_address(FILE *out, const struct ruleset *r, uint32_t i)
{
	if (r->v6)
		fprintf(out, "fd20::%x:%x", i / 65536, i % 65536);
	else
		fprintf(out, "%u.%u.%u.1", 20 + i / 65536, i / 256 % 256, i % 256);
}

/* of a set, as ipset writes it, or nft */
static void put_member(FILE *out, const struct ruleset *r, uint32_t i, bool nft)
{
	switch (r->kind) {
	case RULES_NETSET:
		/* a free network between each two, or nft would join them */
		if (r->v6)
			fprintf(out, "fd20:%x:%x::/64", i / 32768, i % 32768 * 2);
		else
			fprintf(out, "%u.%u.%u.0/24", 20 + i / 32768, i / 128 % 256, i % 128 * 2);
		break;
	case RULES_PORTSET:
		put_address(out, r, i);
		fprintf(out, nft ? " . %u" : ",udp:%u", 1024 + i % 1024);
		break;
	default:
		put_address(out, r, i);
		break;
	}
}

static void put_linear(FILE *out, const struct ruleset *r)
{
	for (uint32_t i = 0; i < r->count; i++) {
		fputs("-A FORWARD -s ", out);
		put_address(out, r, i);
		fputs(r->v6 ? "/128 -j DROP\n" : "/32 -j DROP\n", out);
	}
}

/* the packets' payload is the alphabet in small letters, or none of this */
static void put_strings(FILE *out, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		fprintf(out,
				"-A FORWARD -m string --string \"GET /cgi-bin/%05u.exe\" --algo bm "
				"--to 65535 -j DROP\n",
				i * 7919 % 100000);
}

static void put_chains(FILE *out, uint32_t count)
{
	if (count > 0)
		fputs("-A FORWARD -j level1\n", out);
	for (uint32_t i = 1; i < count; i++)
		fprintf(out, "-A level%u -j level%u\n", i, i + 1);
}

static void put_generated(FILE *out, const struct ruleset *r)
{
	fputs("*filter\n:FORWARD ACCEPT [0:0]\n", out);
	for (uint32_t i = 1; r->kind == RULES_CHAINS && i <= r->count; i++)
		fprintf(out, ":level%u - [0:0]\n", i);
	if (r->kind == RULES_LINEAR)
		put_linear(out, r);
	else if (r->kind == RULES_CHAINS)
		put_chains(out, r->count);
	else if (r->kind == RULES_STRING)
		put_strings(out, r->count);
	else if (ruleset_is_acl(r))
		acl_put(&r->acl, out);
	else
		fprintf(out, "-A FORWARD -m set --match-set bench %s -j DROP\n",
				set_kinds[r->kind].direction);
	fputs("COMMIT\n", out);
}

static void put_ipset(FILE *out, const struct ruleset *r)
{
	fprintf(out, "create bench %s family %s maxelem %u\n", set_kinds[r->kind].ipset,
			r->v6 ? "inet6" : "inet", r->count);
	for (uint32_t i = 0; i < r->count; i++) {
		fputs("add bench ", out);
		put_member(out, r, i, false);
		fputc('\n', out);
	}
}

static void put_nft(FILE *out, const struct ruleset *r)
{
	const struct set_kind *set = &set_kinds[r->kind];

	fprintf(out, "table %s bench {\n\tset strangers {\n\t\ttype %s%s\n%s\t\telements = { ",
			r->v6 ? "ip6" : "ip", r->v6 ? "ipv6_addr" : "ipv4_addr", set->nft_type,
			set->nft_flags);
	for (uint32_t i = 0; i < r->count; i++) {
		fputs(i == 0 ? "" : ", ", out);
		put_member(out, r, i, true);
	}
	fprintf(out,
			" }\n\t}\n\tchain forward {\n"
			"\t\ttype filter hook forward priority filter; policy accept;\n"
			"\t\t%s @strangers drop\n\t}\n}\n",
			r->v6 ? set->nft_key6 : set->nft_key4);
}

/* what @put writes, or the user's text */
static char *make_text(const struct ruleset *r, const char *given,
		void (*put)(FILE *out, const struct ruleset *r))
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (given != NULL)
		return strdup(given);
	out = open_memstream(&text, &size);
	if (out == NULL)
		return NULL;
	if (put != NULL)
		put(out, r);
	fclose(out);
	return text;
}

char *ruleset_iptables(const struct ruleset *r)
{
	bool made = ruleset_is_generated(r) || r->kind == RULES_CLASSBENCH;

	return make_text(r, r->kind == RULES_TEXT ? r->text : NULL, made ? put_generated : NULL);
}

char *ruleset_ipset(const struct ruleset *r)
{
	return make_text(r, r->ipset, set_kinds[r->kind].ipset != NULL ? put_ipset : NULL);
}

char *ruleset_nft(const struct ruleset *r)
{
	return make_text(r, r->nft, set_kinds[r->kind].ipset != NULL ? put_nft : NULL);
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (uint8_t)bytes[i]) * FNV_PRIME;
	return hash;
}

/* ":CHAIN POLICY [0:0]", a policy other than ACCEPT: its length without the counters */
static size_t policy_len(const char *line, size_t len)
{
	const char *policy = memchr(line, ' ', len);
	size_t n;

	if (line[0] != ':' || policy == NULL)
		return 0;
	policy++;
	n = strcspn(policy, " \n");
	if (strncmp(policy, "ACCEPT", n) == 0 || strncmp(policy, "-", n) == 0)
		return 0;
	return (size_t)(policy - line) + n;
}

/* tables may come in any order: each has a hash of its own, which are added up */
uint64_t ruleset_hash(const char *text, uint32_t *n)
{
	uint64_t sum = 0, hash = FNV_START, table = FNV_START;

	*n = 0;
	while (*text != '\0') {
		size_t len = strcspn(text, "\n");
		const char *rule = text;
		size_t rule_len = 0;

		if (text[0] == '*') {
			table = hash_bytes(FNV_START, text, len);
			hash = table;
		} else if (strncmp(text, "COMMIT", 6) == 0) {
			sum += hash == table ? 0 : hash;
			hash = table;
		} else if (text[0] == '[' && strstr(text, "] -A ") != NULL) {
			rule = strstr(text, "-A ");
			rule_len = len - (size_t)(rule - text);
		} else if (strncmp(text, "-A ", 3) == 0) {
			rule_len = len;
		} else {
			rule_len = policy_len(text, len);
		}
		if (rule_len > 0) {
			hash = hash_bytes(hash, rule, rule_len) * FNV_PRIME;
			++*n;
		}
		text += len + (text[len] == '\n');
	}
	return sum;
}

/* "[1:64] -A ...": packets and bytes of each rule, by table as above */
uint64_t ruleset_hash_counters(const char *text)
{
	uint64_t sum = 0, hash = FNV_START;
	bool any = false;

	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		if (text[0] == '*') {
			hash = hash_bytes(FNV_START, text, len);
			any = false;
		} else if (strncmp(text, "COMMIT", 6) == 0) {
			sum += any ? hash : 0;
		} else if (text[0] == '[') {
			hash = hash_bytes(hash, text, strcspn(text, "]")) * FNV_PRIME;
			any = true;
		}
		text += len + (text[len] == '\n');
	}
	return sum;
}
