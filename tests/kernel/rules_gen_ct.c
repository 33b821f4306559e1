/* SPDX-License-Identifier: BSD-3-Clause */
#include "rules_gen_ct.h"

#include <string.h>

static const char *maybe_not(struct rules_ctx *c, unsigned int percent)
{
	return gen_chance(c->g, percent) ? " !" : "";
}

/* packets of such a set come from a few connections */
static void track(struct rules_ctx *c)
{
	c->s->tracked = true;
}

/* one to three of the first @n words */
static void put_words(struct rules_ctx *c, const char *const *words, unsigned int n)
{
	unsigned int which = 1U << gen_below(c->g, n);

	if (gen_chance(c->g, 60))
		which |= 1U << gen_below(c->g, n);
	if (gen_chance(c->g, 30))
		which |= 1U << gen_below(c->g, n);
	for (unsigned int i = 0, first = 1; i < n; i++) {
		if ((which >> i & 1) == 0)
			continue;
		fprintf(c->f, "%s%s", first ? " " : ",", words[i]);
		first = 0;
	}
}

static const char *const states[] = { "INVALID", "NEW", "RELATED", "ESTABLISHED", "UNTRACKED",
	"SNAT", "DNAT" };

void ct_put_state(struct rules_ctx *c)
{
	bool old = gen_chance(c->g, 40);

	track(c);
	fprintf(c->f, old ? " -m state%s --state" : " -m conntrack%s --ctstate", maybe_not(c, 25));
	put_words(c, states, old ? 5 : 7);
}

static void put_net(struct rules_ctx *c, const char *option)
{
	static const char *const v4[] = { "10.0.1.2", "10.0.2.0/24", "10.0.0.0/8", "192.0.2.64/26",
		"0.0.0.0/1" };
	static const char *const v6[] = { "fd01::2", "fd02::/16", "2001:db8::/32", "fd00::/9" };

	fprintf(c->f, "%s --%s %s", maybe_not(c, 30), option,
			c->s->v6 ? PICK(c->g, v6) : PICK(c->g, v4));
}

static void put_ports(struct rules_ctx *c, const char *option)
{
	static const char *const ports[] = { "80", "1000:1001", "0:1023", "53", "1002:65535",
		"1001" };

	fprintf(c->f, "%s --%s %s", maybe_not(c, 30), option, PICK(c->g, ports));
}

void ct_put_conntrack(struct rules_ctx *c)
{
	static const char *const statuses[] = { "EXPECTED", "SEEN_REPLY", "ASSURED", "CONFIRMED" };
	/* no number of seconds that an entry may have got to while a test runs */
	static const char *const times[] = { "0", "1:25", "40:110", "200:1000000", "0:1000000" };
	static const char *const protos[] = { "6", "17", "1", "58", "132", "0" };

	track(c);
	fprintf(c->f, " -m conntrack");
	if (gen_chance(c->g, 30)) {
		fprintf(c->f, "%s --ctstate", maybe_not(c, 25));
		put_words(c, states, 7);
	}
	if (gen_chance(c->g, 20)) {
		const char *proto = PICK(c->g, protos);

		fprintf(c->f, "%s --ctproto %s", proto[0] == '0' ? "" : maybe_not(c, 30), proto);
	}
	if (gen_chance(c->g, 25))
		put_net(c, "ctorigsrc");
	if (gen_chance(c->g, 15))
		put_net(c, "ctorigdst");
	if (gen_chance(c->g, 15))
		put_net(c, "ctreplsrc");
	if (gen_chance(c->g, 15))
		put_net(c, "ctrepldst");
	if (gen_chance(c->g, 20))
		put_ports(c, "ctorigsrcport");
	if (gen_chance(c->g, 15))
		put_ports(c, "ctorigdstport");
	if (gen_chance(c->g, 15))
		put_ports(c, "ctreplsrcport");
	if (gen_chance(c->g, 15))
		put_ports(c, "ctrepldstport");
	if (gen_chance(c->g, 30)) {
		fprintf(c->f, "%s --ctstatus", maybe_not(c, 30));
		if (gen_chance(c->g, 20))
			fprintf(c->f, " NONE");
		else
			put_words(c, statuses, 4);
	}
	if (gen_chance(c->g, 20))
		fprintf(c->f, "%s --ctexpire %s", maybe_not(c, 30), PICK(c->g, times));
	fprintf(c->f, " --ctdir %s", gen_chance(c->g, 60) ? "ORIGINAL" : "REPLY");
}

