/* SPDX-License-Identifier: BSD-3-Clause */
/* Two results side by side: what is faster, what is slower, and whether their ratios agree. */
#include "app/bench/commands.h"
#include "app/bench/report.h"
#include "app/sluice/exit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AGREES 0.10 /* ratios this close are taken for the same */

/* ratios of both files that were compared */
struct tally {
	unsigned int agree, flagged, all;
};

static int load(const char *path, struct result *out)
{
	json_error_t error;
	json_t *root = json_load_file(path, 0, &error);
	char why[256];
	int ret;

	if (root == NULL) {
		if (error.line > 0)
			fprintf(stderr, "%s:%d:%d: %s\n", path, error.line, error.column,
					error.text);
		else
			fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	ret = report_from_json(root, out, why, sizeof(why));
	json_decref(root);
	if (ret < 0)
		fprintf(stderr, "%s: %s\n", path, why);
	return ret;
}

static const struct result_scenario *find_scenario(const struct result *r, const char *name)
{
	for (unsigned int i = 0; i < r->n; i++)
		if (strcmp(r->scenarios[i].name, name) == 0)
			return &r->scenarios[i];
	return NULL;
}

static const struct result_side *find_side(
		const struct result_scenario *s, const struct result_side *like)
{
	for (unsigned int i = 0; i < s->n_sides; i++)
		if (s->sides[i].ours == like->ours && strcmp(s->sides[i].name, like->name) == 0)
			return &s->sides[i];
	return NULL;
}

static void print_side(const struct result_scenario *s, const struct result_side *a,
		const struct result_side *b)
{
	bool apart;

	if (b == NULL || !result_measured(a) || !result_measured(b))
		return;
	/* two intervals without a common value */
	apart = a->ns.hi < b->ns.lo || b->ns.hi < a->ns.lo;
	printf("%-16s %-7s %-8s %10.1f %10.1f %+8.1f %%  %s\n", s->name,
			a->ours ? "sluice" : "kernel", a->name, a->ns.median, b->ns.median,
			100 * (b->ns.median / a->ns.median - 1),
			!apart                                        ? ""
					: b->ns.median < a->ns.median ? "faster"
								      : "slower");
}

static bool noisy(const struct result_side *side)
{
	return side->spread > STATS_SPREAD_MAX;
}

static void compare_ratios(
		const struct result_scenario *a, const struct result_scenario *b, struct tally *t)
{
	for (unsigned int i = 0; i < a->n_sides; i++) {
		for (unsigned int k = 0; k < a->n_sides; k++) {
			const struct result_side *ak = &a->sides[i], *as = &a->sides[k];
			const struct result_side *bk = find_side(b, ak), *bs = find_side(b, as);
			struct stats_interval x, y;

			if (ak->ours || !as->ours || bk == NULL || bs == NULL
					|| !result_ratio(ak, as, &x) || !result_ratio(bk, bs, &y))
				continue;
			t->all++;
			if (fabs(y.median / x.median - 1) <= AGREES)
				t->agree++;
			else if (noisy(ak) || noisy(as) || noisy(bk) || noisy(bs))
				t->flagged++;
			printf("%-16s %s/%s: %.2f times as fast, then %.2f (%+.1f %%)\n", a->name,
					as->name, ak->name, x.median, y.median,
					100 * (y.median / x.median - 1));
		}
	}
}

static void print(const struct result *a, const struct result *b)
{
	struct tally t = { 0 };

	printf("%-16s %-7s %-8s %10s %10s %10s\n", "scenario", "side", "", "A, ns", "B, ns",
			"B to A");
	for (unsigned int i = 0; i < a->n; i++) {
		const struct result_scenario *s = &a->scenarios[i], *other;

		other = find_scenario(b, s->name);
		for (unsigned int k = 0; other != NULL && k < s->n_sides; k++)
			print_side(s, &s->sides[k], find_side(other, &s->sides[k]));
	}
	printf("\n");
	for (unsigned int i = 0; i < a->n; i++) {
		const struct result_scenario *other = find_scenario(b, a->scenarios[i].name);

		if (other != NULL)
			compare_ratios(&a->scenarios[i], other, &t);
	}
	if (t.all > 0)
		printf("\n%u of %u ratios agree within %.0f %%; %u of the others were flagged as "
		       "noisy\n",
				t.agree, t.all, 100 * AGREES, t.flagged);
	else
		printf("no ratio is in both\n");
}

static const char usage[] = "usage: sluice-bench compare A.json B.json\n";

int compare_main(int argc, char **argv)
{
	struct result a, b;

	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return EXIT_DONE;
	}
	if (argc != 3 || argv[1][0] == '-') {
		fputs(usage, stderr);
		return EXIT_INPUT;
	}
	if (load(argv[1], &a) < 0)
		return EXIT_INPUT;
	if (load(argv[2], &b) < 0) {
		result_free(&a);
		return EXIT_INPUT;
	}
	print(&a, &b);
	result_free(&a);
	result_free(&b);
	return EXIT_DONE;
}
