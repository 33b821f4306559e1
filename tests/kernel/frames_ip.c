/* SPDX-License-Identifier: BSD-3-Clause */
#include "frames_priv.h"

#include <arpa/inet.h>
#include <string.h>

#define UDP_CLOSED 33434 /* nothing listens in the router; traceroute's first */

uint32_t pseudo_v4(const struct ip4 *ip)
{
	return (ip->src >> 16) + (ip->src & 0xffff) + (ip->dst >> 16) + (ip->dst & 0xffff)
			+ ip->proto;
}

uint32_t pseudo_v6(const struct ip6 *ip)
{
	return sum16(ip->src, 16, sum16(ip->dst, 16, ip->proto));
}

/* behind the header: the case's number, by which a human finds it, and noise */
static void put_payload(struct gen *g, struct buf *b, size_t len)
{
	size_t start = b->n;

	put32(b, g->c->index);
	b->n = start + (len < 4 ? len : 4);
	if (len > 4)
		put_random(g, b, len - 4);
}

static void finish_sum(struct buf *b, size_t start, size_t at, uint32_t pseudo)
{
	size_t len = b->n - start;
	uint32_t sum = ~sum16(b->b + start, len, pseudo + (uint32_t)len) & 0xffff;

	set16(b->b + start + at, sum == 0 ? 0xffff : sum);
}

void put_l4_ports(struct gen *g, struct buf *b, unsigned int proto, uint32_t pseudo,
		unsigned int dport, size_t len)
{
	size_t start = b->n;

	put16(b, 1024 + gen_below(g, 60000));
	put16(b, dport);
	if (proto == IPPROTO_TCP) {
		put32(b, gen_u32(g));
		put32(b, gen_u32(g));
		put16(b, 0x5002); /* SYN */
		put16(b, gen_u32(g));
		put32(b, 0);
		put_payload(g, b, len);
		finish_sum(b, start, 16, pseudo);
	} else {
		put16(b, (unsigned int)len + 8);
		put16(b, 0);
		put_payload(g, b, len);
		finish_sum(b, start, 6, pseudo);
	}
}

static void put_echo(struct gen *g, struct buf *b, unsigned int type, uint32_t pseudo, size_t len)
{
	size_t start = b->n;
	uint32_t sum;

	put8(b, type);
	put8(b, 0);
	put16(b, 0);
	put16(b, gen_u32(g));
	put16(b, g->c->index);
	put_payload(g, b, len);
	sum = ~sum16(b->b + start, b->n - start, pseudo) & 0xffff;
	set16(b->b + start + 2, sum);
}

static void put_l4(struct gen *g, struct buf *b, unsigned int proto, uint32_t pseudo, size_t len)
{
	switch (proto) {
	case IPPROTO_TCP:
		put_l4_ports(g, b, proto, pseudo, gen_chance(g, 50) ? 80 : gen_u32(g), len);
		break;
	case IPPROTO_UDP:
	case 136: /* UDP-Lite: a coverage of the whole datagram looks like a UDP length */
		put_l4_ports(g, b, proto, pseudo, UDP_CLOSED + gen_below(g, 30), len);
		break;
	case IPPROTO_ICMP:
		put_echo(g, b, 8, 0, len);
		break;
	case IPPROTO_ICMPV6:
		put_echo(g, b, 128, pseudo + (uint32_t)len + 8, len);
		break;
	default:
		put_payload(g, b, len);
		break;
	}
}

void put_l4_v4(struct gen *g, struct buf *b, const struct ip4 *ip, size_t len)
{
	put_l4(g, b, ip->proto, pseudo_v4(ip), len);
}

void put_l4_v6(struct gen *g, struct buf *b, const struct ip6 *ip, size_t len)
{
	put_l4(g, b, ip->proto, pseudo_v6(ip), len);
}

void ip4_from_a(struct gen *g, struct ip4 *ip)
{
	const uint32_t src[] = { IP4(10, 0, 1, 2), IP4(10, 0, 1, 2), IP4(10, 0, 1, 3),
		IP4(10, 0, 11, 2), IP4(192, 0, 2, 1 + gen_below(g, 254)) };
	const uint32_t dst[] = { IP4(10, 0, 2, 2), IP4(10, 0, 3, 2), IP4(10, 0, 4, 2),
		IP4(198, 18, gen_below(g, 256), gen_below(g, 256)),
		IP4(198, 19, gen_below(g, 256), gen_below(g, 256)),
		IP4(198, 51, 100, gen_below(g, 256)), IP4(203, 0, 113, gen_below(g, 256)) };

	*ip = (struct ip4){
		.src = PICK(g, src),
		.dst = PICK(g, dst),
		.id = (uint16_t)gen_u32(g),
		.frag = gen_chance(g, 50) ? IP4_DF : 0,
		.tos = gen_chance(g, 70) ? 0 : (uint8_t)gen_u32(g),
		.ttl = gen_chance(g, 80) ? 64 : (uint8_t)(2 + gen_below(g, 254)),
		.proto = gen_chance(g, 60) ? IPPROTO_UDP
					   : gen_protos_v4[gen_below(g, GEN_PROTOS_NB)],
	};
}

