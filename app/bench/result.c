/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/result.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* of the bootstrap: figures of one file are the same whenever they are computed */
#define SEED 1

struct result_scenario *result_add(struct result *r)
{
	struct result_scenario *grown = realloc(r->scenarios, (r->n + 1) * sizeof(*grown));

	if (grown == NULL)
		return NULL;
	r->scenarios = grown;
	memset(&grown[r->n], 0, sizeof(*grown));
	return &grown[r->n++];
}

void result_free(struct result *r)
{
	json_decref(r->machine);
	free(r->scenarios);
	memset(r, 0, sizeof(*r));
}

void result_note(struct result_scenario *s, const char *fmt, ...)
{
	va_list ap;

	if (s->n_notes == RESULT_NOTES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(s->notes[s->n_notes++], sizeof(s->notes[0]), fmt, ap);
	va_end(ap);
}

bool result_measured(const struct result_side *side)
{
	return side->skipped[0] == '\0' && side->fault[0] == '\0' && side->n_rounds > 0;
}

bool result_generator_bound(const struct result_side *side)
{
	return side->alone_ns > RESULT_GENERATOR_MAX * side->ns.median;
}

static const char *owner(const struct result_side *side)
{
	return side->ours ? "sluice" : "kernel";
}

static void note_side(struct result_scenario *s, const struct result_side *side)
{
	if (side->skipped[0] != '\0')
		result_note(s, "%s %s: skipped: %s", owner(side), side->name, side->skipped);
	else if (side->fault[0] != '\0')
		result_note(s, "%s %s: no figure: %s", owner(side), side->name, side->fault);
	if (!result_measured(side))
		return;
	if (side->spread > STATS_SPREAD_MAX)
		result_note(s, "%s %s: noisy: the middle 80 %% of the rounds spread over %.0f %%",
				owner(side), side->name, 100 * side->spread);
	if (result_generator_bound(side))
		result_note(s,
				"%s %s: bound by its generator: source and sink alone take %.1f of "
				"%.1f ns, so there is no ratio",
				owner(side), side->name, side->alone_ns, side->ns.median);
}

static void note_disturbance(struct result_scenario *s)
{
	double least = 1;

	for (unsigned int i = 0; i < s->n_sides; i++)
		if (result_measured(&s->sides[i]) && s->sides[i].cpu_share < least)
			least = s->sides[i].cpu_share;
	if (least < RESULT_CPU_SHARE_MIN)
		result_note(s,
				"disturbed: others used the core too, one side had it for %.0f %% of "
				"the time",
				100 * least);
}

void result_figures(struct result_scenario *s)
{
	for (unsigned int i = 0; i < s->n_sides; i++) {
		struct result_side *side = &s->sides[i];

		if (side->n_rounds == 0)
			continue;
		side->ns = stats_median(side->rounds, side->n_rounds, SEED);
		side->spread = stats_spread(side->rounds, side->n_rounds);
	}
}

/* NULL, or why no side of that kind ran */
static const char *all_skipped(const struct result_scenario *s, bool ours)
{
	const char *first = NULL;

	for (unsigned int i = 0; i < s->n_sides; i++) {
		if (s->sides[i].ours != ours)
			continue;
		if (s->sides[i].skipped[0] == '\0')
			return NULL;
		if (first == NULL)
			first = s->sides[i].skipped;
	}
	return first;
}

void result_finish(struct result_scenario *s)
{
	const char *kernel = all_skipped(s, false), *ours = all_skipped(s, true);

	result_figures(s);
	/* one half of a comparison is none */
	if (ours != NULL)
		snprintf(s->skipped, sizeof(s->skipped), "sluice: %s", ours);
	else if (kernel != NULL)
		snprintf(s->skipped, sizeof(s->skipped), "kernel: %s", kernel);
	for (unsigned int i = 0; i < s->n_sides; i++)
		note_side(s, &s->sides[i]);
	note_disturbance(s);
}

bool result_ratio(const struct result_side *kernel, const struct result_side *ours,
		struct stats_interval *out)
{
	unsigned int n = kernel->n_rounds < ours->n_rounds ? kernel->n_rounds : ours->n_rounds;

	if (!result_measured(kernel) || !result_measured(ours) || result_generator_bound(kernel)
			|| result_generator_bound(ours))
		return false;
	*out = stats_ratio(kernel->rounds, ours->rounds, n, SEED);
	return true;
}

static bool same_traffic(const struct traffic *a, const struct traffic *b)
{
	/* packets between anybody stand for those that rules match */
	return a->v6 == b->v6 && a->flows == b->flows && a->size == b->size && a->imix == b->imix
			&& (a->addresses == TRAFFIC_NEAR) == (b->addresses == TRAFFIC_NEAR);
}

bool result_added(const struct result *r, const struct result_scenario *s,
		const struct result_side *side, double *ns)
{
	for (unsigned int i = 0; i < r->n; i++) {
		const struct result_scenario *base = &r->scenarios[i];

		if (strcmp(base->name, s->baseline) != 0
				|| !same_traffic(&base->traffic, &s->traffic))
			continue;
		for (unsigned int k = 0; k < base->n_sides; k++) {
			const struct result_side *plain = &base->sides[k];

			if (plain->ours != side->ours || !result_measured(plain)
					|| !result_measured(side))
				continue;
			*ns = side->ns.median - plain->ns.median;
			return true;
		}
	}
	return false;
}
