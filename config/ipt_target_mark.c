/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_target_mark.c - MARK, CONNMARK, CLASSIFY, HMARK */
#include "classifier/ipt_target.h"
#include "config/ipt_list.h"

#include <string.h>

/*
 * All ways to write a mark end in one form, mark = (mark AND NOT mask) XOR value:
 * set v/m: v, m OR v; and b: 0, NOT b; or b: b, b; xor b: b, 0. Each is an option of its own only
 * while the rule is read, so that two of them are refused.
 */
enum {
	WAY_SET = 1u << 27,
	WAY_AND = 1u << 28,
	WAY_OR = 1u << 29,
	WAY_XOR = 1u << 30,
	WAYS = WAY_SET | WAY_AND | WAY_OR | WAY_XOR,
};
_Static_assert((int)IPT_MARK_SET_XMARK == (int)IPT_CONNMARK_SET_XMARK, "one parser serves both");

static int parse_way(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_mark *m = ipt_field(in, o);
	uint64_t value, mask;

	(void)inv;
	if (o->bit == WAY_SET) {
		if (ipt_parse_value_mask(cx, o, arg, UINT32_MAX, &value, &mask) < 0)
			return -EINVAL;
		*m = (struct ipt_mark){ value, mask | value };
	} else {
		if (!ipt_number(arg, NULL, &value, 0, UINT32_MAX))
			return ipt_fail(cx, "--%s %s: a number 0-0xffffffff was expected", o->name,
					arg);
		if (o->bit == WAY_AND)
			*m = (struct ipt_mark){ 0, ~(uint32_t)value };
		else
			*m = (struct ipt_mark){ value, o->bit == WAY_OR ? value : 0 };
	}
	in->set = (in->set & ~WAYS) | IPT_MARK_SET_XMARK;
	return 0;
}

static int parse_xmark(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	return ipt_t_mark.parse(cx, in, o, arg, inv);
}

static void print_xmark(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_mark *m = ipt_cfield(v, o);

	fprintf(f, " 0x%x/0x%x", m->value, m->mask);
}

static const struct ipt_type t_xmark = { .parse = parse_xmark, .print = print_xmark };
static const struct ipt_type t_way = { .parse = parse_way };

#define WAY(name, bit, more)                       \
	IPT_OPT(name, &t_way, bit, IPT_O_QUIET, 0, \
			.excl = (WAYS & ~(bit)) | IPT_MARK_SET_XMARK | (more))

static const struct ipt_opt mark_opts[] = {
	IPT_OPT("set-xmark", &t_xmark, IPT_MARK_SET_XMARK, .excl = WAYS),
	WAY("set-mark", WAY_SET, 0),
	WAY("and-mark", WAY_AND, 0),
	WAY("or-mark", WAY_OR, 0),
	WAY("xor-mark", WAY_XOR, 0),
	{ 0 },
};
_Static_assert(offsetof(struct ipt_t_mark, xmark) == 0, "the rows above say 0");
_Static_assert(offsetof(struct ipt_t_connmark, xmark) == 0, "the rows above and below say 0");

const struct ipt_ext ipt_target_mark = {
	.name = "MARK",
	.kind = IPT_T_MARK,
	.families = IPT_F46,
	.size = sizeof(struct ipt_t_mark),
	.opts = mark_opts,
	.one_of = IPT_MARK_SET_XMARK,
};

/* ---- CONNMARK ---- */

#define COPY (IPT_CONNMARK_SAVE | IPT_CONNMARK_RESTORE)
#define MASK_BOTH (1u << 26) /* --mask: for both sides; only while the rule is read */

static int parse_mask_both(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_t_connmark *m = in->data;

	if (ipt_t_u32.parse(cx, in, o, arg, inv) < 0)
		return -EINVAL;
	m->xmark.mask = m->nfmask;
	in->set &= ~MASK_BOTH;
	in->set |= IPT_CONNMARK_NFMASK | IPT_CONNMARK_CTMASK;
	return 0;
}

static int parse_copy_mask(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	return ipt_t_u32.parse(cx, in, o, arg, inv);
}

static void print_copy_mask(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	fprintf(f, " 0x%x", *(const uint32_t *)ipt_cfield(v, o));
}

static int connmark_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const uint32_t masks = IPT_CONNMARK_NFMASK | IPT_CONNMARK_CTMASK;
	struct ipt_t_connmark *m = in->data;

	if (!(in->set & COPY)) {
		if (in->set & masks)
			return ipt_fail(cx,
					"CONNMARK: masks go with --save-mark or --restore-mark");
		return 0;
	}
	if (!(in->set & IPT_CONNMARK_NFMASK))
		m->nfmask = UINT32_MAX;
	if (!(in->set & IPT_CONNMARK_CTMASK))
		m->xmark.mask = UINT32_MAX;
	in->set |= masks;
	return 0;
}

static const struct ipt_type t_copy_mask = { .parse = parse_copy_mask, .print = print_copy_mask };
static const struct ipt_type t_mask_both = { .parse = parse_mask_both };

