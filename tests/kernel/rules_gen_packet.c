/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets that are aimed at the edges of a ruleset. */
#include "rules_gen_ext.h"

#include <netinet/in.h>
#include <string.h>

struct maker {
	struct gen *g;
	const struct rules_set *s;
	unsigned int port;
	bool mad; /* headers may be cut or wrong */
	bool flow; /* of one of a few connections */
};

/* a number that some rule asks for, or one beside it */
static uint32_t aim(struct maker *m, enum rules_note kind, uint32_t otherwise)
{
	uint32_t v = otherwise;

	if (m->s->n_notes[kind] > 0 && !gen_chance(m->g, 15))
		v = m->s->notes[kind][gen_below(m->g, m->s->n_notes[kind])];
	if (gen_chance(m->g, 35))
		v += gen_chance(m->g, 50) ? 1 : UINT32_MAX;
	return v;
}

static void put_tcp_options(struct maker *m, struct buf *b)
{
	static const uint8_t lists[][8] = { { 2, 4, 5, 0xb4 }, { 1, 1, 4, 2 }, { 3, 3, 7, 0 },
		{ 0, 0, 2, 4 }, { 254, 4, 0, 0 }, { 3, 0, 4, 2 }, { 8, 10, 0, 0, 0, 0, 0, 0 } };

	if (gen_chance(m->g, 60))
		return;
	for (unsigned int n = 1 + gen_below(m->g, 3); n > 0; n--)
		put_mem(b, PICK(m->g, lists), gen_chance(m->g, 80) ? 4 : 8);
}

/* a client has one of a few ports, and is on the side of PA */
static void put_ports(struct maker *m, struct buf *b)
{
	unsigned int client = 1000 + gen_below(m->g, 3), server = gen_chance(m->g, 70) ? 80 : 53;

	if (!m->flow) {
		put16(b, aim(m, NOTE_PORT, gen_u32(m->g)));
		put16(b, aim(m, NOTE_PORT, gen_u32(m->g)));
		return;
	}
	put16(b, m->port == PB ? server : client);
	put16(b, m->port == PB ? client : server);
}

static void put_tcp(struct maker *m, struct buf *b, size_t len)
{
	static const uint8_t flags[] = { 0x02, 0x02, 0x10, 0x12, 0x04, 0x14, 0x01, 0x11, 0x00, 0x3f,
		0xc2, 0x28, 0x03 };
	struct buf opts = { .n = 0 };

	put_tcp_options(m, &opts);
	put_ports(m, b);
	put32(b, m->flow ? 1000 : gen_u32(m->g));
	put32(b, m->flow ? 1000 : gen_u32(m->g));
	put8(b,
			m->mad && gen_chance(m->g, 40) ? gen_u32(m->g) & 0xf0
						       : (5 + (unsigned int)opts.n / 4) << 4);
	put8(b, PICK(m->g, flags));
	put16(b, 1000);
	put32(b, 0);
	put_mem(b, opts.b, opts.n);
	put_random(m->g, b, len);
}

static void put_udp(struct maker *m, struct buf *b, size_t len)
{
	put_ports(m, b);
	put16(b, (unsigned int)len + 8);
	put16(b, 0);
	put_random(m->g, b, len);
}

static void put_icmp(struct maker *m, struct buf *b, size_t len)
{
	static const uint8_t v4[] = { 8, 8, 8, 0, 3, 3, 11, 13, 30, 5 };
	static const uint8_t v6[] = { 128, 128, 128, 129, 1, 1, 3, 2 };

	put8(b, m->s->v6 ? PICK(m->g, v6) : PICK(m->g, v4));
	put8(b, gen_chance(m->g, 70) ? 0 : gen_below(m->g, 6));
	put16(b, 0);
	put32(b, m->flow ? 1 + gen_below(m->g, 2) : gen_u32(m->g));
	put_random(m->g, b, len);
}

/* where the checksum of a protocol's header is; 0: it has none */
static size_t sum_at(unsigned int proto)
{
	switch (proto) {
	case IPPROTO_TCP:
		return 16;
	case IPPROTO_UDP:
	case 136:
		return 6;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return 2;
	default:
		return 0;
	}
}

static void put_sum(struct buf *b, unsigned int proto, uint32_t pseudo)
{
	size_t at = sum_at(proto);
	uint32_t sum;

	if (at == 0 || b->n < at + 2)
		return;
	sum = ~sum16(b->b, b->n, proto == IPPROTO_ICMP ? 0 : pseudo + (uint32_t)b->n) & 0xffff;
	set16(b->b + at, sum == 0 && at == 6 ? 0xffff : sum);
}

