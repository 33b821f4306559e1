/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random TCP: two hosts that live a connection's life, and now and then one of them says something
 * else. What a tracker would think of their windows is followed roughly, so that numbers can be aimed
 * at the edges of the checks.
 */
#include "seq.h"

struct side {
	uint32_t next; /* what it would send next */
	uint32_t end; /* highest sent */
	uint32_t right; /* edge up to which the other has allowed it */
	uint32_t acked; /* highest acknowledgement that it sent */
	uint32_t win;
	uint8_t scale;
	bool fin;
};

struct talk {
	struct gen *g;
	struct seq *s;
	unsigned int flow;
	unsigned int phase;
	struct side side[SEQ_ENDS];
};

static const uint32_t jumps[] = { 1, 1, 2, 10, 100, 1000, 1460, 9999, 10000, 10001, 65535, 66000,
	66001, 100000, 1000000, 0x7fffffff, 0x80000000 };

static uint32_t jump(struct gen *g)
{
	uint32_t v = gen_chance(g, 70) ? PICK(g, jumps) : gen_below(g, 70000);

	return gen_chance(g, 50) ? v : 0 - v;
}

static uint32_t near(struct gen *g)
{
	return gen_below(g, 5) - 2;
}

static uint32_t aim_seq(struct talk *k, unsigned int from, uint32_t len)
{
	const struct side *me = &k->side[from], *peer = &k->side[!from];
	struct gen *g = k->g;
	const uint32_t edges[] = { me->right, me->right - len, me->end, me->end - len,
		me->end - peer->win - len, peer->acked, peer->acked - 1, me->next,
		me->right + peer->win, 0 - k->s->isn[k->flow][from] };

	return gen_chance(g, 30) ? me->next + jump(g) : PICK(g, edges) + near(g);
}

static uint32_t aim_ack(struct talk *k, unsigned int from)
{
	const struct side *me = &k->side[from], *peer = &k->side[!from];
	struct gen *g = k->g;
	const uint32_t edges[] = { peer->end, peer->next, peer->end - 66000, peer->end - me->win,
		me->acked, peer->right };

	return gen_chance(g, 30) ? peer->next + jump(g) : PICK(g, edges) + near(g);
}

static void options(struct talk *k, struct seq_tcp *h, unsigned int from)
{
	struct gen *g = k->g;

	h->scale = SEQ_NO_SCALE;
	if (h->flags & SEQ_SYN) {
		if (gen_chance(g, 60))
			h->scale = gen_chance(g, 80) ? (uint8_t)gen_below(g, 8)
						     : (uint8_t)gen_below(g, 20);
		h->sack_ok = gen_chance(g, 60);
	} else if (gen_chance(g, 8)) {
		h->n_sack = 1;
		h->sack_from = gen_chance(g, 50) ? k->side[!from].next : aim_ack(k, from);
		h->sack_to = gen_chance(g, 50) ? k->side[!from].end : aim_ack(k, from);
	}
}

/* the next step of a connection that goes its way */
static void honest(struct talk *k, struct seq_step *t)
{
	struct gen *g = k->g;
	unsigned int from = gen_below(g, 2);
	uint8_t flags = SEQ_ACK;

	switch (k->phase) {
	case 0:
		from = SEQ_CLIENT;
		flags = SEQ_SYN;
		break;
	case 1:
		from = SEQ_SERVER;
		flags = SEQ_SYN | SEQ_ACK;
		if (gen_chance(g, 6))
			flags = SEQ_SYN; /* simultaneous open */
		break;
	case 2:
		from = SEQ_CLIENT;
		break;
	default:
		if (k->phase > 4 && gen_chance(g, 25) && !k->side[from].fin)
			flags |= SEQ_FIN;
		else if (gen_chance(g, 50)) {
			flags |= gen_chance(g, 50) ? SEQ_PSH : 0;
			t->len = (uint16_t)(1 + gen_below(g, 1400));
		}
		if (gen_chance(g, 3))
			flags = SEQ_RST | (gen_chance(g, 50) ? SEQ_ACK : 0);
		break;
	}
	k->phase++;
	t->from = (uint8_t)from;
	t->tcp.flags = flags;
	t->tcp.seq = k->side[from].next;
	t->tcp.ack = flags & SEQ_ACK ? k->side[!from].next : 0;
	t->tcp.win = (uint16_t)(gen_chance(g, 50) ? 10000 : gen_below(g, 65536));
	options(k, &t->tcp, from);
}

static uint8_t any_flags(struct gen *g)
{
	static const uint8_t usual[] = { SEQ_SYN, SEQ_SYN | SEQ_ACK, SEQ_ACK, SEQ_ACK | SEQ_PSH,
		SEQ_RST, SEQ_RST | SEQ_ACK, SEQ_FIN | SEQ_ACK, SEQ_FIN | SEQ_ACK | SEQ_PSH,
		SEQ_ACK | SEQ_URG, SEQ_SYN | SEQ_URG, SEQ_FIN | SEQ_ACK | SEQ_URG, SEQ_FIN, 0 };

	return gen_chance(g, 93) ? PICK(g, usual) : (uint8_t)gen_below(g, 256);
}

