/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Questions whose answer has a checksum of 0. Some code in the kernel sends that as it is and some
 * as 0xffff, and one in 65,536 answers shows which.
 */
#include "frames_priv.h"

#include <arpa/inet.h>

/* one's complement: what is missing to 0xffff, of which the complement is 0 */
static unsigned int missing(uint32_t sum)
{
	sum = sum16(NULL, 0, sum);
	return 0xffff - sum;
}

/* the answer to a SYN: ports turned, sequence 0, acknowledged one more, no window */
static void put_syn(struct gen *g, struct buf *b, uint32_t pseudo)
{
	unsigned int sport = 1024 + gen_below(g, 60000), dport = 1 + gen_below(g, 60000);
	unsigned int high = gen_below(g, 0xffff);
	unsigned int low = missing(pseudo + 20 + sport + dport + high + 0x5014);
	uint32_t seq = (high << 16 | low) - 1;

	put16(b, sport);
	put16(b, dport);
	put32(b, seq);
	put32(b, 0);
	put16(b, 0x5002);
	put16(b, 1000);
	put32(b, 0);
	set16(b->b + 16, ~sum16(b->b, 20, pseudo + 20) & 0xffff);
}

static void put_ping(struct gen *g, struct buf *b, unsigned int ask, unsigned int answer,
		uint32_t pseudo)
{
	unsigned int id;

	put16(b, ask << 8);
	put32(b, 0);
	put16(b, g->c->index);
	put_random(g, b, 20);
	id = missing(sum16(b->b + 6, 22, pseudo + (answer << 8)));
	set16(b->b + 4, id);
	set16(b->b + 2, ~sum16(b->b, 28, pseudo) & 0xffff);
}

static void v4(struct gen *g)
{
	struct ip4 ip;
	struct buf l4 = { .n = 0 }, b = { .n = 0 };

	ip4_from_a(g, &ip);
	ip.dst = IP4(10, 0, 1, 1);
	ip.proto = g->k % 3 == 0 ? IPPROTO_TCP : g->k % 3 == 1 ? IPPROTO_ICMP : IPPROTO_UDP;
	if (g->k % 3 == 0) {
		put_syn(g, &l4, pseudo_v4(&ip));
	} else if (g->k % 3 == 1) {
		put_ping(g, &l4, 8, 0, 0);
	} else { /* time exceeded, which quotes all of it */
		ip.dst = IP4(198, 18, 0, 1);
		ip.ttl = 1;
		put_random(g, &l4, 30);
		set16(l4.b + 28, 0);
	}
	put_eth(&b, PA, 0x0800);
	put_ip4(&b, &ip, &l4);
	if (g->k % 3 == 2)
		set16(b.b + b.n - 2, missing(sum16(b.b + ETH_LEN, b.n - ETH_LEN, 11 << 8)));
	gen_add(g, PA, &b);
}

static void v6(struct gen *g)
{
	struct ip6 ip = { .hops = 64 };
	struct buf l4 = { .n = 0 }, b = { .n = 0 };

	addr6(ip.src, "fd01::2");
	addr6(ip.dst, "fd01::1");
	ip.proto = g->k % 3 == 0 ? IPPROTO_TCP : g->k % 3 == 1 ? IPPROTO_ICMPV6 : 253;
	ip.first = ip.proto;
	if (g->k % 3 == 0) {
		put_syn(g, &l4, pseudo_v6(&ip));
	} else if (g->k % 3 == 1) {
		put_ping(g, &l4, 128, 129, pseudo_v6(&ip) + 28);
	} else { /* next header unknown, from the address that was asked */
		put_random(g, &l4, 30);
		set16(l4.b + 28, 0);
	}
	put_eth(&b, PA, 0x86dd);
	put_ip6(&b, &ip, &l4);
	if (g->k % 3 == 2) {
		struct ip6 error = ip;

		error.proto = IPPROTO_ICMPV6;
		set16(b.b + b.n - 2,
				missing(sum16(b.b + ETH_LEN, b.n - ETH_LEN,
						pseudo_v6(&error) + 8 + 70 + 0x0401 + 6)));
	}
	gen_add(g, PA, &b);
}

const struct gen_class gen_zero[] = {
	{ "v4-zero-sum", v4 },
	{ "v6-zero-sum", v6 },
	{ 0 },
};