static void put_l4(struct maker *m, struct buf *b, unsigned int proto, uint32_t pseudo,
		unsigned int l3_len)
{
	static const unsigned int header[256] = { [IPPROTO_TCP] = 20,
		[IPPROTO_UDP] = 8,
		[136] = 8,
		[IPPROTO_ICMP] = 8,
		[IPPROTO_ICMPV6] = 8 };
	unsigned int want = aim(m, NOTE_LENGTH, l3_len + 30) & 0x7f, used = l3_len + header[proto];
	size_t len = want > used ? want - used : gen_below(m->g, 8);

	if (proto == IPPROTO_TCP)
		put_tcp(m, b, len);
	else if (proto == IPPROTO_UDP || proto == 136)
		put_udp(m, b, len);
	else if (proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6)
		put_icmp(m, b, len);
	else if (proto == IPPROTO_ESP)
		ext_esp_header(m->g, b, aim(m, NOTE_SPI, 7));
	else if (proto == IPPROTO_AH)
		ext_ah_header(m->g, b, IPPROTO_NONE, aim(m, NOTE_SPI, 7), 24);
	else if (proto == IPPROTO_MH)
		ext_mh_header(m->g, b);
	else
		put_random(m->g, b, len);
	if (m->mad && gen_chance(m->g, 40))
		b->n = gen_below(m->g, 24) < b->n ? gen_below(m->g, 24) : b->n;
	if (!gen_chance(m->g, 8))
		put_sum(b, proto, pseudo);
}

/* of forwarded packets one is taken on the way */
static const uint8_t ttls[] = { 64, 64, 64, 2, 3, 63, 65, 66, 255, 254 };

static void make_v4(struct maker *m)
{
	static const uint32_t src[] = { IP4(10, 0, 1, 2), IP4(10, 0, 1, 2), IP4(10, 0, 1, 3),
		IP4(192, 0, 2, 77), IP4(192, 0, 2, 1) };
	static const uint32_t dst[] = { IP4(10, 0, 2, 2), IP4(10, 0, 2, 2), IP4(198, 18, 3, 4),
		IP4(198, 18, 3, 5), IP4(198, 18, 200, 1), IP4(10, 0, 3, 2), IP4(10, 0, 1, 1),
		IP4(10, 0, 2, 1), IP4(198, 51, 100, 9) };
	static const uint8_t protos[] = { 6, 6, 6, 6, 17, 17, 17, 1, 1, 136, 132, 50, 51, 47, 253,
		33 };
	static const uint16_t frags[] = { IP4_MF, 1, 1 | IP4_MF, 2, 3, 100 };
	struct ip4 ip = { .src = PICK(m->g, src),
		.dst = PICK(m->g, dst),
		.id = (uint16_t)gen_u32(m->g),
		.frag = gen_chance(m->g, 30) ? IP4_DF : 0,
		.tos = gen_chance(m->g, 60) ? 0 : (uint8_t)gen_u32(m->g),
		.ttl = gen_chance(m->g, 97) ? PICK(m->g, ttls) : 1,
		.proto = PICK(m->g, protos) };
	struct buf l4 = { .n = 0 };
	uint32_t to = aim(m, NOTE_ADDR4, ip.dst);

	if (to >> 16 == (198 << 8 | 18))
		ip.dst = to;
	if (m->flow) {
		ip.src = IP4(10, 0, 1, 2);
		ip.dst = IP4(10, 0, 2, 2);
	}
	if (m->port == PB) {
		uint32_t swap = ip.src;

		ip.src = IP4(10, 0, 2, 2);
		ip.dst = swap;
	}
	/* fragments for the router itself would wait for each other */
	if (gen_chance(m->g, 12) && ip.dst != IP4(10, 0, 1, 1) && ip.dst != IP4(10, 0, 2, 1))
		ip.frag = PICK(m->g, frags);
	if (gen_chance(m->g, 4))
		put_mem(&ip.opts, (const uint8_t[]){ 1, 1, 1, 0 }, 4);
	put_l4(m, &l4, ip.proto, pseudo_v4(&ip), 20 + (unsigned int)ip.opts.n);
	gen_send_v4(m->g, m->port, &ip, &l4);
}

