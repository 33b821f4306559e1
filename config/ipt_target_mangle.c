/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_target_mangle.c - what rewrites a header: TOS DSCP ECN TTL HL CHECKSUM TCPMSS TCPOPTSTRIP */
#include "classifier/ipt_target.h"
#include "config/ipt_hdr.h"
#include "config/ipt_list.h"

#include <netinet/in.h>
#include <string.h>

#define MANGLE (1 << IPT_MANGLE)

/* ---- TOS: all ways end in tos = (tos AND NOT mask) XOR value, as with marks ---- */

enum {
	WAY_AND = 1u << 28,
	WAY_OR = 1u << 29,
	WAY_XOR = 1u << 30,
	WAYS = WAY_AND | WAY_OR | WAY_XOR,
};

static int parse_set_tos(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_t_tos *t = in->data;

	(void)inv;
	return ipt_parse_tos(cx, o, arg, &t->value, &t->mask);
}

static int parse_tos_way(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_t_tos *t = in->data;
	uint64_t bits;

	(void)inv;
	if (!ipt_number(arg, NULL, &bits, 0, UINT8_MAX))
		return ipt_fail(cx, "--%s %s: a number 0-255 was expected", o->name, arg);
	t->value = o->bit == WAY_AND ? 0 : bits;
	t->mask = o->bit == WAY_AND ? ~bits : o->bit == WAY_OR ? bits : 0;
	in->set = IPT_TOS_SET;
	return 0;
}

static void print_set_tos(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_t_tos *t = v->data;

	(void)o;
	fprintf(f, " 0x%02x/0x%02x", t->value, t->mask);
}

static const struct ipt_type t_set_tos = { .parse = parse_set_tos, .print = print_set_tos };
static const struct ipt_type t_tos_way = { .parse = parse_tos_way };

#define WAY(name, bit) \
	IPT_OPT(name, &t_tos_way, bit, IPT_O_QUIET, .excl = (WAYS & ~(bit)) | IPT_TOS_SET)
static const struct ipt_opt tos_opts[] = {
	IPT_OPT("set-tos", &t_set_tos, IPT_TOS_SET, .excl = WAYS),
	WAY("and-tos", WAY_AND),
	WAY("or-tos", WAY_OR),
	WAY("xor-tos", WAY_XOR),
	{ 0 },
};

const struct ipt_ext ipt_target_tos = {
	.name = "TOS",
	.kind = IPT_T_TOS,
	.families = IPT_F46,
	.tables = MANGLE,
	.size = sizeof(struct ipt_t_tos),
	.opts = tos_opts,
	.one_of = IPT_TOS_SET,
};

/* ---- DSCP ---- */

static const struct ipt_opt dscp_opts[] = {
	IPT_OPT("set-dscp", &ipt_t_x8, IPT_DSCP_SET, 0, offsetof(struct ipt_t_dscp, dscp), 0, 63),
	IPT_OPT("set-dscp-class", &ipt_t_dscp_class, IPT_DSCP_SET, IPT_O_QUIET,
			offsetof(struct ipt_t_dscp, dscp)),
	{ 0 },
};

const struct ipt_ext ipt_target_dscp = {
	.name = "DSCP",
	.kind = IPT_T_DSCP,
	.families = IPT_F46,
	.tables = MANGLE,
	.size = sizeof(struct ipt_t_dscp),
	.opts = dscp_opts,
	.need = IPT_DSCP_SET,
};

/* ---- ECN ---- */

#define ECN_TCP (IPT_ECNT_TCP_REMOVE | IPT_ECNT_TCP_CWR | IPT_ECNT_TCP_ECE)

static const char *ecn_check(enum ipt_family family, const struct ipt_rule *rule, uint32_t set,
		const void *data, uint8_t hooks)
{
	(void)family, (void)data, (void)hooks;
	if ((set & ECN_TCP) && (rule->proto != IPPROTO_TCP || rule->proto_inv))
		return "--ecn-tcp-... need -p tcp";
	return NULL;
}

#define ECN(field) offsetof(struct ipt_t_ecn, field)
static const struct ipt_opt ecn_opts[] = {
	IPT_OPT("ecn-tcp-remove", &ipt_t_flag, IPT_ECNT_TCP_REMOVE,
			.excl = IPT_ECNT_TCP_CWR | IPT_ECNT_TCP_ECE),
	IPT_OPT("ecn-tcp-ece", &ipt_t_u8, IPT_ECNT_TCP_ECE, 0, ECN(ece), 0, 1,
			.excl = IPT_ECNT_TCP_REMOVE),
	IPT_OPT("ecn-tcp-cwr", &ipt_t_u8, IPT_ECNT_TCP_CWR, 0, ECN(cwr), 0, 1,
			.excl = IPT_ECNT_TCP_REMOVE),
	IPT_OPT("ecn-ip-ect", &ipt_t_u8, IPT_ECNT_IP_ECT, 0, ECN(ip_ect), 0, 3),
	{ 0 },
};

const struct ipt_ext ipt_target_ecn = {
	.name = "ECN",
	.kind = IPT_T_ECN,
	.families = IPT_F4,
	.tables = MANGLE,
	.size = sizeof(struct ipt_t_ecn),
	.opts = ecn_opts,
	.one_of = ECN_TCP | IPT_ECNT_IP_ECT,
	.check = ecn_check,
};

/* ---- TTL, HL ---- */

#define TTL_ALL (IPT_TTLT_SET | IPT_TTLT_DEC | IPT_TTLT_INC)
#define TTL(name, bit, low)                                                                 \
	IPT_OPT(name, &ipt_t_u8, bit, 0, offsetof(struct ipt_t_ttl, value), low, UINT8_MAX, \
			.excl = TTL_ALL & ~(bit))

