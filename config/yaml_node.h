/* SPDX-License-Identifier: BSD-3-Clause */
/* Typed reading of YAML nodes with errors that name line and column. */
#pragma once

#include "lib/addr.h"
#include "lib/conf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <yaml.h>

struct yaml_ctx {
	const char *path;
	yaml_document_t doc;
	struct sl_conf *conf;
	void *arena; /* list of allocations */
	FILE *err;
};

/* parses @in into c->doc; false after an error line */
bool yaml_load(struct yaml_ctx *c, FILE *in);

/* zeroed memory that lives as long as the configuration; never NULL: aborts where there is none */
void *yaml_alloc(struct yaml_ctx *c, size_t n, size_t size);
/* everything of an arena */
void yaml_free_arena(void *arena);
char *yaml_dup_text(struct yaml_ctx *c, const char *text);

/* prints FILE:LINE:COLUMN: and the message; always returns false */
bool yaml_error(struct yaml_ctx *c, const yaml_node_t *at, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
bool yaml_error_at(struct yaml_ctx *c, struct sl_mark at, const char *fmt, ...)
		__attribute__((format(printf, 3, 4)));
struct sl_mark yaml_mark(const yaml_node_t *node);

/* one key of a mapping; @read gets the value and the object under construction */
struct yaml_key {
	const char *name;
	bool (*read)(struct yaml_ctx *c, const yaml_node_t *value, void *object);
	bool required;
};

/**
 * yaml_map() - a mapping with known keys, each at most once
 * @what:  "port", for errors
 * @other: takes the keys that are not in @keys; NULL: they are errors
 */
bool yaml_map(struct yaml_ctx *c, const yaml_node_t *node, const char *what,
		const struct yaml_key *keys, void *object,
		bool (*other)(struct yaml_ctx *c, const yaml_node_t *key, const yaml_node_t *value,
				void *object));

/* elements of a sequence; *n of them, NULL and an error if it is none */
const yaml_node_t *yaml_item(struct yaml_ctx *c, const yaml_node_t *seq, size_t i);
bool yaml_seq(struct yaml_ctx *c, const yaml_node_t *node, const char *what, size_t *n);

/* scalars; @expected ends the error line */
const char *yaml_text(struct yaml_ctx *c, const yaml_node_t *node, const char *expected);
/* a copy of the text that lives as long as the configuration */
bool yaml_text_into(struct yaml_ctx *c, const yaml_node_t *node, const char **out,
		const char *expected);
bool yaml_uint(struct yaml_ctx *c, const yaml_node_t *node, uint64_t min, uint64_t max,
		uint64_t *out);
bool yaml_long(struct yaml_ctx *c, const yaml_node_t *node, long *out);
bool yaml_prefix(struct yaml_ctx *c, const yaml_node_t *node, struct sl_prefix *out);
bool yaml_addr(struct yaml_ctx *c, const yaml_node_t *node, uint8_t *family, struct sl_addr *out);
bool yaml_mac(struct yaml_ctx *c, const yaml_node_t *node, struct rte_ether_addr *out);
/* index of the scalar in a NULL-terminated list of words */
bool yaml_word(struct yaml_ctx *c, const yaml_node_t *node, const char *const *words, int *out);
