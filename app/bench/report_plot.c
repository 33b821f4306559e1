/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scenarios whose names differ by a number at the end ("linear-100", "linear-1k") are a series. Each
 * series has a small plot of its own, with both axes logarithmic: a straight line that rises by one
 * decade in one is a cost in proportion to the number.
 */
#include "app/bench/report_plot.h"

#include "app/bench/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 400
#define HEIGHT 230
#define LEFT 46
#define RIGHT 114 /* names of the curves stand there */
#define TOP 12
#define BOTTOM 34
#define POINTS_MAX 12
#define CURVES_MAX RESULT_SIDES_MAX
#define LABEL_STEP 15 /* between names, so that each can be read */

enum axis {
	AXIS_RULES,
	AXIS_FLOWS,
	AXIS_NB,
};

struct point {
	double x;
	const struct result_scenario *s;
};

struct series {
	char name[SCENARIO_NAME_MAX]; /* without the number */
	enum axis axis;
	unsigned int n;
	struct point points[POINTS_MAX];
};

struct scale {
	double x_lo, x_hi, y_lo, y_hi; /* decades */
};

static double number_of(const struct result_scenario *s, enum axis axis)
{
	return axis == AXIS_RULES ? s->rules : s->traffic.flows;
}

/* the name up to the number that it has at its end for @axis; 0: none (a size, for instance) */
static size_t stem_len(const struct result_scenario *s, enum axis axis)
{
	const char *dash = strrchr(s->name, '-');
	char *end;
	double n;

	if (dash == NULL)
		return 0;
	n = strtod(dash + 1, &end);
	if (*end == 'k' || *end == 'M')
		n *= *end++ == 'k' ? 1e3 : 1e6;
	/* 64k may be 65,536 */
	return *end == '\0' && n > 0 && fabs(number_of(s, axis) / n - 1) < 0.06
			? (size_t)(dash - s->name)
			: 0;
}

static int by_x(const void *a, const void *b)
{
	double x = ((const struct point *)a)->x, y = ((const struct point *)b)->x;

	return x < y ? -1 : x > y;
}

/* the first series behind scenario *@at; false: no more */
static bool next_series(
		const struct result *r, enum axis axis, unsigned int *at, struct series *out)
{
	for (; *at < r->n; ++*at) {
		const struct result_scenario *first = &r->scenarios[*at];
		size_t len = stem_len(first, axis);
		bool again = false;

		memset(out, 0, sizeof(*out));
		out->axis = axis;
		snprintf(out->name, sizeof(out->name), "%.*s", (int)len, first->name);
		for (unsigned int i = 0; len > 0 && i < r->n && out->n < POINTS_MAX; i++) {
			const struct result_scenario *s = &r->scenarios[i];

			if (stem_len(s, axis) != len || strncmp(s->name, first->name, len) != 0
					|| s->skipped[0] != '\0')
				continue;
			again |= i < *at;
			out->points[out->n++] = (struct point){ number_of(s, axis), s };
		}
		qsort(out->points, out->n, sizeof(out->points[0]), by_x);
		if (!again && out->n > 1 && out->points[out->n - 1].x > out->points[0].x) {
			++*at;
			return true;
		}
	}
	return false;
}

static const struct result_side *side_like(
		const struct result_scenario *s, const struct result_side *like)
{
	for (unsigned int i = 0; i < s->n_sides; i++)
		if (s->sides[i].ours == like->ours && strcmp(s->sides[i].name, like->name) == 0
				&& result_measured(&s->sides[i]))
			return &s->sides[i];
	return NULL;
}

static struct scale make_scale(const struct series *series)
{
	double lo = INFINITY, hi = 0;
	struct scale scale = { .x_lo = log10(series->points[0].x),
		.x_hi = log10(series->points[series->n - 1].x) };

	for (unsigned int i = 0; i < series->n; i++) {
		const struct result_scenario *s = series->points[i].s;

		for (unsigned int k = 0; k < s->n_sides; k++) {
			if (!result_measured(&s->sides[k]))
				continue;
			lo = fmin(lo, s->sides[k].ns.median);
			hi = fmax(hi, s->sides[k].ns.median);
		}
	}
	scale.y_lo = hi > 0 ? floor(log10(lo)) : 0;
	scale.y_hi = hi > 0 ? ceil(log10(hi)) : 0;
	if (scale.y_hi <= scale.y_lo)
		scale.y_hi = scale.y_lo + 1;
	return scale;
}

static double at_x(const struct scale *s, double x)
{
	return LEFT + (log10(x) - s->x_lo) / (s->x_hi - s->x_lo) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct scale *s, double y)
{
	return HEIGHT - BOTTOM
			- (log10(y) - s->y_lo) / (s->y_hi - s->y_lo) * (HEIGHT - TOP - BOTTOM);
}

/* "10", "1k", "64k", "1M" */
static void put_count(FILE *out, double n)
{
	if (n >= 1e6)
		fprintf(out, "%.0fM", n / 1e6);
	else if (n >= 1e4 && fmod(n, 1024) == 0 && fmod(n, 1000) != 0)
		fprintf(out, "%.0fk", n / 1024);
	else if (n >= 1e3)
		fprintf(out, "%.0fk", n / 1e3);
	else
		fprintf(out, "%.0f", n);
}

