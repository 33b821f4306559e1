/* SPDX-License-Identifier: BSD-3-Clause */
/* Random sequences of everything but TCP, and which protocol a sequence is of. */
#include "seq.h"

/* ---- SCTP ----------------------------------------------------------------------------------- */

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
	COOKIE_ACK,
	SHUTDOWN_COMPLETE = 14,
};

static const struct {
	uint8_t from, type;
} sctp_life[] = {
	{ SEQ_CLIENT, INIT },
	{ SEQ_SERVER, INIT_ACK },
	{ SEQ_CLIENT, COOKIE_ECHO },
	{ SEQ_SERVER, COOKIE_ACK },
	{ SEQ_CLIENT, DATA },
	{ SEQ_SERVER, SACK },
	{ SEQ_SERVER, DATA },
	{ SEQ_CLIENT, HEARTBEAT },
	{ SEQ_SERVER, HEARTBEAT_ACK },
	{ SEQ_CLIENT, SHUTDOWN },
	{ SEQ_SERVER, SHUTDOWN_ACK },
	{ SEQ_CLIENT, SHUTDOWN_COMPLETE },
};

static uint8_t any_chunk(struct gen *g)
{
	static const uint8_t types[] = { DATA, INIT, INIT_ACK, SACK, HEARTBEAT, HEARTBEAT_ACK,
		ABORT, SHUTDOWN, SHUTDOWN_ACK, ERROR, COOKIE_ECHO, COOKIE_ACK, SHUTDOWN_COMPLETE,
		12, 13, 15, 0x80, 0xc1 };

	return PICK(g, types);
}

static void sctp_step(struct gen *g, struct seq_step *t, unsigned int *phase, unsigned int madness)
{
	struct seq_sctp *h = &t->sctp;

	t->kind = SEQ_SCTP;
	t->from = sctp_life[*phase].from;
	t->len = (uint16_t)(4 * gen_below(g, 10));
	h->chunk[h->n++].type = sctp_life[*phase].type;
	*phase = (*phase + 1) % (unsigned int)ARRAY_LEN(sctp_life);
	if (h->chunk[0].type == INIT)
		h->tag = SEQ_TAG_ZERO;
	if (!gen_chance(g, madness))
		return;
	switch (gen_below(g, 9)) {
	case 0:
		t->from = !t->from;
		break;
	case 1:
		h->tag = (uint8_t)gen_below(g, SEQ_TAGS);
		break;
	case 2:
		while (h->n < 1 + gen_below(g, SEQ_CHUNKS_MAX))
			h->chunk[h->n++].type = any_chunk(g);
		break;
	case 3:
		h->chunk[0].empty = true;
		break;
	case 4:
		h->chunk[0].flags = 1; /* T: the tag is the sender's own */
		h->chunk[0].type = gen_chance(g, 50) ? ABORT : SHUTDOWN_COMPLETE;
		h->tag = (uint8_t)gen_below(g, 2);
		break;
	case 5:
		t->damage = (uint8_t)gen_below(g, SEQ_DAMAGES);
		break;
	case 6:
		h->init = (uint8_t)gen_below(g, 3);
		h->peer_init = (uint8_t)gen_below(g, 3);
		h->chunk[0].type = gen_chance(g, 50) ? INIT : INIT_ACK;
		h->tag = h->chunk[0].type == INIT ? SEQ_TAG_ZERO : SEQ_TAG_PEER;
		break;
	case 7:
		*phase = gen_below(g, (uint32_t)ARRAY_LEN(sctp_life));
		break;
	default:
		t->from = (uint8_t)gen_below(g, 2);
		h->chunk[0].type = any_chunk(g);
		h->tag = (uint8_t)(h->chunk[0].type == INIT ? SEQ_TAG_ZERO : gen_below(g, 2));
		break;
	}
}

void seq_gen_sctp(struct gen *g, struct seq *s)
{
	unsigned int phase = gen_chance(g, 85) ? 0 : gen_below(g, (uint32_t)ARRAY_LEN(sctp_life));
	unsigned int madness = gen_below(g, 4) * 14;

	for (unsigned int i = 0; i < s->n; i++) {
		if (i > 2 && gen_chance(g, 4))
			seq_gen_error(g, s, i);
		else
			sctp_step(g, &s->step[i], &phase, madness);
	}
}

/* ---- errors --------------------------------------------------------------------------------- */

void seq_gen_error(struct gen *g, struct seq *s, unsigned int i)
{
	static const uint8_t v4_types[] = { 3, 3, 3, 11, 11, 12, 4, 5, 0 };
	static const uint8_t v6_types[] = { 1, 1, 2, 3, 3, 4, 5, 127, 137 };
	static const uint8_t cuts[] = { 0, 0, 0, 8, 8, 4, 7, 9, 20, 3, 1 };
	struct seq_step *t = &s->step[i];

	*t = (struct seq_step){ .kind = SEQ_ERROR };
	t->error.of = (uint8_t)(gen_chance(g, 60) ? i - 1 : gen_below(g, i));
	t->from = (uint8_t)(s->step[t->error.of].from ^ gen_chance(g, 93));
	t->error.type = s->v6 ? PICK(g, v6_types) : PICK(g, v4_types);
	t->error.code = (uint8_t)gen_below(g, 6);
	t->error.cut = PICK(g, cuts);
	t->error.third = gen_chance(g, 40);
	t->error.turned = !t->error.third && gen_chance(g, 10);
	if (gen_chance(g, 10))
		t->damage = gen_chance(g, 70) ? SEQ_BAD_SUM : SEQ_CUT;
}

/* ---- UDP, UDP-Lite, ICMP, GRE, others ------------------------------------------------------- */

