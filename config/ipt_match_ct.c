/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_ct.c - state, conntrack, connlimit, connbytes, connlabel, helper, cluster */
#include "classifier/ipt_match_ct.h"

#include "config/ipt_list.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

static const struct ipt_name states[] = {
	{ "INVALID", IPT_CT_INVALID },
	{ "NEW", IPT_CT_NEW },
	{ "RELATED", IPT_CT_RELATED },
	{ "ESTABLISHED", IPT_CT_ESTABLISHED },
	{ "UNTRACKED", IPT_CT_UNTRACKED },
	{ "SNAT", IPT_CT_SNAT },
	{ "DNAT", IPT_CT_DNAT },
	{ NULL, 0 },
};

static const struct ipt_name statuses[] = {
	{ "EXPECTED", IPT_CTS_EXPECTED },
	{ "SEEN_REPLY", IPT_CTS_SEEN_REPLY },
	{ "ASSURED", IPT_CTS_ASSURED },
	{ "CONFIRMED", IPT_CTS_CONFIRMED },
	{ "NONE", 0 },
	{ NULL, 0 },
};

static int parse_states(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	uint32_t bits;

	(void)inv;
	if (ipt_parse_bits(cx, o, arg, states, &bits) < 0)
		return -EINVAL;
	if (in->ext->kind == IPT_M_STATE && (bits & (IPT_CT_SNAT | IPT_CT_DNAT)))
		return ipt_fail(cx, "--%s %s: SNAT and DNAT are words of --ctstate", o->name, arg);
	*(uint8_t *)ipt_field(in, o) = bits;
	return 0;
}

static void print_states(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	ipt_print_bits(f, states, *(const uint8_t *)ipt_cfield(v, o));
}

static const struct ipt_type t_states = { .parse = parse_states, .print = print_states };

static const struct ipt_opt state_opts[] = {
	IPT_OPT("state", &t_states, IPT_STATE_STATE, IPT_O_INV,
			offsetof(struct ipt_m_state, states)),
	{ 0 },
};

const struct ipt_ext ipt_match_state = {
	.name = "state",
	.kind = IPT_M_STATE,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_state),
	.opts = state_opts,
	.need = IPT_STATE_STATE,
};

/* ---- conntrack ---- */

static int parse_status(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	uint32_t bits;

	(void)inv;
	if (ipt_parse_bits(cx, o, arg, statuses, &bits) < 0)
		return -EINVAL;
	*(uint8_t *)ipt_field(in, o) = bits;
	return 0;
}

static void print_status(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	uint8_t bits = *(const uint8_t *)ipt_cfield(v, o);

	if (bits != 0)
		ipt_print_bits(f, statuses, bits);
	else
		fputs(" NONE", f);
}

static int parse_dir(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	bool reply = strcasecmp(arg, "REPLY") == 0;

	(void)inv;
	if (!reply && strcasecmp(arg, "ORIGINAL") != 0)
		return ipt_fail(cx, "--%s %s: ORIGINAL or REPLY was expected", o->name, arg);
	*(bool *)ipt_field(in, o) = reply;
	return 0;
}

static void print_dir(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	fputs(*(const bool *)ipt_cfield(v, o) ? " REPLY" : " ORIGINAL", f);
}

static int parse_ctproto(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	uint16_t proto;

	if (ipt_parse_proto(cx, arg, &proto) < 0)
		return -EINVAL;
	if (proto == 0 && inv)
		return ipt_fail(cx, "! --%s %s never matches", o->name, arg);
	*(uint8_t *)ipt_field(in, o) = proto;
	return 0;
}

static void print_ctproto(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	fprintf(f, " %u", *(const uint8_t *)ipt_cfield(v, o));
}

static int parse_hostmask(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_hostmask *h = ipt_field(in, o);

	(void)inv;
	return ipt_parse_hostmask(cx, arg, true, &h->addr, &h->mask);
}

/* iptables prints no mask where it has holes; we do, so that the rule can be read back. */
static void print_hostmask(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_hostmask *h = ipt_cfield(v, o);
	int len = ipt_mask_len(v->family, &h->mask);

	fputc(' ', f);
	ipt_print_addr(f, v->family, &h->addr);
	if (len < 0) {
		fputc('/', f);
		ipt_print_addr(f, v->family, &h->mask);
	} else if ((unsigned int)len != ipt_addr_bits(v->family)) {
		fprintf(f, "/%d", len);
	}
}

