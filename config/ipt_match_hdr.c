/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_hdr.c - one field of a header or of the packet: length ttl hl tos dscp ecn tcpmss marks */
#include "config/ipt_hdr.h"
#include "config/ipt_list.h"

#include <netinet/in.h>
#include <string.h>

static const struct ipt_opt length_opts[] = {
	IPT_OPT("length", &ipt_t_range16, IPT_LENGTH_LENGTH, IPT_O_INV,
			offsetof(struct ipt_m_length, bytes)),
	{ 0 },
};

const struct ipt_ext ipt_match_length = {
	.name = "length",
	.kind = IPT_M_LENGTH,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_length),
	.opts = length_opts,
	.need = IPT_LENGTH_LENGTH,
};

/* ---- ttl, hl ---- */

#define TTL_ALL (IPT_TTL_EQ | IPT_TTL_LT | IPT_TTL_GT)
#define TTL(name, bit, flags)                                                 \
	IPT_OPT(name, &ipt_t_u8, bit, flags, offsetof(struct ipt_m_ttl, ttl), \
			.excl = TTL_ALL & ~(bit))

static const struct ipt_opt ttl_opts[] = {
	TTL("ttl-eq", IPT_TTL_EQ, IPT_O_INV),
	TTL("ttl-lt", IPT_TTL_LT, 0),
	TTL("ttl-gt", IPT_TTL_GT, 0),
	TTL("ttl", IPT_TTL_EQ, IPT_O_INV | IPT_O_QUIET),
	{ 0 },
};

const struct ipt_ext ipt_match_ttl = {
	.name = "ttl",
	.kind = IPT_M_TTL,
	.families = IPT_F4,
	.size = sizeof(struct ipt_m_ttl),
	.opts = ttl_opts,
	.one_of = TTL_ALL,
};

static const struct ipt_opt hl_opts[] = {
	TTL("hl-eq", IPT_TTL_EQ, IPT_O_INV),
	TTL("hl-lt", IPT_TTL_LT, 0),
	TTL("hl-gt", IPT_TTL_GT, 0),
	TTL("hl", IPT_TTL_EQ, IPT_O_INV | IPT_O_QUIET),
	{ 0 },
};

const struct ipt_ext ipt_match_hl = {
	.name = "hl",
	.kind = IPT_M_HL,
	.families = IPT_F6,
	.size = sizeof(struct ipt_m_ttl),
	.opts = hl_opts,
	.one_of = TTL_ALL,
};

/* ---- tos ---- */

static const struct ipt_name tos_names[] = {
	{ "Minimize-Delay", 0x10 },
	{ "Maximize-Throughput", 0x08 },
	{ "Maximize-Reliability", 0x04 },
	{ "Minimize-Cost", 0x02 },
	{ "Normal-Service", 0x00 },
	{ NULL, 0 },
};

int ipt_parse_tos(struct ipt_ctx *cx, const struct ipt_opt *o, const char *arg, uint8_t *value,
		uint8_t *mask)
{
	const struct ipt_name *n = ipt_name_find(tos_names, arg, true);
	uint64_t v, m;

	if (n != NULL) {
		*value = n->value;
		*mask = 0x3f;
		return 0;
	}
	if (ipt_parse_value_mask(cx, o, arg, UINT8_MAX, &v, &m) < 0)
		return -EINVAL;
	*value = v;
	*mask = m;
	return 0;
}

static int parse_tos(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_tos *m = in->data;

	(void)inv;
	return ipt_parse_tos(cx, o, arg, &m->value, &m->mask);
}

static void print_tos(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_tos *m = v->data;

	(void)o;
	fprintf(f, " 0x%02x/0x%02x", m->value, m->mask);
}

static const struct ipt_type t_tos = { .parse = parse_tos, .print = print_tos };

static const struct ipt_opt tos_opts[] = { IPT_OPT("tos", &t_tos, IPT_TOS_TOS, IPT_O_INV), { 0 } };

const struct ipt_ext ipt_match_tos = {
	.name = "tos",
	.kind = IPT_M_TOS,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_tos),
	.opts = tos_opts,
	.need = IPT_TOS_TOS,
};

/* ---- dscp ---- */

static const struct ipt_name dscp_classes[] = {
	{ "CS0", 0x00 },
	{ "CS1", 0x08 },
	{ "CS2", 0x10 },
	{ "CS3", 0x18 },
	{ "CS4", 0x20 },
	{ "CS5", 0x28 },
	{ "CS6", 0x30 },
	{ "CS7", 0x38 },
	{ "BE", 0x00 },
	{ "AF11", 0x0a },
	{ "AF12", 0x0c },
	{ "AF13", 0x0e },
	{ "AF21", 0x12 },
	{ "AF22", 0x14 },
	{ "AF23", 0x16 },
	{ "AF31", 0x1a },
	{ "AF32", 0x1c },
	{ "AF33", 0x1e },
	{ "AF41", 0x22 },
	{ "AF42", 0x24 },
	{ "AF43", 0x26 },
	{ "EF", 0x2e },
	{ NULL, 0 },
};

