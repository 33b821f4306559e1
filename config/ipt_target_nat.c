/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_target_nat.c - SNAT DNAT MASQUERADE REDIRECT NETMAP, CT and NOTRACK */
#include "classifier/ipt_target.h"
#include "config/ipt_list.h"

#include <netinet/in.h>
#include <string.h>

/* port[-port[/base]] */
static int nat_ports(
		struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o, const char *text)
{
	bool base_ok = in->ext->kind == IPT_T_DNAT;
	struct ipt_t_nat *t = in->data;
	char copy[IPT_ARG_MAX + 1], *hi, *base;

	strcpy(copy, text); /* no word is longer than IPT_ARG_MAX */
	base = strchr(copy, '/');
	if (base != NULL)
		*base++ = '\0';
	hi = strchr(copy, '-');
	if (hi != NULL)
		*hi++ = '\0';
	if (base != NULL && (!base_ok || hi == NULL))
		return ipt_fail(cx, "--%s %s: %s", o->name, text,
				base_ok ? "a base needs a range of ports"
					: "port[-port] was expected");
	if (ipt_parse_port(cx, copy, &t->port.lo) < 0)
		return -EINVAL;
	t->port.hi = t->port.lo;
	if (hi != NULL && ipt_parse_port(cx, hi, &t->port.hi) < 0)
		return -EINVAL;
	if (t->port.lo > t->port.hi)
		return ipt_fail(cx, "--%s %s: the first port is above the second", o->name, text);
	if (base != NULL && ipt_parse_port(cx, base, &t->base) < 0)
		return -EINVAL;
	if (base != NULL && t->base == 0)
		return ipt_fail(cx, "--%s %s: a base above 0 was expected", o->name, text);
	t->has_base = base != NULL;
	t->has_port = true;
	return 0;
}

static int nat_addrs(struct ipt_ctx *cx, struct ipt_t_nat *t, char *text)
{
	char *hi = strchr(text, '-');

	if (hi != NULL)
		*hi++ = '\0';
	if (ipt_parse_addr(cx, text, &t->lo) < 0)
		return -EINVAL;
	t->hi = t->lo;
	t->has_addr = true;
	return hi != NULL ? ipt_parse_addr(cx, hi, &t->hi) : 0;
}

/* [address[-address]][:ports]; IPv6 addresses with ports stand in brackets */
static int parse_to(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	char copy[IPT_ARG_MAX + 1], *addrs = copy, *ports, *close;

	(void)inv;
	strcpy(copy, arg); /* no word is longer than IPT_ARG_MAX */
	if (copy[0] == '[') {
		addrs++;
		close = strchr(addrs, ']');
		if (close == NULL || (close[1] != ':' && close[1] != '\0'))
			return ipt_fail(cx, "--%s %s: [address[-address]]:port[-port] was expected",
					o->name, arg);
		*close = '\0';
		ports = close[1] == ':' ? close + 1 : NULL;
	} else if (cx->family == IPT_V4 || (copy[0] == ':' && copy[1] != ':')) {
		ports = strchr(copy, ':');
	} else {
		ports = NULL;
	}
	if (ports != NULL) {
		*ports++ = '\0';
		if (nat_ports(cx, in, o, ports) < 0)
			return -EINVAL;
	}
	if (*addrs != '\0')
		return nat_addrs(cx, in->data, addrs);
	return ports != NULL ? 0 : ipt_fail(cx, "--%s: an address or :port was expected", o->name);
}

static int parse_to_ports(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	(void)inv;
	return nat_ports(cx, in, o, arg);
}

static void print_nat_ports(FILE *f, const struct ipt_t_nat *t)
{
	fprintf(f, "%u", t->port.lo);
	if (t->port.hi != t->port.lo || t->has_base) /* a base is read only behind a range */
		fprintf(f, "-%u", t->port.hi);
	if (t->has_base)
		fprintf(f, "/%u", t->base);
}

static void print_to(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_t_nat *t = v->data;
	bool brackets = v->family == IPT_V6 && t->has_port && t->has_addr;

	(void)o;
	fputs(brackets ? " [" : " ", f);
	if (t->has_addr) {
		ipt_print_addr(f, v->family, &t->lo);
		if (memcmp(&t->lo, &t->hi, sizeof(t->lo)) != 0) {
			fputc('-', f);
			ipt_print_addr(f, v->family, &t->hi);
		}
	}
	if (brackets)
		fputc(']', f);
	if (t->has_port) {
		fputc(':', f);
		print_nat_ports(f, t);
	}
}

static void print_to_ports(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	(void)o;
	fputc(' ', f);
	print_nat_ports(f, v->data);
}

