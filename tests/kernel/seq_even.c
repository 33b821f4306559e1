/* SPDX-License-Identifier: BSD-3-Clause */
#include "seq.h"

#include <arpa/inet.h>
#include <netinet/in.h>

/* extension headers that sequences have; the others end the way */
static bool is_ext(unsigned int proto)
{
	return proto == IPPROTO_HOPOPTS || proto == IPPROTO_DSTOPTS || proto == IPPROTO_ROUTING
			|| proto == IPPROTO_FRAGMENT;
}

size_t seq_l4_at(bool v6, const uint8_t *ip, size_t len, unsigned int *proto)
{
	size_t at = 40;

	if (!v6) {
		if (len < 20 || get16(ip + 6) & 0x1fff)
			return 0;
		*proto = ip[9];
		at = (size_t)(ip[0] & 15) * 4;
		return at < len ? at : 0;
	}
	if (len < at)
		return 0;
	for (*proto = ip[6]; is_ext(*proto); at += 8) {
		/* those of sequences have 8 bytes each */
		if (at + 8 > len || (*proto == IPPROTO_FRAGMENT && get16(ip + at + 2) & 0xfff8))
			return 0;
		*proto = ip[at];
	}
	return at < len ? at : 0;
}

/* RFC 1624; 0 of a UDP checksum says that there is none */
static void follow(uint8_t *sum, unsigned int was, unsigned int is, bool udp)
{
	uint32_t v = (~get16(sum) & 0xffff) + (~was & 0xffff) + is;

	if (udp && get16(sum) == 0)
		return;
	v = (v & 0xffff) + (v >> 16);
	v = ~(v + (v >> 16)) & 0xffff;
	set16(sum, udp && v == 0 ? 0xffff : v);
}

/* where a protocol has its checksum, 0: nowhere */
static size_t sum_at(unsigned int proto)
{
	switch (proto) {
	case IPPROTO_TCP:
		return 16;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		return 6;
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		return 2;
	default:
		return 0;
	}
}

static bool is_echo(unsigned int proto, unsigned int type)
{
	return proto == IPPROTO_ICMP ? type == 0 || type == 8 || (type >= 13 && type <= 18)
				     : proto == IPPROTO_ICMPV6 && (type == 128 || type == 129);
}

/* what may stand in a field for a number that was drawn */
struct drawn {
	bool client; /* the client's port, or its id */
	bool server; /* the server's: another way round, it may have to give way */
};

/* the two views, and which of them the frame is of */
struct views {
	const struct seq *s;
	const struct seq_view *v;
	unsigned int side;
};

/* a number that both sides have changed was drawn; one that is kept or given has to be equal */
static bool is_drawn(const struct views *vs, unsigned int f, enum seq_end sees, unsigned int port)
{
	return vs->v[0].ends[f][sees].dport != port && vs->v[1].ends[f][sees].dport != port;
}

static bool original(const struct views *vs, struct drawn d, unsigned int seen, unsigned int *port)
{
	for (unsigned int f = 0; f < SEQ_FLOWS; f++) {
		const struct seq_ends *e = vs->v[vs->side].ends[f];

		*port = vs->s->port[f][SEQ_CLIENT];
		if (d.client && e[SEQ_SERVER].dport == seen && is_drawn(vs, f, SEQ_SERVER, *port))
			return true;
		*port = vs->s->port[f][SEQ_SERVER];
		if (d.server && e[SEQ_CLIENT].dport == seen && is_drawn(vs, f, SEQ_CLIENT, *port))
			return true;
	}
	return false;
}

struct part {
	uint8_t *ip;
	size_t len;
	bool to_server, invalid; /* the frame that it is of */
	bool quoted;
	uint8_t *outer; /* checksum that covers all of it, NULL: none */
};

static void even_field(const struct views *v, const struct part *p, size_t field, size_t sum,
		bool udp, struct drawn d)
{
	unsigned int was = (unsigned int)get16(p->ip + field), sum_was, port;

	if (!original(v, d, was, &port))
		return;
	set16(p->ip + field, port);
	if (p->outer != NULL)
		follow(p->outer, was, port, false);
	if (sum + 2 > p->len)
		return;
	sum_was = (unsigned int)get16(p->ip + sum);
	follow(p->ip + sum, was, port, udp);
	if (p->outer != NULL)
		follow(p->outer, sum_was, (unsigned int)get16(p->ip + sum), false);
}

/*
 * To the server a client's port is what was drawn. To the client it has to be the client's own again,
 * unless the packet was INVALID. A quote shows a packet that went the other way.
 */
static void even(const struct views *v, const struct part *p)
{
	const struct drawn client = { .client = p->to_server || p->invalid };
	const struct drawn server = { .server = !p->to_server || p->invalid };
	bool client_sent = p->to_server != p->quoted;
	unsigned int proto;
	size_t at = seq_l4_at(v->s->v6, p->ip, p->len, &proto), sum = at == 0 ? 0 : sum_at(proto);

	if (sum == 0 || at + 8 > p->len)
		return;
	if ((proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6) && !is_echo(proto, p->ip[at])) {
		struct part quote = *p;

		quote.ip += at + 8;
		quote.len -= at + 8;
		quote.quoted = true;
		quote.outer = p->ip + at + sum;
		if (!p->quoted)
			even(v, &quote);
	} else if (proto == IPPROTO_ICMP || proto == IPPROTO_ICMPV6) {
		even_field(v, p, at + 4, at + sum, false, client);
	} else {
		even_field(v, p, at + (client_sent ? 0 : 2), at + sum, proto == IPPROTO_UDP,
				client);
		even_field(v, p, at + (client_sent ? 2 : 0), at + sum, proto == IPPROTO_UDP,
				server);
	}
}

void seq_even(const struct seq *s, const struct seq_view v[2], unsigned int side, unsigned int port,
		uint8_t *frame, size_t len)
{
	const struct views views = { s, v, side };
	struct part p = { .ip = frame + ETH_LEN, .to_server = port == PB };

	if (len < ETH_LEN + 28 || (port != PA && port != PB))
		return;
	p.len = len - ETH_LEN;
	/* as the rules of every setting write it into the TOS */
	p.invalid = ((s->v6 ? (p.ip[0] & 15) << 4 | p.ip[1] >> 4 : p.ip[1]) & 0x1c) == 0x04;
	even(&views, &p);
	/* the router's own, though it may bear another's address: the kernel draws the identification */
	if (!s->v6 && p.ip[8] == 64 && p.ip[9] == IPPROTO_ICMP) {
		follow(p.ip + 10, (unsigned int)get16(p.ip + 4), 0, false);
		set16(p.ip + 4, 0);
	}
}
