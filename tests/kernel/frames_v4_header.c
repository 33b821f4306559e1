/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4: the fixed header, the link below it, addresses, routes and MTUs */
#include "frames_priv.h"

#include <arpa/inet.h>
#include <string.h>

static size_t small(struct gen *g)
{
	return 4 + gen_below(g, 60);
}

static void send_udp(struct gen *g, unsigned int port, struct ip4 *ip, size_t len)
{
	struct buf l4 = { .n = 0 };

	put_l4_v4(g, &l4, ip, len);
	gen_send_v4(g, port, ip, &l4);
}

static void plain(struct gen *g)
{
	struct ip4 ip;

	ip4_from_a(g, &ip);
	ip.proto = gen_protos_v4[g->k % GEN_PROTOS_NB];
	if (gen_chance(g, 20)) { /* the other way */
		ip.src = gen_chance(g, 50) ? IP4(10, 0, 2, 2) : IP4(198, 18, 1, gen_below(g, 256));
		ip.dst = gen_chance(g, 50) ? IP4(10, 0, 1, 2) : IP4(192, 0, 2, gen_below(g, 256));
		send_udp(g, PB, &ip, small(g));
		return;
	}
	send_udp(g, PA, &ip, gen_chance(g, 70) ? small(g) : gen_below(g, 100));
}

static void ttl(struct gen *g)
{
	static const uint8_t edges[] = { 0, 1, 2, 255 };
	static const uint32_t dst[] = { IP4(198, 18, 0, 1), IP4(10, 0, 2, 2), IP4(10, 0, 1, 1),
		IP4(10, 0, 2, 1), IP4(172, 16, 1, 1), IP4(172, 16, 2, 1), IP4(172, 16, 3, 1),
		IP4(172, 16, 9, 1), IP4(203, 0, 113, 7) };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	ip.ttl = edges[g->k % ARRAY_LEN(edges)];
	if (gen_chance(g, 60))
		ip4_to(g, &ip, PICK(g, dst));
	send_udp(g, PA, &ip, gen_chance(g, 80) ? small(g) : 400 + gen_below(g, 900));
}

/* a field of the header says something else than the truth; the checksum is right mostly */
static void lie(struct gen *g)
{
	struct buf b = { .n = 0 }, l4 = { .n = 0 };
	struct ip4 ip;
	uint8_t *h = b.b + ETH_LEN;
	unsigned int total;

	ip4_from_a(g, &ip);
	put_l4_v4(g, &l4, &ip, 8 + gen_below(g, 80));
	put_eth(&b, PA, 0x0800);
	put_ip4(&b, &ip, &l4);
	total = get16(h + 2);
	switch (g->k % 5) {
	case 0:
		h[0] = (uint8_t)(0x45 & 0x0f) | (uint8_t)(gen_below(g, 16) << 4);
		break;
	case 1:
		h[0] = (uint8_t)(0x40 | gen_below(g, 16));
		break;
	case 2: {
		const unsigned int lies[] = { 0, 1, 19, 20, 21, 27, 28, total - 1, total + 1,
			total + 8, 0x7fff, 0xffff, gen_below(g, total) };

		set16(h + 2, PICK(g, lies));
		break;
	}
	case 3:
		ip4_fix_sum(h);
		set16(h + 10, get16(h + 10) ^ (1U << gen_below(g, 16)));
		gen_add(g, PA, &b);
		return;
	default:
		h[6] |= 0x80; /* the reserved bit */
		break;
	}
	ip4_fix_sum(h);
	gen_add(g, PA, &b);
}

