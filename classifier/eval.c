/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table over a batch, in waves. All packets start in the base chain; in each wave those that stand
 * in the same chain are looked up together, each from its own rule on, and each takes the one step
 * that the rule found tells it: verdict, call, return, or on behind that rule.
 *
 * Rules 1 `-p tcp --dport 22 -j SSH`, 2 `-j MARK --set-mark 1`, 3 `-m mark --mark 1 -j ACCEPT`, and a
 * batch of two: A to port 22, B to port 80. Wave 1: the base chain, A finds 1 and goes to SSH, B
 * finds 2, is marked and stands at 3. Wave 2: B, base chain, finds 3: its mark is looked at now, not
 * when the batch began. Wave 3: A in SSH; and so on until each has a verdict.
 *
 * What one packet does to state that others see keeps the order of the packets: at a rule with a
 * stateful match or a target that is seen from outside, a packet waits until all before it in the
 * batch have their verdicts. The first one never waits, so there is no deadlock.
 */
#include "classifier/ct_state.h"
#include "classifier/eval_pkt.h"
#include "lib/drop.h"
#include "lib/worker.h"

#include <netinet/in.h>
#include <stdlib.h>

/* rules that are not asked for the cost of another look-up */
#define RUN_WORTH 8

struct eval_frame {
	uint32_t chain, pos;
};

struct eval_scratch {
	struct eval_pkt v[SL_BURST];
	struct sl_cls_key4 key4[SL_BURST];
	struct sl_cls_key6 key6[SL_BURST];
	/* of one wave */
	struct sl_cls_key4 look4[SL_BURST];
	struct sl_cls_key6 look6[SL_BURST];
	uint32_t from[SL_BURST], label[SL_BURST];
	uint8_t at[SL_BURST]; /* packets of the wave */
	uint32_t depth;
	struct eval_frame stack[]; /* @depth of them for each packet */
};

/* one run */
struct eval {
	const struct ipt_prog *prog;
	const struct chain_table *t;
	struct eval_scratch *s;
	struct ipt_counters *counters;
	const struct chain *base;
	const struct chain *chain; /* of the wave */
	uint64_t *found; /* of each packet, patterns of the table; NULL: there are none */
	uint32_t found_words;
	struct ipt_ctx c;
	bool fresh; /* all stand where they started */
	bool serial; /* one packet after the other */
	bool traced; /* some packet is traced, or may come to be */
	uint64_t odd; /* packets without a whole transport header */
	uint64_t todo; /* packets without a verdict */
	uint64_t accepted;
	unsigned int n_dropped;
	struct rte_mbuf *dropped[SL_BURST];
};

struct eval_scratch *eval_scratch_create(uint32_t depth)
{
	struct eval_scratch *s;
	size_t size = sizeof(*s) + sizeof(s->stack[0]) * depth * SL_BURST;

	s = aligned_alloc(RTE_CACHE_LINE_SIZE, RTE_ALIGN_CEIL(size, (size_t)RTE_CACHE_LINE_SIZE));
	if (s == NULL)
		return NULL;
	s->depth = depth;
	return s;
}

void eval_scratch_free(struct eval_scratch *s)
{
	free(s);
}

/* type and code of ICMP stand where others have their ports, see chain_box.c */
static void key_service(const struct eval_pkt *e, uint16_t *sport, uint16_t *dport)
{
	const struct sl_pkt *p = sl_pkt(e->m);
	const uint8_t *icmp;

	*sport = rte_be_to_cpu_16(p->sport_be);
	*dport = rte_be_to_cpu_16(p->dport_be);
	if (likely(p->proto != IPPROTO_ICMP && p->proto != IPPROTO_ICMPV6) || e->odd)
		return;
	icmp = sl_pkt_at(e->m, p->l4_off, 2);
	*sport = icmp == NULL ? 0 : icmp[0];
	*dport = icmp == NULL ? 0 : icmp[1];
}

static void make_key(struct eval *x, unsigned int i)
{
	const struct eval_pkt *e = &x->s->v[i];
	const struct sl_pkt *p = sl_pkt(e->m);
	uint16_t aux = x->t->ifaces->class[e->in][e->out];
	uint16_t sport, dport;

	key_service(e, &sport, &dport);
	if (x->prog->family == IPT_V4) {
		x->s->key4[i] = (struct sl_cls_key4){ .src = rte_be_to_cpu_32(p->src.v4),
			.dst = rte_be_to_cpu_32(p->dst.v4),
			.sport = sport,
			.dport = dport,
			.proto = p->proto,
			.aux = aux };
		return;
	}
	x->s->key6[i] = (struct sl_cls_key6){
		.src = { rte_be_to_cpu_64(p->src.q[0]), rte_be_to_cpu_64(p->src.q[1]) },
		.dst = { rte_be_to_cpu_64(p->dst.q[0]), rte_be_to_cpu_64(p->dst.q[1]) },
		.sport = sport,
		.dport = dport,
		.proto = p->proto,
		.aux = aux,
	};
}

