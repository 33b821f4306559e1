/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_addr.c - where a packet is from: iprange mac addrtype pkttype physdev rpfilter and others */
#include "config/ipt_list.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#define HOOK(h) (1 << IPT_##h)

/* ---- iprange ---- */

static int parse_iprange(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_addr *lo = ipt_field(in, o), *hi = lo + 1;
	char word[IPT_ARG_MAX + 1], *dash;

	(void)inv;
	strcpy(word, arg); /* no word is longer than IPT_ARG_MAX */
	dash = strchr(word, '-');
	if (dash != NULL)
		*dash++ = '\0';
	if (ipt_parse_addr(cx, word, lo) < 0)
		return -EINVAL;
	*hi = *lo;
	return dash != NULL ? ipt_parse_addr(cx, dash, hi) : 0;
}

static void print_iprange(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_addr *lo = ipt_cfield(v, o);

	fputc(' ', f);
	ipt_print_addr(f, v->family, lo);
	fputc('-', f);
	ipt_print_addr(f, v->family, lo + 1);
}

static const struct ipt_type t_iprange = { .parse = parse_iprange, .print = print_iprange };

static const struct ipt_opt iprange_opts[] = {
	IPT_OPT("src-range", &t_iprange, IPT_IPRANGE_SRC, IPT_O_INV,
			offsetof(struct ipt_m_iprange, src_lo)),
	IPT_OPT("dst-range", &t_iprange, IPT_IPRANGE_DST, IPT_O_INV,
			offsetof(struct ipt_m_iprange, dst_lo)),
	{ 0 },
};

const struct ipt_ext ipt_match_iprange = {
	.name = "iprange",
	.kind = IPT_M_IPRANGE,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_iprange),
	.opts = iprange_opts,
	.one_of = IPT_IPRANGE_SRC | IPT_IPRANGE_DST,
};

/* ---- mac ---- */

static int parse_mac(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	uint8_t *mac = ipt_field(in, o);
	unsigned int b[6];
	int end = -1;

	(void)inv;
	if (sscanf(arg, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &end)
					!= 6
			|| arg[end] != '\0'
			|| strspn(arg, "0123456789abcdefABCDEF:") != strlen(arg))
		return ipt_fail(cx, "--%s %s: XX:XX:XX:XX:XX:XX was expected", o->name, arg);
	for (int i = 0; i < 6; i++)
		mac[i] = b[i];
	return 0;
}