#define CM(field) offsetof(struct ipt_t_connmark, field)
static const struct ipt_opt connmark_opts[] = {
	IPT_OPT("set-xmark", &t_xmark, IPT_CONNMARK_SET_XMARK, .excl = WAYS | COPY),
	WAY("set-mark", WAY_SET, COPY),
	WAY("and-mark", WAY_AND, COPY),
	WAY("or-mark", WAY_OR, COPY),
	WAY("xor-mark", WAY_XOR, COPY),
	IPT_OPT("save-mark", &ipt_t_flag, IPT_CONNMARK_SAVE,
			.excl = IPT_CONNMARK_RESTORE | IPT_CONNMARK_SET_XMARK | WAYS),
	IPT_OPT("restore-mark", &ipt_t_flag, IPT_CONNMARK_RESTORE,
			.excl = IPT_CONNMARK_SAVE | IPT_CONNMARK_SET_XMARK | WAYS),
	IPT_OPT("nfmask", &t_copy_mask, IPT_CONNMARK_NFMASK, 0, CM(nfmask), .excl = MASK_BOTH),
	IPT_OPT("ctmask", &t_copy_mask, IPT_CONNMARK_CTMASK, 0, CM(xmark.mask), .excl = MASK_BOTH),
	IPT_OPT("mask", &t_mask_both, MASK_BOTH, IPT_O_QUIET, CM(nfmask),
			.excl = IPT_CONNMARK_NFMASK | IPT_CONNMARK_CTMASK),
	IPT_OPT("left-shift-mark", &ipt_t_u8, IPT_CONNMARK_LEFT, 0, CM(shift_bits), 0, 31,
			.excl = IPT_CONNMARK_RIGHT),
	IPT_OPT("right-shift-mark", &ipt_t_u8, IPT_CONNMARK_RIGHT, 0, CM(shift_bits), 0, 31,
			.excl = IPT_CONNMARK_LEFT),
	{ 0 },
};

const struct ipt_ext ipt_target_connmark = {
	.name = "CONNMARK",
	.kind = IPT_T_CONNMARK,
	.families = IPT_F46,
	.size = sizeof(struct ipt_t_connmark),
	.opts = connmark_opts,
	.one_of = IPT_CONNMARK_SET_XMARK | COPY,
	.finish = connmark_finish,
};

/* ---- CLASSIFY ---- */

static int parse_class(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	unsigned int major, minor;
	int end = -1;

	(void)inv;
	if (sscanf(arg, "%4x:%4x%n", &major, &minor, &end) != 2 || arg[end] != '\0'
			|| strspn(arg, "0123456789abcdefABCDEF:") != strlen(arg))
		return ipt_fail(cx,
				"--%s %s: major:minor, both hexadecimal up to ffff, was expected",
				o->name, arg);
	*(uint32_t *)ipt_field(in, o) = major << 16 | minor;
	return 0;
}

static void print_class(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	uint32_t p = *(const uint32_t *)ipt_cfield(v, o);

	fprintf(f, " %04x:%04x", p >> 16, p & 0xffff);
}

static const struct ipt_type t_class = { .parse = parse_class, .print = print_class };

static const struct ipt_opt classify_opts[] = {
	IPT_OPT("set-class", &t_class, IPT_CLASSIFY_CLASS, 0,
			offsetof(struct ipt_t_classify, priority)),
	{ 0 },
};

const struct ipt_ext ipt_target_classify = {
	.name = "CLASSIFY",
	.kind = IPT_T_CLASSIFY,
	.families = IPT_F46,
	.hooks = (1 << IPT_OUTPUT) | (1 << IPT_FORWARD) | (1 << IPT_POSTROUTING),
	.size = sizeof(struct ipt_t_classify),
	.opts = classify_opts,
	.need = IPT_CLASSIFY_CLASS,
};

/* ---- HMARK ---- */

/* the words of --hmark-tuple in the order in which a beginning is tried */
static const struct ipt_name tuple_words[] = {
	{ "ct", IPT_HMARK_CT },
	{ "src", IPT_HMARK_SRC_PREFIX },
	{ "dst", IPT_HMARK_DST_PREFIX },
	{ "sport", IPT_HMARK_SPORT_MASK },
	{ "dport", IPT_HMARK_DPORT_MASK },
	{ "proto", IPT_HMARK_PROTO_MASK },
	{ "spi", IPT_HMARK_SPI_MASK },
	{ NULL, 0 },
};

