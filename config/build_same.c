/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rules of a ruleset were in the one before: both are printed, sorted and walked together. */
#include "config/build_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct text {
	uint32_t index; /* of the rule */
	size_t at; /* of its text */
	const char *text;
};

struct texts {
	char *all;
	struct text *v;
	uint32_t n;
};

static int compare(const void *a, const void *b)
{
	const struct text *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static void print_chain(FILE *f, struct texts *t, const struct ipt_ruleset *rs,
		const struct ipt_table *table, const struct ipt_chain *chain)
{
	for (uint32_t i = 0; i < chain->n_rules; i++) {
		t->v[t->n].index = chain->rules[i].index;
		t->v[t->n++].at = (size_t)ftell(f);
		fprintf(f, "%u ", table->id);
		ipt_print_rule(f, rs, table, chain, &chain->rules[i]);
		fputc('\0', f);
	}
}

static int print_all(struct texts *t, const struct ipt_ruleset *rs)
{
	size_t len;
	FILE *f = open_memstream(&t->all, &len);
	int ret;

	if (f == NULL)
		return -ENOMEM;
	t->v = calloc(rs->n_rules + 1, sizeof(*t->v));
	for (uint32_t i = 0; t->v != NULL && i < rs->n_tables; i++)
		for (uint32_t k = 0; k < rs->tables[i].n_chains; k++)
			print_chain(f, t, rs, &rs->tables[i], &rs->tables[i].chains[k]);
	ret = t->v == NULL || ferror(f) ? -ENOMEM : 0;
	if (fclose(f) != 0 || ret < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n; i++)
		t->v[i].text = t->all + t->v[i].at;
	qsort(t->v, t->n, sizeof(*t->v), compare);
	return 0;
}

static void free_all(struct texts *t)
{
	free(t->all);
	free(t->v);
}

static void pair_off(const struct texts *new, const struct texts *old, uint32_t *same)
{
	uint32_t i = 0, k = 0;

	while (i < new->n && k < old->n) {
		int order = strcmp(new->v[i].text, old->v[k].text);

		if (order == 0)
			same[new->v[i++].index] = old->v[k++].index;
		else if (order < 0)
			i++;
		else
			k++;
	}
}

int build_same(const struct ipt_ruleset *new, const struct ipt_ruleset *old, uint32_t **same)
{
	struct texts a = { 0 }, b = { 0 };
	uint32_t *out = malloc((new->n_rules + 1) * sizeof(*out));
	int ret = -ENOMEM;

	if (out == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < new->n_rules; i++)
		out[i] = IPT_NO_RULE;
	if (print_all(&a, new) < 0 || print_all(&b, old) < 0)
		goto out;
	pair_off(&a, &b, out);
	*same = out;
	out = NULL;
	ret = 0;
out:
	free(out);
	free_all(&a);
	free_all(&b);
	return ret;
}
