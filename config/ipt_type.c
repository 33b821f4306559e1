/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_type.c - the kinds of arguments that several extensions use */
#include "config/ipt_arena.h"
#include "config/ipt_ext.h"

#include <inttypes.h>
#include <string.h>

static int parse_flag(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	(void)cx, (void)in, (void)o, (void)arg, (void)inv;
	return 0;
}

const struct ipt_type ipt_t_flag = { .no_arg = true, .parse = parse_flag };

static int number(struct ipt_ctx *cx, const struct ipt_opt *o, const char *arg, uint64_t limit,
		uint64_t *v)
{
	uint64_t max = o->max > 0 ? o->max : limit;

	if (ipt_number(arg, NULL, v, o->min, max))
		return 0;
	return ipt_fail(cx, "--%s %s: a number %" PRIu64 "-%" PRIu64 " was expected", o->name, arg,
			o->min, max);
}

/* X(name, C type, largest, printf format) */
#define NUMBERS(X)                                         \
	X(u8, uint8_t, UINT8_MAX, " %" PRIu8)              \
	X(u16, uint16_t, UINT16_MAX, " %" PRIu16)          \
	X(u32, uint32_t, UINT32_MAX, " %" PRIu32)          \
	X(u64, uint64_t, UINT64_MAX, " %" PRIu64)          \
	X(x8, uint8_t, UINT8_MAX, " 0x%02" PRIx8)          \
	X(x16, uint16_t, UINT16_MAX, " 0x%04" PRIx16)      \
	X(x16short, uint16_t, UINT16_MAX, " 0x%02" PRIx16) \
	X(x32, uint32_t, UINT32_MAX, " 0x%08" PRIx32)

#define X(name, ctype, largest, fmt)                                                              \
	static int parse_##name(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o, \
			const char *arg, bool inv)                                                \
	{                                                                                         \
		uint64_t v;                                                                       \
		(void)inv;                                                                        \
		if (number(cx, o, arg, largest, &v) < 0)                                          \
			return -EINVAL;                                                           \
		*(ctype *)ipt_field(in, o) = v;                                                   \
		return 0;                                                                         \
	}                                                                                         \
	static void print_##name(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)      \
	{                                                                                         \
		fprintf(f, fmt, *(const ctype *)ipt_cfield(v, o));                                \
	}                                                                                         \
	const struct ipt_type ipt_t_##name = { .parse = parse_##name, .print = print_##name };
NUMBERS(X)
#undef X

/* One end of a range; an empty one is the end of the world. */
static bool range_end(const char **s, char stop, uint64_t fallback, uint64_t max, uint64_t *v)
{
	if (**s == stop) {
		*v = fallback;
		return true;
	}
	return ipt_number(*s, s, v, 0, max) && (**s == stop || **s == '\0');
}

/* a, a:b, a:, :b. May be upside down: then nothing is inside. */
static int parse_range(struct ipt_ctx *cx, const struct ipt_opt *o, const char *arg, uint64_t limit,
		uint64_t *lo, uint64_t *hi)
{
	uint64_t max = o->max > 0 ? o->max : limit;
	const char *s = arg;

	if (*s == '\0' || !range_end(&s, ':', 0, max, lo))
		goto bad;
	*hi = *lo;
	if (*s == ':') {
		s++;
		if (!range_end(&s, '\0', max, max, hi) || *s != '\0')
			goto bad;
	}
	return 0;
bad:
	return ipt_fail(cx, "--%s %s: a number or range a:b within 0-%" PRIu64 " was expected",
			o->name, arg, max);
}

static int parse_range16(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_range16 *r = ipt_field(in, o);
	uint64_t lo, hi;

	(void)inv;
	if (parse_range(cx, o, arg, UINT16_MAX, &lo, &hi) < 0)
		return -EINVAL;
	*r = (struct ipt_range16){ lo, hi };
	return 0;
}

static int parse_range32(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_range32 *r = ipt_field(in, o);
	uint64_t lo, hi;

	(void)inv;
	if (parse_range(cx, o, arg, UINT32_MAX, &lo, &hi) < 0)
		return -EINVAL;
	*r = (struct ipt_range32){ lo, hi };
	return 0;
}

static void print_range(FILE *f, uint32_t lo, uint32_t hi)
{
	if (lo == hi)
		fprintf(f, " %" PRIu32, lo);
	else
		fprintf(f, " %" PRIu32 ":%" PRIu32, lo, hi);
}

