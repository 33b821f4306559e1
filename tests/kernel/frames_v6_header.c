/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6: the fixed header, addresses, routes and MTUs */
#include "frames_priv.h"

#include <arpa/inet.h>
#include <string.h>

static size_t small(struct gen *g)
{
	return 4 + gen_below(g, 60);
}

static void emit(struct gen *g, unsigned int port, struct ip6 *ip, size_t len)
{
	struct buf l4 = { .n = 0 };

	put_l4_v6(g, &l4, ip, len);
	gen_send_v6(g, port, ip, &l4);
}

static void set_proto(struct ip6 *ip, uint8_t proto)
{
	ip->proto = proto;
	ip->first = proto;
}

static void plain(struct gen *g)
{
	struct ip6 ip;

	ip6_from_a(g, &ip);
	set_proto(&ip, gen_protos_v6[g->k % GEN_PROTOS_NB]);
	if (gen_chance(g, 20)) {
		addr6(ip.src, gen_chance(g, 50) ? "fd02::2" : "2001:db8:b::7");
		addr6(ip.dst, gen_chance(g, 50) ? "fd01::2" : "2001:db8:a::7");
		emit(g, PB, &ip, small(g));
		return;
	}
	emit(g, PA, &ip, gen_chance(g, 70) ? small(g) : gen_below(g, 100));
}

static void hops(struct gen *g)
{
	static const uint8_t edges[] = { 0, 1, 2, 255 };
	static const char *const dst[] = { "2001:db8:b::1", "fd02::2", "fd01::1", "fd02::1",
		"2001:db8:1::1", "2001:db8:2::1", "2001:db8:3::1", "2001:db8:9::1",
		"fe80::ff:fe00:1" };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	ip.hops = edges[g->k % ARRAY_LEN(edges)];
	if (gen_chance(g, 60))
		addr6(ip.dst, PICK(g, dst));
	emit(g, PA, &ip, gen_chance(g, 80) ? small(g) : 400 + gen_below(g, 900));
}

static void lie(struct gen *g)
{
	struct buf b = { .n = 0 }, l4 = { .n = 0 };
	struct ip6 ip;
	uint8_t *h = b.b + ETH_LEN;
	unsigned int len;

	ip6_from_a(g, &ip);
	if (gen_chance(g, 20))
		ip.hops = 1;
	put_l4_v6(g, &l4, &ip, 8 + gen_below(g, 80));
	put_eth(&b, PA, 0x86dd);
	put_ip6(&b, &ip, &l4);
	len = get16(h + 4);
	if (g->k % 3 == 0) {
		h[0] = (uint8_t)(gen_below(g, 16) << 4);
	} else if (g->k % 3 == 1) {
		const unsigned int lies[] = { 0, 1, 7, 8, len - 1, len + 1, len + 8, 0xffff,
			gen_below(g, len) };

		set16(h + 4, PICK(g, lies));
	} else {
		put_random(g, &b, 1 + gen_below(g, 60)); /* link padding */
	}
	gen_add(g, PA, &b);
}

static void cut(struct gen *g)
{
	struct buf b = { .n = 0 }, l4 = { .n = 0 };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	if (gen_chance(g, 40)) {
		put_mem(&ip.ext, (const uint8_t[]){ ip.proto, 0, 1, 4, 0, 0, 0, 0 }, 8);
		ip.first = gen_chance(g, 50) ? 0 : 60;
	}
	put_l4_v6(g, &l4, &ip, 4);
	put_eth(&b, PA, 0x86dd);
	put_ip6(&b, &ip, &l4);
	b.n = ETH_LEN + g->k * 5 % (b.n - ETH_LEN);
	gen_add(g, PA, &b);
}

static void cut_l4(struct gen *g)
{
	struct buf l4 = { .n = 0 };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	set_proto(&ip, gen_protos_v6[g->k % 8]);
	put_l4_v6(g, &l4, &ip, 4);
	l4.n = gen_below(g, (uint32_t)l4.n);
	if (gen_chance(g, 40))
		ip.hops = 1;
	gen_send_v6(g, PA, &ip, &l4);
}

