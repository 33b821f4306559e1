/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipt_rule.c - the words of a rule line
 *
 * Words are taken from left to right. A word that begins with a dash is an option of iptables itself,
 * of a match that was loaded before it (the last one first), or of the target. Long options may be cut
 * as long as only one fits. An option that nothing knows loads the match of the protocol (-p tcp
 * --dport 22). `!` stands before an option; in dumps of iptables before 1.4.3 it stands behind it, which
 * is taken where the option can be inverted at all.
 */
#include "config/ipt_rule.h"

#include "config/ipt_arena.h"
#include "config/ipt_line.h"

#include <netinet/in.h>
#include <string.h>

/* which the rule may have only once, and which of them may stand behind `!` */
static const char once[] = "sdpiojfcg";
static const char invertible[] = "sdpiof";

/* ---- one option ---- */

static int ext_option(struct ipt_line *l, struct ipt_inst *in, const struct ipt_opt *o,
		const char *arg, bool inv)
{
	struct ipt_ctx *cx = l->cx;

	if (inv && !(o->flags & IPT_O_INV))
		return ipt_fail(cx, "--%s cannot stand behind !", o->name);
	if ((in->seen & o->bit) && !(o->flags & IPT_O_REPEAT))
		return ipt_fail(cx, "--%s given twice", o->name);
	in->seen |= o->bit;
	if ((o->flags & IPT_O_ONLY_INV) && !inv)
		return 0; /* without ! it says what is the case anyway */
	in->set |= o->bit;
	if (inv)
		in->inv |= o->bit;
	return o->type->parse(cx, in, o, arg, inv);
}

static int set_command(struct ipt_line *l, char letter, const char *arg)
{
	static const char letters[] = "AIDRCNXFZEP";
	static const enum ipt_command commands[] = { IPT_C_APPEND, IPT_C_INSERT, IPT_C_DELETE,
		IPT_C_REPLACE, IPT_C_CHECK, IPT_C_NEW, IPT_C_REMOVE, IPT_C_FLUSH, IPT_C_ZERO,
		IPT_C_RENAME, IPT_C_POLICY };
	struct ipt_parsed *p = l->p;
	const char *word;
	uint64_t n;

	if (p->command != IPT_C_NONE)
		return ipt_fail(l->cx, "a second command -%c", letter);
	p->command = commands[strchr(letters, letter) - letters];
	p->chain = arg != NULL ? arg : ipt_next_arg(l->cx);
	switch (p->command) {
	case IPT_C_RENAME:
	case IPT_C_POLICY:
		p->arg = ipt_next_arg(l->cx);
		if (p->arg == NULL)
			return ipt_fail(l->cx, "-%c %s: a second word was expected", letter,
					p->chain);
		return 0;
	case IPT_C_INSERT:
	case IPT_C_DELETE:
	case IPT_C_REPLACE:
		word = ipt_next_arg(l->cx);
		if (word == NULL && p->command != IPT_C_REPLACE)
			return 0;
		if (word == NULL || !ipt_number(word, NULL, &n, 1, INT32_MAX))
			return ipt_fail(l->cx, "-%c %s: the number of a rule was expected", letter,
					p->chain);
		p->number = n;
		return 0;
	default:
		return 0;
	}
}

static int set_counters(struct ipt_line *l, const char *arg)
{
	struct ipt_counters *c = &l->p->rule.counters;
	const char *end, *bytes;

	if (!ipt_number(arg, &end, &c->packets, 0, UINT64_MAX) || (*end != '\0' && *end != ','))
		return ipt_fail(l->cx, "-c %s: two numbers were expected", arg);
	bytes = *end == ',' ? end + 1 : ipt_next_arg(l->cx);
	if (bytes == NULL || !ipt_number(bytes, NULL, &c->bytes, 0, UINT64_MAX))
		return ipt_fail(l->cx, "-c %s: two numbers were expected", arg);
	l->p->has_counters = true;
	return 0;
}

static int set_proto(struct ipt_line *l, const char *arg, bool inv)
{
	struct ipt_rule *r = &l->p->rule;

	if (ipt_parse_proto(l->cx, arg, &r->proto) < 0)
		return -EINVAL;
	if (inv && r->proto == 0)
		return ipt_fail(l->cx, "! -p %s never matches", arg);
	r->proto_inv = inv;
	r->proto_walk = l->cx->family == IPT_V6;
	return 0;
}

