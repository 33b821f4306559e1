/* SPDX-License-Identifier: BSD-3-Clause */
#include "rules_gen.h"

#include <string.h>

#define USER_CHAINS 4

static const struct table {
	const char *name;
	const char *chains[6];
} tables[] = {
	{ "raw", { "PREROUTING", "OUTPUT" } },
	{ "mangle", { "PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING" } },
	{ "filter", { "INPUT", "FORWARD", "OUTPUT" } },
	{ "security", { "INPUT", "FORWARD", "OUTPUT" } },
};

/* a raw chain that drops hides all behind it: filter gets most */
static const unsigned int table_chance[] = { 30, 50, 100, 20 };

void rules_note(struct rules_set *s, enum rules_note kind, uint32_t value)
{
	if (s->n_notes[kind] < RULES_NOTES_MAX)
		s->notes[kind][s->n_notes[kind]++] = value;
}

static void add_line(struct rules_set *s, bool rule, const char *text)
{
	if (s->n == RULES_LINES_MAX)
		return;
	s->line[s->n].rule = rule;
	s->line[s->n].off = false;
	snprintf(s->line[s->n++].text, RULES_LINE_LEN, "%s", text);
}

static void put_not(struct rules_ctx *c, unsigned int percent)
{
	if (gen_chance(c->g, percent))
		fprintf(c->f, " !");
}

static void put_addr4(struct rules_ctx *c, const char *option)
{
	static const uint32_t nets[] = { IP4(10, 0, 1, 2), IP4(10, 0, 1, 3), IP4(192, 0, 2, 77),
		IP4(10, 0, 2, 2), IP4(198, 18, 3, 4), IP4(198, 18, 200, 1), IP4(10, 0, 1, 1),
		IP4(10, 0, 2, 1), IP4(10, 0, 3, 2) };
	static const unsigned int lens[] = { 0, 8, 16, 24, 25, 30, 31, 32, 32, 32 };
	uint32_t a = PICK(c->g, nets);
	unsigned int len = PICK(c->g, lens);

	rules_note(c->s, NOTE_ADDR4, a);
	put_not(c, len == 0 ? 0 : 20);
	fprintf(c->f, " %s %u.%u.%u.%u", option, a >> 24, a >> 16 & 255, a >> 8 & 255, a & 255);
	if (gen_chance(c->g, 8))
		fprintf(c->f, "/255.%u.0.%u", gen_below(c->g, 256), gen_below(c->g, 256));
	else
		fprintf(c->f, "/%u", len);
}

static void put_addr6(struct rules_ctx *c, const char *option)
{
	static const char *const nets[] = { "fd01::2", "fd01::3", "2001:db8:a::1", "fd02::2",
		"2001:db8:b::5", "fd01::1", "fd02::1", "fd03::2" };
	static const unsigned int lens[] = { 0, 16, 48, 64, 127, 128, 128, 128 };
	unsigned int len = PICK(c->g, lens);

	put_not(c, len == 0 ? 0 : 20);
	fprintf(c->f, " %s %s/%u", option, PICK(c->g, nets), len);
}

static void put_iface(struct rules_ctx *c, const char *option)
{
	static const char *const names[] = { "pa", "pb", "pc", "p+", "pa+", "eth0", "lo", "+", "a",
		"x+" };
	const char *name = PICK(c->g, names);

	put_not(c, strcmp(name, "+") == 0 ? 0 : 25);
	fprintf(c->f, " %s %s", option, name);
}

static bool may_have(const struct rules_ctx *c, const char *option)
{
	if (c->user)
		return true;
	if (strcmp(option, "-i") == 0)
		return strcmp(c->chain, "OUTPUT") != 0 && strcmp(c->chain, "POSTROUTING") != 0;
	return strcmp(c->chain, "PREROUTING") != 0 && strcmp(c->chain, "INPUT") != 0;
}

static void put_proto(struct rules_ctx *c)
{
	static const unsigned int v4[] = { 6, 6, 6, 17, 17, 17, 1, 1, 136, 132, 50, 51, 47, 253,
		33 };
	static const unsigned int v6[] = { 6, 6, 6, 17, 17, 17, 58, 58, 136, 132, 50, 59, 44, 0,
		253, 51, 43, 135, 135 };
	unsigned int proto = c->s->v6 ? PICK(c->g, v6) : PICK(c->g, v4);
	bool inv = proto != 0 && gen_chance(c->g, 15);

	fprintf(c->f, "%s -p %u", inv ? " !" : "", proto);
	c->proto = inv ? 0 : proto;
}