static void strange(struct talk *k, struct seq_step *t)
{
	struct gen *g = k->g;
	unsigned int from = t->from;

	switch (gen_below(g, 12)) {
	case 0:
	case 1:
		t->tcp.seq = aim_seq(k, from, t->len);
		break;
	case 2:
	case 3:
		t->tcp.ack = aim_ack(k, from);
		break;
	case 4:
		t->tcp.seq = aim_seq(k, from, t->len);
		t->tcp.ack = aim_ack(k, from);
		break;
	case 5:
		t->tcp.win = (uint16_t)(gen_chance(g, 60) ? 0 : gen_below(g, 3));
		break;
	case 6:
		t->damage = (uint8_t)gen_below(g, SEQ_DAMAGES);
		break;
	case 7:
		t->tcp.flags = SEQ_RST | (gen_chance(g, 50) ? SEQ_ACK : 0);
		t->len = 0;
		t->tcp.seq = gen_chance(g, 50) ? k->side[!from].acked : aim_seq(k, from, 0);
		break;
	case 8:
		t->tcp.flags = SEQ_SYN;
		t->tcp.seq = gen_chance(g, 50) ? k->side[from].next + 100000 : aim_seq(k, from, 0);
		options(k, &t->tcp, from);
		break;
	case 9:
		t->tcp.flags = any_flags(g);
		t->tcp.seq = k->side[from].next - gen_below(g, 2);
		break;
	case 10:
		/* keep-alive */
		t->tcp.flags = SEQ_ACK;
		t->tcp.seq = k->side[from].next - 1;
		t->len = (uint16_t)gen_below(g, 2);
		break;
	default:
		t->tcp.flags = any_flags(g);
		t->len = (uint16_t)(gen_chance(g, 50) ? 0 : gen_below(g, 1400));
		options(k, &t->tcp, from);
		break;
	}
}

/* an earlier packet again, and maybe again */
static bool repeat(struct talk *k, struct seq_step *t, unsigned int i)
{
	const struct seq_step *old;

	if (i == 0)
		return false;
	old = &k->s->step[gen_chance(k->g, 60) ? i - 1 : gen_below(k->g, i)];
	if (old->kind != SEQ_TCP)
		return false;
	*t = *old;
	return true;
}

static void follow(struct talk *k, const struct seq_step *t)
{
	struct side *me = &k->side[t->from], *peer = &k->side[!t->from];
	uint32_t end = t->tcp.seq + t->len + !!(t->tcp.flags & SEQ_SYN)
			+ !!(t->tcp.flags & SEQ_FIN);

	if (t->damage != SEQ_WHOLE)
		return;
	if (t->tcp.flags & SEQ_SYN) {
		me->scale = t->tcp.scale == SEQ_NO_SCALE ? 0 : t->tcp.scale;
		if (me->scale > 14)
			me->scale = 14;
		me->win = t->tcp.win;
	} else {
		me->win = (uint32_t)t->tcp.win << me->scale;
	}
	if (gen_chance(k->g, 85) && (int32_t)(end - me->next) > 0)
		me->next = end;
	if ((int32_t)(end - me->end) > 0)
		me->end = end;
	if (t->tcp.flags & SEQ_ACK) {
		me->acked = t->tcp.ack;
		if ((int32_t)(t->tcp.ack + me->win - peer->right) > 0)
			peer->right = t->tcp.ack + me->win;
	}
	me->fin |= (t->tcp.flags & SEQ_FIN) != 0;
}

/* the same ports anew, with higher numbers most of the time */
static void reopen(struct talk *k)
{
	for (unsigned int e = 0; e < SEQ_ENDS; e++) {
		uint32_t more = gen_chance(k->g, 70) ? 200000 : jump(k->g);

		k->side[e].next += more;
		k->side[e].fin = false;
	}
	k->phase = 0;
}

void seq_gen_tcp(struct gen *g, struct seq *s)
{
	struct talk talks[SEQ_FLOWS];
	unsigned int madness = gen_below(g, 4) * 12;
	bool two = gen_chance(g, 15);

	for (unsigned int f = 0; f < SEQ_FLOWS; f++)
		talks[f] = (struct talk){
			.g = g, .s = s, .flow = f, .phase = gen_chance(g, 85) ? 0 : 3
		};
	for (unsigned int i = 0; i < s->n; i++) {
		struct talk *k = &talks[two ? gen_below(g, SEQ_FLOWS) : 0];
		struct seq_step *t = &s->step[i];

		if (i > 2 && gen_chance(g, 4)) {
			seq_gen_error(g, s, i);
			continue;
		}
		if (k->phase > 8 && gen_chance(g, 10))
			reopen(k);
		t->kind = SEQ_TCP;
		t->flow = (uint8_t)k->flow;
		if (!gen_chance(g, 8 + madness / 4) || !repeat(k, t, i)) {
			honest(k, t);
			if (gen_chance(g, madness))
				strange(k, t);
			if (t->len > 200 && gen_chance(g, 3)) {
				t->pieces = (uint8_t)(2 + gen_below(g, 3));
				t->order = (uint8_t)gen_below(g, SEQ_ORDERS);
			}
		}
		follow(&talks[t->flow], t);
	}
}
