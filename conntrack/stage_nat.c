/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first packet of a connection asks the nat table, all others are rewritten by what it said, as
 * nf_nat_inet_fn(). Of several first packets in one batch only one asks.
 */
#include "conntrack/stage_nat.h"

#include "classifier/stage_ruleset.h"
#include "conntrack/nat.h"
#include "conntrack/related.h"
#include "lib/ip.h"
#include "lib/worker.h"

#include <errno.h>
#include <stdlib.h>

struct nat {
	struct ct_table *table;
	const struct ipt_prog *prog[IPT_FAMILY_NB];
	enum ipt_hook hook;
	enum ct_manip manip;
};

struct batch {
	struct sl_worker *w;
	struct ct_shard *s;
	const struct nat *nat;
	struct rte_mbuf **pkts;
	uint64_t on; /* packets that are still there */
};

static int nat_create(struct sl_router *r, const struct sl_stage_conf *conf, void **priv)
{
	const struct ct_nat_conf *c = (const void *)conf;
	struct nat *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return -ENOMEM;
	s->table = ct_table_get(r, &c->ct.ct);
	if (s->table == NULL || ct_nat_prepare(s->table) < 0) {
		free(s);
		return -ENOMEM;
	}
	memcpy(s->prog, c->prog, sizeof(s->prog));
	while (ipt_stage_hook(s->hook) != conf->hook)
		s->hook++;
	s->manip = s->hook == IPT_PREROUTING || s->hook == IPT_OUTPUT ? CT_MANIP_DST : CT_MANIP_SRC;
	*priv = s;
	return 0;
}

static void nat_destroy(void *priv)
{
	free(priv);
}

static void drop(struct batch *b, unsigned int i)
{
	sl_drop(b->w, b->pkts[i], SL_DROP_NAT);
	b->on &= ~(UINT64_C(1) << i);
}

static enum ipt_family family_of(const struct sl_pkt *p)
{
	return p->family == SL_AF_INET ? IPT_V4 : IPT_V6;
}

/* whether the packet is a first one whose connection waits for the table's word on this side */
static bool is_asking(const struct batch *b, const struct sl_pkt *p)
{
	const struct ct_entry *e = ct_of(p);

	if (e == NULL || b->nat->prog[family_of(p)] == NULL || ct_nat_is_done(e, b->nat->manip))
		return false;
	if (p->ct_info == SL_CT_NEW)
		return true;
	return (p->ct_info == SL_CT_RELATED || p->ct_info == SL_CT_RELATED_REPLY) && !ct_is_icmp(p);
}

/* the table over packets of one family, each of another connection */
static void ask_family(struct batch *b, enum ipt_family family, uint64_t which)
{
	struct ct_entry *entries[SL_BURST];
	struct rte_mbuf *part[SL_BURST];
	unsigned int n = 0;
	uint64_t accepted;

	if (which == 0)
		return;
	for (uint64_t rest = which; rest != 0; rest &= rest - 1, n++) {
		part[n] = b->pkts[__builtin_ctzll(rest)];
		entries[n] = ct_of(sl_pkt(part[n]));
	}
	accepted = ipt_prog_run(b->nat->prog[family], IPT_NAT, b->nat->hook, b->w, part, n);
	n = 0;
	for (uint64_t rest = which; rest != 0; rest &= rest - 1, n++) {
		unsigned int i = (unsigned int)__builtin_ctzll(rest);

		entries[n]->status &= ~CT_NAT_PENDING;
		b->pkts[i] = part[n];
		if ((accepted >> n & 1) == 0)
			b->on &= ~(UINT64_C(1) << i);
		else if (!ct_nat_is_done(entries[n], b->nat->manip)
				&& !ct_nat_setup_null(b->w, b->s, entries[n], b->nat->manip))
			drop(b, i);
	}
}

/* packets of @rest that ask now: one of each connection */
static uint64_t pick(struct batch *b, uint64_t rest, uint64_t which[IPT_FAMILY_NB])
{
	uint64_t picked = 0;

	for (; rest != 0; rest &= rest - 1) {
		const struct sl_pkt *p = sl_pkt(b->pkts[__builtin_ctzll(rest)]);
		struct ct_entry *e = ct_of(p);

		if (likely(!is_asking(b, p)) || e->status & CT_NAT_PENDING)
			continue;
		e->status |= CT_NAT_PENDING;
		which[family_of(p)] |= rest & -rest;
		picked |= rest & -rest;
	}
	return picked;
}

/* again only for connections whose first packet was dropped, or that are bound no more */
static void ask(struct batch *b)
{
	uint64_t asked = 0, picked;

	do {
		uint64_t which[IPT_FAMILY_NB] = { 0 };

		picked = pick(b, b->on & ~asked, which);
		asked |= picked;
		for (unsigned int f = 0; f < IPT_FAMILY_NB; f++)
			ask_family(b, (enum ipt_family)f, which[f]);
	} while (unlikely(picked != 0));
}

