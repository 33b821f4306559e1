/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of the rarer matches and targets. */
#include "rules_gen_ext.h"

#include <string.h>

#define TCP 6
#define SCTP 132

static const char *maybe_not(struct rules_ctx *c, unsigned int percent)
{
	return gen_chance(c->g, percent) ? " !" : "";
}

static bool is_chain(const struct rules_ctx *c, const char *name)
{
	return !c->user && strcmp(c->chain, name) == 0;
}

void ext_put_ttl(struct rules_ctx *c)
{
	static const unsigned int values[] = { 1, 2, 62, 63, 64, 65, 254, 255 };
	static const char *const how[] = { "eq", "lt", "gt" };
	const char *name = c->s->v6 ? "hl" : "ttl", *op = PICK(c->g, how);

	fprintf(c->f, " -m %s%s --%s-%s %u", name, *op == 'e' ? maybe_not(c, 30) : "", name, op,
			PICK(c->g, values));
}

void ext_put_tos(struct rules_ctx *c)
{
	static const char *const values[] = { "0x00", "0x10/0x1e", "0x08/0x3f", "0x03/0x03",
		"0xb8/0xfc", "0x11/0x10", "0x02/0xff" };

	if (gen_chance(c->g, 50))
		fprintf(c->f, " -m tos%s --tos %s", maybe_not(c, 30), PICK(c->g, values));
	else
		fprintf(c->f, " -m dscp%s --dscp %u", maybe_not(c, 30),
				gen_chance(c->g, 50) ? 0 : gen_below(c->g, 64));
}

void ext_put_ecn(struct rules_ctx *c)
{
	bool tcp = c->proto == TCP && gen_chance(c->g, 70);

	fprintf(c->f, " -m ecn");
	if (tcp && gen_chance(c->g, 60))
		fprintf(c->f, "%s --ecn-tcp-ece", maybe_not(c, 40));
	if (tcp && gen_chance(c->g, 40))
		fprintf(c->f, "%s --ecn-tcp-cwr", maybe_not(c, 40));
	fprintf(c->f, "%s --ecn-ip-ect %u", maybe_not(c, 30), gen_below(c->g, 4));
}

void ext_put_tcpmss(struct rules_ctx *c)
{
	static const char *const values[] = { "1460", "0:1460", "1461:65535", "536:1400", "0" };

	if (c->proto == TCP)
		fprintf(c->f, " -m tcpmss%s --mss %s", maybe_not(c, 30), PICK(c->g, values));
}

void ext_put_pkttype(struct rules_ctx *c)
{
	static const char *const types[] = { "unicast", "broadcast", "multicast" };

	fprintf(c->f, " -m pkttype%s --pkt-type %s", maybe_not(c, 40), PICK(c->g, types));
}

void ext_put_physdev(struct rules_ctx *c)
{
	static const char *const options[] = { "--physdev-in pa", "--physdev-is-in",
		"--physdev-is-bridged" };

	if (is_chain(c, "PREROUTING") || is_chain(c, "FORWARD"))
		fprintf(c->f, " -m physdev%s %s", maybe_not(c, 60), PICK(c->g, options));
}

void ext_put_addrtype(struct rules_ctx *c)
{
	static const char *const v4[] = { "LOCAL", "UNICAST", "BROADCAST", "MULTICAST",
		"LOCAL,UNICAST", "UNSPEC", "BROADCAST,MULTICAST", "BLACKHOLE", "ANYCAST" };
	static const char *const v6[] = { "LOCAL", "UNICAST", "MULTICAST", "UNICAST,LOCAL",
		"UNSPEC", "UNREACHABLE", "ANYCAST" };
	unsigned int which = 1 + gen_below(c->g, 3);

	fprintf(c->f, " -m addrtype");
	if (which & 1)
		fprintf(c->f, "%s --src-type %s", maybe_not(c, 25),
				c->s->v6 ? PICK(c->g, v6) : PICK(c->g, v4));
	if (which & 2)
		fprintf(c->f, "%s --dst-type %s", maybe_not(c, 25),
				c->s->v6 ? PICK(c->g, v6) : PICK(c->g, v4));
	if (gen_chance(c->g, 25) && (is_chain(c, "PREROUTING") || is_chain(c, "INPUT")))
		fprintf(c->f, " --limit-iface-in");
	else if (gen_chance(c->g, 25) && (is_chain(c, "OUTPUT") || is_chain(c, "POSTROUTING")))
		fprintf(c->f, " --limit-iface-out");
}