/* a[:b]; unlike those of tcp, the range may be upside down */
static int parse_ctports(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_range16 *r = ipt_field(in, o);
	uint64_t lo;
	uint16_t port;

	if (ipt_number(arg, NULL, &lo, 0, UINT16_MAX) || strchr(arg, ':') != NULL)
		return ipt_t_range16.parse(cx, in, o, arg, inv);
	if (*arg == '\0' || !ipt_service_port(arg, 0, &port))
		return ipt_fail(cx, "--%s %s: a port or range a:b was expected", o->name, arg);
	*r = (struct ipt_range16){ port, port };
	return 0;
}

static void print_ctports(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	ipt_t_range16.print(f, v, o);
}

static const struct ipt_type t_status = { .parse = parse_status, .print = print_status };
static const struct ipt_type t_dir = { .no_arg = false, .parse = parse_dir, .print = print_dir };
static const struct ipt_type t_ctproto = { .parse = parse_ctproto, .print = print_ctproto };
static const struct ipt_type t_hostmask = { .parse = parse_hostmask, .print = print_hostmask };
static const struct ipt_type t_ctports = { .parse = parse_ctports, .print = print_ctports };

#define CT(field) offsetof(struct ipt_m_conntrack, field)
static const struct ipt_opt conntrack_opts[] = {
	IPT_OPT("ctstate", &t_states, IPT_CONNTRACK_STATE, IPT_O_INV, CT(states)),
	IPT_OPT("ctproto", &t_ctproto, IPT_CONNTRACK_PROTO, IPT_O_INV, CT(proto)),
	IPT_OPT("ctorigsrc", &t_hostmask, IPT_CONNTRACK_ORIGSRC, IPT_O_INV, CT(origsrc)),
	IPT_OPT("ctorigdst", &t_hostmask, IPT_CONNTRACK_ORIGDST, IPT_O_INV, CT(origdst)),
	IPT_OPT("ctreplsrc", &t_hostmask, IPT_CONNTRACK_REPLSRC, IPT_O_INV, CT(replsrc)),
	IPT_OPT("ctrepldst", &t_hostmask, IPT_CONNTRACK_REPLDST, IPT_O_INV, CT(repldst)),
	IPT_OPT("ctorigsrcport", &t_ctports, IPT_CONNTRACK_ORIGSRCPORT, IPT_O_INV, CT(origsrcport)),
	IPT_OPT("ctorigdstport", &t_ctports, IPT_CONNTRACK_ORIGDSTPORT, IPT_O_INV, CT(origdstport)),
	IPT_OPT("ctreplsrcport", &t_ctports, IPT_CONNTRACK_REPLSRCPORT, IPT_O_INV, CT(replsrcport)),
	IPT_OPT("ctrepldstport", &t_ctports, IPT_CONNTRACK_REPLDSTPORT, IPT_O_INV, CT(repldstport)),
	IPT_OPT("ctstatus", &t_status, IPT_CONNTRACK_STATUS, IPT_O_INV, CT(status)),
	IPT_OPT("ctexpire", &ipt_t_range32, IPT_CONNTRACK_EXPIRE, IPT_O_INV, CT(expire_s)),
	IPT_OPT("ctdir", &t_dir, IPT_CONNTRACK_DIR, 0, CT(dir_reply)),
	{ 0 },
};

const struct ipt_ext ipt_match_conntrack = {
	.name = "conntrack",
	.kind = IPT_M_CONNTRACK,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_conntrack),
	.opts = conntrack_opts,
	.one_of = (IPT_CONNTRACK_DIR << 1) - 1,
};

/* ---- connlimit ---- */

#define CONNLIMIT_SIDES (IPT_CONNLIMIT_SADDR | IPT_CONNLIMIT_DADDR)

static int parse_connlimit(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	if (ipt_t_u32.parse(cx, in, o, arg, inv) < 0)
		return -EINVAL;
	if (inv) { /* ! --connlimit-above is --connlimit-upto */
		in->set = (in->set & ~o->bit)
				| ((IPT_CONNLIMIT_UPTO | IPT_CONNLIMIT_ABOVE) & ~o->bit);
		in->inv &= ~o->bit;
	}
	return 0;
}

static void print_connlimit(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	ipt_t_u32.print(f, v, o);
}

static int connlimit_init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_m_connlimit *m = in->data;

	m->prefix_len = ipt_addr_bits(cx->family);
	in->set = IPT_CONNLIMIT_MASK;
	return 0;
}