static void print_mac(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const uint8_t *m = ipt_cfield(v, o);

	fprintf(f, " %02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
}

static const struct ipt_type t_mac = { .parse = parse_mac, .print = print_mac };

static const struct ipt_opt mac_opts[] = {
	IPT_OPT("mac-source", &t_mac, IPT_MAC_SOURCE, IPT_O_INV, offsetof(struct ipt_m_mac, addr)),
	{ 0 },
};

const struct ipt_ext ipt_match_mac = {
	.name = "mac",
	.kind = IPT_M_MAC,
	.families = IPT_F46,
	.hooks = HOOK(PREROUTING) | HOOK(INPUT) | HOOK(FORWARD),
	.size = sizeof(struct ipt_m_mac),
	.opts = mac_opts,
	.need = IPT_MAC_SOURCE,
};

/* ---- addrtype ---- */

static const struct ipt_name addrtypes[] = {
	{ "UNSPEC", 1 << IPT_ADDR_UNSPEC },
	{ "UNICAST", 1 << IPT_ADDR_UNICAST },
	{ "LOCAL", 1 << IPT_ADDR_LOCAL },
	{ "BROADCAST", 1 << IPT_ADDR_BROADCAST },
	{ "ANYCAST", 1 << IPT_ADDR_ANYCAST },
	{ "MULTICAST", 1 << IPT_ADDR_MULTICAST },
	{ "BLACKHOLE", 1 << IPT_ADDR_BLACKHOLE },
	{ "UNREACHABLE", 1 << IPT_ADDR_UNREACHABLE },
	{ "PROHIBIT", 1 << IPT_ADDR_PROHIBIT },
	{ "THROW", 1 << IPT_ADDR_THROW },
	{ "NAT", 1 << IPT_ADDR_NAT },
	{ "XRESOLVE", 1 << IPT_ADDR_XRESOLVE },
	{ NULL, 0 },
};

static int parse_addrtype(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	uint32_t bits;

	(void)inv;
	if (ipt_parse_bits(cx, o, arg, addrtypes, &bits) < 0)
		return -EINVAL;
	*(uint16_t *)ipt_field(in, o) = bits;
	return 0;
}

static void print_addrtype(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	ipt_print_bits(f, addrtypes, *(const uint16_t *)ipt_cfield(v, o));
}

static const char *addrtype_check(enum ipt_family family, const struct ipt_rule *rule, uint32_t set,
		const void *data, uint8_t hooks)
{
	const struct ipt_m_addrtype *m = data;
	uint16_t types = m->src_types | m->dst_types;

	(void)rule;
	if ((set & IPT_ADDRTYPE_IFACE_OUT) && (hooks & (HOOK(PREROUTING) | HOOK(INPUT))))
		return "--limit-iface-out in a chain reached from PREROUTING or INPUT";
	if ((set & IPT_ADDRTYPE_IFACE_IN) && (hooks & (HOOK(POSTROUTING) | HOOK(OUTPUT))))
		return "--limit-iface-in in a chain reached from POSTROUTING or OUTPUT";
	if (family == IPT_V6 && (types & (1 << IPT_ADDR_BROADCAST)))
		return "IPv6 has no type BROADCAST";
	if (family == IPT_V6 && (types & ~((1 << IPT_ADDR_PROHIBIT) - 1)))
		return "IPv6 knows no type PROHIBIT, THROW, NAT or XRESOLVE";
	return NULL;
}

static const struct ipt_type t_addrtype = { .parse = parse_addrtype, .print = print_addrtype };

static const struct ipt_opt addrtype_opts[] = {
	IPT_OPT("src-type", &t_addrtype, IPT_ADDRTYPE_SRC, IPT_O_INV,
			offsetof(struct ipt_m_addrtype, src_types)),
	IPT_OPT("dst-type", &t_addrtype, IPT_ADDRTYPE_DST, IPT_O_INV,
			offsetof(struct ipt_m_addrtype, dst_types)),
	IPT_OPT("limit-iface-in", &ipt_t_flag, IPT_ADDRTYPE_IFACE_IN,
			.excl = IPT_ADDRTYPE_IFACE_OUT),
	IPT_OPT("limit-iface-out", &ipt_t_flag, IPT_ADDRTYPE_IFACE_OUT,
			.excl = IPT_ADDRTYPE_IFACE_IN),
	{ 0 },
};

const struct ipt_ext ipt_match_addrtype = {
	.name = "addrtype",
	.kind = IPT_M_ADDRTYPE,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_addrtype),
	.opts = addrtype_opts,
	.one_of = IPT_ADDRTYPE_SRC | IPT_ADDRTYPE_DST,
	.check = addrtype_check,
};

/* ---- pkttype ---- */

static const struct ipt_name pkttypes[] = {
	{ "unicast", IPT_PKT_UNICAST },
	{ "broadcast", IPT_PKT_BROADCAST },
	{ "multicast", IPT_PKT_MULTICAST },
	{ "otherhost", IPT_PKT_OTHERHOST },
	{ "bcast", IPT_PKT_BROADCAST },
	{ "mcast", IPT_PKT_MULTICAST },
	{ "host", IPT_PKT_UNICAST },
	{ NULL, 0 },
};

static int parse_pkttype(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	const struct ipt_name *n = ipt_name_find(pkttypes, arg, true);

	(void)inv;
	if (n == NULL)
		return ipt_fail(cx,
				"--%s %s: unicast, broadcast, multicast or otherhost was expected",
				o->name, arg);
	*(uint8_t *)ipt_field(in, o) = n->value;
	return 0;
}

static void print_pkttype(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	fprintf(f, " %s", ipt_name_of(pkttypes, *(const uint8_t *)ipt_cfield(v, o)));
}

static const struct ipt_type t_pkttype = { .parse = parse_pkttype, .print = print_pkttype };

static const struct ipt_opt pkttype_opts[] = {
	IPT_OPT("pkt-type", &t_pkttype, IPT_PKTTYPE_TYPE, IPT_O_INV,
			offsetof(struct ipt_m_pkttype, type)),
	{ 0 },
};

const struct ipt_ext ipt_match_pkttype = {
	.name = "pkttype",
	.kind = IPT_M_PKTTYPE,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_pkttype),
	.opts = pkttype_opts,
	.need = IPT_PKTTYPE_TYPE,
};

/* ---- physdev ---- */

