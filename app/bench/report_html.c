/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/html.h"
#include "app/bench/report.h"
#include "app/bench/report_plot.h"

#include <string.h>

/* of a chart, in its own units: about a phone's pixels */
#define CHART_WIDTH 400
#define LABEL_WIDTH 100
#define VALUE_WIDTH 92
#define BAR_STEP 28
#define BAR_HEIGHT 20

static bool noisy(const struct result_side *side)
{
	return side->spread > STATS_SPREAD_MAX;
}

static void put_ns(FILE *out, double ns)
{
	fprintf(out, "%.*f", ns < 100 ? 1 : 0, ns);
}

static void put_side(FILE *out, const struct result_side *side, const char *class)
{
	fprintf(out, "<td class=\"%s\">", class);
	html_text(out, side == NULL ? "" : side->name);
	fputs("</td><td>", out);
	if (side == NULL || side->skipped[0] != '\0') {
		fputs("&ndash;", out);
	} else if (!result_measured(side)) {
		fputs("no figure", out);
	} else {
		fputs(noisy(side) ? "~" : "", out);
		put_ns(out, side->ns.median);
	}
	fputs("</td>", out);
}

static void put_added(FILE *out, const struct result *r, const struct result_scenario *s,
		const struct result_side *side)
{
	double ns;

	if (side != NULL && result_added(r, s, side, &ns))
		fprintf(out, "<td>%+.1f</td>", ns);
	else
		fputs("<td>&ndash;</td>", out);
}

static void put_row(FILE *out, const struct result *r, const struct result_scenario *s,
		const struct result_side *kernel, const struct result_side *ours)
{
	struct stats_interval ratio;

	fputs("<tr><td>", out);
	html_text(out, s->name);
	fputs("</td>", out);
	put_side(out, kernel, "k");
	put_side(out, ours, "o");
	if (ours != NULL && result_measured(ours) && r->tsc_ghz > 0)
		fprintf(out, "<td>%.0f</td>", ours->ns.median * r->tsc_ghz);
	else
		fputs("<td>&ndash;</td>", out);
	if (ours != NULL && result_ratio(kernel, ours, &ratio))
		fprintf(out, "<td><b>%.1f</b> <span class=\"soft\">%.1f&ndash;%.1f</span></td>",
				ratio.median, ratio.lo, ratio.hi);
	else
		fputs("<td>&ndash;</td>", out);
	put_added(out, r, s, kernel);
	put_added(out, r, s, ours);
	fputs("</tr>\n", out);
}

static void put_rows(FILE *out, const struct result *r, const struct result_scenario *s)
{
	for (unsigned int i = 0; i < s->n_sides; i++) {
		bool alone = true;

		for (unsigned int k = 0; !s->sides[i].ours && k < s->n_sides; k++) {
			if (!s->sides[k].ours)
				continue;
			put_row(out, r, s, &s->sides[i], &s->sides[k]);
			alone = false;
		}
		if (alone && !s->sides[i].ours)
			put_row(out, r, s, &s->sides[i], NULL);
	}
}

static void put_table(FILE *out, const struct result *r)
{
	fputs("<h2>All figures</h2>\n<p class=\"soft\">Nanoseconds a packet. ~ marks a figure whose "
	      "rounds spread over more than 10 %.</p>\n"
	      "<div class=\"scroll\"><table>\n<tr><th>scenario</th><th>kernel</th><th>ns</th>"
	      "<th>sluice</th><th>ns</th><th>cycles</th><th>times as fast</th>"
	      "<th>kernel adds</th><th>sluice adds</th></tr>\n",
			out);
	for (unsigned int i = 0; i < r->n; i++)
		if (r->scenarios[i].skipped[0] == '\0')
			put_rows(out, r, &r->scenarios[i]);
	fputs("</table></div>\n<p class=\"soft\">&ldquo;Adds&rdquo;: nanoseconds above forwarding "
	      "alone, on the same side.</p>\n",
			out);
}

static void put_bar(FILE *out, const struct result_side *side, double scale, unsigned int y)
{
	double width = side->ns.median * scale, middle = y + BAR_HEIGHT / 2.0;
	double end = side->ns.hi > side->ns.median ? side->ns.hi : side->ns.median;

	fprintf(out, "<text x=\"0\" y=\"%.0f\">%s ", middle + 5, side->ours ? "sluice" : "kernel");
	html_text(out, strcmp(side->name, "plain") == 0 ? "" : side->name);
	fprintf(out, "</text><rect class=\"%s\" x=\"%d\" y=\"%u\" width=\"%.1f\" height=\"%d\" rx=\"3\"/>",
			side->ours ? "ours" : "kernel", LABEL_WIDTH, y, width < 1 ? 1 : width,
			BAR_HEIGHT);
	fprintf(out, "<line class=\"whisker\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>",
			LABEL_WIDTH + side->ns.lo * scale, middle,
			LABEL_WIDTH + side->ns.hi * scale, middle);
	fprintf(out, "<text x=\"%.1f\" y=\"%.0f\">%s", LABEL_WIDTH + end * scale + 6, middle + 5,
			noisy(side) ? "~" : "");
	put_ns(out, side->ns.median);
	fputs(" ns</text>\n", out);
}