void ip4_to(struct gen *g, struct ip4 *ip, uint32_t dst)
{
	static const struct {
		uint32_t net;
		unsigned int len;
	} routed[] = {
		{ IP4(10, 0, 1, 0), 24 },
		{ IP4(10, 0, 11, 0), 24 },
		{ IP4(10, 0, 2, 0), 24 },
		{ IP4(10, 0, 3, 0), 24 },
		{ IP4(10, 0, 4, 0), 24 },
		{ IP4(198, 18, 0, 0), 15 },
		{ IP4(198, 51, 100, 0), 24 },
		{ IP4(203, 0, 113, 0), 24 },
	};
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(routed); i++)
		found |= (dst ^ routed[i].net) >> (32 - routed[i].len) == 0;
	if (!found)
		ip->src = TOPO_V4_SOURCES + g->c->index;
	ip->dst = dst;
}

void ip4_fix_sum(uint8_t *ip)
{
	set16(ip + 10, 0);
	set16(ip + 10, ~sum16(ip, (size_t)(ip[0] & 15) * 4, 0) & 0xffff);
}

void put_ip4(struct buf *b, const struct ip4 *ip, const struct buf *l4)
{
	size_t start = b->n;
	size_t opts_len = (ip->opts.n + 3) / 4 * 4;

	put8(b, 0x40 | (5 + (unsigned int)opts_len / 4));
	put8(b, ip->tos);
	put16(b, (unsigned int)(20 + opts_len + l4->n));
	put16(b, ip->id);
	put16(b, ip->frag);
	put8(b, ip->ttl);
	put8(b, ip->proto);
	put16(b, 0);
	put32(b, ip->src);
	put32(b, ip->dst);
	put_mem(b, ip->opts.b, ip->opts.n);
	put_zero(b, opts_len - ip->opts.n);
	put_mem(b, l4->b, l4->n);
	ip4_fix_sum(b->b + start);
}

void addr6(uint8_t out[16], const char *text)
{
	if (inet_pton(AF_INET6, text, out) != 1)
		memset(out, 0xee, 16);
}

void ip6_from_a(struct gen *g, struct ip6 *ip)
{
	static const char *const src[] = { "fd01::2", "fd01::2", "fd01::3", "2001:db8:a::1" };
	static const char *const dst[] = { "fd02::2", "fd03::2", "2001:db8:b::1",
		"2001:db8:b::1:2:3", "2001:db8:c::1" };

	*ip = (struct ip6){
		.flow = gen_chance(g, 70) ? 0 : gen_u32(g) & 0x0fffffff,
		.hops = gen_chance(g, 80) ? 64 : (uint8_t)(2 + gen_below(g, 254)),
		.proto = gen_chance(g, 60) ? IPPROTO_UDP
					   : gen_protos_v6[gen_below(g, GEN_PROTOS_NB)],
	};
	ip->first = ip->proto;
	addr6(ip->src, PICK(g, src));
	addr6(ip->dst, PICK(g, dst));
	if (ip->src[0] == 0x20)
		ip->src[15] = (uint8_t)gen_u32(g);
	if (ip->dst[0] == 0x20)
		set16(ip->dst + 8, gen_u32(g));
}

void put_ip6(struct buf *b, const struct ip6 *ip, const struct buf *l4)
{
	put32(b, 0x60000000 | ip->flow);
	put16(b, (unsigned int)(ip->ext.n + l4->n));
	put8(b, ip->first);
	put8(b, ip->hops);
	put_mem(b, ip->src, 16);
	put_mem(b, ip->dst, 16);
	put_mem(b, ip->ext.b, ip->ext.n);
	put_mem(b, l4->b, l4->n);
}

void gen_send_v4(struct gen *g, unsigned int port, const struct ip4 *ip, const struct buf *l4)
{
	struct buf b = { .n = 0 };

	put_eth(&b, port, 0x0800);
	put_ip4(&b, ip, l4);
	gen_add(g, port, &b);
}

void gen_send_v6(struct gen *g, unsigned int port, const struct ip6 *ip, const struct buf *l4)
{
	struct buf b = { .n = 0 };

	put_eth(&b, port, 0x86dd);
	put_ip6(&b, ip, l4);
	gen_add(g, port, &b);
}