#define PHYSDEV_OUT (IPT_PHYSDEV_OUT | IPT_PHYSDEV_IS_OUT)

/* the match that these values belong to */
static const struct ipt_match *data_match(const struct ipt_rule *rule, const void *data)
{
	const struct ipt_match *m = rule->matches;

	while (m->data != data)
		m++;
	return m;
}

static const char *physdev_check(enum ipt_family family, const struct ipt_rule *rule, uint32_t set,
		const void *data, uint8_t hooks)
{
	const struct ipt_match *m = data_match(rule, data);

	(void)family;
	if ((set & PHYSDEV_OUT) && (hooks & HOOK(OUTPUT))
			&& (!(set & IPT_PHYSDEV_IS_BRIDGED) || (m->inv & IPT_PHYSDEV_IS_BRIDGED)))
		return "--physdev-out and --physdev-is-out in a chain reached from OUTPUT";
	return NULL;
}

static const struct ipt_opt physdev_opts[] = {
	IPT_OPT("physdev-is-in", &ipt_t_flag, IPT_PHYSDEV_IS_IN, IPT_O_INV),
	IPT_OPT("physdev-in", &ipt_t_iface, IPT_PHYSDEV_IN, IPT_O_INV,
			offsetof(struct ipt_m_physdev, in)),
	IPT_OPT("physdev-is-out", &ipt_t_flag, IPT_PHYSDEV_IS_OUT, IPT_O_INV),
	IPT_OPT("physdev-out", &ipt_t_iface, IPT_PHYSDEV_OUT, IPT_O_INV,
			offsetof(struct ipt_m_physdev, out)),
	IPT_OPT("physdev-is-bridged", &ipt_t_flag, IPT_PHYSDEV_IS_BRIDGED, IPT_O_INV),
	{ 0 },
};

const struct ipt_ext ipt_match_physdev = {
	.name = "physdev",
	.kind = IPT_M_PHYSDEV,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_physdev),
	.opts = physdev_opts,
	.one_of = PHYSDEV_OUT | IPT_PHYSDEV_IN | IPT_PHYSDEV_IS_IN | IPT_PHYSDEV_IS_BRIDGED,
	.check = physdev_check,
};

/* ---- rpfilter ---- */

static const struct ipt_opt rpfilter_opts[] = {
	IPT_OPT("loose", &ipt_t_flag, IPT_RPFILTER_LOOSE),
	IPT_OPT("validmark", &ipt_t_flag, IPT_RPFILTER_VALIDMARK),
	IPT_OPT("accept-local", &ipt_t_flag, IPT_RPFILTER_ACCEPT_LOCAL),
	IPT_OPT("invert", &ipt_t_flag, IPT_RPFILTER_INVERT),
	{ 0 },
};

const struct ipt_ext ipt_match_rpfilter = {
	.name = "rpfilter",
	.kind = IPT_M_RPFILTER,
	.families = IPT_F46,
	.tables = (1 << IPT_RAW) | (1 << IPT_MANGLE),
	.hooks = HOOK(PREROUTING),
	.opts = rpfilter_opts,
};

/* ---- devgroup, realm, cpu ---- */

/*
 * Numbers, or the name that iproute2 gives to 0: other names are in files of the box that wrote them.
 * They are printed as numbers, which can be read where iproute2 is not installed.
 */
static int parse_group(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	return ipt_t_mark.parse(cx, in, o, strcmp(arg, "default") == 0 ? "0" : arg, inv);
}

static int parse_realm(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	return ipt_t_mark.parse(cx, in, o, strcmp(arg, "cosmos") == 0 ? "0" : arg, inv);
}

static void print_number(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	ipt_t_mark.print(f, v, o);
}

static const struct ipt_type t_group = { .parse = parse_group, .print = print_number };
static const struct ipt_type t_realm = { .parse = parse_realm, .print = print_number };

static const struct ipt_opt devgroup_opts[] = {
	IPT_OPT("src-group", &t_group, IPT_DEVGROUP_SRC, IPT_O_INV,
			offsetof(struct ipt_m_devgroup, src)),
	IPT_OPT("dst-group", &t_group, IPT_DEVGROUP_DST, IPT_O_INV,
			offsetof(struct ipt_m_devgroup, dst)),
	{ 0 },
};