static const struct ipt_opt ttl_opts[] = {
	TTL("ttl-set", IPT_TTLT_SET, 0),
	TTL("ttl-dec", IPT_TTLT_DEC, 1),
	TTL("ttl-inc", IPT_TTLT_INC, 1),
	{ 0 },
};

const struct ipt_ext ipt_target_ttl = {
	.name = "TTL",
	.kind = IPT_T_TTL,
	.families = IPT_F4,
	.tables = MANGLE,
	.size = sizeof(struct ipt_t_ttl),
	.opts = ttl_opts,
	.one_of = TTL_ALL,
};

static const struct ipt_opt hl_opts[] = {
	TTL("hl-set", IPT_TTLT_SET, 0),
	TTL("hl-dec", IPT_TTLT_DEC, 1),
	TTL("hl-inc", IPT_TTLT_INC, 1),
	{ 0 },
};

const struct ipt_ext ipt_target_hl = {
	.name = "HL",
	.kind = IPT_T_HL,
	.families = IPT_F6,
	.tables = MANGLE,
	.size = sizeof(struct ipt_t_ttl),
	.opts = hl_opts,
	.one_of = TTL_ALL,
};

/* ---- CHECKSUM ---- */

static const struct ipt_opt checksum_opts[] = {
	IPT_OPT("checksum-fill", &ipt_t_flag, IPT_CHECKSUM_FILL),
	{ 0 },
};

const struct ipt_ext ipt_target_checksum = {
	.name = "CHECKSUM",
	.kind = IPT_T_CHECKSUM,
	.families = IPT_F46,
	.tables = MANGLE,
	.opts = checksum_opts,
	.need = IPT_CHECKSUM_FILL,
};

/* ---- TCPMSS: legacy also asks for a SYN match, nft does not; taken without ---- */

static const char *tcpmss_check(enum ipt_family family, const struct ipt_rule *rule, uint32_t set,
		const void *data, uint8_t hooks)
{
	(void)family, (void)rule, (void)data;
	if ((set & IPT_TCPMSST_CLAMP) && (hooks & ((1 << IPT_PREROUTING) | (1 << IPT_INPUT))))
		return "--clamp-mss-to-pmtu in a chain reached from PREROUTING or INPUT";
	return NULL;
}

/* what fits into a packet of 65535 bytes with its IP header */
static int tcpmss_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_t_tcpmss *t = in->data;
	unsigned int max = UINT16_MAX - (cx->family == IPT_V4 ? 20 : 40);

	return t->mss <= max ? 0 : ipt_fail(cx, "--set-mss %u: 0-%u was expected", t->mss, max);
}

static const struct ipt_opt tcpmss_opts[] = {
	IPT_OPT("set-mss", &ipt_t_u16, IPT_TCPMSST_SET, 0, offsetof(struct ipt_t_tcpmss, mss),
			.excl = IPT_TCPMSST_CLAMP),
	IPT_OPT("clamp-mss-to-pmtu", &ipt_t_flag, IPT_TCPMSST_CLAMP, .excl = IPT_TCPMSST_SET),
	{ 0 },
};

const struct ipt_ext ipt_target_tcpmss = {
	.name = "TCPMSS",
	.kind = IPT_T_TCPMSS,
	.families = IPT_F46,
	.proto = IPPROTO_TCP,
	.size = sizeof(struct ipt_t_tcpmss),
	.opts = tcpmss_opts,
	.one_of = IPT_TCPMSST_SET | IPT_TCPMSST_CLAMP,
	.finish = tcpmss_finish,
	.check = tcpmss_check,
};

/* ---- TCPOPTSTRIP ---- */

static const struct ipt_name tcp_options[] = {
	{ "wscale", 3 },
	{ "mss", 2 },
	{ "sack-permitted", 4 },
	{ "sack", 5 },
	{ "timestamp", 8 },
	{ "md5", 19 },
	{ NULL, 0 },
};

static int parse_strip(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_t_tcpoptstrip *t = in->data;
	char copy[IPT_ARG_MAX + 1], *next = copy, *word;
	const struct ipt_name *n;
	uint64_t v;

	(void)inv;
	strcpy(copy, arg); /* no word is longer than IPT_ARG_MAX */
	while ((word = strsep(&next, ",")) != NULL) {
		n = ipt_name_find(tcp_options, word, false);
		if (n != NULL)
			v = n->value;
		else if (!ipt_number(word, NULL, &v, 2, UINT8_MAX))
			return ipt_fail(cx,
					"--%s: unknown TCP option \"%s\", a number 2-255 or a name was "
					"expected",
					o->name, word);
		t->options[v / 32] |= 1u << (v % 32);
	}
	return 0;
}

static void print_strip(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_t_tcpoptstrip *t = v->data;
	char sep = ' ';

	(void)o;
	for (int i = 0; i < 256; i++)
		if (t->options[i / 32] & (1u << (i % 32))) {
			fprintf(f, "%c%d", sep, i);
			sep = ',';
		}
}

static const struct ipt_type t_strip = { .parse = parse_strip, .print = print_strip };

static const struct ipt_opt tcpoptstrip_opts[] = {
	IPT_OPT("strip-options", &t_strip, IPT_TCPOPTSTRIP_OPTIONS),
	{ 0 },
};

const struct ipt_ext ipt_target_tcpoptstrip = {
	.name = "TCPOPTSTRIP",
	.kind = IPT_T_TCPOPTSTRIP,
	.families = IPT_F46,
	.tables = MANGLE,
	.proto = IPPROTO_TCP,
	.size = sizeof(struct ipt_t_tcpoptstrip),
	.opts = tcpoptstrip_opts,
};
