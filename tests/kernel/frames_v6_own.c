/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 to the router's own addresses, on which nothing listens, and neighbour discovery */
#include "frames_priv.h"

#include <arpa/inet.h>
#include <string.h>

static const char *const own[] = { "fd01::1", "fd01::1", "fd02::1", "fe80::ff:fe00:1", "fd01::" };

static void header(struct gen *g, struct ip6 *ip, uint8_t proto)
{
	ip6_from_a(g, ip);
	addr6(ip->dst, PICK(g, own));
	if (ip->dst[0] == 0xfe && gen_chance(g, 50))
		addr6(ip->src, "fe80::102");
	ip->proto = proto;
	ip->first = proto;
	if (gen_chance(g, 15))
		ip->hops = (uint8_t)gen_below(g, 3);
}

static void fix_icmp(struct buf *l4, const struct ip6 *ip)
{
	if (l4->n < 4)
		return;
	set16(l4->b + 2, 0);
	set16(l4->b + 2, ~sum16(l4->b, l4->n, pseudo_v6(ip) + (uint32_t)l4->n) & 0xffff);
}

static void echo(struct gen *g)
{
	static const size_t lens[] = { 0, 1, 7, 56, 101, 1400 };
	static const char *const groups[] = { "ff02::1", "ff02::2", "ff02::1:ff00:1", "ff01::1",
		"ff02::5", "ff05::2" };
	struct buf l4 = { .n = 0 };
	struct ip6 ip;

	header(g, &ip, IPPROTO_ICMPV6);
	if (g->k % 5 == 4)
		addr6(ip.dst, gen_chance(g, 80) ? PICK(g, groups) : "fd01::");
	if (g->k % 5 == 4 && gen_chance(g, 30)) /* from behind another port */
		addr6(ip.src, gen_chance(g, 50) ? "2001:db8:b::1" : "fd03::2");
	put_l4_v6(g, &l4, &ip, PICK(g, lens));
	if (g->k % 5 == 1)
		l4.b[3] ^= 1; /* a bad checksum */
	if (g->k % 5 == 2)
		l4.n = gen_below(g, 9);
	if (g->k % 5 == 3) {
		l4.b[1] = (uint8_t)gen_u32(g);
		fix_icmp(&l4, &ip);
	}
	gen_send_v6(g, PA, &ip, &l4);
}

static void icmp(struct gen *g)
{
	static const uint8_t types[] = { 0, 1, 2, 3, 4, 100, 127, 129, 132, 138, 139, 140, 141, 144,
		148, 151, 160, 200, 255 };
	struct buf l4 = { .n = 0 };
	struct ip6 ip;

	header(g, &ip, IPPROTO_ICMPV6);
	put8(&l4, types[g->k % ARRAY_LEN(types)]);
	put8(&l4, gen_below(g, 3));
	put16(&l4, 0);
	put_random(g, &l4, gen_below(g, 60));
	fix_icmp(&l4, &ip);
	gen_send_v6(g, PA, &ip, &l4);
}

/* solicitations for the router's addresses and others, and all that makes them invalid */
static void solicit(struct gen *g)
{
	static const char *const targets[] = { "fd01::1", "fd01::1", "fe80::ff:fe00:1", "fd02::1",
		"fd01::99", "ff02::1" };
	static const char *const dsts[] = { "ff02::1:ff00:1", "fd01::1", "ff02::1", "fd02::1" };
	static const char *const srcs[] = { "fd01::2", "fd01::2", "fe80::102", "::" };
	struct buf l4 = { .n = 0 };
	struct ip6 ip;
	uint8_t target[16], mac[6];

	header(g, &ip, IPPROTO_ICMPV6);
	addr6(ip.src, PICK(g, srcs));
	addr6(ip.dst, PICK(g, dsts));
	addr6(target, PICK(g, targets));
	ip.hops = gen_chance(g, 85) ? 255 : 64;
	put8(&l4, 135);
	put8(&l4, gen_chance(g, 90) ? 0 : 1);
	put16(&l4, 0);
	put32(&l4, gen_chance(g, 80) ? 0 : gen_u32(g));
	put_mem(&l4, target, 16);
	topo_host_mac(PA, 2, mac);
	switch (g->k % 6) {
	case 0:
	case 1:
		put16(&l4, 0x0101); /* source link-layer address, the right one */
		put_mem(&l4, mac, 6);
		break;
	case 2:
		put16(&l4, gen_u32(g) & 0xff03); /* any option, any length */
		put_mem(&l4, mac, 6);
		break;
	case 3:
		l4.n = gen_below(g, 25);
		break;
	case 4:
		put16(&l4, 0x0e01); /* nonce */
		put_mem(&l4, mac, 6);
		break;
	default:
		break;
	}
	fix_icmp(&l4, &ip);
	if (gen_chance(g, 5) && l4.n > 3)
		l4.b[3] ^= 1;
	gen_send_v6(g, PA, &ip, &l4);
}

