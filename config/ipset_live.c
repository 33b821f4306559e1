/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A member's word is read by the reader of files: it gets the set's create line in front, and the
 * line as one that adds.
 */
#include "config/ipset_live.h"

#include "classifier/set.h"
#include "config/ipset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096 /* members taken under one lock */

/* ---- printing ---- */

static int by_key(const void *a, const void *b)
{
	const struct ipset_key *x = &((const struct ipset_member *)a)->key;
	const struct ipset_key *y = &((const struct ipset_member *)b)->key;

	if (x->addr.w[0] != y->addr.w[0])
		return x->addr.w[0] < y->addr.w[0] ? -1 : 1;
	return (int)x->port - (int)y->port;
}

static int read_members(struct ipt_sets *sets, struct ipset *set)
{
	struct ipset_member *v = NULL;
	int64_t from = 0;

	do {
		uint32_t n = PAGE;
		struct ipset_member *more = realloc(v, (set->n_members + PAGE) * sizeof(*v));

		if (more == NULL) {
			free(v);
			return -ENOMEM;
		}
		v = more;
		from = sl_set_list(sets, set->name, (uint32_t)from, v + set->n_members, &n);
		set->n_members += n;
	} while (from > 0);
	if (strncmp(ipset_type_name((enum ipset_type)set->type), "bitmap:", 7) == 0)
		qsort(v, set->n_members, sizeof(*v), by_key);
	set->members = v;
	return 0;
}

static void free_members(struct ipset *set)
{
	for (uint32_t i = 0; i < set->n_members; i++)
		free((char *)(uintptr_t)set->members[i].comment);
	free(set->members);
}

/* all sets without members, so that numbers of sets mean what they mean at run time */
static struct ipset *read_defs(struct ipt_sets *sets)
{
	unsigned int n = sl_sets_count(sets);
	struct ipset *v = calloc(n + 1, sizeof(*v));

	for (unsigned int i = 0; v != NULL && i < n; i++)
		v[i] = *sl_set_def(sets, sl_sets_name(sets, i));
	return v;
}

int ipset_live_print(FILE *f, struct ipt_sets *sets, const char *name)
{
	struct ipset_file file = { .n_sets = sl_sets_count(sets), .sets = read_defs(sets) };
	int ret = name == NULL || sl_set_def(sets, name) != NULL ? 0 : -ENOENT;

	if (file.sets == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; ret == 0 && i < file.n_sets; i++) {
		struct ipset *set = &file.sets[i];

		if (name != NULL && strcmp(set->name, name) != 0)
			continue;
		ret = read_members(sets, set);
		if (ret == 0)
			ret = ipset_print_set(f, &file, set);
		free_members(set);
		set->members = NULL;
		set->n_members = 0;
	}
	free(file.sets);
	return ret;
}

/* ---- changing ---- */

static const char *reason(int error)
{
	switch (-error) {
	case ENOENT:
		return "there is no such set";
	case EEXIST:
		return "it is there already";
	case ENOMSG:
		return "it is not in the set";
	case ENOSPC:
		return "the set is full";
	case ERANGE:
		return "it is outside of the range of the set";
	case EBUSY:
		return "a rule or a list refers to it";
	case EPROTOTYPE:
		return "the types of the sets differ";
	case ELOOP:
		return "the set is a list itself";
	default:
		return strerror(-error);
	}
}

static int fail(int error, const char *line, char *err, size_t err_size)
{
	snprintf(err, err_size, "%s: %s", line, reason(error));
	return error;
}

/* create lines of all that a member of the set may name, and the line as one that adds */
static char *text_of(struct ipt_sets *sets, const char *name, const char *rest)
{
	const struct ipset *def = sl_set_def(sets, name);
	struct ipset_file file = { 0 };
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (f == NULL)
		return NULL;
	file.sets = read_defs(sets);
	file.n_sets = file.sets == NULL ? 0 : sl_sets_count(sets);
	for (uint32_t i = 0; i < file.n_sets; i++)
		if (def->type == IPSET_LIST_SET || strcmp(file.sets[i].name, name) == 0)
			ipset_print_set(f, &file, &file.sets[i]);
	fprintf(f, "add %s\n", rest);
	free(file.sets);
	fclose(f);
	return text;
}

