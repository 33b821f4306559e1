/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules on IPsec and on the extension headers of IPv6, and the headers that they are about. */
#include "rules_gen_ext.h"

#include <netinet/in.h>
#include <string.h>

#define MH 135

static const uint32_t spis[] = { 0, 1, 0x100, 0x1000, 0xfffffffe };

static const char *maybe_not(struct rules_ctx *c, unsigned int percent)
{
	return gen_chance(c->g, percent) ? " !" : "";
}

static void put_spi(struct rules_ctx *c, const char *option)
{
	/* iptables does not print the range of all, not even behind `!` */
	uint32_t a = 1 + PICK(c->g, spis), b = PICK(c->g, spis);

	rules_note(c->s, NOTE_SPI, a);
	rules_note(c->s, NOTE_SPI, b);
	fprintf(c->f, "%s %s %u", maybe_not(c, 25), option, a);
	if (gen_chance(c->g, 50))
		fprintf(c->f, ":%u", b);
}

void ext_put_ipsec(struct rules_ctx *c)
{
	if (c->proto == IPPROTO_ESP) {
		fprintf(c->f, " -m esp");
		put_spi(c, "--espspi");
		return;
	}
	if (!c->s->v6 && c->proto != IPPROTO_AH)
		return;
	fprintf(c->f, " -m ah");
	if (gen_chance(c->g, 60))
		put_spi(c, "--ahspi");
	if (c->s->v6 && gen_chance(c->g, 40))
		fprintf(c->f, "%s --ahlen %u", maybe_not(c, 25), 12 * gen_below(c->g, 4));
	if (c->s->v6 && gen_chance(c->g, 20))
		fprintf(c->f, " --ahres");
}

static void put_opts(struct rules_ctx *c)
{
	static const char *const lists[] = { "1", "1:4", "1:2", "0", "0,0", "5", "5:2", "1:0,1",
		"1:4,1:4", "5:2,0,0", "5:2,1:0", "0,1:3" };
	const char *name = gen_chance(c->g, 40) ? "hbh" : "dst";

	fprintf(c->f, " -m %s", name);
	if (gen_chance(c->g, 40))
		fprintf(c->f, "%s --%s-len %u", maybe_not(c, 25), name, 8 + 8 * gen_below(c->g, 2));
	if (gen_chance(c->g, 60))
		fprintf(c->f, " --%s-opts %s", name, PICK(c->g, lists));
}

static void put_rt(struct rules_ctx *c)
{
	static const char *const addrs[] = { "fd02::2", "fd02::2,fd03::2", "fd03::2",
		"fd03::2,fd02::2" };
	static const unsigned int types[] = { 0, 0, 0, 2, 253 };
	unsigned int type = PICK(c->g, types);
	bool inv = gen_chance(c->g, 20);

	fprintf(c->f, " -m rt%s --rt-type %u", inv ? " !" : "", type);
	if (gen_chance(c->g, 30))
		fprintf(c->f, "%s --rt-segsleft 0:%u", maybe_not(c, 25), gen_below(c->g, 3));
	if (gen_chance(c->g, 30))
		fprintf(c->f, "%s --rt-len %u", maybe_not(c, 25), 8 + 16 * gen_below(c->g, 3));
	if (inv || type != 0)
		return;
	if (gen_chance(c->g, 25))
		fprintf(c->f, " --rt-0-res");
	if (gen_chance(c->g, 60))
		fprintf(c->f, " --rt-0-addrs %s%s", PICK(c->g, addrs),
				gen_chance(c->g, 50) ? " --rt-0-not-strict" : "");
}

static void put_frag(struct rules_ctx *c)
{
	static const char *const what[] = { "", " --fragmore", " --fraglast", " --fragfirst",
		" --fragfirst --fraglast" };

	fprintf(c->f, " -m frag");
	if (gen_chance(c->g, 30))
		fprintf(c->f, "%s --fragid 0:%u", maybe_not(c, 25), gen_u32(c->g));
	if (gen_chance(c->g, 20))
		fprintf(c->f, " --fragres");
	fprintf(c->f, "%s", PICK(c->g, what));
}

static void put_header(struct rules_ctx *c)
{
	static const char *const lists[] = { "prot", "frag,prot", "dst,prot", "dst", "hop,prot",
		"ah,prot", "esp", "none", "route,prot", "frag,dst,prot", "hop,dst,prot", "auth" };

	fprintf(c->f, " -m ipv6header%s --header %s%s", maybe_not(c, 30), PICK(c->g, lists),
			gen_chance(c->g, 50) ? " --soft" : "");
}