static void martian_src(struct gen *g)
{
	static const char *const src[] = { "::", "::1", "ff02::1", "ff0e::1", "fe80::102",
		"fe80::ff:fe00:1", "fec0::1", "fd01::1", "fd02::1", "fd02::2", "2001:db8:b::1",
		"::ffff:10.0.1.2", "::10.0.1.2", "2002:7f00:1::1", "2001:db8:1::1", "2001:db8:9::1",
		"ff01::1", "fd01::", "64:ff9b::a00:102" };
	static const char *const dst[] = { "2001:db8:b::1", "fd01::1", "fd02::1", "2001:db8:1::1",
		"ff02::1", "fd02::2" };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	addr6(ip.src, src[g->k % ARRAY_LEN(src)]);
	if (gen_chance(g, 40))
		addr6(ip.dst, PICK(g, dst));
	if (gen_chance(g, 15))
		ip.hops = 1;
	emit(g, PA, &ip, small(g));
}

static void martian_dst(struct gen *g)
{
	static const char *const dst[] = { "::", "::1", "ff00::1", "ff01::1", "ff02::1", "ff02::2",
		"ff02::5", "ff02::1:ff00:1", "ff05::2", "ff0e::1", "fec0::1", "::ffff:198.18.0.1",
		"::ffff:10.0.2.2", "::198.18.0.1", "2002:c612:1::1",
		"2001:db8:b::", "fd01::", "fd02::", "fe80::" };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	addr6(ip.dst, dst[g->k % ARRAY_LEN(dst)]);
	if (gen_chance(g, 15))
		addr6(ip.src, "fe80::102");
	if (gen_chance(g, 30))
		ip.hops = 1;
	emit(g, PA, &ip, small(g));
}

static void link_layer(struct gen *g)
{
	static const uint8_t dst_macs[][6] = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
		{ 0x33, 0x33, 0, 0, 0, 1 }, { 0x01, 0x00, 0x5e, 0, 0, 1 }, { 2, 0, 0, 0, 0, 2 },
		{ 2, 0, 0, 0, 9, 9 } };
	static const char *const dst[] = { "2001:db8:b::1", "fd01::1", "fd01::1", "2001:db8:1::1",
		"ff02::1", "ff02::2" };
	static const unsigned int types[] = { 0x0800, 0x86dd, 0x86de };
	struct buf b = { .n = 0 }, l4 = { .n = 0 };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	if (gen_chance(g, 60))
		addr6(ip.dst, PICK(g, dst));
	if (gen_chance(g, 20))
		ip.hops = 1;
	put_l4_v6(g, &l4, &ip, small(g));
	put_eth(&b, PA, gen_chance(g, 10) ? PICK(g, types) : 0x86dd);
	put_ip6(&b, &ip, &l4);
	memcpy(b.b, PICK(g, dst_macs), 6);
	gen_add(g, PA, &b);
}

static void mtu(struct gen *g)
{
	static const char *const dst[] = { "2001:db8:c::1", "fd03::2", "2001:db8:b::1" };
	static const unsigned int edges[] = { 1280, 1492, 1400 };
	unsigned int total = PICK(g, edges) + gen_below(g, 9);
	struct buf l4 = { .n = 0 };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	addr6(ip.dst, PICK(g, dst));
	if (gen_chance(g, 20)) {
		put_mem(&ip.ext, (const uint8_t[]){ ip.proto, 0, 0, 1, 0, 0, 0, 9 }, 8);
		ip.first = 44; /* a first fragment */
	}
	if (gen_chance(g, 10))
		ip.hops = 1;
	if (total > 1500)
		total = 1500;
	put_l4_v6(g, &l4, &ip, total);
	l4.n = total - 40 - ip.ext.n;
	gen_send_v6(g, PA, &ip, &l4);
}

static void route_type(struct gen *g)
{
	static const char *const dst[] = { "2001:db8:1::1", "2001:db8:2::1", "2001:db8:3::1",
		"2001:db8:4::1", "2001:db8:9::1", "3fff::1" };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	addr6(ip.dst, dst[g->k % ARRAY_LEN(dst)]);
	set_proto(&ip, gen_protos_v6[gen_below(g, GEN_PROTOS_NB)]);
	emit(g, PA, &ip, gen_chance(g, 50) ? small(g) : 1100 + gen_below(g, 340));
}