static void point(struct eval *x, unsigned int i)
{
	eval_point(&x->c, &x->s->v[i], x->s->v[i].chain);
	if (x->found != NULL)
		x->c.found = x->found + i * x->found_words;
}

/* whether it is known that the rule does not hold, since its pattern is not in the packet */
static bool is_without(const struct eval *x, const struct chain_rule *r, unsigned int i)
{
	/* broken headers may drop a packet before a pattern is looked for */
	return r->needle != 0 && !x->s->v[i].odd
			&& ipt_patterns_lacks(
					x->found + i * x->found_words, r->needle, r->needle_pass);
}

/* whether the part of a rule that may be asked at any time holds, or wants the packet dropped */
static bool lead_holds(struct eval *x, const struct chain_rule *r, unsigned int i)
{
	struct ipt_ctx *c = &x->c;
	bool holds;

	if (is_without(x, r, i))
		return false;
	point(x, i);
	holds = chain_core_holds(r, c, &x->s->v[i]);
	if (holds) {
		c->rule = r->rule;
		holds = chain_matches_hold(r, c, 0, r->n_lead);
	}
	holds |= c->hotdrop;
	c->hotdrop = false;
	return holds;
}

/* the first rule from @r on that may hold, where its pattern is known not to be in the packet */
static uint32_t behind_run(const struct eval *x, const struct chain_rule *r, unsigned int i)
{
	return ipt_patterns_next(x->t->patterns, x->found + i * x->found_words, r);
}

/*
 * struct sl_cls_verify. Of many rules in a row whose patterns are not in the packet the first one
 * is taken for found, and step() leads past all of them: that is quicker than to be asked for each.
 */
static bool verify(void *arg, uint32_t label, unsigned int k)
{
	struct eval *x = arg;
	const struct chain_rule *r = &x->chain->rules[label];
	unsigned int i = x->s->at[k];

	if (is_without(x, r, i))
		return behind_run(x, r, i) > label + RUN_WORTH;
	return lead_holds(x, r, i);
}

static bool is_exact(const struct chain_rule *r, const struct eval_pkt *e)
{
	return (r->flags & (e->odd ? CHAIN_EXACT_ODD : CHAIN_EXACT)) != 0;
}

/*
 * Return: whether the rule holds, of which the lead does; c->hotdrop: the packet is to be dropped,
 * behind the rule's target if it holds
 */
static bool rest_holds(struct eval *x, const struct chain_rule *r, unsigned int i)
{
	const struct eval_pkt *e = &x->s->v[i];

	if (is_exact(r, e))
		return true;
	if (!e->odd)
		return chain_matches_hold(r, &x->c, r->n_lead, r->n_matches);
	if (!chain_core_holds(r, &x->c, e))
		return false;
	return chain_matches_hold(r, &x->c, 0, r->n_matches);
}

static void finish(struct eval *x, unsigned int i, int verdict)
{
	x->todo &= ~(UINT64_C(1) << i);
	if (verdict == IPT_ACCEPT)
		x->accepted |= UINT64_C(1) << i;
	else if (verdict != IPT_STOLEN)
		x->dropped[x->n_dropped++] = x->s->v[i].m;
}

/* a record about a traced packet at a rule, or behind the last one of a chain */
static void trace(struct eval *x, unsigned int i, uint32_t chain, uint32_t pos)
{
	point(x, i);
	chain_trace(x->t, &x->c, chain, pos);
}

/* RETURN, or the end of a chain */
static void go_back(struct eval *x, unsigned int i)
{
	struct eval_pkt *e = &x->s->v[i];
	const struct eval_frame *f;

	if (e->depth == 0) {
		if (unlikely(x->traced))
			trace(x, i, (uint32_t)(x->base - x->t->chains), x->base->n);
		chain_count(x->counters, x->base->policy_index, eval_bytes(e->m));
		finish(x, i, x->base->text->policy);
		return;
	}
	f = &x->s->stack[i * x->s->depth + --e->depth];
	e->chain = f->chain;
	e->pos = f->pos;
}