static int set_iface(struct ipt_line *l, struct ipt_iface *i, const char *arg, bool inv)
{
	if (ipt_parse_iface(l->cx, arg, i) < 0)
		return -EINVAL;
	i->inv = inv;
	return 0;
}

static int core_option(struct ipt_line *l, char letter, const char *arg, bool inv)
{
	const char *at = strchr(once, letter);
	struct ipt_rule *r = &l->p->rule;

	if (inv && strchr(invertible, letter) == NULL)
		return ipt_fail(l->cx, "-%c cannot stand behind !", letter);
	if (at != NULL && (l->seen & (1u << (at - once))))
		return ipt_fail(l->cx, "-%c given twice", letter);
	if (at != NULL)
		l->seen |= 1u << (at - once);
	switch (letter) {
	case 's':
		l->p->src = arg;
		r->src.inv = inv;
		return 0;
	case 'd':
		l->p->dst = arg;
		r->dst.inv = inv;
		return 0;
	case 'p':
		return set_proto(l, arg, inv);
	case 'i':
		return set_iface(l, &r->in, arg, inv);
	case 'o':
		return set_iface(l, &r->out, arg, inv);
	case 'f':
		if (l->cx->family == IPT_V6)
			return ipt_fail(l->cx, "-f is for IPv4, -m frag was expected");
		r->frag = inv ? IPT_FRAG_NOT_LATER : IPT_FRAG_LATER;
		return 0;
	case 'm':
		return ipt_line_match(l, arg);
	case 'j':
	case 'g':
		return ipt_line_jump(l, arg, letter == 'g');
	case 'c':
		return set_counters(l, arg);
	case '4':
	case '6':
		l->p->skip = l->p->skip || (letter == '4') != (l->cx->family == IPT_V4);
		return 0;
	case 'v':
		return 0;
	case 't':
		return ipt_fail(l->cx, "-t inside of a table");
	case 'A':
	case 'I':
	case 'D':
	case 'R':
	case 'C':
	case 'N':
	case 'X':
	case 'F':
	case 'Z':
	case 'E':
	case 'P':
		return set_command(l, letter, arg);
	}
	return ipt_fail(l->cx, "-%c has no place in a ruleset", letter);
}

/* ---- from word to word ---- */

/* The argument of an option, and the `!` of old dumps in front of it. */
static int take_arg(struct ipt_line *l, const char *name, const char *attached, bool can_invert,
		const char **arg, bool *inv)
{
	struct ipt_ctx *cx = l->cx;

	if (attached != NULL) {
		*arg = attached;
		return 0;
	}
	if (can_invert && !*inv && cx->pos + 1 < cx->n_words
			&& strcmp(cx->words[cx->pos], "!") == 0) {
		*inv = true;
		cx->pos++;
	}
	if (cx->pos >= cx->n_words)
		return ipt_fail(cx, "%s: an argument was expected", name);
	*arg = cx->words[cx->pos++];
	return 0;
}

/* The match that -p loads by itself; only once, and not if it is there. */
static const char *proto_match(struct ipt_line *l)
{
	const struct ipt_rule *r = &l->p->rule;
	const struct ipt_ext *ext;
	const char *name = NULL;

	switch (r->proto) {
	case IPPROTO_TCP:
		name = "tcp";
		break;
	case IPPROTO_UDP:
		name = "udp";
		break;
	case IPPROTO_UDPLITE:
		name = "udplite";
		break;
	case IPPROTO_ICMP:
		name = "icmp";
		break;
	case IPPROTO_ICMPV6:
		name = "icmp6";
		break;
	case IPPROTO_SCTP:
		name = "sctp";
		break;
	case IPPROTO_DCCP:
		name = "dccp";
		break;
	case IPPROTO_ESP:
		name = "esp";
		break;
	case IPPROTO_AH:
		name = "ah";
		break;
	case IPPROTO_MH:
		name = "mh";
		break;
	}
	ext = name != NULL ? ipt_match_find(name, l->cx->family) : NULL;
	if (ext == NULL || l->proto_loaded)
		return NULL;
	for (unsigned int i = 0; i < l->n_matches; i++)
		if (l->matches[i].ext == ext)
			return NULL;
	return name;
}

