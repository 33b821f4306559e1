/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ARP (RFC 826), right and wrong, from hosts that the router knows for good: it answers what is for
 * it and learns nothing.
 */
#include "frames_priv.h"

#include <string.h>

struct arp {
	unsigned int htype, ptype, hlen, plen, op;
	uint8_t sha[6];
	uint32_t sip;
	uint8_t tha[6];
	uint32_t tip;
};

static void emit(struct gen *g, const struct arp *a, const uint8_t dst_mac[6], size_t cut)
{
	struct buf b = { .n = 0 };

	put_eth(&b, PA, 0x0806);
	memcpy(b.b, dst_mac, 6);
	put16(&b, a->htype);
	put16(&b, a->ptype);
	put8(&b, a->hlen);
	put8(&b, a->plen);
	put16(&b, a->op);
	put_mem(&b, a->sha, 6);
	put32(&b, a->sip);
	put_mem(&b, a->tha, 6);
	put32(&b, a->tip);
	if (cut > 0)
		b.n -= cut;
	else if (gen_chance(g, 50))
		put_random(g, &b, 18);
	gen_add(g, PA, &b);
}

static void request(struct gen *g, struct arp *a)
{
	static const uint32_t sip[] = { IP4(10, 0, 1, 2), IP4(10, 0, 1, 3), IP4(10, 0, 11, 2),
		IP4(10, 0, 2, 2) };
	static const uint32_t tip[] = { IP4(10, 0, 1, 1), IP4(10, 0, 1, 1), IP4(10, 0, 11, 1),
		IP4(10, 0, 2, 1), IP4(10, 0, 4, 1), IP4(10, 0, 1, 2), IP4(10, 0, 1, 9),
		IP4(10, 0, 2, 2), IP4(198, 18, 0, 1), IP4(9, 9, 9, 9), IP4(10, 0, 1, 255),
		IP4(127, 0, 0, 1), IP4(224, 0, 0, 1), 0, IP4(255, 255, 255, 255) };

	*a = (struct arp){ .htype = 1, .ptype = 0x0800, .hlen = 6, .plen = 4, .op = 1 };
	a->sip = PICK(g, sip);
	a->tip = gen_chance(g, 50) ? IP4(10, 0, 1, 1) : PICK(g, tip);
	topo_host_mac(PA, 2, a->sha);
}

static void right(struct gen *g)
{
	static const uint8_t broadcast[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	uint8_t router[6];
	struct arp a;

	request(g, &a);
	topo_router_mac(PA, router);
	if (gen_chance(g, 20))
		a.sip = 0; /* an address probe */
	if (gen_chance(g, 20))
		memcpy(a.tha, router, 6);
	emit(g, &a, gen_chance(g, 70) ? broadcast : router, 0);
}

static void wrong(struct gen *g)
{
	static const uint8_t macs[][6] = { { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
		{ 2, 0, 0, 0, 0, 1 }, { 2, 0, 0, 0, 9, 9 }, { 1, 0, 0x5e, 0, 0, 1 } };
	static const uint32_t sip[] = { IP4(10, 0, 1, 1), IP4(10, 0, 2, 1), IP4(127, 0, 0, 1),
		IP4(224, 0, 0, 1), IP4(255, 255, 255, 255), IP4(10, 0, 1, 255) };
	static const unsigned int ops[] = { 0, 2, 3, 4, 8, 0xffff };
	size_t cut = 0;
	struct arp a;

	request(g, &a);
	switch (g->k % 8) {
	case 0:
		a.htype = gen_chance(g, 50) ? 6 : gen_u32(g);
		break;
	case 1:
		a.ptype = gen_chance(g, 50) ? 0x86dd : gen_u32(g);
		break;
	case 2:
		a.hlen = gen_below(g, 9);
		break;
	case 3:
		a.plen = gen_below(g, 9);
		break;
	case 4:
		a.op = PICK(g, ops);
		break;
	case 5:
		a.sip = PICK(g, sip);
		break;
	case 6:
		cut = 1 + gen_below(g, 28);
		break;
	default:
		memcpy(a.sha, PICK(g, macs), 6);
		break;
	}
	emit(g, &a, PICK(g, macs), cut);
}

const struct gen_class gen_arp[] = {
	{ "arp", right },
	{ "arp-wrong", wrong },
	{ 0 },
};
