/* SPDX-License-Identifier: BSD-3-Clause */
/* transport headers of a step */
#include "seq.h"

#include <netinet/in.h>
#include <string.h>

#define UDPLITE 136
#define SCTP 132
#define WRONG_TAG 0x0bad0bad

enum sctp_chunk {
	DATA,
	INIT,
	INIT_ACK,
	SACK,
	HEARTBEAT,
	HEARTBEAT_ACK,
	ABORT,
	SHUTDOWN,
	SHUTDOWN_ACK,
	ERROR,
	COOKIE_ECHO,
};

unsigned int seq_proto(const struct seq *s, const struct seq_step *t)
{
	switch ((enum seq_kind)t->kind) {
	case SEQ_TCP:
		return IPPROTO_TCP;
	case SEQ_UDP:
		return IPPROTO_UDP;
	case SEQ_UDPLITE:
		return UDPLITE;
	case SEQ_SCTP:
		return SCTP;
	case SEQ_GRE:
		return IPPROTO_GRE;
	case SEQ_OTHER:
		return t->other.proto;
	case SEQ_ICMP:
	case SEQ_ERROR:
	case SEQ_NONE:
	case SEQ_KINDS:
		break;
	}
	return s->v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
}

static void put_payload(struct buf *b, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++)
		put8(b, 'a' + i % 26);
}

/* checksum at @at over everything */
static void seal(struct buf *b, size_t at, uint32_t pseudo, const struct seq_step *t, bool udp)
{
	uint32_t sum;

	set16(b->b + at, 0);
	sum = ~sum16(b->b, b->n, pseudo) & 0xffff;
	if (udp && sum == 0)
		sum = 0xffff;
	if (t->damage == SEQ_BAD_SUM)
		sum = (sum + 0x0101) % 0xffff == 0 ? 0x1234 : (sum + 0x0101) % 0xffff;
	set16(b->b + at, t->damage == SEQ_NO_SUM ? 0 : sum);
}

static void put_tcp_options(struct buf *o, const struct seq_tcp *h, uint32_t peer_isn)
{
	if (h->flags & SEQ_SYN) {
		put16(o, 0x0204);
		put16(o, 1460);
	}
	if (h->sack_ok) {
		put16(o, 0x0101);
		put16(o, 0x0402);
	}
	if (h->scale != SEQ_NO_SCALE) {
		put16(o, 0x0103);
		put8(o, 3);
		put8(o, h->scale);
	}
	if (h->n_sack > 0) {
		put16(o, 0x0101);
		put16(o, 0x050a);
		put32(o, peer_isn + h->sack_from);
		put32(o, peer_isn + h->sack_to);
	}
}

static void put_tcp(struct buf *b, const struct seq *s, const struct seq_step *t,
		const struct seq_ends *e)
{
	const struct seq_tcp *h = &t->tcp;
	const uint32_t *isn = s->isn[t->flow];
	struct buf o = { .n = 0 };
	unsigned int words;

	put_tcp_options(&o, h, isn[!t->from]);
	words = 5 + (unsigned int)o.n / 4;
	if (t->damage == SEQ_SHORT)
		words = 4;
	if (t->damage == SEQ_LONG)
		words = 15;
	put16(b, e->sport);
	put16(b, e->dport);
	put32(b, isn[t->from] + h->seq);
	put32(b, h->flags & SEQ_ACK ? isn[!t->from] + h->ack : h->ack);
	put8(b, words << 4);
	put8(b, h->flags);
	put16(b, h->win);
	put16(b, 0);
	put16(b, 0);
	put_mem(b, o.b, o.n);
	put_payload(b, t->len);
	seal(b, 16, seq_pseudo(s, e, IPPROTO_TCP) + (uint32_t)b->n, t, false);
}

/* UDP, and UDP-Lite whose length is a coverage */
static void put_udp(struct buf *b, const struct seq *s, const struct seq_step *t,
		const struct seq_ends *e)
{
	unsigned int len = 8U + t->len, field = len;

	if (t->damage == SEQ_SHORT)
		field = 7;
	if (t->damage == SEQ_LONG)
		field = len + 1;
	put16(b, e->sport);
	put16(b, e->dport);
	put16(b, field);
	put16(b, 0);
	put_payload(b, t->len);
	if (t->damage == SEQ_AS_UDP)
		seal(b, 6, seq_pseudo(s, e, IPPROTO_UDP) + (s->v6 ? len : len & 0xff), t, true);
	else
		seal(b, 6, seq_pseudo(s, e, seq_proto(s, t)) + len, t, true);
}

static void put_icmp(struct buf *b, const struct seq *s, const struct seq_step *t,
		const struct seq_ends *e)
{
	uint32_t pseudo = s->v6 ? seq_pseudo(s, e, IPPROTO_ICMPV6) + 8U + t->len : 0;

	put8(b, t->icmp.type);
	put8(b, t->icmp.code);
	put16(b, 0);
	put16(b, e->sport);
	put16(b, 1);
	put_payload(b, t->len);
	seal(b, 2, pseudo, t, false);
}

