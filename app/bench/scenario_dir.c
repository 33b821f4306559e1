/* SPDX-License-Identifier: BSD-3-Clause */
/* Where scenarios are, and in which order they are shown. */
#include "app/bench/scenario.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* installed: beside the program; else where it was built */
const char *scenario_dir(void)
{
	static char dir[PATH_MAX + sizeof(SCENARIO_DIR_INSTALLED)];
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	if (n > 0) {
		exe[n] = '\0';
		*strrchr(exe, '/') = '\0';
		snprintf(dir, sizeof(dir), "%s/" SCENARIO_DIR_INSTALLED, exe);
		if (access(dir, R_OK | X_OK) == 0)
			return dir;
	}
	return SCENARIO_DIR_SOURCE;
}

static int is_scenario(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot != NULL && dot != entry->d_name && strcmp(dot, ".yaml") == 0;
}

int scenario_paths(char ***paths)
{
	const char *dir = scenario_dir();
	struct dirent **entries;
	int n = scandir(dir, &entries, is_scenario, alphasort);
	char **out = n < 0 ? NULL : calloc((size_t)n + 1, sizeof(*out));

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++) {
		if (out != NULL && asprintf(&out[i], "%s/%s", dir, entries[i]->d_name) < 0)
			out[i] = NULL;
		free(entries[i]);
	}
	free(entries);
	*paths = out;
	return out == NULL ? -ENOMEM : n;
}

void scenario_path(const char *name, char *path, size_t size)
{
	size_t len = strlen(name);

	if (strchr(name, '/') != NULL || (len > 5 && strcmp(name + len - 5, ".yaml") == 0))
		snprintf(path, size, "%s", name);
	else
		snprintf(path, size, "%s/%s.yaml", scenario_dir(), name);
}

/* "10", "1k" or "1M" at @at, which goes behind it */
static double number(const char **at)
{
	char *end;
	double n = strtod(*at, &end);

	if ((*end == 'k' || *end == 'M') && !isalnum((unsigned char)end[1]))
		n *= *end++ == 'k' ? 1e3 : 1e6;
	*at = end;
	return n;
}

static int compare_names(const char *a, const char *b)
{
	while (*a != '\0' && *b != '\0') {
		if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
			double x = number(&a), y = number(&b);

			if (x < y || x > y)
				return x < y ? -1 : 1;
		} else if (*a != *b) {
			break;
		} else {
			a++;
			b++;
		}
	}
	return (unsigned char)*a - (unsigned char)*b;
}

int scenario_compare(const struct scenario *a, const struct scenario *b)
{
	int has = (a->baseline != NULL) - (b->baseline != NULL);

	return has != 0 ? has : compare_names(a->name, b->name);
}