static void put_eui64(struct rules_ctx *c)
{
	if (!c->user
			&& (strcmp(c->chain, "PREROUTING") == 0 || strcmp(c->chain, "INPUT") == 0
					|| strcmp(c->chain, "FORWARD") == 0))
		fprintf(c->f, " -m eui64");
}

static void put_mh(struct rules_ctx *c)
{
	if (c->proto == MH)
		fprintf(c->f, " -m mh%s --mh-type %u:%u", maybe_not(c, 25), gen_below(c->g, 3),
				3 + gen_below(c->g, 4));
}

void ext_put_v6(struct rules_ctx *c)
{
	static void (*const put[])(struct rules_ctx *) = { put_opts, put_opts, put_rt, put_frag,
		put_header, put_header, put_eui64 };

	if (!c->s->v6)
		return;
	if (c->proto == MH)
		put_mh(c);
	else
		PICK(c->g, put)(c);
}

/* what stands there on a box that has neither realms nor groups */
void ext_put_zero(struct rules_ctx *c)
{
	bool in = !c->user
			&& (strcmp(c->chain, "PREROUTING") == 0 || strcmp(c->chain, "INPUT") == 0
					|| strcmp(c->chain, "FORWARD") == 0);

	if (in)
		fprintf(c->f, " -m devgroup%s --src-group 0x0/0xff", maybe_not(c, 40));
	else if (!c->user && !c->s->v6 && strcmp(c->chain, "PREROUTING") != 0)
		fprintf(c->f, " -m realm%s --realm 0x0/0xf", maybe_not(c, 40));
}

void ext_esp_header(struct gen *g, struct buf *b, uint32_t spi)
{
	put32(b, spi);
	put32(b, gen_u32(g));
}

/* @len is a multiple of 4, 12 at least */
void ext_ah_header(struct gen *g, struct buf *b, uint8_t next, uint32_t spi, unsigned int len)
{
	put8(b, next);
	put8(b, len / 4 - 2);
	put16(b, gen_chance(g, 80) ? 0 : 1);
	put32(b, spi);
	put32(b, 1);
	put_zero(b, len - 12);
}

void ext_mh_header(struct gen *g, struct buf *b)
{
	put8(b, gen_chance(g, 80) ? IPPROTO_NONE : IPPROTO_TCP);
	put8(b, 0);
	put8(b, gen_below(g, 8));
	put8(b, 0);
	put32(b, gen_u32(g));
}

/* options that nobody answers */
void ext_options_header(struct gen *g, struct buf *b, uint8_t next)
{
	static const uint8_t lists[][14] = {
		{ 1, 4 },
		{ 5, 2, 0, 0, 0, 0 },
		{ 5, 2, 0, 0, 1, 0 },
		{ 1, 2, 0, 0, 1, 0 },
		{ 0, 1, 3, 0, 0, 0 },
		{ 1, 0, 1, 2, 0, 0 },
		{ 1, 4, 0, 0, 0, 0, 1, 6, 0, 0, 0, 0, 0, 0 },
		{ 5, 2, 0, 0, 1, 8, 0, 0, 0, 0, 0, 0, 0, 0 },
	};
	const uint8_t *list = PICK(g, lists);
	bool longer = list == lists[6] || list == lists[7];

	put8(b, next);
	put8(b, longer ? 1 : 0);
	put_mem(b, list, longer ? 14 : 6);
}

/* no segments are left, so nobody has to know the type */
void ext_routing_header(struct gen *g, struct buf *b, uint8_t next)
{
	static const uint8_t types[] = { 0, 0, 0, 2, 253 };
	static const char *const hops[] = { "fd02::2", "fd03::2", "fd01::3" };
	unsigned int n = gen_below(g, 3);
	uint8_t addr[16];

	put8(b, next);
	put8(b, 2 * n);
	put8(b, PICK(g, types));
	put8(b, gen_chance(g, 70) ? 0 : gen_below(g, 3));
	put32(b, gen_chance(g, 70) ? 0 : 1);
	while (n-- > 0) {
		addr6(addr, PICK(g, hops));
		put_mem(b, addr, sizeof(addr));
	}
}
