/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_icmp.c - icmp, icmp6 and mh: a type by number or by name */
#include "classifier/ipt_match_v6.h"
#include "config/ipt_list.h"

#include <netinet/in.h>
#include <string.h>
#include <strings.h>

struct icmp_name {
	const char *name;
	uint8_t type;
	uint8_t code_lo;
	uint8_t code_hi;
};

static const struct icmp_name icmp_names[] = {
	{ "any", 255, 0, 255 },
	{ "echo-reply", 0, 0, 255 },
	{ "pong", 0, 0, 255 },
	{ "destination-unreachable", 3, 0, 255 },
	{ "network-unreachable", 3, 0, 0 },
	{ "host-unreachable", 3, 1, 1 },
	{ "protocol-unreachable", 3, 2, 2 },
	{ "port-unreachable", 3, 3, 3 },
	{ "fragmentation-needed", 3, 4, 4 },
	{ "source-route-failed", 3, 5, 5 },
	{ "network-unknown", 3, 6, 6 },
	{ "host-unknown", 3, 7, 7 },
	{ "network-prohibited", 3, 9, 9 },
	{ "host-prohibited", 3, 10, 10 },
	{ "TOS-network-unreachable", 3, 11, 11 },
	{ "TOS-host-unreachable", 3, 12, 12 },
	{ "communication-prohibited", 3, 13, 13 },
	{ "host-precedence-violation", 3, 14, 14 },
	{ "precedence-cutoff", 3, 15, 15 },
	{ "source-quench", 4, 0, 255 },
	{ "redirect", 5, 0, 255 },
	{ "network-redirect", 5, 0, 0 },
	{ "host-redirect", 5, 1, 1 },
	{ "TOS-network-redirect", 5, 2, 2 },
	{ "TOS-host-redirect", 5, 3, 3 },
	{ "echo-request", 8, 0, 255 },
	{ "ping", 8, 0, 255 },
	{ "router-advertisement", 9, 0, 255 },
	{ "router-solicitation", 10, 0, 255 },
	{ "time-exceeded", 11, 0, 255 },
	{ "ttl-exceeded", 11, 0, 255 },
	{ "ttl-zero-during-transit", 11, 0, 0 },
	{ "ttl-zero-during-reassembly", 11, 1, 1 },
	{ "parameter-problem", 12, 0, 255 },
	{ "ip-header-bad", 12, 0, 0 },
	{ "required-option-missing", 12, 1, 1 },
	{ "timestamp-request", 13, 0, 255 },
	{ "timestamp-reply", 14, 0, 255 },
	{ "address-mask-request", 17, 0, 255 },
	{ "address-mask-reply", 18, 0, 255 },
	{ 0 },
};

static const struct icmp_name icmp6_names[] = {
	{ "destination-unreachable", 1, 0, 255 },
	{ "no-route", 1, 0, 0 },
	{ "communication-prohibited", 1, 1, 1 },
	{ "beyond-scope", 1, 2, 2 },
	{ "address-unreachable", 1, 3, 3 },
	{ "port-unreachable", 1, 4, 4 },
	{ "failed-policy", 1, 5, 5 },
	{ "reject-route", 1, 6, 6 },
	{ "packet-too-big", 2, 0, 255 },
	{ "time-exceeded", 3, 0, 255 },
	{ "ttl-exceeded", 3, 0, 255 },
	{ "ttl-zero-during-transit", 3, 0, 0 },
	{ "ttl-zero-during-reassembly", 3, 1, 1 },
	{ "parameter-problem", 4, 0, 255 },
	{ "bad-header", 4, 0, 0 },
	{ "unknown-header-type", 4, 1, 1 },
	{ "unknown-option", 4, 2, 2 },
	{ "echo-request", 128, 0, 255 },
	{ "ping", 128, 0, 255 },
	{ "echo-reply", 129, 0, 255 },
	{ "router-solicitation", 133, 0, 255 },
	{ "router-advertisement", 134, 0, 255 },
	{ "neighbour-solicitation", 135, 0, 255 },
	{ "neighbor-solicitation", 135, 0, 255 },
	{ "neighbour-advertisement", 136, 0, 255 },
	{ "neighbor-advertisement", 136, 0, 255 },
	{ "redirect", 137, 0, 255 },
	{ 0 },
};