void ext_put_rpfilter(struct rules_ctx *c)
{
	static const char *const options[] = { "", " --loose", " --accept-local", " --validmark",
		" --loose --accept-local" };

	if (!is_chain(c, "PREROUTING"))
		return;
	fprintf(c->f, " -m rpfilter%s%s", PICK(c->g, options),
			gen_chance(c->g, 40) ? " --invert" : "");
}

void ext_put_u32(struct rules_ctx *c)
{
	static const char *const tests[] = { "0x0&0xffff=0x0:0x40", "0x0>>0x1c=0x4",
		"0x0>>0x16&0x3c@0x0>>0x10=0x50,0x35,0x1bb", "0x28=0x0:0xffffffff",
		"0x0>>0x16&0x3c@0xc>>0x1a&0x3c@0x0=0x0:0x7fffffff", "0x6&0xff=0x6&&0x4&0x1fff=0x0",
		"0x8=0x0:0x40ffffff", "0xc<<0x8>>0x18=0x1,0x2", "0x60=0x0:0xffffffff" };

	fprintf(c->f, " -m u32%s --u32 \"%s\"", maybe_not(c, 30), PICK(c->g, tests));
}

void ext_put_string(struct rules_ctx *c)
{
	static const char *const patterns[] = { "--hex-string \"|0a00|\"",
		"--hex-string \"|0001|\"", "--hex-string \"|fd|\"", "--string \"E\"",
		"--hex-string \"|00000000|\"", "--hex-string \"|0a000102|\"", "--string \"a\"" };
	static const char *const algos[] = { "bm", "kmp" };
	/* the identification of an own packet, and so its checksum, is random */
	unsigned int from = c->s->v6 ? gen_below(c->g, 30) : 12 + gen_below(c->g, 20);

	fprintf(c->f, " -m string%s %s --algo %s", maybe_not(c, 30), PICK(c->g, patterns),
			PICK(c->g, algos));
	if (!c->s->v6 || gen_chance(c->g, 50))
		fprintf(c->f, " --from %u", from);
	/* the checksum of the kernel's own resets over IPv6, at 56, is not computed yet */
	if (c->s->v6
			&& (c->user || strcmp(c->chain, "OUTPUT") == 0
					|| strcmp(c->chain, "POSTROUTING") == 0))
		fprintf(c->f, " --to %u", from + gen_below(c->g, 50 - from));
	else if (gen_chance(c->g, 50))
		fprintf(c->f, " --to %u", from + gen_below(c->g, 30));
	if (gen_chance(c->g, 30))
		fprintf(c->f, " --icase");
}

/* rates so low that nothing comes back while the test runs */
void ext_put_limit(struct rules_ctx *c)
{
	static const char *const rates[] = { "1/hour", "2/hour", "6/hour" };

	if (c->s->tee)
		return;
	fprintf(c->f, " -m limit --limit %s --limit-burst %u", PICK(c->g, rates),
			1 + gen_below(c->g, 12));
}

void ext_put_statistic(struct rules_ctx *c)
{
	unsigned int every = 1 + gen_below(c->g, 5);

	if (c->s->tee)
		return;
	if (gen_chance(c->g, 20))
		fprintf(c->f, " -m statistic --mode random%s --probability %u", maybe_not(c, 30),
				gen_below(c->g, 2));
	else
		fprintf(c->f, " -m statistic --mode nth%s --every %u --packet %u", maybe_not(c, 30),
				every, gen_below(c->g, every));
}

void ext_put_quota(struct rules_ctx *c)
{
	if (c->s->tee)
		return;
	fprintf(c->f, " -m quota%s --quota %u", maybe_not(c, 30), gen_below(c->g, 2000));
}

void ext_put_sctp(struct rules_ctx *c)
{
	static const char *const chunks[] = { "any DATA", "all INIT,DATA", "only DATA",
		"any DATA:Be,INIT" };

	if (c->proto != SCTP)
		return;
	fprintf(c->f, " -m sctp%s --dport %u:%u", maybe_not(c, 30), 0, gen_below(c->g, 65536));
	if (gen_chance(c->g, 60))
		fprintf(c->f, "%s --chunk-types %s", maybe_not(c, 30), PICK(c->g, chunks));
}

static bool in_mangle(const struct rules_ctx *c)
{
	return strcmp(c->table, "mangle") == 0;
}

/*
 * A copy of a packet to the router itself, routed anew by what a rule has changed, comes in once more
 * by the kernel's lo, which sluice does not have.
 */
bool rules_reroutes_copies(const struct rules_ctx *c)
{
	return c->s->tee && in_mangle(c) && (c->user || strcmp(c->chain, "OUTPUT") == 0);
}

