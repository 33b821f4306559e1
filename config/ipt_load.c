/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ipt_load.c - the file: tables, chain lines, rule lines, COMMIT; everything or nothing
 *
 * iptables-restore applies each table at its COMMIT and stops at the first error, which may leave the
 * first tables of a bad file in force. Here nothing is in force before all lines were read, so that the
 * reader goes on behind an error and reports every line that is wrong.
 */
#include "config/ipt.h"
#include "config/ipt_arena.h"
#include "config/ipt_build.h"
#include "config/ipt_check.h"
#include "config/ipt_lex.h"

#include <stdlib.h>
#include <string.h>

static const char *const table_names[] = {
	[IPT_RAW] = "raw",
	[IPT_MANGLE] = "mangle",
	[IPT_NAT] = "nat",
	[IPT_FILTER] = "filter",
	[IPT_SECURITY] = "security",
};

static const char *const hook_names[] = {
	[IPT_PREROUTING] = "PREROUTING",
	[IPT_INPUT] = "INPUT",
	[IPT_FORWARD] = "FORWARD",
	[IPT_OUTPUT] = "OUTPUT",
	[IPT_POSTROUTING] = "POSTROUTING",
};

const char *ipt_table_name(enum ipt_table_id id)
{
	return table_names[id];
}

const char *ipt_hook_name(enum ipt_hook hook)
{
	return hook_names[hook];
}

/* The state of one load. */
struct load {
	struct ipt_ctx cx;
	struct ipt_words words;
	struct ipt_ruleset *rs;
	struct ipt_build build; /* valid while in_table */
	bool in_table;
	bool skip_table; /* it has no name that we know: nothing in it is looked at */
};

/* ---- the lines of a table ---- */

static int find_chain(void *arg, const char *name, bool *builtin)
{
	struct ipt_build *b = arg;
	int i = ipt_build_find(b, name);

	if (i >= 0)
		*builtin = b->chains[i].builtin;
	return i;
}

/* "[packets:bytes]"; what stands behind is in *end */
static bool parse_counters(const char *s, const char **end, struct ipt_counters *c)
{
	if (*s != '[' || s[1] < '0' || s[1] > '9'
			|| !ipt_number(s + 1, &s, &c->packets, 0, UINT64_MAX) || *s != ':'
			|| s[1] < '0' || s[1] > '9'
			|| !ipt_number(s + 1, &s, &c->bytes, 0, UINT64_MAX) || *s != ']')
		return false;
	*end = s + 1;
	return true;
}

static struct ipt_table *old_table(struct ipt_ruleset *rs, enum ipt_table_id id)
{
	for (uint32_t i = 0; i < rs->n_tables; i++)
		if (rs->tables[i].id == id)
			return &rs->tables[i];
	return NULL;
}

/* A table that comes again begins empty, but for the policies that it had. */
static void keep_policies(struct ipt_build *b, const struct ipt_table *old)
{
	for (uint32_t i = 0; i < old->n_chains && old->chains[i].builtin; i++) {
		b->chains[i].policy = old->chains[i].policy;
		b->chains[i].counters = old->chains[i].counters;
	}
}

static int begin_table(struct load *l, const char *name)
{
	const struct ipt_table *old;
	int id, ret;

	l->in_table = true;
	for (id = 0; id < IPT_TABLE_NB && strcmp(table_names[id], name) != 0; id++)
		;
	l->skip_table = id == IPT_TABLE_NB;
	if (l->skip_table)
		return ipt_fail(&l->cx,
				"unknown table \"%s\", filter, nat, mangle, raw or security was "
				"expected",
				name);
	l->cx.table = id;
	ret = ipt_build_init(&l->build, id);
	if (ret < 0) {
		l->in_table = false;
		return ret;
	}
	old = old_table(l->rs, id);
	if (old != NULL)
		keep_policies(&l->build, old);
	return 0;
}

static int commit_table(struct load *l)
{
	struct ipt_table *t = NULL;
	int ret = 0;

	l->in_table = false;
	if (l->skip_table)
		return 0;
	t = old_table(l->rs, l->build.id);
	if (t == NULL)
		t = &l->rs->tables[l->rs->n_tables++];
	ret = ipt_build_finish(l->cx.arena, &l->build, t);
	if (ret == 0)
		ret = ipt_check_table(&l->cx, t);
	ipt_build_free(&l->build);
	return ret;
}

static int user_chain(struct load *l, const char *name, const char *policy)
{
	struct ipt_parsed p = { .command = IPT_C_NEW, .chain = name };

	if (strcmp(policy, "-") != 0)
		return ipt_fail(&l->cx, "chain %s of the user has policy %s, - was expected", name,
				policy);
	return ipt_build_line(&l->cx, &l->build, &p, NULL);
}