static void run_target(struct eval *x, const struct chain_rule *r, unsigned int i)
{
	struct eval_pkt *e = &x->s->v[i];
	int verdict = r->target->run(&x->c, &r->rule->target, r->target_state);

	e->m = x->c.m;
	/* other bytes: search again */
	if (x->found != NULL && r->flags & CHAIN_REWRITES)
		x->found[i * x->found_words] = 0;
	if (verdict != IPT_CONTINUE) {
		finish(x, i, verdict);
		return;
	}
	e->pos++;
}

/* what a rule that holds asks for; e->pos is its place */
static void act(struct eval *x, const struct chain_rule *r, unsigned int i)
{
	struct eval_pkt *e = &x->s->v[i];

	chain_count(x->counters, r->index, eval_bytes(e->m));
	if (unlikely(x->traced))
		chain_trace(x->t, &x->c, e->chain, e->pos);
	switch ((enum ipt_verdict)r->verdict) {
	case IPT_CONTINUE:
		e->pos++;
		break;
	case IPT_ACCEPT:
	case IPT_DROP:
	case IPT_QUEUE: /* nobody listens */
		finish(x, i, r->verdict);
		break;
	case IPT_RETURN:
		go_back(x, i);
		break;
	case IPT_JUMP:
		x->s->stack[i * x->s->depth + e->depth++] =
				(struct eval_frame){ e->chain, e->pos + 1 };
		/* fall through */
	case IPT_GOTO:
		e->chain = r->chain;
		e->pos = 0;
		break;
	case IPT_TARGET:
		run_target(x, r, i);
		break;
	}
}

static void drop_at_once(struct eval *x, unsigned int i)
{
	finish(x, i, IPT_STOLEN);
	sl_drop(x->c.w, x->s->v[i].m, SL_DROP_HOTDROP);
}

/* what a rule that holds, but of which a match wants the packet dropped, still does */
static void act_and_drop(struct eval *x, const struct chain_rule *r, unsigned int i)
{
	struct eval_pkt *e = &x->s->v[i];
	int verdict = IPT_DROP;

	chain_count(x->counters, r->index, eval_bytes(e->m));
	if (unlikely(x->traced))
		chain_trace(x->t, &x->c, e->chain, e->pos);
	if (r->verdict == IPT_TARGET) {
		verdict = r->target->run(&x->c, &r->rule->target, r->target_state);
		e->m = x->c.m;
	}
	if (verdict == IPT_STOLEN)
		finish(x, i, verdict);
	else
		drop_at_once(x, i);
}

/* packet @i at the rule that was found for it, or behind the last one */
static void step(struct eval *x, unsigned int i, uint32_t label)
{
	struct eval_pkt *e = &x->s->v[i];
	const struct chain_rule *r;

	if (label == SL_CLS_MISS) {
		if (unlikely(x->traced) && !x->chain->text->builtin)
			trace(x, i, e->chain, x->chain->n);
		go_back(x, i);
		return;
	}
	e->pos = label;
	r = &x->chain->rules[label];
	if (unlikely(is_without(x, r, i))) {
		e->pos = behind_run(x, r, i);
		return;
	}
	if (unlikely(r->flags & CHAIN_ORDERED) && x->todo & ((UINT64_C(1) << i) - 1))
		return;
	point(x, i);
	chain_aim(r, &x->c, e);
	if (!rest_holds(x, r, i)) {
		if (unlikely(x->c.hotdrop))
			drop_at_once(x, i);
		else
			e->pos++;
	} else if (unlikely(x->c.hotdrop)) {
		act_and_drop(x, r, i);
	} else {
		act(x, r, i);
	}
}

/*
 * The first rule at or behind the packet's place whose lead holds, without a look-up: as far as
 * rules are open, or to the end. Return: a label, or SL_CLS_MISS; *found is false if a look-up
 * from e->pos has to tell.
 */
static uint32_t walk(struct eval *x, unsigned int i, bool to_end, bool *found)
{
	struct eval_pkt *e = &x->s->v[i];

	*found = true;
	while (e->pos < x->chain->n) {
		const struct chain_rule *r = &x->chain->rules[e->pos];

		if (is_without(x, r, i)) {
			e->pos = behind_run(x, r, i);
			continue;
		}
		/* engines do not hold the front: whoever was not put through it tests it here */
		if (!to_end && !(r->flags & CHAIN_OPEN) && e->pos >= x->chain->n_front) {
			*found = false;
			return SL_CLS_MISS;
		}
		if (((r->flags & CHAIN_OPEN) && is_exact(r, e)) || lead_holds(x, r, i))
			return e->pos;
		e->pos++;
	}
	return SL_CLS_MISS;
}