static int long_option(struct ipt_line *l, const char *word, bool inv)
{
	const char *name = word + 2, *eq = strchr(name, '='), *arg = NULL, *load;
	size_t len = eq != NULL ? (size_t)(eq - name) : strlen(name);
	bool ambiguous, can_invert;
	struct ipt_found f;
	int ret;

	f = ipt_option_find(l, name, len, &ambiguous);
	if (f.core == NULL && f.opt == NULL && (load = proto_match(l)) != NULL) {
		l->proto_loaded = true;
		ret = ipt_line_match(l, load);
		if (ret < 0)
			return ret;
		f = ipt_option_find(l, name, len, &ambiguous);
	}
	if (ambiguous)
		return ipt_fail(l->cx, "option \"%s\" fits more than one", word);
	if (f.core == NULL && f.opt == NULL)
		return ipt_fail(l->cx, "unknown option \"%s\"", word);
	if (f.core != NULL ? !f.core->has_arg : f.opt->type->no_arg) {
		if (eq != NULL)
			return ipt_fail(l->cx, "%s takes no argument", word);
	} else {
		can_invert = f.core != NULL ? strchr(invertible, f.core->letter) != NULL
					    : (f.opt->flags & IPT_O_INV) != 0;
		ret = take_arg(l, word, eq != NULL ? eq + 1 : NULL, can_invert, &arg, &inv);
		if (ret < 0)
			return ret;
	}
	if (f.core != NULL)
		return core_option(l, f.core->letter, arg, inv);
	return ext_option(l, f.in, f.opt, arg, inv);
}

static int short_options(struct ipt_line *l, const char *word, bool inv)
{
	const struct ipt_core_opt *c;
	const char *s, *arg;
	int ret;

	for (s = word + 1; *s != '\0'; s++) {
		c = ipt_option_letter(*s);
		if (c == NULL)
			return ipt_fail(l->cx, "unknown option \"-%c\"", *s);
		if (!c->has_arg) {
			ret = core_option(l, *s, NULL, inv);
			if (ret < 0)
				return ret;
			continue;
		}
		ret = take_arg(l, word, s[1] != '\0' ? s + 1 : NULL, strchr(invertible, *s) != NULL,
				&arg, &inv);
		return ret < 0 ? ret : core_option(l, *s, arg, inv);
	}
	return 0;
}

static int all_words(struct ipt_line *l)
{
	struct ipt_ctx *cx = l->cx;
	bool inv = false;
	const char *w;
	int ret;

	while (cx->pos < cx->n_words) {
		w = cx->words[cx->pos++];
		if (strcmp(w, "!") == 0) {
			if (inv)
				return ipt_fail(cx, "two ! one after the other");
			inv = true;
			continue;
		}
		if (strcmp(w, "--") == 0 && cx->pos == cx->n_words)
			break;
		if (w[0] != '-' || w[1] == '\0')
			return ipt_fail(cx, "bad argument \"%s\", an option was expected", w);
		ret = w[1] == '-' ? long_option(l, w, inv) : short_options(l, w, inv);
		if (ret < 0)
			return ret;
		if (l->p->skip)
			return 0;
		inv = false;
	}
	return inv ? ipt_fail(cx, "nothing stands behind the last !") : 0;
}

/* ---- the end of the line ---- */

static const char *name_of_bits(const struct ipt_ext *ext, uint32_t bits)
{
	const struct ipt_opt *o;

	for (o = ext->opts; o->name != NULL; o++)
		if ((o->bit & bits) && !(o->flags & IPT_O_QUIET))
			return o->name;
	for (o = ext->opts; o->name != NULL; o++)
		if (o->bit & bits)
			return o->name;
	return "?";
}