static void cut(struct gen *g)
{
	struct buf b = { .n = 0 }, l4 = { .n = 0 };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	if (gen_chance(g, 30))
		put_mem(&ip.opts, (const uint8_t[]){ 7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 12);
	put_l4_v4(g, &l4, &ip, 4);
	put_eth(&b, PA, 0x0800);
	put_ip4(&b, &ip, &l4);
	b.n = ETH_LEN + g->k % (b.n - ETH_LEN);
	gen_add(g, PA, &b);
}

/* the datagram ends at every length, but its header says so: L4 headers are cut, the frame is not */
static void cut_l4(struct gen *g)
{
	struct buf l4 = { .n = 0 };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	ip.proto = gen_protos_v4[g->k % 8];
	put_l4_v4(g, &l4, &ip, 4);
	l4.n = gen_below(g, (uint32_t)l4.n);
	if (gen_chance(g, 30))
		ip.ttl = 1;
	gen_send_v4(g, PA, &ip, &l4);
}

static void pad(struct gen *g)
{
	struct buf b = { .n = 0 }, l4 = { .n = 0 };
	static const uint32_t other[] = { IP4(10, 0, 1, 1), IP4(172, 16, 1, 3),
		IP4(203, 0, 113, 1) };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	if (gen_chance(g, 30))
		ip4_to(g, &ip, PICK(g, other));
	if (gen_chance(g, 20))
		ip.ttl = 1;
	put_l4_v4(g, &l4, &ip, gen_below(g, 10));
	put_eth(&b, PA, 0x0800);
	put_ip4(&b, &ip, &l4);
	put_random(g, &b, 1 + gen_below(g, 60));
	gen_add(g, PA, &b);
}

static void fragment(struct gen *g)
{
	static const uint16_t offs[] = { 0, 1, 2, 60, 185, 8000, 8189, 8191 };
	static const uint32_t other[] = { IP4(172, 16, 1, 3), IP4(172, 16, 3, 3),
		IP4(198, 18, 0, 1), IP4(203, 0, 113, 1), IP4(203, 0, 113, 1) };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	ip.frag = PICK(g, offs);
	if (ip.frag == 0 || gen_chance(g, 50))
		ip.frag |= IP4_MF;
	if (gen_chance(g, 20))
		ip.frag |= IP4_DF;
	if (gen_chance(g, 50))
		ip4_to(g, &ip, PICK(g, other));
	if (gen_chance(g, 15))
		ip.ttl = 1;
	if (gen_chance(g, 30))
		put_mem(&ip.opts, (const uint8_t[]){ 0x94, 4, 0, 0, 7, 7, 4, 0, 0, 0, 0, 1 }, 12);
	send_udp(g, PA, &ip, gen_chance(g, 50) ? 8 * gen_below(g, 40) : gen_below(g, 400));
}

static void martian_src(struct gen *g)
{
	const uint32_t src[] = { 0, 1, IP4(0, 1, 2, 3), IP4(127, 0, 0, 1), IP4(127, 255, 255, 255),
		IP4(224, 0, 0, 1), IP4(239, 1, 2, 3), IP4(240, 0, 0, 1), IP4(255, 255, 255, 254),
		IP4(255, 255, 255, 255), IP4(10, 0, 1, 1), IP4(10, 0, 2, 1), IP4(10, 0, 11, 1),
		IP4(10, 0, 1, 255), IP4(10, 0, 2, 255), IP4(10, 0, 2, 2), IP4(198, 18, 0, 1),
		IP4(169, 254, 1, 1), IP4(172, 16, 3, 1), IP4(172, 16, 1, 1), IP4(9, 9, 9, 9) };
	static const uint32_t dst[] = { IP4(198, 18, 0, 1), IP4(10, 0, 1, 1), IP4(10, 0, 2, 1),
		IP4(10, 0, 1, 255), IP4(255, 255, 255, 255), IP4(224, 0, 0, 1) };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	if (gen_chance(g, 30))
		ip.dst = PICK(g, dst);
	if (g->k < ARRAY_LEN(src))
		ip.dst = IP4(172, 16, 1, 1); /* once from each: see ip4_to() */
	ip.src = src[g->k % ARRAY_LEN(src)];
	send_udp(g, PA, &ip, small(g));
}

static void martian_dst(struct gen *g)
{
	const uint32_t dst[] = { 0, 1, IP4(0, 1, 2, 3), IP4(127, 0, 0, 1), IP4(127, 1, 2, 3),
		IP4(127, 255, 255, 255), IP4(224, 0, 0, 1), IP4(224, 0, 0, 5), IP4(239, 1, 2, 3),
		IP4(240, 0, 0, 1), IP4(247, 1, 1, 1), IP4(248, 0, 0, 1), IP4(255, 255, 255, 254),
		IP4(255, 255, 255, 255), IP4(10, 0, 1, 255), IP4(10, 0, 2, 255),
		IP4(10, 0, 11, 255), IP4(10, 0, 4, 255), IP4(10, 255, 255, 255),
		IP4(169, 254, 1, 1), IP4(198, 18, 0, 0), IP4(198, 19, 255, 255) };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	ip4_to(g, &ip, dst[g->k % ARRAY_LEN(dst)]);
	if (gen_chance(g, 30))
		ip.ttl = 1;
	send_udp(g, PA, &ip, small(g));
}

static void link_layer(struct gen *g)
{
	static const uint8_t dst_macs[][6] = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
		{ 0x01, 0x00, 0x5e, 0, 0, 1 }, { 0x33, 0x33, 0, 0, 0, 1 },
		{ 0x01, 0x80, 0xc2, 0, 0, 0 }, { 2, 0, 0, 0, 0, 2 }, { 2, 0, 0, 0, 9, 9 }, { 0 },
		{ 2, 0, 0, 0, 1, 2 } };
	static const uint8_t src_macs[][6] = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
		{ 0x01, 0x00, 0x5e, 0, 0, 1 }, { 2, 0, 0, 0, 0, 1 }, { 2, 0, 0, 0, 0, 2 }, { 0 } };
	static const uint32_t dst[] = { IP4(198, 18, 0, 1), IP4(10, 0, 1, 1), IP4(172, 16, 1, 1),
		IP4(10, 0, 1, 255), IP4(224, 0, 0, 1), IP4(255, 255, 255, 255) };
	static const unsigned int types[] = { 0x0000, 0x0800, 0x86dd, 0x8847, 0x88a8, 0x0805,
		0x0600, 0x05ff, 0x0004, 0x88cc, 0xffff };
	struct buf b = { .n = 0 }, l4 = { .n = 0 };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	if (gen_chance(g, 60))
		ip4_to(g, &ip, PICK(g, dst));
	if (gen_chance(g, 20))
		ip.ttl = 1;
	put_l4_v4(g, &l4, &ip, small(g));
	put_eth(&b, PA, g->k % 3 == 2 ? PICK(g, types) : 0x0800);
	put_ip4(&b, &ip, &l4);
	if (g->k % 3 == 0)
		memcpy(b.b, PICK(g, dst_macs), 6);
	if (g->k % 3 == 1)
		memcpy(b.b + 6, PICK(g, src_macs), 6);
	gen_add(g, PA, &b);
}