/*
 * Where connections are tracked, a first fragment waits for the others, and is answered when its time
 * is over: a minute after the test has looked.
 */
static void put_fragment(struct maker *m, struct buf *b, uint8_t next)
{
	unsigned int place =
			gen_chance(m->g, 40) ? 0 : gen_below(m->g, 3) << 3 | gen_below(m->g, 2);

	put8(b, next);
	put8(b, gen_chance(m->g, 90) ? 0 : 1);
	put16(b, m->s->tracked && place == 1 ? 0 : place);
	put32(b, gen_u32(m->g));
}

/* one extension header in front of @next. Return: its number */
static uint8_t put_ext(struct maker *m, struct buf *b, uint8_t next, bool first)
{
	static const uint8_t kinds[] = { IPPROTO_DSTOPTS, IPPROTO_DSTOPTS, IPPROTO_ROUTING,
		IPPROTO_FRAGMENT, IPPROTO_FRAGMENT, IPPROTO_AH };
	uint8_t kind = first && gen_chance(m->g, 20) ? IPPROTO_HOPOPTS : PICK(m->g, kinds);

	if (kind == IPPROTO_FRAGMENT)
		put_fragment(m, b, next);
	else if (kind == IPPROTO_AH)
		ext_ah_header(m->g, b, next, aim(m, NOTE_SPI, 7), 12 + 4 * gen_below(m->g, 4));
	else if (kind == IPPROTO_ROUTING)
		ext_routing_header(m->g, b, next);
	else
		ext_options_header(m->g, b, next);
	return kind;
}

static void make_v6(struct maker *m)
{
	static const char *const src[] = { "fd01::2", "fd01::2", "fd01::3", "2001:db8:a::1",
		"2001:db8:a::ff:fe00:102" };
	static const char *const dst[] = { "fd02::2", "fd02::2", "2001:db8:b::5", "2001:db8:b::6",
		"fd03::2", "fd01::1", "fd02::1" };
	static const uint8_t protos[] = { 6, 6, 6, 6, 17, 17, 17, 58, 58, 136, 132, 50, 50, 59, 253,
		135, 135 };
	struct ip6 ip = { .flow = gen_chance(m->g, 60) ? 0 : gen_u32(m->g) & 0x0fffffff,
		.hops = gen_chance(m->g, 97) ? PICK(m->g, ttls) : 1,
		.proto = PICK(m->g, protos) };
	struct buf l4 = { .n = 0 }, ext = { .n = 0 };
	bool own;

	addr6(ip.src, m->flow ? "fd01::2" : PICK(m->g, src));
	addr6(ip.dst, m->flow ? "fd02::2" : PICK(m->g, dst));
	if (m->port == PB) {
		addr6(ip.src, "fd02::2");
		addr6(ip.dst, m->flow ? "fd01::2" : PICK(m->g, src));
	}
	own = ip.dst[15] == 1 && ip.dst[0] == 0xfd;
	ip.first = ip.proto;
	for (unsigned int n = gen_chance(m->g, 35) && !own ? 1 + gen_below(m->g, 3) : 0; n > 0;
			n--) {
		struct buf one = { .n = 0 };

		ip.first = put_ext(m, &one, ip.first, n == 1);
		put_mem(&one, ext.b, ext.n);
		ext = one;
	}
	ip.ext = ext;
	put_l4(m, &l4, ip.proto, pseudo_v6(&ip), 40 + (unsigned int)ext.n);
	/* a fragment header that is cut is dropped by the kernel's tracking: another test's question */
	if (m->mad && ext.n > 0 && !m->s->tracked && gen_chance(m->g, 40)) {
		l4.n = 0;
		ip.ext.n = gen_below(m->g, (uint32_t)ext.n);
	}
	gen_send_v6(m->g, m->port, &ip, &l4);
}

void rules_packet(
		const struct rules_set *s, uint64_t seed, unsigned int index, struct frames_case *c)
{
	struct gen g = { .c = c, .rng = seed ^ ((uint64_t)index + 1) * 0x9e3779b97f4a7c15 };
	struct maker m = { .g = &g, .s = s };

	c->class = "rules";
	c->index = index;
	c->n = 0;
	m.flow = s->tracked && gen_chance(&g, 60);
	m.port = gen_chance(&g, m.flow ? 55 : 80) ? PA : PB;
	m.mad = !m.flow && gen_chance(&g, 15);
	if (s->v6)
		make_v6(&m);
	else
		make_v4(&m);
}