static int connlimit_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	(void)cx;
	if (!(in->set & CONNLIMIT_SIDES))
		in->set |= IPT_CONNLIMIT_SADDR;
	return 0;
}

static const struct ipt_type t_connlimit = { .parse = parse_connlimit, .print = print_connlimit };

#define CL(field) offsetof(struct ipt_m_connlimit, field)
static const struct ipt_opt connlimit_opts[] = {
	IPT_OPT("connlimit-upto", &t_connlimit, IPT_CONNLIMIT_UPTO, IPT_O_INV, CL(limit),
			.excl = IPT_CONNLIMIT_ABOVE),
	IPT_OPT("connlimit-above", &t_connlimit, IPT_CONNLIMIT_ABOVE, IPT_O_INV, CL(limit),
			.excl = IPT_CONNLIMIT_UPTO),
	IPT_OPT("connlimit-mask", &ipt_t_prefix, IPT_CONNLIMIT_MASK, 0, CL(prefix_len)),
	IPT_OPT("connlimit-saddr", &ipt_t_flag, IPT_CONNLIMIT_SADDR, .excl = IPT_CONNLIMIT_DADDR),
	IPT_OPT("connlimit-daddr", &ipt_t_flag, IPT_CONNLIMIT_DADDR, .excl = IPT_CONNLIMIT_SADDR),
	{ 0 },
};

const struct ipt_ext ipt_match_connlimit = {
	.name = "connlimit",
	.kind = IPT_M_CONNLIMIT,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_connlimit),
	.opts = connlimit_opts,
	.one_of = IPT_CONNLIMIT_UPTO | IPT_CONNLIMIT_ABOVE,
	.init = connlimit_init,
	.finish = connlimit_finish,
};

/* ---- connbytes ---- */

static const struct ipt_name bytes_modes[] = {
	{ "packets", IPT_CONNBYTES_PACKETS },
	{ "bytes", IPT_CONNBYTES_BYTES },
	{ "avgpkt", IPT_CONNBYTES_AVGPKT },
	{ NULL, 0 },
};

static const struct ipt_name bytes_dirs[] = {
	{ "original", IPT_CONNBYTES_ORIGINAL },
	{ "reply", IPT_CONNBYTES_REPLY },
	{ "both", IPT_CONNBYTES_BOTH },
	{ NULL, 0 },
};

static int parse_connbytes(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_connbytes *m = in->data;
	const char *s = arg;

	(void)inv;
	m->from = 0;
	m->to = UINT64_MAX;
	if (*arg == '\0' || (*s != ':' && !ipt_number(s, &s, &m->from, 0, UINT64_MAX)))
		goto bad;
	if (*s == ':' && s[1] != '\0' && !ipt_number(s + 1, NULL, &m->to, 0, UINT64_MAX))
		goto bad;
	if ((*s != ':' && *s != '\0') || m->from > m->to)
		goto bad;
	/* the kernel knows an inverted range by its ends, which are the wrong way round */
	if (m->from == m->to)
		in->inv &= ~o->bit;
	return 0;
bad:
	return ipt_fail(cx, "--%s %s: from[:[to]] was expected", o->name, arg);
}

static void print_connbytes(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_connbytes *m = v->data;

	(void)o;
	fprintf(f, " %" PRIu64, m->from);
	if (m->to != UINT64_MAX)
		fprintf(f, ":%" PRIu64, m->to);
}

static const struct ipt_name *bytes_words(const struct ipt_opt *o)
{
	return o->bit == IPT_CONNBYTES_MODE ? bytes_modes : bytes_dirs;
}

static int parse_bytes_word(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	const struct ipt_name *n = ipt_name_find(bytes_words(o), arg, false);

	(void)inv;
	if (n == NULL)
		return ipt_fail(cx, "--%s %s: %s was expected", o->name, arg,
				o->bit == IPT_CONNBYTES_MODE ? "packets, bytes or avgpkt"
							     : "original, reply or both");
	*(uint8_t *)ipt_field(in, o) = n->value;
	return 0;
}

static void print_bytes_word(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	fprintf(f, " %s", ipt_name_of(bytes_words(o), *(const uint8_t *)ipt_cfield(v, o)));
}

static const struct ipt_type t_connbytes = { .parse = parse_connbytes, .print = print_connbytes };
static const struct ipt_type t_bytes_word = { .parse = parse_bytes_word,
	.print = print_bytes_word };