static int nat_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_t_nat *t = in->data;

	if (!t->has_port)
		return 0;
	switch (cx->rule->proto_inv ? 0 : cx->rule->proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
	case IPPROTO_ICMP:
		return 0;
	}
	return ipt_fail(cx, "%s with ports: -p tcp, udp, sctp or dccp was expected", in->ext->name);
}

static const struct ipt_type t_to = { .parse = parse_to, .print = print_to };
static const struct ipt_type t_to_ports = { .parse = parse_to_ports, .print = print_to_ports };

static const struct ipt_opt snat_opts[] = {
	IPT_OPT("to-source", &t_to, IPT_NAT_TO),
	IPT_OPT("random", &ipt_t_flag, IPT_NAT_RANDOM),
	IPT_OPT("random-fully", &ipt_t_flag, IPT_NAT_RANDOM_FULLY),
	IPT_OPT("persistent", &ipt_t_flag, IPT_NAT_PERSISTENT),
	{ 0 },
};

static const struct ipt_opt dnat_opts[] = {
	IPT_OPT("to-destination", &t_to, IPT_NAT_TO),
	IPT_OPT("random", &ipt_t_flag, IPT_NAT_RANDOM),
	IPT_OPT("persistent", &ipt_t_flag, IPT_NAT_PERSISTENT),
	{ 0 },
};

static const struct ipt_opt masquerade_opts[] = {
	IPT_OPT("to-ports", &t_to_ports, IPT_NAT_TO),
	IPT_OPT("random", &ipt_t_flag, IPT_NAT_RANDOM),
	IPT_OPT("random-fully", &ipt_t_flag, IPT_NAT_RANDOM_FULLY),
	{ 0 },
};

static const struct ipt_opt redirect_opts[] = {
	IPT_OPT("to-ports", &t_to_ports, IPT_NAT_TO),
	IPT_OPT("random", &ipt_t_flag, IPT_NAT_RANDOM),
	{ 0 },
};

#define HOOK(h) (1 << IPT_##h)
#define NAT(id, NAME, at, rows, must)             \
	const struct ipt_ext id = {               \
		.name = #NAME,                    \
		.kind = IPT_T_##NAME,             \
		.families = IPT_F46,              \
		.tables = 1 << IPT_NAT,           \
		.hooks = at,                      \
		.size = sizeof(struct ipt_t_nat), \
		.opts = rows,                     \
		.need = must,                     \
		.finish = nat_finish,             \
	}

NAT(ipt_target_snat, SNAT, HOOK(POSTROUTING) | HOOK(INPUT), snat_opts, IPT_NAT_TO);
NAT(ipt_target_dnat, DNAT, HOOK(PREROUTING) | HOOK(OUTPUT), dnat_opts, IPT_NAT_TO);
NAT(ipt_target_masquerade, MASQUERADE, HOOK(POSTROUTING), masquerade_opts, 0);
NAT(ipt_target_redirect, REDIRECT, HOOK(PREROUTING) | HOOK(OUTPUT), redirect_opts, 0);

/* ---- NETMAP ---- */

static int parse_netmap(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_t_netmap *t = in->data;
	struct ipt_addr mask;
	int len;

	(void)inv;
	if (ipt_parse_hostmask(cx, arg, true, &t->addr, &mask) < 0)
		return -EINVAL;
	len = ipt_mask_len(cx->family, &mask);
	if (len < 0)
		return ipt_fail(cx, "--%s %s: a mask without holes was expected", o->name, arg);
	for (int i = 0; i < 4; i++)
		t->addr.w[i] &= mask.w[i];
	t->prefix_len = len;
	return 0;
}

static void print_netmap(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_t_netmap *t = v->data;

	(void)o;
	fputc(' ', f);
	ipt_print_addr(f, v->family, &t->addr);
	fprintf(f, "/%u", t->prefix_len);
}

static const struct ipt_type t_netmap = { .parse = parse_netmap, .print = print_netmap };

static const struct ipt_opt netmap_opts[] = { IPT_OPT("to", &t_netmap, IPT_NETMAP_TO), { 0 } };

const struct ipt_ext ipt_target_netmap = {
	.name = "NETMAP",
	.kind = IPT_T_NETMAP,
	.families = IPT_F46,
	.tables = 1 << IPT_NAT,
	.hooks = HOOK(PREROUTING) | HOOK(INPUT) | HOOK(OUTPUT) | HOOK(POSTROUTING),
	.size = sizeof(struct ipt_t_netmap),
	.opts = netmap_opts,
	.need = IPT_NETMAP_TO,
};

/* ---- CT ---- */