static void put_ns_label(FILE *out, double ns)
{
	if (ns >= 1e6)
		fprintf(out, "%.0f ms", ns / 1e6);
	else if (ns >= 1e3)
		fprintf(out, "%.0f &micro;s", ns / 1e3);
	else
		fprintf(out, "%.0f ns", ns);
}

static void put_axes(FILE *out, const struct series *series, const struct scale *s)
{
	for (double decade = s->y_lo; decade <= s->y_hi + 0.5; decade++) {
		double y = at_y(s, pow(10, decade));

		fprintf(out, "<line class=\"grid\" x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\"/>",
				LEFT, y, WIDTH - RIGHT, y);
		fprintf(out, "<text class=\"tick\" text-anchor=\"end\" x=\"%d\" y=\"%.1f\">",
				LEFT - 5, y + 4);
		put_ns_label(out, pow(10, decade));
		fputs("</text>\n", out);
	}
	for (unsigned int i = 0; i < series->n; i++) {
		fprintf(out, "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">",
				at_x(s, series->points[i].x), HEIGHT - BOTTOM + 15);
		put_count(out, series->points[i].x);
		fputs("</text>\n", out);
	}
	fprintf(out, "<text class=\"tick\" text-anchor=\"middle\" x=\"%d\" y=\"%d\">%s</text>\n",
			(LEFT + WIDTH - RIGHT) / 2, HEIGHT - 4,
			series->axis == AXIS_RULES ? "rules" : "flows");
}

/* a curve, and where its name would stand; false: fewer than two points */
static bool put_curve(FILE *out, const struct series *series, const struct scale *s,
		const struct result_side *like, double *label_y)
{
	const struct result_side *sides[POINTS_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < series->n; i++) {
		sides[i] = side_like(series->points[i].s, like);
		n += sides[i] != NULL;
	}
	if (n < 2)
		return false;
	fprintf(out, "<polyline class=\"%s\" points=\"", like->ours ? "o" : "k");
	for (unsigned int i = 0; i < series->n; i++)
		if (sides[i] != NULL)
			fprintf(out, "%.1f,%.1f ", at_x(s, series->points[i].x),
					at_y(s, sides[i]->ns.median));
	fputs("\"/>", out);
	for (unsigned int i = 0; i < series->n; i++) {
		if (sides[i] == NULL)
			continue;
		*label_y = at_y(s, sides[i]->ns.median);
		fprintf(out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\"><title>",
				like->ours ? "ours" : "kernel", at_x(s, series->points[i].x),
				*label_y);
		html_text(out, series->points[i].s->name);
		fprintf(out, ": %.1f ns</title></circle>\n", sides[i]->ns.median);
	}
	return true;
}

struct label {
	double y;
	const struct result_side *side;
};

static int by_y(const void *a, const void *b)
{
	double x = ((const struct label *)a)->y, y = ((const struct label *)b)->y;

	return x < y ? -1 : x > y;
}

/* names beside the ends of their curves, pushed apart */
static void put_labels(FILE *out, struct label *labels, unsigned int n)
{
	qsort(labels, n, sizeof(*labels), by_y);
	for (unsigned int i = 1; i < n; i++)
		if (labels[i].y < labels[i - 1].y + LABEL_STEP)
			labels[i].y = labels[i - 1].y + LABEL_STEP;
	for (unsigned int i = 0; i < n; i++) {
		fprintf(out, "<text class=\"%s\" x=\"%d\" y=\"%.1f\">%s ",
				labels[i].side->ours ? "ours" : "kernel", WIDTH - RIGHT + 8,
				labels[i].y + 4, labels[i].side->ours ? "sluice" : "kernel");
		html_text(out,
				strcmp(labels[i].side->name, "plain") == 0 ? ""
									   : labels[i].side->name);
		fputs("</text>\n", out);
	}
}

static void put_series(FILE *out, const struct series *series)
{
	const struct result_scenario *last = series->points[series->n - 1].s;
	struct scale s = make_scale(series);
	struct label labels[CURVES_MAX] = { 0 };
	unsigned int n = 0;

	fputs("<div class=\"card\"><h3>", out);
	html_text(out, series->name);
	fprintf(out, "</h3>\n<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"", WIDTH, HEIGHT);
	html_text(out, series->name);
	fprintf(out, ": nanoseconds a packet against the number of %s\">\n",
			series->axis == AXIS_RULES ? "rules" : "flows");
	put_axes(out, series, &s);
	for (unsigned int i = 0; i < last->n_sides && n < CURVES_MAX; i++) {
		labels[n].side = &last->sides[i];
		n += put_curve(out, series, &s, &last->sides[i], &labels[n].y);
	}
	put_labels(out, labels, n);
	fputs("</svg></div>\n", out);
}

void report_plots(const struct result *r, FILE *out)
{
	static const char *const titles[] = {
		"<h2>Cost against the number of rules</h2>\n",
		"<h2>Cost against the number of flows</h2>\n",
	};

	for (unsigned int axis = 0; axis < AXIS_NB; axis++) {
		unsigned int at = 0;
		struct series series;
		bool any = false;

		while (next_series(r, (enum axis)axis, &at, &series)) {
			fputs(any ? "" : titles[axis], out);
			fputs(any ? ""
				  : "<p class=\"soft\">Both axes are logarithmic: a step up is ten "
				    "times the time.</p>\n<div class=\"plots\">\n",
					out);
			any = true;
			put_series(out, &series);
		}
		fputs(any ? "</div>\n" : "", out);
	}
}
