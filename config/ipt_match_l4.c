/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_match_l4.c - tcp, udp, udplite, dccp, esp, ah, multiport */
#include "config/ipt_list.h"

#include <netinet/in.h>
#include <string.h>

/* All ports, not inverted, is no test. Inverted it never matches, and that has to stay. */
static void drop_if_all(struct ipt_inst *in, uint32_t bit, const struct ipt_range16 *r)
{
	if (r->lo == 0 && r->hi == UINT16_MAX && !(in->inv & bit))
		in->set &= ~bit;
}

/* The four structs of ports begin alike: source, then destination. */
static struct ipt_range16 *ports_of(struct ipt_inst *in)
{
	return in->data;
}

static int ports_init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	(void)cx;
	ports_of(in)[0] = ports_of(in)[1] = (struct ipt_range16){ 0, UINT16_MAX };
	return 0;
}

static int ports_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	(void)cx;
	drop_if_all(in, IPT_PORTS_SPORT, &ports_of(in)[0]);
	drop_if_all(in, IPT_PORTS_DPORT, &ports_of(in)[1]);
	return 0;
}

#define PORT_ROWS(type, ports)                                                                   \
	IPT_OPT("sport", &ports, IPT_PORTS_SPORT, IPT_O_INV, offsetof(type, sport)),             \
			IPT_OPT("dport", &ports, IPT_PORTS_DPORT, IPT_O_INV,                     \
					offsetof(type, dport)),                                  \
			IPT_OPT("source-port", &ports, IPT_PORTS_SPORT, IPT_O_INV | IPT_O_QUIET, \
					offsetof(type, sport)),                                  \
			IPT_OPT("destination-port", &ports, IPT_PORTS_DPORT,                     \
					IPT_O_INV | IPT_O_QUIET, offsetof(type, dport))

/* ---- tcp ---- */

static const struct ipt_name tcp_flags[] = {
	{ "FIN", 0x01 },
	{ "SYN", 0x02 },
	{ "RST", 0x04 },
	{ "PSH", 0x08 },
	{ "ACK", 0x10 },
	{ "URG", 0x20 },
	{ "ALL", 0x3f },
	{ "NONE", 0 },
	{ NULL, 0 },
};

static int parse_tcp_flags(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_tcp *m = in->data;
	const char *cmp = ipt_next_arg(cx);
	uint32_t mask, want;

	(void)inv;
	if (cmp == NULL)
		return ipt_fail(cx, "--tcp-flags %s: a second list of flags was expected", arg);
	if (ipt_parse_bits(cx, o, arg, tcp_flags, &mask) < 0
			|| ipt_parse_bits(cx, o, cmp, tcp_flags, &want) < 0)
		return -EINVAL;
	m->flags_mask = mask;
	m->flags_cmp = want;
	return 0;
}

static int parse_syn(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_tcp *m = in->data;

	(void)cx, (void)o, (void)arg, (void)inv;
	m->flags_mask = 0x17; /* FIN SYN RST ACK */
	m->flags_cmp = 0x02;
	return 0;
}

static void print_tcp_flags(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_tcp *m = v->data;
	const uint8_t lists[] = { m->flags_mask, m->flags_cmp };

	(void)o;
	for (int i = 0; i < 2; i++) {
		if (lists[i] != 0)
			ipt_print_bits(f, tcp_flags, lists[i]);
		else
			fputs(" NONE", f);
	}
}

static int tcp_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_m_tcp *m = in->data;

	if (m->flags_mask == 0 && m->flags_cmp == 0 && !(in->inv & IPT_TCP_FLAGS))
		in->set &= ~IPT_TCP_FLAGS;
	return ports_finish(cx, in);
}

static const struct ipt_type t_tcp_flags = { .parse = parse_tcp_flags, .print = print_tcp_flags };
static const struct ipt_type t_syn = { .no_arg = true, .parse = parse_syn };

static const struct ipt_opt tcp_opts[] = {
	PORT_ROWS(struct ipt_m_tcp, ipt_t_ports),
	IPT_OPT("tcp-option", &ipt_t_u8, IPT_TCP_OPTION, IPT_O_INV,
			offsetof(struct ipt_m_tcp, option), 1),
	IPT_OPT("tcp-flags", &t_tcp_flags, IPT_TCP_FLAGS, IPT_O_INV),
	IPT_OPT("syn", &t_syn, IPT_TCP_FLAGS, IPT_O_INV | IPT_O_QUIET),
	{ 0 },
};

const struct ipt_ext ipt_match_tcp = {
	.name = "tcp",
	.kind = IPT_M_TCP,
	.families = IPT_F46,
	.proto = IPPROTO_TCP,
	.size = sizeof(struct ipt_m_tcp),
	.opts = tcp_opts,
	.init = ports_init,
	.finish = tcp_finish,
};