static void put_core(struct rules_ctx *c)
{
	void (*put_addr)(struct rules_ctx *, const char *) = c->s->v6 ? put_addr6 : put_addr4;

	if (gen_chance(c->g, 35))
		put_addr(c, "-s");
	if (gen_chance(c->g, 35))
		put_addr(c, "-d");
	if (gen_chance(c->g, 20) && may_have(c, "-i"))
		put_iface(c, "-i");
	if (gen_chance(c->g, 20) && may_have(c, "-o"))
		put_iface(c, "-o");
	c->proto = 0;
	if (gen_chance(c->g, 70))
		put_proto(c);
	if (!c->s->v6 && gen_chance(c->g, 8))
		fprintf(c->f, "%s -f", gen_chance(c->g, 40) ? " !" : "");
}

static void put_matches(struct rules_ctx *c)
{
	unsigned int total = 0, n = gen_below(c->g, 4);

	for (const struct rules_match *m = rules_matches; m->name != NULL; m++)
		total += m->weight;
	while (n-- > 0) {
		unsigned int at = gen_below(c->g, total);
		const struct rules_match *m = rules_matches;

		for (; at >= m->weight; m++)
			at -= m->weight;
		m->put(c);
	}
}

/* chains call only those behind them, so there are no loops */
static void put_target(struct rules_ctx *c, unsigned int first_chain)
{
	unsigned int total = 0, at;

	if (first_chain < USER_CHAINS && gen_chance(c->g, 25)) {
		fprintf(c->f, " -%c U%u", gen_chance(c->g, 70) ? 'j' : 'g',
				first_chain + gen_below(c->g, USER_CHAINS - first_chain));
		return;
	}
	for (const struct rules_target *t = rules_targets; t->name != NULL; t++)
		total += t->weight;
	for (unsigned int tries = 0; tries < 4; tries++) {
		const struct rules_target *t = rules_targets;

		at = gen_below(c->g, total);
		for (; at >= t->weight; t++)
			at -= t->weight;
		if (t->put(c))
			return;
	}
}

static void make_rule(struct rules_ctx *c, unsigned int first_chain)
{
	char text[RULES_LINE_LEN] = "";

	c->f = fmemopen(text, sizeof(text) - 1, "w");
	if (c->f == NULL)
		return;
	fprintf(c->f, "-A %s", c->chain);
	put_core(c);
	put_matches(c);
	put_target(c, first_chain);
	fclose(c->f);
	add_line(c->s, true, text);
}

static void make_table(struct gen *g, struct rules_set *s, unsigned int i)
{
	static const char *const user[USER_CHAINS] = { "U0", "U1", "U2", "U3" };
	struct rules_ctx c = { .g = g, .s = s, .table = tables[i].name };
	bool filled = gen_chance(g, table_chance[i]);
	char text[64];

	snprintf(text, sizeof(text), "*%s", tables[i].name);
	add_line(s, false, text);
	for (unsigned int k = 0; tables[i].chains[k] != NULL; k++) {
		snprintf(text, sizeof(text), ":%s %s [0:0]", tables[i].chains[k],
				filled && gen_chance(g, 20) ? "DROP" : "ACCEPT");
		add_line(s, false, text);
	}
	for (unsigned int k = 0; filled && k < USER_CHAINS; k++) {
		snprintf(text, sizeof(text), ":%s - [0:0]", user[k]);
		add_line(s, false, text);
	}
	for (unsigned int k = 0; filled && tables[i].chains[k] != NULL; k++) {
		c.chain = tables[i].chains[k];
		c.user = false;
		for (unsigned int n = gen_below(g, 7); n > 0; n--)
			make_rule(&c, 0);
	}
	for (unsigned int k = 0; filled && k < USER_CHAINS; k++) {
		c.chain = user[k];
		c.user = true;
		for (unsigned int n = gen_below(g, 5); n > 0; n--)
			make_rule(&c, k + 1);
	}
	add_line(s, false, "COMMIT");
}

void rules_make(struct rules_set *s, uint64_t seed, bool v6)
{
	struct frames_case c = { .class = "rules" };
	struct gen g = { .c = &c, .rng = seed * 2 + v6 };

	memset(s, 0, sizeof(*s));
	s->v6 = v6;
	s->seed = seed;
	s->tee = gen_chance(&g, 30);
	for (unsigned int i = 0; i < ARRAY_LEN(tables); i++)
		make_table(&g, s, i);
}

void rules_print(const struct rules_set *s, FILE *f)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (!s->line[i].off)
			fprintf(f, "%s\n", s->line[i].text);
}