static void mtu(struct gen *g)
{
	static const uint32_t dst[] = { IP4(198, 51, 100, 9), IP4(10, 0, 3, 2), IP4(203, 0, 113, 9),
		IP4(10, 0, 4, 2), IP4(198, 18, 0, 1) };
	static const unsigned int edges[] = { 1280, 132, 1500, 128, 136, 256, 512 };
	unsigned int total = PICK(g, edges) + gen_below(g, 9);
	struct ip4 ip;
	struct buf l4 = { .n = 0 };

	ip4_from_a(g, &ip);
	ip4_to(g, &ip, PICK(g, dst));
	ip.frag = g->k % 2 == 0 ? IP4_DF : 0;
	if (gen_chance(g, 25))
		ip.frag |= (uint16_t)(gen_chance(g, 50) ? IP4_MF : 100);
	total = (total > 1504 ? 1504 : total) - 4;
	if (gen_chance(g, 25)) {
		/* one that is copied to each fragment, one that is not */
		put_mem(&ip.opts, (const uint8_t[]){ 0x94, 4, 0, 0, 7, 11, 4 }, 7);
		put_zero(&ip.opts, gen_chance(g, 50) ? 9 : 33);
	}
	if (gen_chance(g, 10))
		ip.ttl = 1;
	put_l4_v4(g, &l4, &ip, total);
	l4.n = total - 20 - (ip.opts.n + 3) / 4 * 4;
	gen_send_v4(g, PA, &ip, &l4);
}

static void route_type(struct gen *g)
{
	const uint32_t dst[] = { IP4(172, 16, 1, 0), IP4(172, 16, 2, 1), IP4(172, 16, 3, 1),
		IP4(172, 16, 4, 1), IP4(172, 16, 5, 1), IP4(8, 8, 8, 8), IP4(192, 168, 0, 255) };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	ip4_to(g, &ip, dst[g->k % ARRAY_LEN(dst)]);
	ip.proto = gen_protos_v4[gen_below(g, GEN_PROTOS_NB)];
	if (gen_chance(g, 10))
		ip.frag = (uint16_t)(gen_chance(g, 50) ? IP4_MF : gen_below(g, 8000));
	send_udp(g, PA, &ip, gen_chance(g, 50) ? small(g) : 450 + gen_below(g, 1000));
}