bool ext_put_set_ttl(struct rules_ctx *c)
{
	static const char *const how[] = { "set 64", "set 3", "inc 1", "inc 255", "dec 1",
		"dec 60" };
	const char *option = c->s->v6 ? "hl" : "ttl";

	/* what has no TTL left is told so, and such errors are rationed */
	if (!in_mangle(c) || c->user || strcmp(c->chain, "FORWARD") != 0)
		return false;
	return fprintf(c->f, " -j %s --%s-%s", c->s->v6 ? "HL" : "TTL", option, PICK(c->g, how))
			> 0;
}

bool ext_put_set_tos(struct rules_ctx *c)
{
	static const char *const how[] = { "TOS --set-tos 0x10/0x3f", "TOS --set-tos 0xff/0xff",
		"TOS --set-tos 0x00/0x03", "DSCP --set-dscp 0x2e", "DSCP --set-dscp 0x00" };

	if (!in_mangle(c) || rules_reroutes_copies(c))
		return false;
	return fprintf(c->f, " -j %s", PICK(c->g, how)) > 0;
}

/* marks 1 to 4, which matches ask for */
bool ext_put_hmark(struct rules_ctx *c)
{
	static const char *const tuples[] = { "src,dst", "src,dst,sport,dport", "src",
		"sport,dport", "src,dst,sport,dport,proto", "ct,src,dst", "ct,src,dst,sport,dport",
		"ct,src,dst,sport,dport,proto" };

	if (!in_mangle(c) || rules_reroutes_copies(c))
		return false;
	return fprintf(c->f,
			       " -j HMARK --hmark-tuple %s --hmark-mod 4 --hmark-offset 1 "
			       "--hmark-rnd 0x%x",
			       PICK(c->g, tuples), gen_below(c->g, 100))
			> 0;
}

bool ext_put_set_ecn(struct rules_ctx *c)
{
	if (!in_mangle(c) || c->s->v6 || c->proto != TCP)
		return false;
	return fprintf(c->f, " -j ECN --ecn-tcp-remove") > 0;
}

bool ext_put_set_tcpmss(struct rules_ctx *c)
{
	static const char *const how[] = { "--set-mss 1400", "--set-mss 1", "--set-mss 536",
		"--clamp-mss-to-pmtu" };
	const char *option = PICK(c->g, how);
	bool late = !c->user && strcmp(c->chain, "PREROUTING") != 0
			&& strcmp(c->chain, "INPUT") != 0;

	if (c->proto != TCP || (strstr(option, "clamp") != NULL && !late))
		return false;
	return fprintf(c->f, " -m tcp --tcp-flags SYN,RST SYN -j TCPMSS %s", option) > 0;
}

bool ext_put_tcpoptstrip(struct rules_ctx *c)
{
	static const char *const options[] = { "2", "2,3,4", "254", "8", "4,5" };

	if (!in_mangle(c) || c->proto != TCP)
		return false;
	return fprintf(c->f, " -j TCPOPTSTRIP --strip-options %s", PICK(c->g, options)) > 0;
}

bool ext_put_log(struct rules_ctx *c)
{
	static const char *const how[] = { "", " --log-prefix \"a b \"", " --log-level 7",
		" --log-tcp-sequence --log-tcp-options", " --log-ip-options --log-uid",
		" --log-macdecode" };

	return fprintf(c->f, " -j LOG%s", PICK(c->g, how)) > 0;
}

bool ext_put_nflog(struct rules_ctx *c)
{
	static const char *const how[] = { "", " --nflog-group 5", " --nflog-prefix x",
		" --nflog-size 20", " --nflog-threshold 3" };

	return fprintf(c->f, " -j NFLOG%s", PICK(c->g, how)) > 0;
}

/* no address of the router's own: the kernel sends such copies to itself */
bool ext_put_tee(struct rules_ctx *c)
{
	static const char *const v4[] = { "10.0.2.2", "10.0.1.2", "10.0.3.2", "10.0.4.2",
		"198.18.0.9", "172.31.0.1", "10.0.1.3 --oif pa", "10.0.2.2 --oif pb",
		"10.0.2.2 --oif none" };
	static const char *const v6[] = { "fd02::2", "fd01::2", "fd03::2", "2001:db8:b::9",
		"fd09::1", "fd02::2 --oif pb" };

	if (!c->s->tee)
		return false;
	return fprintf(c->f, " -j TEE --gateway %s", c->s->v6 ? PICK(c->g, v6) : PICK(c->g, v4))
			> 0;
}
