/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 extension headers in any order, right and wrong, on the way through and to the router */
#include "frames_priv.h"

#include <arpa/inet.h>
#include <string.h>

/* hop-by-hop and destination options */
static void put_option(struct gen *g, struct buf *o)
{
	static const uint8_t unknown[] = { 0x1e, 0x3e, 0x5e, 0x9e, 0xde, 0xfe, 0x22, 0x63, 0xa4,
		0xe5 };
	unsigned int len;

	switch (gen_below(g, 8)) {
	case 0:
		put8(o, 0);
		break;
	case 1: /* PadN, with bytes that should be 0 */
		len = gen_below(g, 6);
		put8(o, 1);
		put8(o, len);
		if (gen_chance(g, 70))
			put_zero(o, len);
		else
			put_random(g, o, len);
		break;
	case 2: /* router alert */
		put8(o, 5);
		put8(o, gen_chance(g, 80) ? 2 : gen_below(g, 5));
		put16(o, gen_below(g, 3));
		break;
	case 3: /* jumbo payload */
		put8(o, 0xc2);
		put8(o, gen_chance(g, 80) ? 4 : gen_below(g, 6));
		put32(o, gen_chance(g, 50) ? 0x10000 : gen_u32(g) & 0xffff);
		break;
	case 4: /* home address, which is a destination option */
		put8(o, 0xc9);
		put8(o, 16);
		put_random(g, o, 16);
		break;
	case 5: /* CALIPSO, IOAM */
		put8(o, gen_chance(g, 50) ? 7 : 0x31);
		put8(o, 8);
		put_random(g, o, 8);
		break;
	default:
		len = gen_below(g, 9);
		put8(o, PICK(g, unknown));
		put8(o, gen_chance(g, 90) ? len : gen_u32(g));
		put_random(g, o, len);
		break;
	}
}

static void put_options(struct gen *g, struct buf *e, unsigned int next, unsigned int n)
{
	struct buf o = { .n = 0 };
	size_t fill;

	while (n-- > 0)
		put_option(g, &o);
	fill = (8 - (o.n + 2) % 8) % 8;
	if (fill == 1) {
		put8(&o, 0);
	} else if (fill > 1) {
		put8(&o, 1);
		put8(&o, (unsigned int)fill - 2);
		put_zero(&o, fill - 2);
	}
	put8(e, next);
	put8(e, gen_chance(g, 95) ? (unsigned int)(o.n + 2) / 8 - 1 : gen_below(g, 40));
	put_mem(e, o.b, o.n);
}

static void put_routing(struct gen *g, struct buf *e, unsigned int next)
{
	static const uint8_t types[] = { 0, 2, 3, 4, 4, 253 };
	unsigned int type = PICK(g, types), n = gen_below(g, 3);

	put8(e, next);
	put8(e, n * 2);
	put8(e, type);
	put8(e, gen_below(g, 3)); /* segments left */
	put32(e, type == 4 ? (n > 0 ? n - 1 : 0) << 24 : 0);
	for (unsigned int i = 0; i < n; i++) {
		uint8_t a[16];

		addr6(a, gen_chance(g, 50) ? "2001:db8:b::99" : "fd02::1");
		put_mem(e, a, 16);
	}
}

static void put_fragment(struct gen *g, struct buf *e, unsigned int next)
{
	static const uint16_t offs[] = { 0, 0, 1, 100, 8191 };

	put8(e, next);
	put8(e, gen_chance(g, 90) ? 0 : gen_u32(g));
	put16(e, PICK(g, offs) << 3 | gen_below(g, 2) | (gen_chance(g, 90) ? 0 : 6));
	put32(e, g->c->index);
}

static void put_ah(struct gen *g, struct buf *e, unsigned int next)
{
	put8(e, next);
	put8(e, gen_chance(g, 90) ? 4 : gen_below(g, 20));
	put16(e, 0);
	put_random(g, e, 20);
}

static void put_mobility(struct gen *g, struct buf *e, unsigned int next)
{
	put8(e, next);
	put8(e, 0);
	put8(e, gen_below(g, 10));
	put_random(g, e, 5);
}

static void put_ext(struct gen *g, struct buf *e, unsigned int type, unsigned int next)
{
	switch (type) {
	case 0:
	case 60:
		put_options(g, e, next, gen_below(g, 3));
		break;
	case 43:
		put_routing(g, e, next);
		break;
	case 44:
		put_fragment(g, e, next);
		break;
	case 51:
		put_ah(g, e, next);
		break;
	default:
		put_mobility(g, e, next);
		break;
	}
}

