/* SPDX-License-Identifier: BSD-3-Clause */
#include "config/yaml_node.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

struct chunk {
	struct chunk *next;
	max_align_t data[];
};

void *yaml_alloc(struct yaml_ctx *c, size_t n, size_t size)
{
	struct chunk *chunk = calloc(1, sizeof(*chunk) + (n + 1) * size);

	/* a configuration is small: without this memory nothing else of the program would start */
	if (chunk == NULL)
		abort();
	chunk->next = c->arena;
	c->arena = chunk;
	return chunk->data;
}

void yaml_free_arena(void *arena)
{
	struct chunk *next;

	for (struct chunk *chunk = arena; chunk != NULL; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
}

char *yaml_dup_text(struct yaml_ctx *c, const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(yaml_alloc(c, size, 1), text, size);
}

struct sl_mark yaml_mark(const yaml_node_t *node)
{
	return (struct sl_mark){
		.line = (unsigned int)node->start_mark.line + 1,
		.column = (unsigned int)node->start_mark.column + 1,
	};
}

static void print_error(struct yaml_ctx *c, struct sl_mark at, const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		abort();
	fprintf(c->err, "%s:%u:%u: ", c->path, at.line, at.column);
	/* quoted YAML may hold line ends and more; the error is one line all the same */
	for (const char *p = text; *p != '\0'; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			fprintf(c->err, "\\x%02x", *p);
		else
			fputc(*p, c->err);
	fputc('\n', c->err);
	free(text);
}

bool yaml_error(struct yaml_ctx *c, const yaml_node_t *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_error(c, yaml_mark(at), fmt, ap);
	va_end(ap);
	return false;
}

bool yaml_error_at(struct yaml_ctx *c, struct sl_mark at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	print_error(c, at, fmt, ap);
	va_end(ap);
	return false;
}

static bool load_document(struct yaml_ctx *c, yaml_parser_t *parser, yaml_document_t *doc)
{
	if (yaml_parser_load(parser, doc))
		return true;
	return yaml_error_at(c,
			(struct sl_mark){ (unsigned int)parser->problem_mark.line + 1,
					(unsigned int)parser->problem_mark.column + 1 },
			"not YAML: %s%s%s", parser->problem == NULL ? "?" : parser->problem,
			parser->context == NULL ? "" : ", ",
			parser->context == NULL ? "" : parser->context);
}

/* the first document is read to its end only when a second is asked for */
static bool nothing_behind(struct yaml_ctx *c, yaml_parser_t *parser)
{
	yaml_document_t second;
	const yaml_node_t *root;
	bool ok;

	if (!load_document(c, parser, &second))
		return false;
	root = yaml_document_get_root_node(&second);
	ok = root == NULL || yaml_error(c, root, "found a second document, expected one");
	yaml_document_delete(&second);
	return ok;
}

bool yaml_load(struct yaml_ctx *c, FILE *in)
{
	yaml_parser_t parser;
	bool ok;

	if (!yaml_parser_initialize(&parser))
		return false;
	yaml_parser_set_input_file(&parser, in);
	ok = load_document(c, &parser, &c->doc);
	if (ok && yaml_document_get_root_node(&c->doc) != NULL && !nothing_behind(c, &parser)) {
		yaml_document_delete(&c->doc);
		ok = false;
	}
	yaml_parser_delete(&parser);
	return ok;
}

static const char *kind_name(const yaml_node_t *node)
{
	switch (node->type) {
	case YAML_SCALAR_NODE:
		return node->data.scalar.length > 0 ? "a single value" : "nothing";
	case YAML_SEQUENCE_NODE:
		return "a list";
	case YAML_MAPPING_NODE:
		return "a mapping";
	case YAML_NO_NODE:
		break;
	}
	return "nothing";
}

static const char *scalar(const yaml_node_t *node)
{
	return (const char *)node->data.scalar.value;
}

static bool unknown_key(struct yaml_ctx *c, const yaml_node_t *key, const char *what,
		const struct yaml_key *keys)
{
	char known[512];
	size_t n = 0;

	for (const struct yaml_key *k = keys; k->name != NULL && n < sizeof(known); k++)
		n += (size_t)snprintf(
				known + n, sizeof(known) - n, "%s%s", n > 0 ? ", " : "", k->name);
	return yaml_error(c, key, "unknown key '%s' in %s, expected one of %s", scalar(key), what,
			known);
}

static const struct yaml_key *find_key(const struct yaml_key *keys, const char *name)
{
	for (; keys->name != NULL; keys++)
		if (strcmp(keys->name, name) == 0)
			return keys;
	return NULL;
}

static bool key_is_new(struct yaml_ctx *c, const yaml_node_t *map, const yaml_node_pair_t *pair)
{
	const yaml_node_t *key = yaml_document_get_node(&c->doc, pair->key);

	if (key->type != YAML_SCALAR_NODE)
		return yaml_error(c, key, "found %s as a key, expected a name", kind_name(key));
	for (const yaml_node_pair_t *q = map->data.mapping.pairs.start; q < pair; q++) {
		const yaml_node_t *other = yaml_document_get_node(&c->doc, q->key);

		if (strcmp(scalar(other), scalar(key)) == 0)
			return yaml_error(c, key, "key '%s' is here twice, first in line %u",
					scalar(key), yaml_mark(other).line);
	}
	return true;
}

static bool required_are_there(struct yaml_ctx *c, const yaml_node_t *map, const char *what,
		const struct yaml_key *keys)
{
	for (; keys->name != NULL; keys++) {
		bool found = !keys->required;

		for (const yaml_node_pair_t *q = map->data.mapping.pairs.start;
				!found && q < map->data.mapping.pairs.top; q++)
			found = strcmp(scalar(yaml_document_get_node(&c->doc, q->key)), keys->name)
					== 0;
		if (!found)
			return yaml_error(c, map, "%s without '%s'", what, keys->name);
	}
	return true;
}

bool yaml_map(struct yaml_ctx *c, const yaml_node_t *node, const char *what,
		const struct yaml_key *keys, void *object,
		bool (*other)(struct yaml_ctx *c, const yaml_node_t *key, const yaml_node_t *value,
				void *object))
{
	if (node->type != YAML_MAPPING_NODE)
		return yaml_error(c, node, "found %s, expected a mapping for %s", kind_name(node),
				what);
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
			pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(&c->doc, pair->key);
		const yaml_node_t *value = yaml_document_get_node(&c->doc, pair->value);
		const struct yaml_key *k;

		if (!key_is_new(c, node, pair))
			return false;
		k = find_key(keys, scalar(key));
		if (k == NULL && other == NULL)
			return unknown_key(c, key, what, keys);
		if (k == NULL ? !other(c, key, value, object) : !k->read(c, value, object))
			return false;
	}
	return required_are_there(c, node, what, keys);
}

bool yaml_seq(struct yaml_ctx *c, const yaml_node_t *node, const char *what, size_t *n)
{
	if (node->type != YAML_SEQUENCE_NODE)
		return yaml_error(
				c, node, "found %s, expected a list of %s", kind_name(node), what);
	*n = (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
	return true;
}

const yaml_node_t *yaml_item(struct yaml_ctx *c, const yaml_node_t *seq, size_t i)
{
	return yaml_document_get_node(&c->doc, seq->data.sequence.items.start[i]);
}

const char *yaml_text(struct yaml_ctx *c, const yaml_node_t *node, const char *expected)
{
	if (node->type != YAML_SCALAR_NODE || node->data.scalar.length == 0) {
		yaml_error(c, node, "found %s, expected %s", kind_name(node), expected);
		return NULL;
	}
	/* libyaml takes an escaped NUL; nothing of ours may hold one */
	if (strlen(scalar(node)) != node->data.scalar.length) {
		yaml_error(c, node, "found a NUL byte, expected %s", expected);
		return NULL;
	}
	return scalar(node);
}

bool yaml_text_into(
		struct yaml_ctx *c, const yaml_node_t *node, const char **out, const char *expected)
{
	const char *text = yaml_text(c, node, expected);

	if (text != NULL)
		*out = yaml_dup_text(c, text);
	return text != NULL;
}

bool yaml_long(struct yaml_ctx *c, const yaml_node_t *node, long *out)
{
	const char *text = yaml_text(c, node, "a number");
	char *end;

	if (text == NULL)
		return false;
	errno = 0;
	*out = strtol(text, &end, 0);
	if (errno != 0 || *end != '\0' || end == text)
		return yaml_error(c, node, "found '%s', expected a number", text);
	return true;
}

bool yaml_uint(struct yaml_ctx *c, const yaml_node_t *node, uint64_t min, uint64_t max,
		uint64_t *out)
{
	const char *text = yaml_text(c, node, "a number");
	unsigned long long value;
	char *end;

	if (text == NULL)
		return false;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno != 0 || *end != '\0' || text[0] < '0' || text[0] > '9' || value < min
			|| value > max)
		return yaml_error(c, node, "found '%s', expected a number from %llu to %llu", text,
				(unsigned long long)min, (unsigned long long)max);
	*out = value;
	return true;
}

bool yaml_prefix(struct yaml_ctx *c, const yaml_node_t *node, struct sl_prefix *out)
{
	const char *expected = "an address with prefix length, as 192.0.2.1/24 or 2001:db8::1/64";
	const char *text = yaml_text(c, node, expected);

	if (text == NULL)
		return false;
	if (sl_prefix_parse(text, out) < 0)
		return yaml_error(c, node, "found '%s', expected %s", text, expected);
	return true;
}

bool yaml_addr(struct yaml_ctx *c, const yaml_node_t *node, uint8_t *family, struct sl_addr *out)
{
	const char *expected = "an address, as 192.0.2.1 or 2001:db8::1";
	const char *text = yaml_text(c, node, expected);
	enum sl_family found;

	if (text == NULL)
		return false;
	found = sl_addr_parse(text, out);
	if (found == SL_AF_NONE)
		return yaml_error(c, node, "found '%s', expected %s", text, expected);
	*family = (uint8_t)found;
	return true;
}

bool yaml_mac(struct yaml_ctx *c, const yaml_node_t *node, struct rte_ether_addr *out)
{
	const char *expected = "a unicast MAC address, as \"02:00:00:00:00:01\"";
	const char *text = yaml_text(c, node, expected);

	if (text == NULL)
		return false;
	if (strlen(text) != 17 || rte_ether_unformat_addr(text, out) < 0
			|| rte_is_multicast_ether_addr(out) || rte_is_zero_ether_addr(out))
		return yaml_error(c, node, "found '%s', expected %s", text, expected);
	return true;
}

bool yaml_word(struct yaml_ctx *c, const yaml_node_t *node, const char *const *words, int *out)
{
	char list[256];
	const char *text;
	size_t n = 0;

	for (int i = 0; words[i] != NULL && n < sizeof(list); i++)
		n += (size_t)snprintf(
				list + n, sizeof(list) - n, "%s%s", i > 0 ? ", " : "", words[i]);
	text = yaml_text(c, node, list);
	if (text == NULL)
		return false;
	for (int i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], text) == 0) {
			*out = i;
			return true;
		}
	}
	return yaml_error(c, node, "found '%s', expected one of %s", text, list);
}