/* ---- udp, udplite ---- */

static const struct ipt_opt udp_opts[] = { PORT_ROWS(struct ipt_m_udp, ipt_t_any_ports), { 0 } };

const struct ipt_ext ipt_match_udp = {
	.name = "udp",
	.kind = IPT_M_UDP,
	.families = IPT_F46,
	.proto = IPPROTO_UDP,
	.size = sizeof(struct ipt_m_udp),
	.opts = udp_opts,
	.init = ports_init,
	.finish = ports_finish,
};

/* The kernel has it, iptables 1.8.9 has no words for it: taken with those of udp. */
const struct ipt_ext ipt_match_udplite = {
	.name = "udplite",
	.kind = IPT_M_UDPLITE,
	.families = IPT_F46,
	.proto = IPPROTO_UDPLITE,
	.size = sizeof(struct ipt_m_udplite),
	.opts = udp_opts,
	.init = ports_init,
	.finish = ports_finish,
};

/* ---- dccp ---- */

static const struct ipt_name dccp_types[] = {
	{ "REQUEST", 1 << 0 },
	{ "RESPONSE", 1 << 1 },
	{ "DATA", 1 << 2 },
	{ "ACK", 1 << 3 },
	{ "DATAACK", 1 << 4 },
	{ "CLOSEREQ", 1 << 5 },
	{ "CLOSE", 1 << 6 },
	{ "RESET", 1 << 7 },
	{ "SYNC", 1 << 8 },
	{ "SYNCACK", 1 << 9 },
	{ "INVALID", 1 << 10 },
	{ NULL, 0 },
};

static int parse_dccp_types(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	uint32_t bits;

	(void)inv;
	if (ipt_parse_bits(cx, o, arg, dccp_types, &bits) < 0)
		return -EINVAL;
	*(uint16_t *)ipt_field(in, o) = bits;
	return 0;
}

static void print_dccp_types(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	ipt_print_bits(f, dccp_types, *(const uint16_t *)ipt_cfield(v, o));
}

static const struct ipt_type t_dccp_types = { .parse = parse_dccp_types,
	.print = print_dccp_types };

static const struct ipt_opt dccp_opts[] = {
	PORT_ROWS(struct ipt_m_dccp, ipt_t_ports),
	IPT_OPT("dccp-types", &t_dccp_types, IPT_DCCP_TYPES, IPT_O_INV,
			offsetof(struct ipt_m_dccp, types)),
	IPT_OPT("dccp-option", &ipt_t_u8, IPT_DCCP_OPTION, IPT_O_INV,
			offsetof(struct ipt_m_dccp, option), 1),
	{ 0 },
};

const struct ipt_ext ipt_match_dccp = {
	.name = "dccp",
	.kind = IPT_M_DCCP,
	.families = IPT_F46,
	.proto = IPPROTO_DCCP,
	.size = sizeof(struct ipt_m_dccp),
	.opts = dccp_opts,
	.init = ports_init,
};

/* ---- esp, ah ---- */

/* Both structs begin with the range, and both sets with its bit. */
static int spi_init(struct ipt_ctx *cx, struct ipt_inst *in)
{
	struct ipt_range32 *spi = in->data;

	(void)cx;
	*spi = (struct ipt_range32){ 0, UINT32_MAX };
	return 0;
}

static int spi_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_range32 *spi = in->data;

	(void)cx;
	if (spi->lo == 0 && spi->hi == UINT32_MAX && !(in->inv & IPT_ESP_SPI))
		in->set &= ~IPT_ESP_SPI;
	return 0;
}

/* The kernel takes a length of 0 for none, also an inverted one. */
static int ah6_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_m_ah *m = in->data;

	if (m->len_bytes == 0 && !(in->inv & IPT_AH_LEN))
		in->set &= ~IPT_AH_LEN;
	return spi_finish(cx, in);
}

static const struct ipt_opt esp_opts[] = {
	IPT_OPT("espspi", &ipt_t_range32, IPT_ESP_SPI, IPT_O_INV, offsetof(struct ipt_m_esp, spi)),
	{ 0 },
};

const struct ipt_ext ipt_match_esp = {
	.name = "esp",
	.kind = IPT_M_ESP,
	.families = IPT_F46,
	.proto = IPPROTO_ESP,
	.size = sizeof(struct ipt_m_esp),
	.opts = esp_opts,
	.init = spi_init,
	.finish = spi_finish,
};

