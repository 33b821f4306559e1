/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the patterns of a table to databases: one for each stretch of the packet that rules name, which
 * is one for all in most tables.
 *
 * An expression is searched for in just the bytes that its rule names, since ^ and $ stand for their
 * ends: so it needs a pass over these. Strings join a pass that covers their bytes, or get one over
 * bytes that several rules name together: [20, 60) and [40, 100) make a pass over [20, 100), which
 * tells where each string was found; [900, 1000) makes another.
 *
 * A pass costs some 15 to 25 ns however short, and 43 ns over 1,400 bytes, where the simple search
 * takes 200 ns for one pattern of 21 bytes and 1,400 ns for one of 3. What that search would save, for
 * few patterns in less than some 100 bytes, are 20 ns at most: so every pattern is here.
 *
 * Hyperscan, Wang et al., NSDI 2019.
 */
#include "classifier/patterns_build.h"

#include "classifier/chain.h"
#include "lib/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

SL_LOG_TYPE("rules");

/* stretches that are no further apart share a pass: its start costs as much as so many bytes */
#define GAP 256
/* of one byte as an expression: [\xc0\xe0] */
#define BYTE_TEXT_MAX 12

struct source {
	const struct chain_rule *rule;
	const struct ipt_match *match;
	struct ipt_pattern *state;
	uint32_t from, to, pass; /* no pass: IPT_PASSES_MAX */
	char *text; /* of a string; the rule has that of an expression */
};

struct making {
	const char *path;
	struct ipt_patterns *p;
	struct source *v;
	uint32_t n;
	ipt_note_fn note;
	void *note_arg;
	uint32_t held;
};

static bool is_pattern(const struct ipt_match *m)
{
	return m->kind == IPT_M_STRING || m->kind == IPT_M_REGEX;
}

const struct ipt_pattern *ipt_pattern_needed(const struct chain_match *m)
{
	/* only the pattern itself can stand behind `!` */
	return is_pattern(m->match) && m->match->inv == 0 ? m->state : NULL;
}

static void put_source(struct source *s, const struct chain_rule *rule, struct chain_match *m)
{
	*s = (struct source){
		.rule = rule, .match = m->match, .state = m->state, .pass = IPT_PASSES_MAX
	};
	if (m->match->kind == IPT_M_STRING) {
		const struct ipt_m_string *string = m->match->data;

		s->from = string->from;
		s->to = string->to;
	} else {
		const struct ipt_m_regex *regex = m->match->data;

		s->from = regex->from;
		s->to = regex->to;
	}
}

/* all patterns in the order of the rules, or (@v is NULL) how many there are */
static uint32_t collect(const struct chain_table *t, struct source *v, struct needle *needles)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->text->n_chains; i++)
		for (uint32_t k = 0; k < t->chains[i].n; k++) {
			const struct chain_rule *rule = &t->chains[i].rules[k];

			for (uint16_t j = 0; j < rule->n_matches; j++) {
				if (!is_pattern(rule->matches[j].match))
					continue;
				if (v != NULL) {
					put_source(&v[n], rule, &rule->matches[j]);
					needles[n].pos = k;
				}
				n++;
			}
		}
	return n;
}

static void tell(const struct making *b, const struct source *s, const char *why)
{
	char text[320];

	snprintf(text, sizeof(text), "%s: searched by itself, not together with others: %s",
			s->match->kind == IPT_M_STRING ? "string" : "regex", why);
	SL_LOG(WARNING, "%s:%u: %s", b->path, s->rule->rule->line, text);
	if (b->note != NULL)
		b->note(b->note_arg, s->rule->rule->line, text);
}

static uint32_t find_pass(const struct ipt_patterns *p, uint32_t from, uint32_t to, bool exact)
{
	uint32_t i;

	for (i = 0; i < p->n_passes; i++) {
		const struct pattern_pass *pass = &p->passes[i];

		if (exact ? pass->from == from && pass->to == to
			  : pass->from <= from && pass->to >= to)
			return i;
	}
	return IPT_PASSES_MAX;
}

