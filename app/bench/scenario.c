/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/scenario.h"

#include "app/bench/scenario_read.h"

#include <ctype.h>
#include <errno.h>

static bool read_name(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	const char *expected = "a name of 1 to 31 letters, digits, '-', '.' and '_'";
	struct scenario *s = object;

	if (!yaml_text_into(c, node, &s->name, expected))
		return false;
	if (strlen(s->name) >= SCENARIO_NAME_MAX)
		return yaml_error(c, node, "found '%s', expected %s", s->name, expected);
	for (const char *p = s->name; *p != '\0'; p++)
		if (!isalnum((unsigned char)*p) && strchr("-._", *p) == NULL)
			return yaml_error(c, node, "found '%s', expected %s", s->name, expected);
	return true;
}

static bool read_title(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(c, node, &((struct scenario *)object)->title, "one line of text");
}

static bool read_baseline(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	return yaml_text_into(
			c, node, &((struct scenario *)object)->baseline, "the name of a scenario");
}

static bool read_default(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const char *const words[] = { "quick", "true", "false", NULL };
	int word;

	if (!yaml_word(c, node, words, &word))
		return false;
	((struct scenario *)object)->choice = (enum scenario_choice)word;
	return true;
}

static bool read_tap(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const char *const words[] = { "false", "true", NULL };
	int word;

	if (!yaml_word(c, node, words, &word))
		return false;
	((struct scenario *)object)->tap = word == 1;
	return true;
}

static bool read_kernel(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct scenario *s = object;
	size_t n;
	int word;

	if (!yaml_seq(c, node, "back ends", &n))
		return false;
	if (n == 0 || n > BACKEND_NB)
		return yaml_error(c, node, "found %zu back ends, expected 1 to %d", n, BACKEND_NB);
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_item(c, node, i);

		if (!yaml_word(c, item, backend_names, &word))
			return false;
		for (unsigned int k = 0; k < s->n_kernel; k++)
			if (s->kernel[k] == (enum backend)word)
				return yaml_error(c, item, "back end '%s' is here twice",
						backend_names[word]);
		s->kernel[s->n_kernel++] = (enum backend)word;
	}
	return true;
}

static bool read_engines(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const char *const words[] = { "plain", "auto", "linear", "hashed", "trie", "forest",
		NULL };
	struct scenario *s = object;
	size_t n;
	int word;

	if (!yaml_seq(c, node, "engines", &n))
		return false;
	if (n > SCENARIO_ENGINES_MAX)
		return yaml_error(c, node, "found %zu engines, expected 0 to %d", n,
				SCENARIO_ENGINES_MAX);
	s->kernel_only = n == 0;
	for (size_t i = 0; i < n; i++) {
		const yaml_node_t *item = yaml_item(c, node, i);

		if (!yaml_word(c, item, words, &word))
			return false;
		for (unsigned int k = 0; k < s->n_engines; k++)
			if (s->engines[k] == words[word])
				return yaml_error(
						c, item, "engine '%s' is here twice", words[word]);
		s->engines[s->n_engines++] = words[word];
	}
	return true;
}

/* whether back end @b fits to the rules */
static bool fits(struct yaml_ctx *c, const yaml_node_t *root, const struct scenario *s,
		enum backend b)
{
	bool none = s->rules.kind == RULES_NONE, sets = ruleset_has_sets(&s->rules);

	if ((b == BACKEND_PLAIN) != none)
		return yaml_error(c, root, "%s, expected %s",
				none ? "a back end for rules but no rules"
				     : "rules, and back end 'plain' that loads none",
				none ? "kernel: [plain]" : "another back end");
	if (b == BACKEND_NATIVE && !ruleset_has_native(&s->rules))
		return yaml_error(c, root,
				"back end 'native' without rules in nft's language, expected "
				"'nft' under rules, or generated sets");
	if (b != BACKEND_NATIVE && b != BACKEND_PLAIN && (b == BACKEND_IPSET) != sets)
		return yaml_error(c, root, "back end '%s', expected %s with these rules",
				backend_names[b], sets ? "ipset or native" : "legacy or nft");
	return true;
}

static void set_defaults(struct scenario *s)
{
	bool none = s->rules.kind == RULES_NONE;

	s->rules.v6 = s->traffic.v6;
	s->traffic.acl = s->rules.acl;
	if (s->n_engines == 0 && !s->kernel_only)
		s->engines[s->n_engines++] = none ? "plain" : "auto";
	if (s->n_kernel > 0)
		return;
	if (none) {
		s->kernel[s->n_kernel++] = BACKEND_PLAIN;
	} else if (ruleset_has_sets(&s->rules)) {
		s->kernel[s->n_kernel++] = BACKEND_IPSET;
	} else {
		s->kernel[s->n_kernel++] = BACKEND_LEGACY;
		s->kernel[s->n_kernel++] = BACKEND_NFT;
	}
	if (ruleset_has_native(&s->rules))
		s->kernel[s->n_kernel++] = BACKEND_NATIVE;
}

/* what needs the whole file */
static bool complete(struct yaml_ctx *c, const yaml_node_t *root, struct scenario *s)
{
	set_defaults(s);
	for (unsigned int i = 0; i < s->n_kernel; i++)
		if (!fits(c, root, s, s->kernel[i]))
			return false;
	if (s->traffic.addresses == TRAFFIC_RULES && !ruleset_is_acl(&s->rules))
		return yaml_error(c, root,
				"addresses of rules that tell none, expected acl, fw, ipc or "
				"classbench under rules");
	if (s->traffic.v6 && ruleset_is_acl(&s->rules))
		return yaml_error(c, root, "family 6 with these rules, expected family 4");
	return true;
}

static const struct yaml_key top_keys[] = {
	{ "name", read_name, true },
	{ "title", read_title, false },
	{ "default", read_default, false },
	{ "traffic", scenario_read_traffic, false },
	{ "rules", scenario_read_rules, false },
	{ "tap", read_tap, false },
	{ "kernel", read_kernel, false },
	{ "sluice", read_engines, false },
	{ "baseline", read_baseline, false },
	{ NULL, NULL, false },
};

static bool interpret(struct yaml_ctx *c, struct scenario *s)
{
	const yaml_node_t *root = yaml_document_get_root_node(&c->doc);

	if (root == NULL)
		return yaml_error_at(c, (struct sl_mark){ 1, 1 },
				"found nothing, expected a scenario with 'name'");
	return yaml_map(c, root, "the scenario", top_keys, s, NULL) && complete(c, root, s);
}

int scenario_read(const char *path, struct scenario *out, FILE *err)
{
	struct yaml_ctx c = { .path = path, .err = err };
	struct scenario s = {
		.title = "",
		.choice = SCENARIO_NAMED,
		.traffic = { .ttl = 64, .size = TRAFFIC_SIZE_MIN, .flows = 1 },
	};
	FILE *in = fopen(path, "re");
	bool ok;

	if (in == NULL) {
		int ret = -errno;

		fprintf(err, "%s: %s\n", path, strerror(errno));
		return ret;
	}
	ok = yaml_load(&c, in);
	fclose(in);
	if (!ok)
		return -EINVAL;
	s.path = yaml_dup_text(&c, path);
	ok = interpret(&c, &s);
	yaml_document_delete(&c.doc);
	if (!ok) {
		yaml_free_arena(c.arena);
		return -EINVAL;
	}
	s.arena = c.arena;
	*out = s;
	return 0;
}

void scenario_free(struct scenario *s)
{
	yaml_free_arena(s->arena);
	memset(s, 0, sizeof(*s));
}
