/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/suite_run.h"

#include "app/bench/engine_check.h"
#include "app/bench/kernel.h"
#include "app/bench/kernel_limit.h"
#include "app/bench/machine.h"
#include "app/bench/measure.h"
#include "app/bench/router.h"

#include <stdio.h>
#include <string.h>

static void describe(const struct scenario *s, const struct traffic *t, struct result_scenario *out)
{
	snprintf(out->name, sizeof(out->name), "%s", s->name);
	snprintf(out->title, sizeof(out->title), "%s", s->title);
	snprintf(out->baseline, sizeof(out->baseline), "%s",
			s->baseline == NULL ? "" : s->baseline);
	out->traffic = *t;
	out->rules = ruleset_size(&s->rules);
}

/* whether a stage looks up rules; "plain" says that there is none */
static bool looks_up(const struct scenario *s)
{
	return s->n_engines > 0 && strcmp(s->engines[0], "plain") != 0;
}

static void run_scenario(const struct scenario *s, const struct options *o, double seconds,
		bool kernel_only, const char *progress, struct result_scenario *out, bool *refused)
{
	struct measure_options m = { o->rounds, seconds, progress };
	struct side_setup setups[RESULT_SIDES_MAX];
	struct side_setup setup = { .ops = &kernel_side,
		.traffic = s->traffic,
		.rules = s->rules,
		.tap = s->tap,
		.core = o->core };
	struct kernel_limit limit = { 0 };
	const char *missing = kernel_missing();
	unsigned int n = 0;

	traffic_override(&setup.traffic, o->flows, o->size);
	describe(s, &setup.traffic, out);
	if (missing != NULL) {
		snprintf(out->skipped, sizeof(out->skipped), "%s", missing);
		return;
	}
	for (unsigned int i = 0; i < s->n_kernel; i++) {
		setup.name = backend_names[s->kernel[i]];
		setup.backend = s->kernel[i];
		setups[n++] = setup;
	}
	setup.ours = true;
	setup.ops = &router_side;
	for (unsigned int i = 0; i < s->n_engines && !kernel_only; i++) {
		setup.name = s->engines[i];
		setups[n++] = setup;
	}
	for (unsigned int i = 0; engine_check_name(i) != NULL && looks_up(s) && !kernel_only; i++) {
		char why[SIDE_TEXT_MAX] = "";

		setup.name = engine_check_name(i);
		if (n == RESULT_SIDES_MAX) {
			result_note(out, "engine %s: no room for another side", setup.name);
		} else if (engine_check_scenario(&setup, why)) {
			setups[n++] = setup;
		} else {
			result_note(out, "engine %s is not measured: %s", setup.name, why);
			*refused = true;
		}
	}
	if (kernel_limit_raise(&limit, &setup.traffic, out->skipped) < 0)
		return;
	measure_sides(setups, n, &m, out);
	kernel_limit_restore(&limit);
	result_finish(out);
	if (setup.traffic.addresses == TRAFFIC_PCAP && setup.traffic.pcap->left_out > 0)
		result_note(out, "%u frames of the capture were left out: no router passes them on",
				setup.traffic.pcap->left_out);
}

static unsigned int count_sides(const struct suite *suite, const struct options *o)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < suite->n; i++) {
		n += suite->scenarios[i].n_kernel;
		n += o->kernel_only ? 0 : suite->scenarios[i].n_engines;
	}
	return n;
}

bool suite_run(const struct suite *suite, const struct options *o, struct result *r)
{
	double seconds = options_seconds(o, count_sides(suite, o));

	r->machine = machine_describe(o->core);
	r->tsc_ghz = machine_tsc_ghz();
	for (unsigned int i = 0; i < suite->n; i++) {
		const struct scenario *s = &suite->scenarios[i];
		struct result_scenario *out = result_add(r);
		char progress[64];

		if (out == NULL) {
			fprintf(stderr, "sluice-bench: no memory\n");
			return false;
		}
		snprintf(progress, sizeof(progress), "[%u/%u] %s", i + 1, suite->n, s->name);
		run_scenario(s, o, seconds, o->kernel_only, progress, out, &r->refused);
		if (out->skipped[0] != '\0' && o->kernel_anyway && s->n_engines > 0) {
			char why[SIDE_TEXT_MAX];

			snprintf(why, sizeof(why), "%s", out->skipped);
			memset(out, 0, sizeof(*out));
			run_scenario(s, o, seconds, true, progress, out, &r->refused);
			result_note(out, "skipped: %s", why);
		}
	}
	return true;
}
