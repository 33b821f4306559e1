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
	[RULES_LINEAR] = "linear",
	[RULES_SET] = "set",
	[RULES_CHAINS] = "chains",
	[RULES_KIND_NB] = NULL,
};

const char *const backend_names[] = {
	[BACKEND_PLAIN] = "plain",
	[BACKEND_LEGACY] = "legacy",
	[BACKEND_NFT] = "nft",
	[BACKEND_IPSET] = "ipset",
	[BACKEND_NFT_SET] = "nft-set",
	[BACKEND_NB] = NULL,
};

/* addresses of strangers: no packet of ours comes from 20.0.0.0 and up */
static void put_address(FILE *out, const char *before, uint32_t i, const char *after)
{
	fprintf(out, "%s%u.%u.%u.1%s", before, 20 + i / 65536, i / 256 % 256, i % 256, after);
}

static void put_linear(FILE *out, uint32_t count)
{
	fputs("*filter\n:FORWARD ACCEPT [0:0]\n", out);
	for (uint32_t i = 0; i < count; i++)
		put_address(out, "-A FORWARD -s ", i, "/32 -j DROP\n");
	fputs("COMMIT\n", out);
}

static void put_set(FILE *out)
{
	fputs("*filter\n:FORWARD ACCEPT [0:0]\n"
	      "-A FORWARD -m set --match-set bench src -j DROP\nCOMMIT\n",
			out);
}

static void put_chains(FILE *out, uint32_t count)
{
	fputs("*filter\n:FORWARD ACCEPT [0:0]\n", out);
	for (uint32_t i = 1; i <= count; i++)
		fprintf(out, ":level%u - [0:0]\n", i);
	if (count > 0)
		fputs("-A FORWARD -j level1\n", out);
	for (uint32_t i = 1; i < count; i++)
		fprintf(out, "-A level%u -j level%u\n", i, i + 1);
	fputs("COMMIT\n", out);
}

char *ruleset_iptables(const struct ruleset *r)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	switch (r->kind) {
	case RULES_NONE:
	case RULES_KIND_NB:
		break;
	case RULES_TEXT:
		fputs(r->text, out);
		break;
	case RULES_LINEAR:
		put_linear(out, r->count);
		break;
	case RULES_SET:
		put_set(out);
		break;
	case RULES_CHAINS:
		put_chains(out, r->count);
		break;
	}
	fclose(out);
	return text;
}

char *ruleset_ipset(const struct ruleset *r)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	fprintf(out, "create bench hash:ip family inet maxelem %u\n", r->count);
	for (uint32_t i = 0; i < r->count; i++)
		put_address(out, "add bench ", i, "\n");
	fclose(out);
	return text;
}

char *ruleset_nft(const struct ruleset *r)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	fputs("table ip bench {\n\tset strangers {\n\t\ttype ipv4_addr\n\t\telements = { ", out);
	for (uint32_t i = 0; i < r->count; i++)
		put_address(out, i == 0 ? "" : ", ", i, "");
	fputs(" }\n\t}\n\tchain forward {\n"
	      "\t\ttype filter hook forward priority filter; policy accept;\n"
	      "\t\tip saddr @strangers drop\n\t}\n}\n",
			out);
	fclose(out);
	return text;
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
