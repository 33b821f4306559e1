/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 to the router's own addresses, on which nothing listens */
#include "frames_priv.h"

#include <arpa/inet.h>
#include <string.h>

static const uint32_t own[] = { IP4(10, 0, 1, 1), IP4(10, 0, 1, 1), IP4(10, 0, 11, 1),
	IP4(10, 0, 2, 1), IP4(10, 0, 4, 1) };

static void header(struct gen *g, struct ip4 *ip, uint8_t proto)
{
	ip4_from_a(g, ip);
	ip->dst = PICK(g, own);
	ip->proto = proto;
	if (gen_chance(g, 20))
		ip->ttl = (uint8_t)gen_below(g, 3);
}

static void echo(struct gen *g)
{
	static const size_t lens[] = { 0, 1, 7, 56, 100, 101, 1400 };
	struct buf l4 = { .n = 0 };
	struct ip4 ip;

	header(g, &ip, IPPROTO_ICMP);
	put_l4_v4(g, &l4, &ip, PICK(g, lens));
	if (g->k % 5 == 1)
		l4.b[1] = (uint8_t)gen_u32(g); /* a code, and so a bad checksum */
	if (g->k % 5 == 2)
		l4.n = gen_below(g, 9); /* cut, and so a bad checksum */
	if (g->k % 5 == 3) {
		l4.b[1] = (uint8_t)gen_u32(g);
		set16(l4.b + 2, 0);
		set16(l4.b + 2, ~sum16(l4.b, l4.n, 0) & 0xffff);
	}
	gen_send_v4(g, PA, &ip, &l4);
}

/* every other type: timestamp, mask and information requests, errors, nonsense */
static void icmp(struct gen *g)
{
	struct buf l4 = { .n = 0 };
	unsigned int type = g->k % 46;
	struct ip4 ip;

	header(g, &ip, IPPROTO_ICMP);
	if (type == 8 || gen_chance(g, 20))
		type = 13;
	put8(&l4, type);
	put8(&l4, gen_chance(g, 70) ? 0 : gen_below(g, 20));
	put16(&l4, 0);
	put_random(g, &l4, gen_chance(g, 60) ? 16 : gen_below(g, 40));
	set16(l4.b + 2, ~sum16(l4.b, l4.n, 0) & 0xffff);
	gen_send_v4(g, PA, &ip, &l4);
}

static void udp(struct gen *g)
{
	struct buf l4 = { .n = 0 };
	struct ip4 ip;

	header(g, &ip, gen_chance(g, 80) ? IPPROTO_UDP : 136);
	put_l4_v4(g, &l4, &ip, gen_chance(g, 70) ? gen_below(g, 60) : 500 + gen_below(g, 900));
	switch (g->k % 7) {
	case 1:
		set16(l4.b + 6, 0); /* no checksum */
		break;
	case 2:
		l4.b[6] ^= 0x10; /* a bad one */
		break;
	case 3:
		set16(l4.b + 4, gen_below(g, (uint32_t)l4.n + 20)); /* length, or coverage */
		set16(l4.b + 6, 0);
		break;
	case 4:
		l4.n = gen_below(g, 9);
		break;
	case 5:
		put_random(g, &l4, 1 + gen_below(g, 12)); /* more than the length says */
		break;
	default:
		break;
	}
	gen_send_v4(g, PA, &ip, &l4);
}

static void tcp(struct gen *g)
{
	static const uint8_t flags[] = { 0x02, 0x10, 0x12, 0x04, 0x14, 0x01, 0x11, 0x00, 0x18, 0x03,
		0x29, 0xc2, 0xff };
	struct buf l4 = { .n = 0 };
	struct ip4 ip;

	header(g, &ip, IPPROTO_TCP);
	put_l4_v4(g, &l4, &ip, gen_chance(g, 50) ? 0 : gen_below(g, 60));
	l4.b[13] = flags[g->k % ARRAY_LEN(flags)];
	if (gen_chance(g, 10))
		l4.b[12] = (uint8_t)gen_u32(g); /* data offset */
	if (gen_chance(g, 10))
		l4.n = gen_below(g, 21);
	if (l4.n > 18) {
		set16(l4.b + 16, 0);
		set16(l4.b + 16, ~sum16(l4.b, l4.n, pseudo_v4(&ip) + (uint32_t)l4.n) & 0xffff);
		if (gen_chance(g, 10))
			l4.b[17] ^= 1;
	}
	gen_send_v4(g, PA, &ip, &l4);
}