static uint32_t add_pass(struct ipt_patterns *p, uint32_t from, uint32_t to)
{
	if (p->n_passes == IPT_PASSES_MAX)
		return IPT_PASSES_MAX;
	p->passes[p->n_passes] = (struct pattern_pass){ .from = from, .to = to };
	return p->n_passes++;
}

static int by_from(const void *a, const void *b)
{
	const struct source *const *x = a, *const *y = b;

	return ((*x)->from > (*y)->from) - ((*x)->from < (*y)->from);
}

/* strings that no stretch of bytes has room for are in no packet: the simple search says so at once */
static bool has_room(const struct source *s)
{
	const struct ipt_m_string *m = s->match->data;

	return s->match->kind == IPT_M_STRING && s->to >= s->from + m->len;
}

/* a pass for strings whose bytes lie together */
static void cover(struct ipt_patterns *p, struct source **v, uint32_t n, uint32_t to)
{
	uint32_t pass = find_pass(p, v[0]->from, to, false);

	if (pass == IPT_PASSES_MAX)
		pass = add_pass(p, v[0]->from, to);
	for (uint32_t i = 0; i < n; i++)
		v[i]->pass = pass;
}

static int assign_passes(struct making *b)
{
	struct source **strings = calloc(b->n, sizeof(struct source *));
	uint32_t n = 0, start = 0, to;

	if (strings == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n; i++) {
		struct source *s = &b->v[i];

		if (has_room(s))
			strings[n++] = s;
		if (s->match->kind != IPT_M_REGEX)
			continue;
		s->pass = find_pass(b->p, s->from, s->to, true);
		if (s->pass == IPT_PASSES_MAX)
			s->pass = add_pass(b->p, s->from, s->to);
	}
	qsort(strings, n, sizeof(struct source *), by_from);
	to = n > 0 ? strings[0]->to : 0;
	for (uint32_t i = 1; i <= n; i++) {
		if (i == n || strings[i]->from > to + GAP) {
			cover(b->p, &strings[start], i - start, to);
			start = i;
		}
		if (i < n)
			to = i == start ? strings[i]->to : RTE_MAX(to, strings[i]->to);
	}
	free(strings);
	for (uint32_t i = 0; i < b->n; i++)
		if (b->v[i].pass == IPT_PASSES_MAX
				&& (b->v[i].match->kind == IPT_M_REGEX || has_room(&b->v[i])))
			tell(b, &b->v[i], "more than 32 stretches of a packet are named");
	return 0;
}

/* every byte of a packet that counts as @b: Hyperscan knows the cases of ASCII only */
static int put_folded(char *at, uint8_t b)
{
	int n = sprintf(at, "[");

	for (unsigned int k = 0; k < 256; k++)
		if (ipt_string_upper((uint8_t)k) == ipt_string_upper(b))
			n += sprintf(at + n, "\\x%02x", k);
	return n + sprintf(at + n, "]");
}

static bool is_ascii(const struct ipt_m_string *m)
{
	for (unsigned int i = 0; i < m->len; i++)
		if (m->pattern[i] > 0x7f)
			return false;
	return true;
}

static char *string_text(const struct ipt_m_string *m, bool folded)
{
	char *text = malloc(m->len * (size_t)BYTE_TEXT_MAX + 1), *at = text;

	for (unsigned int i = 0; text != NULL && i < m->len; i++)
		at += folded ? put_folded(at, m->pattern[i])
			     : sprintf(at, "\\x%02x", m->pattern[i]);
	return text;
}

