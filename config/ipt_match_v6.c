/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_v6.c - IPv6 extension headers: hbh dst rt frag ipv6header, and eui64 */
#include "classifier/ipt_match_v6.h"

#include "config/ipt_list.h"

#include <string.h>

static int opts_word(
		struct ipt_ctx *cx, const struct ipt_opt *o, struct ipt_m_opts *m, const char *word)
{
	const char *end;
	uint64_t type, len = UINT8_MAX;

	if (m->n == IPT_OPTS_MAX)
		return ipt_fail(cx, "--%s: more than %d options", o->name, IPT_OPTS_MAX);
	if (!ipt_number(word, &end, &type, 0, UINT8_MAX) || (*end != '\0' && *end != ':')
			|| (*end == ':' && !ipt_number(end + 1, NULL, &len, 0, UINT8_MAX)))
		return ipt_fail(cx, "--%s: type[:length] was expected, found \"%s\"", o->name,
				word);
	if (type == 0 && *end == ':')
		return ipt_fail(cx, "--%s %s: option 0 is one byte and has no length", o->name,
				word);
	m->opts[m->n].type = type;
	m->opts[m->n].any_len = len == UINT8_MAX;
	m->opts[m->n].len = len == UINT8_MAX ? 0 : len;
	m->n++;
	return 0;
}

static int parse_opts(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	char copy[IPT_ARG_MAX + 1], *next = copy, *word;

	(void)inv;
	strcpy(copy, arg); /* no word is longer than IPT_ARG_MAX */
	while ((word = strsep(&next, ",")) != NULL)
		if (opts_word(cx, o, in->data, word) < 0)
			return -EINVAL;
	return 0;
}

static void print_opts(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_opts *m = v->data;

	(void)o;
	for (int i = 0; i < m->n; i++) {
		fprintf(f, "%c%u", i == 0 ? ' ' : ',', m->opts[i].type);
		if (!m->opts[i].any_len)
			fprintf(f, ":%u", m->opts[i].len);
	}
}

static const struct ipt_type t_opts = { .parse = parse_opts, .print = print_opts };

static const struct ipt_opt hbh_opts[] = {
	IPT_OPT("hbh-len", &ipt_t_u32, IPT_OPTS_LEN, IPT_O_INV,
			offsetof(struct ipt_m_opts, len_bytes)),
	IPT_OPT("hbh-opts", &t_opts, IPT_OPTS_OPTS),
	{ 0 },
};

const struct ipt_ext ipt_match_hbh = {
	.name = "hbh",
	.kind = IPT_M_HBH,
	.families = IPT_F6,
	.size = sizeof(struct ipt_m_opts),
	.opts = hbh_opts,
};

static const struct ipt_opt dst_opts[] = {
	IPT_OPT("dst-len", &ipt_t_u32, IPT_OPTS_LEN, IPT_O_INV,
			offsetof(struct ipt_m_opts, len_bytes)),
	IPT_OPT("dst-opts", &t_opts, IPT_OPTS_OPTS),
	{ 0 },
};

const struct ipt_ext ipt_match_dst = {
	.name = "dst",
	.kind = IPT_M_DST,
	.families = IPT_F6,
	.size = sizeof(struct ipt_m_opts),
	.opts = dst_opts,
};

/* ---- rt ---- */

static int parse_rt_addrs(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_rt *m = in->data;
	char copy[IPT_ARG_MAX + 1], *next = copy, *word;

	(void)inv;
	strcpy(copy, arg); /* no word is longer than IPT_ARG_MAX */
	while ((word = strsep(&next, ",")) != NULL) {
		if (m->n == IPT_RT_MAX)
			return ipt_fail(cx, "--%s: more than %d addresses", o->name, IPT_RT_MAX);
		if (ipt_parse_addr(cx, word, &m->addrs[m->n]) < 0)
			return -EINVAL;
		m->n++;
	}
	return 0;
}

static void print_rt_addrs(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_rt *m = v->data;

	(void)o;
	for (int i = 0; i < m->n; i++) {
		fputc(i == 0 ? ' ' : ',', f);
		ipt_print_addr(f, v->family, &m->addrs[i]);
	}
}

/* A range of all numbers is no test; inverted it never matches, and that has to stay. */
static void drop_if_all(struct ipt_inst *in, uint32_t bit, const struct ipt_range32 *r)
{
	if (r->lo == 0 && r->hi == UINT32_MAX && !(in->inv & bit))
		in->set &= ~bit;
}

static int rt_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const uint32_t type0 = IPT_RT_0_RES | IPT_RT_0_ADDRS | IPT_RT_0_NOT_STRICT;
	const struct ipt_m_rt *m = in->data;

	if ((in->set & type0)
			&& (!(in->set & IPT_RT_TYPE) || (in->inv & IPT_RT_TYPE) || m->type != 0))
		return ipt_fail(cx, "match \"rt\": --rt-0-... need --rt-type 0");
	drop_if_all(in, IPT_RT_SEGSLEFT, &m->segsleft);
	return 0;
}

static const struct ipt_type t_rt_addrs = { .parse = parse_rt_addrs, .print = print_rt_addrs };