static const char *devgroup_check(enum ipt_family family, const struct ipt_rule *rule, uint32_t set,
		const void *data, uint8_t hooks)
{
	(void)family, (void)rule, (void)data;
	if ((set & IPT_DEVGROUP_SRC) && (hooks & ~(HOOK(PREROUTING) | HOOK(INPUT) | HOOK(FORWARD))))
		return "--src-group in a chain reached from OUTPUT or POSTROUTING";
	if ((set & IPT_DEVGROUP_DST)
			&& (hooks & ~(HOOK(FORWARD) | HOOK(OUTPUT) | HOOK(POSTROUTING))))
		return "--dst-group in a chain reached from PREROUTING or INPUT";
	return NULL;
}

const struct ipt_ext ipt_match_devgroup = {
	.name = "devgroup",
	.kind = IPT_M_DEVGROUP,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_devgroup),
	.opts = devgroup_opts,
	.one_of = IPT_DEVGROUP_SRC | IPT_DEVGROUP_DST,
	.check = devgroup_check,
};

static const struct ipt_opt realm_opts[] = {
	IPT_OPT("realm", &t_realm, IPT_REALM_REALM, IPT_O_INV, offsetof(struct ipt_m_realm, realm)),
	{ 0 },
};

const struct ipt_ext ipt_match_realm = {
	.name = "realm",
	.kind = IPT_M_REALM,
	.families = IPT_F4,
	.hooks = HOOK(POSTROUTING) | HOOK(FORWARD) | HOOK(OUTPUT) | HOOK(INPUT),
	.size = sizeof(struct ipt_m_realm),
	.opts = realm_opts,
	.need = IPT_REALM_REALM,
};

static const struct ipt_opt cpu_opts[] = {
	IPT_OPT("cpu", &ipt_t_u32, IPT_CPU_CPU, IPT_O_INV, offsetof(struct ipt_m_cpu, cpu)),
	{ 0 },
};

const struct ipt_ext ipt_match_cpu = {
	.name = "cpu",
	.kind = IPT_M_CPU,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_cpu),
	.opts = cpu_opts,
	.need = IPT_CPU_CPU,
};

/* ---- owner ---- */

static int parse_owner(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_range32 *r = ipt_field(in, o);
	bool uid = o->bit == IPT_OWNER_UID;
	const struct passwd *pw = uid ? getpwnam(arg) : NULL;
	const struct group *gr = uid ? NULL : getgrnam(arg);
	uint64_t lo, hi;
	const char *end;

	(void)inv;
	if (pw != NULL || gr != NULL) {
		r->lo = r->hi = pw != NULL ? pw->pw_uid : gr->gr_gid;
		return 0;
	}
	if (!ipt_number(arg, &end, &lo, 0, UINT32_MAX - 1))
		return ipt_fail(cx, "--%s: unknown %s \"%s\"", o->name, uid ? "user" : "group",
				arg);
	hi = lo;
	if ((*end == '-' && !ipt_number(end + 1, NULL, &hi, 0, UINT32_MAX - 1))
			|| (*end != '-' && *end != '\0') || lo > hi)
		return ipt_fail(cx, "--%s %s: a name, number or range a-b was expected", o->name,
				arg);
	*r = (struct ipt_range32){ lo, hi };
	return 0;
}

static void print_owner(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_range32 *r = ipt_cfield(v, o);

	fprintf(f, r->lo == r->hi ? " %u" : " %u-%u", r->lo, r->hi);
}

static const struct ipt_type t_owner = { .parse = parse_owner, .print = print_owner };

static const struct ipt_opt owner_opts[] = {
	IPT_OPT("socket-exists", &ipt_t_flag, IPT_OWNER_SOCKET, IPT_O_INV),
	IPT_OPT("uid-owner", &t_owner, IPT_OWNER_UID, IPT_O_INV, offsetof(struct ipt_m_owner, uid)),
	IPT_OPT("gid-owner", &t_owner, IPT_OWNER_GID, IPT_O_INV, offsetof(struct ipt_m_owner, gid)),
	IPT_OPT("suppl-groups", &ipt_t_flag, IPT_OWNER_SUPPL),
	{ 0 },
};

const struct ipt_ext ipt_match_owner = {
	.name = "owner",
	.kind = IPT_M_OWNER,
	.families = IPT_F46,
	.hooks = HOOK(OUTPUT) | HOOK(POSTROUTING),
	.size = sizeof(struct ipt_m_owner),
	.opts = owner_opts,
	.one_of = IPT_OWNER_SOCKET | IPT_OWNER_UID | IPT_OWNER_GID,
};