/* the keys of the wave in a row */
static const void *gather(struct eval_scratch *s, bool v4, unsigned int n)
{
	/* all of the batch, in most cases: they are in a row */
	if (likely(s->at[n - 1] == n - 1))
		return v4 ? (const void *)s->key4 : (const void *)s->key6;
	for (unsigned int k = 0; k < n; k++) {
		if (v4)
			s->look4[k] = s->key4[s->at[k]];
		else
			s->look6[k] = s->key6[s->at[k]];
	}
	return v4 ? (const void *)s->look4 : (const void *)s->look6;
}

static void look_up(struct eval *x, const struct sl_cls *cls, unsigned int n)
{
	const struct sl_cls_verify v = { verify, x };
	struct eval_scratch *s = x->s;
	const void *keys = gather(s, x->prog->family == IPT_V4, n);
	uint32_t furthest = 0;

	for (unsigned int k = 0; k < n; k++) {
		s->from[k] = s->v[s->at[k]].pos;
		furthest |= s->from[k];
	}
	cls->ops->lookup(
			cls, keys, n, furthest <= x->chain->n_front ? NULL : s->from, &v, s->label);
}

/* of the packets that were looked up, those that no rule is for and that have nowhere to return to */
static uint64_t through(struct eval *x, unsigned int n)
{
	struct eval_scratch *s = x->s;
	uint64_t bytes = 0, which = 0;

	for (unsigned int k = 0; k < n; k++) {
		const struct eval_pkt *e = &s->v[s->at[k]];

		if (s->label[k] != SL_CLS_MISS || e->depth > 0)
			continue;
		bytes += eval_bytes(e->m);
		which |= UINT64_C(1) << s->at[k];
	}
	x->counters[x->base->policy_index].packets += (unsigned int)__builtin_popcountll(which);
	x->counters[x->base->policy_index].bytes += bytes;
	x->todo &= ~which;
	if (x->base->text->policy == IPT_ACCEPT)
		x->accepted |= which;
	else
		for (uint64_t rest = which; rest != 0; rest &= rest - 1)
			x->dropped[x->n_dropped++] = s->v[__builtin_ctzll(rest)].m;
	return which;
}

/* one step for every packet of @which, all of which stand in one chain and are of one kind */
static void wave(struct eval *x, uint64_t which, const struct sl_cls *cls)
{
	struct eval_scratch *s = x->s;
	uint32_t walked[SL_BURST];
	uint64_t found = 0;
	unsigned int n = 0, k = 0;

	for (uint64_t rest = which; rest != 0; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);
		bool here;

		walked[i] = walk(x, i, cls == NULL, &here);
		if (here)
			found |= UINT64_C(1) << i;
		else
			s->at[n++] = (uint8_t)i;
	}
	if (n > 0)
		look_up(x, cls, n);
	if (found == 0 && likely(!x->traced))
		which &= ~through(x, n);
	for (uint64_t rest = which; rest != 0; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		while (found == 0 && s->at[k] != i)
			k++;
		step(x, i, found >> i & 1 ? walked[i] : s->label[k++]);
	}
}

/* the packets of @todo that stand where its first one stands */
static uint64_t company(const struct eval *x, uint64_t todo)
{
	const struct eval_pkt *first = &x->s->v[__builtin_ctzll(todo)];
	uint64_t same = 0;

	if (likely(x->fresh && x->odd == 0))
		return todo;

	for (uint64_t rest = todo; rest != 0; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		same |= (uint64_t)(x->s->v[i].chain == first->chain && x->s->v[i].odd == first->odd)
				<< i;
	}
	return same;
}

static void run(struct eval *x)
{
	while (x->todo != 0) {
		/* where a packet's targets change what matches of the next one see, and where a
		 * packet's way is told: one by one */
		uint64_t seen = 0, among = x->serial ? x->todo & -x->todo : x->todo;

		/* each once, in whatever chain it stands */
		for (uint64_t left = among; left != 0; left = among & ~seen) {
			uint64_t same = company(x, left);
			const struct eval_pkt *first = &x->s->v[__builtin_ctzll(left)];

			seen |= same;
			x->chain = &x->t->chains[first->chain];
			wave(x, same, first->odd ? x->chain->cls_odd : x->chain->cls);
			x->fresh = false;
		}
	}
}

/* the target of a leading rule, which all of @held go on behind */
static void front_target(struct eval *x, const struct chain_rule *r, uint64_t held)
{
	struct rte_mbuf *pkts[SL_BURST];
	unsigned int n = 0;

	for (; held != 0; held &= held - 1)
		pkts[n++] = x->s->v[__builtin_ctzll(held)].m;
	if (n > 0)
		r->target->run_bulk(pkts, n, &r->rule->target, r->target_state);
}

