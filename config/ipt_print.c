/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_print.c - a ruleset as iptables-legacy-save prints it */
#include "config/ipt.h"
#include "config/ipt_ext.h"

#include <inttypes.h>
#include <string.h>

static void print_view(FILE *f, const struct ipt_ext *ext, const struct ipt_view *v)
{
	uint32_t done = 0;

	for (const struct ipt_opt *o = ext->opts; o != NULL && o->name != NULL; o++) {
		if (!(v->set & o->bit) || (done & o->bit) || (o->flags & IPT_O_QUIET))
			continue;
		done |= o->bit;
		fprintf(f, "%s --%s", v->inv & o->bit ? " !" : "", o->name);
		if (o->type->print != NULL)
			o->type->print(f, v, o);
	}
}

/* A mask of 0 that is not inverted is no test and not printed. */
static void print_net(FILE *f, enum ipt_family family, char letter, const struct ipt_net *n)
{
	int len = ipt_mask_len(family, &n->mask);

	if (ipt_addr_zero(&n->mask) && !n->inv)
		return;
	fprintf(f, "%s -%c ", n->inv ? " !" : "", letter);
	ipt_print_addr(f, family, &n->addr);
	fputc('/', f);
	if (len >= 0)
		fprintf(f, "%d", len);
	else
		ipt_print_addr(f, family, &n->mask);
}

/* iptables-save leaves `! -i +` out, and with it the rule's meaning; we do not. */
static void print_core_iface(FILE *f, char letter, const struct ipt_iface *i)
{
	if (!i->given || (i->wild && i->len == 0 && !i->inv))
		return;
	fprintf(f, "%s -%c ", i->inv ? " !" : "", letter);
	ipt_print_iface(f, i);
}

static void print_core(FILE *f, enum ipt_family family, const struct ipt_rule *r)
{
	const char *proto;

	print_net(f, family, 's', &r->src);
	print_net(f, family, 'd', &r->dst);
	print_core_iface(f, 'i', &r->in);
	print_core_iface(f, 'o', &r->out);
	if (r->proto != 0) {
		proto = ipt_proto_name(r->proto);
		fprintf(f, "%s -p ", r->proto_inv ? " !" : "");
		if (proto != NULL)
			fputs(proto, f);
		else
			fprintf(f, "%u", r->proto);
	}
	if (r->frag != IPT_FRAG_ANY)
		fputs(r->frag == IPT_FRAG_LATER ? " -f" : " ! -f", f);
}

static void print_target(FILE *f, enum ipt_family family, const struct ipt_table *table,
		const struct ipt_rule *r)
{
	static const char *const verdicts[] = { [IPT_ACCEPT] = "ACCEPT",
		[IPT_DROP] = "DROP",
		[IPT_QUEUE] = "QUEUE",
		[IPT_RETURN] = "RETURN" };
	const struct ipt_target *t = &r->target;
	const struct ipt_ext *ext;
	struct ipt_view v;

	switch ((enum ipt_verdict)t->verdict) {
	case IPT_CONTINUE:
		return;
	case IPT_ACCEPT:
	case IPT_DROP:
	case IPT_QUEUE:
	case IPT_RETURN:
		fprintf(f, " -j %s", verdicts[t->verdict]);
		return;
	case IPT_JUMP:
	case IPT_GOTO:
		fprintf(f, " -%c %s", t->verdict == IPT_JUMP ? 'j' : 'g',
				table->chains[t->chain].name);
		return;
	case IPT_TARGET:
		ext = ipt_target_by_kind(t->kind, family);
		v = (struct ipt_view){
			.family = family, .rule = r, .set = t->set, .data = t->data
		};
		fprintf(f, " -j %s", ext->name);
		print_view(f, ext, &v);
		return;
	}
}

void ipt_print_rule(FILE *f, const struct ipt_ruleset *rs, const struct ipt_table *table,
		const struct ipt_chain *chain, const struct ipt_rule *rule)
{
	enum ipt_family family = rs->family;

	fprintf(f, "-A %s", chain->name);
	print_core(f, family, rule);
	for (uint32_t i = 0; i < rule->n_matches; i++) {
		const struct ipt_match *m = &rule->matches[i];
		const struct ipt_ext *ext = ipt_match_by_kind(m->kind, family);
		struct ipt_view v = { family, rule, m->set, m->inv, m->data };

		fprintf(f, " -m %s", ext->name);
		print_view(f, ext, &v);
	}
	print_target(f, family, table, rule);
}

static void print_table(
		FILE *f, const struct ipt_ruleset *rs, const struct ipt_table *t, bool counters)
{
	fprintf(f, "*%s\n", ipt_table_name(t->id));
	for (uint32_t i = 0; i < t->n_chains; i++) {
		const struct ipt_chain *c = &t->chains[i];

		fprintf(f, ":%s %s [%" PRIu64 ":%" PRIu64 "]\n", c->name,
				!c->builtin                             ? "-"
						: c->policy == IPT_DROP ? "DROP"
									: "ACCEPT",
				c->counters.packets, c->counters.bytes);
	}
	for (uint32_t i = 0; i < t->n_chains; i++) {
		const struct ipt_chain *c = &t->chains[i];

		for (uint32_t k = 0; k < c->n_rules; k++) {
			const struct ipt_rule *r = &c->rules[k];

			if (counters)
				fprintf(f, "[%" PRIu64 ":%" PRIu64 "] ", r->counters.packets,
						r->counters.bytes);
			ipt_print_rule(f, rs, t, c, r);
			fputc('\n', f);
		}
	}
	fputs("COMMIT\n", f);
}

int ipt_print(FILE *f, const struct ipt_ruleset *rs, const char *table, bool counters)
{
	bool found = table == NULL;

	for (uint32_t i = 0; i < rs->n_tables; i++) {
		const struct ipt_table *t = &rs->tables[i];

		if (table != NULL && strcmp(ipt_table_name(t->id), table) != 0)
			continue;
		print_table(f, rs, t, counters);
		found = true;
	}
	if (!found)
		return -ENOENT;
	return fflush(f) == 0 && !ferror(f) ? 0 : -EIO;
}
