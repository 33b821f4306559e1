/* SPDX-License-Identifier: BSD-3-Clause */
#include "hmark_gen.h"

#include <netinet/in.h>
#include <string.h>

#define DSTOPTS 60

static struct gen start(uint64_t seed, unsigned int index, unsigned int salt)
{
	static struct frames_case none;
	struct gen g = { .c = &none, .rng = seed };

	none.index = index;
	/* no two (seed, index) may fall together */
	g.rng = ((uint64_t)gen_u32(&g) << 32 | gen_u32(&g)) ^ ((uint64_t)salt << 32 | index);
	g.rng = (uint64_t)gen_u32(&g) << 32 | gen_u32(&g);
	return g;
}

/* numbers with ends and middles */
static uint32_t some_u32(struct gen *g)
{
	static const uint32_t odd[] = { 0, 1, 2, 0x7fffffff, 0x80000000, UINT32_MAX };

	return gen_chance(g, 30) ? PICK(g, odd) : gen_u32(g);
}

static unsigned int some_u16(struct gen *g)
{
	static const uint16_t odd[] = { 0, 1, 0xff, 0xff00, 0x8000, UINT16_MAX };

	return gen_chance(g, 50) ? PICK(g, odd) : gen_u32(g) & UINT16_MAX;
}

static void put_tuple(struct gen *g, FILE *out)
{
	static const char *const words[] = { "src", "dst", "proto", "sport", "dport" };
	unsigned int chosen = 1 + gen_below(g, 31);
	const char *sep = " --hmark-tuple ";

	if (gen_chance(g, 15)) {
		fprintf(out, "%ssrc,dst,spi%s", sep, gen_chance(g, 50) ? ",proto" : "");
		return;
	}
	for (unsigned int i = 0; i < ARRAY_LEN(words); i++) {
		if (!(chosen >> i & 1))
			continue;
		fprintf(out, "%s%s", sep, words[i]);
		sep = ",";
	}
}

static void put_parts(struct gen *g, bool v6, FILE *out)
{
	unsigned int bits = v6 ? 128 : 32;

	fprintf(out, " --hmark-src-prefix %u", gen_below(g, bits + 1));
	if (gen_chance(g, 80))
		fprintf(out, " --hmark-dst-prefix %u", gen_below(g, bits + 1));
	if (gen_chance(g, 50))
		fprintf(out, " --hmark-proto-mask 0x%x", some_u16(g));
	if (gen_chance(g, 25)) {
		fprintf(out, " --hmark-spi-mask 0x%x", some_u32(g));
		if (gen_chance(g, 50))
			fprintf(out, " --hmark-spi 0x%x", some_u32(g));
		return;
	}
	if (gen_chance(g, 70))
		fprintf(out, " --hmark-sport-mask 0x%x", some_u16(g));
	if (gen_chance(g, 70))
		fprintf(out, " --hmark-dport-mask 0x%x", some_u16(g));
	if (gen_chance(g, 40))
		fprintf(out, " --hmark-sport 0x%x", some_u16(g));
	if (gen_chance(g, 40))
		fprintf(out, " --hmark-dport 0x%x", some_u16(g));
}

void hmark_options(uint64_t seed, unsigned int index, bool v6, FILE *out)
{
	struct gen g = start(seed, index, v6 ? 2 : 1);
	uint32_t mod = some_u32(&g);

	if (gen_chance(&g, 50))
		put_tuple(&g, out);
	else
		put_parts(&g, v6, out);
	if (gen_chance(&g, 20))
		mod = 1 + gen_below(&g, 16);
	fprintf(out, " --hmark-rnd 0x%x --hmark-mod %u", some_u32(&g), mod == 0 ? 1 : mod);
	if (gen_chance(&g, 60))
		fprintf(out, " --hmark-offset %u", some_u32(&g));
}

static unsigned int some_proto(struct gen *g, unsigned int icmp)
{
	static const uint8_t with_ports[] = { IPPROTO_TCP, IPPROTO_UDP, 136, 33, 132 };
	static const uint8_t others[] = { IPPROTO_ESP, IPPROTO_AH, IPPROTO_GRE, IPPROTO_ICMP,
		IPPROTO_ICMPV6, IPPROTO_IPIP, IPPROTO_IPV6, 112 };

	if (gen_chance(g, 50))
		return PICK(g, with_ports);
	if (gen_chance(g, 50))
		return icmp;
	return gen_chance(g, 80) ? PICK(g, others) : gen_u32(g) & 0xff;
}

/* small numbers are often equal on both sides, and then order counts for nothing */
static uint32_t some_addr4(struct gen *g)
{
	return gen_chance(g, 30) ? IP4(10, 0, 0, gen_below(g, 3)) : gen_u32(g);
}

static void put_quoted4(struct gen *g, struct buf *b)
{
	struct buf q = { .n = 0 };

	put8(&q, gen_chance(g, 80) ? 0x45 : gen_u32(g));
	put_random(g, &q, 5);
	put16(&q, gen_chance(g, 70) ? IP4_DF : gen_u32(g));
	put8(&q, gen_u32(g));
	put8(&q, some_proto(g, IPPROTO_ICMP));
	put16(&q, gen_u32(g));
	put32(&q, some_addr4(g));
	put32(&q, some_addr4(g));
	put_random(g, &q, gen_below(g, 20));
	put_mem(b, q.b, gen_chance(g, 85) ? q.n : gen_below(g, (uint32_t)q.n + 1));
}

static void put_icmp4(struct gen *g, struct buf *b)
{
	static const uint8_t types[] = { 0, 3, 3, 4, 5, 8, 11, 12, 13, 18, 19 };

	put8(b, gen_chance(g, 90) ? PICK(g, types) : gen_u32(g));
	put_random(g, b, 7);
	put_quoted4(g, b);
	if (gen_chance(g, 5))
		b->n = gen_below(g, 8);
}

