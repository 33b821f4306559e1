/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/scenario_read.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#define FORMAT "rules in the format of iptables-save"

void scenario_beside(const struct yaml_ctx *c, const char *name, char *path, size_t size)
{
	const char *slash = strrchr(c->path, '/');
	int dir_len = slash == NULL || name[0] == '/' ? 0 : (int)(slash + 1 - c->path);

	snprintf(path, size, "%.*s%s", dir_len, c->path, name);
}

static bool set_kind(struct yaml_ctx *c, const yaml_node_t *node, struct ruleset *r,
		enum rules_kind kind)
{
	if (r->kind != RULES_NONE)
		return yaml_error(c, node,
				"rules are given twice, expected one of generate, file, "
				"text, classbench");
	r->kind = kind;
	return true;
}

static bool read_generate(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	const char *const *words = &rules_kind_names[RULES_LINEAR];
	int word;

	return yaml_word(c, node, words, &word)
			&& set_kind(c, node, object, (enum rules_kind)(RULES_LINEAR + word));
}

static bool read_count(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t n;

	if (!yaml_uint(c, node, 1, 1000000, &n))
		return false;
	((struct ruleset *)object)->count = (uint32_t)n;
	return true;
}

static bool read_text(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct ruleset *r = object;

	return set_kind(c, node, r, RULES_TEXT) && yaml_text_into(c, node, &r->text, FORMAT);
}

static bool read_ipset(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(c, node, &((struct ruleset *)object)->ipset,
			"sets in the format of ipset save");
}

static bool read_nft(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(
			c, node, &((struct ruleset *)object)->nft, "rules in the language of nft");
}

/* a whole file; false after a line */
static bool load(
		struct yaml_ctx *c, const yaml_node_t *node, const char *expected, const char **out)
{
	const char *name = yaml_text(c, node, expected);
	char path[PATH_MAX];
	char *text = NULL;
	size_t size = 0;
	FILE *in;

	if (name == NULL)
		return false;
	scenario_beside(c, name, path, sizeof(path));
	in = fopen(path, "re");
	if (in == NULL || getdelim(&text, &size, '\0', in) < 0) {
		yaml_error(c, node, "%s: %s, expected %s", path,
				in == NULL ? strerror(errno) : "nothing to read", expected);
		if (in != NULL)
			fclose(in);
		free(text);
		return false;
	}
	*out = yaml_dup_text(c, text);
	free(text);
	fclose(in);
	return true;
}

static bool read_file(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct ruleset *r = object;

	return load(c, node, FORMAT, &r->text) && set_kind(c, node, r, RULES_TEXT);
}

static bool read_ipset_file(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return load(c, node, "sets in the format of ipset save",
			&((struct ruleset *)object)->ipset);
}

static bool read_nft_file(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return load(c, node, "rules in the language of nft", &((struct ruleset *)object)->nft);
}

static bool read_classbench(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	const char *expected = "rules in ClassBench's format";
	const char *name = yaml_text(c, node, expected);
	struct ruleset *r = object;
	unsigned int line = 0;
	char path[PATH_MAX];
	struct acl acl;
	FILE *in;
	int ret;

	if (name == NULL || !set_kind(c, node, r, RULES_CLASSBENCH))
		return false;
	scenario_beside(c, name, path, sizeof(path));
	in = fopen(path, "re");
	if (in == NULL)
		return yaml_error(c, node, "%s: %s, expected %s", path, strerror(errno), expected);
	ret = acl_read(in, &acl, &line);
	fclose(in);
	if (ret < 0)
		return yaml_error(c, node, "%s:%u: %s, expected %s (@SRC/LEN DST/LEN ...)", path,
				line, ret == -ENOMEM ? "no memory" : "no such rule", expected);
	r->acl.n = acl.n;
	r->acl.rules = yaml_alloc(c, acl.n, sizeof(*acl.rules));
	memcpy(r->acl.rules, acl.rules, acl.n * sizeof(*acl.rules));
	free(acl.rules);
	return true;
}

static void generate_acl(struct yaml_ctx *c, struct ruleset *r)
{
	r->acl.n = r->count;
	r->acl.rules = yaml_alloc(c, r->count, sizeof(*r->acl.rules));
	acl_generate((enum acl_kind)(r->kind - RULES_ACL), &r->acl);
}

bool scenario_read_rules(struct yaml_ctx *c, const yaml_node_t *node, void *scenario)
{
	static const struct yaml_key keys[] = {
		{ "generate", read_generate, false },
		{ "count", read_count, false },
		{ "file", read_file, false },
		{ "text", read_text, false },
		{ "classbench", read_classbench, false },
		{ "ipset", read_ipset, false },
		{ "ipset_file", read_ipset_file, false },
		{ "nft", read_nft, false },
		{ "nft_file", read_nft_file, false },
		{ NULL, NULL, false },
	};
	struct ruleset *r = &((struct scenario *)scenario)->rules;

	if (!yaml_map(c, node, "rules", keys, r, NULL))
		return false;
	if (r->kind == RULES_NONE)
		return yaml_error(c, node,
				"rules without any, expected one of generate, file, text, "
				"classbench");
	if (ruleset_is_generated(r) != (r->count > 0))
		return yaml_error(
				c, node, "'count' goes with 'generate', expected both or neither");
	if (r->kind != RULES_TEXT && (r->ipset != NULL || r->nft != NULL))
		return yaml_error(c, node,
				"'ipset' and 'nft' go with 'text' or 'file', expected no "
				"'generate'");
	if (r->kind >= RULES_ACL)
		generate_acl(c, r);
	return true;
}
