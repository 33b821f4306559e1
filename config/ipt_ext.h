/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipt_ext.h - how an extension (a match or a target) is described, and what a description may use
 *
 * An extension is one const struct ipt_ext: its name, where it may stand, and its options as a table.
 * A row of the table is an option: name, kind of argument, bit in `set`, place of the value in the
 * extension's struct, limits, and the options that it needs or excludes. The reader looks words up in
 * these tables, the printer walks them: rows stand in the order in which iptables-save prints them.
 * What a row cannot say is done by finish(), once all words of the rule were read.
 */
#pragma once

#include "classifier/ipt_match_state.h"
#include "classifier/ipt_rule.h"
#include "classifier/ipt_target.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ipt_arena;
struct ipt_ext;
struct ipt_opt;
struct ipt_errors;
struct ipt_load;

#define IPT_LINE_MAX 10239
#define IPT_ARG_MAX 1023
#define IPT_ARGS_MAX 255

/* Where the reader is, and the rule under construction. */
struct ipt_ctx {
	const struct ipt_load *args;
	struct ipt_errors *errors;
	struct ipt_arena *arena;
	enum ipt_family family;
	enum ipt_table_id table;
	uint32_t line;
	bool failed; /* this line */

	char **words; /* of this line */
	unsigned int n_words;
	unsigned int pos; /* the next one */

	struct ipt_rule *rule; /* proto and proto_inv as read so far */
};

/* A match or target under construction. */
struct ipt_inst {
	const struct ipt_ext *ext;
	uint32_t set;
	uint32_t inv;
	uint32_t seen; /* bits of options met, set or not */
	void *data;
};

/* A match or target to print. */
struct ipt_view {
	enum ipt_family family;
	const struct ipt_rule *rule;
	uint32_t set;
	uint32_t inv;
	const void *data;
};

/* Kinds of arguments: how they are read from a word and written back. */
struct ipt_type {
	bool no_arg;
	int (*parse)(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
			const char *arg, bool inv);
	/* what stands behind the option's name, with a blank in front; NULL: nothing */
	void (*print)(FILE *f, const struct ipt_view *v, const struct ipt_opt *o);
};

enum {
	IPT_O_INV = 1 << 0, /* may stand behind `!` */
	IPT_O_QUIET = 1 << 1, /* another spelling: never printed */
	IPT_O_REPEAT = 1 << 2, /* may stand more than once */
	IPT_O_ONLY_INV = 1 << 3, /* has to stand behind `!` */
};

struct ipt_opt {
	const char *name; /* without dashes */
	const struct ipt_type *type;
	uint32_t bit;
	uint16_t flags;
	uint16_t off;
	uint64_t min; /* of numbers, or of the length of strings; max 0: what the type holds */
	uint64_t max;
	uint32_t excl; /* bits of options that may not stand beside it */
	uint32_t also; /* bits of options, all of which have to */
};

/* A row: name, type, bit, flags, off, min, max in this order as far as needed, others by name. */
#define IPT_OPT(name_, ...)                  \
	{                                    \
		.name = (name_), __VA_ARGS__ \
	}

#define IPT_F4 (1 << IPT_V4)
#define IPT_F6 (1 << IPT_V6)
#define IPT_F46 (IPT_F4 | IPT_F6)

struct ipt_ext {
	const char *name;
	const char *alias[2]; /* other names */
	uint16_t kind;
	uint8_t families; /* IPT_F4, IPT_F6, IPT_F46 */
	uint8_t tables; /* bits of enum ipt_table_id where it may stand; 0: all */
	uint8_t hooks; /* bits of enum ipt_hook from which it may be reached; 0: all */
	uint16_t proto; /* needs -p of this; 0: no need */
	uint16_t size; /* of its struct */
	const struct ipt_opt *opts; /* ends in a row without name; NULL: no options */
	uint32_t need; /* bits of options, all of which have to stand there */
	uint32_t one_of; /* bits of options, one or more of which have to */
	int (*init)(struct ipt_ctx *cx, struct ipt_inst *in);
	/* after the last word of the rule: cross checks, defaults, canonical form */
	int (*finish)(struct ipt_ctx *cx, struct ipt_inst *in);
	/* at COMMIT: the rule can be reached from these hooks. Return the reason to refuse it, or NULL */
	const char *(*check)(enum ipt_family family, const struct ipt_rule *rule, uint32_t set,
			const void *data, uint8_t hooks);
	/* instead of walking opts */
	void (*print)(FILE *f, const struct ipt_view *v);
};

extern const struct ipt_ext *const ipt_matches[];
extern const struct ipt_ext *const ipt_targets[];

const struct ipt_ext *ipt_match_find(const char *name, enum ipt_family family);
const struct ipt_ext *ipt_target_find(const char *name, enum ipt_family family);
const struct ipt_ext *ipt_match_by_kind(enum ipt_match_kind kind, enum ipt_family family);
const struct ipt_ext *ipt_target_by_kind(enum ipt_target_kind kind, enum ipt_family family);