static int inst_finish(struct ipt_ctx *cx, struct ipt_inst *in)
{
	const struct ipt_ext *ext = in->ext;
	uint32_t have = in->seen | in->set;

	for (const struct ipt_opt *o = ext->opts; o != NULL && o->name != NULL; o++) {
		if (!(in->seen & o->bit))
			continue;
		if (in->seen & o->excl)
			return ipt_fail(cx, "%s: --%s and --%s exclude each other", ext->name,
					name_of_bits(ext, o->bit),
					name_of_bits(ext, in->seen & o->excl));
		if ((have & o->also) != o->also)
			return ipt_fail(cx, "%s: --%s needs --%s", ext->name, o->name,
					name_of_bits(ext, o->also & ~have));
	}
	if ((have & ext->need) != ext->need)
		return ipt_fail(cx, "%s: --%s was expected", ext->name,
				name_of_bits(ext, ext->need & ~have));
	if (ext->one_of != 0 && !(have & ext->one_of))
		return ipt_fail(cx, "%s: an option like --%s was expected", ext->name,
				name_of_bits(ext, ext->one_of));
	return ext->finish != NULL ? ext->finish(cx, in) : 0;
}

static int finish_matches(struct ipt_line *l)
{
	struct ipt_rule *r = &l->p->rule;
	struct ipt_match *m;

	if (l->n_matches == 0)
		return 0;
	m = ipt_arena_alloc(l->cx->arena, l->n_matches * sizeof(*m));
	if (m == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < l->n_matches; i++) {
		struct ipt_inst *in = &l->matches[i];
		int ret = inst_finish(l->cx, in);

		if (ret < 0)
			return ret;
		m[i] = (struct ipt_match){
			.kind = in->ext->kind,
			.set = in->set,
			.inv = in->inv & in->set,
			.data = in->ext->size > 0 ? in->data : NULL,
		};
	}
	r->matches = m;
	r->n_matches = l->n_matches;
	return 0;
}

static int finish_target(struct ipt_line *l)
{
	struct ipt_target *t = &l->p->rule.target;
	struct ipt_inst *in = &l->target;
	int ret;

	if (in->ext == NULL)
		return 0;
	ret = inst_finish(l->cx, in);
	if (ret < 0)
		return ret;
	*t = (struct ipt_target){
		.verdict = IPT_TARGET,
		.kind = in->ext->kind,
		.set = in->set,
		.data = in->ext->size > 0 ? in->data : NULL,
	};
	return 0;
}

/* By name, as iptables does: a chain of that name, whatever is reached from it. */
static int check_ifaces(struct ipt_line *l)
{
	const struct ipt_rule *r = &l->p->rule;
	const char *chain = l->p->chain;

	if (r->out.given && (strcmp(chain, "PREROUTING") == 0 || strcmp(chain, "INPUT") == 0))
		return ipt_fail(l->cx, "-o in chain %s, where there is no output interface", chain);
	if (r->in.given && (strcmp(chain, "POSTROUTING") == 0 || strcmp(chain, "OUTPUT") == 0))
		return ipt_fail(l->cx, "-i in chain %s, where there is no input interface", chain);
	return 0;
}

int ipt_rule_parse(struct ipt_ctx *cx, const struct ipt_chains *chains, struct ipt_parsed *p)
{
	struct ipt_line l = { .cx = cx, .chains = chains, .p = p };
	int ret;

	*p = (struct ipt_parsed){ 0 };
	cx->rule = &p->rule;
	ret = all_words(&l);
	if (ret < 0 || p->skip)
		return ret;
	if (p->command == IPT_C_NONE)
		return ipt_fail(cx, "no command, -A was expected");
	switch (p->command) {
	case IPT_C_APPEND:
	case IPT_C_INSERT:
	case IPT_C_DELETE:
	case IPT_C_REPLACE:
	case IPT_C_CHECK:
		break;
	default:
		if (l.seen != 0 || l.n_matches > 0)
			return ipt_fail(cx, "options that this command does not take");
		return 0;
	}
	if ((ret = finish_matches(&l)) < 0 || (ret = finish_target(&l)) < 0)
		return ret;
	return check_ifaces(&l);
}

int ipt_rule_addr(struct ipt_ctx *cx, const char **list, struct ipt_net *net)
{
	char word[IPT_ARG_MAX + 1];
	size_t len;

	if (*list == NULL)
		return 0;
	len = strcspn(*list, ",");
	memcpy(word, *list, len);
	word[len] = '\0';
	if (ipt_parse_hostmask(cx, word, false, &net->addr, &net->mask) < 0)
		return -EINVAL;
	for (int i = 0; i < 4; i++)
		net->addr.w[i] &= net->mask.w[i];
	*list = (*list)[len] == ',' ? *list + len + 1 : NULL;
	return 1;
}