static uint32_t crc_more(uint32_t crc, const uint8_t *p, size_t n)
{
	while (n-- > 0) {
		crc ^= *p++;
		for (int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return crc;
}

uint32_t seq_crc32c(const uint8_t *sctp, size_t n)
{
	static const uint8_t none[4];

	return ~crc_more(crc_more(crc_more(UINT32_MAX, sctp, 8), none, 4), sctp + 12, n - 12);
}

uint32_t seq_crc_of(const uint8_t *sctp)
{
	return sctp[8] | (uint32_t)sctp[9] << 8 | (uint32_t)sctp[10] << 16
			| (uint32_t)sctp[11] << 24;
}

/* a side's initial tag; never 0 */
static uint32_t tag_of(
		const struct seq *s, const struct seq_step *t, unsigned int end, unsigned int init)
{
	return (s->isn[t->flow][end] + 0x01010101U * init) | 1;
}

static void put_chunk(struct buf *b, unsigned int type, unsigned int flags, bool empty,
		uint32_t tag, unsigned int len)
{
	size_t start = b->n;

	put8(b, type);
	put8(b, flags);
	put16(b, 0);
	switch (type) {
	case DATA:
		put32(b, 1000);
		put32(b, 0);
		put32(b, 0);
		put_payload(b, len);
		break;
	case INIT:
	case INIT_ACK:
		put32(b, tag);
		put32(b, 65536);
		put16(b, 10);
		put16(b, 10);
		put32(b, 1000);
		break;
	case SACK:
		put32(b, 1000);
		put32(b, 65536);
		put32(b, 0);
		break;
	case HEARTBEAT:
	case HEARTBEAT_ACK:
		put32(b, 0x00010008);
		put32(b, 0x12345678);
		break;
	case COOKIE_ECHO:
		put32(b, 0xc0de);
		break;
	case SHUTDOWN:
		put32(b, 1000);
		break;
	default:
		break;
	}
	set16(b->b + start + 2, empty ? 0 : (unsigned int)(b->n - start));
	while ((b->n - start) % 4 != 0)
		put8(b, 0);
}

static void put_sctp(struct buf *b, const struct seq *s, const struct seq_step *t,
		const struct seq_ends *e)
{
	const struct seq_sctp *h = &t->sctp;
	uint32_t own = tag_of(s, t, t->from, h->init);
	const uint32_t tags[SEQ_TAGS] = { tag_of(s, t, !t->from, h->peer_init), own, 0, WRONG_TAG };
	uint32_t crc;

	put16(b, e->sport);
	put16(b, e->dport);
	put32(b, tags[h->tag]);
	put32(b, 0);
	for (unsigned int i = 0; i < h->n; i++)
		put_chunk(b, h->chunk[i].type, h->chunk[i].flags, h->chunk[i].empty, own, t->len);
	crc = seq_crc32c(b->b, b->n);
	if (t->damage == SEQ_BAD_SUM)
		crc ^= 0x100;
	if (t->damage == SEQ_NO_SUM)
		crc = 0;
	for (unsigned int i = 0; i < 4; i++)
		b->b[8 + i] = (uint8_t)(crc >> 8 * i);
	if (t->damage == SEQ_LONG && h->n > 0)
		set16(b->b + 14, 200);
	if (t->damage == SEQ_SHORT && h->n > 0)
		set16(b->b + 14, 3);
}

/* keys are not ports, and nobody but a helper of PPTP translates them */
static void put_gre(struct buf *b, const struct seq *s, const struct seq_step *t)
{
	uint16_t key = s->port[t->flow][t->from == SEQ_CLIENT ? SEQ_SERVER : SEQ_CLIENT];

	put16(b, (unsigned int)t->gre.flags << 8 | t->gre.version);
	put16(b, t->gre.proto);
	if (t->gre.version == 1) {
		put16(b, t->len);
		put16(b, key);
	} else if (t->gre.flags & 0x20) {
		put32(b, key);
	}
	put_payload(b, t->len);
}

void seq_put_l4(struct buf *b, const struct seq *s, const struct seq_step *t,
		const struct seq_ends *e)
{
	switch ((enum seq_kind)t->kind) {
	case SEQ_TCP:
		put_tcp(b, s, t, e);
		break;
	case SEQ_UDP:
	case SEQ_UDPLITE:
		put_udp(b, s, t, e);
		break;
	case SEQ_ICMP:
		put_icmp(b, s, t, e);
		break;
	case SEQ_SCTP:
		put_sctp(b, s, t, e);
		break;
	case SEQ_GRE:
		put_gre(b, s, t);
		break;
	case SEQ_OTHER:
		put_payload(b, t->len);
		break;
	case SEQ_NONE:
	case SEQ_ERROR:
	case SEQ_KINDS:
		break;
	}
	if (t->damage == SEQ_CUT && b->n > 6)
		b->n = 6;
}