/*
 * Out device = in device. Redirects are rationed for each source and for each destination, so half
 * of the crowd sends to the other half, each once or twice; besides, there are routes back by a
 * gateway and sources behind one, which get none.
 */
static void redirect(struct gen *g)
{
	static const char *const src[] = { "2001:db8:a::1", "2001:db8:a3::1", "2001:db8:b::1",
		"2001:db8:1::1" };
	static const char *const dst[] = { "2001:db8:a3::1", "2001:db8:a::1", "fd01::3" };
	static const char *const half[] = { "fd01::1:0", "fe80::1:0" };
	unsigned int turn = g->k * 3 / 4;
	struct ip6 ip;

	ip6_from_a(g, &ip);
	if (g->k % 4 == 3 || turn >= TOPO_CROWD) {
		addr6(ip.src, PICK(g, src));
		addr6(ip.dst, PICK(g, dst));
	} else {
		addr6(ip.src, half[turn % 2]);
		set16(ip.src + 14, TOPO_CROWD_FIRST + turn / 2);
		addr6(ip.dst, half[turn / 2 % 2]);
		set16(ip.dst + 14, TOPO_CROWD_FIRST + TOPO_CROWD / 2 + turn / 2);
	}
	if (gen_chance(g, 10))
		ip.hops = (uint8_t)(1 + gen_below(g, 2));
	emit(g, PA, &ip, gen_chance(g, 70) ? small(g) : 1000 + gen_below(g, 400));
}

static void icmp_trigger(struct gen *g)
{
	static const char *const dst[] = { "2001:db8:1::1", "2001:db8:9::1", "2001:db8:b::1" };
	static const uint8_t types[] = { 0, 1, 2, 3, 4, 5, 100, 101, 127, 128, 129, 130, 131, 133,
		134, 135, 136, 137, 138, 143, 200, 255 };
	struct buf l4 = { .n = 0 };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	addr6(ip.dst, PICK(g, dst));
	set_proto(&ip, IPPROTO_ICMPV6);
	if (ip.dst[5] == 0x0b)
		ip.hops = 1;
	put8(&l4, types[g->k % ARRAY_LEN(types)]);
	put8(&l4, gen_below(g, 4));
	put_random(g, &l4, 6 + small(g));
	if (gen_chance(g, 20))
		l4.n = gen_below(g, 8);
	gen_send_v6(g, PA, &ip, &l4);
}

static void mutate(struct gen *g)
{
	struct buf b = { .n = 0 }, l4 = { .n = 0 };
	static const uint8_t exts[] = { 0, 43, 44, 60, 51 };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	if (gen_chance(g, 50)) {
		put8(&ip.ext, ip.proto);
		put8(&ip.ext, gen_below(g, 3));
		put_random(g, &ip.ext, 6 + 8 * gen_below(g, 3));
		ip.first = PICK(g, exts);
	}
	put_l4_v6(g, &l4, &ip, small(g));
	put_eth(&b, PA, 0x86dd);
	put_ip6(&b, &ip, &l4);
	for (unsigned int i = 1 + gen_below(g, 3); i > 0; i--) {
		size_t at = gen_below(g, (uint32_t)b.n - ETH_LEN);

		if (at < 8 || at >= 40)
			b.b[ETH_LEN + at] = (uint8_t)gen_u32(g);
	}
	gen_add(g, PA, &b);
}

const struct gen_class gen_v6_header[] = {
	{ "v6-plain", plain },
	{ "v6-hops", hops },
	{ "v6-lie", lie },
	{ "v6-cut", cut },
	{ "v6-cut-l4", cut_l4 },
	{ "v6-martian-src", martian_src },
	{ "v6-martian-dst", martian_dst },
	{ "v6-link", link_layer },
	{ "v6-mtu", mtu },
	{ "v6-route-type", route_type },
	{ "v6-redirect", redirect },
	{ "v6-icmp-trigger", icmp_trigger },
	{ "v6-mutate", mutate },
	{ 0 },
};