void ct_put_connmark(struct rules_ctx *c)
{
	static const char *const marks[] = { "0x0", "0x1", "0x2/0xf", "0x10/0x10", "0x101/0xff",
		"0x0/0x3", "0xdeadbeef" };

	track(c);
	fprintf(c->f, " -m connmark%s --mark %s", maybe_not(c, 30), PICK(c->g, marks));
}

void ct_put_connbytes(struct rules_ctx *c)
{
	static const char *const dirs[] = { "original", "reply", "both" };
	static const char *const packets[] = { "2:", "1:1", "3:5", "0:1" };
	static const char *const bytes[] = { "100:", "40:60", "0:", "200:400" };
	unsigned int mode = gen_below(c->g, 3);

	track(c);
	fprintf(c->f, " -m connbytes%s --connbytes %s --connbytes-dir %s --connbytes-mode %s",
			maybe_not(c, 30), mode == 0 ? PICK(c->g, packets) : PICK(c->g, bytes),
			PICK(c->g, dirs),
			mode == 0                   ? "packets"
					: mode == 1 ? "bytes"
						    : "avgpkt");
}

void ct_put_connlabel(struct rules_ctx *c)
{
	track(c);
	fprintf(c->f, " -m connlabel%s --label %u%s", maybe_not(c, 30), gen_below(c->g, 3) * 63,
			gen_chance(c->g, 50) ? " --set" : "");
}

/* no connlimit: it differs from the kernel in some rulesets, perhaps by the ticks of its clock */

void ct_put_cluster(struct rules_ctx *c)
{
	unsigned int nodes = 1 + gen_below(c->g, 4);

	track(c);
	fprintf(c->f,
			" -m cluster%s --cluster-local-node %u --cluster-total-nodes %u "
			"--cluster-hash-seed 0x%x",
			maybe_not(c, 30), 1 + gen_below(c->g, nodes), nodes, gen_u32(c->g));
}

void ct_put_helper(struct rules_ctx *c)
{
	track(c);
	fprintf(c->f, " -m helper%s --helper %s", maybe_not(c, 50),
			gen_chance(c->g, 50) ? "ftp" : "tftp");
}

bool ct_put_set_connmark(struct rules_ctx *c)
{
	static const char *const ways[] = { "--set-mark 0x1", "--set-xmark 0x2/0xf",
		"--or-mark 0x10", "--and-mark 0xf0", "--xor-mark 0x3", "--save-mark",
		"--save-mark --nfmask 0xff --ctmask 0xf0", "--restore-mark",
		"--restore-mark --nfmask 0xf --ctmask 0xff", "--save-mark --left-shift-mark 4",
		"--restore-mark --right-shift-mark 2", "--set-mark 0x3 --left-shift-mark 1" };

	/* what raw writes before tracking stays in the rule, see docs/config.md */
	if (strcmp(c->table, "raw") == 0)
		return false;
	track(c);
	return fprintf(c->f, " -j CONNMARK %s", PICK(c->g, ways)) > 0;
}

bool ct_put_ct(struct rules_ctx *c)
{
	static const char *const ways[] = { "--notrack", "--zone 5", "--zone-orig 6",
		"--zone-reply 7", "--zone mark", "--zone-orig mark", "--ctevents new,destroy" };

	if (strcmp(c->table, "raw") != 0)
		return false;
	track(c);
	return fprintf(c->f, " -j CT %s", PICK(c->g, ways)) > 0;
}

bool ct_put_notrack(struct rules_ctx *c)
{
	return strcmp(c->table, "raw") == 0 && fprintf(c->f, " -j NOTRACK") > 0;
}
