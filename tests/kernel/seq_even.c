/* SPDX-License-Identifier: BSD-3-Clause */
#include "seq.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

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

#define SEQ_CHANCE_MAX 3

bool seq_pair(struct seq_pairs *p, unsigned int kernel, unsigned int sluice)
{
	bool other = false;

	for (unsigned int e = 0; e < SEQ_ENDS; e++)
		if (p->kept[e] != 0 && (kernel == p->kept[e] || sluice == p->kept[e]))
			return kernel == sluice;
	for (unsigned int i = 0; i < p->n; i++) {
		bool a = p->v[i].kernel == kernel, b = p->v[i].sluice == sluice;

		if (a && b)
			return true;
		other |= a || b;
	}
	/* protocols draw by themselves, and among 511 low ports one is soon drawn again */
	if (p->n == SEQ_PAIRS_MAX || (other && p->met++ >= SEQ_CHANCE_MAX))
		return kernel == sluice;
	p->v[p->n].kernel = (uint16_t)kernel;
	p->v[p->n++].sluice = (uint16_t)sluice;
	return true;
}

void seq_pairs_flow(struct seq_pairs *p, const struct seq *s, unsigned int flow)
{
	for (unsigned int e = 0; e < SEQ_ENDS; e++)
		p->kept[e] = flow < SEQ_FLOWS ? s->port[flow][e] : 0;
}

void seq_pairs_init(struct seq_pairs *p, const struct seq *s)
{
	p->n = p->met = 0;
	seq_pairs_flow(p, s, SEQ_FLOWS);
	for (unsigned int f = 0; f < SEQ_FLOWS; f++) {
		seq_pair(p, s->port[f][SEQ_CLIENT], s->port[f][SEQ_CLIENT]);
		seq_pair(p, s->port[f][SEQ_SERVER], s->port[f][SEQ_SERVER]);
	}
}

/* two packets at the same place */
struct both {
	bool v6;
	struct seq_pairs *pairs;
	const uint8_t *kernel;
	uint8_t *sluice;
	size_t len;
	uint8_t *outer; /* checksum that covers all of sluice's, NULL: none */
};

static void put(const struct both *b, size_t at, unsigned int v)
{
	unsigned int was = (unsigned int)get16(b->sluice + at);

	set16(b->sluice + at, v);
	if (b->outer != NULL)
		follow(b->outer, was, v, false);
}

/* a port or an id, and what the checksum at @sum makes of it; SEQ_NO_SUM_AT: has none that follows */
#define SEQ_NO_SUM_AT SIZE_MAX
static void even_field(const struct both *b, size_t at, size_t sum, bool udp)
{
	unsigned int kernel, sluice;
	uint8_t both[2];

	if (at + 2 > b->len)
		return;
	kernel = (unsigned int)get16(b->kernel + at);
	sluice = (unsigned int)get16(b->sluice + at);
	if (!seq_pair(b->pairs, kernel, sluice) || kernel == sluice)
		return;
	put(b, at, kernel);
	if (sum == SEQ_NO_SUM_AT || sum + 2 > b->len)
		return;
	memcpy(both, b->sluice + sum, 2);
	/* what a sender wrote who computes none */
	if (get16(b->kernel + sum) == 0 && get16(both) == 0)
		return;
	follow(both, sluice, kernel, udp);
	put(b, sum, (unsigned int)get16(both));
}

/* SCTP: a wrong sum stays as wrong as it was */
static void even_sctp(const struct both *b, size_t at, bool whole)
{
	uint32_t wrong = 0, crc;

	if (at + 12 <= b->len && whole)
		wrong = seq_crc32c(b->sluice + at, b->len - at) ^ seq_crc_of(b->sluice + at);
	even_field(b, at, SEQ_NO_SUM_AT, false);
	even_field(b, at + 2, SEQ_NO_SUM_AT, false);
	/* 0 is what a sender wrote who computes none */
	if (at + 12 > b->len || seq_crc_of(b->sluice + at) == 0)
		return;
	crc = whole ? seq_crc32c(b->sluice + at, b->len - at) ^ wrong : seq_crc_of(b->kernel + at);
	put(b, at + 8, (crc & 0xff) << 8 | (crc >> 8 & 0xff));
	put(b, at + 10, (crc >> 16 & 0xff) << 8 | crc >> 24);
}

/* @quoted: how deep */
static void even(const struct both *b, unsigned int quoted)
{
	unsigned int proto = 0, other = 0;
	size_t at = seq_l4_at(b->v6, b->kernel, b->len, &proto);
	size_t there = b->v6 ? 40 + get16(b->kernel + 4) : get16(b->kernel + 2);

	if (at == 0 || seq_l4_at(b->v6, b->sluice, b->len, &other) != at || other != proto)
		return;
	switch (proto) {
	case IPPROTO_ICMP:
	case IPPROTO_ICMPV6:
		if (at + 8 > b->len)
			return;
		/* of any type, as sequences have ids in all; those that quote something have 0 there */
		if (get16(b->kernel + at + 4) != 0) {
			even_field(b, at + 4, at + 2, false);
		} else if (quoted < 2) {
			const struct both quote = { b->v6, b->pairs, b->kernel + at + 8,
				b->sluice + at + 8, b->len - at - 8, b->sluice + at + 2 };

			even(&quote, quoted + 1);
		}
		break;
	case IPPROTO_SCTP:
		even_sctp(b, at, there == b->len);
		break;
	case IPPROTO_TCP:
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		even_field(b, at, at + sum_at(proto), proto == IPPROTO_UDP);
		even_field(b, at + 2, at + sum_at(proto), proto == IPPROTO_UDP);
		break;
	}
}

void seq_even(const struct seq *s, struct seq_pairs *pairs, uint8_t *kernel, uint8_t *sluice,
		size_t len)
{
	const struct both b = { s->v6, pairs, kernel + ETH_LEN, sluice + ETH_LEN, len - ETH_LEN,
		NULL };

	if (len >= ETH_LEN + (s->v6 ? 44U : 24U))
		even(&b, 0);
}

void seq_even_own(const struct seq *s, uint8_t *frame, size_t len)
{
	uint8_t *ip = frame + ETH_LEN;

	if (s->v6 || len < ETH_LEN + 28 || ip[8] != 64 || ip[9] != IPPROTO_ICMP)
		return;
	follow(ip + 10, (unsigned int)get16(ip + 4), 0, false);
	set16(ip + 4, 0);
}
