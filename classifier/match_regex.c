/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * regex: an expression as Hyperscan takes it, searched for in the bytes between --from and --to. The
 * kernel has no such match. Each has a database of its own, for what the table's cannot hold and for
 * packets whose pass was given up.
 */
#include "classifier/match_ext.h"
#include "classifier/patterns_build.h"
#include "classifier/regex.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct regex {
	struct ipt_pattern in; /* first */
	hs_database_t *db;
};

const hs_database_t *ipt_regex_db(const struct ipt_pattern *state)
{
	return ((const struct regex *)(const void *)state)->db;
}

static unsigned int flags_of(bool icase)
{
	return HS_FLAG_DOTALL | HS_FLAG_SINGLEMATCH | (icase ? HS_FLAG_CASELESS : 0);
}

static int refuse(const char *pattern, hs_compile_error_t *error, char *err, size_t err_size)
{
	snprintf(err, err_size, "--regex \"%s\": %s; an expression for Hyperscan was expected",
			pattern, error == NULL ? "out of memory" : error->message);
	hs_free_compile_error(error);
	return -EINVAL;
}

int ipt_regex_check(const char *pattern, bool icase, char *err, size_t err_size)
{
	hs_compile_error_t *error = NULL;
	hs_expr_info_t *info = NULL;
	bool empty;

	if (hs_expression_info(pattern, flags_of(icase), &info, &error) != HS_SUCCESS)
		return refuse(pattern, error, err, err_size);
	empty = info->min_width == 0;
	free(info);
	if (!empty)
		return 0;
	snprintf(err, err_size,
			"--regex \"%s\": it matches an empty text, so it is in every packet; one that "
			"needs a byte was expected",
			pattern);
	return -EINVAL;
}

static int regex_create(struct ipt_env *env, const struct ipt_match *match, void **state)
{
	const struct ipt_m_regex *m = match->data;
	hs_compile_error_t *error = NULL;
	struct regex *r = calloc(1, sizeof(*r));
	int ret;

	if (r == NULL)
		return -ENOMEM;
	if (hs_compile(m->pattern, flags_of((match->set & IPT_REGEX_ICASE) != 0), HS_MODE_BLOCK,
			    NULL, &r->db, &error)
			!= HS_SUCCESS) {
		ret = refuse(m->pattern, error, env->err, env->err_size);
		free(r);
		return ret;
	}
	*state = r;
	return 0;
}

static void regex_destroy(void *state)
{
	struct regex *r = state;

	hs_free_database(r->db);
	free(r);
}

static bool find_alone(const struct ipt_ctx *c, const struct ipt_m_regex *m, const struct regex *r)
{
	uint32_t off, len = ipt_patterns_window(c, m->from, m->to, &off);

	return len > 0 && ipt_patterns_scan(c, r->db, off, len);
}

static bool regex_match(struct ipt_ctx *c, const struct ipt_match *match, void *state)
{
	const struct regex *r = state;
	enum ipt_patterns_answer answer = ipt_patterns_ask(c, &r->in);
	bool found = answer == IPT_PATTERN_UNKNOWN ? find_alone(c, match->data, r)
						   : answer == IPT_PATTERN_FOUND;

	return found != !!(match->inv & IPT_REGEX_REGEX);
}

const struct ipt_match_ops ipt_match_regex_ops = {
	.kind = IPT_M_REGEX,
	.create = regex_create,
	.destroy = regex_destroy,
	.match = regex_match,
};
