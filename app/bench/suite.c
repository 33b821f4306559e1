/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/suite.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool has(const struct suite *s, const char *name)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (strcmp(s->scenarios[i].name, name) == 0)
			return true;
	return false;
}

static int add(struct suite *s, const char *path, enum scenario_choice choice, FILE *err)
{
	struct scenario *grown, read;
	int ret = scenario_read(path, &read, err);

	if (ret < 0)
		return ret;
	if (has(s, read.name) || read.choice > choice) {
		scenario_free(&read);
		return 0;
	}
	grown = realloc(s->scenarios, (s->n + 1) * sizeof(*grown));
	if (grown == NULL) {
		scenario_free(&read);
		return -ENOMEM;
	}
	grown[s->n++] = read;
	s->scenarios = grown;
	return 0;
}

static int add_all(struct suite *s, enum scenario_choice choice, FILE *err)
{
	char **paths;
	int n = scenario_paths(&paths);
	int ret = n < 0 ? n : 0;

	if (n <= 0) {
		fprintf(err, "%s: %s\n", scenario_dir(), n < 0 ? strerror(-n) : "no scenario here");
		return n < 0 ? n : -ENOENT;
	}
	for (int i = 0; i < n; i++) {
		if (ret == 0)
			ret = paths[i] == NULL ? -ENOMEM : add(s, paths[i], choice, err);
		free(paths[i]);
	}
	free(paths);
	return ret;
}

static int add_baselines(struct suite *s, FILE *err)
{
	char path[PATH_MAX];
	int ret = 0;

	/* the list grows at its end, so baselines of baselines are met as well */
	for (unsigned int i = 0; ret == 0 && i < s->n; i++) {
		const struct scenario *at = &s->scenarios[i];

		if (at->baseline == NULL || has(s, at->baseline))
			continue;
		scenario_path(at->baseline, path, sizeof(path));
		ret = add(s, path, SCENARIO_NAMED, err);
		if (ret < 0)
			fprintf(err, "%s: baseline '%s' cannot be read\n", s->scenarios[i].path,
					s->scenarios[i].baseline);
	}
	return ret;
}

static int by_order(const void *a, const void *b)
{
	return scenario_compare(a, b);
}

int suite_load(const char *const *names, enum scenario_choice choice, struct suite *out, FILE *err)
{
	struct suite s = { 0 };
	char path[PATH_MAX];
	int ret = 0;

	if (names == NULL || names[0] == NULL)
		ret = add_all(&s, choice, err);
	for (; ret == 0 && names != NULL && *names != NULL; names++) {
		scenario_path(*names, path, sizeof(path));
		ret = add(&s, path, SCENARIO_NAMED, err);
	}
	if (ret == 0)
		ret = add_baselines(&s, err);
	if (ret < 0) {
		suite_free(&s);
		return ret;
	}
	qsort(s.scenarios, s.n, sizeof(*s.scenarios), by_order);
	*out = s;
	return 0;
}

void suite_free(struct suite *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		scenario_free(&s->scenarios[i]);
	free(s->scenarios);
	memset(s, 0, sizeof(*s));
}