static const struct ipt_name ct_events[] = {
	{ "new", 1 << 0 },
	{ "related", 1 << 1 },
	{ "destroy", 1 << 2 },
	{ "reply", 1 << 3 },
	{ "assured", 1 << 4 },
	{ "protoinfo", 1 << 5 },
	{ "helper", 1 << 6 },
	{ "mark", 1 << 7 },
	{ "natseqinfo", 1 << 8 },
	{ "secmark", 1 << 9 },
	{ NULL, 0 },
};

static const struct ipt_name exp_events[] = { { "new", 1 << 0 }, { NULL, 0 } };

static const struct ipt_name *event_names(const struct ipt_opt *o)
{
	return o->bit == IPT_CTT_CTEVENTS ? ct_events : exp_events;
}

static int parse_events(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	(void)inv;
	return ipt_parse_bits(cx, o, arg, event_names(o), ipt_field(in, o));
}

static void print_events(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	ipt_print_bits(f, event_names(o), *(const uint32_t *)ipt_cfield(v, o));
}

static int parse_zone(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_t_ct *t = in->data;
	uint64_t zone = 0;
	bool mark = strcmp(arg, "mark") == 0,
	     before = in->seen & ~o->bit & (IPT_CTT_ZONE_ORIG | IPT_CTT_ZONE_REPLY);

	(void)inv;
	if (!mark && !ipt_number(arg, NULL, &zone, 0, UINT16_MAX))
		return ipt_fail(cx, "--%s %s: 0-65535 or mark was expected", o->name, arg);
	if (before && (t->zone != zone || t->zone_mark != mark))
		return ipt_fail(cx, "--%s %s: both directions can only have the same zone", o->name,
				arg);
	t->zone = zone;
	t->zone_mark = mark;
	return 0;
}

static void print_zone(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_t_ct *t = v->data;

	(void)o;
	if (t->zone_mark)
		fputs(" mark", f);
	else
		fprintf(f, " %u", t->zone);
}

static int ct_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const uint32_t sides = IPT_CTT_ZONE_ORIG | IPT_CTT_ZONE_REPLY;
	const struct ipt_t_ct *t = in->data;

	if ((in->set & sides) == sides)
		in->set = (in->set & ~sides) | IPT_CTT_ZONE;
	if ((in->set & IPT_CTT_ZONE) && t->zone == 0 && !t->zone_mark)
		in->set &= ~IPT_CTT_ZONE; /* the zone that everything is in */
	if ((in->set & IPT_CTT_HELPER) && (cx->rule->proto == 0 || cx->rule->proto_inv))
		return ipt_fail(cx, "CT --helper: -p with the helper's protocol was expected");
	if (in->set & IPT_CTT_TIMEOUT)
		return ipt_fail(cx,
				"CT --timeout: there is no timeout policy \"%s\": times are sysctls "
				"net.netfilter.nf_conntrack_*_timeout*, of all connections alike",
				t->timeout);
	return 0;
}

static const struct ipt_type t_events = { .parse = parse_events, .print = print_events };
static const struct ipt_type t_zone = { .parse = parse_zone, .print = print_zone };

#define CT(field) offsetof(struct ipt_t_ct, field)
static const struct ipt_opt ct_opts[] = {
	IPT_OPT("notrack", &ipt_t_flag, IPT_CTT_NOTRACK),
	IPT_OPT("helper", &ipt_t_name, IPT_CTT_HELPER, 0, CT(helper), 1, 15),
	IPT_OPT("timeout", &ipt_t_name, IPT_CTT_TIMEOUT, 0, CT(timeout), 1, 31),
	IPT_OPT("ctevents", &t_events, IPT_CTT_CTEVENTS, 0, CT(ctevents)),
	IPT_OPT("expevents", &t_events, IPT_CTT_EXPEVENTS, 0, CT(expevents)),
	IPT_OPT("zone-orig", &t_zone, IPT_CTT_ZONE_ORIG, .excl = IPT_CTT_ZONE),
	IPT_OPT("zone-reply", &t_zone, IPT_CTT_ZONE_REPLY, .excl = IPT_CTT_ZONE),
	IPT_OPT("zone", &t_zone, IPT_CTT_ZONE, .excl = IPT_CTT_ZONE_ORIG | IPT_CTT_ZONE_REPLY),
	{ 0 },
};

const struct ipt_ext ipt_target_ct = {
	.name = "CT",
	.kind = IPT_T_CT,
	.families = IPT_F46,
	.tables = 1 << IPT_RAW,
	.size = sizeof(struct ipt_t_ct),
	.opts = ct_opts,
	.finish = ct_finish,
};

const struct ipt_ext ipt_target_notrack = {
	.name = "NOTRACK",
	.kind = IPT_T_NOTRACK,
	.families = IPT_F46,
	.tables = 1 << IPT_RAW,
};