static void protocol(struct gen *g)
{
	struct buf l4 = { .n = 0 };
	struct ip4 ip;

	header(g, &ip, (uint8_t)(g->k * 7));
	if (ip.proto == IPPROTO_IGMP)
		ip.proto = 200;
	put_l4_v4(g, &l4, &ip, gen_chance(g, 80) ? gen_below(g, 60) : 600);
	gen_send_v4(g, PA, &ip, &l4);
}

static void broadcast(struct gen *g)
{
	static const uint32_t dst[] = { IP4(10, 0, 1, 255), IP4(255, 255, 255, 255),
		IP4(224, 0, 0, 1), IP4(224, 0, 0, 5), IP4(239, 1, 1, 1), IP4(10, 0, 2, 255),
		IP4(10, 0, 1, 0), IP4(10, 0, 11, 255) };
	static const uint8_t protos[] = { IPPROTO_ICMP, IPPROTO_UDP, IPPROTO_TCP, IPPROTO_GRE };
	struct buf b = { .n = 0 }, l4 = { .n = 0 };
	struct ip4 ip;

	header(g, &ip, PICK(g, protos));
	ip.dst = dst[g->k % ARRAY_LEN(dst)];
	if (ip.dst == IP4(10, 0, 1, 0))
		ip.dst = IP4(10, 0, 1, 1); /* unicast, in a link broadcast */
	put_l4_v4(g, &l4, &ip, gen_below(g, 60));
	put_eth(&b, PA, 0x0800);
	put_ip4(&b, &ip, &l4);
	if (gen_chance(g, 70))
		memset(b.b, 0xff, 6);
	else if (gen_chance(g, 50))
		memcpy(b.b, (const uint8_t[]){ 1, 0, 0x5e, 0, 0, 1 }, 6);
	gen_add(g, PA, &b);
}

/* fragments of one datagram to the router: in any order, twice, overlapping, with a hole */
static void fragments(struct gen *g)
{
	struct buf whole = { .n = 0 }, part;
	struct ip4 ip;
	size_t cuts[4], n = 2 + gen_below(g, 2), flaw = gen_below(g, 8);

	header(g, &ip, gen_chance(g, 60) ? IPPROTO_ICMP : IPPROTO_UDP);
	ip.ttl = 64;
	ip.id = (uint16_t)(g->c->index * 7 + 1); /* its own, within one run */
	put_l4_v4(g, &whole, &ip, 100 + gen_below(g, 1200));
	for (size_t i = 0; i <= n; i++)
		cuts[i] = i == n ? whole.n : whole.n * i / n / 8 * 8;
	for (size_t i = 0; i < n; i++) {
		size_t from = cuts[i], to = cuts[i + 1];

		if (flaw == 1 && i == 1)
			from -= 8; /* overlap */
		if (flaw == 2 && i == 1)
			continue; /* a hole */
		ip.frag = (uint16_t)(from / 8 | (i + 1 < n ? IP4_MF : 0));
		part = (struct buf){ .n = 0 };
		put_mem(&part, whole.b + from, to - from);
		gen_send_v4(g, PA, &ip, &part);
		if (flaw == 3 && i == 0)
			gen_send_v4(g, PA, &ip, &part); /* twice */
	}
	if (flaw >= 4 && g->c->n == 2) { /* the last one first */
		struct frames_case *c = g->c;
		uint8_t data[FRAMES_LEN_MAX];
		uint32_t len = c->v[0].len;

		memcpy(data, c->v[0].data, len);
		memcpy(c->v[0].data, c->v[1].data, c->v[1].len);
		c->v[0].len = c->v[1].len;
		memcpy(c->v[1].data, data, len);
		c->v[1].len = len;
	}
}

const struct gen_class gen_v4_own[] = {
	{ "v4-own-echo", echo },
	{ "v4-own-icmp", icmp },
	{ "v4-own-udp", udp },
	{ "v4-own-tcp", tcp },
	{ "v4-own-protocol", protocol },
	{ "v4-own-broadcast", broadcast },
	{ "v4-own-fragments", fragments },
	{ 0 },
};
