/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes: frames of up to 9,000 bytes through, to the router and into errors; and answers that do not
 * fit the link by which they leave, so that the router fragments packets of its own.
 */
#include "frames_priv.h"

#include <arpa/inet.h>

#define BIG 9000

/* bytes of the whole packet: any, or near an MTU */
static size_t size(struct gen *g)
{
	static const unsigned int edges[] = { 134, 1284, 1500, 2048, 4096, BIG };
	size_t n = gen_chance(g, 50) ? 1400 + gen_below(g, BIG - 1400)
				     : PICK(g, edges) + gen_below(g, 9) - 4;

	return n > BIG ? BIG : n;
}

static void send4(struct gen *g, struct ip4 *ip, size_t total)
{
	size_t header = 20 + (ip->opts.n + 3) / 4 * 4;
	struct buf l4 = { .n = 0 };

	total = total < header + 40 ? header + 40 : total;
	put_l4_v4(g, &l4, ip, ip->proto == IPPROTO_TCP ? total - header - 20 : total - header - 8);
	gen_send_v4(g, PA, ip, &l4);
}

static void send6(struct gen *g, struct ip6 *ip, size_t total)
{
	struct buf l4 = { .n = 0 };

	total = total < 100 ? 100 : total;
	put_l4_v6(g, &l4, ip, ip->proto == IPPROTO_TCP ? total - 60 : total - 48);
	gen_send_v6(g, PA, ip, &l4);
}

static void big_v4(struct gen *g)
{
	static const uint32_t dst[] = { IP4(198, 18, 0, 1), IP4(10, 0, 2, 2), IP4(10, 0, 3, 2),
		IP4(203, 0, 113, 1), IP4(10, 0, 1, 1), IP4(10, 0, 2, 1), IP4(172, 16, 9, 1) };
	static const uint8_t protos[] = { IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMP };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	ip4_to(g, &ip, PICK(g, dst));
	ip.proto = PICK(g, protos);
	if (gen_chance(g, 20))
		put_mem(&ip.opts, (const uint8_t[]){ 0x94, 4, 0, 0, 7, 11, 4, 0, 0, 0, 0, 0, 0 },
				13);
	if (gen_chance(g, 10))
		ip.frag |= (uint16_t)(gen_chance(g, 50) ? IP4_MF : 100);
	if (gen_chance(g, 10))
		ip.ttl = 1;
	send4(g, &ip, size(g));
}

static void big_v6(struct gen *g)
{
	static const char *const dst[] = { "2001:db8:b::1", "fd02::2", "2001:db8:c::1", "fd01::1",
		"fd02::1", "2001:db8:9::1" };
	static const uint8_t protos[] = { IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMPV6 };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	addr6(ip.dst, PICK(g, dst));
	ip.proto = PICK(g, protos);
	ip.first = ip.proto;
	if (gen_chance(g, 10))
		ip.hops = 1;
	send6(g, &ip, size(g));
}

/* comes in at pa, but the answer leaves by a port with a smaller MTU */
static void answer_v4(struct gen *g)
{
	static const uint32_t src[] = { IP4(198, 51, 100, 1), IP4(10, 0, 3, 2), IP4(203, 0, 113, 1),
		IP4(10, 0, 4, 2) };
	static const uint32_t dst[] = { IP4(10, 0, 1, 1), IP4(10, 0, 1, 1), IP4(10, 0, 3, 1),
		IP4(198, 18, 0, 1) };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	ip.src = PICK(g, src);
	ip.dst = PICK(g, dst);
	ip.proto = gen_chance(g, 60) ? IPPROTO_ICMP : IPPROTO_UDP;
	if (ip.dst == IP4(198, 18, 0, 1))
		ip.ttl = 1;
	if (gen_chance(g, 20))
		put_mem(&ip.opts, (const uint8_t[]){ 7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, 12);
	send4(g, &ip, gen_chance(g, 50) ? size(g) : 100 + gen_below(g, 600));
}

static void answer_v6(struct gen *g)
{
	static const char *const src[] = { "2001:db8:c::1", "fd03::2" };
	static const char *const dst[] = { "fd01::1", "fd01::1", "fd03::1", "2001:db8:b::1" };
	struct ip6 ip;

	ip6_from_a(g, &ip);
	addr6(ip.src, PICK(g, src));
	addr6(ip.dst, PICK(g, dst));
	ip.proto = gen_chance(g, 70) ? IPPROTO_ICMPV6 : IPPROTO_UDP;
	ip.first = ip.proto;
	if (ip.dst[0] == 0x20)
		ip.hops = 1;
	send6(g, &ip, size(g));
}

/* a datagram of up to 26,000 bytes in fragments of any size, and its answer in fragments of ours */
static void joined_v4(struct gen *g)
{
	size_t part = 8 * (40 + gen_below(g, 1000)), n = 2 + gen_below(g, 3),
	       last = gen_below(g, 900);
	struct ip4 ip;
	uint32_t sum = 0;
	struct buf parts[FRAMES_CASE_MAX];

	ip4_from_a(g, &ip);
	ip.dst = gen_chance(g, 50) ? IP4(10, 0, 1, 1) : IP4(10, 0, 2, 1);
	if (gen_chance(g, 30))
		ip.src = IP4(198, 51, 100, 9); /* the answer leaves by pc */
	ip.proto = IPPROTO_ICMP;
	ip.id = (uint16_t)(g->c->index * 3 + 1);
	for (size_t i = 0; i < n; i++) {
		parts[i].n = 0;
		if (i == 0)
			put32(&parts[i], 0x08000000);
		put_random(g, &parts[i], (i + 1 < n ? part : last) - (i == 0 ? 4 : 0));
		sum = sum16(parts[i].b, parts[i].n, sum);
	}
	set16(parts[0].b + 2, ~sum & 0xffff);
	for (size_t i = 0; i < n; i++) {
		ip.frag = (uint16_t)(i * part / 8 | (i + 1 < n ? IP4_MF : 0));
		gen_send_v4(g, PA, &ip, &parts[i]);
	}
}

const struct gen_class gen_big[] = {
	{ "v4-big", big_v4 },
	{ "v6-big", big_v6 },
	{ "v4-answer-mtu", answer_v4 },
	{ "v6-answer-mtu", answer_v6 },
	{ "v4-big-joined", joined_v4 },
	{ 0 },
};