bool ipt_icmp_type(bool v6, const char *name, uint8_t *type, uint8_t *code)
{
	const struct icmp_name *n = v6 ? icmp6_names : icmp_names + 1; /* without "any" */

	for (; n->name != NULL; n++)
		if (strcasecmp(n->name, name) == 0) {
			*type = n->type;
			*code = n->code_lo;
			return true;
		}
	return false;
}

const char *ipt_icmp_name(bool v6, uint8_t type, uint8_t code)
{
	const struct icmp_name *whole = NULL, *n = v6 ? icmp6_names : icmp_names + 1;

	for (; n->name != NULL; n++) {
		if (n->type != type || n->code_lo != code)
			continue;
		if (n->code_hi == code)
			return n->name;
		if (whole == NULL)
			whole = n;
	}
	return whole != NULL ? whole->name : NULL;
}

/* A name, or its beginning if that fits only one. */
static const struct icmp_name *find_name(struct ipt_ctx *cx, const struct icmp_name *names,
		const struct ipt_opt *o, const char *arg)
{
	const struct icmp_name *found = NULL;
	size_t len = strlen(arg);

	for (const struct icmp_name *n = names; n->name != NULL; n++) {
		if (strncasecmp(n->name, arg, len) != 0)
			continue;
		if (n->name[len] == '\0')
			return n;
		if (found != NULL) {
			ipt_fail(cx, "--%s %s: may be \"%s\" or \"%s\"", o->name, arg, found->name,
					n->name);
			return NULL;
		}
		found = n;
	}
	if (found == NULL)
		ipt_fail(cx, "--%s: unknown type \"%s\", a name or type[/code] was expected",
				o->name, arg);
	return found;
}

static int parse_type(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	bool v6 = in->ext->kind == IPT_M_ICMP6;
	struct ipt_m_icmp *m = in->data;
	const struct icmp_name *n;
	uint64_t type, code;
	const char *end;

	(void)inv;
	if (arg[0] < '0' || arg[0] > '9') {
		n = *arg != '\0' ? find_name(cx, v6 ? icmp6_names : icmp_names, o, arg) : NULL;
		if (n == NULL)
			return cx->failed ? -EINVAL : ipt_fail(cx, "--%s: empty type", o->name);
		*m = (struct ipt_m_icmp){ n->type, n->code_lo, n->code_hi };
		return 0;
	}
	if (!ipt_number(arg, &end, &type, 0, UINT8_MAX) || (*end != '\0' && *end != '/'))
		return ipt_fail(cx, "--%s %s: type[/code] was expected, each 0-255", o->name, arg);
	*m = (struct ipt_m_icmp){ type, 0, 255 };
	if (*end == '/') {
		if (!ipt_number(end + 1, NULL, &code, 0, UINT8_MAX))
			return ipt_fail(cx, "--%s %s: type[/code] was expected, each 0-255",
					o->name, arg);
		m->code_lo = m->code_hi = code;
	}
	if (!v6 && type == 255) /* any, whatever code stands there */
		*m = (struct ipt_m_icmp){ 255, 0, 255 };
	return 0;
}

static void print_type(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_icmp *m = v->data;

	(void)o;
	if (v->family == IPT_V4 && m->type == 255) {
		fputs(" any", f);
		return;
	}
	fprintf(f, " %u", m->type);
	if (m->code_lo != 0 || m->code_hi != 255)
		fprintf(f, "/%u", m->code_lo);
}

static const struct ipt_type t_icmp = { .parse = parse_type, .print = print_type };

static const struct ipt_opt icmp_opts[] = {
	IPT_OPT("icmp-type", &t_icmp, IPT_ICMP_TYPE, IPT_O_INV),
	{ 0 },
};

const struct ipt_ext ipt_match_icmp = {
	.name = "icmp",
	.kind = IPT_M_ICMP,
	.families = IPT_F4,
	.proto = IPPROTO_ICMP,
	.size = sizeof(struct ipt_m_icmp),
	.opts = icmp_opts,
	.need = IPT_ICMP_TYPE,
};