static int tuple_word(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *s, size_t len)
{
	struct ipt_t_hmark *h = in->data;
	const struct ipt_name *n;

	for (n = tuple_words; n->name != NULL; n++)
		if (len > 0 && strncmp(n->name, s, len) == 0)
			break;
	if (n->name == NULL)
		return ipt_fail(cx,
				"--%s: unknown word \"%.*s\", src dst sport dport proto spi or ct was "
				"expected",
				o->name, (int)len, s);
	if (n->value != IPT_HMARK_CT && (in->seen & n->value))
		return ipt_fail(cx, "--%s: %s was given before", o->name, n->name);
	in->set |= n->value;
	in->seen |= n->value;
	switch (n->value) {
	case IPT_HMARK_SRC_PREFIX:
		h->src_len = ipt_addr_bits(cx->family);
		break;
	case IPT_HMARK_DST_PREFIX:
		h->dst_len = ipt_addr_bits(cx->family);
		break;
	case IPT_HMARK_SPORT_MASK:
		h->sport_mask = UINT16_MAX;
		break;
	case IPT_HMARK_DPORT_MASK:
		h->dport_mask = UINT16_MAX;
		break;
	case IPT_HMARK_PROTO_MASK:
		h->proto_mask = UINT16_MAX;
		break;
	case IPT_HMARK_SPI_MASK:
		h->spi_mask = UINT32_MAX;
		break;
	}
	return 0;
}

static int parse_tuple(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	size_t len;

	(void)inv;
	in->set &= ~IPT_HMARK_CT; /* unless the word is there */
	for (;;) {
		len = strcspn(arg, ",");
		if (tuple_word(cx, in, o, arg, len) < 0)
			return -EINVAL;
		if (arg[len] == '\0')
			return 0;
		arg += len + 1;
	}
}

static void print_tuple(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	(void)v, (void)o;
	fputs(" ct", f);
}

static int hmark_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const uint32_t what = IPT_HMARK_SRC_PREFIX | IPT_HMARK_DST_PREFIX | IPT_HMARK_SPORT_MASK
			| IPT_HMARK_DPORT_MASK | IPT_HMARK_SPI_MASK | IPT_HMARK_SPORT
			| IPT_HMARK_DPORT | IPT_HMARK_SPI | IPT_HMARK_PROTO_MASK | IPT_HMARK_CT;

	if (!(in->set & what))
		return ipt_fail(cx, "HMARK: --hmark-tuple was expected");
	if ((in->set & IPT_HMARK_SPI_MASK)
			&& (in->set & (IPT_HMARK_SPORT_MASK | IPT_HMARK_DPORT_MASK)))
		return ipt_fail(cx, "HMARK: the SPI and ports exclude each other");
	if ((in->set & IPT_HMARK_SPI) && (in->set & (IPT_HMARK_SPORT | IPT_HMARK_DPORT)))
		return ipt_fail(cx,
				"HMARK: --hmark-spi and --hmark-sport, --hmark-dport exclude each other");
	return 0;
}

static const struct ipt_type t_tuple = { .parse = parse_tuple, .print = print_tuple };

#define HM(field) offsetof(struct ipt_t_hmark, field)
static const struct ipt_opt hmark_opts[] = {
	IPT_OPT("hmark-src-prefix", &ipt_t_prefix, IPT_HMARK_SRC_PREFIX, 0, HM(src_len)),
	IPT_OPT("hmark-dst-prefix", &ipt_t_prefix, IPT_HMARK_DST_PREFIX, 0, HM(dst_len)),
	IPT_OPT("hmark-sport-mask", &ipt_t_x16, IPT_HMARK_SPORT_MASK, 0, HM(sport_mask)),
	IPT_OPT("hmark-dport-mask", &ipt_t_x16, IPT_HMARK_DPORT_MASK, 0, HM(dport_mask)),
	IPT_OPT("hmark-spi-mask", &ipt_t_x32, IPT_HMARK_SPI_MASK, 0, HM(spi_mask)),
	IPT_OPT("hmark-sport", &ipt_t_x16, IPT_HMARK_SPORT, 0, HM(sport)),
	IPT_OPT("hmark-dport", &ipt_t_x16, IPT_HMARK_DPORT, 0, HM(dport)),
	IPT_OPT("hmark-spi", &ipt_t_x32, IPT_HMARK_SPI, 0, HM(spi)),
	IPT_OPT("hmark-proto-mask", &ipt_t_x16short, IPT_HMARK_PROTO_MASK, 0, HM(proto_mask)),
	IPT_OPT("hmark-rnd", &ipt_t_x32, IPT_HMARK_RND, 0, HM(rnd)),
	IPT_OPT("hmark-mod", &ipt_t_u32, IPT_HMARK_MOD, 0, HM(mod), 1),
	IPT_OPT("hmark-offset", &ipt_t_u32, IPT_HMARK_OFFSET, 0, HM(offset)),
	IPT_OPT("hmark-tuple", &t_tuple, IPT_HMARK_CT),
	{ 0 },
};

const struct ipt_ext ipt_target_hmark = {
	.name = "HMARK",
	.kind = IPT_T_HMARK,
	.families = IPT_F46,
	.size = sizeof(struct ipt_t_hmark),
	.opts = hmark_opts,
	.need = IPT_HMARK_RND | IPT_HMARK_MOD,
	.finish = hmark_finish,
};