/* the expression of a pattern. Return: its flags, or -ENOMEM */
static int describe(const struct ipt_patterns *p, struct source *s, struct needle *needle,
		const char **text)
{
	const struct ipt_m_string *m = s->match->data;
	int flags = HS_FLAG_DOTALL;
	bool icase;

	if (s->match->kind == IPT_M_REGEX) {
		const struct ipt_m_regex *regex = s->match->data;

		*text = regex->pattern;
		flags |= HS_FLAG_SINGLEMATCH;
		return flags | (s->match->set & IPT_REGEX_ICASE ? HS_FLAG_CASELESS : 0);
	}
	*needle = (struct needle){ m->from, m->to, m->len, needle->pos };
	icase = (s->match->set & IPT_STRING_ICASE) != 0;
	s->text = string_text(m, icase && !is_ascii(m));
	if (s->text == NULL)
		return -ENOMEM;
	*text = s->text;
	flags |= icase && is_ascii(m) ? HS_FLAG_CASELESS : 0;
	/* the first one that ends is the first one to fit */
	return flags | (m->from == p->passes[s->pass].from ? HS_FLAG_SINGLEMATCH : 0);
}

/* what Hyperscan is handed; patterns that turn out not to fit are taken out */
struct handed {
	uint32_t n;
	const char **text;
	unsigned int *flags, *bit;
	uint32_t *source;
};

static void free_handed(struct handed *h)
{
	free(h->text);
	free(h->flags);
	free(h->bit);
	free(h->source);
}

static int hand(struct making *b, uint32_t pass, struct handed *h)
{
	h->text = calloc(b->n, sizeof(char *));
	h->flags = calloc(b->n, sizeof(*h->flags));
	h->bit = calloc(b->n, sizeof(*h->bit));
	h->source = calloc(b->n, sizeof(*h->source));
	if (h->text == NULL || h->flags == NULL || h->bit == NULL || h->source == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->n; i++) {
		int flags;

		if (b->v[i].pass != pass)
			continue;
		flags = describe(b->p, &b->v[i], &b->p->needles[i], &h->text[h->n]);
		if (flags < 0)
			return flags;
		h->flags[h->n] = (unsigned int)flags;
		h->bit[h->n] = PATTERNS_FIRST_BIT + i;
		h->source[h->n++] = i;
	}
	return 0;
}

static void take_out(const struct making *b, struct handed *h, uint32_t i, const char *why)
{
	tell(b, &b->v[h->source[i]], why);
	h->n--;
	h->text[i] = h->text[h->n];
	h->flags[i] = h->flags[h->n];
	h->bit[i] = h->bit[h->n];
	h->source[i] = h->source[h->n];
}

static void compile(const struct making *b, struct handed *h, struct pattern_pass *pass)
{
	while (h->n > 0) {
		hs_compile_error_t *error = NULL;
		uint32_t bad;
		const char *why;

		if (hs_compile_multi(h->text, h->flags, h->bit, h->n, HS_MODE_BLOCK, NULL,
				    &pass->db, &error)
				== HS_SUCCESS)
			break;
		why = error == NULL ? "Hyperscan failed" : error->message;
		bad = error == NULL || error->expression < 0 ? h->n : (uint32_t)error->expression;
		if (bad < h->n)
			take_out(b, h, bad, why);
		else
			while (h->n > 0)
				take_out(b, h, h->n - 1, why);
		hs_free_compile_error(error);
	}
	pass->n = h->n;
}

static int make_pass(struct making *b, uint32_t pass)
{
	struct handed h = { 0 };
	int ret = hand(b, pass, &h);

	if (ret == 0) {
		compile(b, &h, &b->p->passes[pass]);
		for (uint32_t i = 0; i < h.n; i++)
			*b->v[h.source[i]].state = (struct ipt_pattern){ h.bit[i], pass };
		b->held += h.n;
	}
	free_handed(&h);
	return ret;
}

static int add_scratch(hs_scratch_t **scratch, const hs_database_t *db)
{
	return hs_alloc_scratch(db, scratch) == HS_SUCCESS ? 0 : -ENOMEM;
}

static int make_worker(const struct making *b, struct pattern_worker *w)
{
	int ret = 0;

	w->found = calloc((size_t)b->p->words * SL_BURST, sizeof(*w->found));
	w->copy = malloc(UINT16_MAX);
	if (w->found == NULL || w->copy == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; ret == 0 && i < b->p->n_passes; i++)
		if (b->p->passes[i].db != NULL)
			ret = add_scratch(&w->scratch, b->p->passes[i].db);
	for (uint32_t i = 0; ret == 0 && i < b->n; i++)
		if (b->v[i].match->kind == IPT_M_REGEX)
			ret = add_scratch(&w->scratch, ipt_regex_db(b->v[i].state));
	return ret;
}