static int parse_class(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	const struct ipt_name *n = ipt_name_find(dscp_classes, arg, true);

	(void)inv;
	if (n == NULL)
		return ipt_fail(cx, "--%s %s: a class BE, EF, AFxx or CSx was expected", o->name,
				arg);
	*(uint8_t *)ipt_field(in, o) = n->value;
	return 0;
}

const struct ipt_type ipt_t_dscp_class = { .parse = parse_class };

static const struct ipt_opt dscp_opts[] = {
	IPT_OPT("dscp", &ipt_t_x8, IPT_DSCP_DSCP, IPT_O_INV, offsetof(struct ipt_m_dscp, dscp), 0,
			63),
	IPT_OPT("dscp-class", &ipt_t_dscp_class, IPT_DSCP_DSCP, IPT_O_INV | IPT_O_QUIET,
			offsetof(struct ipt_m_dscp, dscp)),
	{ 0 },
};

const struct ipt_ext ipt_match_dscp = {
	.name = "dscp",
	.kind = IPT_M_DSCP,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_dscp),
	.opts = dscp_opts,
	.need = IPT_DSCP_DSCP,
};

/* ---- ecn ---- */

static const char *ecn_check(enum ipt_family family, const struct ipt_rule *rule, uint32_t set,
		const void *data, uint8_t hooks)
{
	(void)family, (void)data, (void)hooks;
	if ((set & (IPT_ECN_TCP_ECE | IPT_ECN_TCP_CWR))
			&& (rule->proto != IPPROTO_TCP || rule->proto_inv))
		return "--ecn-tcp-ece and --ecn-tcp-cwr need -p tcp";
	return NULL;
}

static const struct ipt_opt ecn_opts[] = {
	IPT_OPT("ecn-tcp-ece", &ipt_t_flag, IPT_ECN_TCP_ECE, IPT_O_INV),
	IPT_OPT("ecn-tcp-cwr", &ipt_t_flag, IPT_ECN_TCP_CWR, IPT_O_INV),
	IPT_OPT("ecn-ip-ect", &ipt_t_u8, IPT_ECN_IP_ECT, IPT_O_INV,
			offsetof(struct ipt_m_ecn, ip_ect), 0, 3),
	{ 0 },
};

const struct ipt_ext ipt_match_ecn = {
	.name = "ecn",
	.kind = IPT_M_ECN,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_ecn),
	.opts = ecn_opts,
	.one_of = IPT_ECN_TCP_ECE | IPT_ECN_TCP_CWR | IPT_ECN_IP_ECT,
	.check = ecn_check,
};

/* ---- tcpmss ---- */

static const struct ipt_opt tcpmss_opts[] = {
	IPT_OPT("mss", &ipt_t_range16, IPT_TCPMSS_MSS, IPT_O_INV,
			offsetof(struct ipt_m_tcpmss, mss)),
	{ 0 },
};

static int tcpmss_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_m_tcpmss *m = in->data;

	return m->mss.lo <= m->mss.hi ? 0
				      : ipt_fail(cx, "--mss %u:%u: a rising range was expected",
						      m->mss.lo, m->mss.hi);
}

const struct ipt_ext ipt_match_tcpmss = {
	.name = "tcpmss",
	.kind = IPT_M_TCPMSS,
	.families = IPT_F46,
	.proto = IPPROTO_TCP,
	.size = sizeof(struct ipt_m_tcpmss),
	.opts = tcpmss_opts,
	.need = IPT_TCPMSS_MSS,
	.finish = tcpmss_finish,
};

/* ---- mark, connmark ---- */

static const struct ipt_opt mark_opts[] = {
	IPT_OPT("mark", &ipt_t_mark, IPT_MARK_MARK, IPT_O_INV, offsetof(struct ipt_m_mark, mark)),
	{ 0 },
};

const struct ipt_ext ipt_match_mark = {
	.name = "mark",
	.kind = IPT_M_MARK,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_mark),
	.opts = mark_opts,
	.need = IPT_MARK_MARK,
};

const struct ipt_ext ipt_match_connmark = {
	.name = "connmark",
	.kind = IPT_M_CONNMARK,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_mark),
	.opts = mark_opts,
	.need = IPT_MARK_MARK,
};

/* ---- comment ---- */

static const struct ipt_opt comment_opts[] = {
	IPT_OPT("comment", &ipt_t_string, IPT_COMMENT_COMMENT, 0,
			offsetof(struct ipt_m_comment, text), 0, IPT_COMMENT_LEN - 1),
	{ 0 },
};

const struct ipt_ext ipt_match_comment = {
	.name = "comment",
	.kind = IPT_M_COMMENT,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_comment),
	.opts = comment_opts,
	.need = IPT_COMMENT_COMMENT,
};