/* advertisements, router solicitations and redirects: a router with permanent neighbours is silent */
static void discovery(struct gen *g)
{
	static const uint8_t types[] = { 133, 134, 136, 137 };
	static const char *const dsts[] = { "ff02::2", "ff02::1", "fd01::1" };
	struct buf l4 = { .n = 0 };
	struct ip6 ip;
	uint8_t target[16];

	header(g, &ip, IPPROTO_ICMPV6);
	addr6(ip.src, gen_chance(g, 50) ? "fd01::2" : "fe80::102");
	addr6(ip.dst, PICK(g, dsts));
	addr6(target, gen_chance(g, 50) ? "fd01::2" : "fe80::102");
	ip.hops = gen_chance(g, 70) ? 255 : 1;
	put8(&l4, types[g->k % ARRAY_LEN(types)]);
	put8(&l4, 0);
	put16(&l4, 0);
	put32(&l4, gen_u32(g));
	put_mem(&l4, target, 16);
	put_random(g, &l4, gen_chance(g, 50) ? 0 : 16);
	if (gen_chance(g, 30))
		l4.n = gen_below(g, (uint32_t)l4.n);
	fix_icmp(&l4, &ip);
	gen_send_v6(g, PA, &ip, &l4);
}

static void udp(struct gen *g)
{
	struct buf l4 = { .n = 0 };
	struct ip6 ip;

	header(g, &ip, gen_chance(g, 80) ? IPPROTO_UDP : 136);
	if (gen_chance(g, 10))
		addr6(ip.dst, "ff02::1");
	put_l4_v6(g, &l4, &ip, gen_chance(g, 70) ? gen_below(g, 60) : 1100 + gen_below(g, 340));
	switch (g->k % 6) {
	case 1:
		set16(l4.b + 6, 0); /* no checksum, which IPv6 does not allow */
		break;
	case 2:
		l4.b[6] ^= 0x10;
		break;
	case 3:
		set16(l4.b + 4, gen_below(g, (uint32_t)l4.n + 20));
		break;
	case 4:
		l4.n = gen_below(g, 9);
		break;
	default:
		break;
	}
	gen_send_v6(g, PA, &ip, &l4);
}

static void tcp(struct gen *g)
{
	static const uint8_t flags[] = { 0x02, 0x10, 0x12, 0x04, 0x14, 0x01, 0x11, 0x00, 0x18, 0x03,
		0x29, 0xc2, 0xff };
	struct buf l4 = { .n = 0 };
	struct ip6 ip;

	header(g, &ip, IPPROTO_TCP);
	put_l4_v6(g, &l4, &ip, gen_chance(g, 50) ? 0 : gen_below(g, 60));
	l4.b[13] = flags[g->k % ARRAY_LEN(flags)];
	if (gen_chance(g, 10))
		l4.b[12] = (uint8_t)gen_u32(g);
	if (gen_chance(g, 10))
		l4.n = gen_below(g, 21);
	if (l4.n > 18) {
		set16(l4.b + 16, 0);
		set16(l4.b + 16, ~sum16(l4.b, l4.n, pseudo_v6(&ip) + (uint32_t)l4.n) & 0xffff);
		if (gen_chance(g, 10))
			l4.b[17] ^= 1;
	}
	gen_send_v6(g, PA, &ip, &l4);
}

static void protocol(struct gen *g)
{
	struct buf l4 = { .n = 0 };
	struct ip6 ip;

	header(g, &ip, (uint8_t)(g->k * 7));
	put_l4_v6(g, &l4, &ip, gen_chance(g, 80) ? gen_below(g, 60) : 1100 + gen_below(g, 300));
	gen_send_v6(g, PA, &ip, &l4);
}

static void fragments(struct gen *g)
{
	struct buf whole = { .n = 0 }, part;
	struct ip6 ip;
	size_t cuts[4], n = 2 + gen_below(g, 2), flaw = gen_below(g, 6);
	bool backwards = gen_chance(g, 40);

	header(g, &ip, gen_chance(g, 60) ? IPPROTO_ICMPV6 : IPPROTO_UDP);
	addr6(ip.dst, gen_chance(g, 70) ? "fd01::1" : "fd02::1");
	addr6(ip.src, "fd01::2");
	ip.hops = 64;
	put_l4_v6(g, &whole, &ip, 100 + gen_below(g, 1200));
	ip.first = 44;
	for (size_t i = 0; i <= n; i++)
		cuts[i] = i == n ? whole.n : whole.n * i / n / 8 * 8;
	for (size_t turn = 0; turn < n; turn++) {
		size_t i = backwards ? n - 1 - turn : turn;
		size_t from = cuts[i], to = cuts[i + 1];

		if (flaw == 1 && i == 1)
			from -= 8; /* overlap */
		if (flaw == 2 && i == 1)
			continue; /* a hole */
		if (flaw == 3 && i == 0)
			to -= 3; /* not a multiple of 8 */
		ip.ext.n = 0;
		put8(&ip.ext, ip.proto);
		put8(&ip.ext, 0);
		put16(&ip.ext, (unsigned int)from | (i + 1 < n ? 1 : 0));
		put32(&ip.ext, g->c->index + 1);
		part = (struct buf){ .n = 0 };
		put_mem(&part, whole.b + from, to - from);
		gen_send_v6(g, PA, &ip, &part);
		if (flaw == 4 && turn == 0)
			gen_send_v6(g, PA, &ip, &part); /* twice */
	}
}

const struct gen_class gen_v6_own[] = {
	{ "v6-own-echo", echo },
	{ "v6-own-icmp", icmp },
	{ "v6-own-solicit", solicit },
	{ "v6-own-discovery", discovery },
	{ "v6-own-udp", udp },
	{ "v6-own-tcp", tcp },
	{ "v6-own-protocol", protocol },
	{ "v6-own-fragments", fragments },
	{ 0 },
};