static const struct ipt_opt icmp6_opts[] = {
	IPT_OPT("icmpv6-type", &t_icmp, IPT_ICMP_TYPE, IPT_O_INV),
	{ 0 },
};

const struct ipt_ext ipt_match_icmp6 = {
	.name = "icmp6",
	.alias = { "icmpv6", "ipv6-icmp" },
	.kind = IPT_M_ICMP6,
	.families = IPT_F6,
	.proto = IPPROTO_ICMPV6,
	.size = sizeof(struct ipt_m_icmp),
	.opts = icmp6_opts,
	.need = IPT_ICMP_TYPE,
};

/* ---- mh: mobility header ---- */

static const struct icmp_name mh_names[] = {
	{ "binding-refresh-request", 0, 0, 0 },
	{ "brr", 0, 0, 0 },
	{ "home-test-init", 1, 0, 0 },
	{ "hoti", 1, 0, 0 },
	{ "careof-test-init", 2, 0, 0 },
	{ "coti", 2, 0, 0 },
	{ "home-test", 3, 0, 0 },
	{ "hot", 3, 0, 0 },
	{ "careof-test", 4, 0, 0 },
	{ "cot", 4, 0, 0 },
	{ "binding-update", 5, 0, 0 },
	{ "bu", 5, 0, 0 },
	{ "binding-acknowledgement", 6, 0, 0 },
	{ "ba", 6, 0, 0 },
	{ "binding-error", 7, 0, 0 },
	{ "be", 7, 0, 0 },
	{ 0 },
};

static int mh_type(struct ipt_ctx *cx, const struct ipt_opt *o, const char *word, uint8_t *type)
{
	const struct icmp_name *n;
	uint64_t v;

	if (ipt_number(word, NULL, &v, 0, UINT8_MAX)) {
		*type = v;
		return 0;
	}
	n = *word != '\0' ? find_name(cx, mh_names, o, word) : NULL;
	if (n == NULL)
		return cx->failed ? -EINVAL : ipt_fail(cx, "--%s: empty type", o->name);
	*type = n->type;
	return 0;
}

static int parse_mh(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_mh *m = in->data;
	char word[IPT_ARG_MAX + 1], *hi;

	(void)inv;
	strcpy(word, arg); /* no word is longer than IPT_ARG_MAX */
	hi = strchr(word, ':');
	if (hi == NULL) {
		if (mh_type(cx, o, word, &m->lo) < 0)
			return -EINVAL;
		m->hi = m->lo;
		return 0;
	}
	*hi++ = '\0';
	*m = (struct ipt_m_mh){ 0, UINT8_MAX };
	if (word[0] != '\0' && mh_type(cx, o, word, &m->lo) < 0)
		return -EINVAL;
	if (hi[0] != '\0' && mh_type(cx, o, hi, &m->hi) < 0)
		return -EINVAL;
	if (m->lo > m->hi)
		return ipt_fail(cx, "--%s %s: the first type is above the second", o->name, arg);
	return 0;
}

static void print_mh(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_mh *m = v->data;

	(void)o;
	fprintf(f, m->lo == m->hi ? " %u" : " %u:%u", m->lo, m->hi);
}

static int mh_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_m_mh *m = in->data;

	(void)cx;
	if (m->lo == 0 && m->hi == UINT8_MAX && !(in->inv & IPT_MH_TYPE))
		in->set &= ~IPT_MH_TYPE;
	return 0;
}

static const struct ipt_type t_mh = { .parse = parse_mh, .print = print_mh };

static const struct ipt_opt mh_opts[] = {
	IPT_OPT("mh-type", &t_mh, IPT_MH_TYPE, IPT_O_INV),
	{ 0 },
};

const struct ipt_ext ipt_match_mh = {
	.name = "mh",
	.alias = { "mobility-header", "ipv6-mh" },
	.kind = IPT_M_MH,
	.families = IPT_F6,
	.proto = IPPROTO_MH,
	.size = sizeof(struct ipt_m_mh),
	.opts = mh_opts,
	.finish = mh_finish,
};