static void make4(struct gen *g, struct buf *frame)
{
	struct buf l4 = { .n = 0 };
	struct ip4 ip = {
		.src = some_addr4(g),
		.dst = some_addr4(g),
		.id = (uint16_t)gen_u32(g),
		.frag = (uint16_t)(gen_chance(g, 50) ? IP4_DF : 0),
		.tos = (uint8_t)gen_u32(g),
		.ttl = 64,
		.proto = (uint8_t)some_proto(g, IPPROTO_ICMP),
	};

	if (gen_chance(g, 15))
		ip.frag = (uint16_t)(gen_chance(g, 50) ? IP4_MF : gen_u32(g) & 0x3fff);
	for (unsigned int i = gen_chance(g, 10) ? 4 * gen_below(g, 11) : 0; i > 0; i--)
		put8(&ip.opts, 1);
	if (ip.proto == IPPROTO_ICMP)
		put_icmp4(g, &l4);
	else
		put_random(g, &l4, gen_chance(g, 20) ? gen_below(g, 9) : 8 + gen_below(g, 40));
	put_eth(frame, PA, 0x0800);
	put_ip4(frame, &ip, &l4);
}

static void some_addr6(struct gen *g, uint8_t addr[16])
{
	addr6(addr, gen_chance(g, 50) ? "2001:db8:a::" : "fd00::");
	for (unsigned int i = gen_chance(g, 50) ? 15 : 4; i < 16; i++)
		addr[i] = (uint8_t)gen_below(g, i == 15 ? 4 : 256);
}

/* extension headers in front of @proto; the type of the first of them */
static unsigned int put_chain(struct gen *g, struct buf *b, unsigned int proto, bool may_lie)
{
	static const uint8_t types[] = { IPPROTO_ROUTING, IPPROTO_FRAGMENT, IPPROTO_AH, DSTOPTS };
	unsigned int n = gen_chance(g, 60) ? 0 : 1 + gen_below(g, 3), first = proto;
	size_t at_next = 0;
	bool any = false;

	for (unsigned int i = 0; i < n; i++) {
		unsigned int type = PICK(g, types), units = gen_below(g, 3);

		if (any)
			b->b[at_next] = (uint8_t)type;
		else
			first = type;
		any = true;
		at_next = b->n;
		put8(b, proto);
		if (type == IPPROTO_FRAGMENT) {
			put8(b, 0);
			put16(b, gen_chance(g, 50) ? 0 : gen_chance(g, 50) ? 1 : gen_u32(g));
			put32(b, gen_u32(g));
		} else if (type == IPPROTO_AH) {
			put8(b, units + 1);
			put_random(g, b, 4 * (units + 3) - 2);
		} else {
			put8(b, may_lie && gen_chance(g, 10) ? gen_below(g, 256) : units);
			put_random(g, b, 8 * (units + 1) - 2);
		}
	}
	return first;
}

static void put_quoted6(struct gen *g, struct buf *b)
{
	struct buf q = { .n = 0 }, chain = { .n = 0 };
	uint8_t addr[16];
	unsigned int first = put_chain(g, &chain, some_proto(g, IPPROTO_ICMPV6), true);

	put32(&q, gen_chance(g, 90) ? 0x60000000 : gen_u32(g));
	put16(&q, gen_u32(g));
	put8(&q, first);
	put8(&q, 64);
	some_addr6(g, addr);
	put_mem(&q, addr, 16);
	some_addr6(g, addr);
	put_mem(&q, addr, 16);
	put_mem(&q, chain.b, chain.n);
	put_random(g, &q, gen_below(g, 20));
	put_mem(b, q.b, gen_chance(g, 85) ? q.n : gen_below(g, (uint32_t)q.n + 1));
}

static void put_icmp6(struct gen *g, struct buf *b)
{
	static const uint8_t types[] = { 0, 1, 1, 2, 3, 4, 5, 127, 128, 129, 200 };

	put8(b, PICK(g, types));
	put_random(g, b, 7);
	put_quoted6(g, b);
	if (gen_chance(g, 5))
		b->n = gen_below(g, 8);
}

static void make6(struct gen *g, struct buf *frame)
{
	unsigned int proto = gen_chance(g, 5) ? IPPROTO_NONE : some_proto(g, IPPROTO_ICMPV6);
	struct buf l4 = { .n = 0 };
	struct ip6 ip = { .flow = gen_u32(g) & 0xfffffff, .hops = 64, .proto = (uint8_t)proto };

	some_addr6(g, ip.src);
	some_addr6(g, ip.dst);
	ip.first = (uint8_t)put_chain(g, &ip.ext, proto, true);
	if (proto == IPPROTO_ICMPV6)
		put_icmp6(g, &l4);
	else
		put_random(g, &l4, gen_chance(g, 20) ? gen_below(g, 9) : 8 + gen_below(g, 40));
	put_eth(frame, PA, 0x86dd);
	put_ip6(frame, &ip, &l4);
	/* cut inside of the chain or of the transport header */
	if (gen_chance(g, 10)) {
		unsigned int len = gen_below(g, (uint32_t)(frame->n - ETH_LEN - 40) + 1);

		set16(frame->b + ETH_LEN + 4, len);
		frame->n = ETH_LEN + 40 + len;
	}
}

void hmark_frame(uint64_t seed, unsigned int index, bool v6, struct buf *frame)
{
	struct gen g = start(seed, index, v6 ? 4 : 3);

	frame->n = 0;
	if (v6)
		make6(&g, frame);
	else
		make4(&g, frame);
}