#define RT(field) offsetof(struct ipt_m_rt, field)
static const struct ipt_opt rt_opts[] = {
	IPT_OPT("rt-type", &ipt_t_u32, IPT_RT_TYPE, IPT_O_INV, RT(type)),
	IPT_OPT("rt-segsleft", &ipt_t_range32, IPT_RT_SEGSLEFT, IPT_O_INV, RT(segsleft)),
	IPT_OPT("rt-len", &ipt_t_u32, IPT_RT_LEN, IPT_O_INV, RT(len_bytes)),
	IPT_OPT("rt-0-res", &ipt_t_flag, IPT_RT_0_RES),
	IPT_OPT("rt-0-addrs", &t_rt_addrs, IPT_RT_0_ADDRS),
	IPT_OPT("rt-0-not-strict", &ipt_t_flag, IPT_RT_0_NOT_STRICT, .also = IPT_RT_0_ADDRS),
	{ 0 },
};

const struct ipt_ext ipt_match_rt = {
	.name = "rt",
	.kind = IPT_M_RT,
	.families = IPT_F6,
	.size = sizeof(struct ipt_m_rt),
	.opts = rt_opts,
	.finish = rt_finish,
};

/* ---- frag ---- */

static int frag_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_m_frag *m = in->data;

	(void)cx;
	drop_if_all(in, IPT_FRAG_ID, &m->id);
	return 0;
}

#define FRAG(field) offsetof(struct ipt_m_frag, field)
static const struct ipt_opt frag_opts[] = {
	IPT_OPT("fragid", &ipt_t_range32, IPT_FRAG_ID, IPT_O_INV, FRAG(id)),
	IPT_OPT("fraglen", &ipt_t_u32, IPT_FRAG_LEN, IPT_O_INV, FRAG(len_bytes)),
	IPT_OPT("fragres", &ipt_t_flag, IPT_FRAG_RES),
	IPT_OPT("fragfirst", &ipt_t_flag, IPT_FRAG_FIRST),
	IPT_OPT("fragmore", &ipt_t_flag, IPT_FRAG_MORE, .excl = IPT_FRAG_LAST),
	IPT_OPT("fraglast", &ipt_t_flag, IPT_FRAG_LAST, .excl = IPT_FRAG_MORE),
	{ 0 },
};

const struct ipt_ext ipt_match_frag = {
	.name = "frag",
	.kind = IPT_M_FRAG,
	.families = IPT_F6,
	.size = sizeof(struct ipt_m_frag),
	.opts = frag_opts,
	.finish = frag_finish,
};

/* ---- ipv6header ---- */

/* the names that are printed come first for each bit */
static const struct ipt_name headers[] = {
	{ "hop-by-hop", IPT_HDR_HOP },
	{ "ipv6-opts", IPT_HDR_DST },
	{ "ipv6-route", IPT_HDR_ROUTE },
	{ "ipv6-frag", IPT_HDR_FRAG },
	{ "ah", IPT_HDR_AH },
	{ "esp", IPT_HDR_ESP },
	{ "ipv6-nonxt", IPT_HDR_NONE },
	{ "protocol", IPT_HDR_PROTO },
	{ "hop", IPT_HDR_HOP },
	{ "dst", IPT_HDR_DST },
	{ "route", IPT_HDR_ROUTE },
	{ "frag", IPT_HDR_FRAG },
	{ "auth", IPT_HDR_AH },
	{ "none", IPT_HDR_NONE },
	{ "prot", IPT_HDR_PROTO },
	{ "0", IPT_HDR_HOP },
	{ "60", IPT_HDR_DST },
	{ "43", IPT_HDR_ROUTE },
	{ "44", IPT_HDR_FRAG },
	{ "51", IPT_HDR_AH },
	{ "50", IPT_HDR_ESP },
	{ "59", IPT_HDR_NONE },
	{ "255", IPT_HDR_PROTO },
	{ NULL, 0 },
};

static int parse_headers(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_ipv6header *m = in->data;
	uint32_t bits;

	(void)inv;
	if (ipt_parse_bits(cx, o, arg, headers, &bits) < 0)
		return -EINVAL;
	m->headers = bits;
	return 0;
}

static void print_headers(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_ipv6header *m = v->data;

	(void)o;
	ipt_print_bits(f, headers, m->headers);
}

static const struct ipt_type t_headers = { .parse = parse_headers, .print = print_headers };

static const struct ipt_opt ipv6header_opts[] = {
	IPT_OPT("header", &t_headers, IPT_IPV6HEADER_HEADER, IPT_O_INV),
	IPT_OPT("soft", &ipt_t_flag, IPT_IPV6HEADER_SOFT),
	{ 0 },
};

const struct ipt_ext ipt_match_ipv6header = {
	.name = "ipv6header",
	.kind = IPT_M_IPV6HEADER,
	.families = IPT_F6,
	.size = sizeof(struct ipt_m_ipv6header),
	.opts = ipv6header_opts,
	.need = IPT_IPV6HEADER_HEADER,
};

const struct ipt_ext ipt_match_eui64 = {
	.name = "eui64",
	.kind = IPT_M_EUI64,
	.families = IPT_F6,
	.hooks = (1 << IPT_PREROUTING) | (1 << IPT_INPUT) | (1 << IPT_FORWARD),
};