static int read_line(const char *line, const char *text, struct ipset_file **file, char *err,
		size_t err_size)
{
	struct ipt_errors errors;
	const char *why;
	int ret = ipset_load("", text, strlen(text), file, &errors);

	if (ret < 0) {
		/* without the place, which is of a text that nobody wrote */
		why = errors.n == 0 ? "out of memory" : errors.v[0].text;
		if (strncmp(why, ":", 1) == 0 && strchr(why, ' ') != NULL)
			why = strchr(why, ' ') + 1;
		snprintf(err, err_size, "%s: %s", line, why);
	}
	ipt_errors_free(&errors);
	return ret;
}

enum action {
	ADD,
	DEL,
	TEST,
};

static int run_member(struct ipt_sets *sets, enum action action, const char *name,
		const struct ipset_member *m, const char *member, bool exist)
{
	int ret;

	switch (action) {
	case ADD:
		return sl_set_add(sets, name, m, member, exist);
	case DEL:
		ret = sl_set_del(sets, name, m, member);
		return ret == -ENOMSG && exist ? 0 : ret;
	case TEST:
		ret = sl_set_test(sets, name, m, member);
		return ret < 0 ? ret : ret == 0;
	}
	return -EINVAL;
}

static int run_members(struct ipt_sets *sets, enum action action, const char *line,
		const char *rest, bool exist, char *err, size_t err_size)
{
	char name[SL_SET_NAME_MAX] = "";
	struct ipset_file *file;
	const struct ipset *set;
	char *text;
	int ret;

	sscanf(rest, "%31s", name);
	if (sl_set_def(sets, name) == NULL)
		return fail(-ENOENT, line, err, err_size);
	text = text_of(sets, name, rest);
	if (text == NULL)
		return fail(-ENOMEM, line, err, err_size);
	ret = read_line(line, text, &file, err, err_size);
	free(text);
	if (ret < 0)
		return ret;
	set = ipset_find(file, name);
	for (uint32_t i = 0; ret == 0 && set != NULL && i < set->n_members; i++) {
		const struct ipset_member *m = &set->members[i];
		bool is_list = set->type == IPSET_LIST_SET;

		ret = run_member(sets, action, name, m,
				is_list ? file->sets[m->key.set].name : NULL, exist);
		if (ret < 0)
			fail(ret, line, err, err_size);
	}
	ipset_free(file);
	return ret;
}

static int run_create(
		struct ipt_sets *sets, const char *line, bool exist, char *err, size_t err_size)
{
	struct ipset_file *file;
	int ret = read_line(line, line, &file, err, err_size);

	if (ret < 0)
		return ret;
	ret = file->n_sets == 1 ? sl_set_create(sets, &file->sets[0]) : -EINVAL;
	ipset_free(file);
	if (ret == -EEXIST && exist)
		ret = 0;
	return ret < 0 ? fail(ret, line, err, err_size) : 0;
}

int ipset_live_run(struct ipt_sets *sets, const char *line, bool exist, char *err, size_t err_size)
{
	char word[8] = "", a[SL_SET_NAME_MAX] = "", b[SL_SET_NAME_MAX] = "", more;
	const char *rest = line + strcspn(line, " ");
	int n = sscanf(line, "%7s %31s %31s %c", word, a, b, &more), ret = -EINVAL;

	rest += strspn(rest, " ");
	if (strchr(line, '\n') != NULL) {
		snprintf(err, err_size, "one line was expected");
		return -EINVAL;
	}
	if (strcmp(word, "add") == 0)
		return run_members(sets, ADD, line, rest, exist, err, err_size);
	if (strcmp(word, "del") == 0)
		return run_members(sets, DEL, line, rest, exist, err, err_size);
	if (strcmp(word, "test") == 0)
		return run_members(sets, TEST, line, rest, exist, err, err_size);
	if (strcmp(word, "create") == 0)
		return run_create(sets, line, exist, err, err_size);
	if (strcmp(word, "swap") == 0 && n == 3)
		ret = sl_set_swap(sets, a, b);
	else if (strcmp(word, "flush") == 0 && n == 2)
		ret = sl_set_flush(sets, a);
	else if (strcmp(word, "destroy") == 0 && n == 2)
		ret = sl_set_destroy(sets, a);
	else
		snprintf(err, err_size,
				"%s: create, add, del, test, flush, swap or destroy and a set were "
				"expected",
				line);
	return ret < 0 && ret != -EINVAL ? fail(ret, line, err, err_size) : ret;
}