static const struct ipt_opt connbytes_opts[] = {
	IPT_OPT("connbytes", &t_connbytes, IPT_CONNBYTES_CONNBYTES, IPT_O_INV),
	IPT_OPT("connbytes-mode", &t_bytes_word, IPT_CONNBYTES_MODE, 0,
			offsetof(struct ipt_m_connbytes, mode)),
	IPT_OPT("connbytes-dir", &t_bytes_word, IPT_CONNBYTES_DIR, 0,
			offsetof(struct ipt_m_connbytes, dir)),
	{ 0 },
};

const struct ipt_ext ipt_match_connbytes = {
	.name = "connbytes",
	.kind = IPT_M_CONNBYTES,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_connbytes),
	.opts = connbytes_opts,
	.need = IPT_CONNBYTES_CONNBYTES | IPT_CONNBYTES_MODE | IPT_CONNBYTES_DIR,
};

/* ---- connlabel: by number; names would need a file of the box's own ---- */

static void print_label(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	fprintf(f, " \"%u\"", *(const uint8_t *)ipt_cfield(v, o));
}

static int parse_label(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	return ipt_t_u8.parse(cx, in, o, arg, inv);
}

static const struct ipt_type t_label = { .parse = parse_label, .print = print_label };

static const struct ipt_opt connlabel_opts[] = {
	IPT_OPT("label", &t_label, IPT_CONNLABEL_LABEL, IPT_O_INV,
			offsetof(struct ipt_m_connlabel, bit), 0, 127),
	IPT_OPT("set", &ipt_t_flag, IPT_CONNLABEL_SET),
	{ 0 },
};

const struct ipt_ext ipt_match_connlabel = {
	.name = "connlabel",
	.kind = IPT_M_CONNLABEL,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_connlabel),
	.opts = connlabel_opts,
	.need = IPT_CONNLABEL_LABEL,
};

/* ---- helper ---- */

static const struct ipt_opt helper_opts[] = {
	IPT_OPT("helper", &ipt_t_string, IPT_HELPER_HELPER, IPT_O_INV,
			offsetof(struct ipt_m_helper, name), 0, 29),
	{ 0 },
};

const struct ipt_ext ipt_match_helper = {
	.name = "helper",
	.kind = IPT_M_HELPER,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_helper),
	.opts = helper_opts,
	.need = IPT_HELPER_HELPER,
};

/* ---- cluster ---- */

#define CLUSTER_MAX 32

static int parse_node(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_cluster *m = in->data;
	uint64_t node;

	if (!ipt_number(arg, NULL, &node, 1, CLUSTER_MAX))
		return ipt_fail(cx, "--%s %s: a number 1-%d was expected", o->name, arg,
				CLUSTER_MAX);
	m->node_mask = 1u << (node - 1);
	in->set = (in->set & ~IPT_CLUSTER_NODE) | IPT_CLUSTER_NODEMASK;
	in->inv = inv ? IPT_CLUSTER_NODEMASK : 0;
	return 0;
}

static int cluster_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_m_cluster *m = in->data;

	if (m->total_nodes < CLUSTER_MAX && m->node_mask >> m->total_nodes != 0)
		return ipt_fail(cx, "match \"cluster\": node mask 0x%x, nodes 1-%u were expected",
				m->node_mask, m->total_nodes);
	return 0;
}

static const struct ipt_type t_node = { .parse = parse_node };

#define CLU(field) offsetof(struct ipt_m_cluster, field)
static const struct ipt_opt cluster_opts[] = {
	IPT_OPT("cluster-local-nodemask", &ipt_t_x32, IPT_CLUSTER_NODEMASK, IPT_O_INV,
			CLU(node_mask), 1, .excl = IPT_CLUSTER_NODE),
	IPT_OPT("cluster-local-node", &t_node, IPT_CLUSTER_NODE, IPT_O_INV | IPT_O_QUIET,
			.excl = IPT_CLUSTER_NODEMASK),
	IPT_OPT("cluster-total-nodes", &ipt_t_u32, IPT_CLUSTER_NODES, 0, CLU(total_nodes), 1,
			CLUSTER_MAX),
	IPT_OPT("cluster-hash-seed", &ipt_t_x32, IPT_CLUSTER_SEED, 0, CLU(hash_seed)),
	{ 0 },
};

const struct ipt_ext ipt_match_cluster = {
	.name = "cluster",
	.kind = IPT_M_CLUSTER,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_cluster),
	.opts = cluster_opts,
	.need = IPT_CLUSTER_NODES | IPT_CLUSTER_SEED,
	.one_of = IPT_CLUSTER_NODEMASK,
	.finish = cluster_finish,
};