/* Report against the present line. Always -EINVAL, so that it can be returned. */
int ipt_fail(struct ipt_ctx *cx, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void ipt_error_add(struct ipt_errors *errors, const char *path, uint32_t line, const char *fmt, ...)
		__attribute__((format(printf, 4, 5)));

/* The text of a load, copied or read, with room for one NUL behind it. Return: 0, -errno. */
int ipt_read_text(const struct ipt_load *args, struct ipt_arena *arena, char **text, size_t *len);

/* The next word if it can be a further argument of the present option, else NULL. */
const char *ipt_next_arg(struct ipt_ctx *cx);

static inline void *ipt_field(const struct ipt_inst *in, const struct ipt_opt *o)
{
	return (char *)in->data + o->off;
}

static inline const void *ipt_cfield(const struct ipt_view *v, const struct ipt_opt *o)
{
	return (const char *)v->data + o->off;
}

/* Words of a fixed list, with their number. A list ends in a NULL name. */
struct ipt_name {
	const char *name;
	uint32_t value;
};

/* Kinds that several extensions use. */
extern const struct ipt_type ipt_t_flag; /* no argument */
extern const struct ipt_type ipt_t_u8; /* number, printed in decimal */
extern const struct ipt_type ipt_t_u16;
extern const struct ipt_type ipt_t_u32;
extern const struct ipt_type ipt_t_u64;
extern const struct ipt_type ipt_t_x8; /* number, printed 0x%02x */
extern const struct ipt_type ipt_t_x16; /* 0x%04x */
extern const struct ipt_type ipt_t_x16short; /* 0x%02x */
extern const struct ipt_type ipt_t_x32; /* 0x%08x */
extern const struct ipt_type ipt_t_range16; /* a, a:, :b, a:b: struct ipt_range16 */
extern const struct ipt_type ipt_t_range32;
extern const struct ipt_type ipt_t_mark; /* v or v/m: struct ipt_mark, 0x%x */
extern const struct ipt_type ipt_t_string; /* const char *, printed with quotes where needed */
extern const struct ipt_type ipt_t_name; /* const char *, printed as it is */
extern const struct ipt_type ipt_t_ports; /* number or name, a:b: struct ipt_range16, lo <= hi */
extern const struct ipt_type ipt_t_any_ports; /* the same, but the range may be upside down */
extern const struct ipt_type ipt_t_addr; /* one address */
extern const struct ipt_type ipt_t_prefix; /* length of a mask, uint8_t, or the mask itself */
extern const struct ipt_type ipt_t_iface; /* struct ipt_iface */

/* Words into values. All return 0 or -EINVAL; those with cx have then said why. */
bool ipt_number(const char *s, const char **end, uint64_t *v, uint64_t min, uint64_t max);
int ipt_parse_port(struct ipt_ctx *cx, const char *s, uint16_t *port);
int ipt_parse_proto(struct ipt_ctx *cx, const char *s, uint16_t *proto);
int ipt_parse_addr(struct ipt_ctx *cx, const char *s, struct ipt_addr *a);
int ipt_parse_mask(struct ipt_ctx *cx, const char *s, struct ipt_addr *mask);
/* `whole`: no part of an IPv4 address may be left out; else 10.1 stands for 10.1.0.0 */
int ipt_parse_hostmask(struct ipt_ctx *cx, const char *s, bool whole, struct ipt_addr *a,
		struct ipt_addr *mask);
int ipt_parse_host(struct ipt_ctx *cx, const char *s, struct ipt_addr *a);
int ipt_parse_iface(struct ipt_ctx *cx, const char *s, struct ipt_iface *i);
int ipt_parse_value_mask(struct ipt_ctx *cx, const struct ipt_opt *o, const char *s, uint64_t max,
		uint64_t *value, uint64_t *mask);
int ipt_parse_bits(struct ipt_ctx *cx, const struct ipt_opt *o, const char *s,
		const struct ipt_name *names, uint32_t *bits);
const struct ipt_name *ipt_name_find(const struct ipt_name *names, const char *s, bool any_case);
const char *ipt_name_of(const struct ipt_name *names, uint32_t value);

/* Values into words. */
void ipt_print_string(FILE *f, const char *s); /* bare if it is [A-Za-z0-9_-]+, else quoted */
void ipt_print_quoted(FILE *f, const char *s);
void ipt_print_addr(FILE *f, enum ipt_family family, const struct ipt_addr *a);
void ipt_print_bits(FILE *f, const struct ipt_name *names, uint32_t bits);
void ipt_print_iface(FILE *f, const struct ipt_iface *i);
/* ICMP types by name; a name of a whole type stands for code 0. NULL: no name. */
bool ipt_icmp_type(bool v6, const char *name, uint8_t *type, uint8_t *code);
const char *ipt_icmp_name(bool v6, uint8_t type, uint8_t code);

const char *ipt_proto_name(uint16_t proto); /* NULL if it has none */
bool ipt_service_port(const char *name, uint16_t proto, uint16_t *port);

/* Addresses. */
int ipt_mask_len(enum ipt_family family, const struct ipt_addr *mask); /* -1: not contiguous */
void ipt_mask_of(enum ipt_family family, unsigned int len, struct ipt_addr *mask);
bool ipt_addr_zero(const struct ipt_addr *a);
static inline unsigned int ipt_addr_bits(enum ipt_family family)
{
	return family == IPT_V4 ? 32 : 128;
}
