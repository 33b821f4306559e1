/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/bench/engine_check.h"

#include "classifier/checked.h"
#include "classifier/plugin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 1

static const struct sl_plugin *plugin;

bool engine_check_load(const char *path)
{
	char err[512], here[4096];

	/* a name without a slash would be searched for among the system's libraries */
	snprintf(here, sizeof(here), "%s%s", strchr(path, '/') == NULL ? "./" : "", path);
	if (sl_plugin_load(here, err, sizeof(err)) < 0) {
		fprintf(stderr, "sluice-bench: --engine: %s\n", err);
		return false;
	}
	plugin = sl_plugin_at(0);
	if (engine_check_name(0) == NULL) {
		fprintf(stderr, "sluice-bench: --engine: %s: found no engine, expected one\n",
				here);
		return false;
	}
	for (unsigned int i = 0; engine_check_name(i) != NULL; i++) {
		uint64_t answers;
		const char *fault = cls_check_random(plugin->engines[i], SEED, &answers);

		if (fault != NULL) {
			fprintf(stderr,
					"sluice-bench: --engine: %s: random rules: %s; nothing is "
					"measured\n",
					here, fault);
			return false;
		}
		fprintf(stderr, "engine %s: %llu answers on random rules are linear's\n",
				engine_check_name(i), (unsigned long long)answers);
	}
	return true;
}

const char *engine_check_name(unsigned int i)
{
	if (plugin == NULL || plugin->engines == NULL || plugin->engines[i] == NULL)
		return NULL;
	return plugin->engines[i]->name;
}

const char *engine_check_subject(const struct side_setup *setup)
{
	if (!setup->observed)
		return setup->name;
	cls_checked_begin(sl_cls_find(setup->name));
	return CLS_CHECKED_NAME;
}

bool engine_check_scenario(const struct side_setup *setup, char why[SIDE_TEXT_MAX])
{
	struct side_setup observed = *setup;
	struct side_sample sample;
	struct side_probe *probe;
	struct side side;
	bool right;

	observed.observed = true;
	probe = calloc(1, sizeof(*probe));
	if (probe == NULL) {
		snprintf(why, SIDE_TEXT_MAX, "no memory");
		return false;
	}
	if (side_start(&side, &observed, why) < 0 || side_wait(&side, why) < 0) {
		free(probe);
		return false;
	}
	/* every flow once, at least */
	right = side_probe(&side, probe, why) == 0
			&& side_measure(&side, traffic_count(&observed.traffic), false, &sample,
					   why)
					== 0;
	side_stop(&side);
	free(probe);
	return right;
}
