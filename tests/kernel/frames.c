/* SPDX-License-Identifier: BSD-3-Clause */
#include "frames.h"

#include "frames_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static const struct gen_class *const lists[] = {
	gen_v4_header,
	gen_v4_options,
	gen_v4_own,
	gen_v6_header,
	gen_v6_ext,
	gen_v6_own,
	gen_arp,
	gen_zero,
	gen_big,
};

const uint8_t gen_protos_v4[GEN_PROTOS_NB] = { IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMP, 132, 136,
	IPPROTO_ESP, IPPROTO_AH, IPPROTO_GRE, IPPROTO_IPIP, 253, 0 };
const uint8_t gen_protos_v6[GEN_PROTOS_NB] = { IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMPV6, 132, 136,
	IPPROTO_ESP, IPPROTO_AH, IPPROTO_GRE, IPPROTO_IPV6, 253, IPPROTO_NONE };

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

uint32_t gen_u32(struct gen *g)
{
	return (uint32_t)(next(&g->rng) >> 32);
}

uint32_t gen_below(struct gen *g, uint32_t n)
{
	return (uint32_t)((uint64_t)gen_u32(g) * n >> 32);
}

bool gen_chance(struct gen *g, unsigned int percent)
{
	return gen_below(g, 100) < percent;
}

void put_mem(struct buf *b, const void *p, size_t n)
{
	if (n > sizeof(b->b) - b->n)
		n = sizeof(b->b) - b->n;
	memcpy(b->b + b->n, p, n);
	b->n += n;
}

void put8(struct buf *b, unsigned int v)
{
	put_mem(b, (const uint8_t[]){ (uint8_t)v }, 1);
}

void put16(struct buf *b, unsigned int v)
{
	put_mem(b, (const uint8_t[]){ (uint8_t)(v >> 8), (uint8_t)v }, 2);
}

void put32(struct buf *b, uint32_t v)
{
	put16(b, v >> 16);
	put16(b, v & 0xffff);
}

void put_zero(struct buf *b, size_t n)
{
	while (n-- > 0)
		put8(b, 0);
}

void put_random(struct gen *g, struct buf *b, size_t n)
{
	while (n-- > 0)
		put8(b, gen_u32(g));
}

void set16(uint8_t *p, unsigned int v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

unsigned int get16(const uint8_t *p)
{
	return (unsigned int)p[0] << 8 | p[1];
}

uint32_t sum16(const uint8_t *p, size_t n, uint32_t sum)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		sum += get16(p + i);
	if (n % 2 != 0)
		sum += (uint32_t)p[n - 1] << 8;
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

void put_eth(struct buf *b, unsigned int port, unsigned int ethertype)
{
	uint8_t mac[6];

	topo_router_mac(port, mac);
	put_mem(b, mac, 6);
	topo_host_mac(port, 2, mac);
	put_mem(b, mac, 6);
	put16(b, ethertype);
}

void gen_add(struct gen *g, unsigned int port, const struct buf *b)
{
	struct frames_case *c = g->c;
	size_t len = b->n < FRAMES_LEN_MAX ? b->n : FRAMES_LEN_MAX;

	if (c->n == FRAMES_CASE_MAX)
		return;
	c->v[c->n].port = port;
	c->v[c->n].len = (uint32_t)len;
	memcpy(c->v[c->n].data, b->b, len);
	c->n++;
}

static const struct gen_class *find(unsigned int i)
{
	for (size_t list = 0; list < ARRAY_LEN(lists); list++) {
		for (const struct gen_class *cl = lists[list]; cl->name != NULL; cl++) {
			if (i-- == 0)
				return cl;
		}
	}
	return NULL;
}

const char *frames_class_name(unsigned int i)
{
	const struct gen_class *cl = find(i);

	return cl == NULL ? NULL : cl->name;
}

/*
 * May this frame come in at another port? Not if it is larger than that port takes, nor if it would
 * be redirected (which is rationed), nor with link-local addresses, whose owners are at pa.
 */
static bool fits(unsigned int port, const uint8_t *f, uint32_t len)
{
	const uint8_t *ip = f + ETH_LEN;

	if (len > topo_spec.ports[port].mtu + ETH_LEN)
		return false;
	if (f[12] == 0x08 && f[13] == 0 && len >= ETH_LEN + 20)
		return ip[12] != 10 || ip[13] != 0 || ip[14] != port + 1;
	if (f[12] == 0x86 && f[13] == 0xdd && len >= ETH_LEN + 40) {
		static const uint8_t behind[] = { 0, 0x0b, 0x0c, 0 };

		return ip[8] != 0xfe && ip[24] != 0xfe && (ip[24] != 0xfd || ip[25] != port + 1)
				&& (ip[24] != 0x20 || ip[29] != behind[port]);
	}
	return true;
}

/* the same case at another port, now and then */
static void move(struct gen *g)
{
	struct frames_case *c = g->c;
	unsigned int port = PB + gen_below(g, 3);
	uint8_t here[6], there[6], host[6];

	if (!gen_chance(g, 12))
		return;
	for (unsigned int i = 0; i < c->n; i++) {
		if (c->v[i].port != PA || !fits(port, c->v[i].data, c->v[i].len))
			return;
	}
	topo_router_mac(PA, here);
	topo_router_mac(port, there);
	topo_host_mac(port, 2, host);
	for (unsigned int i = 0; i < c->n; i++) {
		c->v[i].port = port;
		if (memcmp(c->v[i].data, here, 6) == 0)
			memcpy(c->v[i].data, there, 6);
		memcpy(c->v[i].data + 6, host, 6);
	}
}

static unsigned int position(const char *class)
{
	unsigned int i = 0;

	for (const char *name; (name = frames_class_name(i)) != NULL; i++) {
		if (class != NULL && strcmp(name, class) == 0)
			break;
	}
	return i;
}

int frames_make(uint64_t seed, unsigned int index, const char *class, struct frames_case *c)
{
	struct gen g = { .c = c, .rng = seed };
	unsigned int n_classes = position(NULL);
	unsigned int which = class == NULL ? index % n_classes : position(class);
	const struct gen_class *cl = find(which);

	if (cl == NULL)
		return -ENOENT;
	g.rng = next(&g.rng) ^ ((uint64_t)index << 32 | which);
	g.k = class == NULL ? index / n_classes : index;
	c->class = cl->name;
	c->index = index;
	c->n = 0;
	cl->make(&g);
	move(&g);
	return 0;
}
