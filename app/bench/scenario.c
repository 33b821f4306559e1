/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/scenario.h"

#include "config/yaml_node.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

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

static bool read_family(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const char *const words[] = { "4", "6", NULL };
	int word;

	if (!yaml_word(c, node, words, &word))
		return false;
	((struct scenario *)object)->traffic.v6 = word == 1;
	return true;
}

static bool read_flows(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t n;

	if (!yaml_uint(c, node, 1, TRAFFIC_FLOWS_MAX, &n))
		return false;
	((struct scenario *)object)->traffic.flows = (uint32_t)n;
	return true;
}

static bool read_size(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t n;

	if (!yaml_uint(c, node, TRAFFIC_SIZE_MIN, TRAFFIC_SIZE_MAX, &n))
		return false;
	((struct scenario *)object)->traffic.size = (uint16_t)n;
	return true;
}

static bool read_ttl(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	uint64_t n;

	if (!yaml_uint(c, node, 1, 255, &n))
		return false;
	((struct scenario *)object)->traffic.ttl = (uint8_t)n;
	return true;
}

static bool read_traffic(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const struct yaml_key keys[] = {
		{ "family", read_family, false },
		{ "flows", read_flows, false },
		{ "size", read_size, false },
		{ "ttl", read_ttl, false },
		{ NULL, NULL, false },
	};

	return yaml_map(c, node, "traffic", keys, object, NULL);
}

static bool set_kind(struct yaml_ctx *c, const yaml_node_t *node, struct scenario *s,
		enum rules_kind kind)
{
	if (s->rules.kind != RULES_NONE)
		return yaml_error(c, node,
				"rules are given twice, expected one of generate, file, "
				"text");
	s->rules.kind = kind;
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
	((struct scenario *)object)->rules.count = (uint32_t)n;
	return true;
}

static bool read_text(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	struct scenario *s = object;

	return set_kind(c, node, s, RULES_TEXT)
			&& yaml_text_into(c, node, &s->rules.text,
					"rules in the format of iptables-save");
}

/* relative to the scenario's own directory */
static void beside(const char *scenario, const char *name, char *path, size_t size)
{
	const char *slash = strrchr(scenario, '/');
	int dir_len = slash == NULL || name[0] == '/' ? 0 : (int)(slash + 1 - scenario);

	snprintf(path, size, "%.*s%s", dir_len, scenario, name);
}

static bool read_file(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	const char *name = yaml_text(c, node, "a file in the format of iptables-save");
	struct scenario *s = object;
	char path[PATH_MAX];
	char *text = NULL;
	size_t size = 0;
	FILE *in;

	if (name == NULL || !set_kind(c, node, s, RULES_TEXT))
		return false;
	beside(c->path, name, path, sizeof(path));
	in = fopen(path, "re");
	if (in == NULL || getdelim(&text, &size, '\0', in) < 0) {
		yaml_error(c, node, "%s: %s, expected rules in the format of iptables-save", path,
				in == NULL ? strerror(errno) : "nothing to read");
		if (in != NULL)
			fclose(in);
		free(text);
		return false;
	}
	s->rules.text = yaml_dup_text(c, text);
	free(text);
	fclose(in);
	return true;
}

static bool read_rules(struct yaml_ctx *c, const yaml_node_t *node, void *object)
{
	static const struct yaml_key keys[] = {
		{ "generate", read_generate, false },
		{ "count", read_count, false },
		{ "file", read_file, false },
		{ "text", read_text, false },
		{ NULL, NULL, false },
	};
	struct ruleset *r = &((struct scenario *)object)->rules;

	if (!yaml_map(c, node, "rules", keys, object, NULL))
		return false;
	if (r->kind == RULES_NONE)
		return yaml_error(
				c, node, "rules without any, expected one of generate, file, text");
	if ((r->kind != RULES_TEXT) != (r->count > 0))
		return yaml_error(
				c, node, "'count' goes with 'generate', expected both or neither");
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
	if (n == 0 || n > SCENARIO_ENGINES_MAX)
		return yaml_error(c, node, "found %zu engines, expected 1 to %d", n,
				SCENARIO_ENGINES_MAX);
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

/* what needs the whole file */
static bool complete(struct yaml_ctx *c, const yaml_node_t *root, struct scenario *s)
{
	bool none = s->rules.kind == RULES_NONE;

	if (s->n_kernel == 0 && none)
		s->kernel[s->n_kernel++] = BACKEND_PLAIN;
	if (s->n_kernel == 0) {
		s->kernel[s->n_kernel++] = BACKEND_LEGACY;
		s->kernel[s->n_kernel++] = BACKEND_NFT;
	}
	if (s->n_engines == 0)
		s->engines[s->n_engines++] = none ? "plain" : "auto";
	for (unsigned int i = 0; i < s->n_kernel; i++) {
		bool set = s->kernel[i] == BACKEND_IPSET || s->kernel[i] == BACKEND_NFT_SET;

		if ((s->kernel[i] == BACKEND_PLAIN) != none)
			return yaml_error(c, root, "%s, expected %s",
					none ? "a back end for rules but no rules"
					     : "rules, and back end 'plain' that loads none",
					none ? "kernel: [plain]" : "another back end");
		if (set != (s->rules.kind == RULES_SET))
			return yaml_error(c, root, "back end '%s', expected %s with these rules",
					backend_names[s->kernel[i]],
					set ? "legacy or nft" : "ipset or nft-set");
	}
	if (s->traffic.v6 && (s->rules.kind == RULES_LINEAR || s->rules.kind == RULES_SET))
		return yaml_error(c, root, "family 6 with generated addresses, expected family 4");
	return true;
}

static const struct yaml_key top_keys[] = {
	{ "name", read_name, true },
	{ "title", read_title, false },
	{ "traffic", read_traffic, false },
	{ "rules", read_rules, false },
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