/* MASQUERADE chose the address of the port by which the first packet left */
static bool has_moved(const struct batch *b, const struct sl_pkt *p, const struct ct_entry *e)
{
	return unlikely(e->status & CT_MASQUERADED) && b->nat->hook == IPT_POSTROUTING
			&& ct_info_dir(p->ct_info) == CT_ORIGINAL && e->nat_port != p->out_port;
}

static void rewrite(struct batch *b, unsigned int i)
{
	struct rte_mbuf *m = b->pkts[i];
	struct sl_pkt *p = sl_pkt(m);
	struct ct_entry *e = ct_of(p);
	struct sl_addr dst;
	bool ok;

	if (e == NULL || b->nat->prog[family_of(p)] == NULL)
		return;
	dst = p->dst;
	if (unlikely((p->ct_info == SL_CT_RELATED || p->ct_info == SL_CT_RELATED_REPLY)
			    && ct_is_icmp(p))) {
		ok = ct_nat_icmp(m, e, b->nat->manip);
	} else if (has_moved(b, p, e)) {
		ct_kill(b->s, e);
		ok = false;
	} else {
		ok = ct_nat_packet(m, e, b->nat->manip);
	}
	if (unlikely(!ok))
		drop(b, i);
	else if (unlikely(b->nat->hook == IPT_OUTPUT) && !sl_addr_eq(&dst, &p->dst)
			&& !sl_reroute(b->w, m))
		b->on &= ~(UINT64_C(1) << i);
}

/*
 * The packets that something may have to be done about: those whose connection is not bound on this
 * side yet go into @asking; all of those, and those that are translated, into @writing. Of a bound
 * connection only the status is read.
 */
static void sort(const struct batch *b, unsigned int n, uint64_t *asking, uint64_t *writing)
{
	uint32_t done = b->nat->manip == CT_MANIP_SRC ? CT_SRC_NAT_DONE : CT_DST_NAT_DONE;
	uint32_t moves = b->nat->hook == IPT_POSTROUTING ? CT_MASQUERADED : 0;
	/* of replies the other side is written back: CT_SRC_NAT and CT_DST_NAT change places */
	unsigned int side = b->nat->manip == CT_MANIP_SRC ? 4 : 5;
	uint64_t ask_bits = 0, write_bits = 0;

	for (unsigned int i = 0; i < n; i++) {
		const struct sl_pkt *p = sl_pkt(b->pkts[i]);
		const struct ct_entry *e = ct_of(p);
		uint32_t status = e == NULL ? done : e->status;
		uint64_t asks = (status & done) == 0;
		uint64_t bound = status >> (side ^ (p->ct_info >= SL_CT_ESTABLISHED_REPLY)) & 1;

		ask_bits |= asks << i;
		write_bits |= (asks | bound | ((status & moves) != 0)
					      | (p->ct_info == SL_CT_RELATED)
					      | (p->ct_info == SL_CT_RELATED_REPLY))
				<< i;
	}
	static_assert(CT_SRC_NAT == 1U << 4 && CT_DST_NAT == 1U << 5, "as side is shifted");
	*asking = ask_bits;
	*writing = write_bits;
}

static unsigned int nat_process(
		struct sl_worker *w, void *priv, struct rte_mbuf **pkts, unsigned int n)
{
	const struct nat *nat = priv;
	struct batch b = {
		.w = w,
		.s = nat->table->shard[w->id],
		.nat = nat,
		.pkts = pkts,
		.on = UINT64_MAX >> (SL_BURST - n),
	};
	unsigned int survivors = 0;
	uint64_t asking, writing;

	sort(&b, n, &asking, &writing);
	if (unlikely(asking != 0)) {
		ask(&b);
		/* a connection that was bound now may have several packets here */
		writing = UINT64_MAX;
	}
	for (uint64_t rest = writing & b.on; rest != 0; rest &= rest - 1)
		rewrite(&b, (unsigned int)__builtin_ctzll(rest));
	if (likely(b.on == UINT64_MAX >> (SL_BURST - n)))
		return n;
	for (uint64_t rest = b.on; rest != 0; rest &= rest - 1)
		pkts[survivors++] = pkts[__builtin_ctzll(rest)];
	return survivors;
}

const struct sl_stage_ops sl_stage_dnat = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "dnat",
	.help = "iptables' nat table, destinations",
	.hooks = SL_HOOK_BIT(SL_HOOK_PREROUTING) | SL_HOOK_BIT(SL_HOOK_OUTPUT),
	.order = SL_ORDER_DNAT,
	.create = nat_create,
	.process = nat_process,
	.destroy = nat_destroy,
};

const struct sl_stage_ops sl_stage_snat = {
	.api_version = SL_STAGE_API_VERSION,
	.name = "snat",
	.help = "iptables' nat table, sources",
	.hooks = SL_HOOK_BIT(SL_HOOK_INPUT) | SL_HOOK_BIT(SL_HOOK_POSTROUTING),
	.order = SL_ORDER_SNAT,
	.create = nat_create,
	.process = nat_process,
	.destroy = nat_destroy,
};