/*
 * Out device = in device. Redirects go to sources on the link, and are rationed for each source: so
 * every source of the crowd has its turn once, and after that sources that get none.
 */
static void redirect(struct gen *g)
{
	static const uint32_t far[] = { IP4(192, 0, 2, 1), IP4(192, 0, 3, 1), IP4(198, 18, 0, 1),
		IP4(172, 16, 1, 1), IP4(9, 9, 9, 9) };
	static const uint32_t dst[] = { IP4(192, 0, 3, 1), IP4(192, 0, 2, 1), IP4(10, 0, 1, 3),
		IP4(10, 0, 1, 2), IP4(10, 0, 11, 2) };
	unsigned int turn = g->k * 3 / 4;
	struct ip4 ip;

	ip4_from_a(g, &ip);
	ip.dst = PICK(g, dst);
	if (g->k % 4 == 3 || turn >= 2 * TOPO_CROWD)
		ip.src = PICK(g, far);
	else
		ip.src = IP4(10, 0, turn % 2 == 0 ? 1 : 11, TOPO_CROWD_FIRST + turn / 2);
	if (gen_chance(g, 15))
		put_mem(&ip.opts, (const uint8_t[]){ 7, 7, 4, 0, 0, 0, 0 }, 7);
	if (gen_chance(g, 10))
		ip.ttl = (uint8_t)(1 + gen_below(g, 2));
	if (gen_chance(g, 10))
		ip.frag = 5;
	send_udp(g, PA, &ip, gen_chance(g, 70) ? small(g) : 900);
}

/* ICMP that causes an error must not be answered if it is one itself */
static void icmp_trigger(struct gen *g)
{
	static const uint32_t dst[] = { IP4(172, 16, 1, 1), IP4(172, 16, 9, 1),
		IP4(198, 18, 0, 1) };
	struct buf l4 = { .n = 0 };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	ip4_to(g, &ip, PICK(g, dst));
	ip.proto = IPPROTO_ICMP;
	if (ip.dst == IP4(198, 18, 0, 1))
		ip.ttl = 1;
	put8(&l4, g->k % 45);
	put8(&l4, gen_below(g, 4));
	put_random(g, &l4, 6 + small(g));
	if (gen_chance(g, 20))
		l4.n = gen_below(g, 8);
	gen_send_v4(g, PA, &ip, &l4);
}

/* a few bytes of anything behind the addresses or in front of them are wrong */
static void mutate(struct gen *g)
{
	struct buf b = { .n = 0 }, l4 = { .n = 0 };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	if (gen_chance(g, 50))
		put_random(g, &ip.opts, 4 * gen_below(g, 11));
	put_l4_v4(g, &l4, &ip, small(g));
	put_eth(&b, PA, 0x0800);
	put_ip4(&b, &ip, &l4);
	for (unsigned int i = 1 + gen_below(g, 3); i > 0; i--) {
		size_t at = gen_below(g, (uint32_t)b.n - ETH_LEN);

		if (at < 12 || at >= 20)
			b.b[ETH_LEN + at] = (uint8_t)gen_u32(g);
	}
	if (gen_chance(g, 90) && (b.b[ETH_LEN] & 15) * 4u <= b.n - ETH_LEN)
		ip4_fix_sum(b.b + ETH_LEN);
	gen_add(g, PA, &b);
}

const struct gen_class gen_v4_header[] = {
	{ "v4-plain", plain },
	{ "v4-ttl", ttl },
	{ "v4-lie", lie },
	{ "v4-cut", cut },
	{ "v4-cut-l4", cut_l4 },
	{ "v4-pad", pad },
	{ "v4-fragment", fragment },
	{ "v4-martian-src", martian_src },
	{ "v4-martian-dst", martian_dst },
	{ "v4-link", link_layer },
	{ "v4-mtu", mtu },
	{ "v4-route-type", route_type },
	{ "v4-redirect", redirect },
	{ "v4-icmp-trigger", icmp_trigger },
	{ "v4-mutate", mutate },
	{ 0 },
};
