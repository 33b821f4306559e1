/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/report.h"

#include <string.h>

/* the widest cell is "10.35 (10.31 .. 10.38)" */
#define CELL 40

/* three significant digits or so; "~": noisy */
static const char *ns_cell(const struct result_side *side, char cell[CELL])
{
	const char *mark;

	if (side == NULL || side->skipped[0] != '\0')
		return "-";
	if (!result_measured(side))
		return "no figure";
	mark = side->spread > STATS_SPREAD_MAX ? "~" : "";
	if (side->ns.median < 100)
		snprintf(cell, CELL, "%s%.1f", mark, side->ns.median);
	else
		snprintf(cell, CELL, "%s%.0f", mark, side->ns.median);
	return cell;
}

static const char *cycles_cell(const struct result *r, const struct result_side *side, char *cell)
{
	if (side == NULL || !result_measured(side) || r->tsc_ghz <= 0)
		return "-";
	snprintf(cell, CELL, "%.0f", side->ns.median * r->tsc_ghz);
	return cell;
}

static const char *ratio_cell(
		const struct result_side *kernel, const struct result_side *ours, char cell[CELL])
{
	struct stats_interval ratio;

	if (kernel == NULL || ours == NULL || !result_ratio(kernel, ours, &ratio))
		return "-";
	snprintf(cell, CELL, "%.2f (%.2f .. %.2f)", ratio.median, ratio.lo, ratio.hi);
	return cell;
}

static const char *added_cell(const struct result *r, const struct result_scenario *s,
		const struct result_side *side, char cell[CELL])
{
	double ns;

	if (side == NULL || !result_added(r, s, side, &ns))
		return "-";
	snprintf(cell, CELL, "%+.1f", ns);
	return cell;
}

static void print_row(const struct result *r, const struct result_scenario *s, bool first,
		const struct result_side *kernel, const struct result_side *ours, FILE *out)
{
	char cells[6][CELL];

	fprintf(out, "%-16s %-8s %10s   %-8s %9s %7s   %-24s %10s %9s\n", first ? s->name : "",
			kernel == NULL ? "" : kernel->name, ns_cell(kernel, cells[0]),
			ours == NULL ? "" : ours->name, ns_cell(ours, cells[1]),
			cycles_cell(r, ours, cells[2]), ratio_cell(kernel, ours, cells[3]),
			added_cell(r, s, kernel, cells[4]), added_cell(r, s, ours, cells[5]));
}

static void print_scenario(const struct result *r, const struct result_scenario *s, FILE *out)
{
	bool first = true;

	for (unsigned int i = 0; i < s->n_sides; i++) {
		bool alone = true;

		if (s->sides[i].ours)
			continue;
		for (unsigned int k = 0; k < s->n_sides; k++) {
			if (!s->sides[k].ours)
				continue;
			print_row(r, s, first, &s->sides[i], &s->sides[k], out);
			first = alone = false;
		}
		if (alone)
			print_row(r, s, first, &s->sides[i], NULL, out);
		first = false;
	}
}

static void print_notes(const struct result *r, FILE *out)
{
	for (unsigned int i = 0; i < r->n; i++) {
		const struct result_scenario *s = &r->scenarios[i];

		if (s->skipped[0] != '\0')
			fprintf(out, "%s: skipped: %s\n", s->name, s->skipped);
		for (unsigned int k = 0; s->skipped[0] == '\0' && k < s->n_notes; k++)
			fprintf(out, "%s: %s\n", s->name, s->notes[k]);
	}
}

void report_text(const struct result *r, FILE *out)
{
	fprintf(out, "%-16s %-8s %10s   %-8s %9s %7s   %-24s %20s\n", "", "kernel", "ns/packet",
			"sluice", "ns/packet", "cycles", "times as fast (95 %)",
			"the stage adds, ns");
	fprintf(out, "%-16s %-8s %10s   %-8s %9s %7s   %-24s %10s %9s\n", "scenario", "", "", "",
			"", "", "", "kernel", "sluice");
	for (unsigned int i = 0; i < r->n; i++)
		if (r->scenarios[i].skipped[0] == '\0')
			print_scenario(r, &r->scenarios[i], out);
	fputc('\n', out);
	print_notes(r, out);
}
