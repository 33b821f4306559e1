/* SPDX-License-Identifier: BSD-3-Clause */
#include "seq.h"

#include <arpa/inet.h>
#include <string.h>

#define CLIENT_V4 IP4(10, 64, 0, 0)
#define SERVER_V4 IP4(198, 18, 0, 0)
#define THIRD_V4_A IP4(192, 0, 2, 77)
#define THIRD_V4_B IP4(10, 0, 2, 2)
#define ROUTER_V4 IP4(10, 0, 1, 1)
#define QUOTE_MAX 528

static void put_addr(uint8_t *out, bool v6, enum seq_end end, uint32_t at)
{
	uint32_t v4 = htonl((end == SEQ_CLIENT ? CLIENT_V4 : SERVER_V4) + at);

	memset(out, 0, 16);
	if (!v6) {
		memcpy(out, &v4, 4);
		return;
	}
	addr6(out, end == SEQ_CLIENT ? "2001:db8:a::" : "2001:db8:b::");
	at = htonl(at);
	memcpy(out + 12, &at, 4);
}

uint32_t seq_number_of(const char *address)
{
	struct in6_addr a6;
	struct in_addr a4;
	uint32_t v;

	if (inet_pton(AF_INET, address, &a4) == 1) {
		v = ntohl(a4.s_addr);
		if (v - CLIENT_V4 < SEQ_ADDRESSES)
			return v - CLIENT_V4;
		return v - SERVER_V4 < SEQ_ADDRESSES ? v - SERVER_V4 : UINT32_MAX;
	}
	if (inet_pton(AF_INET6, address, &a6) != 1 || a6.s6_addr[0] != 0x20 || a6.s6_addr[4] != 0
			|| (a6.s6_addr[5] != 0x0a && a6.s6_addr[5] != 0x0b))
		return UINT32_MAX;
	memcpy(&v, a6.s6_addr + 12, 4);
	return ntohl(v);
}

void seq_view_init(struct seq_view *v, const struct seq *s, uint32_t at)
{
	memset(v, 0, sizeof(*v));
	v->at = at;
	for (unsigned int f = 0; f < SEQ_FLOWS; f++) {
		struct seq_ends *c = &v->ends[f][SEQ_CLIENT], *b = &v->ends[f][SEQ_SERVER];

		put_addr(c->src, s->v6, SEQ_CLIENT, at);
		put_addr(c->dst, s->v6, SEQ_SERVER, at);
		if (s->to_router && s->v6) {
			addr6(c->dst, "fd01::1");
		} else if (s->to_router) {
			uint32_t v4 = htonl(ROUTER_V4);

			memcpy(c->dst, &v4, 4);
		}
		c->sport = s->port[f][SEQ_CLIENT];
		c->dport = s->port[f][SEQ_SERVER];
		memcpy(b->src, c->dst, 16);
		memcpy(b->dst, c->src, 16);
		b->sport = c->dport;
		b->dport = c->sport;
	}
}

uint32_t seq_pseudo(const struct seq *s, const struct seq_ends *e, unsigned int proto)
{
	size_t n = s->v6 ? 16 : 4;

	return sum16(e->src, n, sum16(e->dst, n, proto));
}

static void put_ext(struct buf *b, unsigned int ext, unsigned int *first)
{
	static const uint8_t pad_n[6] = { 1, 4 };
	static const uint8_t types[SEQ_EXTS] = {
		[SEQ_HOPOPTS] = 0, [SEQ_DSTOPTS] = 60, [SEQ_ROUTING] = 43, [SEQ_ATOMIC] = 44
	};
	unsigned int next = *first;

	if (ext == SEQ_NO_EXT)
		return;
	if (ext == SEQ_TWO_EXT) {
		put_ext(b, SEQ_HOPOPTS, first);
		b->b[0] = types[SEQ_DSTOPTS];
		ext = SEQ_DSTOPTS;
	} else {
		*first = types[ext];
	}
	put8(b, next);
	put8(b, 0);
	if (ext == SEQ_ROUTING) {
		put16(b, 0x0400); /* a type that nobody knows, no segments left */
		put32(b, 0);
	} else if (ext == SEQ_ATOMIC) {
		put16(b, 0);
		put32(b, 0x12345678);
	} else {
		put_mem(b, pad_n, 6);
	}
}

struct piece {
	size_t from, to;
	bool more;
};