/* bars from zero, with the interval across their ends */
static void put_chart(FILE *out, const struct result_scenario *s)
{
	unsigned int bars = 0, y = 4;
	double longest = 0;

	for (unsigned int i = 0; i < s->n_sides; i++) {
		if (!result_measured(&s->sides[i]))
			continue;
		bars++;
		if (s->sides[i].ns.hi > longest)
			longest = s->sides[i].ns.hi;
	}
	if (bars == 0)
		return;
	fprintf(out, "<svg viewBox=\"0 0 %d %u\" role=\"img\" aria-label=\"", CHART_WIDTH,
			bars * BAR_STEP);
	html_text(out, s->name);
	fputs(": nanoseconds a packet\">\n", out);
	for (unsigned int i = 0; i < s->n_sides; i++) {
		if (!result_measured(&s->sides[i]))
			continue;
		put_bar(out, &s->sides[i], (CHART_WIDTH - LABEL_WIDTH - VALUE_WIDTH) / longest, y);
		y += BAR_STEP;
	}
	fputs("</svg>\n", out);
}

static void put_scenario(FILE *out, const struct result_scenario *s)
{
	char text[128];

	fputs("<div class=\"card\"><h3>", out);
	html_text(out, s->name);
	fputs("</h3>\n<p class=\"soft\">", out);
	html_text(out, s->title);
	traffic_describe(&s->traffic, text, sizeof(text));
	fputs(s->title[0] == '\0' ? "" : " &middot; ", out);
	html_text(out, text);
	fputs("</p>\n", out);
	put_chart(out, s);
	for (unsigned int i = 0; i < s->n_notes; i++) {
		fputs(i == 0 ? "<ul class=\"note\">" : "", out);
		fputs("<li>", out);
		html_text(out, s->notes[i]);
		fputs(i + 1 == s->n_notes ? "</li></ul>\n" : "</li>\n", out);
	}
	fputs("</div>\n", out);
}

static void put_skipped(FILE *out, const struct result *r)
{
	bool any = false;

	for (unsigned int i = 0; i < r->n; i++) {
		if (r->scenarios[i].skipped[0] == '\0')
			continue;
		fputs(any ? "" : "<h2>Not measured</h2>\n<ul>\n", out);
		any = true;
		fputs("<li><b>", out);
		html_text(out, r->scenarios[i].name);
		fputs("</b>: ", out);
		html_text(out, r->scenarios[i].skipped);
		fputs("</li>\n", out);
	}
	fputs(any ? "</ul>\n" : "", out);
}

static void put_fact(FILE *out, const char *key, const json_t *value)
{
	fputs("<dt>", out);
	for (; *key != '\0'; key++)
		fputc(*key == '_' ? ' ' : *key, out);
	fputs("</dt><dd>", out);
	if (json_is_string(value))
		html_text(out, json_string_value(value));
	else if (json_is_boolean(value))
		fputs(json_is_true(value) ? "yes" : "no", out);
	else
		fprintf(out, "%g", json_number_value(value));
	fputs("</dd>\n", out);
}

static void put_machine(FILE *out, const struct result *r)
{
	const char *key;
	json_t *value;

	if (r->machine == NULL)
		return;
	fputs("<h2>The machine</h2>\n<dl>\n", out);
	json_object_foreach(r->machine, key, value)
	{
		const char *name;
		json_t *inner;

		if (!json_is_object(value))
			put_fact(out, key, value);
		json_object_foreach(value, name, inner)
		{
			/* what a processor does not have needs no line */
			if (json_is_string(inner)
					&& strcmp(json_string_value(inner), "Not affected") != 0)
				put_fact(out, name, inner);
		}
	}
	fputs("</dl>\n", out);
}

void report_html(const struct result *r, FILE *out)
{
	const char *time = json_string_value(json_object_get(r->machine, "time"));
	const char *kernel = json_string_value(json_object_get(r->machine, "kernel"));

	fputs(html_head, out);
	fputs("<h1>What a packet costs: the kernel and sluice</h1>\n<p class=\"soft\">", out);
	html_text(out, time == NULL ? "" : time);
	fputs(" &middot; Linux ", out);
	html_text(out, kernel == NULL ? "?" : kernel);
	fputs("</p>\n<p class=\"key\">Time on one core, shorter is better: "
	      "<b class=\"k\">&#9632; kernel</b> <b class=\"o\">&#9632; sluice</b></p>\n",
			out);
	for (unsigned int i = 0; i < r->n; i++)
		if (r->scenarios[i].skipped[0] == '\0')
			put_scenario(out, &r->scenarios[i]);
	report_plots(r, out);
	put_table(out, r);
	put_skipped(out, r);
	fputs(html_method, out);
	put_machine(out, r);
	fputs("</body>\n</html>\n", out);
}
