/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv4 options, right and wrong, on the way through, to the router and into an error */
#include "frames_priv.h"

#include <arpa/inet.h>
#include <string.h>

static void opt_rr(struct gen *g, struct buf *o)
{
	unsigned int slots = 1 + gen_below(g, 5);
	unsigned int len = 3 + 4 * slots;
	unsigned int ptr = gen_chance(g, 70) ? 4 + 4 * gen_below(g, slots + 1) : gen_below(g, 48);

	if (gen_chance(g, 15))
		len += gen_below(g, 4);
	put8(o, 7);
	put8(o, len);
	put8(o, ptr);
	put_random(g, o, len - 3);
}

static void opt_ts(struct gen *g, struct buf *o)
{
	static const uint8_t flags[] = { 0, 1, 3, 0, 1, 3, 2, 4, 15 };
	unsigned int flag = PICK(g, flags);
	unsigned int size = flag == 0 ? 4 : 8;
	unsigned int slots = 1 + gen_below(g, flag == 0 ? 6 : 3);
	unsigned int len = 4 + size * slots;
	unsigned int ptr =
			gen_chance(g, 70) ? 5 + size * gen_below(g, slots + 1) : gen_below(g, 48);
	unsigned int overflow = gen_chance(g, 50) ? 0 : gen_chance(g, 50) ? 15 : gen_below(g, 16);

	if (gen_chance(g, 15))
		len += gen_below(g, 5);
	put8(o, 68);
	put8(o, len);
	put8(o, ptr);
	put8(o, overflow << 4 | flag);
	if (flag == 3 && gen_chance(g, 60)) {
		/* prespecified: addresses of the router and of others */
		static const uint32_t at[] = { IP4(10, 0, 2, 1), IP4(10, 0, 1, 1),
			IP4(198, 18, 0, 1), IP4(10, 0, 3, 1), IP4(127, 0, 0, 1), IP4(10, 0, 2, 2),
			IP4(10, 0, 2, 255), 0 };

		for (unsigned int i = 0; i < (len - 4) / 8; i++) {
			put32(o, PICK(g, at));
			put32(o, 0);
		}
		put_random(g, o, (len - 4) % 8);
	} else {
		put_random(g, o, len - 4);
	}
}

static void opt_source_route(struct gen *g, struct buf *o)
{
	unsigned int slots = 1 + gen_below(g, 4);
	unsigned int ptr = gen_chance(g, 70) ? 4 + 4 * gen_below(g, slots + 1) : gen_below(g, 30);

	put8(o, gen_chance(g, 50) ? 0x83 : 0x89);
	put8(o, 3 + 4 * slots);
	put8(o, ptr);
	for (unsigned int i = 0; i < slots; i++)
		put32(o, gen_chance(g, 50) ? IP4(198, 18, 0, 9) : IP4(10, 0, 2, 1));
}

static void opt_router_alert(struct gen *g, struct buf *o)
{
	unsigned int len = gen_chance(g, 80) ? 4 : 2 + gen_below(g, 6);

	put8(o, 0x94);
	put8(o, len);
	put16(o, gen_chance(g, 70) ? 0 : gen_u32(g) & 0xffff);
	put_random(g, o, len > 4 ? len - 4 : 0);
}

static void opt_cipso(struct gen *g, struct buf *o)
{
	put8(o, gen_chance(g, 50) ? 0x86 : 0x82); /* CIPSO, security */
	put8(o, 11);
	put_random(g, o, 9);
}

static void opt_unknown(struct gen *g, struct buf *o)
{
	unsigned int len = 2 + gen_below(g, 10);

	put8(o, 0x20 | gen_u32(g));
	put8(o, len);
	put_random(g, o, len - 2);
}

static void opt_nop(struct gen *g, struct buf *o)
{
	for (unsigned int i = 1 + gen_below(g, 4); i > 0; i--)
		put8(o, 1);
}

/* the end of the list, with bytes behind it that are not an option's */
static void opt_end(struct gen *g, struct buf *o)
{
	put8(o, 0);
	put_random(g, o, gen_below(g, 8));
}

/* a length of 0, 1 or more than there is; a type without length at the end */
static void opt_bad(struct gen *g, struct buf *o)
{
	static const uint8_t types[] = { 7, 68, 0x83, 0x89, 0x94, 0x86, 0x82, 30, 0xff };
	static const uint8_t lens[] = { 0, 1, 2, 3, 4, 5, 39, 41, 255 };

	put8(o, PICK(g, types));
	put8(o, PICK(g, lens));
	put_random(g, o, gen_below(g, 6));
}

static void (*const makers[])(struct gen *, struct buf *) = { opt_rr, opt_ts, opt_source_route,
	opt_router_alert, opt_cipso, opt_unknown, opt_nop, opt_end, opt_bad };

static void fill(struct gen *g, struct ip4 *ip, unsigned int first)
{
	struct buf o = { .n = 0 };

	makers[first % ARRAY_LEN(makers)](g, &o);
	for (unsigned int i = gen_below(g, 3); i > 0; i--)
		makers[gen_below(g, ARRAY_LEN(makers))](g, &o);
	if (gen_chance(g, 10))
		opt_rr(g, &o); /* twice, maybe */
	if (o.n > 40)
		o.n = 40;
	ip->opts = o;
}

static void emit(struct gen *g, struct ip4 *ip, size_t len)
{
	struct buf l4 = { .n = 0 };

	put_l4_v4(g, &l4, ip, len);
	gen_send_v4(g, PA, ip, &l4);
}

static void forwarded(struct gen *g)
{
	struct ip4 ip;

	ip4_from_a(g, &ip);
	fill(g, &ip, g->k);
	emit(g, &ip, gen_below(g, 60));
}

static void one(struct gen *g)
{
	struct ip4 ip;

	ip4_from_a(g, &ip);
	makers[g->k % 2](g, &ip.opts); /* RR or TS, alone */
	emit(g, &ip, gen_below(g, 60));
}

static void in_error(struct gen *g)
{
	static const uint32_t dst[] = { IP4(172, 16, 1, 1), IP4(172, 16, 9, 1), IP4(198, 18, 0, 1),
		IP4(203, 0, 113, 1) };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	fill(g, &ip, g->k);
	ip4_to(g, &ip, PICK(g, dst));
	if (ip.dst == IP4(198, 18, 0, 1))
		ip.ttl = 1;
	emit(g, &ip, gen_chance(g, 50) ? gen_below(g, 60) : 100 + gen_below(g, 900));
}

static void to_router(struct gen *g)
{
	static const uint32_t dst[] = { IP4(10, 0, 1, 1), IP4(10, 0, 2, 1), IP4(10, 0, 11, 1) };
	static const uint8_t protos[] = { IPPROTO_ICMP, IPPROTO_ICMP, IPPROTO_UDP, IPPROTO_TCP,
		IPPROTO_GRE };
	struct ip4 ip;

	ip4_from_a(g, &ip);
	fill(g, &ip, g->k);
	ip.dst = PICK(g, dst);
	ip.proto = PICK(g, protos);
	emit(g, &ip, gen_below(g, 60));
}

const struct gen_class gen_v4_options[] = {
	{ "v4-option", one },
	{ "v4-options", forwarded },
	{ "v4-options-error", in_error },
	{ "v4-options-own", to_router },
	{ 0 },
};
