/* SPDX-License-Identifier: BSD-3-Clause */
/* The matches and targets that rules are made of. */
#include "rules_gen_ct.h"
#include "rules_gen_ext.h"

#include <string.h>

#define TCP 6
#define UDP 17
#define UDPLITE 136
#define DCCP 33
#define SCTP 132

static const uint32_t ports[] = { 0, 1, 22, 53, 79, 80, 81, 443, 1023, 1024, 8080, 33434, 65534,
	65535 };

static const char *maybe_not(struct rules_ctx *c, unsigned int percent)
{
	return gen_chance(c->g, percent) ? " !" : "";
}

static uint32_t draw_port(struct rules_ctx *c)
{
	uint32_t port = PICK(c->g, ports);

	rules_note(c->s, NOTE_PORT, port);
	return port;
}

/* iptables does not print the range of all, not even behind `!` */
static void put_range(struct rules_ctx *c, const char *sep, uint32_t lo, uint32_t hi)
{
	fprintf(c->f, "%s%u:%u", sep, lo == 0 && hi == UINT16_MAX ? 1 : lo, hi);
}

static void put_port_range(struct rules_ctx *c, const char *sep)
{
	uint32_t a = draw_port(c), b = draw_port(c);

	if (gen_chance(c->g, 60) || a == b)
		fprintf(c->f, "%s%u", sep, a);
	else
		put_range(c, sep, a < b ? a : b, a < b ? b : a);
}

static void put_ports(struct rules_ctx *c)
{
	if (gen_chance(c->g, 40)) {
		fprintf(c->f, "%s --sport", maybe_not(c, 20));
		put_port_range(c, " ");
	}
	if (gen_chance(c->g, 70)) {
		fprintf(c->f, "%s --dport", maybe_not(c, 20));
		put_port_range(c, " ");
	}
}

static void put_tcp(struct rules_ctx *c)
{
	static const char *const flags[] = { "SYN,RST,ACK,FIN SYN", "ALL NONE", "SYN,FIN SYN,FIN",
		"RST RST", "ACK NONE", "PSH,URG PSH", "SYN ACK" };
	static const unsigned int options[] = { 1, 2, 3, 4, 8, 254 };

	if (c->proto != TCP)
		return;
	fprintf(c->f, " -m tcp");
	put_ports(c);
	if (gen_chance(c->g, 25))
		fprintf(c->f, "%s --tcp-flags %s", maybe_not(c, 30), PICK(c->g, flags));
	else if (gen_chance(c->g, 10))
		fprintf(c->f, "%s --syn", maybe_not(c, 30));
	if (gen_chance(c->g, 20))
		fprintf(c->f, "%s --tcp-option %u", maybe_not(c, 30), PICK(c->g, options));
}

static void put_udp(struct rules_ctx *c)
{
	if (c->proto != UDP) /* iptables has no module for UDP-Lite, only the kernel has */
		return;
	fprintf(c->f, " -m udp");
	put_ports(c);
}

static void put_icmp(struct rules_ctx *c)
{
	static const char *const v4[] = { "8", "0", "3", "3/3", "3/1", "any", "255", "11/0", "30" };
	static const char *const v6[] = { "128", "129", "1", "1/4", "3/0", "255", "135", "2" };

	if (c->proto == 1 && !c->s->v6)
		fprintf(c->f, " -m icmp%s --icmp-type %s", maybe_not(c, 25), PICK(c->g, v4));
	if (c->proto == 58 && c->s->v6)
		fprintf(c->f, " -m icmp6%s --icmpv6-type %s", maybe_not(c, 25), PICK(c->g, v6));
}

static void put_multiport(struct rules_ctx *c)
{
	static const char *const which[] = { "--sports", "--dports", "--dports", "--ports" };

	if (c->proto != TCP && c->proto != UDP && c->proto != UDPLITE && c->proto != DCCP
			&& c->proto != SCTP)
		return;
	fprintf(c->f, " -m multiport%s %s", maybe_not(c, 25), PICK(c->g, which));
	put_port_range(c, " ");
	for (unsigned int n = gen_below(c->g, 6); n > 0; n--)
		put_port_range(c, ",");
}