/* rules in a row that do not hold without a pattern of the same pass: see ipt_patterns_next() */
static void link_runs(struct chain *c)
{
	for (uint32_t k = c->n; k-- > 0;) {
		struct chain_rule *r = &c->rules[k];
		const struct chain_rule *next = k + 1 < c->n ? r + 1 : NULL;
		const struct ipt_pattern *p = NULL;

		for (uint16_t i = 0; p == NULL && i < r->n_lead; i++) {
			p = ipt_pattern_needed(&r->matches[i]);
			p = p != NULL && p->bit != 0 ? p : NULL;
		}
		if (p == NULL)
			continue;
		r->needle = p->bit;
		r->needle_pass = p->pass;
		r->run_end = k + 1;
		r->run_bits = p->bit + 1;
		if (next != NULL && next->needle != 0 && next->needle_pass == p->pass) {
			r->run_end = next->run_end;
			r->run_bits = next->run_bits;
		}
	}
}

static void summarise(const struct making *b, const struct ipt_table *table)
{
	char text[160];

	if (b->note == NULL)
		return;
	for (uint32_t i = 0; i < b->n; i++)
		if (b->v[i].match->kind == IPT_M_REGEX)
			b->note(b->note_arg, b->v[i].rule->rule->line,
					"regex is sluice's own: the kernel has no such match");
	snprintf(text, sizeof(text),
			"table %s: %u of %u patterns are searched for together, by %u Hyperscan "
			"database%s",
			chain_table_names[table->id], b->held, b->n, b->p->n_passes,
			b->p->n_passes == 1 ? "" : "s");
	b->note(b->note_arg, 0, text);
}

static int make(struct making *b, struct chain_table *t, unsigned int n_workers)
{
	int ret;

	b->v = calloc(b->n, sizeof(*b->v));
	b->p->needles = calloc(b->n, sizeof(*b->p->needles));
	if (b->v == NULL || b->p->needles == NULL)
		return -ENOMEM;
	collect(t, b->v, b->p->needles);
	b->p->words = (PATTERNS_FIRST_BIT + b->n + 63) / 64;
	ret = assign_passes(b);
	for (uint32_t i = 0; ret == 0 && i < b->p->n_passes; i++)
		ret = make_pass(b, i);
	for (unsigned int i = 0; ret == 0 && i < n_workers; i++)
		ret = make_worker(b, &b->p->worker[i]);
	for (uint32_t i = 0; ret == 0 && i < t->text->n_chains; i++)
		link_runs(&t->chains[i]);
	if (ret == 0)
		summarise(b, t->text);
	return ret;
}

int ipt_patterns_build(struct chain_table *t, const struct ipt_ruleset *rs, unsigned int n_workers,
		ipt_note_fn note, void *note_arg, struct ipt_patterns **out)
{
	struct making b = {
		.path = rs->path, .n = collect(t, NULL, NULL), .note = note, .note_arg = note_arg
	};
	int ret;

	*out = NULL;
	if (b.n == 0)
		return 0;
	b.p = calloc(1, sizeof(*b.p));
	if (b.p == NULL)
		return -ENOMEM;
	ret = make(&b, t, n_workers);
	for (uint32_t i = 0; b.v != NULL && i < b.n; i++)
		free(b.v[i].text);
	free(b.v);
	if (ret == 0)
		*out = b.p;
	else
		ipt_patterns_free(b.p);
	return ret;
}

void ipt_patterns_free(struct ipt_patterns *p)
{
	if (p == NULL)
		return;
	for (unsigned int i = 0; i < SL_WORKERS_MAX; i++) {
		hs_free_scratch(p->worker[i].scratch);
		free(p->worker[i].found);
		free(p->worker[i].copy);
	}
	for (uint32_t i = 0; i < p->n_passes; i++)
		hs_free_database(p->passes[i].db);
	free(p->needles);
	free(p);
}
