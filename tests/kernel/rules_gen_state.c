/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules with a memory, of rates and windows so long that nothing runs out while a test runs. Names are
 * of one set alone: what another one left behind would be found again.
 */
#include "rules_gen_ext.h"

static const char *maybe_not(struct rules_ctx *c, unsigned int percent)
{
	return gen_chance(c->g, percent) ? " !" : "";
}

static void put_name(struct rules_ctx *c, const char *option)
{
	fprintf(c->f, " %s s%llu-%u%c", option, (unsigned long long)c->s->seed, c->s->v6 ? 6 : 4,
			'a' + (char)gen_below(c->g, 3));
}

static void put_hash_rate(struct rules_ctx *c)
{
	static const char *const rates[] = { "1/hour", "2/hour", "5/hour", "20/hour" };
	const char *which = gen_chance(c->g, 50) ? "upto" : "above";

	if (gen_chance(c->g, 25))
		fprintf(c->f,
				" --hashlimit-%s %u/hour --hashlimit-rate-match "
				"--hashlimit-rate-interval 3600",
				which, 1 + gen_below(c->g, 10));
	else
		fprintf(c->f, " --hashlimit-%s %s", which, PICK(c->g, rates));
	fprintf(c->f, " --hashlimit-burst %u", 1 + gen_below(c->g, 12));
}

void ext_put_hashlimit(struct rules_ctx *c)
{
	static const char *const modes[] = { "srcip", "dstip", "srcip,dstip", "srcport", "dstport",
		"srcip,srcport,dstip,dstport", "dstip,dstport", "srcip,dstport" };

	if (c->s->tee)
		return;
	fprintf(c->f, " -m hashlimit");
	put_hash_rate(c);
	if (gen_chance(c->g, 80))
		fprintf(c->f, " --hashlimit-mode %s", PICK(c->g, modes));
	put_name(c, "--hashlimit-name");
	if (gen_chance(c->g, 30))
		fprintf(c->f, " --hashlimit-srcmask %u", gen_below(c->g, c->s->v6 ? 129 : 33));
	if (gen_chance(c->g, 30))
		fprintf(c->f, " --hashlimit-dstmask %u", gen_below(c->g, c->s->v6 ? 129 : 33));
	/* a table that fills up */
	if (gen_chance(c->g, 20))
		fprintf(c->f, " --hashlimit-htable-size 1 --hashlimit-htable-max %u",
				1 + gen_below(c->g, 30));
	else
		fprintf(c->f, " --hashlimit-htable-size 100");
	fprintf(c->f, " --hashlimit-htable-expire 10000000");
}

void ext_put_recent(struct rules_ctx *c)
{
	static const char *const doing[] = { "set", "rcheck", "update", "update", "remove" };
	static const char *const masks4[] = { "255.255.255.255", "255.255.255.0", "255.0.0.255" };
	static const char *const masks6[] = { "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"ffff:ffff:ffff::", "ffff::ffff" };
	unsigned int how = gen_below(c->g, ARRAY_LEN(doing));

	if (c->s->tee)
		return;
	fprintf(c->f, " -m recent%s --%s", maybe_not(c, 25), doing[how]);
	put_name(c, "--name");
	if (doing[how][0] == 'r' || doing[how][0] == 'u') {
		bool remove = doing[how][2] == 'm';

		if (!remove && gen_chance(c->g, 40))
			fprintf(c->f, " --seconds 3600%s", gen_chance(c->g, 30) ? " --reap" : "");
		if (!remove && gen_chance(c->g, 60))
			fprintf(c->f, " --hitcount %u", 1 + gen_below(c->g, 9));
		if (!remove && gen_chance(c->g, 30))
			fprintf(c->f, " --rttl");
	}
	if (gen_chance(c->g, 30))
		fprintf(c->f, " --mask %s", c->s->v6 ? PICK(c->g, masks6) : PICK(c->g, masks4));
	if (gen_chance(c->g, 30))
		fprintf(c->f, " --rdest");
}