static void icmp_step(struct gen *g, const struct seq *s, struct seq_step *t)
{
	static const uint8_t v4_asks[] = { 8, 8, 8, 13, 15, 17 };
	static const uint8_t v6_asks[] = { 128, 128, 128, 139 };

	t->icmp.type = s->v6 ? PICK(g, v6_asks) : PICK(g, v4_asks);
	if (gen_chance(g, 45))
		t->icmp.type = (uint8_t)(t->icmp.type + (t->icmp.type == 8 ? 256 - 8 : 1));
	if (gen_chance(g, 12))
		t->icmp.type = (uint8_t)(s->v6 ? 120 + gen_below(g, 40) : gen_below(g, 25));
	if (gen_chance(g, 5))
		t->icmp.type = (uint8_t)gen_u32(g);
	t->icmp.code = gen_chance(g, 92) ? 0 : (uint8_t)gen_below(g, 4);
}

static void other_step(struct gen *g, struct seq_step *t, unsigned int proto)
{
	t->other.proto = (uint8_t)proto;
	t->len = (uint16_t)(gen_chance(g, 90) ? 8 + gen_below(g, 200) : gen_below(g, 8));
}

static void plain_step(struct gen *g, const struct seq *s, struct seq_step *t, enum seq_kind kind,
		unsigned int proto)
{
	t->kind = (uint8_t)kind;
	t->from = gen_chance(g, 40);
	t->flow = gen_chance(g, 20);
	t->len = (uint16_t)(gen_chance(g, 90) ? gen_below(g, 300) : gen_below(g, 3000));
	if (kind == SEQ_ICMP)
		icmp_step(g, s, t);
	if (kind == SEQ_OTHER)
		other_step(g, t, proto);
	if (kind == SEQ_GRE) {
		t->gre.version = gen_chance(g, 70) ? 0 : gen_chance(g, 80) ? 1 : 2;
		t->gre.flags = (uint8_t)(t->gre.version == 1 ? 0x20 : gen_below(g, 2) * 0x20);
		t->gre.proto = gen_chance(g, 60) ? 0x880b : 0x0800;
	}
	if (gen_chance(g, 6))
		t->damage = (uint8_t)gen_below(g, SEQ_DAMAGES);
	if (kind == SEQ_UDPLITE && gen_chance(g, 80))
		t->damage = SEQ_AS_UDP;
	/* the kernel takes a long datagram to itself for damaged once its traffic class was changed */
	if (s->v6 && s->to_router)
		t->len %= 40;
	if (t->len > 64 && gen_chance(g, 10)) {
		t->pieces = (uint8_t)(2 + gen_below(g, 4));
		t->order = (uint8_t)gen_below(g, SEQ_ORDERS);
	}
	if (s->v6 && gen_chance(g, 8))
		t->ext = (uint8_t)gen_below(g, SEQ_EXTS);
}

static const uint8_t protos[] = { 4, 41, 50, 51, 89, 94, 103, 112, 115, 253, 255, 33, 2, 59, 135 };

static enum seq_kind plain_kind(struct gen *g)
{
	static const uint8_t kinds[] = { SEQ_UDP, SEQ_UDP, SEQ_UDP, SEQ_ICMP, SEQ_ICMP, SEQ_UDPLITE,
		SEQ_GRE, SEQ_OTHER };

	return PICK(g, kinds);
}

void seq_gen_plain(struct gen *g, struct seq *s)
{
	enum seq_kind kind = plain_kind(g);
	unsigned int proto = PICK(g, protos);

	for (unsigned int i = 0; i < s->n; i++) {
		if (i > 0 && gen_chance(g, 12))
			seq_gen_error(g, s, i);
		else
			plain_step(g, s, &s->step[i], kind, proto);
	}
}

/* every packet of another protocol between the same two hosts */
void seq_gen_mixed(struct gen *g, struct seq *s)
{
	unsigned int phase = 0;

	seq_gen_tcp(g, s);
	for (unsigned int i = 0; i < s->n; i++) {
		struct seq_step *t = &s->step[i];

		if (gen_chance(g, 40))
			continue;
		*t = (struct seq_step){ 0 };
		if (gen_chance(g, 15))
			sctp_step(g, t, &phase, 20);
		else
			plain_step(g, s, t, plain_kind(g), PICK(g, protos));
	}
}

void seq_make(struct seq *s, uint64_t seed)
{
	static void (*const make[])(struct gen * g, struct seq * s) = {
		seq_gen_tcp,
		seq_gen_tcp,
		seq_gen_tcp,
		seq_gen_tcp,
		seq_gen_plain,
		seq_gen_plain,
		seq_gen_plain,
		seq_gen_sctp,
		seq_gen_mixed,
	};
	struct gen g = { .rng = seed };

	*s = (struct seq){ 0 };
	snprintf(s->name, sizeof(s->name), "%llx", (unsigned long long)seed);
	s->v6 = gen_chance(&g, 40);
	s->to_router = gen_chance(&g, 4);
	s->n = 6 + gen_below(&g, SEQ_STEPS_MAX - 6);
	for (unsigned int f = 0; f < SEQ_FLOWS; f++) {
		s->port[f][SEQ_CLIENT] = (uint16_t)(gen_chance(&g, 90) ? 1024 + gen_below(&g, 60000)
								       : gen_below(&g, 1024));
		s->port[f][SEQ_SERVER] = (uint16_t)(80 + f);
		for (unsigned int e = 0; e < SEQ_ENDS; e++)
			s->isn[f][e] = gen_chance(&g, 70) ? gen_u32(&g) : 0 - gen_below(&g, 20000);
	}
	PICK(&g, make)(&g, s);
}