static void put_range4(struct rules_ctx *c, const char *option)
{
	uint32_t nets[] = { IP4(10, 0, 1, 2), IP4(10, 0, 2, 1), IP4(192, 0, 2, 70),
		IP4(198, 18, 3, 4) };
	uint32_t lo = PICK(c->g, nets), hi = lo + gen_below(c->g, gen_chance(c->g, 50) ? 4 : 70000);

	rules_note(c->s, NOTE_ADDR4, lo);
	rules_note(c->s, NOTE_ADDR4, hi);
	fprintf(c->f, "%s %s %u.%u.%u.%u-%u.%u.%u.%u", maybe_not(c, 25), option, lo >> 24,
			lo >> 16 & 255, lo >> 8 & 255, lo & 255, hi >> 24, hi >> 16 & 255,
			hi >> 8 & 255, hi & 255);
}

static void put_range6(struct rules_ctx *c, const char *option)
{
	static const char *const ranges[] = { "fd01::1-fd01::2", "fd01::3-fd02::1",
		"fd02::2-fd02::2", "2001:db8:b::4-2001:db8:b::6", "::-ffff::" };

	fprintf(c->f, "%s %s %s", maybe_not(c, 25), option, PICK(c->g, ranges));
}

static void put_iprange(struct rules_ctx *c)
{
	void (*put)(struct rules_ctx *, const char *) = c->s->v6 ? put_range6 : put_range4;
	unsigned int which = 1 + gen_below(c->g, 3);

	fprintf(c->f, " -m iprange");
	if (which & 1)
		put(c, "--src-range");
	if (which & 2)
		put(c, "--dst-range");
}

static void put_mac(struct rules_ctx *c)
{
	static const char *const macs[] = { "02:00:00:00:01:02", "02:00:00:00:02:02",
		"02:00:00:00:01:03" };

	/* where no packet has a source, the kernel refuses it */
	if (c->user || strcmp(c->chain, "OUTPUT") == 0 || strcmp(c->chain, "POSTROUTING") == 0)
		return;
	fprintf(c->f, " -m mac%s --mac-source %s", maybe_not(c, 30), PICK(c->g, macs));
}

static void put_mark(struct rules_ctx *c)
{
	static const char *const marks[] = { "0x0", "0x1", "0x2/0xf", "0x10/0x10", "0x101/0xff",
		"0x0/0x3", "0xdeadbeef" };

	fprintf(c->f, " -m mark%s --mark %s", maybe_not(c, 30), PICK(c->g, marks));
}

static void put_length(struct rules_ctx *c)
{
	uint32_t lo = (c->s->v6 ? 40 : 20) + gen_below(c->g, 90);

	rules_note(c->s, NOTE_LENGTH, lo);
	fprintf(c->f, " -m length%s --length %u", maybe_not(c, 25), lo);
	if (gen_chance(c->g, 60)) {
		lo += gen_below(c->g, 40);
		rules_note(c->s, NOTE_LENGTH, lo);
		fprintf(c->f, ":%u", lo);
	}
}

static void put_comment(struct rules_ctx *c)
{
	fprintf(c->f, " -m comment --comment \"it's rule %u\"", gen_below(c->g, 1000));
}

const struct rules_match rules_matches[] = {
	{ "tcp", 8, put_tcp },
	{ "udp", 8, put_udp },
	{ "icmp", 5, put_icmp },
	{ "multiport", 6, put_multiport },
	{ "iprange", 3, put_iprange },
	{ "mac", 2, put_mac },
	{ "mark", 5, put_mark },
	{ "length", 3, put_length },
	{ "comment", 1, put_comment },
	{ "ttl", 3, ext_put_ttl },
	{ "tos", 3, ext_put_tos },
	{ "ecn", 2, ext_put_ecn },
	{ "tcpmss", 2, ext_put_tcpmss },
	{ "pkttype", 1, ext_put_pkttype },
	{ "physdev", 1, ext_put_physdev },
	{ "addrtype", 3, ext_put_addrtype },
	{ "rpfilter", 2, ext_put_rpfilter },
	{ "u32", 3, ext_put_u32 },
	{ "string", 3, ext_put_string },
	{ "limit", 2, ext_put_limit },
	{ "statistic", 2, ext_put_statistic },
	{ "quota", 1, ext_put_quota },
	{ "sctp", 3, ext_put_sctp },
	{ "ipsec", 4, ext_put_ipsec },
	{ "v6", 12, ext_put_v6 },
	{ "zero", 1, ext_put_zero },
	{ "bpf", 4, ext_put_bpf },
	{ "hashlimit", 3, ext_put_hashlimit },
	{ "recent", 4, ext_put_recent },
	{ "state", 6, ct_put_state },
	{ "conntrack", 5, ct_put_conntrack },
	{ "connmark", 3, ct_put_connmark },
	{ "connbytes", 2, ct_put_connbytes },
	{ "connlabel", 2, ct_put_connlabel },
	{ "cluster", 1, ct_put_cluster },
	{ "helper", 1, ct_put_helper },
	{ NULL, 0, NULL },
};

