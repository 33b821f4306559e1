/* SPDX-License-Identifier: BSD-3-Clause */
/* ipt_ext.c - finding extensions by name and kind, and reporting what is wrong */
#include "config/ipt_ext.h"

#include "config/ipt.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const match_names[] = {
#define X(id, name) [IPT_M_##id] = name,
	IPT_MATCH_LIST(X)
#undef X
};

static const char *const target_names[] = {
#define X(id, name) [IPT_T_##id] = name,
	IPT_TARGET_LIST(X)
#undef X
};

const char *ipt_match_name(enum ipt_match_kind kind)
{
	return match_names[kind];
}

const char *ipt_target_name(enum ipt_target_kind kind)
{
	return target_names[kind];
}

static bool named(const struct ipt_ext *e, const char *name)
{
	if (strcmp(e->name, name) == 0)
		return true;
	for (size_t i = 0; i < 2 && e->alias[i] != NULL; i++)
		if (strcmp(e->alias[i], name) == 0)
			return true;
	return false;
}

static const struct ipt_ext *find(
		const struct ipt_ext *const *list, const char *name, enum ipt_family family)
{
	for (; *list != NULL; list++)
		if (((*list)->families & (1 << family)) && named(*list, name))
			return *list;
	return NULL;
}

static const struct ipt_ext *by_kind(
		const struct ipt_ext *const *list, unsigned int kind, enum ipt_family family)
{
	for (; *list != NULL; list++)
		if ((*list)->kind == kind && ((*list)->families & (1 << family)))
			return *list;
	return NULL;
}

const struct ipt_ext *ipt_match_find(const char *name, enum ipt_family family)
{
	return find(ipt_matches, name, family);
}

const struct ipt_ext *ipt_target_find(const char *name, enum ipt_family family)
{
	return find(ipt_targets, name, family);
}

const struct ipt_ext *ipt_match_by_kind(enum ipt_match_kind kind, enum ipt_family family)
{
	return by_kind(ipt_matches, kind, family);
}

const struct ipt_ext *ipt_target_by_kind(enum ipt_target_kind kind, enum ipt_family family)
{
	return by_kind(ipt_targets, kind, family);
}

static void __attribute__((format(printf, 4, 0)))
error_addv(struct ipt_errors *errors, const char *path, uint32_t line, const char *fmt, va_list ap)
{
	struct ipt_error *v;
	char *what = NULL, *text = NULL;

	errors->total++;
	if (errors->n >= IPT_ERRORS_MAX || vasprintf(&what, fmt, ap) < 0)
		return;
	if ((line > 0 ? asprintf(&text, "%s:%u: %s", path, line, what)
		      : asprintf(&text, "%s: %s", path, what))
			< 0)
		goto out;
	v = realloc(errors->v, (errors->n + 1) * sizeof(*v));
	if (v == NULL) {
		free(text);
		goto out;
	}
	errors->v = v;
	errors->v[errors->n++] = (struct ipt_error){ .line = line, .text = text };
out:
	free(what);
}

void ipt_error_add(struct ipt_errors *errors, const char *path, uint32_t line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_addv(errors, path, line, fmt, ap);
	va_end(ap);
}

int ipt_fail(struct ipt_ctx *cx, const char *fmt, ...)
{
	va_list ap;

	cx->failed = true;
	va_start(ap, fmt);
	error_addv(cx->errors, cx->args->path, cx->line, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

void ipt_errors_free(struct ipt_errors *errors)
{
	for (size_t i = 0; i < errors->n; i++)
		free(errors->v[i].text);
	free(errors->v);
	*errors = (struct ipt_errors){ 0 };
}

const char *ipt_next_arg(struct ipt_ctx *cx)
{
	const char *w;

	if (cx->pos >= cx->n_words)
		return NULL;
	w = cx->words[cx->pos];
	if (w[0] == '-' || strcmp(w, "!") == 0)
		return NULL;
	cx->pos++;
	return w;
}