static void print_range16(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_range16 *r = ipt_cfield(v, o);

	print_range(f, r->lo, r->hi);
}

static void print_range32(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_range32 *r = ipt_cfield(v, o);

	print_range(f, r->lo, r->hi);
}

const struct ipt_type ipt_t_range16 = { .parse = parse_range16, .print = print_range16 };
const struct ipt_type ipt_t_range32 = { .parse = parse_range32, .print = print_range32 };

static int parse_mark(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_mark *m = ipt_field(in, o);
	uint64_t value, mask;

	(void)inv;
	if (ipt_parse_value_mask(cx, o, arg, UINT32_MAX, &value, &mask) < 0)
		return -EINVAL;
	*m = (struct ipt_mark){ value, mask };
	return 0;
}

static void print_mark(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_mark *m = ipt_cfield(v, o);

	fprintf(f, " 0x%x", m->value);
	if (m->mask != UINT32_MAX)
		fprintf(f, "/0x%x", m->mask);
}

const struct ipt_type ipt_t_mark = { .parse = parse_mark, .print = print_mark };

static int parse_string(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	const char **s = ipt_field(in, o);
	size_t len = strlen(arg);

	(void)inv;
	if (len < o->min)
		return ipt_fail(cx, "--%s: empty, a string was expected", o->name);
	if (o->max > 0 && len > o->max)
		len = o->max; /* iptables cuts what is too long and says nothing */
	*s = ipt_arena_strndup(cx->arena, arg, len);
	return *s != NULL ? 0 : -ENOMEM;
}

static void print_string(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	ipt_print_string(f, *(const char *const *)ipt_cfield(v, o));
}

static void print_name(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	fprintf(f, " %s", *(const char *const *)ipt_cfield(v, o));
}

const struct ipt_type ipt_t_string = { .parse = parse_string, .print = print_string };
const struct ipt_type ipt_t_name = { .parse = parse_string, .print = print_name };

static int parse_any_ports(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_range16 *r = ipt_field(in, o);
	const char *colon = strchr(arg, ':');
	char lo[64];

	(void)inv;
	if (colon == NULL) {
		if (ipt_parse_port(cx, arg, &r->lo) < 0)
			return -EINVAL;
		r->hi = r->lo;
		return 0;
	}
	if ((size_t)(colon - arg) >= sizeof(lo))
		return ipt_fail(cx, "--%s: port name too long", o->name);
	memcpy(lo, arg, colon - arg);
	lo[colon - arg] = '\0';
	*r = (struct ipt_range16){ 0, UINT16_MAX };
	if (lo[0] != '\0' && ipt_parse_port(cx, lo, &r->lo) < 0)
		return -EINVAL;
	if (colon[1] != '\0' && ipt_parse_port(cx, colon + 1, &r->hi) < 0)
		return -EINVAL;
	return 0;
}

static int parse_ports(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	const struct ipt_range16 *r = ipt_field(in, o);

	if (parse_any_ports(cx, in, o, arg, inv) < 0)
		return -EINVAL;
	return r->lo <= r->hi
			? 0
			: ipt_fail(cx, "--%s %s: the first port is above the second", o->name, arg);
}

const struct ipt_type ipt_t_any_ports = { .parse = parse_any_ports, .print = print_range16 };
const struct ipt_type ipt_t_ports = { .parse = parse_ports, .print = print_range16 };

static int parse_addr(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	(void)inv;
	return ipt_parse_host(cx, arg, ipt_field(in, o));
}

static void print_addr(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	fputc(' ', f);
	ipt_print_addr(f, v->family, ipt_cfield(v, o));
}

const struct ipt_type ipt_t_addr = { .parse = parse_addr, .print = print_addr };

static int parse_prefix(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_addr mask;
	int len;

	(void)inv;
	if (ipt_parse_mask(cx, arg, &mask) < 0)
		return -EINVAL;
	len = ipt_mask_len(cx->family, &mask);
	if (len < 0)
		return ipt_fail(cx, "--%s %s: a mask without holes was expected", o->name, arg);
	*(uint8_t *)ipt_field(in, o) = len;
	return 0;
}

const struct ipt_type ipt_t_prefix = { .parse = parse_prefix, .print = print_u8 };

static int parse_iface(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	(void)inv;
	return ipt_parse_iface(cx, arg, ipt_field(in, o));
}

static void print_iface(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	fputc(' ', f);
	ipt_print_iface(f, ipt_cfield(v, o));
}

const struct ipt_type ipt_t_iface = { .parse = parse_iface, .print = print_iface };