static int builtin_chain(struct load *l, struct ipt_bchain *c, const char *policy,
		const struct ipt_counters *counters)
{
	if (c->line != 0)
		return ipt_fail(&l->cx, "chain %s stands here a second time", c->name);
	c->line = l->cx.line;
	if (strcmp(policy, "ACCEPT") == 0)
		c->policy = IPT_ACCEPT;
	else if (strcmp(policy, "DROP") == 0)
		c->policy = IPT_DROP;
	else if (strcmp(policy, "-") != 0)
		return ipt_fail(&l->cx, "chain %s has policy %s, ACCEPT or DROP was expected",
				c->name, policy);
	if (strcmp(policy, "-") != 0)
		c->counters = l->cx.args->counters ? *counters : (struct ipt_counters){ 0 };
	return 0;
}

/* ":NAME POLICY [packets:bytes]", split at blanks without quotes */
static int chain_line(struct load *l, const char *line)
{
	struct ipt_counters counters = { 0 };
	char *copy = l->words.text, *name, *policy, *count, *save;
	const char *end;
	int i;

	if (strlen(line) > IPT_LINE_MAX)
		return ipt_fail(&l->cx, "line longer than %d bytes", IPT_LINE_MAX);
	strcpy(copy, line);
	name = strtok_r(copy, " \t", &save);
	policy = name != NULL ? strtok_r(NULL, " \t", &save) : NULL;
	count = policy != NULL ? strtok_r(NULL, " \t", &save) : NULL;
	if (policy == NULL)
		return ipt_fail(&l->cx, ":NAME POLICY [packets:bytes] was expected");
	if (count != NULL && (!parse_counters(count, &end, &counters) || *end != '\0'))
		return ipt_fail(&l->cx, "counters \"%s\", [packets:bytes] was expected", count);
	i = ipt_build_find(&l->build, name);
	if (i >= 0 && l->build.chains[i].builtin)
		return builtin_chain(l, &l->build.chains[i], policy, &counters);
	return user_chain(l, name, policy);
}

static int rule_line(struct load *l, const char *line, const char *text)
{
	struct ipt_chains chains = { find_chain, &l->build };
	struct ipt_counters counters = { 0 };
	struct ipt_parsed p;
	const char *wrong;
	int ret;

	if (*line == '[' && !parse_counters(line, &line, &counters))
		return ipt_fail(&l->cx, "[packets:bytes] was expected in front of the rule");
	wrong = ipt_lex(line, strlen(line), &l->words);
	if (wrong != NULL)
		return ipt_fail(&l->cx, "%s", wrong);
	l->cx.words = l->words.v;
	l->cx.n_words = l->words.n;
	l->cx.pos = 0;
	ret = ipt_rule_parse(&l->cx, &chains, &p);
	if (ret < 0 || p.skip)
		return ret;
	l->cx.rule = &p.rule;
	if (l->cx.args->counters && !p.has_counters)
		p.rule.counters = counters;
	return ipt_build_line(&l->cx, &l->build, &p, text);
}

/* ---- the lines of a file ---- */

static int outside_line(struct load *l, const char *line)
{
	if (line[0] == '*')
		return begin_table(l, line + 1);
	if (strcmp(line, "COMMIT") == 0)
		return ipt_fail(&l->cx, "COMMIT without a table");
	return ipt_fail(&l->cx, "a line outside of a table, *TABLE was expected");
}

static int one_line(struct load *l, const char *line, size_t len)
{
	size_t name_len;

	if (len > IPT_LINE_MAX)
		return ipt_fail(&l->cx, "line longer than %d bytes", IPT_LINE_MAX);
	if (strlen(line) != len)
		return ipt_fail(&l->cx, "NUL byte in the line");
	if (!l->in_table)
		return outside_line(l, line);
	if (strcmp(line, "COMMIT") == 0)
		return commit_table(l);
	if (l->skip_table)
		return 0;
	if (line[0] == '*') {
		name_len = strlen(line + 1);
		return ipt_fail(&l->cx, "table %.*s begins, COMMIT was expected before it",
				(int)name_len, line + 1);
	}
	if (line[0] == ':')
		return chain_line(l, line + 1);
	return rule_line(l, line, line);
}

static bool is_remark(const char *line)
{
	return line[0] == '\0' || line[0] == '#';
}