static bool put_accept(struct rules_ctx *c)
{
	return fprintf(c->f, " -j ACCEPT") > 0;
}

static bool put_drop(struct rules_ctx *c)
{
	return fprintf(c->f, " -j DROP") > 0;
}

static bool put_return(struct rules_ctx *c)
{
	return fprintf(c->f, " -j RETURN") > 0;
}

static bool put_none(__attribute__((unused)) struct rules_ctx *c)
{
	return true;
}

static bool put_queue(struct rules_ctx *c)
{
	return fprintf(c->f, " -j QUEUE") > 0;
}

static bool put_reject(struct rules_ctx *c)
{
	static const char *const v4[] = { "icmp-net-unreachable", "icmp-host-unreachable",
		"icmp-proto-unreachable", "icmp-port-unreachable", "icmp-net-prohibited",
		"icmp-host-prohibited", "icmp-admin-prohibited" };
	static const char *const v6[] = { "icmp6-no-route", "icmp6-adm-prohibited",
		"icmp6-addr-unreachable", "icmp6-port-unreachable", "icmp6-policy-fail",
		"icmp6-reject-route" };

	/* of an own packet it goes to the router itself: see the note in the report of the test */
	if (strcmp(c->table, "filter") != 0 || c->user || strcmp(c->chain, "OUTPUT") == 0)
		return false;
	if (c->proto == TCP && gen_chance(c->g, 50))
		fprintf(c->f, " -j REJECT --reject-with tcp-reset");
	else
		fprintf(c->f, " -j REJECT --reject-with %s",
				c->s->v6 ? PICK(c->g, v6) : PICK(c->g, v4));
	return true;
}

static bool put_set_mark(struct rules_ctx *c)
{
	static const char *const marks[] = { "--set-mark 0x1", "--set-xmark 0x2/0xf",
		"--or-mark 0x10", "--and-mark 0xf0", "--xor-mark 0x3", "--set-mark 0xdeadbeef",
		"--set-mark 0x0" };

	if (rules_reroutes_copies(c))
		return false;
	return fprintf(c->f, " -j MARK %s", PICK(c->g, marks)) > 0;
}

const struct rules_target rules_targets[] = {
	{ "none", 3, put_none },
	{ "ACCEPT", 6, put_accept },
	{ "DROP", 4, put_drop },
	{ "RETURN", 4, put_return },
	{ "QUEUE", 1, put_queue },
	{ "REJECT", 6, put_reject },
	{ "MARK", 6, put_set_mark },
	{ "HMARK", 3, ext_put_hmark },
	{ "TTL", 2, ext_put_set_ttl },
	{ "TOS", 2, ext_put_set_tos },
	{ "ECN", 1, ext_put_set_ecn },
	{ "TCPMSS", 2, ext_put_set_tcpmss },
	{ "TCPOPTSTRIP", 1, ext_put_tcpoptstrip },
	{ "LOG", 2, ext_put_log },
	{ "NFLOG", 1, ext_put_nflog },
	{ "TEE", 2, ext_put_tee },
	{ "CONNMARK", 4, ct_put_set_connmark },
	{ "CT", 5, ct_put_ct },
	{ "NOTRACK", 1, ct_put_notrack },
	{ NULL, 0, NULL },
};