static void add_frame(struct seq_frames *out, const struct seq *s, const struct seq_step *t,
		const struct seq_ends *e, const struct buf *l4, const struct piece *p, uint16_t id)
{
	struct buf *b = &out->v[out->n++];
	struct buf part = { .n = 0 };

	b->n = 0;
	put_mem(&part, l4->b + p->from, p->to - p->from);
	put_eth(b, out->port, s->v6 ? 0x86dd : 0x0800);
	if (!s->v6) {
		struct ip4 ip = { .id = id,
			.frag = (uint16_t)((p->more ? IP4_MF : 0) | p->from / 8),
			.ttl = 64,
			.proto = (uint8_t)seq_proto(s, t) };

		memcpy(&ip.src, e->src, 4);
		memcpy(&ip.dst, e->dst, 4);
		ip.src = ntohl(ip.src);
		ip.dst = ntohl(ip.dst);
		put_ip4(b, &ip, &part);
	} else {
		struct ip6 ip = { .hops = 64, .proto = (uint8_t)seq_proto(s, t) };
		unsigned int first = ip.proto;

		memcpy(ip.src, e->src, 16);
		memcpy(ip.dst, e->dst, 16);
		put_ext(&ip.ext, t->ext, &first);
		if (p->more || p->from > 0) {
			/* unfragmentable headers would go first; these are behind it or none */
			ip.ext.n = 0;
			first = 44;
			put8(&ip.ext, ip.proto);
			put8(&ip.ext, 0);
			put16(&ip.ext, (unsigned int)p->from | p->more);
			put32(&ip.ext, 0x5e900000U | id);
		}
		ip.first = (uint8_t)first;
		put_ip6(b, &ip, &part);
	}
}

/* where the pieces lie, and in which order they are sent */
static unsigned int cut_up(const struct seq_step *t, size_t len, struct piece *p)
{
	unsigned int n = t->pieces < 2 ? 1 : t->pieces;
	size_t size = (len / n + 7) / 8 * 8;
	struct piece swap;

	if (n == 1 || size == 0 || size * (n - 1) >= len) {
		p[0] = (struct piece){ 0, len, false };
		return 1;
	}
	for (unsigned int i = 0; i < n; i++)
		p[i] = (struct piece){ i * size, i + 1 < n ? (i + 1) * size : len, i + 1 < n };
	switch ((enum seq_order)t->order) {
	case SEQ_REVERSED:
		for (unsigned int i = 0; i < n / 2; i++) {
			swap = p[i];
			p[i] = p[n - 1 - i];
			p[n - 1 - i] = swap;
		}
		break;
	case SEQ_LAST_FIRST:
		swap = p[n - 1];
		memmove(p + 1, p, (n - 1) * sizeof(p[0]));
		p[0] = swap;
		break;
	case SEQ_DOUBLED:
		memmove(p + 1, p, n * sizeof(p[0]));
		n++;
		break;
	case SEQ_LACKING:
		memmove(p + 1, p + 2, (n - 2) * sizeof(p[0]));
		n--;
		break;
	case SEQ_OVERLAP:
		p[1].from -= 8;
		break;
	case SEQ_IN_ORDER:
	case SEQ_ORDERS:
		break;
	}
	return n;
}

/* a router on the way, on the side of an end */
static void third(uint8_t *out, bool v6, unsigned int end)
{
	uint32_t v4 = htonl(end == SEQ_CLIENT ? THIRD_V4_A : THIRD_V4_B);

	memset(out, 0, 16);
	if (v6)
		addr6(out, end == SEQ_CLIENT ? "fd01::3" : "fd02::2");
	else
		memcpy(out, &v4, 4);
}

static void put_quote(struct buf *b, bool v6, const uint8_t *ip, size_t len, size_t cut)
{
	size_t header = v6 ? 40 : (size_t)(ip[0] & 15) * 4;

	if (cut > 0 && header + cut < len)
		len = header + cut;
	put_mem(b, ip, len < QUOTE_MAX ? len : QUOTE_MAX);
}

static void build_error(const struct seq *s, const struct seq_step *t, const struct seq_view *v,
		struct seq_frames *out)
{
	const uint8_t *ip = v->seen[t->error.of].ip;
	size_t len = v->seen[t->error.of].len, at = s->v6 ? 8 : 12, n = s->v6 ? 16 : 4;
	struct buf l4 = { .n = 0 };
	struct seq_ends e = { 0 };
	uint32_t sum;