/* `text` is cut into lines in place. Return: 0, -EINVAL (reported), -ENOMEM. */
static int all_lines(struct load *l, char *text, size_t len)
{
	char *end = text + len, *eol;
	int ret = 0, one;

	for (char *line = text; line < end; line = eol + 1) {
		eol = memchr(line, '\n', end - line);
		if (eol == NULL)
			eol = end; /* the text is one byte longer, for this NUL */
		*eol = '\0';
		l->cx.line++;
		if (is_remark(line) && (size_t)(eol - line) == strlen(line)
				&& (size_t)(eol - line) <= IPT_LINE_MAX)
			continue;
		l->cx.failed = false;
		one = one_line(l, line, eol - line);
		for (char *nul = line; (nul = memchr(nul, '\0', eol - nul)) != NULL;)
			*nul = '?'; /* refused; the report walks the text from NUL to NUL */
		if (one == -ENOMEM)
			return one;
		if (one < 0)
			ret = one;
	}
	if (l->in_table) {
		l->cx.line++;
		ret = ipt_fail(&l->cx, "COMMIT was expected before the end of the file");
	}
	return ret;
}

static void number_rules(struct ipt_ruleset *rs)
{
	for (uint32_t i = 0; i < rs->n_tables; i++)
		for (uint32_t k = 0; k < rs->tables[i].n_chains; k++) {
			struct ipt_chain *c = &rs->tables[i].chains[k];

			if (c->builtin)
				c->policy_index = rs->n_policies++;
			for (uint32_t n = 0; n < c->n_rules; n++)
				c->rules[n].index = rs->n_rules++;
		}
}

/* ---- the report ---- */

static void report(const struct ipt_load *args, const struct ipt_errors *errors, const char *text,
		size_t len, uint32_t n_lines)
{
	const char **why = calloc(n_lines + 2, sizeof(*why));
	const char *end = text + len;
	size_t skip;
	uint32_t line = 0;

	if (why == NULL)
		return;
	for (size_t i = errors->n; i-- > 0;) {
		const struct ipt_error *e = &errors->v[i];

		if (e->line == 0 || e->line > n_lines + 1)
			continue;
		skip = snprintf(NULL, 0, "%s:%u: ", args->path, e->line);
		why[e->line] = e->text + skip; /* the first one of the line wins */
	}
	for (const char *s = text; s < end; s += strlen(s) + 1) {
		line++;
		if (!is_remark(s) || why[line] != NULL)
			args->line(args->line_arg, line, s, why[line]);
	}
	free(why);
}

/* ---- reading ---- */

/* The whole text, with room for one NUL behind it. */
int ipt_read_text(const struct ipt_load *args, struct ipt_arena *arena, char **text, size_t *len)
{
	size_t cap = 64 * 1024, got;
	char *buf = NULL, *more;
	FILE *f;
	int ret;

	if (args->text != NULL) {
		*len = args->text_len;
		*text = ipt_arena_strndup(arena, args->text, *len);
		return *text != NULL ? 0 : -ENOMEM;
	}
	f = fopen(args->path, "re");
	if (f == NULL)
		return -errno;
	*len = 0;
	do {
		cap *= 2;
		more = realloc(buf, cap);
		if (more == NULL) {
			ret = -ENOMEM;
			goto out;
		}
		buf = more;
		got = fread(buf + *len, 1, cap - *len, f);
		*len += got;
	} while (got > 0);
	ret = ferror(f) ? -EIO : 0;
	if (ret == 0) {
		*text = ipt_arena_strndup(arena, buf, *len);
		ret = *text != NULL ? 0 : -ENOMEM;
	}
out:
	free(buf);
	fclose(f);
	return ret;
}

int ipt_load(const struct ipt_load *args, struct ipt_ruleset **rs, struct ipt_errors *errors)
{
	struct ipt_arena *arena = ipt_arena_new();
	struct load *l = calloc(1, sizeof(*l));
	char *text = NULL;
	size_t len = 0;
	int ret = -ENOMEM;

	*errors = (struct ipt_errors){ 0 };
	if (arena == NULL || l == NULL)
		goto err;
	l->rs = ipt_arena_alloc(arena, sizeof(*l->rs));
	if (l->rs == NULL)
		goto err;
	ret = ipt_read_text(args, arena, &text, &len);
	if (ret < 0) {
		ipt_error_add(errors, args->path, 0, "%s", strerror(-ret));
		goto err;
	}
	l->rs->family = args->family;
	l->rs->path = ipt_arena_strndup(arena, args->path, strlen(args->path));
	l->rs->arena = arena;
	l->cx = (struct ipt_ctx){
		.args = args, .errors = errors, .arena = arena, .family = args->family
	};
	ret = all_lines(l, text, len);
	if (l->in_table && !l->skip_table)
		ipt_build_free(&l->build);
	if (args->line != NULL && ret != -ENOMEM)
		report(args, errors, text, len, l->cx.line);
	if (ret < 0)
		goto err;
	number_rules(l->rs);
	*rs = l->rs;
	free(l);
	return 0;

err:
	free(l);
	ipt_arena_free(arena);
	return ret;
}

void ipt_ruleset_free(struct ipt_ruleset *rs)
{
	if (rs != NULL)
		ipt_arena_free(rs->arena);
}