static void chain(struct gen *g, struct ip6 *ip, const uint8_t *types, unsigned int n)
{
	ip->first = types[0];
	for (unsigned int i = 0; i < n; i++)
		put_ext(g, &ip->ext, types[i], i + 1 < n ? types[i + 1] : ip->proto);
}

static void random_chain(struct gen *g, struct ip6 *ip)
{
	static const uint8_t all[] = { 0, 43, 44, 51, 60, 60, 135 };
	uint8_t types[4] = { 0 };
	unsigned int n = 1 + gen_below(g, ARRAY_LEN(types));

	for (unsigned int i = 0; i < n; i++)
		types[i] = PICK(g, all);
	if (gen_chance(g, 30))
		types[0] = 0;
	chain(g, ip, types, n);
}

static void emit(struct gen *g, struct ip6 *ip, size_t len)
{
	struct buf l4 = { .n = 0 };

	put_l4_v6(g, &l4, ip, len);
	gen_send_v6(g, PA, ip, &l4);
}

static void hop_by_hop(struct gen *g)
{
	struct ip6 ip;

	ip6_from_a(g, &ip);
	ip.first = 0;
	put_options(g, &ip.ext, ip.proto, 1 + gen_below(g, 4));
	if (gen_chance(g, 10))
		ip.hops = 1;
	emit(g, &ip, gen_below(g, 40));
}

/* a real jumbo payload option: the length field is 0 */
static void jumbo(struct gen *g)
{
	struct buf b = { .n = 0 }, l4 = { .n = 0 };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	put_l4_v6(g, &l4, &ip, gen_below(g, 100));
	ip.first = 0;
	put8(&ip.ext, ip.proto);
	put8(&ip.ext, 0);
	put16(&ip.ext, 0xc204);
	put32(&ip.ext,
			gen_chance(g, 50) ? 0x10000 + gen_below(g, 10)
					  : (uint32_t)(l4.n + 8) - gen_below(g, 2));
	put_eth(&b, PA, 0x86dd);
	put_ip6(&b, &ip, &l4);
	if (gen_chance(g, 60))
		set16(b.b + ETH_LEN + 4, 0);
	gen_add(g, PA, &b);
}

static void through(struct gen *g)
{
	struct ip6 ip;

	ip6_from_a(g, &ip);
	random_chain(g, &ip);
	emit(g, &ip, gen_below(g, 40));
}

static void in_error(struct gen *g)
{
	static const char *const dst[] = { "2001:db8:1::1", "2001:db8:9::1", "2001:db8:b::1" };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	if (gen_chance(g, 40)) {
		ip.proto = IPPROTO_ICMPV6;
		ip.first = ip.proto;
	}
	random_chain(g, &ip);
	addr6(ip.dst, PICK(g, dst));
	if (ip.dst[5] == 0x0b)
		ip.hops = 1;
	emit(g, &ip, gen_chance(g, 80) ? gen_below(g, 40) : 1150 + gen_below(g, 100));
}

static void to_router(struct gen *g)
{
	static const uint8_t protos[] = { IPPROTO_ICMPV6, IPPROTO_UDP, IPPROTO_TCP, 59, 253 };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	ip.proto = PICK(g, protos);
	addr6(ip.dst, gen_chance(g, 70) ? "fd01::1" : "fd02::1");
	random_chain(g, &ip);
	emit(g, &ip, gen_below(g, 40));
}

static void cut_chain(struct gen *g)
{
	static const char *const dst[] = { "2001:db8:b::1", "fd01::1", "2001:db8:1::1" };
	struct buf l4 = { .n = 0 };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	random_chain(g, &ip);
	addr6(ip.dst, PICK(g, dst));
	ip.ext.n = gen_below(g, (uint32_t)ip.ext.n);
	gen_send_v6(g, PA, &ip, &l4);
}

const struct gen_class gen_v6_ext[] = {
	{ "v6-hop-by-hop", hop_by_hop },
	{ "v6-jumbo", jumbo },
	{ "v6-ext", through },
	{ "v6-ext-error", in_error },
	{ "v6-ext-own", to_router },
	{ "v6-ext-cut", cut_chain },
	{ 0 },
};