/* the leading rules, each over all packets that are left */
static void front(struct eval *x, unsigned int n)
{
	uint8_t states[SL_BURST];

	for (unsigned int i = 0; i < n; i++) {
		states[i] = ipt_ct_state(sl_pkt(x->s->v[i].m));
		x->s->v[i].pos = x->base->n_front;
	}
	for (uint32_t k = 0; k < x->base->n_front && x->todo != 0; k++) {
		const struct chain_front *f = &x->base->front[k];
		struct ipt_counters *c = &x->counters[x->base->rules[k].index];
		uint64_t held = 0;

		for (uint64_t rest = x->todo; rest != 0; rest &= rest - 1) {
			unsigned int i = (unsigned int)__builtin_ctzll(rest);
			const struct eval_pkt *e = &x->s->v[i];

			if ((f->states & states[i]) == 0
					|| (f->in >> e->in & f->out >> e->out & 1) == 0)
				continue;
			held |= UINT64_C(1) << i;
			c->bytes += eval_bytes(e->m);
			if (f->verdict == IPT_DROP)
				x->dropped[x->n_dropped++] = e->m;
		}
		c->packets += (unsigned int)__builtin_popcountll(held);
		if (f->verdict == IPT_TARGET) {
			front_target(x, &x->base->rules[k], held);
			continue;
		}
		x->todo &= ~held;
		x->accepted |= f->verdict == IPT_ACCEPT ? held : 0;
	}
}

/* the policy for all packets that are left, where the chain has no rule behind its front */
static void front_policy(struct eval *x)
{
	struct ipt_counters *c = &x->counters[x->base->policy_index];
	bool accept = x->base->text->policy == IPT_ACCEPT;

	c->packets += (unsigned int)__builtin_popcountll(x->todo);
	x->accepted |= accept ? x->todo : 0;
	for (uint64_t rest = x->todo; rest != 0; rest &= rest - 1) {
		struct rte_mbuf *m = x->s->v[__builtin_ctzll(rest)].m;

		c->bytes += eval_bytes(m);
		if (!accept)
			x->dropped[x->n_dropped++] = m;
	}
	x->todo = 0;
}

static uint32_t find_base(const struct chain_table *t, enum ipt_hook hook)
{
	uint32_t i = 0;

	while (!t->text->chains[i].builtin || t->text->chains[i].hook != hook)
		i++;
	return i;
}

uint64_t ipt_prog_run(const struct ipt_prog *prog, enum ipt_table_id table, enum ipt_hook hook,
		struct sl_worker *w, struct rte_mbuf **pkts, unsigned int n)
{
	const struct chain_table *t = &prog->tables[table];
	uint32_t base = find_base(t, hook);
	struct eval x = {
		.prog = prog,
		.t = t,
		.s = t->scratch[w->id],
		.counters = prog->counters[w->id],
		.base = &t->chains[base],
		.c = eval_ctx(prog, table, hook, w),
		.fresh = true,
		.traced = t->traces,
		.todo = UINT64_MAX >> (64 - n),
	};

	if (t->patterns != NULL)
		x.found = ipt_patterns_begin(t->patterns, w->id, n, &x.found_words);
	for (unsigned int i = 0; i < n; i++) {
		eval_pkt_start(&x.s->v[i], prog, hook, pkts[i]);
		x.s->v[i].chain = base;
		x.traced |= (sl_pkt(pkts[i])->flags & (SL_PKT_TRACE | SL_PKT_WATCHED)) != 0;
	}
	/* a trace tells of every rule */
	if (x.base->n_front > 0 && !x.traced) {
		front(&x, n);
		if (x.base->n_front == x.base->n)
			front_policy(&x);
	}
	for (uint64_t rest = x.todo; rest != 0; rest &= rest - 1) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		x.odd |= (uint64_t)x.s->v[i].odd << i;
		make_key(&x, i);
	}
	x.serial = t->serial || x.traced;
	run(&x);
	for (unsigned int i = 0; i < n; i++)
		pkts[i] = x.s->v[i].m;
	if (x.n_dropped > 0)
		sl_drop_bulk(w, x.dropped, x.n_dropped, SL_DROP_RULE);
	return x.accepted;
}

void ipt_prog_count_policy(const struct ipt_prog *prog, enum ipt_table_id table, enum ipt_hook hook,
		struct sl_worker *w, uint64_t packets, uint64_t bytes)
{
	const struct chain_table *t = &prog->tables[table];
	struct ipt_counters *c = &prog->counters[w->id][t->chains[find_base(t, hook)].policy_index];

	c->packets += packets;
	c->bytes += bytes;
}