static const struct ipt_opt ah4_opts[] = {
	IPT_OPT("ahspi", &ipt_t_range32, IPT_AH_SPI, IPT_O_INV, offsetof(struct ipt_m_ah, spi)),
	{ 0 },
};

const struct ipt_ext ipt_match_ah4 = {
	.name = "ah",
	.kind = IPT_M_AH,
	.families = IPT_F4,
	.proto = IPPROTO_AH,
	.size = sizeof(struct ipt_m_ah),
	.opts = ah4_opts,
	.init = spi_init,
	.finish = spi_finish,
};

static const struct ipt_opt ah6_opts[] = {
	IPT_OPT("ahspi", &ipt_t_range32, IPT_AH_SPI, IPT_O_INV, offsetof(struct ipt_m_ah, spi)),
	IPT_OPT("ahlen", &ipt_t_u32, IPT_AH_LEN, IPT_O_INV, offsetof(struct ipt_m_ah, len_bytes)),
	IPT_OPT("ahres", &ipt_t_flag, IPT_AH_RES),
	{ 0 },
};

const struct ipt_ext ipt_match_ah6 = {
	.name = "ah",
	.kind = IPT_M_AH,
	.families = IPT_F6,
	.size = sizeof(struct ipt_m_ah),
	.opts = ah6_opts,
	.init = spi_init,
	.finish = ah6_finish,
};

/* ---- multiport ---- */

static int parse_multiport(struct ipt_ctx *cx, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_m_multiport *m = in->data;
	char list[IPT_ARG_MAX + 1], *next = list, *word, *hi;
	unsigned int slots = 0;

	(void)inv;
	strcpy(list, arg); /* no word is longer than IPT_ARG_MAX */
	while ((word = strsep(&next, ",")) != NULL) {
		struct ipt_range16 *r = &m->ports[m->n];

		hi = strchr(word, ':');
		slots += hi != NULL ? 2 : 1;
		if (slots > IPT_MULTIPORT_MAX)
			return ipt_fail(cx, "--%s: more than %d ports, a range counts as two",
					o->name, IPT_MULTIPORT_MAX);
		if (hi != NULL)
			*hi++ = '\0';
		if (ipt_parse_port(cx, word, &r->lo) < 0)
			return -EINVAL;
		r->hi = r->lo;
		if (hi != NULL && ipt_parse_port(cx, hi, &r->hi) < 0)
			return -EINVAL;
		if (hi != NULL && r->lo >= r->hi)
			return ipt_fail(cx, "--%s: range %s:%s is not rising", o->name, word, hi);
		m->n++;
	}
	return 0;
}

static void print_multiport(FILE *f, const struct ipt_view *v, const struct ipt_opt *o)
{
	const struct ipt_m_multiport *m = v->data;

	(void)o;
	for (int i = 0; i < m->n; i++) {
		fprintf(f, "%c%u", i == 0 ? ' ' : ',', m->ports[i].lo);
		if (m->ports[i].lo != m->ports[i].hi)
			fprintf(f, ":%u", m->ports[i].hi);
	}
}

static int multiport_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	(void)in;
	switch (cx->rule->proto_inv ? 0 : cx->rule->proto) {
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
	case IPPROTO_SCTP:
	case IPPROTO_DCCP:
		return 0;
	}
	return ipt_fail(cx, "match \"multiport\": -p tcp, udp, udplite, sctp or dccp was expected");
}

static const struct ipt_type t_multiport = { .parse = parse_multiport, .print = print_multiport };

#define MULTIPORT_ALL (IPT_MULTIPORT_SPORTS | IPT_MULTIPORT_DPORTS | IPT_MULTIPORT_PORTS)
#define ROW(name, bit, flags) \
	IPT_OPT(name, &t_multiport, bit, flags, .excl = MULTIPORT_ALL & ~(bit))

static const struct ipt_opt multiport_opts[] = {
	ROW("sports", IPT_MULTIPORT_SPORTS, IPT_O_INV),
	ROW("dports", IPT_MULTIPORT_DPORTS, IPT_O_INV),
	ROW("ports", IPT_MULTIPORT_PORTS, IPT_O_INV),
	ROW("source-ports", IPT_MULTIPORT_SPORTS, IPT_O_INV | IPT_O_QUIET),
	ROW("destination-ports", IPT_MULTIPORT_DPORTS, IPT_O_INV | IPT_O_QUIET),
	{ 0 },
};

const struct ipt_ext ipt_match_multiport = {
	.name = "multiport",
	.kind = IPT_M_MULTIPORT,
	.families = IPT_F46,
	.size = sizeof(struct ipt_m_multiport),
	.opts = multiport_opts,
	.one_of = MULTIPORT_ALL,
	.finish = multiport_finish,
};