	if (len == 0)
		return;
	memcpy(e.dst, ip + at, n);
	memcpy(e.src, ip + at + n, n);
	if (t->error.turned) {
		memcpy(e.src, ip + at, n);
		memcpy(e.dst, ip + at + n, n);
	}
	/* not back to where it comes from: redirects are rationed for each source */
	if (t->error.third && !t->error.turned && s->step[t->error.of].from != t->from)
		third(e.src, s->v6, t->from);
	put8(&l4, t->error.type);
	put8(&l4, t->error.code);
	put32(&l4, 0);
	put16(&l4, !s->v6 && t->error.type == 3 && t->error.code == 4 ? 1400 : 0);
	if (s->v6 && t->error.type == 2)
		set16(l4.b + 6, 1400);
	put_quote(&l4, s->v6, ip, len, t->error.cut);
	sum = s->v6 ? seq_pseudo(s, &e, IPPROTO_ICMPV6) + (uint32_t)l4.n : 0;
	sum = ~sum16(l4.b, l4.n, sum) & 0xffff;
	/* added, not flipped: what differs between the two sides is then the same in a wrong sum */
	if (t->damage == SEQ_BAD_SUM)
		sum = (sum + 0x0101) % 0xffff;
	set16(l4.b + 2, sum);
	if (t->damage == SEQ_CUT)
		l4.n = 6;
	add_frame(out, s, t, &e, &l4, &(struct piece){ 0, l4.n, false }, 1);
}

void seq_build(const struct seq *s, unsigned int i, const struct seq_view *v,
		struct seq_frames *out)
{
	const struct seq_step *t = &s->step[i];
	const struct seq_ends *e = &v->ends[t->flow][t->from];
	struct piece p[SEQ_PIECES_MAX + 1];
	struct buf l4 = { .n = 0 };
	unsigned int n;

	out->n = 0;
	out->port = t->from == SEQ_CLIENT ? PA : PB;
	if (t->kind == SEQ_NONE || t->off)
		return;
	if (t->kind == SEQ_ERROR) {
		build_error(s, t, v, out);
		return;
	}
	seq_put_l4(&l4, s, t, e);
	n = cut_up(t, l4.n, p);
	for (unsigned int k = 0; k < n; k++)
		add_frame(out, s, t, e, &l4, &p[k], (uint16_t)(v->at * SEQ_STEPS_MAX + i));
}

static bool is_error(bool v6, const uint8_t *ip, size_t len)
{
	size_t at = v6 ? 40 : (size_t)(ip[0] & 15) * 4;

	if (len <= at)
		return false;
	if (v6)
		return ip[6] == IPPROTO_ICMPV6 && ip[at] < 128;
	return ip[9] == IPPROTO_ICMP
			&& (ip[at] == 3 || ip[at] == 11 || ip[at] == 12 || ip[at] == 5);
}

void seq_saw(const struct seq *s, unsigned int i, struct seq_view *v, unsigned int port,
		const uint8_t *frame, size_t len)
{
	const struct seq_step *t = &s->step[i];
	const uint8_t *ip = frame + ETH_LEN;
	size_t size = len - ETH_LEN, addr = s->v6 ? 8 : 12, at;
	size_t n = s->v6 ? 16 : 4;
	struct seq_ends *e;
	unsigned int proto;

	if (len < ETH_LEN + (s->v6 ? 48U : 28U)
			|| is_error(s->v6, ip, size) != (t->kind == SEQ_ERROR)
			|| port == (t->from == SEQ_CLIENT ? PA : PB))
		return;
	if (v->seen[i].len == 0) {
		v->seen[i].len = (uint16_t)(size < SEQ_SEEN_MAX ? size : SEQ_SEEN_MAX);
		memcpy(v->seen[i].ip, ip, v->seen[i].len);
		/* the number of a fragment is drawn by the router */
		if (s->v6 && ip[6] == 44)
			memset(v->seen[i].ip + 44, 0, 4);
	}
	at = seq_l4_at(s->v6, ip, size, &proto);
	if (t->kind == SEQ_ERROR || at == 0 || at + 8 > size
			|| (t->damage != SEQ_WHOLE && t->damage != SEQ_AS_UDP
					&& (t->damage != SEQ_NO_SUM || t->kind != SEQ_UDP
							|| s->v6)))
		return;
	e = &v->ends[t->flow][t->from == SEQ_CLIENT ? SEQ_SERVER : SEQ_CLIENT];
	memcpy(e->dst, ip + addr, n);
	memcpy(e->src, ip + addr + n, n);
	if (t->kind == SEQ_TCP || t->kind == SEQ_UDP || t->kind == SEQ_UDPLITE
			|| t->kind == SEQ_SCTP) {
		e->dport = (uint16_t)get16(ip + at);
		e->sport = (uint16_t)get16(ip + at + 2);
	} else if (t->kind == SEQ_ICMP) {
		e->sport = e->dport = (uint16_t)get16(ip + at + 4);
	}
}
